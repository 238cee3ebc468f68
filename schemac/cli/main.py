"""`schemac`: picks the command, and loads no more than it needs.

Layer: cli.
"""

import argparse
import codecs
import gc
import io
import os
import sys
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, NoReturn, cast

from schemac.cli.terminal import ExitCode, OutputError, carry_out, folded, notify
from schemac.text.source.phrases import Help, closest, listed, printable
from schemac.version import __version__

COMMANDS = {
    "init": ("project", "create a small project"),
    "check": ("compile", "check manifests and pipelines for mistakes"),
    "fmt": ("manifest", "format manifests"),
    "build": ("compile", "compile manifests into artifacts"),
    "import": ("import", "create a manifest from an existing file or table"),
    "list": ("manifest", "list fields by owner, tag, classification or deprecation"),
    "expand": ("manifest", "show manifests in the standard form, with all groups inserted"),
    "sample": ("manifest", "make rows that fit a schema, or records that each break one rule"),
    "lock": ("lock", "freeze each schema as its next version, and give every field a permanent id"),
    "rename": ("lock", "rename or move a field, keeping its id and its data"),
    "diff": ("change", "show what changed since a locked version, a commit or another manifest"),
    "breaking": ("change", "show which changes each engine allows, before they are made"),
    "plan": ("table", "show the steps that change a table, and their cost"),
    "apply": ("table", "carry out a plan on a table"),
    "verify": ("table", "compare a table with its schema"),
    "run": ("pipeline", "run a pipeline: read records, check them against the schema, write a table"),
    "runs": ("pipeline", "list the runs that wrote a table or a quarantine"),
    "lsp": ("help", "serve an editor: findings, completion, hover and renaming while you type"),
    "schema": ("project", "print a JSON Schema of manifests, pipelines or the configuration, for editors"),
    "docs": ("manifest", "write pages about datasets, their fields and versions"),
    "clean": ("project", "delete the cache"),
    "explain": ("help", "explain a diagnostic code, with examples"),
    "completion": ("help", "print a script that completes commands and options in a shell"),
}
"""Commands with what they do; the module `schemac.cli.<first word>_commands` has `run_<name>` and `add_<name>_arguments`."""

