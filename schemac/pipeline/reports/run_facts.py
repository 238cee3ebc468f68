"""What a run did: the values that all forms of its report use.

Layer: pipeline.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from schemac.pipeline.reading.absent_path import AbsentPath
from schemac.rows.runs.identity import RunIdentity


@dataclass(frozen=True)
class ReasonCount:
    """How often a field broke a rule; the path has no positions."""

    path: str
    rule: str
    count: int


@dataclass(frozen=True)
class RunFacts:
    """The results of a run; users get a `RunReport`."""

    run: str
    """Its id, which its rows in the quarantine carry."""
    identity: RunIdentity
    rows_in: int
    rows_written: int
    rows_quarantined: int
    reasons: tuple[ReasonCount, ...]
    seconds: float
    table_path: str
    table_version: int
    quarantine_path: str | None
    quarantine_version: int | None
    differences: tuple[str, ...]
    is_repeat: bool = False
    """Whether the run had already been committed, as `table_version`: the counts are those of that commit, and nothing was written."""
    warnings: tuple[ReasonCount, ...] = ()
    """Like `reasons`, for rules that only warn; these records were written."""
    superseded: int = 0
    """Records that were superseded by a later one, or by the table's row, with their key."""
    deleted: int = 0
    """Records that deleted the row of their key."""
    unmatched: Mapping[str, int] = field(default_factory=dict)
    """By join of a backfill: rows whose key its source does not have."""
    stopped: str | None = None
    """Why Spark stopped after the commit; the counts are then those of the commit, and reasons may be missing."""
    is_compared: bool = True
    """Whether `differences` is known: files cannot be read back if Spark stopped before."""

    absent: tuple[AbsentPath, ...] = ()
    """Paths in the pipeline file that none of the records has."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        quarantine = None
        if self.quarantine_path is not None:
            quarantine = {"path": self.quarantine_path, "version": self.quarantine_version}
        return {
            **self.identity.report(),
            "repeat": self.is_repeat,
            "stopped": self.stopped,
            "seconds": round(self.seconds, 3),
            "records": {
                "in": self.rows_in,
                "written": self.rows_written,
                "quarantined": self.rows_quarantined,
                "superseded": self.superseded,
                "deleted": self.deleted,
            },
            "reasons": [asdict(reason) for reason in self.reasons],
            "unmatched": dict(self.unmatched),
            "warnings": [asdict(reason) for reason in self.warnings],
            "absent": [{"path": one.path, "setting": ".".join(map(str, one.place))} for one in self.absent],
            "table": {"path": self.table_path, "version": self.table_version},
            "quarantine": quarantine,
            "differences": list(self.differences) if self.is_compared else None,
        }
