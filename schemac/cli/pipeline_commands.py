"""`schemac run` and `schemac runs`: runs a pipeline on Spark, and lists the runs that a table or a quarantine has the commits of.

Layer: cli.
Shape: the paths of reports, metrics and events are checked before the run. If such a file cannot be written afterwards,
the exit code is 2 if everything else succeeded, and that of the run otherwise.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from schemac.cli.arguments import add_flag, add_output_arguments, add_overlay, add_repeatable, parse_count
from schemac.cli.compile_commands import report_missing_package, without_ignored_in
from schemac.cli.output import exit_code, print_status, show
from schemac.cli.project import overlay_of
from schemac.cli.terminal import (
    ExitCode,
    ProgressLines,
    WaitNotice,
    notify,
    progress_bar,
    put,
    put_json,
    put_rendered,
    records_text,
    table,
    wrapped,
)
from schemac.text.source.catalogue import INPUT_NOT_FOUND, PIPELINE_DRIFT, REPLAY, RULE_WARNING
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import counted
from schemac.text.source.text import reason_of

if TYPE_CHECKING:
    # For start-up time: `--help` needs no Arrow.
    from schemac.pipeline.conforming.load import LoadedJob
    from schemac.pipeline.explain import FieldPlan
    from schemac.pipeline.reports.outcome import Lineage, RunOutcome
    from schemac.pipeline.reports.progress import RunState
    from schemac.pipeline.runner import RunReport
    from schemac.rows.runs.history import CommittedRun
    from schemac.rows.runs.identity import RunRequest

# run


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac run`."""
    parser.add_argument("pipeline", metavar="PIPELINE", help="pipeline file, such as pipeline.yaml")
    add_flag(parser, "--dry-run", "check the pipeline, its manifest and its paths, and run nothing")
    which = parser.add_mutually_exclusive_group()
    help = "the run's id; a run that was committed is not committed again"
    which.add_argument("--run-id", metavar="ID", help=help)
    help = "the interval of a schedule that this run covers"
    which.add_argument("--interval", metavar="START..END", help=help)
    add_flag(parser, "--again", "read the input again, even if its rows are already in the table")
    add_overlay(parser)
    replay = parser.add_argument_group("replay")
    help = "read the quarantine, and move the records that fit now into the table"
    add_flag(replay, "--replay", help)
    replay.add_argument("--run", metavar="ID", help="only records that this run quarantined")
    replay.add_argument("--rule", metavar="RULE", help="only records that broke this rule, such as range")
    replay.add_argument("--path", metavar="PATH", help="only records with a reason at this field")
    parser.add_argument(
        "--explain",
        metavar="FIELD",
        help="show how one field is read, and which of its values are valid or quarantined, without running anything;"
        " --verbose adds every setting, example and rule",
    )
    parser.add_argument(
        "--progress",
        choices=("auto", "plain", "none"),
        default="auto",
        help="how to report progress on standard error: a line that"
        " changes, on a terminal only (auto); a line for each step and every 10 seconds, for logs (plain); not at all (none)",
    )
    help = (
        "write a report of the run, even if it stops; the format depends on the extension: .html (one page without"
        " external resources), .json or .txt; may be repeated"
    )
    add_repeatable(parser, "--report", "FILE", help)
    help = "write the run's numbers as OpenMetrics text, for the textfile collector of Prometheus"
    parser.add_argument("--metrics", metavar="FILE", help=help)
    help = "append the run's OpenLineage events to a file, one JSON object in each line"
    parser.add_argument("--lineage", metavar="FILE", help=help)
    add_output_arguments(parser)


