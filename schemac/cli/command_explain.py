"""`schemac explain`: what a code or a rule of the quarantine means, and what a target loses.

Layer: cli.
"""

import argparse
from typing import TYPE_CHECKING

from schemac.cli.terminal import ExitCode, notify, put, put_page, wrapped
from schemac.registry.codes import builtin_code, codes, loss_pages, page
from schemac.text.source.catalogue import Code
from schemac.text.source.pages import rule_pages
from schemac.text.source.phrases import closest

if TYPE_CHECKING:
    from schemac.language.lint.rule import Rule


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "code",
        nargs="?",
        metavar="CODE",
        help="a code such as SC201, or its slug; a rule of the quarantine such as `range`; `losses/TARGET` for what a target"
        " loses; `rules` and `losses` list these; without one, all codes are listed",
    )


def _rules_of_others() -> "tuple[Rule, ...]":
    """Return the rules that other distributions bring."""
    from schemac.language.lint.run import builtin_rules, installed_rules

    builtin = builtin_rules()
    return tuple(rule for rule in installed_rules() if rule not in builtin)


def words() -> tuple[str, ...]:
    """Return all names that have a page: codes, their slugs, losses and rules of the quarantine."""
    known = [*codes().values(), *(rule.code for rule in _rules_of_others())]
    names = [name for code in known for name in (code.id, code.slug)]
    return (*names, "losses", *(f"losses/{target}" for target in loss_pages()), "rules", *rule_pages())


def run(options: argparse.Namespace) -> int:
    """Print the page of a code."""
    if options.code is None:
        for known in codes().values():
            put(wrapped(f"{known.id}  {known.severity:<7}  {known.slug:<24}  ", known.title))
        return ExitCode.CLEAN
    requested = options.code.strip().upper()
    # A page of the compiler's own can be read whatever is wrong with an engine that is installed.
    core_code = builtin_code(requested)
    if core_code is not None:
        put_page(page(core_code).text)
        return ExitCode.CLEAN
    of_others = _rules_of_others()
    named = next((r for r in of_others if requested in (r.code.id, r.code.slug.upper())), None)
    if named is not None:
        from inspect import getdoc  # for start-up time, as above

        why = getdoc(named.check) or ""
        put_page(f"# {named.code.id} {named.code.slug}\n\nThis schema has {named.code.title}.\n\n{why}\n")
        return ExitCode.CLEAN
    known_codes = {**codes(), **{rule.code.id: rule.code for rule in of_others}}
    losses = {f"losses/{target}": text for target, text in loss_pages().items()}
    # A rule with its reason, such as `zone: say …`, is copied from a row of the quarantine.
    rules = {name: rule.text for name, rule in rule_pages().items()}
    pages = {name.upper(): text for name, text in (losses | rules).items()}
    for group, listed in (("LOSSES", losses), ("RULES", rules)):
        if requested == group:
            put("\n".join(listed))
            return ExitCode.CLEAN
    if requested.partition(":")[0] in pages:
        put_page(pages[requested.partition(":")[0]])
        return ExitCode.CLEAN
    code: Code | None = known_codes.get(requested) or next(
        (c for c in known_codes.values() if c.slug.upper() == requested), None
    )
    if code is None:
        is_of_losses = requested.startswith("LOSSES/")
        near = closest(options.code, losses if is_of_losses else words())
        hint = f"did you mean {near}?" if near else f"`schemac explain{' losses' * is_of_losses}` lists all"
        what = "page about losses" if is_of_losses else "diagnostic code"
        notify(f"schemac: there is no {what} '{options.code}'; {hint}")
        return ExitCode.USAGE
    put_page(page(code).text)
    return ExitCode.CLEAN
