"""`schemac runs`: the runs that a table or a quarantine has the commits of.

Layer: cli.
"""

import argparse

from schemac.cli.layout import table
from schemac.cli.output import add_output_arguments, exit_code, show, show_document
from schemac.cli.terminal import put, put_rendered
from schemac.runs.errors import PipelineError
from schemac.runs.file_records import FileRecord, records_in
from schemac.runs.history import CommittedRun
from schemac.runs.locations import is_local
from schemac.runs.storage import NO_STORAGE
from schemac.runs.tables import Sink, sink_names, sink_of
from schemac.source.catalogue import INPUT_NOT_FOUND
from schemac.source.report import Report

COLUMNS = ("version", "committed", "mode", "written", "quarantined", "schema", "run", "source")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("table", metavar="TABLE", help="a table or a quarantine that `schemac run` writes")
    parser.add_argument("--limit", type=int, metavar="N", help="show only the newest N runs")
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """List the runs, the newest first."""
    report = Report()
    found = _runs(options, report)
    diagnostics = report.diagnostics
    if options.format == "json":
        show_document(diagnostics, options, runs=[run.to_json() for run in found])
        return exit_code(diagnostics, options)
    show(diagnostics, options)
    if options.format == "text" and not report.has_errors:
        _show(found)
    return exit_code(diagnostics, options)


def _runs(options: argparse.Namespace, report: Report) -> list[CommittedRun]:
    try:
        records = records_in(options.table) if is_local(options.table) else None
        if records is not None:
            return [record.run for record in records][: options.limit]
        sink = _sink_of(options.table)
        if sink is None and (records := _records_in_store(options.table)) is not None:
            return [record.run for record in records][: options.limit]
        if sink is None:
            message = f"there is no table at {options.table}"
            help = "name the folder of a table, as under `target: {path: ...}` of a pipeline"
            report.add(INPUT_NOT_FOUND, message, file=options.table, help=help)
            return []
        return list(sink.runs(options.table))[: options.limit]
    except PipelineError as error:
        report.add(error.code, error.message, file=options.table, help=error.help or "")
        return []


def _sink_of(table: str) -> Sink | None:
    """Find the engine whose table is at a path."""
    sinks = (sink_of(name) for name in sink_names())
    return next((sink for sink in sinks if sink.find(table, NO_STORAGE) is not None), None)


def _records_in_store(path: str) -> list[FileRecord] | None:
    """Read the runs of a folder of files on an object store; None where there are none, or it cannot be opened."""
    try:
        return None if is_local(path) else records_in(path)
    except (OSError, ValueError):
        return None


def _show(runs: list[CommittedRun]) -> None:
    if not runs:
        put("no run has written this table; it may have been written by other means")
        return
    put_rendered(table([COLUMNS, *map(_cells, runs)]) + "\n")


def _cells(run: CommittedRun) -> tuple[str, ...]:
    paths = run.identity.paths
    read = ", ".join(paths[:2]) + (f" and {len(paths) - 2} more" if len(paths) > 2 else "")
    return (
        str(run.version),
        run.committed.strftime("%Y-%m-%d %H:%M:%SZ"),
        run.identity.mode,
        f"{run.rows:,}",
        f"{run.rows_quarantined:,}",
        run.identity.schema or "-",
        run.id,
        run.identity.interval or read or "-",
    )
