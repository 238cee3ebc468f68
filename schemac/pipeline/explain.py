"""Shows what a pipeline does with one field: where and how it is read, and what happens to example values.

Layer: pipeline.
Shape: the job with its schema in, a `FieldPlan` out. The judge that a run asks is asked about examples: nothing is described that is
       not run. Spark is needed to see the columns of the source; no record is read for it.
Errors: SC622 for a field that the schema does not have, and what opening the source may raise.
"""

import json
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from schemac.arrow.constraints import constraints_of
from schemac.pipeline.conforming.gather import with_computed_fields
from schemac.pipeline.conforming.mapping import with_zones
from schemac.pipeline.conforming.validation import ValidationPlan
from schemac.pipeline.declaration.job import FieldSource, Job
from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.reading import inputs
from schemac.pipeline.reading.records import JsonTexts, Records
from schemac.pipeline.reading.source import open_records
from schemac.pipeline.record_tasks import spark_type
from schemac.pipeline.session import session_of, settings_of_a_run
from schemac.pipeline.spark.executors import active
from schemac.pipeline.spark.failures import spark_errors_reported
from schemac.rows.judging.arrays import is_list, is_scalar, storage_type
from schemac.rows.judging.judge import Reader, RecordReasons, cell_reader, json_reader
from schemac.rows.judging.scalars import clock_zone, zone_of
from schemac.rows.judging.tokens import parse
from schemac.rows.validation.validator import FieldInput
from schemac.text.source.catalogue import BACKFILL_SETTING, UNKNOWN_FIELD
from schemac.text.source.pages import rule_pages

NUMBERS = (
    "0", "12", "-1", "12.0", "12.5", "5e3", "300", "70000", "3000000000", "1e20", "1e400", "0.123456789012345678901",
)  # fmt: skip
"""Numbers at and beyond the bounds of most types."""
TEXTS = (
    "text", "", "12", "true", "2024-01-31", "2024-01-31T10:00:00", "2024-01-31T10:00:00.123456789Z", "2024-01-31 10:00:00+02:00", "0000-01-01", "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999999Z", "10:00:00", "10:00:00.123456789", "AAE=", "00112233-4455-6677-8899-aabbccddeeff",
)  # fmt: skip
OTHERS = ("null", "true", "[]", "{}")
_WITH_PARTS = ("[12]", '["text"]', "[null]", '{"a": 12}', '{"a": null}')


@dataclass(frozen=True)
class TextOutcome:
    """Example texts that are all read, are all null, or all break one rule."""

    name: str
    texts: tuple[str, ...]
    words: str = ""
    """Why these texts break the rule, where that is said."""

    def __str__(self) -> str:
        """`range (not from -128 to 127): 300, 70000`."""
        words = f" ({self.words})" if self.words else ""
        return f"{self.name}{words}: {', '.join(self.texts)}"


def tokens_of(member: pa.Field) -> tuple[str, ...]:
    """Return tokens of JSON that show what a field takes."""
    strings = tuple(json.dumps(text) for text in TEXTS)
    if is_scalar(member):
        return (*OTHERS, *NUMBERS, *strings)
    lists = ("[12, 12, 12]",) if is_list(member.type) else ()
    return (*OTHERS, "12", '"text"', *_WITH_PARTS, *lists)


def group_by_outcome(
    texts: Iterable[str], value_of: Callable[[str], object], read: Reader
) -> tuple[TextOutcome, ...]:
    """Return the texts by what becomes of them, and why; those that are read come first."""
    groups: dict[tuple[str, str], list[str]] = {("taken", ""): [], ("null", ""): []}
    for text in texts:
        reasons = RecordReasons()
        name, words = "null" if read(value_of(text), "", reasons) is None else "taken", ""
        if reasons:
            name, words = reasons[0].rule.partition(":")[0], reasons.message
        groups.setdefault((name, words), []).append(text)
    return tuple(TextOutcome(name, tuple(texts), words) for (name, words), texts in groups.items() if texts)


WIDTH = 110
MOST_EXAMPLES = 4
TAKEN, NULL = "taken", "null"


@dataclass(frozen=True)
class FieldPlan:
    """How a pipeline reads and checks one field."""

    field: str
    type: str
    """Of the table, as Arrow names it; `not null` where it is required."""
    spark_type: str
    read_from: str
    """The place of a value in a record."""
    settings: dict[str, str]
    """What the pipeline file says about the field, and what holds for all: `format`, `epoch`, `zone`, `nullValues` …"""
    reader: str
    """How the records are read: in the tasks that read the files, or in batches that Spark brings to tasks."""
    outcomes: tuple[TextOutcome, ...]
    """What happens to examples."""
    rules: tuple[str, ...]
    """The rules that values of the field may break."""

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """Where a value is read, what is valid for its type, and what is quarantined: three lines."""
        settings = [
            f"{key} {text}" for key, text in self.settings.items() if f"{key} {text}" != "coerce none"
        ]
        source = f"{self.read_from} ({', '.join(settings)})" if settings else self.read_from
        texts = {one.name: one.texts for one in self.outcomes if one.name in (TAKEN, NULL)}
        written = ", ".join(texts.get(TAKEN, ())[:MOST_EXAMPLES]) or "nothing but null"
        nulls = f"; as null: {', '.join(map(_text_or_words, texts[NULL]))}" if NULL in texts else ""
        broken = {one.name: one.texts[0] for one in reversed(self.outcomes) if one.name not in (TAKEN, NULL)}
        examples = [f"{_text_or_words(broken[rule])} ({rule})" for rule in self.rules if rule in broken]
        others = [rule for rule in self.rules if rule not in broken]
        parts = [", ".join(examples)] if examples else []
        if others:
            also = "also " if examples else ""
            parts.append(f"{also}by the rule{'s' * (len(others) > 1)} {', '.join(others)}")
        read = f"Read: `{self.field}` ({self.type}) from {source}"
        return f"{read}\nValid for the type: {written}{nulls}\nQuarantined: {'; '.join(parts) or 'nothing'}"

    def details(self) -> str:
        """Return all settings, examples and rules, one a line, as `--verbose` prints them."""
        lines = [f"{self.field}: {self.type} ({self.spark_type} in Spark)", f"read from: {self.read_from}"]
        lines += [f"{key}: {text}" for key, text in self.settings.items()]
        wrapper = textwrap.TextWrapper(
            WIDTH, initial_indent="  ", subsequent_indent="      ", break_long_words=False
        )
        lines += [f"reader: {self.reader}", *(wrapper.fill(str(one)) for one in self.outcomes)]
        rules_text = ", ".join(self.rules) or "none"
        return "\n".join([*lines, f"quarantined with one of the rules: {rules_text}"])


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
    spark = session_of(spark, job)
    with spark_errors_reported(), active(spark), settings_of_a_run(spark, job):
        return tuple(_field_plan(spark, part, schema, field) for part in job.parts)


