"""Which clock a reading without a zone is from, where a change makes an instant of it or the other way round.

Floor: 10 (evolution).
Shape: `schemac.dev/clockZone` of the field that has no zone counts first, then that of the other one. Where neither says it,
a reading is taken as UTC if the instants are in UTC, and is otherwise nobody's to guess. A day and a time of day are those
that the clock of the instant's own zone shows, unless its `clockZone` is another.
"""

from typing import Any

from schemac.attributes import own
from schemac.logical.slots import Slot

_READINGS = frozenset({"Date", "Time"})


def clock_of(old: Slot, new: Slot) -> str | None:
    """The zone of the clock; empty where the change needs none, None where it needs one that nobody declared."""
    before: Any = old.type
    after: Any = new.type
    kinds = (before.kind, after.kind)
    if "Timestamp" not in kinds:
        return ""
    if "String" in kinds:
        return _declared(new) or _declared(old) or ("UTC" if _zone(after) == "UTC" else "")
    if kinds == ("Timestamp", "Timestamp"):
        if (before.timezone is None) == (after.timezone is None):
            return ""
        reading, instant = (old, new) if before.timezone is None else (new, old)
        is_utc = _zone(instant.type) == "UTC"
        return _declared(reading) or _declared(instant) or ("UTC" if is_utc else None)
    instant = old if before.kind == "Timestamp" else new
    if {before.kind, after.kind}.isdisjoint(_READINGS) or _zone(instant.type) is None:
        return ""
    return _declared(instant) or _zone(instant.type)


def _declared(slot: Slot) -> str | None:
    return own.CLOCK_ZONE.read(slot.extra) if slot.type.kind == "Timestamp" else None


def _zone(type_: Any) -> str | None:
    return getattr(type_, "timezone", None)