class _PipelineCall:
    """One call of `schemac run`: what it has come to so far, and the files about it that the options name."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.began = datetime.now(UTC)
        self.report = Report()
        self.loaded: LoadedJob | None = None
        self.result: RunReport | None = None
        self.plan: tuple[FieldPlan, ...] = ()
        """What `--explain` asks for."""
        self.lineage: Lineage | None = None

    def wrong_path(self) -> str | None:
        """Return why a file about the run cannot be written, as far as that is known before it; None if all can be."""
        from schemac.pipeline.reports.outcome import REPORT_ENDINGS  # for start-up time, as below

        options = self.options
        for report in options.report:
            if Path(report).suffix.lower() not in REPORT_ENDINGS:
                return f"--report {report}: the name has to end in {', '.join(REPORT_ENDINGS)}"
        for path in filter(None, [*options.report, options.metrics, options.lineage]):
            if options.dry_run or options.explain is not None:
                other = "--dry-run" if options.dry_run else "--explain"
                return f"{path} reports on a run, but {other} runs nothing; leave one of the two out"
            folder = Path(path).absolute().parent
            if not folder.is_dir():
                return f"{path} cannot be written: there is no folder {folder}"
            if Path(path).is_dir() or not os.access(folder, os.W_OK):
                return f"{path} cannot be written"
        return None

    def write_start(self) -> bool:
        """Write the event that the run starts; return False after printing why that failed."""
        if self.options.lineage is None:
            return True
        from schemac.pipeline.reports.outcome import Lineage

        self.lineage = Lineage(Path(self.options.lineage), self.options.pipeline)
        return _try_to_write(self.options.lineage, partial(self.lineage.started, self.began))

    def outcome(self, code: int) -> "RunOutcome":
        """Return what the reports of the run contain, with the present time as its end."""
        from schemac.pipeline.reports.outcome import RunOutcome

        job = None if self.loaded is None else self.loaded.job
        ended, diagnostics = datetime.now(UTC), self.report.diagnostics
        return RunOutcome(self.options.pipeline, job, self.result, diagnostics, int(code), self.began, ended)

    def write_files(self, outcome: "RunOutcome") -> ExitCode:
        """Write the files about the run; clean if all of them could be written."""
        from schemac.pipeline.reports.outcome import write_metrics, write_report

        options = self.options
        writers = [(path, partial(write_report, outcome, Path(path))) for path in options.report]
        if options.metrics is not None:
            writers.append((options.metrics, partial(write_metrics, outcome, Path(options.metrics))))
        if self.lineage is not None:
            schema = None if self.loaded is None else self.loaded.arrow_schema
            writers.append((options.lineage, partial(self.lineage.ended, outcome, schema)))
        written = [_try_to_write(path, write) for path, write in writers]
        return ExitCode.CLEAN if all(written) else ExitCode.USAGE


def _try_to_write(path: str, write: Callable[[], None]) -> bool:
    """Write a file about the run; return False after printing why that failed."""
    try:
        write()
    except OSError as error:
        notify(f"schemac: cannot write {path}: {reason_of(error)}")
        return False
    return True


def run_run(options: argparse.Namespace) -> int:
    """Run the pipeline; return the exit code."""
    call = _PipelineCall(options)
    mistake = call.wrong_path()
    if mistake is not None:
        notify(f"schemac: {mistake}")
        return ExitCode.USAGE
    if not call.write_start():
        return ExitCode.USAGE
    try:
        with _progress_shown(options) as progress:
            _run_pipeline(call, progress)
    except (Exception, KeyboardInterrupt) as error:
        code = 130 if isinstance(error, KeyboardInterrupt) else ExitCode.INTERNAL
        call.write_files(call.outcome(code))
        raise
    call.report = without_ignored_in(options.pipeline, call.report, {})
    diagnostics = call.report.diagnostics
    outcome = call.outcome(exit_code(diagnostics, options))
    if options.format == "json":
        explained = {"explained": [one.to_json() for one in call.plan]} if call.plan else {}
        put_json({**outcome.to_json(), **explained})
    else:
        show(diagnostics, options)
    if options.format == "text":
        for item in call.result, *(one.details() if options.verbose else str(one) for one in call.plan):
            if item is not None:
                put(str(item))
    written = call.write_files(outcome)
    return outcome.exit_code or written


def _run_pipeline(call: _PipelineCall, progress: "Callable[[RunState], None]") -> None:
    """Run a pipeline, check it or explain a field, as the options ask; what fails is reported."""
    options, report = call.options, call.report
    try:
        # Imported here for start-up time, and because Spark is an extra that may not be there.
        from schemac.pipeline.conforming.load import checked_job, load_job
        from schemac.pipeline.errors import PipelineError
        from schemac.rows.runs.identity import Replay, RunRequest
    except ModuleNotFoundError as error:
        report_missing_package(error, report)
        return
    overlay = overlay_of(options, report)
    if report.has_errors:
        return
    load = checked_job if options.dry_run else load_job
    loaded = call.loaded = load(Path(options.pipeline), report, overlay)
    if loaded is None or report.has_errors:
        return
    if options.dry_run:
        columns = counted(len(loaded.dataset.columns), "column")
        print_status(f"{options.pipeline} can run: {columns} of {loaded.dataset.name}", options)
        return
    try:
        if options.explain is not None:
            from schemac.pipeline.explain import explain_field

            call.plan = explain_field(loaded.job, loaded.arrow_schema, options.explain)
            return
        slices = {name: text for name in ("run", "rule", "path") if (text := getattr(options, name))}
        if slices and not options.replay:
            message = f"`--{next(iter(slices))}` chooses records of the quarantine"
            raise PipelineError(REPLAY, message, "add `--replay`")  # noqa: TRY301 — reported as the others
        replay = Replay(**slices) if options.replay else None
        request = RunRequest(options.run_id or "", options.interval or "", options.again, replay)
        call.result = _write_table(loaded, request, progress, report)
    except PipelineError as error:
        loaded.report(error, report)


def _write_table(
    loaded: "LoadedJob", request: "RunRequest", progress: "Callable[[RunState], None]", report: Report
) -> "RunReport":
    """Run a loaded pipeline, and report broken rules, absent columns and drift of its table as warnings."""
    from schemac.pipeline.reports.run_report import relative_path  # for start-up time, as above
    from schemac.pipeline.stream import run_or_stream

    form = loaded.form
    result = run_or_stream(loaded.job, loaded.arrow_schema, form, request=request, progress=progress)
    for warning in result.warnings:
        what = f"`{warning.path}`" if warning.path else "the record"
        records = counted(warning.count, "record")
        message = f"{what} breaks the rule `{warning.rule}` in {records}, which the table has"
        help = f"`schemac explain {warning.rule}` explains what to do"
        report.add(RULE_WARNING, message, file=loaded.document.source.name, help=help)
    for absent in result.absent:
        loaded.report(absent.warning(), report)
    for difference in result.differences:
        help = "compare it with the artifacts of `schemac build`"
        report.add(PIPELINE_DRIFT, difference, file=relative_path(result.table_path), help=help)
    return result


@contextmanager
def _progress_shown(options: argparse.Namespace) -> "Iterator[Callable[[RunState], None]]":
    """Show what is under way and how many records came, where a person looks or lines were asked for."""
    if options.progress == "plain":
        lines = ProgressLines()
        yield lambda state: lines.notify(state.step.value, state.records, state.rate)
        return
    is_watched = options.format == "text" and not options.dry_run and sys.stderr.isatty()
    waiting = WaitNotice()
    with progress_bar(is_watched and options.progress == "auto", has_end=False) as show_step:

        def show_progress(state: "RunState") -> None:
            from schemac.pipeline.reports.progress import WAIT_ADVICE, RunStep  # for start-up time, as above

            show_step(f"{state.step.value}{records_text(state.records, state.rate)}", state.records, 0)
            if options.progress == "auto":
                waiting.look(state.step is RunStep.WAITING, WAIT_ADVICE)

        yield show_progress


# runs


FOLDER_HELP = "name the folder of a table, as under `target: {path: ...}` of a pipeline"
STORAGE_HELP = "name the pipeline file that writes it, such as `schemac runs pipeline.yaml`; its section `storage` configures access to the store"
COLUMNS = ("version", "committed", "mode", "written", "quarantined", "schema", "run", "source")


def add_runs_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac runs`."""
    help = "a table or a quarantine that `schemac run` has written, or the pipeline file that writes it (required on an object store)"
    parser.add_argument("table", metavar="TABLE", help=help)
    parser.add_argument("--limit", type=parse_count, metavar="N", help="show only the newest N runs")
    add_output_arguments(parser)


