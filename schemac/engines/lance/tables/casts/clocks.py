"""From instants to readings of a clock, and back.

Layer: engines.
Units: seconds since 1970-01-01, of UTC for instants, of the clock for readings.
Shape: a reading that the clock never showed, or showed twice, is not an instant; nor is one that no calendar reaches. Zones come
from the zone database, not from Arrow, whose clocks know no summer time after 2037.
"""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import numpy as np

from schemac.attributes.zones import find_zone

_DAY = 86400
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 — of any clock
FIRST_SECOND, LAST_SECOND = -62135596800, 253402300799
"""Of the years 1 and 9999."""


def offsets_at(instants: Any, zone: str) -> tuple[Any, Any]:
    """How far the clock is ahead of UTC at each instant, in seconds, and where that is known."""

    def ahead(clock: tzinfo, second: int) -> int | None:
        at = (_EPOCH + timedelta(seconds=second)).replace(tzinfo=UTC).astimezone(clock)
        return _seconds(at)

    return _of_each(instants, zone, ahead)


def offsets_of(readings: Any, zone: str) -> tuple[Any, Any]:
    """Return the same for readings of the clock; known where exactly one instant has that reading."""

    def ahead(clock: tzinfo, second: int) -> int | None:
        local_time = (_EPOCH + timedelta(seconds=second)).replace(tzinfo=clock)
        first, second_time = _seconds(local_time), _seconds(local_time.replace(fold=1))
        is_reached = FIRST_SECOND <= second - first <= LAST_SECOND
        return first if first == second_time and is_reached else None

    return _of_each(readings, zone, ahead)


def _seconds(timestamp: datetime) -> int:
    offset = timestamp.utcoffset()
    assert offset is not None
    return round(offset.total_seconds())


def _of_each(seconds: Any, zone: str, ahead: Any) -> tuple[Any, Any]:
    clock = find_zone(zone)
    if clock is None:
        return np.zeros(len(seconds), np.int64), np.zeros(len(seconds), bool)
    if isinstance(clock, timezone):
        fixed = round(clock.utcoffset(None).total_seconds())
        return np.full(len(seconds), fixed, np.int64), np.ones(len(seconds), bool)
    days = np.floor_divide(seconds, _DAY)
    different, places = np.unique(days, return_inverse=True)
    starts = [_within_reach(ahead, clock, int(day) * _DAY) for day in different]
    ends = [_within_reach(ahead, clock, int(day) * _DAY + _DAY - 1) for day in different]
    offsets = np.array([start or 0 for start in starts], np.int64)[places]
    pairs = zip(starts, ends, strict=True)
    known = np.array([start is not None and start == end for start, end in pairs], bool)[places]
    # On some days a clock is put forward or back, and each moment is asked for; no clock is put there and back in one.
    for place in np.flatnonzero(~known):
        offset = _within_reach(ahead, clock, int(seconds[place]))
        offsets[place], known[place] = offset or 0, offset is not None
    return offsets, known


def _within_reach(ahead: Any, clock: tzinfo, second: int) -> int | None:
    if not FIRST_SECOND <= second <= LAST_SECOND:
        return None
    try:
        offset: int | None = ahead(clock, second)
    except OverflowError:
        return None
    return offset
