"""`schemac verify`: whether a table is what its schema says.

Layer: cli.
"""

import argparse

from schemac.cli.output import exit_code, say, show
from schemac.cli.planning import add_dataset, is_paimon, open_locked, version_side
from schemac.engines.lance.tables.live_table import is_held, open_table
from schemac.engines.lance.tables.verify import report_drift, wanted_of
from schemac.engines.paimon.tables.live_table import report_paimon_drift
from schemac.engines.paimon.view import errors_of, table_schema
from schemac.evolution.side import Side
from schemac.identity.lock import LockedDataset
from schemac.source.catalogue import TABLE_DRIFT
from schemac.source.report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_dataset(parser)
    parser.add_argument(
        "--table", required=True, metavar="PATH", help="the Lance table, or the Paimon table's folder"
    )
    parser.add_argument(
        "--to", "--version", dest="new", type=int, metavar="N", help="a locked version (default: the newest)"
    )


def run(options: argparse.Namespace) -> int:
    """Verify; exit with 1 on drift."""
    report = Report()
    opened = open_locked(options, report, is_needed=False)
    side = version_side(opened[1], options.new, report) if opened is not None else None
    if opened is not None and side is not None:
        _verify(opened[1], side, options, report)
        if not report.has_errors:
            say(f"{options.table} is as {side.label} of {opened[1].name} says", options)
    diagnostics = report.diagnostics
    show(diagnostics, options)
    return exit_code(diagnostics, options)


def _verify(locked: LockedDataset, side: Side, options: argparse.Namespace, report: Report) -> None:
    if is_paimon(options.table):
        for error in errors_of(side):
            message = f"Paimon cannot hold {side.label}: {error.message}"
            report.add(TABLE_DRIFT, message, file=options.table, path=error.path, help=error.help)
        if not errors_of(side):
            report_paimon_drift(options.table, table_schema(side), report)
        return
    table = open_table(options.table, locked, report) if is_held(side, report) else None
    if table is not None:
        report_drift(table, wanted_of(table, side), report)
