"""Which runs a table is of, and which rows of a quarantine count (see `runs.history`).

Layer: pipeline.
Rule: with `current=True` only the runs since the last `mode: overwrite` are told, whose rows the table still has; the
      quarantine keeps the others, as the table keeps its old versions.
"""

from collections.abc import Iterable
from typing import Any

from schemac.runs.file_records import records_in
from schemac.runs.history import CommittedRun
from schemac.runs.locations import is_local
from schemac.runs.modes import Mode
from schemac.runs.storage import Storage
from schemac.runs.tables import sink_of

__all__ = ["CommittedRun", "runs_of"]


def runs_of(
    table: str | Any,
    *,
    current: bool = False,
    storage_options: Storage | None = None,
    format: str | None = None,
) -> tuple[CommittedRun, ...]:
    """List the runs that a table has the commits of, the last one first; `current`: only those whose rows it still has.

    `table` is a path or an open table of the engine, such as a `LanceDataset`, or a folder of files on this machine. Raises what the
    engine raises where there is none.
    """
    found = []
    for run in _runs(table, storage_options, format):
        found.append(run)
        if current and run.identity.mode == Mode.OVERWRITE:
            break
    return tuple(found)


def _runs(table: str | Any, storage_options: Storage | None, format: str | None) -> Iterable[CommittedRun]:
    records = records_in(table) if isinstance(table, str) and is_local(table) else None
    if records is not None:
        return [record.run for record in records]
    return sink_of(format).runs(table, storage_options)
