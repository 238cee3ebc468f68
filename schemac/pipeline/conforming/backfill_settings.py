"""What a pipeline file may say of a backfill, and what only a backfill has.

Layer: pipeline.
Errors: SC667 backfill-setting, with the place in the file.
"""

from collections.abc import Iterator

import pyarrow as pa

from schemac.pipeline.conforming.mapping import Mistake
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.rows.runs.columns import COLUMN_SINK
from schemac.rows.runs.tables import sink_names
from schemac.source.catalogue import BACKFILL_SETTING
from schemac.source.help import Help

NO_QUARANTINE = (
    "rows of a backfill stay in their table: a value that does not fit stops the run, with all reasons"
)
WITHOUT = {
    "quarantine": NO_QUARANTINE,
    "max_quarantined": NO_QUARANTINE,
    "rules": NO_QUARANTINE,
    "trigger": "a backfill is no stream: let a schedule run it again, with `where` for the rows that have no value yet",
    "checkpoint": "a backfill is no stream",
    "keys": "a backfill adds no rows",
    "unexpected": "a backfill reads the columns that its fields name",
}
"""Settings that a backfill does not have, and why."""
WITHOUT_IN_TARGET = ("latest", "delete", "allow_empty", "max_rows_per_file", "options")


def backfill_mistakes(job: Job, schema: pa.Schema) -> Iterator[Mistake]:
    """Find settings at the wrong place."""
    yield from _own(job, schema) if job.is_backfill else _others(job)


def _wrong(place: tuple[str | int, ...], message: str, help: str, *, is_key: bool = True) -> Mistake:
    return Mistake(place, PipelineError(BACKFILL_SETTING, message, help, place=place), is_key=is_key)


def _camel(label: str) -> str:
    first, *rest = label.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _others(job: Job) -> Iterator[Mistake]:
    help = Help.remove(help="set `mode: backfill` under `target`, or leave it out", is_safe=False)
    for label in ("joins", "where"):
        if getattr(job, label):
            yield _wrong((label,), f"`{label}` is for a backfill", help)
    for i, part in enumerate(job.parts):
        for label, origin in part.fields.items():
            if origin is not None and origin.python is not None:
                yield _wrong(job.place_of(i, ("fields", label, "python")), "`python` is for a backfill", help)


def _own(job: Job, schema: pa.Schema) -> Iterator[Mistake]:
    for label, why in WITHOUT.items():
        if label in job.model_fields_set:
            place = _camel(label)
            yield _wrong(
                (place,),
                f"a backfill has no `{place}`",
                Help.remove(help=f"leave it out: {why}", is_safe=False),
            )
    for label in WITHOUT_IN_TARGET:
        if label in job.target.model_fields_set:
            place = _camel(label)
            yield _wrong(
                ("target", place),
                f"a backfill has no `{place}`",
                Help.remove(help="leave it out", is_safe=False),
            )
    if job.target.is_of_spark or not COLUMN_SINK.is_of(job.target.engine):
        able = ", ".join(f"`{label}`" for label in sink_names())
        message = f"columns of a {job.target.format} table cannot be filled"
        yield _wrong(("target", "format"), message, f"backfills fill tables of {able}", is_key=False)
    if not job.fields:
        message = "the backfill names no field to fill"
        yield _wrong(("target", "mode"), message, "name the columns under `fields`", is_key=False)
    for label, origin in job.fields.items():
        if origin is not None and origin.columns and origin.python is None:
            message = "`columns` is for functions only: an expression names its columns itself"
            yield _wrong(
                ("fields", label, "columns"), message, Help.remove(help="leave it out", is_safe=False)
            )
    for label in job.joins:
        if label in schema.names:
            message = f"`{label}` is the name of both a join and a column of the table"
            yield _wrong(("joins", label), message, "give the join another name")
