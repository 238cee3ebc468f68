"""`schemac runs`: the runs that a table or a quarantine has the commits of.

Layer: cli.
"""

import argparse
import shlex
from collections.abc import Iterable
from pathlib import Path

from schemac.cli.command_check import report_missing_package
from schemac.cli.output import add_output_arguments, exit_code, show
from schemac.cli.terminal import put, put_rendered, table, wrapped
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.storage import NO_STORAGE, is_local, storage_in_use
from schemac.rows.runs.tables import sink_names, sink_of, table_runs
from schemac.text.source.catalogue import INPUT_NOT_FOUND
from schemac.text.source.report import Report

FOLDER_HELP = "name the folder of a table, as under `target: {path: ...}` of a pipeline"
STORAGE_HELP = "name the pipeline file that writes it, such as `schemac runs pipeline.yaml`; its section `storage` configures access to the store"
COLUMNS = ("version", "committed", "mode", "written", "quarantined", "schema", "run", "source")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "table",
        metavar="TABLE",
        help="a table or a quarantine that `schemac run` has written, or the pipeline file that writes it (required on an object store)",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="show only the newest N runs")
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """List the runs, the newest first."""
    report = Report()
    runs = _runs(options, report)
    diagnostics = report.diagnostics
    show(diagnostics, options, runs=[run.to_json() for run in runs])
    if options.format == "text" and not report.has_errors:
        if not runs:
            put(wrapped("", "no run has written this table; it may have been written by other means"))
            return exit_code(diagnostics, options)
        rows: list[tuple[str, ...]] = [COLUMNS]
        for run in runs:
            paths = run.identity.paths
            read = ", ".join(paths[:2]) + (f" and {len(paths) - 2} more" if len(paths) > 2 else "")
            numbers = (f"{run.rows:,}", f"{run.rows_quarantined:,}")
            committed = run.committed.strftime("%Y-%m-%d %H:%M:%SZ")
            source = run.identity.interval or read or "-"
            schema = run.identity.schema or "-"
            rows.append((str(run.version), committed, run.identity.mode, *numbers, schema, run.id, source))
        put_rendered(table(rows) + "\n")
    return exit_code(diagnostics, options)


def _runs(options: argparse.Namespace, report: Report) -> list[CommittedRun]:
    """Return the newest runs of a table, or of a pipeline's tables, up to `--limit`; none after reporting an error."""
    try:
        path = Path(options.table)
        if path.suffix in (".yaml", ".yml") and path.is_file():
            runs = _runs_of_pipeline(options, report)
        else:
            # The engine whose table is there.
            sinks = (sink_of(name) for name in sink_names())
            sink = next((one for one in sinks if one.find(options.table, NO_STORAGE) is not None), None)
            runs = table_runs(options.table, sink)
        if report.has_errors:
            return []
        if runs is None:
            message = f"there is no table at {options.table}"
            help = STORAGE_HELP if not is_local(options.table) else FOLDER_HELP
            report.add(INPUT_NOT_FOUND, message, file=options.table, help=help)
            return []
        return list(runs)[: options.limit]
    except PipelineError as error:
        help = error.help or ("" if is_local(options.table) else STORAGE_HELP)
        report.add(error.code, error.message, file=options.table, help=help)
        return []


def _runs_of_pipeline(options: argparse.Namespace, report: Report) -> Iterable[CommittedRun] | None:
    """List the runs of a pipeline's target, which is reached as the pipeline does."""
    try:
        from schemac.pipeline.conforming.load import load_job  # Spark is an extra that may not be there
    except ModuleNotFoundError as error:
        report_missing_package(error, report)
        return None
    loaded = load_job(Path(options.table), report)
    if loaded is None:
        return None
    target, storage = loaded.job.target, loaded.job.storage_options
    sink = sink_of(target.format) if target.format in (None, *sink_names()) else None
    is_found = sink is None or sink.find(target.path, storage) is not None
    with storage_in_use(storage):
        runs = table_runs(target.path, sink, storage) if is_found else None
        if runs is not None:
            return list(runs)
    message = f"{options.table} has not written a table at {target.path} yet"
    help = f"write it first: schemac run {shlex.quote(options.table)}"
    report.add(INPUT_NOT_FOUND, message, file=options.table, help=help)
    return None
