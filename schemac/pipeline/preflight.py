"""Finds what can be found before Spark starts: input, mapping, and the places that rows go to.

Layer: pipeline.
Errors: PipelineError with the first mistake.
"""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemac.engines.lance.tables.differences import differences, lance_fields_of
from schemac.pipeline import lance_table
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.job import Job, Mode
from schemac.pipeline.mapping import mapping_mistakes
from schemac.pipeline.quarantine_buffer import QUARANTINE_SCHEMA
from schemac.pipeline.recover import holds_only_leftovers
from schemac.pipeline.source import check_source
from schemac.source.catalogue import (
    NOT_A_QUARANTINE,
    NOT_A_TABLE,
    SAME_PATH,
    SCHEMA_MISMATCH,
    TABLE_EXISTS,
    UNWRITABLE_TARGET,
)


def check(job: Job, schema: pa.Schema | None = None) -> None:
    """Whether the job can run; tables that are there are compared where the schema is given."""
    for part in job.parts:
        check_source(part)
    if schema is not None:
        for mistake in mapping_mistakes(job, schema):
            raise mistake.error
    if _place(job.target.path) == _place(job.quarantine_path):
        raise PipelineError(SAME_PATH, "`target` and `quarantine` are one path", "name two paths")
    for path in (job.target.path, job.quarantine_path):
        if lance_table.is_local(path):
            _check_writable(Path(_place(path)))
    target = _table(job.target.path, job)
    if target is not None and job.target.mode is Mode.CREATE:
        raise PipelineError(
            TABLE_EXISTS,
            f"there is a table at `{job.target.path}` already",
            "set `mode: append` or `mode: overwrite` under `target`",
        )
    if target is not None and schema is not None and job.target.mode is Mode.APPEND:
        check_same_schema(job.target.path, target, schema)
    quarantine = _table(job.quarantine_path, job)
    if quarantine is not None and quarantine.schema.names != QUARANTINE_SCHEMA.names:
        message = (
            f"the table at `{job.quarantine_path}` is no quarantine: it has {_shown(quarantine.schema.names)}"
        )
        raise PipelineError(NOT_A_QUARANTINE, message, "name another path as `quarantine: {path: ...}`")


def check_same_schema(path: str, table: Any, schema: pa.Schema) -> None:
    """Refuses rows that a table cannot take as they are."""
    found = differences(lance_fields_of(schema), table.lance_schema, ids=False)
    if found:
        raise PipelineError(
            SCHEMA_MISMATCH,
            f"the table `{path}` has another schema: {'; '.join(found[:5])}",
            "`schemac plan` shows how to bring the table to the schema; `mode: overwrite` replaces it",
        )


def _shown(names: list[str]) -> str:
    return ", ".join(f"`{label}`" for label in names[:5])


def _place(path: str) -> str:
    return os.path.abspath(lance_table.local_path(path)) if lance_table.is_local(path) else path.rstrip("/")


def _table(path: str, job: Job) -> Any:
    """Open the table at a path; None where a new one can be made."""
    table = lance_table.open_table(path, job.target.storage_options)
    if table is None and lance_table.is_local(path):
        place = Path(_place(path))
        if place.exists() and any(place.iterdir()) and not holds_only_leftovers(place):
            message = f"`{path}` is there, and is no Lance table"
            raise PipelineError(NOT_A_TABLE, message, "name a path that is not taken yet")
    return table


def _check_writable(path: Path) -> None:
    nearest = next(folder for folder in (path, *path.parents) if folder.exists())
    if not nearest.is_dir():
        message = f"`{path}` cannot be written: `{nearest}` is a file"
        raise PipelineError(UNWRITABLE_TARGET, message, "name a path inside a folder")
    if not os.access(nearest, os.W_OK):
        message = f"`{path}` cannot be written: no permission to write in `{nearest}`"
        raise PipelineError(UNWRITABLE_TARGET, message, "name another path, or change the permissions")
