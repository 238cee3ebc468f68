"""`schemac explain`, `schemac completion` and `schemac lsp`: what a code means, and help in shells and editors.

Layer: cli.
"""

import argparse
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from schemac.cli.terminal import ExitCode, notify, put, put_page, wrapped
from schemac.registry.codes import builtin_code, codes, loss_pages, page
from schemac.text.source.pages import rule_pages
from schemac.text.source.phrases import closest

if TYPE_CHECKING:
    from schemac.language.lint.rule import Rule

# explain


def add_explain_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac explain`."""
    parser.add_argument(
        "code",
        nargs="?",
        metavar="CODE",
        help="a code such as SC201, or its slug; a rule of the quarantine such as `range`; `losses/TARGET` for what a target"
        " loses; `rules` and `losses` list these; without one, all codes are listed",
    )


def run_explain(options: argparse.Namespace) -> int:
    """Print the page of a code."""
    if options.code is None:
        for known in codes().values():
            put(wrapped(f"{known.id}  {known.severity:<7}  {known.slug:<24}  ", known.title))
        return ExitCode.CLEAN
    requested = options.code.strip().upper()
    text = _page_of(requested)
    if text is not None:
        put_page(text)
        return ExitCode.CLEAN
    is_of_losses = requested.startswith("LOSSES/")
    near = closest(options.code, [word for word in words() if word.startswith("losses/") or not is_of_losses])
    hint = f"did you mean {near}?" if near else f"`schemac explain{' losses' * is_of_losses}` lists all"
    what = "page about losses" if is_of_losses else "diagnostic code"
    notify(f"schemac: there is no {what} '{options.code}'; {hint}")
    return ExitCode.USAGE


def _page_of(requested: str) -> str | None:
    """Return the page of a code, a slug, a rule or a target's losses, or a list of these; None if there is no such page."""
    # A page of the compiler's own can be read whatever is wrong with an engine that is installed.
    code = builtin_code(requested)
    if code is not None:
        return page(code)
    for rule in _rules_of_others():
        if requested in (rule.code.id, rule.code.slug.upper()):
            from inspect import getdoc  # for start-up time, as above

            return f"# {rule.code.id} {rule.code.slug}\n\nThis schema has {rule.code.title}.\n\n{getdoc(rule.check) or ''}\n"
    losses = {f"losses/{target}": text for target, text in loss_pages().items()}
    rules = rule_pages()
    lists = {"LOSSES": losses, "RULES": rules}
    if requested in lists:
        return "".join(f"{name}\n" for name in lists[requested])
    pages = {name.upper(): text for name, text in (losses | rules).items()}
    # A rule with its reason, such as `zone: say …`, is copied from a row of the quarantine.
    text = pages.get(requested.partition(":")[0])
    if text is not None:
        return text
    code = next((c for c in codes().values() if requested in (c.id, c.slug.upper())), None)
    return page(code) if code is not None else None


def words() -> tuple[str, ...]:
    """Return all names that have a page: codes, their slugs, losses and rules of the quarantine."""
    known = [*codes().values(), *(rule.code for rule in _rules_of_others())]
    names = [name for code in known for name in (code.id, code.slug)]
    return (*names, "losses", *(f"losses/{target}" for target in loss_pages()), "rules", *rule_pages())


def _rules_of_others() -> "tuple[Rule, ...]":
    """Return the rules that other distributions bring."""
    from schemac.language.lint.run import builtin_rules, installed_rules

    builtin = builtin_rules()
    return tuple(rule for rule in installed_rules() if rule not in builtin)


# completion

_FILES = ("AGAINST", "FILE", "PATH", "PIPELINE", "SOURCE", "TABLE", "DATASET")
"""What stands for a file in the help of commands."""
SHELLS = ("bash", "zsh", "fish", "tcsh")


def add_completion_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac completion`."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run_completion(options: argparse.Namespace) -> int:
    """Print the script."""
    # Imported here for start-up time: no other command needs shtab, nor the arguments of all commands.
    import shtab

    from schemac.cli.main import COMMANDS, parser_with

    parser = parser_with(COMMANDS, ())
    for action in _all_actions(parser):
        names = action.metavar if isinstance(action.metavar, tuple) else (action.metavar,)
        if any(name in _FILES for name in names):
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab looks
        elif action.metavar == "FOLDER":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # as above
        elif action.metavar == "CODE":
            # Only here: the command itself takes a word in any case, and a rule with its reason.
            action.choices = words()
    put_page(shtab.complete(parser, options.shell))
    return ExitCode.CLEAN


def _all_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the actions of a parser and of all its subcommands, each subcommand's after the action that selects it."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from _all_actions(one)


# lsp


def add_lsp_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac lsp`."""
    from schemac.cli.arguments import add_flag, add_no_project_rules  # for start-up time: a page needs none

    help = "accepted for editors that pass it; the server always uses standard input and output"
    add_flag(parser, "--stdio", help)
    add_no_project_rules(parser)


def run_lsp(options: argparse.Namespace) -> int:
    """Serve an editor on standard input and output until it ends the session."""
    if find_spec("pygls") is None:
        notify("schemac: the language server needs pygls; install it with: pip install 'schemac[lsp]'")
        return ExitCode.USAGE
    from schemac.lsp.server import start  # for start-up time, and pygls is not always there

    start(has_custom_rules=not options.no_project_rules)
    return ExitCode.CLEAN
