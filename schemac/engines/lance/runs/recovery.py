"""Recovery after runs that died: the history of runs, what one has written is taken back, and rows return to the quarantine.

Layer: engines.
Shape: called before a run looks at its table. What a dead run staged is removed, also what it had moved into the table and not
      committed, and its rows leave the quarantine if the table does not have its commit. Runs that are alive are left alone (see
      `staging` for how they are told apart); two that recover at once do each other no harm, and what others have written since stays.
      Rows that leave a quarantine are known by their addresses in one version: their fragments are replaced by new ones with the other
      rows, in one commit; the way back is the same commit the other way round.
Rule: the table decides. What it has the commit of, by the properties of its transactions, has happened; all else of a dead run has not.
      A table forgets runs whose versions Lance's `cleanup_old_versions` has removed. Their rows count: had they not happened, the run
      after them would have removed them.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf
from pathlib import Path
from typing import Any

from schemac.engines.lance import dataset as lance_dataset
from schemac.engines.lance import transactions
from schemac.rows.runs.history import MOVED_OUT, UNFINISHED, CommittedRun, records_in
from schemac.rows.runs.identity import RUN, RunIdentity, is_gone
from schemac.rows.runs.staging import PREFIX, STALE_SECONDS, StagingFolder, table_area
from schemac.rows.runs.storage import Storage, absolute, is_local, path_from_quarantine


def is_move_out(table: Any, version: int) -> bool:
    """Whether rows left a quarantine with a version."""
    return MOVED_OUT in lance_dataset.properties_of(lance_dataset.transaction_of(table, version))


def move_back(path: str, version: int, storage_options: Storage | None) -> None:
    """Commit the rows back that left with a version; what others have written since stays."""
    import lance

    latest = lance_dataset.open_dataset(path, storage_options=storage_options)
    before, after = latest.checkout_version(version - 1), latest.checkout_version(version)
    if latest.version == version:
        before.restore()
        return
    there = {fragment.fragment_id for fragment in after.get_fragments()}
    old = {fragment.fragment_id: fragment.metadata for fragment in before.get_fragments()}
    inverse = lance.LanceOperation.Update(
        removed_fragment_ids=sorted(there - old.keys()),
        new_fragments=[metadata for id, metadata in old.items() if id not in there],
    )
    transactions.make_version(path, inverse, version, {}, storage_options)


CLOCKS_DIFFER = timedelta(days=1)


def committed_runs(
    dataset: Any, *, since: datetime | None = None, limit: int | None = None
) -> Iterator[CommittedRun]:
    """List the runs in the versions that a dataset still has, from the newest back; bounded by time or a count of versions.

    Runs after a restored version are not listed: their rows are gone.
    """
    import lance

    newest: float = inf
    for number, committed in lance_dataset.versions(dataset)[:limit]:
        if since is not None and committed < since - CLOCKS_DIFFER:
            return
        if number > newest:
            continue
        transaction = lance_dataset.transaction_of(dataset, number)
        operation = getattr(transaction, "operation", None)
        if isinstance(operation, lance.LanceOperation.Restore):
            # What came after the version that was restored is not in the table any more.
            newest = min(newest, int(operation.version))
        run = CommittedRun.of(lance_dataset.properties_of(transaction), number, committed)
        if run is not None:
            yield run


def named_files(dataset: Any, run: RunIdentity | None) -> set[str]:
    """Return the data files of the newest version, and of those that a run committed: one that was taken back can still be read."""
    named = lance_dataset.data_files(dataset)
    if run is None:
        return named
    since = None if run.process is None else run.started
    for number, committed in lance_dataset.versions(dataset):
        if since is not None and committed < since - CLOCKS_DIFFER:
            break
        if lance_dataset.properties_of(lance_dataset.transaction_of(dataset, number)).get(RUN) == run.id:
            with suppress(OSError, ValueError):  # one that somebody has cleaned up
                named |= lance_dataset.data_files(dataset.checkout_version(number))
    return named


def find_run(run: RunIdentity, table: str, storage_options: Storage | None) -> CommittedRun | None:
    """Find the commit of a run in a table, back to its start; in all versions if the start is unknown."""
    dataset = lance_dataset.find_dataset(table, storage_options)
    if dataset is None:
        return None
    since = None if run.process is None else run.started
    runs = committed_runs(dataset, since=since)
    return next((committed_run for committed_run in runs if committed_run.id == run.id), None)


def undo_commit(path: str, version: int, run: str, storage_options: Storage | None) -> None:
    """Undo a commit of a run: by a new version with the rows before it, or by removing the table that it created."""
    latest = lance_dataset.open_dataset(path, storage_options=storage_options)
    if is_move_out(latest, version):
        move_back(path, version, storage_options)
        return
    with lance_dataset.lance_errors():
        if latest.version != version or (version == 1 and not is_local(path)):
            # Others have written since: what is theirs stays.
            latest.delete(f"run = '{run}'")
        elif version > 1:
            latest.checkout_version(version - 1).restore()
        else:
            for name in os.listdir(path):
                if not name.startswith(PREFIX):
                    entry = os.path.join(path, name)
                    shutil.rmtree(entry) if os.path.isdir(entry) else os.remove(entry)
            transactions.remove_if_empty(path)


LOOKED_AT = 100
"""How many versions of a quarantine are looked at for runs that never happened; each run looks."""


@dataclass(frozen=True)
class DeadRun:
    """A staging folder of a dead run."""

    path: str
    """The dataset that it is in."""
    folder: StagingFolder
    run: RunIdentity | None
    table: str
    """The table that decides whether the run has happened."""


def recover(table: str, quarantine: str | None, storage_options: Storage) -> None:
    """Remove what runs that died have left in a table and its quarantine, as if they had never been, or finish what has happened."""
    table = absolute(table)
    dead = _dead_folders(table, table)
    if quarantine is not None:
        quarantine = absolute(quarantine)
        dead += _dead_folders(quarantine, table)
        if not is_local(quarantine):
            _sweep_remote_quarantine(table, quarantine, storage_options)
        runs = dict.fromkeys((one.run, one.table) for one in dead)
        for run, decides in runs:
            if run is not None and _has_never_been(run, decides, storage_options):
                # Another attempt of the run may be alive, whose rows are under the same id.
                attempts = [one for path in (decides, quarantine) for one in table_area(path).folders(run.id)]
                if all(one.claim_if_dead() for one in attempts):
                    _take_rows_back(quarantine, run, storage_options)
    for dead_run in dead:
        _remove_traces(dead_run, storage_options)
    for path in {dead_run.path for dead_run in dead}:
        if transactions.has_version(path):
            continue
        if not table_area(path).folders():
            # Lance left something of a first commit that it did not come to the end of.
            for name in (transactions.TRANSACTIONS, transactions.VERSIONS):
                shutil.rmtree(Path(path, name), ignore_errors=True)
        transactions.remove_if_empty(path)


def _has_never_been(run: RunIdentity, table: str, storage_options: Storage) -> bool:
    """Whether it is certain that a table has no commit of a run; it may be a folder of files that shares the quarantine."""
    if find_run(run, table, storage_options) is not None:
        return False
    if lance_dataset.find_dataset(table, storage_options) is not None:
        return True
    try:
        return all(record.run.id != run.id for record in records_in(table, storage_options) or ())
    except (OSError, ValueError):
        return False


def _dead_folders(path: str, table: str) -> list[DeadRun]:
    """Return the staging folders of dead runs in a dataset; `table` is the one that decides where a folder names none."""
    dead = []
    for folder in table_area(path).folders() if is_local(path) else ():
        if folder.claim_if_dead():
            # Runs of other tables may share a quarantine.
            seen = folder.table()
            if seen and "://" not in seen:
                seen = os.path.normpath(os.path.join(path, seen))
            dead.append(DeadRun(path, folder, folder.run(), seen or table))
    return dead


def _take_rows_back(quarantine: str, run: RunIdentity, storage_options: Storage) -> None:
    """Remove the rows of a run from the quarantine, or bring back those that it moved out."""
    dataset = lance_dataset.find_dataset(quarantine, storage_options)
    if dataset is None:
        return
    has_rows = bool(dataset.count_rows(filter=f"run = '{run.id}'"))
    for committed_run in committed_runs(dataset, since=run.started):
        if committed_run.id == run.id and (has_rows or is_move_out(dataset, committed_run.version)):
            undo_commit(quarantine, committed_run.version, run.id, storage_options)
            return


def _remove_traces(dead: DeadRun, storage_options: Storage) -> None:
    """Remove the run's files from the dataset, unless a version names them, and its staging folder.

    What a run that fills columns has computed stays for its next attempt (see `filling`), unless the run has happened.
    """
    dataset = lance_dataset.find_dataset(dead.path, storage_options)
    if dead.folder.is_retained() and dead.run and not find_run(dead.run, dead.path, storage_options):
        return
    if dataset is not None and dead.run is not None:
        properties = lance_dataset.properties_of(lance_dataset.transaction_of(dataset, dataset.version))
        if UNFINISHED in properties and properties[RUN] == dead.run.id and dataset.version > 1:
            # This is the first of two commits of the run, and the second has not been made.
            with lance_dataset.lance_errors():
                dataset.checkout_version(dataset.version - 1).restore()
            dataset = lance_dataset.find_dataset(dataset.uri)
    moved = dead.folder.moved_files()
    happened = dead.run is not None and find_run(dead.run, dead.path, storage_options)
    if moved and not happened:
        named = set() if dataset is None else named_files(dataset, dead.run)
        transactions.remove_data(dead.path, [name for name in moved if name not in named])
    dead.folder.remove()


def _sweep_remote_quarantine(table: str, quarantine: str, storage_options: Storage) -> None:
    """Remove rows of dead runs that have no staging folder; the newest commits of the quarantine list them."""
    dataset = lance_dataset.find_dataset(quarantine, storage_options)
    target = lance_dataset.find_dataset(table, storage_options)
    if dataset is None or target is None:
        return
    seen = path_from_quarantine(quarantine, table)
    candidates = []
    for run in committed_runs(dataset, limit=LOOKED_AT):
        is_dead = None if run.identity.process is None else is_gone(run.identity.process)
        if is_dead is None:
            is_dead = datetime.now(UTC) - run.committed > timedelta(seconds=STALE_SECONDS)
        if run.table == seen and is_dead:
            candidates.append(run)
    if not candidates:
        return
    _, oldest = lance_dataset.versions(target)[-1]
    happened = {
        run.id for run in committed_runs(target, since=min(run.identity.started for run in candidates))
    }
    for run in candidates:
        if run.id not in happened and run.committed > oldest:
            _take_rows_back(quarantine, run.identity, storage_options)
