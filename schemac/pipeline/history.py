"""Which runs a table is of, and which rows of a quarantine count.

Layer: pipeline.
Shape: every commit of a run carries its identity (`run_identity`) as properties of the Lance transaction. A run has
       happened when the table has its commit; the quarantine is committed before, so no record is ever in neither.
Rule: a row of the quarantine counts if its `run` is among `runs_of(table)`. With `current=True` only the runs since the last
      `mode: overwrite` are told, whose rows the table still has; the quarantine keeps the others, as the table keeps
      its old versions. What a run left that never happened is removed by the next run.
Units: a table forgets runs whose versions Lance's `cleanup_old_versions` has removed. Their rows count: had
       they not happened, the run after them would have removed them.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from schemac.pipeline.job import Mode
from schemac.pipeline.run_identity import RunIdentity

ROWS, QUARANTINED, TABLE = "schemac.run.rows", "schemac.run.quarantined", "schemac.run.table"
UNFINISHED = "schemac.run.unfinished"
"""Set on the first of two commits of one run."""
LOOKED_AT = 100
"""How many versions of a quarantine are looked at for runs that never happened; each run looks."""
CLOCKS_DIFFER = timedelta(days=1)


@dataclass(frozen=True)
class CommittedRun:
    """A run with what it wrote."""

    identity: RunIdentity
    version: int
    """The version of the dataset that it made."""
    committed: datetime
    rows: int
    rows_quarantined: int
    table: str = ""
    """In a quarantine: the table that the run wrote to, seen from the quarantine."""

    @property
    def id(self) -> str:
        """The run's id, which its rows in a quarantine carry."""
        return self.identity.id


def runs_of(
    table: str | Any, *, current: bool = False, storage_options: dict[str, str] | None = None
) -> tuple[CommittedRun, ...]:
    """List the runs that a table has the commits of, the last one first; `current`: only those whose rows it still has.

    `table` is a path or a `LanceDataset`. Raises what Lance raises where there is none.
    """
    import lance

    dataset = lance.dataset(table, storage_options=storage_options) if isinstance(table, str) else table
    found = []
    for run in committed_runs(dataset):
        found.append(run)
        if current and run.identity.mode == Mode.OVERWRITE:
            break
    return tuple(found)


def committed_runs(
    dataset: Any, *, since: datetime | None = None, limit: int | None = None
) -> Iterator[CommittedRun]:
    """List the runs in the versions that a dataset still has, from the newest back; bounded by time or a count of versions."""
    versions = sorted(dataset.versions(), key=lambda version: -int(version["version"]))
    for version in versions[:limit]:
        committed = _utc(version["timestamp"])
        if since is not None and committed < since - CLOCKS_DIFFER:
            return
        properties = properties_of(dataset, int(version["version"]))
        identity = RunIdentity.from_properties(properties)
        if identity is not None and UNFINISHED not in properties:
            yield CommittedRun(
                identity,
                int(version["version"]),
                committed,
                int(properties.get(ROWS, 0)),
                int(properties.get(QUARANTINED, 0)),
                properties.get(TABLE, ""),
            )


def table_seen_from(quarantine: str, table: str) -> str:
    """How a quarantine names the table that it belongs to: both may be moved together."""
    if "://" in table or "://" in quarantine:
        return table
    return os.path.relpath(os.path.abspath(table), os.path.abspath(quarantine))


def properties_of(dataset: Any, version: int) -> dict[str, str]:
    """Properties of the transaction that made a version; none where Lance has them no more."""
    try:
        transaction = dataset.read_transaction(version)
    except (OSError, ValueError):
        return {}
    return dict(getattr(transaction, "transaction_properties", None) or {})


def _utc(timestamp: datetime) -> datetime:
    """Read a timestamp of Lance, which has the local clock without a zone."""
    return timestamp.astimezone(UTC)
