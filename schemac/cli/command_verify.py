"""`schemac verify`: whether a table is what its schema says.

Floor: 14 (cli).
"""

import argparse

from schemac.cli.output import exit_code, say, show
from schemac.cli.planning import add_dataset, open_locked, version_side
from schemac.source.report import Report
from schemac.tables.lance_table import open_table
from schemac.tables.verify import report_drift
from schemac.targets.lance import to_message


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_dataset(parser)
    parser.add_argument("--table", required=True, metavar="PATH", help="the Lance table")
    parser.add_argument(
        "--version", dest="new", type=int, metavar="N", help="a locked version (default: the newest)"
    )


def run(options: argparse.Namespace) -> int:
    """Verify; exit with 1 on drift."""
    report = Report()
    locked = open_locked(options, report)
    side = version_side(locked, options.new, report) if locked is not None else None
    if locked is not None and side is not None:
        table = open_table(options.table, locked, report)
        if table is not None:
            report_drift(table, to_message(side.lowered, side.numbers), report)
            if not report.has_errors:
                say(f"{options.table} is as {side.label} of {locked.name} says", options)
    diagnostics = report.diagnostics
    show(diagnostics, options)
    return exit_code(diagnostics, options)
