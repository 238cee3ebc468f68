"""A clock without a zone, and the instant that it means.

Layer: rows.
Rule: nothing is guessed. A clock is an instant only where its zone is told, or the field's own zone is UTC; a time that
      the clocks of the zone skip, or show twice, is none.
Units: nanoseconds since 1970-01-01T00:00 in UTC, or on the clock itself.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo

import pyarrow as pa

from schemac.attributes.zones import find_zone, is_utc
from schemac.evolution.clocks import declared_clock
from schemac.rows.judging.values import shown_at

CLOCK_ZONE = b"schemac.dev/clockZone"


def zone_of(field: pa.Field) -> str | None:
    """Give the zone that was declared for a field's clocks."""
    declared = (field.metadata or {}).get(CLOCK_ZONE)
    if declared is None:
        return None
    text = declared.decode()
    return str(json.loads(text)) if text.startswith('"') else text


def with_zones(
    schema: pa.Schema, zone_of_field: Callable[[str], str | None], of_source: str | None
) -> pa.Schema:
    """Note the zone of its clocks next to each timestamp of a schema that has one, at every depth."""
    fields = [_with_zone(field, zone_of_field(field.name), of_source) for field in schema]
    return pa.schema(fields, metadata=schema.metadata)


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
    value_type = data_type.value_type if is_.is_dictionary(data_type) else data_type
    pair = (zone, zone_of(field)) if getattr(value_type, "tz", None) is not None else (zone_of(field), zone)
    declared = declared_clock(*pair, None) or of_source
    if declared is None or not is_.is_timestamp(value_type):
        return field
    return field.with_metadata({**(field.metadata or {}), CLOCK_ZONE: json.dumps(declared).encode()})


def zone_of_clock(field_zone: str, declared: str | None) -> str | None:
    """Return the zone of the clocks of a field whose values are shown in `field_zone`; None if nobody has told it."""
    zone = declared_clock(declared, None, field_zone)
    return "UTC" if is_utc(zone) else zone


@dataclass(frozen=True)
class Clock:
    """How clocks become instants of one field; `zone` is None if nobody has told it."""

    zone: str | None

    @property
    def rules(self) -> tzinfo | None:
        """What the zone says; None where nobody has told it."""
        return None if self.zone is None else find_zone(self.zone)

    def shown(self, instant: int) -> int:
        """Return what the clock shows at an instant, both in nanoseconds."""
        rules = find_zone(self.zone or "UTC")
        assert rules is not None, self.zone
        return shown_at(instant, rules)
