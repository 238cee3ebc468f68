"""The runs of whatever is at a path: a folder of files, or a table of an engine.

Layer: rows.
"""

from collections.abc import Iterable
from typing import Any

from schemac.rows.runs.file_records import records_in
from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.locations import is_local
from schemac.rows.runs.storage import Storage
from schemac.rows.runs.tables import Sink


def table_runs(
    table: str | Any, sink: Sink | None, storage: Storage | None = None
) -> Iterable[CommittedRun] | None:
    """List the runs, the last one first; None for what is not a folder of files where no engine is given either.

    `table` is a path or an open table of the engine. Raises what the engine raises where there is none.
    """
    is_path = isinstance(table, str)
    if is_path and is_local(table) and (records := records_in(table)) is not None:
        return [record.run for record in records]
    if sink is not None:
        return sink.runs(table, storage)
    return _in_store(table) if is_path and not is_local(table) else None


def _in_store(path: str) -> list[CommittedRun] | None:
    """List the runs of a folder of files on an object store; None if there are none, or it cannot be opened."""
    try:
        records = records_in(path)
    except (OSError, ValueError):
        return None
    return None if records is None else [record.run for record in records]
