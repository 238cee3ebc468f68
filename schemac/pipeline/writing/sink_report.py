"""What the sink says of a write.

Layer: pipeline.
Shape: a JSON file, because Spark commits in another process than the one that asked for it.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from schemac.pipeline.declaration.limits import Passed
from schemac.pipeline.errors import PipelineError
from schemac.rows.runs.history import CommittedRun
from schemac.source.catalogue import EMPTIED_TABLE

MOST_REASONS = 5


@dataclass(frozen=True)
class SinkReport:
    """The numbers of one write."""

    rows_written: int
    rows_quarantined: int
    reasons: tuple[tuple[str, str, int], ...]
    """How often a field did not fit a rule: path, rule and count."""
    version: int = 0
    """That of the table; 0 if nothing was committed."""
    quarantine_version: int | None = None
    superseded: int = 0
    """Records that do not count, for a later one has their key."""
    deleted: int = 0
    """Records that deleted the row of their key."""
    is_repeat: bool = False
    """Whether another attempt of the run had been committed: its numbers, and nothing was written."""
    warnings: tuple[tuple[str, str, int], ...] = ()
    """The same of rules that only warn, over the records that were written."""
    passed: Passed | None = None
    """The limit of quarantined records that was passed, where the write was given up for it."""

    def write(self, path: str) -> None:
        """Write the file."""
        Path(path).write_text(json.dumps(asdict(self)))

    @classmethod
    def of_commit(cls, run: CommittedRun) -> "SinkReport":
        """Return what the commit of a run says; reasons are not there."""
        rows, quarantined = run.rows, run.rows_quarantined
        return cls(rows, quarantined, (), run.version, superseded=run.superseded, deleted=run.deleted)

    @classmethod
    def read(cls, path: Path) -> "SinkReport":
        """Return what a file says. Raises OSError."""
        document = json.loads(path.read_text())
        for name in ("reasons", "warnings"):
            document[name] = tuple((path, rule, count) for path, rule, count in document[name])
        if document["passed"] is not None:
            place, message = document["passed"]
            document["passed"] = Passed(tuple(place), message)
        return cls(**document)


def nothing_fits(report: SinkReport, path: str) -> PipelineError:
    """Describe a first run of whose records none fits: its table would have no row."""
    worst = sorted(report.reasons, key=lambda entry: -entry[2])[:MOST_REASONS]
    reasons_text = ", ".join(
        f"`{path}` {rule} {count}" if path else f"{rule} {count}" for path, rule, count in worst
    )
    return PipelineError(
        EMPTIED_TABLE,
        f"none of the {report.rows_quarantined} records fits, so `{path}` was not created ({reasons_text})",
        "correct the schema or the mapping, or set `allowEmpty: true` under `target` if that is intended",
        place=("target", "mode"),
    )
