"""The files that `schemac run` writes about a run: reports, metrics, events.

Layer: cli.
Shape: a bad path is told before anything is run. What is written afterwards does not change the exit code of the run,
except that a file that cannot be written any more is told and gives 2 where all else was clean.
"""

import argparse
import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from schemac.cli.exit_code import ExitCode
from schemac.cli.terminal import notify
from schemac.source.text import reason_of

if TYPE_CHECKING:
    from schemac.physical.arrow import ArrowSchema
    from schemac.pipeline.reports.lineage import Lineage
    from schemac.pipeline.reports.outcome import Outcome


def add_file_arguments(parser: argparse.ArgumentParser) -> None:
    """`--report`, `--metrics`, `--lineage`."""
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FILE",
        help="write a report of the run, even if it stops; the ending of the name decides: .html (one page without"
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
        """Say what is wrong with a file that was named, before the run."""
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
        """Tell that the run begins; false where that cannot be written."""
        if self.options.lineage is None:
            return True
        from schemac.pipeline.reports.lineage import Lineage

        self.lineage = Lineage.new(Path(self.options.lineage), self.options.pipeline)
        return _tried(self.options.lineage, partial(self.lineage.started, self.began))

    def ended(self, outcome: "Outcome", schema: "ArrowSchema | None") -> ExitCode:
        """Write what is to be written of the run; clean if all of it could be."""
        from schemac.pipeline.reports.metrics import write_metrics
        from schemac.pipeline.reports.outcome import write_report

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
    try:
        write()
    except OSError as error:
        notify(f"schemac: cannot write {path}: {reason_of(error)}")
        return False
    return True