def _field_plan(spark: SparkSession, job: Job, schema: pa.Schema, field: str) -> FieldPlan:
    """Return how a field is read from one source, and what becomes of example values."""
    records = with_computed_fields(open_records(spark, job), job)
    member = with_zones(schema, job).field(field)
    field_schema = pa.schema([schema.field(field)], metadata=schema.metadata)
    alone = ValidationPlan.of(records, field_schema, job, may_pack=True)
    (field_input,), _ = alone.inputs
    outcomes = _field_outcomes(field_input, member, alone)
    origin = job.fields.get(member.name) or FieldSource()
    settings = {
        "format": origin.format,
        "epoch": origin.epoch,
        "zone": zone_of(member) if pa.types.is_timestamp(member.type) else None,
        "coerce": job.coerce.value,
        "nullValues": ", ".join(map(repr, job.null_values)) or None,
    }
    return FieldPlan(
        field,
        f"{member.type}{'' if member.nullable else ' not null'}",
        spark_type(member).simpleString(),
        _place_text(records, field, job),
        {key: text for key, text in settings.items() if text is not None},
        ValidationPlan.of(records, schema, job, may_pack=True).reader,
        outcomes,
        _breakable_rules(member, field_schema, outcomes, failing=field in records.computed.failing),
    )


def _field_outcomes(one: FieldInput, member: pa.Field, validation: ValidationPlan) -> tuple[TextOutcome, ...]:
    """Return example texts by what they are read as: valid, null, or breaking a rule; none for a field without a source."""
    if one.form == "nothing":
        return ()
    settings = validation.settings
    if one.form in ("record", "json"):
        read = json_reader(member, settings, one.epoch)
        return group_by_outcome(tokens_of(member), parse, read)
    if one.form == "pattern":
        origin = validation.job.origins[member.name]
        return (TextOutcome(TAKEN, (f"texts of the pattern `{origin.format}`",)),)
    if validation.is_text(member.name):
        texts = filter(None, (*TEXTS, *NUMBERS))
        return group_by_outcome(texts, str, cell_reader(member, settings, one.epoch))
    return (TextOutcome(TAKEN, ("every value of the column that the field's type holds exactly",)),)


def _breakable_rules(
    member: pa.Field, schema: pa.Schema, input_: tuple[TextOutcome, ...], *, failing: bool
) -> tuple[str, ...]:
    """Find the rules that values of a field may break."""
    named = {one.name for one in input_}
    if not member.nullable:
        named.add("required")
    if failing:
        named.add("expression")
    if input_ and input_[0].name == TAKEN and len(input_) == 1:
        named |= {"cast", "range", "precision", "length", "type", "key"}
    if not is_scalar(member):
        named |= {"cast", "range", "precision", "length", "type", "key", "required", "unexpected"}
    data_type = storage_type(member.type)
    if pa.types.is_timestamp(data_type) and data_type.tz is not None:
        zone = clock_zone(member)
        named |= {"zone"} if zone is None else set() if zone == "UTC" else {"zone-gap", "zone-overlap"}
    constraints = constraints_of(schema)
    named |= {one.rule for place in constraints.columns for one in place.each()}
    named |= {"check"} if constraints.rows.checks else set()
    return tuple(rule for rule in rule_pages() if rule in named)


def _place_text(records: Records, field: str, job: Job) -> str:
    """Return where a value is read, in words."""
    origin = job.fields.get(field, FieldSource())
    if origin is None:
        return "nowhere: it is null in the pipeline file"
    column_name = origin.from_ or field
    if origin.value is not None:
        return "the pipeline file: it is a constant"
    if origin.expr is not None:
        return f"the expression `{origin.expr}` over each record"
    if field in records.computed.inputs:
        return "the file of each record"
    if column_name in records.partitions:
        return f"`{column_name}=…` in the names of folders, as text"
    if isinstance(records.values, JsonTexts):
        path = inputs.variant_path(records.values.steps_of(field, origin))
        return f"{path} of each JSON record"
    input_ = records.input_of(field, origin)
    type_text = "text"
    if isinstance(input_, inputs.TypedInput):
        type_text = inputs.without_counts(input_.type).simpleString()
    return f"`{column_name}` of the source, {type_text}"


def _text_or_words(text: str) -> str:
    """Return a text, or words for an empty one."""
    return text or "an empty text"