_DEFAULTS = {
    "format": "text", "max_findings": 100, "fail_on": "error", "output_file": None, "quiet": False,
    "manifest": None, "is_cache_forgotten": False,
}  # fmt: skip
"""What every command has, also one without an option for it: how it prints, which manifest it has printed so far, and that no entry
of its cache was wrong."""
_COLLECTED_FROM = 200_000
"""New values that Python looks through for cycles at a time; by itself it does so from 700 on."""
_MAY_BE_EMPTY = ("skip", "old", "new", "against")
"""Names of columns, for a source may have one without, and what is looked up in any case and not found."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    # Looking for plugins of pydantic, which cannot change what a manifest means, takes longer than checking one.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    open_streams()
    try:
        try:
            os.getcwd()
        except FileNotFoundError:
            notify("schemac: the working folder no longer exists; change to one that does")
            return ExitCode.USAGE
        return _run_command(argv)
    except KeyboardInterrupt:
        notify("interrupted; no file is half written")
        return 130
    except BrokenPipeError:
        # The reader of our output left, as `head` does; Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.FINDINGS
    except Exception as error:
        code = _stopped_by(error)
        if code is None:
            raise
        return code


def _stopped_by(error: Exception) -> int | None:
    """Print why a command was interrupted; None if its caller wants the traceback."""
    # Imported here for start-up time: most commands come to their end.
    from schemac.registry.engine import EngineError
    from schemac.text.source.files import missing_library, missing_text

    if isinstance(error, OutputError):
        return _without_output(error)
    if os.environ.get("SCHEMAC_TRACEBACK"):
        return None
    missing = missing_library(error)
    if missing is not None:
        notify(f"schemac: {missing_text(missing)}")
        return ExitCode.FINDINGS
    if isinstance(error, EngineError):
        notify(f"schemac: {error}; update or uninstall the distribution that it comes from")
        return ExitCode.USAGE
    where = ", ".join(getattr(error, "__notes__", ()))
    notify(f"schemac: internal error: {type(error).__name__}: {error}" + (f", {where}" if where else ""))
    notify(
        "this is a bug in schemac, not your mistake; please report it with the input and the output of"
        " the same command\n"
        "with SCHEMAC_TRACEBACK=1 in the environment"
    )
    return ExitCode.INTERNAL


def entry() -> None:
    """Run, and leave the process: what the installed command calls.

    Taking apart every value of a large schema, as Python does when it ends, would take a tenth of a build. Spark is
    another matter: it has to be stopped in good order.
    """
    # Most commands are over before there is anything worth collecting, and loading modules makes many values that stay.
    gc.set_threshold(_COLLECTED_FROM, *gc.get_threshold()[1:])
    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        # Whoever read our output has left; there is nobody to tell.
        os._exit(code)
    except OSError as error:
        code = _without_output(error)
    if "pyspark" in sys.modules:
        sys.exit(code)
    os._exit(code)


def _without_output(error: OSError) -> int:
    """Report that the output could not be written, as on a full disk; the work itself is done."""
    notify(f"schemac: cannot write the output: {(error.strerror or str(error)).lower()}")
    # Python would try once more at exit, unless what is printed goes to a program in this process.
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.USAGE


def _run_command(argv: list[str]) -> int:
    """Run the command of the arguments and return its exit code; an unknown command or option is wrong usage."""
    command = next((word for word in argv if not word.startswith("-")), None)
    if command is not None and command not in COMMANDS and argv[0] == command:
        near = closest(command, COMMANDS)
        hint = f"did you mean `schemac {near}`?" if near else f"the commands are {', '.join(COMMANDS)}"
        notify(f"schemac: there is no command '{command}'; {hint}")
        return ExitCode.USAGE
    parser = parser_with((command,), argv)
    options, unknown = parser.parse_known_args(argv)
    if unknown:
        # What no command knows is told by the one that was named, for it knows its options.
        (parser.chosen or parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.command is None:
        parser.print_help()
        return ExitCode.USAGE
    if parser.chosen is not None:
        parser.chosen.refuse_empty(options)
    run: Callable[[], int] = partial(function_of(options.command, "run_{}"), options)
    if options.output_file is None:
        return carry_out(options, run)
    from schemac.cli.output import printed_to, why_not  # for start-up time: few commands write their output

    reason = why_not(options.output_file)
    if reason is not None:
        notify(f"schemac: cannot write {options.output_file}: {reason}")
        return ExitCode.USAGE
    with printed_to(options.output_file):
        return carry_out(options, run)


def function_of(command: str, name: str) -> Callable[..., Any]:
    """Return the function of a command, such as `run_{}`; only the module of the command is loaded."""
    function: Callable[..., Any] = getattr(
        import_module(f"schemac.cli.{COMMANDS[command][0]}_commands"), name.format(command)
    )
    return function


class _Parser(argparse.ArgumentParser):
    """A parser that suggests similar options."""

    def __init__(self, prog: str, description: str, argv: Sequence[str], epilog: str | None = None) -> None:
        super().__init__(prog, None, description, epilog, allow_abbrev=False)
        self.argv = argv
        """All words of the command line."""
        self.chosen: _Parser | None = None
        """The parser of the command that was named."""

    def format_help(self) -> str:
        """Return the help; nothing else needs to know the engines, which take time to find."""
        if self.description and "ENGINES" in self.description:
            from schemac.registry.engine import builtin_engines  # as said

            titles = [engine.title for engine in builtin_engines() if engine.artifacts]
            self.description = self.description.replace("ENGINES", listed(titles))
        return super().format_help()

    def refuse_empty(self, options: argparse.Namespace) -> None:
        """Exit if an argument is empty, as from an unset variable: it would mean a default, or everything."""
        for action in self._actions:
            value = getattr(options, action.dest, None)
            if action.dest not in _MAY_BE_EMPTY and (
                value == "" or (isinstance(value, list) and "" in value)
            ):
                name = "/".join(action.option_strings) or action.metavar or action.dest
                self.error(f"argument {name}: it is empty; is a variable of the shell unset?")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a word that is not one of an option's choices, with the nearest choice."""
        near = closest(str(value), map(str, action.choices)) if action.choices is not None else None
        if near is not None and value not in (action.choices or ()):
            raise argparse.ArgumentError(action, f"there is no '{value}'; did you mean `{near}`?")
        super()._check_value(action, value)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Exit with a message, which may repeat the words of the command line."""
        if message:
            message = folded(printable(message, keep="\n"), sys.stderr)
        super().exit(status, message)

    def error(self, message: str) -> NoReturn:
        """Print what is wrong with the arguments, and exit."""
        known = self._option_string_actions
        words = self.argv[: self.argv.index("--")] if "--" in self.argv else self.argv
        options = (word.partition("=")[0] for word in words if word.startswith("--"))
        unknown = next((option for option in options if option not in known), None)
        if unknown is not None:
            names = ", ".join(name for name in known if name.startswith("--"))
            hint = Help.nearest(unknown, known, f"the options are {names}")
            message = f"there is no option '{unknown}'; {hint}"
        super().error(message)


class _Unread(_Parser):
    """The parser of a command that was not named: a name, for it takes as long to make as one that is read."""

    def __init__(self, **_: object) -> None:
        """Leave it empty."""


def parser_with(commands: Container[str | None], argv: Sequence[str]) -> _Parser:
    """Return the parser with the arguments of some commands, which take time to make; the others are known by name alone."""
    description = "Compiles schemas of data tables, written in YAML, into schemas of ENGINES."
    epilog = "exit codes: 0 no findings, 1 findings, 2 invalid usage or configuration, 3 internal error, 4 stale artifacts or lock"
    parser = _Parser("schemac", description, argv, epilog)
    parser.add_argument("--version", action="version", version=f"schemac {__version__}")
    subparsers = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", parser_class=_Unread, prog="schemac"
    )
    parsers = cast("dict[str, _Parser]", subparsers.choices)
    for name, (_, summary) in COMMANDS.items():
        subparsers.add_parser(name, help=summary)
        if name in commands:
            chosen = _Parser(f"schemac {name}", f"{summary[0].upper()}{summary[1:]}.", argv)
            chosen.set_defaults(**_DEFAULTS)
            function_of(name, "add_{}_arguments")(chosen)
            parser.chosen = parsers[name] = chosen
    return parser


_PLAIN = {"→": "->", "…": "...", "×": "x", "≤": "<=", "≥": ">=", "–": "-"}
"""Signs of our own that some encodings lack, such as those of pipes on Windows, and what stands for them there."""


def open_streams() -> None:
    """Open what the one that started Python closed, and write plainly what an encoding lacks, or as an escape."""
    codecs.register_error("schemac.plain", _replace_unencodable)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 — for the whole process
            setattr(sys, name, stream)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="schemac.plain")


def _replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    """Return an ASCII replacement for a character that a stream cannot encode, and where to go on; a handler for codecs."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    sign = error.object[error.start]
    replacement = _PLAIN.get(sign) or sign.encode("ascii", "backslashreplace").decode()
    return replacement, error.start + 1
