"""Prints findings; defines the arguments that all commands share, such as `--output-file` and `--deny losses`.

Layer: cli.
Shape: the file of `--output-file` is written whole or not at all, also if the command is interrupted.
"""

import argparse
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemac.artifacts.targets import target_names
from schemac.cli.terminal import (
    ExitCode,
    OutputError,
    is_colourful,
    notify,
    put,
    put_json,
    put_rendered,
    width,
)
from schemac.language.logical.dataset import VARIANTS
from schemac.project.options import CompileOptions
from schemac.project.writing import replace_file
from schemac.registry.engine import Capability, VersionSetting
from schemac.registry.installed import engines, version_settings
from schemac.text.source.catalogue import (
    INVALID_CONFIGURATION,
    NOTHING_TO_COMPILE,
    STALE_ARTIFACT,
    UNLOCKED_CHANGE,
)
from schemac.text.source.diagnostic import Diagnostic, Severity
from schemac.text.source.rendering import count_summary, render_text
from schemac.text.source.report import Report, envelope
from schemac.text.source.text import reason_of

if TYPE_CHECKING:
    from schemac.project.configuration import Project


CI_FORMATS = ("github", "sarif", "junit", "gitlab")
"""Forms of findings for CI servers."""


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """`--format`, `--max-findings`, `--fail-on`, and what `add_common` adds."""
    parser.add_argument(
        "--format",
        choices=("text", "json", *CI_FORMATS),
        default="text",
        help="output format of the findings (default: text)",
    )
    parser.add_argument(
        "--max-findings",
        type=_count,
        default=100,
        metavar="N",
        help="print at most N findings in text format (default: 100)",
    )
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning"),
        default="error",
        help="lowest severity that leads to exit code 1",
    )
    add_common(parser)


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add `--output-file`, `-q` and `-v`."""
    parser.add_argument(
        "--output-file",
        metavar="FILE",
        help="write the output to this file, whole or not at all",
    )
    verbosity = parser.add_mutually_exclusive_group()
    verbosity.add_argument(
        "-q", "--quiet", action="store_true", help="print only the findings, without a summary"
    )
    verbosity.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="also list the files that are read, and those that are skipped",
    )


def add_text_or_json(parser: argparse.ArgumentParser) -> None:
    """`--format` of commands that print no findings, and what is needed where there are some after all."""
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="output format (default: text)"
    )
    add_common(parser)
    parser.set_defaults(max_findings=100, fail_on="error")


def add_paths(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the manifests that a command is about."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="manifests, or folders of them (default: the project's)"
    )
    parser.add_argument(
        "--config", metavar="FILE", help="configuration file (default: schemac.toml or pyproject.toml)"
    )
    add_no_cache(parser)


def add_no_cache(parser: argparse.ArgumentParser) -> None:
    """Add the option for a run that neither uses nor keeps what other runs found out."""
    parser.add_argument("--no-cache", action="store_true", help="do not use or change the cache")


def add_overlay_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--overlay`."""
    parser.add_argument(
        "--overlay",
        metavar="FILE",
        help="overlay with the names, options and encodings of an environment",
    )


