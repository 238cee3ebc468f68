"""Casts of values of one plain type to another, exactly.

Layer: engines. `cast` is the way in.
Rule: the new value, brought back, is the old one. NaN is equal to itself, and -0.0 to 0.
Shape: one result a value; what does not fit is null there, and marked. Of Bool, integers, binary floats and decimals the nearest value of
      the new type is taken; where rounding is allowed it need not be the same, of two the even one counts, and what is outside the new
      type's range fits never. A number or timestamp is read from a text that means exactly that; a binary float counts as what a text
      means where, rounded to the digits of the text, it is the number of the text: 0.1 is, 1e400 is not. An instant has the day and the
      time of day that the clock of its zone shows; which clock a local timestamp is from, the field says, and one that the clock never
      showed, or showed twice, is not an instant. A day alone is its midnight, and a time of day alone is one of 1970-01-01. Where
      rounding is allowed, what is finer than the new unit is cut off, towards the past. Zones come from the zone database, not from
      Arrow, whose clocks know no summer time after 2037.
Units: seconds since 1970-01-01, of UTC for instants, of the clock for local timestamps.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from fractions import Fraction
from math import isinf
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.language.attributes.attribute import NUMBERS, TEMPORAL, Family
from schemac.language.attributes.builtin import find_zone
from schemac.language.constraints.constraint import limits_of
from schemac.language.kinds.temporal import PER_SECOND
from schemac.language.logical.model import Castability
from schemac.versions.evolution.castability import castability


@dataclass(frozen=True, slots=True)
class CastTarget:
    """From which type to which one values are cast, and how."""

    old: Any
    """The logical type of the values."""
    new: Any
    type: Any
    """The Arrow type of the result: no dictionary, and no extension type."""
    zone: str = ""
    """The time zone of timestamps and texts that have none; empty if it is not known."""
    is_rounded: bool = False
    """Whether the nearest value counts where there is no equal one. Temporal values are truncated to the new unit, towards the past."""


@dataclass(frozen=True, slots=True)
class CastResult:
    """The values that a cast made, and which of the old ones have none."""

    values: Any
    """An Arrow array, one value for each old one; null where the old one was null, or does not fit."""
    misfits: Any
    """A numpy array of booleans: which values do not fit."""


def all_fit(values: Any) -> CastResult:
    """Return the result of a cast that every value fits."""
    return CastResult(values, np.zeros(len(values), bool))


def stored_numbers(values: Any) -> tuple[Any, Any]:
    """Return the numbers that an array stores, with 0 in place of a null, and which of them are not null; both as numpy arrays."""
    type_ = values.type
    if pa.types.is_boolean(type_):
        values, type_ = values.cast(pa.uint8()), pa.uint8()
    elif pa.types.is_temporal(type_):
        type_ = pa.int32() if type_.bit_width == 32 else pa.int64()
        values = values.view(type_)
    there = np.asarray(values.is_valid().to_numpy(zero_copy_only=False))
    stored = pa.Array.from_buffers(type_, len(values), [None, values.buffers()[1]], offset=values.offset)
    return np.where(there, stored.to_numpy(zero_copy_only=False), 0), there


def from_stored_numbers(numbers: Any, there: Any, fits: Any, type_: Any) -> CastResult:
    """Return the array of a type that stores these numbers; `there` says which are not null, and `fits` which fit the type."""
    good = there & fits
    stored = np.where(good, numbers, 0).astype(bool if pa.types.is_boolean(type_) else _dtype(type_))
    return CastResult(pa.array(stored, mask=~good).view(type_), there & ~fits)


def cast_each(values: Any, type_: Any, convert: Callable[[Any], Any]) -> CastResult:
    """Cast each distinct value by itself; `convert` gives None or raises ValueError if a value does not fit."""

    def converted(value: Any) -> Any:
        with suppress(ValueError):
            return convert(value)

    if pa.types.is_float16(values.type):
        values = values.cast(pa.float32())
    coded = values.dictionary_encode()
    new = [converted(value) for value in coded.dictionary.to_pylist()]
    if pa.types.is_float16(type_):
        new = [None if value is None else np.float16(value) for value in new]
    new_values = pa.array(new, type_).take(coded.indices)
    misfits = pc.and_(new_values.is_null(), values.is_valid())
    return CastResult(new_values, np.asarray(misfits.to_numpy(zero_copy_only=False)))


def _dtype(type_: Any) -> Any:
    """Return numpy's type for the numbers that a type stores; `to_pandas_dtype` needs pandas in older releases of pyarrow."""
    sort = "f" if pa.types.is_floating(type_) else "u" if pa.types.is_unsigned_integer(type_) else "i"
    return np.dtype(f"{sort}{type_.bit_width // 8}")


