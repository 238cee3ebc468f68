"""Finds what can be found before Spark starts: input, mapping, and the places that rows go to.

Layer: pipeline.
Errors: PipelineError.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from schemac.pipeline.conforming.backfill_settings import backfill_mistakes
from schemac.pipeline.conforming.gather import source_mistakes
from schemac.pipeline.conforming.mapping import mapping_mistakes
from schemac.pipeline.conforming.merge_settings import merge_mistakes
from schemac.pipeline.conforming.row_constraints import reference_mistakes
from schemac.pipeline.declaration.job import FILE_FORMATS, Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.source import check_source
from schemac.pipeline.spark.columns import QUARANTINE_SCHEMA
from schemac.pipeline.spark.python_functions import PythonFunction
from schemac.rows.runs.columns import COLUMN_SINK
from schemac.rows.runs.locations import absolute, is_local
from schemac.rows.runs.modes import Mode
from schemac.rows.runs.same_schema import check_same_schema
from schemac.rows.runs.tables import ExistingTable, Sink, TableForm, sink_of
from schemac.source.catalogue import (
    NOT_A_QUARANTINE,
    NOT_A_TABLE,
    SAME_PATH,
    TABLE_EXISTS,
    UNWRITABLE_TARGET,
)

TARGET_PATH, QUARANTINE_PATH = ("target", "path"), ("quarantine", "path")


def check(job: Job, schema: pa.Schema | None = None, *, is_replay: bool = False) -> None:
    """Whether the job can run; tables that exist are compared where the schema is given. Raises the first mistake."""
    for error in mistakes(job, schema, is_replay=is_replay):
        raise error


def mistakes(
    job: Job, schema: pa.Schema | None = None, *, is_replay: bool = False, is_typed: bool = False
) -> Iterator[PipelineError]:
    """Yield what keeps a job from running.

    While its file `is_typed` in an editor, only this machine's files are looked at: nothing is asked over a network, no
    environment variable is needed, and no function of the author's is loaded.
    """
    try:
        if not is_typed:
            job.storage_options.resolved()
        if job.is_backfill and schema is not None:
            _check_backfill(job, schema, is_typed=is_typed)
    except PipelineError as error:
        yield error
        return
    if job.is_backfill and schema is not None:
        return
    if not is_replay:
        yield from source_mistakes(job)
    if schema is not None:
        for mistake in (*mapping_mistakes(job, schema), *backfill_mistakes(job, schema)):
            yield mistake.error.at(*mistake.place)
        yield from (*merge_mistakes(job, schema), *reference_mistakes(job, schema))
    try:
        check_places(job)
        _check_tables(job, schema, is_typed=is_typed)
    except PipelineError as error:
        yield error


def _check_tables(job: Job, schema: pa.Schema | None, *, is_typed: bool) -> None:
    """Whether the tables at the target and at the quarantine, if there are any, can take the rows."""
    sink = sink_of(job.target.engine.name)

    def table(path: str, place: tuple[str, ...]) -> ExistingTable | None:
        return None if is_typed and not is_local(path) else _table(sink, job, path, place)

    # A format of Spark is looked at when Spark is there.
    target = None if job.target.is_of_spark else table(job.target.path, TARGET_PATH)
    if target is not None and job.target.mode is Mode.CREATE:
        raise PipelineError(
            TABLE_EXISTS,
            f"there is already a table at `{job.target.path}`",
            "set `mode: append` or `mode: overwrite` under `target`",
            place=("target", "mode") if "mode" in job.target.model_fields_set else TARGET_PATH,
        )
    if target is not None and schema is not None and job.target.mode in (Mode.APPEND, Mode.UPSERT):
        check_same_schema(sink, job.target.path, TableForm(schema), job.storage_options)
    quarantine = table(job.quarantine_path, QUARANTINE_PATH)
    if quarantine is not None and list(quarantine.names) != QUARANTINE_SCHEMA.names:
        message = f"the table at `{job.quarantine_path}` is not a quarantine: it has {_names_text(quarantine.names)}"
        help = "name another path as `quarantine: {path: ...}`"
        raise PipelineError(NOT_A_QUARANTINE, message, help, place=QUARANTINE_PATH)


def _check_backfill(job: Job, schema: pa.Schema, *, is_typed: bool) -> None:
    """Whether the table is there, and the sources that are joined."""
    for mistake in (*backfill_mistakes(job, schema), *mapping_mistakes(job, schema)):
        raise mistake.error.at(*mistake.place)
    for label in job.joins:
        try:
            check_source(job.part_of_join(label))
        except PipelineError as error:
            raise error.at("joins", label, *error.place[1:]) from error
    for label, origin in job.fields.items():
        if origin is not None and origin.python is not None and not is_typed:
            PythonFunction.of(label, origin.python)
    if is_typed and not is_local(job.target.path):
        return
    columns = COLUMN_SINK.of(job.target.engine)
    columns.new_columns(job.target.path, TableForm(schema), tuple(job.fields), job.storage_options)


def check_places(job: Job) -> None:
    """Whether the target and the quarantine can be where they are to be, before anything is looked up there."""
    if absolute(job.target.path) == absolute(job.quarantine_path):
        message = "`target` and `quarantine` have the same path"
        raise PipelineError(SAME_PATH, message, "specify different paths", place=QUARANTINE_PATH)
    is_folder = not job.target.is_of_spark or job.target.format in FILE_FORMATS
    for path, place in ((job.target.path, TARGET_PATH), (job.quarantine_path, QUARANTINE_PATH)):
        if is_local(path) and (is_folder or place is QUARANTINE_PATH):
            _check_writable(Path(absolute(path)), place)


def _names_text(names: Sequence[str]) -> str:
    return ", ".join(f"`{label}`" for label in names[:5])


def _table(sink: Sink, job: Job, path: str, place: tuple[str, ...]) -> ExistingTable | None:
    """Look at the table at a path; None if a new one can be made."""
    try:
        table = sink.find(path, job.storage_options)
    except PipelineError as error:
        raise error.at(*place) from error
    if table is None and is_local(path):
        folder = Path(absolute(path))
        if folder.exists() and any(folder.iterdir()) and not sink.is_free(str(folder)):
            message = f"`{path}` exists, but is not a {job.target.engine.title} table"
            raise PipelineError(NOT_A_TABLE, message, "name a path that does not exist yet", place=place)
    return table


def _check_writable(path: Path, place: tuple[str, ...]) -> None:
    nearest = next(folder for folder in (path, *path.parents) if folder.exists())
    if not nearest.is_dir():
        message = f"`{path}` cannot be written: `{nearest}` is a file"
        raise PipelineError(UNWRITABLE_TARGET, message, "name a path inside a folder", place=place)
    if not os.access(nearest, os.W_OK):
        message = f"`{path}` cannot be written: no permission to write in `{nearest}`"
        raise PipelineError(
            UNWRITABLE_TARGET, message, "name another path, or change the permissions", place=place
        )
