"""The runs of whatever is at a path: a folder of files, or a table of an engine.

Layer: runs.
"""

from collections.abc import Iterable
from typing import Any

from schemac.runs.file_records import records_in
from schemac.runs.history import CommittedRun
from schemac.runs.locations import is_local
from schemac.runs.storage import Storage
from schemac.runs.tables import Sink


def table_runs(
    table: str | Any, sink: Sink | None, storage: Storage | None = None
) -> Iterable[CommittedRun] | None:
    """List the runs, the last one first; None for what is no folder of files where no engine is given either.

    `table` is a path or an open table of the engine. Raises what the engine raises where there is none.
    """
    records = records_in(table) if isinstance(table, str) and is_local(table) else None
    if records is not None:
        return [record.run for record in records]
    return None if sink is None else sink.runs(table, storage)
