"""Dates, times of day, points in time and durations.

Layer: engines.
Shape: stored numbers in a unit. An instant has the day and the time of day that the clock of its zone shows; which clock a
reading without a zone is from, the field says. A day alone is its midnight, and a time of day alone is one of 1970-01-01.
Where rounding is allowed, what is finer than the new unit is cut off, towards the past.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from schemac.attributes.family import Family
from schemac.engines.lance.tables.casts.cast_target import Cast, CastTarget, array_of, numbers_of
from schemac.engines.lance.tables.casts.clocks import offsets_at, offsets_of
from schemac.kinds.units import PER_SECOND

DAY = 86400
_MOST = 2**63 - 1


def cast_temporal(values: Any, target: CastTarget) -> Cast:
    """Between two temporal kinds."""
    old, new = target.old, target.new
    numbers, there = numbers_of(values)
    numbers = numbers.astype(np.int64)
    fits = np.ones(len(numbers), bool)
    span, new_span = _span(old, values.type), _span(new, target.type)
    was_instant, is_instant = _is_instant(old), _is_instant(new)
    is_cut = target.is_rounded
    if was_instant and not is_instant:
        numbers, fits = _readings(
            numbers, span, target.zone, is_unique=not (is_cut and new.family is Family.DATE)
        )
    if new.family is Family.TIME and old.family is not Family.TIME:
        fits &= (numbers >= 0) & (numbers < DAY * span[1])
    if is_instant and not was_instant:
        # A day goes to seconds first, of which a clock shows some.
        numbers, fits, span = _to_seconds(numbers, fits, span)
        numbers, known = _instants(numbers, span, target.zone)
        fits &= known
    if new.family is Family.DATE and old.family is not Family.DATE:
        # A Date in milliseconds counts whole days too.
        numbers, in_range = rescaled(numbers, span, (DAY, 1), is_cut)
        fits, span = fits & in_range, (DAY, 1)
    numbers, in_range = rescaled(numbers, span, new_span, is_cut)
    fits &= in_range
    if target.type.bit_width == 32:
        fits &= (numbers >= -(2**31)) & (numbers < 2**31)
    return array_of(numbers, there, fits, target.type)


def rescaled(numbers: Any, old: tuple[int, int], new: tuple[int, int], is_cut: bool) -> tuple[Any, Any]:
    """Count of one span as counts of another; a span is a number of seconds, as a fraction."""
    # One old span is up / down new ones.
    up, down = old[0] * new[1], old[1] * new[0]
    common = int(np.gcd(up, down))
    up, down = up // common, down // common
    if down > 1:
        cut = np.floor_divide(numbers, down)
        is_whole = np.ones(len(numbers), bool) if is_cut else cut * down == numbers
        return cut, is_whole
    in_range = (numbers <= _MOST // up) & (numbers >= -(_MOST // up))
    if up == 1:
        in_range |= True
    return np.where(in_range, numbers, 0) * up, in_range


def _span(type_: Any, arrow_type: Any) -> tuple[int, int]:
    """Return what one of the stored numbers counts: a numerator and a denominator, in seconds."""
    if type_.family is Family.DATE:
        return (1, 1000) if pa.types.is_date64(arrow_type) else (DAY, 1)
    return (1, PER_SECOND[type_.unit])


def _is_instant(type_: Any) -> bool:
    return type_.family is Family.TIMESTAMP and type_.timezone is not None


def _to_seconds(numbers: Any, fits: Any, span: tuple[int, int]) -> tuple[Any, Any, tuple[int, int]]:
    if span != (DAY, 1):
        return numbers, fits, span
    seconds, in_range = rescaled(numbers, span, (1, 1), is_cut=False)
    return seconds, fits & in_range, (1, 1)


def _readings(numbers: Any, span: tuple[int, int], zone: str, *, is_unique: bool) -> tuple[Any, Any]:
    """Return what the clock showed at these instants; where it has to be unique, only what it showed once."""
    per_second = span[1]
    offsets, known = offsets_at(np.floor_divide(numbers, per_second), zone)
    local_times, in_range = moved(numbers, offsets * per_second)
    known &= in_range
    if is_unique:
        back, is_one = offsets_of(np.floor_divide(local_times, per_second), zone)
        known &= is_one & (back == offsets)
    return local_times, known


def _instants(numbers: Any, span: tuple[int, int], zone: str) -> tuple[Any, Any]:
    per_second = span[1]
    offsets, known = offsets_of(np.floor_divide(numbers, per_second), zone)
    instants, in_range = moved(numbers, -offsets * per_second)
    return instants, known & in_range


def moved(numbers: Any, by: Any) -> tuple[Any, Any]:
    """Return the sums, and where they are within 64 bits."""
    with np.errstate(over="ignore"):
        sums = numbers + by
    return sums, (sums >= numbers) == (by >= 0)
