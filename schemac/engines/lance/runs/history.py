"""The runs whose commits a Lance dataset has, from the properties of its transactions.

Layer: engines.
Units: a table forgets runs whose versions Lance's `cleanup_old_versions` has removed. Their rows count: had
       they not happened, the run after them would have removed them.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from math import inf
from typing import Any

from schemac.engines.lance.dataset import data_files, find_dataset, properties_of, transaction_of, versions
from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.identity import RUN, RunIdentity
from schemac.rows.runs.storage import Storage

CLOCKS_DIFFER = timedelta(days=1)


def committed_runs(
    dataset: Any, *, since: datetime | None = None, limit: int | None = None
) -> Iterator[CommittedRun]:
    """List the runs in the versions that a dataset still has, from the newest back; bounded by time or a count of versions.

    Runs after a version that was restored are not told: their rows are gone.
    """
    newest: float = inf
    for number, committed in versions(dataset)[:limit]:
        if since is not None and committed < since - CLOCKS_DIFFER:
            return
        if number > newest:
            continue
        transaction = transaction_of(dataset, number)
        # What came after the version that was restored is not in the table any more.
        newest = min(newest, _restored(transaction))
        run = CommittedRun.of(properties_of(transaction), number, committed)
        if run is not None:
            yield run


def _restored(transaction: Any | None) -> float:
    """Return the version that a transaction brought back; infinite where it brought none."""
    import lance

    operation = getattr(transaction, "operation", None)
    return int(operation.version) if isinstance(operation, lance.LanceOperation.Restore) else inf


def named_files(dataset: Any, run: RunIdentity | None) -> set[str]:
    """Name the data files of the newest version, and of those that a run committed: one that was taken back can still be read."""
    named = data_files(dataset)
    if run is None:
        return named
    since = None if run.process is None else run.started
    for number, committed in versions(dataset):
        if since is not None and committed < since - CLOCKS_DIFFER:
            break
        if properties_of(transaction_of(dataset, number)).get(RUN) == run.id:
            with suppress(OSError, ValueError):  # one that somebody has cleaned up
                named |= data_files(dataset.checkout_version(number))
    return named


def find_run(run: RunIdentity, table: str, storage_options: Storage | None) -> CommittedRun | None:
    """Find the commit of a run in a table, as far back as its start; all the way where nobody looked before it."""
    dataset = find_dataset(table, storage_options)
    if dataset is None:
        return None
    since = None if run.process is None else run.started
    return next(
        (
            committed_run
            for committed_run in committed_runs(dataset, since=since)
            if committed_run.id == run.id
        ),
        None,
    )
