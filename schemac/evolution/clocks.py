"""The zone of local timestamps, for changes between timestamps with and without a zone.

Layer: evolution.
Shape: `schemac.dev/clockZone` of the field that has no zone counts first, then that of the other one. Where neither says it,
a reading is taken as UTC if the instants are in UTC, and is otherwise nobody's to guess. A day and a time of day are those
that the clock of the instant's own zone shows, unless its `clockZone` is another.
"""

from typing import Any

from schemac.attributes import own
from schemac.attributes.family import Family
from schemac.attributes.zones import is_utc
from schemac.logical.schema_fields import SchemaField

_READINGS = frozenset({Family.DATE, Family.TIME})


def declared_clock(reading: str | None, instant: str | None, zone: str | None) -> str | None:
    """Return the zone of a clock, out of what is declared for its readings and for the instants, which are in `zone`; None if it is nobody's to guess."""
    return reading or instant or ("UTC" if is_utc(zone) else None)


def clock_of(old: SchemaField, new: SchemaField) -> str | None:
    """Return the zone of the clock; empty if the change needs none, None if it needs one that nobody declared."""
    before: Any = old.type
    after: Any = new.type
    families = (before.family, after.family)
    if Family.TIMESTAMP not in families:
        return ""
    if Family.TEXT in families:
        return declared_clock(_declared(new), _declared(old), _zone(after)) or ""
    if families == (Family.TIMESTAMP, Family.TIMESTAMP):
        if (before.timezone is None) == (after.timezone is None):
            return ""
        reading, instant = (old, new) if before.timezone is None else (new, old)
        return declared_clock(_declared(reading), _declared(instant), _zone(instant.type))
    instant = old if before.family is Family.TIMESTAMP else new
    if _READINGS.isdisjoint(families) or _zone(instant.type) is None:
        return ""
    return _declared(instant) or _zone(instant.type)


def _declared(field: SchemaField) -> str | None:
    return own.CLOCK_ZONE.read(field.extra) if field.type.family is Family.TIMESTAMP else None


def _zone(type_: Any) -> str | None:
    return getattr(type_, "timezone", None)
