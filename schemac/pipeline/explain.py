"""Shows what a pipeline does with one field: where it is read, by which reader, how it is converted and checked.

Layer: pipeline.
Shape: the job with its schema in, a `FieldPlan` out. It is the plan that a run compiles, for a schema of this field alone:
       nothing is described that is not run. Spark is needed to see the columns of the source; no record is read for it.
Errors: SC622 for a field that the schema does not have, and what opening the source may raise.
"""

import re
import textwrap
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from schemac.pipeline.conforming.given import with_given
from schemac.pipeline.conforming.projection import FieldSteps, field_steps
from schemac.pipeline.declaration.job import FieldSource, Job
from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.reading.source import Records, open_records
from schemac.pipeline.session import settings_of_a_run, start_session
from schemac.pipeline.spark.failures import sparks_errors_told
from schemac.pipeline.spark.registration import active
from schemac.pipeline.values import inputs, shapes
from schemac.pipeline.values.clocks import with_zones, zone_of
from schemac.source.catalogue import BACKFILL_SETTING, UNKNOWN_FIELD
from schemac.source.pages import rule_pages

WIDTH = 110


@dataclass(frozen=True)
class FieldPlan:
    """What becomes of one field."""

    field: str
    type: str
    """Of the table, as Arrow names it; `not null` where it is required."""
    spark_type: str
    read_from: str
    """Where a value stands in a record."""
    settings: dict[str, str]
    """What the pipeline file says about the field, and what holds for all: `format`, `epoch`, `zone`, `nullValues` …"""
    reader: str
    steps: tuple[tuple[str, str], ...]
    """Names and SQL of what is computed on the way, in order."""
    value: str
    """SQL of the value."""
    checks: tuple[str, ...]
    """SQL of the conditions under which the record is quarantined."""
    rules: tuple[str, ...]
    """The rules that these checks name as reasons."""

    def to_json(self) -> dict[str, Any]:
        """Give the plan for programs."""
        return {**asdict(self), "steps": [{"name": label, "sql": sql} for label, sql in self.steps]}

    def __str__(self) -> str:
        lines = [f"{self.field}: {self.type} ({self.spark_type} in Spark)", f"read from: {self.read_from}"]
        lines += [f"{key}: {text}" for key, text in self.settings.items()]
        lines += [f"reader: {self.reader}", "steps:"]
        lines += [_shown(f"{label} = {sql}") for label, sql in self.steps]
        lines += ["value:", _shown(self.value), "quarantined if:"]
        lines += [_shown(text) for text in self.checks] or ["  never"]
        told = ", ".join(self.rules) or "none"
        return "\n".join([*lines, f"with one of the rules: {told}"])


def explain_field(
    job: Job, schema: pa.Schema, field: str, *, spark: SparkSession | None = None
) -> tuple[FieldPlan, ...]:
    """Compile the plan of one field for each source."""
    if job.is_backfill:
        message = "`--explain` shows how a field is read from a source, and a backfill has none"
        help = "`--dry-run` checks a backfill"
        raise PipelineError(BACKFILL_SETTING, message, help, place=("target", "mode"))
    if field not in schema.names:
        message = f"the schema has no field `{field}`"
        raise PipelineError(UNKNOWN_FIELD, message, did_you_mean(field, schema.names))
    spark = spark or start_session(master=job.spark.master, settings=job.spark.settings)
    with sparks_errors_told(), active(spark), settings_of_a_run(spark, job):
        return tuple(_plan(spark, part, schema, field) for part in job.parts)


def _plan(spark: SparkSession, job: Job, schema: pa.Schema, field: str) -> FieldPlan:
    records = with_given(open_records(spark, job), job)
    member = with_zones(schema, job).field(field)
    steps = field_steps(records, pa.schema([schema.field(field)]), job)
    return FieldPlan(
        field,
        f"{member.type}{'' if member.nullable else ' not null'}",
        shapes.spark_type(member),
        _place(records, field, job),
        _settings(job, member),
        steps.reader,
        steps.steps,
        steps.value,
        steps.checks,
        _rules(steps),
    )


def _place(records: Records, field: str, job: Job) -> str:
    """Say in words where a value stands."""
    origin = job.fields.get(field, FieldSource())
    if origin is None:
        return "nowhere: the pipeline file says null"
    wanted = origin.from_ or field
    if origin.value is not None:
        return "the pipeline file, which says the value"
    if origin.expr is not None:
        return f"the expression `{origin.expr}` over each record"
    if field in records.given:
        return "the file of each record"
    if wanted in records.partitions:
        return f"`{wanted}=…` in the names of folders, as text"
    if records.columns is None:
        path = inputs.variant_path(records.steps_of(field, origin))
        return f"{path} of each JSON record"
    found = records.input_of(field, origin)
    held = found.type.simpleString() if isinstance(found, inputs.Typed) else "text"
    return f"`{wanted}` of the source, {held}"


def _settings(job: Job, member: pa.Field) -> dict[str, str]:
    origin = job.fields.get(member.name) or FieldSource()
    told = {
        "format": origin.format,
        "epoch": origin.epoch,
        "zone": zone_of(member) if pa.types.is_timestamp(member.type) else None,
        "coerce": job.coerce.value,
        "nullValues": ", ".join(map(repr, job.null_values)) or None,
    }
    return {key: text for key, text in told.items() if text is not None}


def _rules(steps: FieldSteps) -> tuple[str, ...]:
    """Find the rules that the compiled reasons name."""
    text = "\n".join([*(sql for _, sql in steps.steps), *steps.reasons])
    named = set(re.findall(r"'([a-z][A-Za-z-]*)(?:: [^']*)?'", text))
    return tuple(rule for rule in rule_pages() if rule in named)


def _shown(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="      ", break_long_words=False)
