"""What became of one call of a pipeline, for those who did not watch: its reports, its metrics.

Layer: pipeline.
Shape: an `Outcome` in, files out. Each file appears whole or not at all, so that a collector never reads half of one.
       They are written for a run that stopped too, for that is when they are read.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemac.pipeline.reports.run_facts import RunFacts
from schemac.pipeline.reports.text import run_text
from schemac.project.writing import replace_file
from schemac.rows.runs.storage import NO_STORAGE, storage_in_use
from schemac.source.diagnostic import Diagnostic, Severity

if TYPE_CHECKING:
    from schemac.pipeline.declaration.job import Job

REPORT_ENDINGS = (".html", ".json", ".txt")


@dataclass(frozen=True)
class Outcome:
    """A call of `schemac run` that has come to its end."""

    pipeline: str
    """The pipeline file, as it was named."""
    job: "Job | None"
    """None if the file could not be read."""
    report: RunFacts | None
    """None if nothing was committed."""
    diagnostics: tuple[Diagnostic, ...]
    exit_code: int
    started: datetime
    ended: datetime

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.ended - self.started).total_seconds()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that stopped it."""
        return tuple(one for one in self.diagnostics if one.severity is Severity.ERROR)

    def to_json(self) -> dict[str, Any]:
        """Give the document that `--format json` prints."""
        from schemac.source.render.json import envelope

        run = None if self.report is None else self.report.to_json()
        return envelope("run", self.diagnostics, {"run": run})


def write_report(outcome: Outcome, path: Path) -> None:
    """Write the report in the form that the ending of the file's name says. Raises OSError."""
    forms = {".html": _html, ".json": _json, ".txt": _text}
    replace_file(path, forms[path.suffix.lower()](outcome).encode("utf-8", "backslashreplace"))


def _html(outcome: Outcome) -> str:
    from schemac.pipeline.reports.html import run_page
    from schemac.pipeline.reports.offenders import first_offenders
    from schemac.pipeline.reruns.history import runs_of  # for those who ask for a page

    storage = NO_STORAGE if outcome.job is None else outcome.job.storage_options
    with storage_in_use(storage):
        offenders = () if outcome.report is None else first_offenders(outcome.report)
    try:
        runs = () if outcome.job is None else runs_of(outcome.job.target.path, storage_options=storage)
    except (OSError, ValueError, ImportError):
        runs = ()  # there is no table yet, or nothing that could read it
    return run_page(Path(outcome.pipeline).name, outcome.report, outcome.diagnostics, offenders, runs)


def _json(outcome: Outcome) -> str:
    return json.dumps(outcome.to_json(), ensure_ascii=False, indent=2) + "\n"


def _text(outcome: Outcome) -> str:
    from schemac.source.render.text import render_text

    diagnostics_text = render_text(outcome.diagnostics)
    return diagnostics_text + ("" if outcome.report is None else run_text(outcome.report) + "\n")
