"""Finds the mistakes in `fields` of a pipeline file, and what its schema cannot have, before Spark starts.

Layer: pipeline.
Shape: a job and its Arrow schema in; each mistake with its place in the file (keys from the root) out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from schemac.pipeline.clocks import Clock, with_zones, zone_of
from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.inputs import parse_steps
from schemac.pipeline.job import FieldSource, Job
from schemac.pipeline.patterns import has_optional_zone, pattern_mistake
from schemac.pipeline.quarantine_buffer import ERRORS, RAW, SOURCE, WARNINGS
from schemac.pipeline.scalars import scalar_of, storage_type
from schemac.pipeline.shapes import is_list, is_scalar
from schemac.source.catalogue import (
    CANNOT_WARN,
    INVALID_PATTERN,
    MISPLACED_FORMAT,
    MISPLACED_ZONE,
    RESERVED_NAME,
    UNKNOWN_FIELD,
    UNKNOWN_RULE,
)
from schemac.source.pages import rule_pages

RESERVED = (ERRORS, WARNINGS, RAW, SOURCE)
CAN_WARN = ("unexpected", "duplicate")
"""Rules whose records have a value in every field all the same."""


@dataclass(frozen=True)
class Mistake:
    """One mistake; `is_key` where the last part of the place is itself wrong, not what stands behind it."""

    place: tuple[str, ...]
    error: PipelineError
    is_key: bool = False


def mapping_mistakes(job: Job, schema: pa.Schema) -> Iterator[Mistake]:
    """All mistakes."""
    for label in RESERVED:
        if label in schema.names:
            error = PipelineError(RESERVED_NAME, f"a field cannot be called `{label}` in a pipeline")
            yield Mistake(("schema",), error)
    for member in schema:
        yield from _unsupported(member)
    yield from _rule_mistakes(job, schema)
    schema = with_zones(schema, job)
    for label, origin in job.fields.items():
        if label not in schema.names:
            message = f"`fields` names `{label}`, the schema has no such field"
            error = PipelineError(UNKNOWN_FIELD, message, did_you_mean(label, schema.names))
            yield Mistake(("fields", label), error, is_key=True)
        elif origin is not None:
            yield from _origin_mistakes(label, origin, schema.field(label))


def _rule_mistakes(job: Job, schema: pa.Schema) -> Iterator[Mistake]:
    """Find rules and fields that are not there, and rules that cannot only warn."""
    limits = ("maxQuarantined", "rules")
    known = rule_pages()
    for place in [
        *((*limits, rule) for rule in job.max_quarantined.rules),
        *(("rules", rule) for rule in job.rules),
    ]:
        if place[-1] not in known:
            message = f"there is no rule `{place[-1]}`"
            help = did_you_mean(place[-1], known)
            yield Mistake(place, PipelineError(UNKNOWN_RULE, message, help, place=place), is_key=True)
    for rule in job.warned:
        if rule in known and rule not in CAN_WARN:
            message = f"the rule `{rule}` cannot only warn: a record that breaks it has no value to write"
            others = " and ".join(f"`{one}`" for one in CAN_WARN)
            help = f"leave it out; {others} can warn, and `maxQuarantined: {{rules: {{{rule}: 0.05}}}}` sets a limit"
            yield Mistake(("rules", rule), PipelineError(CANNOT_WARN, message, help, place=("rules", rule)))
    for label in job.max_quarantined.fields:
        if not any(label == top or label.startswith((f"{top}.", f"{top}[")) for top in schema.names):
            place = ("maxQuarantined", "fields", label)
            message = f"`maxQuarantined` names the field `{label}`, the schema has no such field"
            error = PipelineError(UNKNOWN_FIELD, message, did_you_mean(label, schema.names), place=place)
            yield Mistake(place, error, is_key=True)


def _unsupported(member: pa.Field) -> Iterator[Mistake]:
    try:
        for part in _scalars(member):
            scalar_of(part)
    except PipelineError as caught:
        yield Mistake(("schema",), caught)


def _scalars(member: pa.Field) -> Iterator[pa.Field]:
    if is_scalar(member):
        yield member
    elif is_list(member.type):
        yield from _scalars(member.type.value_field)
    elif pa.types.is_map(member.type):
        yield from (*_scalars(member.type.key_field), *_scalars(member.type.item_field))
    else:
        for part in member.type:
            yield from _scalars(part)


def _origin_mistakes(label: str, origin: FieldSource, member: pa.Field) -> Iterator[Mistake]:
    place = ("fields", label)
    if origin.from_ is not None:
        try:
            parse_steps(origin.from_)
        except PipelineError as caught:
            yield Mistake((*place, "from"), caught)
    held, is_ = storage_type(member.type), pa.types
    is_temporal = is_scalar(member) and bool(is_.is_date(held) or is_.is_timestamp(held))
    told = [key for key in ("format", "epoch") if getattr(origin, key) is not None]
    if told and not is_temporal:
        error = PipelineError(
            MISPLACED_FORMAT,
            f"`{label}` is {member.type}: `{told[0]}` is for dates and timestamps",
            f"leave `{told[0]}` out, or give the field a Date or Timestamp type",
        )
        yield Mistake((*place, told[0]), error)
    elif len(told) == 2:
        error = PipelineError(
            MISPLACED_FORMAT,
            f"`{label}` has both `format` and `epoch`",
            "text has a format, a number an epoch",
        )
        yield Mistake((*place, "epoch"), error)
    elif origin.format is not None and is_.is_timestamp(held) and (half := _half_zone(origin.format, member)):
        yield Mistake((*place, "format"), half)
    elif origin.format is not None and (mistake := pattern_mistake(origin.format)) is not None:
        error = PipelineError(
            INVALID_PATTERN,
            f"the pattern `{origin.format}` cannot be used: {mistake}",
            "see https://spark.apache.org/docs/latest/sql-ref-datetime-pattern.html",
        )
        yield Mistake((*place, "format"), error)
    if origin.zone is not None and not any(
        is_.is_timestamp(storage_type(part.type)) for part in _scalars(member)
    ):
        error = PipelineError(
            MISPLACED_ZONE, f"`{label}` is {member.type}: `zone` is for timestamps", "leave `zone` out"
        )
        yield Mistake((*place, "zone"), error)


def _half_zone(pattern: str, member: pa.Field) -> PipelineError | None:
    """Refuse a pattern that reads a zone where there is one, for a field whose clocks are not those of UTC."""
    zone = member.type.tz
    if zone is None or Clock.of(zone, zone_of(member)).zone == "UTC" or not has_optional_zone(pattern):
        return None
    return PipelineError(
        MISPLACED_FORMAT,
        f"the pattern `{pattern}` reads a zone only sometimes, and Spark would take UTC the other times",
        "take the zone out of the brackets, or out of the pattern",
    )