_BYTES = frozenset({Family.TEXT, Family.BYTES})
_NUMBERS = NUMBERS | {Family.BOOLEAN, Family.DECIMAL}


def cast(values: Any, target: CastTarget) -> CastResult:
    """Return the values in the new type. Raises ValueError between families that have no rule here."""
    old, new = target.old.family, target.new.family
    if old is Family.NULL:
        return all_fit(pa.nulls(len(values), target.type))
    if values.type.equals(target.type) and target.old.kind == target.new.kind:
        return all_fit(values)
    if target.old.parts() or target.new.parts():
        return all_fit(values.cast(target.type))
    if old in _BYTES and new in _BYTES:
        return cast_texts_and_bytes(values, target)
    if new is Family.TEXT:
        return cast_to_text(values, target)
    if old is Family.TEXT:
        return cast_from_text(values, target)
    if old in TEMPORAL and new in TEMPORAL:
        return cast_temporal(values, target)
    if old in _NUMBERS and new in _NUMBERS:
        return cast_numbers(values, target)
    raise ValueError(f"no cast from {target.old.type_text()} to {target.new.type_text()}")


_EXACT = Context(prec=1600, rounding=ROUND_HALF_EVEN, Emax=10**6, Emin=-(10**6))
"""Room for all digits of a binary float, and for the texts that people write."""


def cast_numbers(values: Any, target: CastTarget) -> CastResult:
    """Cast numbers to numbers of another kind; Bool counts as 0 and 1."""
    if Family.DECIMAL in (target.old.family, target.new.family):
        old, new = target.old, target.new
        if old.kind == new.kind and castability(old, new) <= Castability.LOSSLESS:
            return all_fit(values.cast(target.type))
        if new.family is Family.DECIMAL:
            return cast_each(values, target.type, lambda value: to_decimal(value, target))
        if new.family is Family.FLOAT:
            return cast_each(values, target.type, lambda value: to_float(value, old.scale, target))
        return cast_each(values, target.type, lambda value: to_integer(value, target))
    numbers, there = stored_numbers(values)
    if target.new.family is Family.BOOLEAN:
        return from_stored_numbers(numbers, there, (numbers == 0) | (numbers == 1), target.type)
    with np.errstate(all="ignore"):
        convert = _to_float if target.new.family is Family.FLOAT else _to_integer
        made, fits = convert(numbers, _dtype(target.type), target.is_rounded)
    return from_stored_numbers(made, there, fits, target.type)


def _to_integer(numbers: Any, type_: Any, is_rounded: bool) -> tuple[Any, Any]:
    """Return numbers as integers of a type of numpy, and which of them fit it."""
    bounds = np.iinfo(type_)
    if numbers.dtype.kind == "f":
        wide = numbers.astype(np.float64)
        near = np.rint(wide)
        # The bound itself may have no float; the power of two above it has.
        fits = (near >= float(bounds.min)) & (near < float(int(bounds.max) + 1))
        if not is_rounded:
            fits &= near == wide
        return np.where(fits, near, 0).astype(type_), fits
    here = np.iinfo(numbers.dtype)
    low, high = max(int(here.min), int(bounds.min)), min(int(here.max), int(bounds.max))
    fits = (numbers >= numbers.dtype.type(low)) & (numbers <= numbers.dtype.type(high))
    return numbers.astype(type_), fits


