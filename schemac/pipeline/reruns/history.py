"""The runs of a table, and which rows of a quarantine count (see `runs.history`).

Layer: pipeline.
Rule: with `current=True` only the runs since the last `mode: overwrite` are told, whose rows the table still has; the
      quarantine keeps the others, as the table keeps its old versions.
"""

from typing import Any

from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.modes import Mode
from schemac.rows.runs.storage import Storage
from schemac.rows.runs.table_runs import table_runs
from schemac.rows.runs.tables import sink_of

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
    committed_runs = []
    for run in table_runs(table, sink_of(format), storage_options) or ():
        committed_runs.append(run)
        if current and run.identity.mode == Mode.OVERWRITE:
            break
    return tuple(committed_runs)
