"""Targets and results of casts, local timestamps and instants, and values as people read them.

Layer: engines. Values only.
Shape: one result a value. What does not fit is null there, and marked; so nothing is lost without a word. A local time that the clock
      never showed, or showed twice, is not an instant; nor is one that no calendar reaches. Zones come from the zone database, not from
      Arrow, whose clocks know no summer time after 2037.
Units: seconds since 1970-01-01, of UTC for instants, of the clock for local timestamps.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.language.attributes.builtin import find_zone
from schemac.language.kinds.answers import ARROW_PER_SECOND
from schemac.text.source.phrases import counted


@dataclass(frozen=True, slots=True)
class CastTarget:
    """One cast."""

    old: Any
    """The logical type of the values."""
    new: Any
    type: Any
    """The Arrow type of the result: no dictionary, and no extension type."""
    zone: str = ""
    """The clock that readings without a zone were taken from; empty if none is known."""
    is_rounded: bool = False
    """Whether the nearest value will do where there is no equal one. Moments are cut to the unit before."""


@dataclass(frozen=True, slots=True)
class Cast:
    """The new values."""

    values: Any
    """As many as there were; null where there was null, and where nothing fits."""
    misfits: Any
    """A numpy array of booleans: which values do not fit."""


def fitting(values: Any) -> Cast:
    """Where every value fits."""
    return Cast(values, np.zeros(len(values), bool))


def numbers_of(values: Any) -> tuple[Any, Any]:
    """Return the stored numbers of an array, and where they are not null; what is under a null is 0."""
    type_ = values.type
    if pa.types.is_boolean(type_):
        values, type_ = values.cast(pa.uint8()), pa.uint8()
    elif pa.types.is_temporal(type_):
        type_ = pa.int32() if type_.bit_width == 32 else pa.int64()
        values = values.view(type_)
    there = np.asarray(values.is_valid().to_numpy(zero_copy_only=False))
    if not len(values):
        return np.zeros(0, _dtype(type_)), there
    whole = np.frombuffer(values.buffers()[1], _dtype(type_))
    return np.where(there, whole[values.offset : values.offset + len(values)], 0), there


def array_of(numbers: Any, there: Any, fits: Any, type_: Any) -> Cast:
    """Return the array whose stored numbers these are; null where nothing was or nothing fits."""
    good = there & fits
    numbers = np.where(good, numbers, 0)
    if pa.types.is_boolean(type_):
        values = pa.array(numbers.astype(bool), type_, mask=~good)
    else:
        bits = pa.array(good, pa.bool_()).buffers()[1]
        data = pa.py_buffer(np.ascontiguousarray(numbers.astype(_dtype(type_))))
        values = pa.Array.from_buffers(type_, len(numbers), [bits, data])
    return Cast(values, there & ~fits)


def one_by_one(values: Any, type_: Any, convert: Callable[[Any], Any]) -> Cast:
    """Each different value by itself; `convert` gives None or raises ValueError if a value does not fit."""

    def converted(value: Any) -> Any:
        with suppress(ValueError):
            return convert(value)

    if pa.types.is_float16(values.type):
        values = values.cast(pa.float32())
    coded = values.dictionary_encode()
    new = [converted(value) for value in coded.dictionary.to_pylist()]
    if pa.types.is_float16(type_):
        new = [None if value is None else np.float16(value) for value in new]
    made = pa.array(new, type_)
    new_values = made.take(coded.indices)
    misfits = pc.and_(new_values.is_null(), values.is_valid())
    return Cast(new_values, np.asarray(misfits.to_numpy(zero_copy_only=False)))


def _dtype(type_: Any) -> Any:
    """How numpy has the numbers that a type stores; `to_pandas_dtype` needs pandas in older releases of pyarrow."""
    sort = "f" if pa.types.is_floating(type_) else "u" if pa.types.is_unsigned_integer(type_) else "i"
    return np.dtype(f"{sort}{type_.bit_width // 8}")


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
    """Return the UTC offset of a timestamp with a zone, in whole seconds."""
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


_LONGEST = 60


def format_values(values: Any) -> list[str]:
    """Each value as short as it can be read; instants in UTC."""
    type_ = values.type
    if pa.types.is_timestamp(type_):
        numbers, _ = numbers_of(values)
        return [_timestamp_text(int(number), type_) for number in numbers]
    if pa.types.is_temporal(type_) and not pa.types.is_date(type_):
        numbers, _ = numbers_of(values)
        return [f"{number} {type_.unit}" for number in numbers]
    return [_value(value) for value in values]


def _value(scalar: Any) -> str:
    """Return a value as messages show it, cut at a greatest length; lists as a count of items."""
    try:
        value = scalar.as_py()
    except (ValueError, OverflowError):
        # Python's calendar is narrower than Arrow's.
        return f"day {scalar.value}"
    if isinstance(value, bytes):
        text = f"0x{value[:_LONGEST].hex()}"
    elif isinstance(value, str):
        text = json.dumps(value, ensure_ascii=True)
    elif isinstance(value, list):
        text = f"a list of {counted(len(value), 'item')}"
    else:
        text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _timestamp_text(number: int, type_: Any) -> str:
    seconds, rest = divmod(number, ARROW_PER_SECOND[type_.unit])
    if not FIRST_SECOND <= seconds <= LAST_SECOND:
        return f"{number} {type_.unit} since 1970"
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    digits = len(str(ARROW_PER_SECOND[type_.unit])) - 1
    fraction = f".{rest:0{digits}}" if rest else ""
    return f"{at:%Y-%m-%d %H:%M:%S}{fraction}{'Z' if type_.tz else ''}"
