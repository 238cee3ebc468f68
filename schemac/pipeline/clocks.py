"""A clock without a zone, and the instant that it means.

Shape: the zone of a field's clocks is told by the pipeline file (`zone` of the field), by the schema (the attribute
       `schemac.dev/clockZone`), or by the pipeline file for all (`timezone` of the source), in this order. `with_zones` writes
       it beside each field, at every depth, where whatever reads a value finds it.
Rule: nothing is guessed. A clock is an instant only where its zone is told, or the field's own zone is UTC; a time that
      the clocks of the zone skip, or show twice, is none.
"""

import json
from dataclasses import dataclass
from datetime import timedelta

import pyarrow as pa

from .job import FieldSource, Job
from .sqltext import first_of, let, literal, when
from .zones import UTC_NAMES

CLOCK_ZONE = b"schemac.dev/clockZone"
NOT_DECLARED = "zone: say `timezone` under `source`, or `zone` of the field"
GAP = "zone-gap: the clocks of this zone skip the time"
OVERLAP = "zone-overlap: the clocks of this zone show the time twice"

DAY_MICROSECONDS = timedelta(days=1) // timedelta(microseconds=1)


def with_zones(schema: pa.Schema, job: Job) -> pa.Schema:
    """The schema with the zone of its clocks beside each field that has one."""
    fields = []
    for field in schema:
        origin = job.fields.get(field.name) or FieldSource()
        told = _with_zone(field, job.source.timezone, wins=False)
        fields.append(told if origin.zone is None else _with_zone(field, origin.zone, wins=True))
    return pa.schema(fields, metadata=schema.metadata)


def zone_of(field: pa.Field) -> str | None:
    """The zone that was told for a field's clocks."""
    told = (field.metadata or {}).get(CLOCK_ZONE)
    if told is None:
        return None
    text = told.decode()
    return str(json.loads(text)) if text.startswith('"') else text


def _with_zone(field: pa.Field, zone: str | None, *, wins: bool) -> pa.Field:
    own = zone_of(field)
    zone = zone if wins or own is None else own
    data_type = field.type
    if zone is None and not pa.types.is_nested(data_type):
        return field
    if pa.types.is_struct(data_type):
        data_type = pa.struct([_with_zone(member, zone, wins=wins) for member in data_type])
    elif pa.types.is_map(data_type):
        key, item = (
            _with_zone(part, zone, wins=wins) for part in (data_type.key_field, data_type.item_field)
        )
        data_type = pa.map_(key, item, keys_sorted=data_type.keys_sorted)
    elif pa.types.is_fixed_size_list(data_type):
        data_type = pa.list_(_with_zone(data_type.value_field, zone, wins=wins), data_type.list_size)
    elif pa.types.is_large_list(data_type):
        data_type = pa.large_list(_with_zone(data_type.value_field, zone, wins=wins))
    elif pa.types.is_list(data_type):
        data_type = pa.list_(_with_zone(data_type.value_field, zone, wins=wins))
    metadata = dict(field.metadata or {})
    if zone is not None:
        metadata[CLOCK_ZONE] = json.dumps(zone).encode()
    return pa.field(field.name, data_type, field.nullable, metadata or None)


@dataclass(frozen=True)
class Clock:
    """How clocks become instants of one field; `zone` is None where nobody has told it."""

    zone: str | None

    @classmethod
    def of(cls, field_zone: str, told: str | None) -> "Clock":
        """The clock of a field whose values are shown in `field_zone`."""
        zone = told or field_zone
        if zone in UTC_NAMES:
            return cls("UTC")
        return cls(told)

    def instant(self, clock: str) -> str:
        """The instant of a clock that is given as the instant at which clocks in UTC show the same; null where it is none."""
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
        """The rule that a clock breaks which is no instant; null where it is one. None where all are."""
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