def add_compile_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `check` and `build` have in common."""
    add_paths(parser)
    parser.add_argument("--strict", action="store_true", help="accept only what is in the ODF standard")
    add_overlay_argument(parser)
    parser.add_argument(
        "--system-columns",
        choices=tuple(VARIANTS),
        help="insert missing system columns of the standard, with the types of RFC-016 or of kamu",
    )
    add_no_project_rules(parser)
    add_output_arguments(parser)


def add_no_project_rules(parser: argparse.ArgumentParser) -> None:
    """`--no-project-rules`."""
    parser.add_argument(
        "--no-project-rules",
        action="store_true",
        help="do not run the project's own lint rules, which are Python code; use this for a checkout that you do not trust",
    )


def add_engines(
    parser: argparse.ArgumentParser, option: str, capability: Capability[Any], lacks: str, help: str
) -> None:
    """Add an option that names engines with a capability; the error for any other engine says what it `lacks`."""
    able = capability.names(engines())
    others = {engine.name: engine.title for engine in engines() if engine.name not in able}

    def check(name: str) -> str:
        if name in others:
            raise argparse.ArgumentTypeError(f"{others[name]} {lacks}; choose from {', '.join(able)}")
        return name

    parser.add_argument(
        option, action="append", type=check, choices=able, metavar="NAME", help=help.format(", ".join(able))
    )


def add_versions(parser: argparse.ArgumentParser) -> None:
    """Add an option for each engine whose verdicts and plans depend on a version, such as `--lance-spark`."""
    for setting in version_settings().values():
        parser.add_argument(
            f"--{setting.key.replace('_', '-')}",
            type=partial(_checked, setting),
            metavar="VERSION",
            help=f"{setting.help} (default: the project's, or the newest known)",
        )


def _checked(setting: VersionSetting, text: str) -> str:
    """Return the version of an engine if its setting permits the text; argparse reports any other."""
    try:
        return setting.checked(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def versions_of(options: argparse.Namespace, project: "Project") -> dict[str, str]:
    """Return the versions that the command line names, and else the project, by engine."""
    named = {name: getattr(options, setting.key) for name, setting in version_settings().items()}
    return {**project.versions, **{name: version for name, version in named.items() if version is not None}}


def show(diagnostics: Sequence[Diagnostic], options: argparse.Namespace, **members: object) -> None:
    """Print findings in the form that was asked for; in JSON with the members that only this command has."""
    if options.format == "json":
        manifest = getattr(options, "manifest", None)
        manifest_members = {"manifest": manifest} if manifest is not None else {}
        put_json(envelope(options.command, diagnostics, manifest_members | members))
        return
    if options.format in CI_FORMATS:
        # Imported here for start-up time: XML and the codes of all engines take a while to load.
        from schemac.registry.codes import codes
        from schemac.text.source.ci_reports import from_root, render

        diagnostics = from_root(diagnostics, Path.cwd())
        put_rendered(render(options.format, diagnostics, Severity(options.fail_on), codes))
        return
    selected = sorted(diagnostics, key=lambda d: d.severity.rank)[: options.max_findings]
    selected_ids = set(map(id, selected))
    put_rendered(
        render_text(
            (d for d in diagnostics if id(d) in selected_ids), colour=is_colourful(options), width=width()
        )
    )
    hidden = [d for d in diagnostics if id(d) not in selected_ids]
    if hidden:
        put(f"… and {count_summary(hidden)} more; see them with --max-findings {len(diagnostics)}")


def show_all(report: Report, options: argparse.Namespace) -> ExitCode:
    """Print the findings of a report; return the exit code that they call for."""
    show(report.diagnostics, options)
    return exit_code(report.diagnostics, options)


def exit_code(diagnostics: Sequence[Diagnostic], options: argparse.Namespace) -> ExitCode:
    """Return the exit code that these findings call for."""
    lowest = Severity(options.fail_on).rank
    failing = {d.code for d in diagnostics if d.severity.rank <= lowest}
    if not failing:
        return ExitCode.CLEAN
    if failing <= {STALE_ARTIFACT.id, UNLOCKED_CHANGE.id}:
        return ExitCode.STALE
    return (
        ExitCode.USAGE if failing & {INVALID_CONFIGURATION.id, NOTHING_TO_COMPILE.id} else ExitCode.FINDINGS
    )


def print_status(message: str, options: argparse.Namespace) -> None:
    """Print a sentence for the person at the terminal, in addition to the output for programs."""
    if options.format == "text" and not getattr(options, "quiet", False):
        notify(message)


def detail(message: str, options: argparse.Namespace) -> None:
    """Print a detail, with `--verbose` only."""
    if getattr(options, "verbose", False):
        notify(message)


def _count(text: str) -> int:
    """Return a number that is not negative; argparse reports any other text."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("has to be zero or more")
    return number


def why_not(path: str) -> str | None:
    """Return why a file cannot be written, if that is known before the command has done its work; else None."""
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    if Path(path).is_dir():
        return "it is a folder"
    return None if os.access(folder, os.W_OK) else "its folder cannot be written to"


@contextmanager
def printed_to(options: argparse.Namespace) -> Iterator[None]:
    """Write everything printed inside to the file of `--output-file`. Raises OutputError if it cannot be written."""
    path = getattr(options, "output_file", None)
    if path is None:
        yield
        return
    with redirect_stdout(io.StringIO()) as printed:
        yield
    try:
        replace_file(Path(path), printed.getvalue().encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise OutputError(error.errno, f"{path}: {reason_of(error)}") from error


_LOSSES = "losses"


def add_deny(parser: argparse.ArgumentParser) -> None:
    """Add the option that makes losses errors."""
    parser.add_argument(
        "--deny",
        action="append",
        type=_engines,
        metavar="losses[=NAME,…]",
        help="treat losses of these engines, or of all engines that are built, as errors",
    )


def _engines(text: str) -> tuple[str, ...]:
    """Return the named engines; all if none is named."""
    what, _, names = text.partition("=")
    engines = tuple(name.strip() for name in names.split(",") if name.strip())
    if what != _LOSSES or ("=" in text and not engines):
        raise argparse.ArgumentTypeError("write `losses`, or `losses=` and names of engines")
    unknown = next((name for name in engines if name not in target_names()), None)
    if unknown is not None:
        raise argparse.ArgumentTypeError(
            f"no engine is called '{unknown}'; choose from {', '.join(target_names())}"
        )
    return engines


def denied_engines(options: argparse.Namespace, targets: tuple[str, ...]) -> frozenset[str]:
    """Return the engines whose losses are errors, of those that are built."""
    named = options.deny or ()
    return frozenset(name for names in named for name in (names or targets))


def with_denied(compile_options: CompileOptions, options: argparse.Namespace) -> CompileOptions:
    """Return the options of a check whose losses are errors, also of engines that nothing is built for otherwise."""
    engines = denied_engines(options, compile_options.targets)
    named = {name for names in options.deny or () for name in names}
    return replace(
        compile_options,
        targets=tuple(name for name in target_names() if name in {*compile_options.targets, *engines}),
        asked_for=compile_options.asked_for | named,
        denied=engines,
    )
