"""Cleans up after runs that died: a process that was killed, a machine that lost power.

Layer: engines.
Shape: called before a run looks at its table. What a dead run staged is removed, what it had moved into the table and not
       committed too, and its rows leave the quarantine if the table does not have its commit. Runs that are alive
       are left alone (see `staging` for how they are told apart); two that recover at once do each other no harm.
Rule: the table decides. What it has the commit of has happened; all else of a dead run has not.
"""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from schemac.engines.lance import transactions
from schemac.engines.lance.dataset import (
    find_dataset,
    lance_errors,
    properties_of,
    transaction_of,
    versions,
)
from schemac.engines.lance.runs.history import committed_runs, find_run, named_files
from schemac.engines.lance.runs.moving import is_move
from schemac.engines.lance.runs.undo import take_back_at
from schemac.rows.runs import staging
from schemac.rows.runs.file_records import records_in
from schemac.rows.runs.history import UNFINISHED, CommittedRun
from schemac.rows.runs.identity import RUN, RunIdentity
from schemac.rows.runs.locations import absolute, is_local, seen_from
from schemac.rows.runs.processes import is_gone
from schemac.rows.runs.storage import Storage

LOOKED_AT = 100
"""How many versions of a quarantine are looked at for runs that never happened; each run looks."""


@dataclass(frozen=True)
class Dead:
    """A staging folder of a dead run."""

    path: str
    """The dataset that it is in."""
    folder: Path
    run: RunIdentity | None
    table: str
    """The table that decides whether the run has happened."""


def recover(table: str, quarantine: str | None, storage_options: Storage) -> None:
    """Leaves both datasets as if runs that died had never been, or had come to their end."""
    table = absolute(table)
    dead = _dead_folders(table, table)
    if quarantine is not None:
        quarantine = absolute(quarantine)
        dead += _dead_folders(quarantine, table)
        if not is_local(quarantine):
            _sweep_remote_quarantine(table, quarantine, storage_options)
        for run, decides in {
            (dead_run.run, dead_run.table): None for dead_run in dead if dead_run.run is not None
        }:
            if not (_may_count(run, decides, storage_options) or _is_tried(run, (decides, quarantine))):
                _take_rows_back(quarantine, run, storage_options)
    for dead_run in dead:
        _undo(dead_run, storage_options)
    for path in {dead_run.path for dead_run in dead}:
        _remove_what_is_no_table(path)


def holds_only_leftovers(folder: Path) -> bool:
    """Whether a folder without a table has nothing in it but what runs left there."""
    names = [name for staged in staging.folders_of(str(folder)) for name in staging.moved_files(staged)]
    known = {entry for name in names for entry in transactions.data_entries(name)}
    entries = [entry for entry in folder.iterdir() if not entry.name.startswith(staging.PREFIX)]
    return len(entries) < len(list(folder.iterdir())) and all(
        entry.name in transactions.TABLE_FOLDERS
        and (entry.name != transactions.DATA or {inner.name for inner in entry.iterdir()} <= known)
        for entry in entries
    )


def _dead_folders(path: str, table: str) -> list[Dead]:
    if not is_local(path):
        return []
    return [
        Dead(path, folder, staging.run_in(folder), _table_of(folder, path) or table)
        for folder in staging.folders_of(path)
        if staging.take_dead(folder)
    ]


def _table_of(folder: Path, path: str) -> str:
    """Find the table of the run of a folder: others may share a quarantine."""
    seen = staging.table_of(folder)
    return seen if not seen or "://" in seen else os.path.normpath(os.path.join(path, seen))


def _may_count(run: RunIdentity, decides: str, storage_options: Storage) -> bool:
    """Whether the run has happened as far as can be known here; what decides may be a folder of files that shares the quarantine."""
    if find_run(run, decides, storage_options) is not None:
        return True
    if find_dataset(decides, storage_options) is not None:
        return False
    try:
        records = records_in(decides, storage_options)
    except (OSError, ValueError):
        return True
    return any(record.run.id == run.id for record in records or ())


def _is_tried(run: RunIdentity, paths: Iterable[str]) -> bool:
    """Whether another attempt of a run is alive, whose rows are under the same id."""
    folders = (folder for path in paths for folder in staging.of_run(path, run))
    return any(not staging.take_dead(folder) for folder in folders)


def _take_rows_back(quarantine: str, run: RunIdentity, storage_options: Storage) -> None:
    dataset = find_dataset(quarantine, storage_options)
    if dataset is None:
        return
    has_rows = bool(dataset.count_rows(filter=f"run = '{run.id}'"))
    for committed_run in committed_runs(dataset, since=run.started):
        if committed_run.id == run.id and (has_rows or is_move(dataset, committed_run.version)):
            take_back_at(quarantine, committed_run.version, run.id, storage_options)
            return


def _undo(dead: Dead, storage_options: Storage) -> None:
    """Remove the run's files from the dataset, unless a version names them, and its staging folder.

    What a run that fills columns has computed stays for its next attempt (see `filling`), unless the run has happened.
    """
    dataset = find_dataset(dead.path, storage_options)
    if staging.is_retained(dead.folder) and dead.run and not find_run(dead.run, dead.path, storage_options):
        return
    if dataset is not None and dead.run is not None:
        dataset = _without_seed(dataset, dead.run)
    moved = staging.moved_files(dead.folder)
    happened = dead.run is not None and find_run(dead.run, dead.path, storage_options)
    if moved and not happened:
        named = set() if dataset is None else named_files(dataset, dead.run)
        transactions.remove_data(dead.path, [name for name in moved if name not in named])
    staging.remove(dead.folder)


def _without_seed(dataset: Any, run: RunIdentity) -> Any:
    """Bring back the table as it was before the first of two commits of a run, if the second has not been made."""
    properties = properties_of(transaction_of(dataset, dataset.version))
    if UNFINISHED not in properties or properties[RUN] != run.id or dataset.version < 2:
        return dataset
    with lance_errors():
        dataset.checkout_version(dataset.version - 1).restore()
    return find_dataset(dataset.uri)


def _remove_what_is_no_table(path: str) -> None:
    """Remove what Lance left of a first commit that it did not come to the end of."""
    if transactions.has_version(path):
        return
    if not staging.folders_of(path):
        for name in (transactions.TRANSACTIONS, transactions.VERSIONS):
            shutil.rmtree(Path(path, name), ignore_errors=True)
    transactions.remove_if_empty(path)


def _sweep_remote_quarantine(table: str, quarantine: str, storage_options: Storage) -> None:
    """Remove rows of dead runs where no staging folder tells of them: the newest commits of the quarantine do."""
    dataset = find_dataset(quarantine, storage_options)
    target = find_dataset(table, storage_options)
    if dataset is None or target is None:
        return
    seen = seen_from(quarantine, table)
    candidates = [
        run for run in committed_runs(dataset, limit=LOOKED_AT) if run.table == seen and _is_dead(run)
    ]
    if not candidates:
        return
    oldest = versions(target)[-1].committed
    happened = {
        run.id for run in committed_runs(target, since=min(run.identity.started for run in candidates))
    }
    for run in candidates:
        if run.id not in happened and run.committed > oldest:
            _take_rows_back(quarantine, run.identity, storage_options)


def _is_dead(run: CommittedRun) -> bool:
    has_ended = None if run.identity.process is None else is_gone(run.identity.process)
    if has_ended is not None:
        return has_ended
    return datetime.now(UTC) - run.committed > timedelta(seconds=staging.STALE_SECONDS)