def _to_float(numbers: Any, type_: Any, is_rounded: bool) -> tuple[Any, Any]:
    """Return numbers as floats of a type of numpy, and which of them fit it."""
    made = numbers.astype(type_)
    if numbers.dtype.kind == "f":
        fits = ~np.isinf(made) | np.isinf(numbers)
        return made, fits if is_rounded else fits & ((made == numbers) | np.isnan(numbers))
    if is_rounded:
        return made, np.isfinite(made)
    bounds, wide = np.iinfo(numbers.dtype), made.astype(np.float64)
    fits = (wide >= float(bounds.min)) & (wide < float(int(bounds.max) + 1))
    return made, fits & (np.where(fits, wide, 0).astype(numbers.dtype) == numbers)


def to_integer(value: Decimal, target: CastTarget) -> int | bool | None:
    """Return a number as an integer, or as a Bool; None if it does not fit."""
    low, high = limits_of(target.new) or (0, 1)
    whole = int(value.to_integral_value(ROUND_HALF_EVEN))
    if not low <= whole <= high or not (target.is_rounded or whole == value):
        return None
    return whole if target.new.family is Family.INTEGER else bool(whole)


def to_decimal(value: Any, target: CastTarget) -> Decimal | None:
    """Return a number as a decimal of this precision and scale; None if it does not fit."""
    exact = Decimal(value)
    if not exact.is_finite():
        return None
    try:
        near = exact.quantize(Decimal((0, (1,), -target.new.scale)), context=_EXACT)
    except InvalidOperation:
        return None  # It has more digits than anybody writes.
    if abs(near) >= Decimal(10) ** (target.new.precision - target.new.scale):
        return None
    is_float = target.old.family is Family.FLOAT
    fits = target.is_rounded or near == exact or (is_float and nearest_float(near, target.old) == value)
    return near if fits else None


def to_float(value: Decimal, scale: int, target: CastTarget) -> float | None:
    """Return a decimal number as a binary one; None if that, rounded to the scale, is another decimal."""
    near = nearest_float(value, target.new)
    if target.is_rounded or isinf(near):
        return None if isinf(near) else near
    if near == 0 or value == 0:
        return near if near == value else None
    # Of two decimals as near, either will do: which one is written is a matter of taste.
    half = Decimal((0, (5,), -scale - 1))
    return near if abs(_EXACT.subtract(Decimal(near), value)) <= half else None


def nearest_float(value: Decimal, type_: Any) -> float:
    """Return the nearest number of a binary float, which may be infinite; of two, the even one."""
    near = float(value)
    if type_.bits == 64 or isinf(near):
        return near
    if Decimal(near) != value and np.float64(near).view(np.int64) % 2 == 0:
        # Rounded twice, a number may come to lie on the wrong side; an odd last digit keeps it from that.
        near = float(np.nextafter(near, np.inf if Decimal(near) < value else -np.inf))
    with np.errstate(over="ignore"):
        return float(np.dtype(f"f{type_.bits // 8}").type(near))


DAY, _INT64_MAX = 86400, 2**63 - 1
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 — of any clock
FIRST_SECOND, LAST_SECOND = -62135596800, 253402300799
"""Of the years 1 and 9999."""


def offsets_of_instants(instants: Any, zone: str) -> tuple[Any, Any]:
    """Return the UTC offset of a zone at each instant, in seconds, and for which instants it is known; instants are in seconds."""

    def ahead(clock: tzinfo, second: int) -> int | None:
        return _seconds((_EPOCH + timedelta(seconds=second)).replace(tzinfo=UTC).astimezone(clock))

    return _utc_offsets(instants, zone, ahead)


def offsets_of_local_times(readings: Any, zone: str) -> tuple[Any, Any]:
    """Return the UTC offset of a zone at each local time, in seconds, and for which it is known: where exactly one instant has that time."""

    def ahead(clock: tzinfo, second: int) -> int | None:
        local_time = (_EPOCH + timedelta(seconds=second)).replace(tzinfo=clock)
        first, second_time = _seconds(local_time), _seconds(local_time.replace(fold=1))
        is_reached = FIRST_SECOND <= second - first <= LAST_SECOND
        return first if first == second_time and is_reached else None

    return _utc_offsets(readings, zone, ahead)


