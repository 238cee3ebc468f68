"""`schemac run`: runs a pipeline on Spark, with its progress, its report and the files it writes.

Layer: cli.
Shape: the paths of reports, metrics and events are checked before the run. If such a file cannot be written afterwards,
the exit code is 2 if everything else succeeded, and that of the run otherwise.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from schemac.cli.command_check import report_missing_package, without_ignored_in
from schemac.cli.output import add_output_arguments, add_overlay_argument, exit_code, print_status, show
from schemac.cli.project import overlay_of
from schemac.cli.terminal import ExitCode, ProgressLines, WaitNotice, notify, put, put_json, records_bar
from schemac.text.source.catalogue import PIPELINE_DRIFT, REPLAY, RULE_WARNING
from schemac.text.source.phrases import counted
from schemac.text.source.report import Report
from schemac.text.source.text import reason_of

if TYPE_CHECKING:
    from schemac.language.physical import ArrowSchema
    from schemac.pipeline.conforming.load import LoadedJob
    from schemac.pipeline.explain import FieldPlan
    from schemac.pipeline.reports.outcome import Lineage, Outcome
    from schemac.pipeline.reports.progress import State
    from schemac.pipeline.runner import RunReport
    from schemac.rows.runs.identity import RunRequest


def add_file_arguments(parser: argparse.ArgumentParser) -> None:
    """`--report`, `--metrics`, `--lineage`."""
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FILE",
        help="write a report of the run, even if it stops; the format depends on the extension: .html (one page without"
        " external resources), .json or .txt; may be repeated",
    )
    parser.add_argument(
        "--metrics",
        metavar="FILE",
        help="write the run's numbers as OpenMetrics text, for the textfile collector of Prometheus",
    )
    parser.add_argument(
        "--lineage",
        metavar="FILE",
        help="append the run's OpenLineage events to a file, one JSON object in each line",
    )


class RunFiles:
    """The files that were asked for on the command line."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.began = datetime.now(UTC)
        self.lineage: Lineage | None = None

    def mistake(self) -> str | None:
        """Return what is wrong with the path of a file, before the run; empty if nothing is."""
        from schemac.pipeline.reports.outcome import REPORT_ENDINGS  # for start-up time, as below

        for report in self.options.report:
            if Path(report).suffix.lower() not in REPORT_ENDINGS:
                return f"--report {report}: the name has to end in {', '.join(REPORT_ENDINGS)}"
        named = [*self.options.report, self.options.metrics, self.options.lineage]
        for path in filter(None, named):
            if self.options.dry_run or self.options.explain is not None:
                other = "--dry-run" if self.options.dry_run else "--explain"
                return f"{path} reports on a run, but {other} runs nothing; leave one of the two out"
            folder = Path(path).absolute().parent
            if not folder.is_dir():
                return f"{path} cannot be written: there is no folder {folder}"
            if Path(path).is_dir() or not os.access(folder, os.W_OK):
                return f"{path} cannot be written"
        return None

    def started(self) -> bool:
        """Write the event that the run starts; false if that fails."""
        if self.options.lineage is None:
            return True
        from schemac.pipeline.reports.outcome import Lineage

        self.lineage = Lineage.new(Path(self.options.lineage), self.options.pipeline)
        return _tried(self.options.lineage, partial(self.lineage.started, self.began))

    def ended(self, outcome: "Outcome", schema: "ArrowSchema | None") -> ExitCode:
        """Write the files about the run; clean if all of them could be written."""
        from schemac.pipeline.reports.outcome import write_metrics, write_report

        written = [
            _tried(report, partial(write_report, outcome, Path(report))) for report in self.options.report
        ]
        if self.options.metrics is not None:
            written.append(
                _tried(self.options.metrics, partial(write_metrics, outcome, Path(self.options.metrics)))
            )
        if self.lineage is not None:
            written.append(_tried(self.options.lineage, partial(self.lineage.ended, outcome, schema)))
        return ExitCode.CLEAN if all(written) else ExitCode.USAGE


