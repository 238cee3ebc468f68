"""A clock without a zone, and the instant that it means.

Layer: pipeline.
Shape: `zone` of a field in the pipeline file says it of what is read, `schemac.dev/clockZone` in the schema of what is written;
       the side that has no zone counts first, as it does where a table changes (`evolution.clocks`). Where neither says
       it, `timezone` of the source does. `with_zones` writes the zone beside each timestamp, at every depth, where
       whatever reads a value finds it.
Rule: nothing is guessed. A clock is an instant only where its zone is told, or the field's own zone is UTC; a time that
      the clocks of the zone skip, or show twice, is none. An instant for a field without a zone is what the clock of the
      told zone shows, or that of UTC.
"""

import json
from dataclasses import dataclass
from datetime import timedelta

import pyarrow as pa

from schemac.attributes.zones import is_utc
from schemac.evolution.clocks import declared_clock
from schemac.pipeline.declaration.job import FieldSource, Job
from schemac.pipeline.spark.sqltext import first_of, let, literal, when

CLOCK_ZONE = b"schemac.dev/clockZone"
NOT_DECLARED = "zone: say `timezone` under `source`, or `zone` of the field"
GAP = "zone-gap: the clocks of this zone skip the time"
OVERLAP = "zone-overlap: the clocks of this zone show the time twice"

DAY_MICROSECONDS = timedelta(days=1) // timedelta(microseconds=1)


def with_zones(schema: pa.Schema, job: Job) -> pa.Schema:
    """Note the zone of its clocks beside each field of a schema that has one."""
    origins = [job.fields.get(field.name) or FieldSource() for field in schema]
    fields = [
        _with_zone(field, origin.zone, job.source.timezone)
        for field, origin in zip(schema, origins, strict=True)
    ]
    return pa.schema(fields, metadata=schema.metadata)


def zone_of(field: pa.Field) -> str | None:
    """Give the zone that was declared for a field's clocks."""
    told = (field.metadata or {}).get(CLOCK_ZONE)
    if told is None:
        return None
    text = told.decode()
    return str(json.loads(text)) if text.startswith('"') else text


def _with_zone(field: pa.Field, zone: str | None, of_source: str | None) -> pa.Field:
    def inner(part: pa.Field) -> pa.Field:
        return _with_zone(part, zone, of_source)

    data_type, is_ = field.type, pa.types
    if is_.is_struct(data_type):
        return field.with_type(pa.struct([inner(member) for member in data_type]))
    if is_.is_map(data_type):
        key, item = inner(data_type.key_field), inner(data_type.item_field)
        return field.with_type(pa.map_(key, item, keys_sorted=data_type.keys_sorted))
    if is_.is_fixed_size_list(data_type):
        return field.with_type(pa.list_(inner(data_type.value_field), data_type.list_size))
    if is_.is_large_list(data_type):
        return field.with_type(pa.large_list(inner(data_type.value_field)))
    if is_.is_list(data_type):
        return field.with_type(pa.list_(inner(data_type.value_field)))
    held = data_type.value_type if is_.is_dictionary(data_type) else data_type
    pair = (zone, zone_of(field)) if getattr(held, "tz", None) is not None else (zone_of(field), zone)
    told = declared_clock(*pair, None) or of_source
    if told is None or not is_.is_timestamp(held):
        return field
    return field.with_metadata({**(field.metadata or {}), CLOCK_ZONE: json.dumps(told).encode()})


@dataclass(frozen=True)
class Clock:
    """How clocks become instants of one field; `zone` is None where nobody has told it."""

    zone: str | None

    @classmethod
    def of(cls, field_zone: str, told: str | None) -> "Clock":
        """Give the clock of a field whose values are shown in `field_zone`."""
        zone = declared_clock(told, None, field_zone)
        return cls("UTC" if is_utc(zone) else zone)

    def instant(self, clock: str) -> str:
        """Compute the instant of a clock that is given as the instant at which clocks in UTC show the same; null where it is none."""
        if self.zone is None:
            return "cast(null as timestamp)"
        if self.zone == "UTC":
            return clock
        return let(
            clock,
            lambda c: let(
                self._earlier(c), lambda u: when(f"{self._gap(c, u)} or {self._twice(c, u)}", "null", u)
            ),
        )

    def rule(self, clock: str) -> str | None:
        """Name the rule that a clock breaks which is no instant; null where it is one. None where all are."""
        if self.zone is None:
            return literal(NOT_DECLARED)
        if self.zone == "UTC":
            return None
        return let(
            clock,
            lambda c: let(
                self._earlier(c),
                lambda u: first_of([(self._gap(c, u), literal(GAP)), (self._twice(c, u), literal(OVERLAP))]),
            ),
        )

    def shown(self, instant: str) -> str:
        """Compute what the clock shows at an instant, given as the instant at which clocks in UTC show the same."""
        return instant if self.zone == "UTC" else self._shown(instant)

    def _earlier(self, clock: str) -> str:
        return f"to_utc_timestamp({clock}, {literal(self.zone or '')})"

    def _shown(self, instant: str) -> str:
        return f"from_utc_timestamp({instant}, {literal(self.zone or '')})"

    def _gap(self, clock: str, instant: str) -> str:
        return f"({self._shown(instant)} <> {clock})"

    def _twice(self, clock: str, instant: str) -> str:
        """Whether the offset of a day later gives another instant with the same clock: Spark has taken the earlier one."""
        later = f"timestamp_micros(unix_micros({instant}) + {DAY_MICROSECONDS}L)"
        offset = f"unix_micros({self._shown(later)}) - unix_micros({later})"
        other = f"timestamp_micros(unix_micros({clock}) - ({offset}))"
        return f"({other} <> {instant} and {self._shown(other)} = {clock})"
