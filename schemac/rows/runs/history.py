"""The runs of a table, and which rows of a quarantine count.

Layer: rows.
Shape: every commit of a run carries its identity as properties. A run has happened when the table has its commit; the
       quarantine is committed before, so no record is ever in neither.
Rule: a row of the quarantine counts if its `run` is among the runs of the table. What a run left that never happened is
      removed by the next run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from schemac.rows.runs.identity import RunIdentity
from schemac.source.json_object import Json

ROWS, QUARANTINED, TABLE = "schemac.run.rows", "schemac.run.quarantined", "schemac.run.table"
SUPERSEDED, DELETED = "schemac.run.superseded", "schemac.run.deleted"
MOVED_OUT = "schemac.run.moved-out"
"""In a quarantine: how many rows left it for the table of the run."""
COLUMNS = "schemac.run.columns"
"""Of a run that fills columns: their names."""
UNFINISHED = "schemac.run.unfinished"
"""Set on the first of two commits of one run."""


@dataclass(frozen=True)
class CommittedRun:
    """A committed run and what it wrote."""

    identity: RunIdentity
    version: int
    """The version of the dataset that it made."""
    committed: datetime
    rows: int
    rows_quarantined: int
    table: str = ""
    """In a quarantine: the table that the run wrote to, seen from the quarantine."""
    superseded: int = 0
    """Records that did not count, for a later one had their key."""
    deleted: int = 0
    """Records that deleted the row of their key."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """All that the commit says of the run."""

    @property
    def id(self) -> str:
        """The run's id, which its rows in a quarantine carry."""
        return self.identity.id

    def to_json(self) -> Json:
        """Return the run as JSON."""
        return {
            **self.identity.report(),
            "version": self.version,
            "committed": self.committed.isoformat(),
            "records": {
                "written": self.rows,
                "quarantined": self.rows_quarantined,
                "superseded": self.superseded,
                "deleted": self.deleted,
            },
            "table": self.table or None,
        }

    @classmethod
    def of(cls, properties: Mapping[str, str], version: int, committed: datetime) -> "CommittedRun | None":
        """Read the run from the properties of a commit; None if it is not the last commit of a run."""
        identity = RunIdentity.from_properties(properties)
        if identity is None or UNFINISHED in properties:
            return None
        rows, quarantined = int(properties.get(ROWS, 0)), int(properties.get(QUARANTINED, 0))
        superseded, deleted = int(properties.get(SUPERSEDED, 0)), int(properties.get(DELETED, 0))
        return cls(
            identity,
            version,
            committed,
            rows,
            quarantined,
            properties.get(TABLE, ""),
            superseded,
            deleted,
            dict(properties),
        )
