"""`schemac run`: a pipeline on Spark, with its progress and its report.

Layer: cli.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from schemac.cli.output import add_output_arguments, exit_code, say, show
from schemac.cli.progress import records_bar
from schemac.cli.terminal import put, put_json
from schemac.pipeline.codes import MISSING_PACKAGE
from schemac.source.catalogue import PIPELINE_DRIFT, REPLAY
from schemac.source.render.json import render_json
from schemac.source.report import Report

if TYPE_CHECKING:
    from schemac.pipeline.load import LoadedJob
    from schemac.pipeline.progress import State
    from schemac.pipeline.replay import Replay
    from schemac.pipeline.run import RunReport
    from schemac.runs.request import RunRequest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("pipeline", metavar="PIPELINE", help="pipeline file, such as pipeline.yaml")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="check the file, its manifest and its paths without starting the run",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--run-id",
        metavar="ID",
        help="the run's id; a run that was committed is not committed again",
    )
    which.add_argument(
        "--interval", metavar="START..END", help="the interval of a schedule that the run is for"
    )
    parser.add_argument(
        "--again", action="store_true", help="read input once more that the table has the rows of"
    )
    replay = parser.add_argument_group("replay")
    replay.add_argument(
        "--replay", action="store_true", help="read the quarantine, and move what fits now into the table"
    )
    replay.add_argument("--run", metavar="ID", help="only records that this run quarantined")
    replay.add_argument("--rule", metavar="RULE", help="only records that broke this rule, such as range")
    replay.add_argument("--path", metavar="PATH", help="only records with a reason at this field")
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the pipeline; the exit code tells the result."""
    report = Report()
    with _progress(options) as progress:
        result = _run(options, report, progress)
    diagnostics = report.diagnostics
    if options.format == "json":
        document = json.loads(render_json(diagnostics))
        told = None if result is None else result.to_json()
        put_json({**document, "run": told})
    else:
        show(diagnostics, options)
    if result is not None and options.format == "text":
        _show_result(result)
    return exit_code(diagnostics, options)


def _run(
    options: argparse.Namespace, report: Report, progress: "Callable[[State], None]"
) -> "RunReport | None":
    try:
        # Imported here for start-up time, and because Spark is an extra that may not be there.
        from schemac.pipeline.errors import PipelineError
        from schemac.pipeline.load import load_job
        from schemac.pipeline.preflight import check
        from schemac.runs.request import RunRequest
    except ModuleNotFoundError as error:
        help = "install it with: pip install 'schemac[all]'"
        report.add(MISSING_PACKAGE, f"the pipeline needs {error.name}, which is not installed", help=help)
        return None
    loaded = load_job(Path(options.pipeline), report)
    if loaded is None:
        return None
    try:
        if options.dry_run:
            check(loaded.job, loaded.arrow_schema)
            say(
                f"{options.pipeline} can run: {len(loaded.dataset.columns)} columns of {loaded.dataset.name}",
                options,
            )
            return None
        request = RunRequest(options.run_id or "", options.interval or "", options.again)
        replay = _replay(options)
        return _write(loaded, request, replay, progress, report)
    except PipelineError as error:
        loaded.report(error, report)
        return None


def _replay(options: argparse.Namespace) -> "Replay | None":
    from schemac.pipeline.errors import PipelineError
    from schemac.pipeline.replay import Replay  # for start-up time, as above

    slices = {name: text for name in ("run", "rule", "path") if (text := getattr(options, name))}
    if options.replay:
        return Replay(**slices)
    if slices:
        message = f"`--{next(iter(slices))}` chooses records of the quarantine"
        raise PipelineError(REPLAY, message, "add `--replay`")
    return None


def _write(
    loaded: "LoadedJob",
    request: "RunRequest",
    replay: "Replay | None",
    progress: "Callable[[State], None]",
    report: Report,
) -> "RunReport":
    from schemac.pipeline.run import run as run_job  # for start-up time, as above

    result = run_job(
        loaded.job, loaded.arrow_schema, loaded.form, request=request, replay=replay, progress=progress
    )
    for difference in result.differences:
        report.add(
            PIPELINE_DRIFT,
            difference,
            file=_shown(result.table_path),
            help="compare it with the artifacts of `schemac build`",
        )
    return result


@contextmanager
def _progress(options: argparse.Namespace) -> "Iterator[Callable[[State], None]]":
    """Show what is under way and how many records came, where a person looks."""
    with records_bar(options.format == "text" and not options.dry_run and sys.stderr.isatty()) as tell:
        yield lambda state: tell(state.step.value, state.records, state.rate)


def _show_result(result: "RunReport") -> None:
    if result.is_repeat:
        put(
            f"already committed as version {result.table_version} of {_shown(result.table_path)}, by the run {result.run}:"
            f" {result.rows_written:,} rows written, {result.rows_quarantined:,} quarantined; nothing was written now.\n"
            "To write the same input once more, use `--again` or a new `--run-id`."
        )
        return
    share = result.rows_quarantined / result.rows_in if result.rows_in else 0.0
    put(f"{result.rows_in:>12,} rows in")
    table, quarantine = _shown(result.table_path), _shown(result.quarantine_path or "-")
    put(f"{result.rows_written:>12,} rows written      {table} (version {result.table_version})")
    put(f"{result.rows_quarantined:>12,} rows quarantined  {quarantine} ({share:.2%})")
    for reason in result.reasons:
        put(f"{reason.count:>16,} × {reason.path or 'the record'}: {reason.rule}")
    state = (
        "the table's schema matches the artifact"
        if not result.differences
        else "the table's schema differs from the artifact"
    )
    put(f"{result.seconds:>11.1f}s; {state}")


def _shown(path: str) -> str:
    """Return a path from the working folder where it lies below it."""
    try:
        return Path(path).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path
