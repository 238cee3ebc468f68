"""`schemac plan`: the steps that a change takes, and what they cost.

Floor: 14 (cli).
"""

import argparse
import json

from schemac.cli.output import exit_code, say, show
from schemac.cli.planning import add_dataset, open_locked, steps_text, version_side
from schemac.identity.lock import LockedDataset
from schemac.source.report import Report
from schemac.tables.lance_plan import plan
from schemac.tables.lance_table import LanceTable, open_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_dataset(parser)
    parser.add_argument(
        "--table", metavar="PATH", help="a Lance table or a Paimon table's folder, as it is now"
    )
    parser.add_argument("--from", dest="old", type=int, metavar="N", help="plan from this locked version")
    parser.add_argument("--to", dest="new", type=int, metavar="N", help="to this one (default: the newest)")


def run(options: argparse.Namespace) -> int:
    """Plan; exit with 1 where an engine refuses."""
    report = Report()
    locked = open_locked(options, report)
    if locked is not None:
        _plan(locked, options, report)
    diagnostics = report.diagnostics
    show(diagnostics, options) if options.format == "text" or report.has_errors else None
    return exit_code(diagnostics, options)


def _plan(locked: LockedDataset, options: argparse.Namespace, report: Report) -> None:
    new = version_side(locked, options.new, report)
    if new is None:
        return
    if options.table is not None:
        table = open_table(options.table, locked, report)
    else:
        assert locked.newest is not None
        wanted = options.old if options.old is not None else max(1, locked.newest.number - 1)
        old = version_side(locked, wanted, report)
        table = LanceTable.imagined(old) if old is not None else None
    made = plan(table, new, report) if table is not None else None
    if made is None:
        return
    if options.format == "json":
        print(json.dumps({"steps": [step.to_json() for step in made.steps]}, ensure_ascii=False, indent=2))
        return
    print(f"{locked.name}: {made.table.name} → {new.label}")
    print(steps_text(made.steps) if made.steps else "  nothing to do")
    say(f"{len(made.steps)} step{'s' if len(made.steps) != 1 else ''}", options)