def _seconds(timestamp: datetime) -> int:
    """Return the UTC offset of a timestamp with a zone, in whole seconds."""
    return round((timestamp.utcoffset() or timedelta()).total_seconds())


def _utc_offsets(seconds: Any, zone: str, ahead: Callable[[tzinfo, int], int | None]) -> tuple[Any, Any]:
    """Return the offset that `ahead` gives for each second, and for which it gives one; days without a change of clocks are asked once."""
    clock = find_zone(zone)
    if clock is None:
        return np.zeros(len(seconds), np.int64), np.zeros(len(seconds), bool)
    if isinstance(clock, timezone):
        fixed = round(clock.utcoffset(None).total_seconds())
        return np.full(len(seconds), fixed, np.int64), np.ones(len(seconds), bool)

    def within_reach(second: int) -> int | None:
        with suppress(OverflowError):
            return ahead(clock, second) if FIRST_SECOND <= second <= LAST_SECOND else None
        return None

    different, places = np.unique(np.floor_divide(seconds, DAY), return_inverse=True)
    starts = [within_reach(int(day) * DAY) for day in different]
    ends = [within_reach(int(day) * DAY + DAY - 1) for day in different]
    offsets = np.array([start or 0 for start in starts], np.int64)[places]
    pairs = zip(starts, ends, strict=True)
    known = np.array([start is not None and start == end for start, end in pairs], bool)[places]
    # On some days a clock is put forward or back, and each moment is asked for; no clock is put there and back in one.
    for place in np.flatnonzero(~known):
        offset = within_reach(int(seconds[place]))
        offsets[place], known[place] = offset or 0, offset is not None
    return offsets, known


def cast_temporal(values: Any, target: CastTarget) -> CastResult:
    """Cast dates, times, timestamps or durations to another temporal kind or unit."""
    old, new = target.old, target.new
    numbers, there = stored_numbers(values)
    numbers, fits = numbers.astype(np.int64), np.ones(len(numbers), bool)
    unit, new_unit = _unit_in_seconds(old, values.type), _unit_in_seconds(new, target.type)
    was_instant, is_instant = (getattr(type_, "timezone", None) is not None for type_ in (old, new))
    if was_instant and not is_instant:
        is_day = target.is_rounded and new.family is Family.DATE
        numbers, fits = _local_times(numbers, unit.denominator, target.zone, is_unique=not is_day)
    if new.family is Family.TIME and old.family is not Family.TIME:
        fits &= (numbers >= 0) & (numbers < DAY * unit.denominator)
    if is_instant and not was_instant:
        # A day goes to seconds first, of which a clock shows some.
        if unit == DAY:
            numbers, in_range = change_unit(numbers, unit, Fraction(1), is_cut=False)
            fits, unit = fits & in_range, Fraction(1)
        offsets, known = offsets_of_local_times(np.floor_divide(numbers, unit.denominator), target.zone)
        numbers, in_range = add_in_64_bits(numbers, -offsets * unit.denominator)
        fits &= known & in_range
    if new.family is Family.DATE and old.family is not Family.DATE:
        # A Date in milliseconds counts whole days too.
        numbers, in_range = change_unit(numbers, unit, Fraction(DAY), target.is_rounded)
        fits, unit = fits & in_range, Fraction(DAY)
    numbers, in_range = change_unit(numbers, unit, new_unit, target.is_rounded)
    fits &= in_range
    if target.type.bit_width == 32:
        fits &= (numbers >= -(2**31)) & (numbers < 2**31)
    return from_stored_numbers(numbers, there, fits, target.type)


