"""`schemac apply`: carry a plan out on a table.

Layer: cli.
"""

import argparse
import sys

from schemac.cli.command_plan import (
    add_dataset,
    add_references,
    add_rounding,
    add_stated_version,
    add_table,
    lines_text,
    open_locked,
    owner_of,
    requested_version,
)
from schemac.cli.output import exit_code, print_status, show
from schemac.cli.terminal import ExitCode, ask, progress_bar, put
from schemac.registry.engine import Trait
from schemac.registry.installed import blamed, engines, with_trait
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import listed
from schemac.text.source.report import Report
from schemac.versions.evolution.tables import (
    SPREAD,
    TABLES,
    PlannedChange,
    Spread,
    TableChange,
    Tables,
    refuse_rounding,
)
from schemac.versions.identity.lock import LockedDataset

SPREAD_FROM = 20_000_000
"""Rows from which on another engine rewrites a column; below, it takes longer to start than it saves."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_dataset(parser)
    add_rounding(parser)
    add_references(parser)
    add_table(parser)
    add_stated_version(parser)
    parser.add_argument(
        "--to", dest="new", type=int, metavar="N", help="a locked version (default: the newest)"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the plan without changing anything")
    spreading = [engine for engine in engines() if SPREAD.is_of(engine)]
    default = f"on {spreading[0].title} from {SPREAD_FROM:,} rows" if spreading else "here"
    parser.add_argument(
        "--on",
        choices=("auto", "here", *(engine.name for engine in spreading)),
        default="auto",
        help=f"where columns are rewritten (default: {default})",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="do not ask before data is written (schemac asks only in a terminal)",
    )
    parser.add_argument(
        "--unchecked",
        action="store_true",
        help="assume that values fit where the data cannot be checked, as in a"
        f" {listed(with_trait(Trait.IS_NOT_READ), 'or')} table",
    )


def run(options: argparse.Namespace) -> int:
    """Apply; exit with 1 if nothing, or not everything, could be done."""
    report = Report()
    opened = open_locked(options, report)
    document: Json = {}
    is_refused = False
    if opened is not None:
        owner = owner_of(options.table)
        with blamed(owner.name):
            is_refused = not _apply(TABLES.of(owner), opened[1], options, document, report)
    diagnostics = report.diagnostics
    show(diagnostics, options, **document)
    return ExitCode.FINDINGS if is_refused and not diagnostics else exit_code(diagnostics, options)


def _apply(
    tables: Tables,
    locked: LockedDataset,
    options: argparse.Namespace,
    document: Json,
    report: Report,
) -> bool:
    """Whether everything that was asked for is done; what is not is in the report, or the person knows."""
    if tables.why_no_rounding:
        refuse_rounding(options.rounded, tables.why_no_rounding, report)
    new = requested_version(locked, options.new, report) if not report.has_errors else None
    if options.old is not None:
        requested_version(locked, options.old, report)
    if new is None or report.has_errors:
        return False
    change = TableChange(
        locked,
        new,
        options.table,
        stated=options.old,
        rounded=frozenset(options.rounded),
        references=dict(options.references),
        is_unchecked=options.unchecked,
    )
    made = tables.plan(change, report)
    if made is None:
        return False
    document |= {**made.document, "applied": False, "unlooked": list(made.unlooked)}
    if options.format == "text":
        put(made.title)
        put(lines_text(made.lines, with_details=False))
    if options.dry_run:
        return True
    if made.is_done:
        tables.verify(options.table, locked, new, report)
        return not report.has_errors
    # A script agrees by its call that data is written.
    has_person = sys.stdin is not None and sys.stdin.isatty()
    is_asked = bool(made.question) and not options.yes and options.format == "text" and has_person
    if is_asked and not ask(made.question):
        print_status("nothing was changed", options)
        return False
    with progress_bar(options.format == "text" and sys.stderr.isatty()) as progress:
        if not made.apply(report, progress, _spread(made, options)):
            return False
    document |= {"applied": True}
    state = tables.verify(options.table, locked, new, report)
    if state is None:
        return False
    document |= state.document
    if not report.has_errors:
        print_status(f"done: {options.table} {state.text}, and {_what_is_verified(made)}", options)
    return not report.has_errors


def _what_is_verified(made: PlannedChange) -> str:
    if not made.unlooked:
        return "verified"
    return f"its schema is verified; the rows were not checked for: {'; '.join(made.unlooked)}"


def _spread(made: PlannedChange, options: argparse.Namespace) -> Spread | None:
    """Return another engine for the work if it is large, or requested; its libraries are loaded only then."""
    spreading = [engine for engine in engines() if SPREAD.is_of(engine)]
    if options.on == "auto":
        chosen = spreading[0] if spreading and made.rows_rewritten >= SPREAD_FROM else None
    else:
        chosen = next((engine for engine in spreading if engine.name == options.on), None)
    if chosen is None or not made.question:
        return None
    spread: Spread = SPREAD.of(chosen)
    return spread
