"""`schemac explain`: what a code means, and what a target loses.

Layer: cli.
"""

import argparse

from schemac.cli.exit_code import ExitCode
from schemac.cli.terminal import put, put_page, tell
from schemac.registry.codes import codes, loss_pages, page
from schemac.source.catalogue import CATALOGUE
from schemac.source.diagnostic import Code
from schemac.source.suggest import closest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "code",
        nargs="?",
        metavar="CODE",
        help="a code such as SC201, or its slug; `losses/spark` for what a target loses; without one, all are listed",
    )


def run(options: argparse.Namespace) -> int:
    """Print the page of a code."""
    if options.code is None:
        for known in codes().values():
            put(f"{known.id}  {known.severity:<7}  {known.slug:<24}  {known.title}")
        return ExitCode.CLEAN
    wanted = options.code.strip().upper()
    # A page of the compiler's own can be read whatever is wrong with an engine that is installed.
    if wanted in CATALOGUE:
        put_page(page(CATALOGUE[wanted]))
        return ExitCode.CLEAN
    known_codes = codes()
    pages = {f"LOSSES/{target.upper()}": text for target, text in loss_pages().items()}
    if wanted == "LOSSES":
        put("\n".join(name.lower() for name in pages))
        return ExitCode.CLEAN
    if wanted in pages:
        put_page(pages[wanted])
        return ExitCode.CLEAN
    code: Code | None = known_codes.get(wanted) or next(
        (c for c in known_codes.values() if c.slug.upper() == wanted), None
    )
    if code is None:
        names = [*known_codes, *(c.slug for c in known_codes.values()), *(name.lower() for name in pages)]
        near = closest(options.code, names)
        hint = f"; did you mean {near}?" if near else "; `schemac explain` lists all"
        tell(f"schemac: there is no diagnostic '{options.code}'{hint}")
        return ExitCode.USAGE
    put_page(page(code))
    return ExitCode.CLEAN
