"""`schemac verify`: whether a table is what its schema says.

Layer: cli.
"""

import argparse
import shlex
from pathlib import Path

from schemac.cli.command_plan import (
    add_dataset,
    add_references,
    add_table,
    is_table,
    open_locked,
    owner_of,
    requested_version,
)
from schemac.cli.output import print_status, show_all
from schemac.importers.sources import detect
from schemac.registry.installed import blamed
from schemac.text.source.catalogue import UNCHECKED_REFERENCE, UNUSABLE_TABLE
from schemac.text.source.report import Report
from schemac.versions.evolution.tables import TABLES, DataCheck
from schemac.versions.evolution.version_pair import LockedSchemaVersion
from schemac.versions.identity.lock import LockedDataset


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_dataset(parser)
    add_table(parser, "Parquet or Arrow files")
    parser.add_argument(
        "--to", "--version", dest="new", type=int, metavar="N", help="a locked version (default: the newest)"
    )
    parser.add_argument(
        "--data", action="store_true", help="also check the stored rows against the constraints of the schema"
    )
    add_references(parser, "with --data: ")


def run(options: argparse.Namespace) -> int:
    """Verify; exit with 1 on drift."""
    report = Report()
    opened = open_locked(options, report, is_needed=False)
    version = requested_version(opened[1], options.new, report) if opened is not None else None
    if opened is not None and version is not None:
        summary = _verify(options, opened[1], version, report)
        if not report.has_errors:
            print_status(summary, options)
    return show_all(report, options)


def _verify(
    options: argparse.Namespace, locked: LockedDataset, version: LockedSchemaVersion, report: Report
) -> str:
    """Compare whatever is at the path; return the summary to print if nothing differs."""
    path: str = options.table
    if is_table(path):
        return _verify_table(options, locked, version, report)
    from schemac.rows.validation.stored import Comparison, open_rows, reader_of  # `--help` needs no Arrow

    if reader_of(path) is not None:
        rows = open_rows(path, report)
        if rows is not None:
            compared = Comparison(path, rows, version)
            if options.data:
                compared.report_broken(dict(options.references), report)
            else:
                compared.columns(report)
        of_rows = f", and their values and rows satisfy it{_restriction(report)}" if options.data else ""
        return f"the columns of {path} can be read as {version.label} of {version.dataset.name}{of_rows}"
    exists = Path(path).exists()
    format = detect(Path(path)) if exists or "://" not in path else None
    if format is None:
        # The first engine says what is wrong with the path, or opens it where it is on no disk.
        return _verify_table(options, locked, version, report)
    if exists:
        message = f"{path} cannot be verified: there is no reader for rows of the format {format}"
        help = (
            f"compare the schemas with `schemac import {shlex.quote(path)} --out found.yaml` and"
            f" `schemac diff found.yaml {shlex.quote(options.dataset)}`,"
            " or read the rows into an Arrow table and pass it to `Dataset.validate`"
        )
    else:
        message, help = f"there is no file or folder {path}", "check the path"
    report.add(UNUSABLE_TABLE, message, file=path, help=help)
    return ""


def _verify_table(
    options: argparse.Namespace, locked: LockedDataset, version: LockedSchemaVersion, report: Report
) -> str:
    """Compare a table of an engine; return the summary to print if nothing differs."""
    owner = owner_of(options.table)
    with blamed(owner.name):
        tables = TABLES.of(owner)
        is_compared = tables.verify(options.table, locked, version, report) is not None
        if options.data and is_compared:
            check = DataCheck(dict(options.references))
            tables.verify_data(options.table, locked, version, check, report)
    constraints_note = f", and its rows satisfy the constraints{_restriction(report)}" if options.data else ""
    return f"{options.table} matches {version.label} of {locked.name}{constraints_note}"


def _restriction(report: Report) -> str:
    """Return the part of the rows that was not compared, as the end of the summary's sentence."""
    is_whole = all(diagnostic.code != UNCHECKED_REFERENCE.id for diagnostic in report.diagnostics)
    return "" if is_whole else ", except for references to tables that are not named"
