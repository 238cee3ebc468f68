"""The judge in Python of a job: the same definition as the expressions of this room, for records that are text.

Layer: pipeline.
Rule: None for whatever only Spark reads, such as expressions and patterns of dates; who asks then leaves the records to Spark. Columns that
      stand in names of folders are not known here: who has them asks for no judge either.
"""

import pyarrow as pa

from schemac.judging.judge import Judge
from schemac.judging.settings import Coerce, Origin, Settings, Unexpected
from schemac.pipeline.declaration.job import FieldSource, Job


def judge_of(job: Job, schema: pa.Schema) -> Judge | None:
    """Return the judge of a job over JSON, GeoJSON or CSV; None where it cannot read each field."""
    form = job.source.format
    if form not in ("json", "geojson", "csv") or any(map(_is_of_spark, job.fields.values())):
        return None
    judge = Judge(schema, settings_of(job))
    return None if (judge.uncovered_cells if form == "csv" else judge.uncovered) else judge


def settings_of(job: Job) -> Settings:
    """Say to a judge what a job decides."""
    origins = {
        label: None if origin is None else Origin(origin.from_, origin.epoch, origin.zone)
        for label, origin in job.fields.items()
    }
    unexpected = Unexpected.REJECT if "unexpected" in job.warned else job.unexpected
    return Settings(
        unexpected,
        Coerce(job.coerce),
        job.null_values,
        job.source.timezone,
        origins,
        is_geojson=job.source.format == "geojson",
    )


def _is_of_spark(origin: FieldSource | None) -> bool:
    return origin is not None and (origin.is_given or origin.format is not None or origin.python is not None)