def run_runs(options: argparse.Namespace) -> int:
    """List the runs, the newest first."""
    report = Report()
    runs = _find_runs(options, report)
    code = show(report.diagnostics, options, runs=[run.to_json() for run in runs])
    if options.format != "text" or report.has_errors:
        return code
    if not runs:
        put(wrapped("", "no run has written this table; it may have been written by other means"))
        return code
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
    return code


def _find_runs(options: argparse.Namespace, report: Report) -> "list[CommittedRun]":
    """Return the newest runs of a table, or of a pipeline's tables, up to `--limit`; none after reporting an error."""
    from schemac.rows.runs.errors import PipelineError  # for start-up time, as below
    from schemac.rows.runs.storage import NO_STORAGE, is_local
    from schemac.rows.runs.tables import sink_names, sink_of, table_runs

    try:
        path = Path(options.table)
        if path.suffix in (".yaml", ".yml") and path.is_file():
            runs = _runs_of_pipeline(options, report)
        else:
            # The engine whose table is there.
            sinks = (sink_of(name) for name in sink_names())
            sink = next((one for one in sinks if one.find(options.table, NO_STORAGE) is not None), None)
            runs = table_runs(options.table, sink)
        if runs is None and not report.has_errors:
            message = f"there is no table at {options.table}"
            help = STORAGE_HELP if not is_local(options.table) else FOLDER_HELP
            report.add(INPUT_NOT_FOUND, message, file=options.table, help=help)
        return [] if report.has_errors else list(runs or ())[: options.limit]
    except PipelineError as error:
        help = error.help or ("" if is_local(options.table) else STORAGE_HELP)
        report.add(error.code, error.message, file=options.table, help=help)
        return []


def _runs_of_pipeline(options: argparse.Namespace, report: Report) -> "Iterable[CommittedRun] | None":
    """Return the runs of a pipeline's target, which is reached as the pipeline does; None after reporting that there is none."""
    try:
        from schemac.pipeline.conforming.load import load_job  # Spark is an extra that may not be there
    except ModuleNotFoundError as error:
        report_missing_package(error, report)
        return None
    from schemac.rows.runs.storage import storage_in_use
    from schemac.rows.runs.tables import sink_names, sink_of, table_runs

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
