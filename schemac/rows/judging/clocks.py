"""A clock without a zone, and the instant that it means.

Layer: rows.
Rule: nothing is guessed. A clock is an instant only where its zone is told, or the field's own zone is UTC; a time that
      the clocks of the zone skip, or show twice, is none.
Units: microseconds since 1970-01-01T00:00 in UTC, or on the clock itself.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property

import pyarrow as pa

from schemac.attributes.zones import find_zone, is_utc
from schemac.evolution.clocks import declared_clock
from schemac.rows.judging import forms

CLOCK_ZONE = b"schemac.dev/clockZone"
_EPOCH, _EPOCH_UTC = datetime(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)  # noqa: DTZ001  # a clock has no zone
_MICROSECOND = timedelta(microseconds=1)
_DAY = 86_400 * 10**6
_CALENDAR = 146_097 * _DAY
_LEAST, _GREATEST = forms.FIRST_MICROSECOND + 2 * _DAY, forms.LAST_MICROSECOND - 2 * _DAY


def zone_of(field: pa.Field) -> str | None:
    """Give the zone that was declared for a field's clocks."""
    told = (field.metadata or {}).get(CLOCK_ZONE)
    if told is None:
        return None
    text = told.decode()
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
    held = data_type.value_type if is_.is_dictionary(data_type) else data_type
    pair = (zone, zone_of(field)) if getattr(held, "tz", None) is not None else (zone_of(field), zone)
    told = declared_clock(*pair, None) or of_source
    if told is None or not is_.is_timestamp(held):
        return field
    return field.with_metadata({**(field.metadata or {}), CLOCK_ZONE: json.dumps(told).encode()})


def zone_of_clock(field_zone: str, told: str | None) -> str | None:
    """Return the zone of the clocks of a field whose values are shown in `field_zone`; None if nobody has told it."""
    zone = declared_clock(told, None, field_zone)
    return "UTC" if is_utc(zone) else zone


@dataclass(frozen=True)
class Clock:
    """How clocks become instants of one field; `zone` is None if nobody has told it."""

    zone: str | None

    @property
    def is_plain(self) -> bool:
        """Whether no zone but UTC is told."""
        return self.zone in (None, "UTC")

    @cached_property
    def _rules(self) -> tzinfo:
        found = find_zone(self.zone or "UTC")
        assert found is not None, self.zone
        return found

    def instant(self, clock: int) -> int | None:
        """Return the instant of a clock; None if it is none."""
        if self.zone == "UTC":
            return clock
        return None if self.zone is None or len(found := self._instants(clock)) != 1 else found.pop()

    def rule(self, clock: int) -> str | None:
        """Name the rule that a clock breaks which is not an instant; None if it is one."""
        if self.zone is None:
            return forms.NOT_DECLARED
        if self.zone == "UTC":
            return None
        return {0: forms.GAP, 1: None, 2: forms.OVERLAP}[len(self._instants(clock))]

    def shown(self, instant: int) -> int:
        """Return what the clock shows at an instant."""
        if self.zone == "UTC":
            return instant
        # The calendar repeats itself after 400 years, and what is shown at its ends may lie beyond those of Python.
        shift = _CALENDAR if instant < _LEAST else -_CALENDAR if instant > _GREATEST else 0
        there = (_EPOCH_UTC + timedelta(microseconds=instant + shift)).astimezone(self._rules)
        return (there.replace(tzinfo=None) - _EPOCH) // _MICROSECOND - shift

    def _instants(self, clock: int) -> set[int]:
        """All instants at which the clock shows the time."""
        reading = _EPOCH + timedelta(microseconds=clock)
        found = set()
        for fold in (0, 1):
            offset = reading.replace(tzinfo=self._rules, fold=fold).utcoffset()
            assert offset is not None
            instant = clock - offset // _MICROSECOND
            if self.shown(instant) == clock:
                found.add(instant)
        return found