def _tried(path: str, write: Callable[[], None]) -> bool:
    """Write a file about the run; return False after printing why that failed."""
    try:
        write()
    except OSError as error:
        notify(f"schemac: cannot write {path}: {reason_of(error)}")
        return False
    return True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("pipeline", metavar="PIPELINE", help="pipeline file, such as pipeline.yaml")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="check the pipeline, its manifest and its paths, and run nothing",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--run-id",
        metavar="ID",
        help="the run's id; a run that was committed is not committed again",
    )
    which.add_argument(
        "--interval", metavar="START..END", help="the interval of a schedule that this run covers"
    )
    parser.add_argument(
        "--again", action="store_true", help="read the input again, even if its rows are already in the table"
    )
    add_overlay_argument(parser)
    replay = parser.add_argument_group("replay")
    replay.add_argument(
        "--replay",
        action="store_true",
        help="read the quarantine, and move the records that fit now into the table",
    )
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
    add_file_arguments(parser)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the pipeline; return the exit code."""
    files = RunFiles(options)
    mistake = files.mistake()
    if mistake is not None:
        notify(f"schemac: {mistake}")
        return ExitCode.USAGE
    if not files.started():
        return ExitCode.USAGE
    call = _Call()
    try:
        with _progress(options) as progress:
            _run(options, call, progress)
    except (Exception, KeyboardInterrupt) as error:
        code = 130 if isinstance(error, KeyboardInterrupt) else ExitCode.INTERNAL
        files.ended(_outcome(options, call, files, code), call.schema)
        raise
    call.report = without_ignored_in(options.pipeline, call.report, {})
    diagnostics = call.report.diagnostics
    outcome = _outcome(options, call, files, exit_code(diagnostics, options))
    if options.format == "json":
        explained = {"explained": [one.to_json() for one in call.plan]} if call.plan else {}
        put_json({**outcome.to_json(), **explained})
    else:
        show(diagnostics, options)
    if options.format == "text":
        for item in call.result, *(one.details() if options.verbose else str(one) for one in call.plan):
            if item is not None:
                put(str(item))
    written = files.ended(outcome, call.schema)
    return outcome.exit_code or written


@dataclass
class _Call:
    """The state of one call of the command."""

    report: Report = field(default_factory=Report)
    loaded: "LoadedJob | None" = None
    result: "RunReport | None" = None
    plan: "tuple[FieldPlan, ...]" = ()
    """What `--explain` asks for."""

    @property
    def schema(self) -> "ArrowSchema | None":
        return None if self.loaded is None else self.loaded.arrow_schema


def _outcome(options: argparse.Namespace, call: _Call, files: RunFiles, code: int) -> "Outcome":
    """Return what the reports of a run contain, with the present time as its end."""
    from schemac.pipeline.reports.outcome import Outcome  # for start-up time

    job = None if call.loaded is None else call.loaded.job
    ended = datetime.now(UTC)
    return Outcome(options.pipeline, job, call.result, call.report.diagnostics, int(code), files.began, ended)


def _run(options: argparse.Namespace, call: _Call, progress: "Callable[[State], None]") -> None:
    """Run a pipeline, check it or explain a field, as the options ask; what fails is reported."""
    report = call.report
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
        columns = len(loaded.dataset.columns)
        print_status(
            f"{options.pipeline} can run: {counted(columns, 'column')} of {loaded.dataset.name}", options
        )
        return
    try:
        if options.explain is not None:
            from schemac.pipeline.explain import explain_field

            call.plan = explain_field(loaded.job, loaded.arrow_schema, options.explain)
            return
        slices = {name: text for name in ("run", "rule", "path") if (text := getattr(options, name))}
        if slices and not options.replay:
            message = f"`--{next(iter(slices))}` chooses records of the quarantine"
            loaded.report(PipelineError(REPLAY, message, "add `--replay`"), report)
            return
        replay = Replay(**slices) if options.replay else None
        request = RunRequest(options.run_id or "", options.interval or "", options.again, replay)
        call.result = _write(loaded, request, progress, report)
    except PipelineError as error:
        loaded.report(error, report)


def _write(
    loaded: "LoadedJob",
    request: "RunRequest",
    progress: "Callable[[State], None]",
    report: Report,
) -> "RunReport":
    """Run a loaded pipeline, and report broken rules, absent columns and drift of its table as warnings."""
    from schemac.pipeline.library import run_loaded  # for start-up time, as above
    from schemac.pipeline.reports.run_facts import shown

    result = run_loaded(loaded, request=request, progress=progress)
    for warning in result.warnings:
        what = f"`{warning.path}`" if warning.path else "the record"
        report.add(
            RULE_WARNING,
            f"{what} breaks the rule `{warning.rule}` in {counted(warning.count, 'record')}, which the table has",
            file=loaded.document.source.name,
            help=f"`schemac explain {warning.rule}` explains what to do",
        )
    for absent in result.absent:
        loaded.report(absent.warning(), report)
    for difference in result.differences:
        report.add(
            PIPELINE_DRIFT,
            difference,
            file=shown(result.table_path),
            help="compare it with the artifacts of `schemac build`",
        )
    return result


@contextmanager
def _progress(options: argparse.Namespace) -> "Iterator[Callable[[State], None]]":
    """Show what is under way and how many records came, where a person looks or lines were asked for."""
    if options.progress == "plain":
        lines = ProgressLines()
        yield lambda state: lines.notify(state.step.value, state.records, state.rate)
        return
    is_watched = options.format == "text" and not options.dry_run and sys.stderr.isatty()
    waiting = WaitNotice()
    with records_bar(is_watched and options.progress == "auto") as show_state:

        def show_progress(state: "State") -> None:
            from schemac.pipeline.reports.progress import WAIT_ADVICE, Step  # for start-up time, as above

            show_state(state.step.value, state.records, state.rate)
            if options.progress == "auto":
                waiting.look(state.step is Step.WAITING, WAIT_ADVICE)

        yield show_progress