def change_unit(numbers: Any, old: Fraction, new: Fraction, is_cut: bool) -> tuple[Any, Any]:
    """Return counts of one unit as counts of another, and which of them are exact and in 64 bits; units are in seconds."""
    # One old unit is up / down new ones.
    up, down = (old / new).as_integer_ratio()
    if down > 1:
        cut = np.floor_divide(numbers, down)
        is_whole = np.ones(len(numbers), bool) if is_cut else cut * down == numbers
        return cut, is_whole
    in_range = (up == 1) | ((numbers <= _INT64_MAX // up) & (numbers >= -(_INT64_MAX // up)))
    return np.where(in_range, numbers, 0) * up, in_range


def _unit_in_seconds(type_: Any, arrow_type: Any) -> Fraction:
    """Return the unit that the stored numbers of a type count, in seconds."""
    if type_.family is Family.DATE:
        return Fraction(1, 1000) if pa.types.is_date64(arrow_type) else Fraction(DAY)
    return Fraction(1, PER_SECOND[type_.unit])


def _local_times(numbers: Any, per_second: int, zone: str, *, is_unique: bool) -> tuple[Any, Any]:
    """Return the local times of instants in a zone, and which of them are known; with `is_unique` only those that no other instant has."""
    offsets, known = offsets_of_instants(np.floor_divide(numbers, per_second), zone)
    local_times, in_range = add_in_64_bits(numbers, offsets * per_second)
    known &= in_range
    if is_unique:
        back, is_one = offsets_of_local_times(np.floor_divide(local_times, per_second), zone)
        known &= is_one & (back == offsets)
    return local_times, known


def add_in_64_bits(numbers: Any, by: Any) -> tuple[Any, Any]:
    """Return the sums of integers, and which of them are within 64 bits."""
    with np.errstate(over="ignore"):
        sums = numbers + by
    return sums, (sums >= numbers) == (by >= 0)


_INTEGER_TEXT = re.compile(r"[+-]?[0-9]{1,40}")
_NUMBER_TEXT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")
_NON_FINITE = {"nan": "nan", "inf": "inf", "infinity": "inf"}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_DATE_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP_TEXT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?"
    r"(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)


def cast_texts_and_bytes(values: Any, target: CastTarget) -> CastResult:
    """Cast between texts and bytes of any layout; bytes have to be UTF-8, and of the length that the new type has."""
    length = getattr(target.new, "fixed_length", None)
    if target.new.family is Family.TEXT and target.old.family is Family.BYTES:
        if pa.types.is_fixed_size_binary(values.type):
            values = values.cast(pa.binary())
        return cast_each(values, target.type, bytes.decode)
    if length is not None and getattr(target.old, "fixed_length", None) != length:
        values = values.cast(pa.large_binary())
        others = pc.fill_null(pc.not_equal(pc.binary_length(values), length), fill_value=False)
        misfits = np.asarray(others.to_numpy(zero_copy_only=False))
        fitting = pc.if_else(others, pa.scalar(None, values.type), values)
        return CastResult(fitting.cast(target.type), misfits)
    return all_fit(values.cast(target.type))


def cast_to_text(values: Any, target: CastTarget) -> CastResult:
    """Write values as text: durations as counts of their unit, timestamps in ISO form."""
    family = target.old.family
    if family is Family.DURATION:
        return all_fit(values.cast(pa.int64()).cast(target.type))
    if family not in (Family.DATE, Family.TIMESTAMP):
        return all_fit(values.cast(target.type))
    numbers, there = stored_numbers(values)
    up, down = _unit_in_seconds(target.old, values.type).as_integer_ratio()
    seconds = np.floor_divide(numbers.astype(np.int64) * up, down)
    zone = getattr(target.old, "timezone", None)
    offsets, fits = offsets_of_instants(seconds, zone or "UTC")
    # The offset is written in minutes; a clock that was ahead by seconds too cannot be written.
    fits &= offsets % 60 == 0
    fits &= (seconds + offsets >= FIRST_SECOND) & (seconds + offsets <= LAST_SECOND)
    plain = pa.timestamp(values.type.unit) if family is Family.TIMESTAMP else values.type
    readings, in_range = add_in_64_bits(numbers, offsets * down)
    local_times = from_stored_numbers(readings, there, fits & in_range, plain)
    written = local_times.values.cast(pa.string())
    if zone is not None:
        suffixes = ["Z"] * len(offsets)
        if zone != "UTC":
            signed = [("-" if o < 0 else "+", abs(int(o)) // 60) for o in offsets]
            suffixes = [f"{sign}{minutes // 60:02}{minutes % 60:02}" for sign, minutes in signed]
        written = pc.binary_join_element_wise(written, pa.array(suffixes, pa.string()), "")
    return CastResult(written.cast(target.type), local_times.misfits)


def cast_from_text(values: Any, target: CastTarget) -> CastResult:
    """Read values from texts that mean exactly one. Raises ValueError for a family that no text is read as."""
    values = values.cast(pa.large_string())
    family, new = target.new.family, target.new
    if family is Family.TIMESTAMP:
        parsed = cast_each(values, pa.int64(), lambda text: _parse_timestamp(text, target))
        return CastResult(parsed.values.view(target.type), parsed.misfits)
    parsers: dict[Family, Callable[[str], Any]] = {
        Family.BOOLEAN: lambda text: _BOOLEANS.get(text.lower()),
        Family.DATE: lambda text: date.fromisoformat(text) if _DATE_TEXT.fullmatch(text) else None,
        Family.DECIMAL: lambda text: (
            to_decimal(Decimal(text), target) if _NUMBER_TEXT.fullmatch(text) else None
        ),
        Family.FLOAT: lambda text: _parse_float(text, target),
        Family.INTEGER: lambda text: (
            to_integer(Decimal(text), target) if _INTEGER_TEXT.fullmatch(text) else None
        ),
    }
    if family not in parsers:
        raise ValueError(f"no cast from a text to {new.type_text()}")
    return cast_each(values, target.type, parsers[family])


def _parse_float(text: str, target: CastTarget) -> float | None:
    """Return the float that a text means; None if there is none, or if it is another one to the digits of the text."""
    sign, bare = (text[0], text[1:]) if text.startswith(("+", "-")) else ("", text)
    if bare.lower() in _NON_FINITE:
        return float(sign + _NON_FINITE[bare.lower()])
    if not _NUMBER_TEXT.fullmatch(text):
        return None
    if target.new.bits == 64 and repr(float(text)) == text:
        return float(text)
    value = Decimal(text)
    number = to_float(value, -int(value.as_tuple().exponent), target)
    return -0.0 if number == 0 and sign == "-" else number


def _parse_timestamp(text: str, target: CastTarget) -> int | None:
    """Return the count of units since 1970 that a text means; None if it means none. Raises ValueError for an impossible date or time."""
    match = _TIMESTAMP_TEXT.fullmatch(text)
    if match is None:
        return None
    day, hour, minute, second, fraction, offset = match.groups()
    local_time = datetime.fromisoformat(f"{day}T{hour or '00'}:{minute or '00'}:{second or '00'}+00:00")
    seconds = _apply_offset(round(local_time.timestamp()), offset, target)
    if seconds is None:
        return None
    per_second = PER_SECOND[target.new.unit]
    nanoseconds = int((fraction or "").ljust(9, "0"))
    parts, rest = divmod(nanoseconds * per_second, 10**9)
    number = seconds * per_second + parts
    return number if (target.is_rounded or not rest) and -(2**63) <= number < 2**63 else None


def _apply_offset(seconds: int, offset: str | None, target: CastTarget) -> int | None:
    """Return the instant or local time, in seconds, of a text with a local time and perhaps an offset; None if its zone is not known."""
    if offset:
        digits = offset[1:].replace(":", "").ljust(4, "0")  # zeros for Z
        ahead_of_utc = int(digits[:2]) * 3600 + int(digits[2:]) * 60
        seconds += ahead_of_utc if offset[0] == "-" else -ahead_of_utc
    is_instant = target.new.timezone is not None
    if bool(offset) == is_instant:
        return seconds
    if not target.zone:
        return None
    offsets, sign = (offsets_of_local_times, -1) if is_instant else (offsets_of_instants, 1)
    ahead, known = offsets(np.array([seconds]), target.zone)
    return seconds + sign * int(ahead[0]) if known[0] else None
