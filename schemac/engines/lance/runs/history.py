"""Which runs a Lance dataset has the commits of, as properties of its transactions.

Layer: engines.
Units: a table forgets runs whose versions Lance's `cleanup_old_versions` has removed. Their rows count: had
       they not happened, the run after them would have removed them.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from schemac.engines.lance.dataset import find_dataset, properties_of, versions
from schemac.runs.history import CommittedRun
from schemac.runs.identity import RunIdentity

CLOCKS_DIFFER = timedelta(days=1)


def committed_runs(
    dataset: Any, *, since: datetime | None = None, limit: int | None = None
) -> Iterator[CommittedRun]:
    """List the runs in the versions that a dataset still has, from the newest back; bounded by time or a count of versions."""
    for number, committed in versions(dataset)[:limit]:
        if since is not None and committed < since - CLOCKS_DIFFER:
            return
        run = CommittedRun.of(properties_of(dataset, number), number, committed)
        if run is not None:
            yield run


def has_happened(run: RunIdentity, table: str, storage_options: dict[str, str] | None) -> bool:
    """Whether a table has the commit of a run."""
    dataset = find_dataset(table, storage_options)
    return dataset is not None and any(
        found.id == run.id for found in committed_runs(dataset, since=run.started)
    )
