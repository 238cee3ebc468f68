"""`schemac verify`: whether a table is what its schema says.

Layer: cli.
"""

import argparse

from schemac.cli.output import exit_code, say, show
from schemac.cli.planning import add_dataset, add_table, open_locked, owner_of, requested_version
from schemac.evolution.tables import TABLES, DataCheck
from schemac.registry.installed import blamed
from schemac.source.report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_dataset(parser)
    add_table(parser)
    parser.add_argument(
        "--to", "--version", dest="new", type=int, metavar="N", help="a locked version (default: the newest)"
    )
    parser.add_argument(
        "--data", action="store_true", help="also check the stored rows against the constraints of the schema"
    )
    parser.add_argument(
        "--reference",
        dest="references",
        action="append",
        default=[],
        type=_reference,
        metavar="DATASET=PATH",
        help="with --data: the table of a dataset that the schema refers to; may be repeated",
    )


def _reference(text: str) -> tuple[str, str]:
    dataset, equals, path = text.partition("=")
    if not (dataset and equals and path):
        raise argparse.ArgumentTypeError("expected DATASET=PATH, such as drivers=tables/drivers")
    return dataset, path


def run(options: argparse.Namespace) -> int:
    """Verify; exit with 1 on drift."""
    report = Report()
    opened = open_locked(options, report, is_needed=False)
    version = requested_version(opened[1], options.new, report) if opened is not None else None
    if opened is not None and version is not None:
        locked = opened[1]
        owner = owner_of(options.table)
        with blamed(owner.name):
            tables = TABLES.of(owner)
            tables.verify(options.table, locked, version, report)
            if options.data and not report.has_errors:
                tables.verify_data(
                    options.table, locked, version, DataCheck(dict(options.references)), report
                )
        if not report.has_errors:
            kept = ", and its rows keep the constraints" if options.data else ""
            say(f"{options.table} matches {version.label} of {locked.name}{kept}", options)
    diagnostics = report.diagnostics
    show(diagnostics, options)
    return exit_code(diagnostics, options)
