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
from math import isinf
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.language.attributes.attribute import NUMBERS, TEMPORAL, Family
from schemac.language.attributes.builtin import find_zone
from schemac.language.kinds.answers import PER_SECOND
from schemac.language.logical.model import Castability
from schemac.versions.evolution.castability import castability


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
class CastResult:
    """The new values."""

    values: Any
    """As many as there were; null where there was null, and where nothing fits."""
    misfits: Any
    """A numpy array of booleans: which values do not fit."""


def fitting(values: Any) -> CastResult:
    """Where every value fits."""
    return CastResult(values, np.zeros(len(values), bool))


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


def array_of(numbers: Any, there: Any, fits: Any, type_: Any) -> CastResult:
    """Return the array whose stored numbers these are; null where nothing was or nothing fits."""
    good = there & fits
    stored = np.where(good, numbers, 0).astype(bool if pa.types.is_boolean(type_) else _dtype(type_))
    return CastResult(pa.array(stored, mask=~good).view(type_), there & ~fits)


def one_by_one(values: Any, type_: Any, convert: Callable[[Any], Any]) -> CastResult:
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
    new_values = pa.array(new, type_).take(coded.indices)
    misfits = pc.and_(new_values.is_null(), values.is_valid())
    return CastResult(new_values, np.asarray(misfits.to_numpy(zero_copy_only=False)))


def _dtype(type_: Any) -> Any:
    """How numpy has the numbers that a type stores; `to_pandas_dtype` needs pandas in older releases of pyarrow."""
    sort = "f" if pa.types.is_floating(type_) else "u" if pa.types.is_unsigned_integer(type_) else "i"
    return np.dtype(f"{sort}{type_.bit_width // 8}")


_BYTES = frozenset({Family.TEXT, Family.BYTES})
_NUMBERS = NUMBERS | {Family.BOOLEAN, Family.DECIMAL}


def cast(values: Any, target: CastTarget) -> CastResult:
    """Return the values in the new type. Raises ValueError between families that have no rule here."""
    old, new = target.old.family, target.new.family
    if old is Family.NULL:
        return fitting(pa.nulls(len(values), target.type))
    if values.type.equals(target.type) and target.old.kind == target.new.kind:
        return fitting(values)
    if target.old.parts() or target.new.parts():
        return fitting(values.cast(target.type))
    if old in _BYTES and new in _BYTES:
        return cast_bytes(values, target)
    if new is Family.TEXT:
        return write_out(values, target)
    if old is Family.TEXT:
        return read_text(values, target)
    if old in TEMPORAL and new in TEMPORAL:
        return cast_temporal(values, target)
    if old in _NUMBERS and new in _NUMBERS:
        return cast_numbers(values, target)
    raise ValueError(f"no cast from {target.old.type_text()} to {target.new.type_text()}")


EXACT = Context(prec=1600, rounding=ROUND_HALF_EVEN, Emax=10**6, Emin=-(10**6))
"""Room for all digits of a binary float, and for the texts that people write."""


def cast_numbers(values: Any, target: CastTarget) -> CastResult:
    """Cast between any two kinds of numbers; Bool counts as 0 and 1."""
    if Family.DECIMAL in (target.old.family, target.new.family):
        old, new = target.old, target.new
        if old.kind == new.kind and castability(old, new) <= Castability.LOSSLESS:
            return fitting(values.cast(target.type))
        if new.family is Family.DECIMAL:
            return one_by_one(values, target.type, lambda value: to_decimal(value, target))
        if new.family is Family.FLOAT:
            return one_by_one(values, target.type, lambda value: to_float(value, old.scale, target))
        low, high = _bounds(new) if new.family is Family.INTEGER else (0, 1)

        def nearest_integer(value: Decimal) -> int | bool | None:
            whole = int(value.to_integral_value(ROUND_HALF_EVEN))
            is_in_range = low <= whole <= high and (target.is_rounded or whole == value)
            return None if not is_in_range else whole if new.family is Family.INTEGER else bool(whole)

        return one_by_one(values, target.type, nearest_integer)
    numbers, there = numbers_of(values)
    if target.new.family is Family.BOOLEAN:
        return array_of(numbers, there, (numbers == 0) | (numbers == 1), target.type)
    with np.errstate(all="ignore"):
        convert = _to_float if target.new.family is Family.FLOAT else _to_integer
        made, fits = convert(numbers, _dtype(target.type), target.is_rounded)
    return array_of(made, there, fits, target.type)


def _to_integer(numbers: Any, type_: Any, is_rounded: bool) -> tuple[Any, Any]:
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
    made = numbers.astype(type_)
    if numbers.dtype.kind == "f":
        fits = ~np.isinf(made) | np.isinf(numbers)
        return made, fits if is_rounded else fits & ((made == numbers) | np.isnan(numbers))
    if is_rounded:
        return made, np.isfinite(made)
    bounds, wide = np.iinfo(numbers.dtype), made.astype(np.float64)
    fits = (wide >= float(bounds.min)) & (wide < float(int(bounds.max) + 1))
    return made, fits & (np.where(fits, wide, 0).astype(numbers.dtype) == numbers)


def to_decimal(value: Any, target: CastTarget) -> Decimal | None:
    """Return a number as a decimal of this precision and scale; None if it does not fit."""
    exact = Decimal(value)
    if not exact.is_finite():
        return None
    try:
        near = exact.quantize(Decimal((0, (1,), -target.new.scale)), context=EXACT)
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
    return near if abs(EXACT.subtract(Decimal(near), value)) <= half else None


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


DAY, _MOST = 86400, 2**63 - 1
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 — of any clock
FIRST_SECOND, LAST_SECOND = -62135596800, 253402300799
"""Of the years 1 and 9999."""


def offsets_at(instants: Any, zone: str) -> tuple[Any, Any]:
    """How far the clock is ahead of UTC at each instant, in seconds, and where that is known."""

    def ahead(clock: tzinfo, second: int) -> int | None:
        return _seconds((_EPOCH + timedelta(seconds=second)).replace(tzinfo=UTC).astimezone(clock))

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
    return round((timestamp.utcoffset() or timedelta()).total_seconds())


def _of_each(seconds: Any, zone: str, ahead: Callable[[tzinfo, int], int | None]) -> tuple[Any, Any]:
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
    """Between two temporal kinds."""
    old, new = target.old, target.new
    numbers, there = numbers_of(values)
    numbers, fits = numbers.astype(np.int64), np.ones(len(numbers), bool)
    span, new_span = _span(old, values.type), _span(new, target.type)
    was_instant, is_instant = (getattr(type_, "timezone", None) is not None for type_ in (old, new))
    if was_instant and not is_instant:
        is_day = target.is_rounded and new.family is Family.DATE
        numbers, fits = _readings(numbers, span[1], target.zone, is_unique=not is_day)
    if new.family is Family.TIME and old.family is not Family.TIME:
        fits &= (numbers >= 0) & (numbers < DAY * span[1])
    if is_instant and not was_instant:
        # A day goes to seconds first, of which a clock shows some.
        if span == (DAY, 1):
            numbers, in_range = rescaled(numbers, span, (1, 1), is_cut=False)
            fits, span = fits & in_range, (1, 1)
        offsets, known = offsets_of(np.floor_divide(numbers, span[1]), target.zone)
        numbers, in_range = moved(numbers, -offsets * span[1])
        fits &= known & in_range
    if new.family is Family.DATE and old.family is not Family.DATE:
        # A Date in milliseconds counts whole days too.
        numbers, in_range = rescaled(numbers, span, (DAY, 1), target.is_rounded)
        fits, span = fits & in_range, (DAY, 1)
    numbers, in_range = rescaled(numbers, span, new_span, target.is_rounded)
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
    in_range = (up == 1) | ((numbers <= _MOST // up) & (numbers >= -(_MOST // up)))
    return np.where(in_range, numbers, 0) * up, in_range


def _span(type_: Any, arrow_type: Any) -> tuple[int, int]:
    """Return what one of the stored numbers counts: a numerator and a denominator, in seconds."""
    if type_.family is Family.DATE:
        return (1, 1000) if pa.types.is_date64(arrow_type) else (DAY, 1)
    return (1, PER_SECOND[type_.unit])


def _readings(numbers: Any, per_second: int, zone: str, *, is_unique: bool) -> tuple[Any, Any]:
    """Return what the clock showed at these instants; where it has to be unique, only what it showed once."""
    offsets, known = offsets_at(np.floor_divide(numbers, per_second), zone)
    local_times, in_range = moved(numbers, offsets * per_second)
    known &= in_range
    if is_unique:
        back, is_one = offsets_of(np.floor_divide(local_times, per_second), zone)
        known &= is_one & (back == offsets)
    return local_times, known


def moved(numbers: Any, by: Any) -> tuple[Any, Any]:
    """Return the sums, and where they are within 64 bits."""
    with np.errstate(over="ignore"):
        sums = numbers + by
    return sums, (sums >= numbers) == (by >= 0)


_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")
_NO_NUMBERS = {"nan": "nan", "inf": "inf", "infinity": "inf"}
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?"
    r"(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)


def cast_bytes(values: Any, target: CastTarget) -> CastResult:
    """Between texts and bytes of any layout."""
    length = getattr(target.new, "fixed_length", None)
    if target.new.family is Family.TEXT and target.old.family is Family.BYTES:
        if pa.types.is_fixed_size_binary(values.type):
            values = values.cast(pa.binary())
        return one_by_one(values, target.type, bytes.decode)
    if length is not None and getattr(target.old, "fixed_length", None) != length:
        values = values.cast(pa.large_binary())
        others = pc.fill_null(pc.not_equal(pc.binary_length(values), length), fill_value=False)
        misfits = np.asarray(others.to_numpy(zero_copy_only=False))
        fitting_values = pc.if_else(others, pa.scalar(None, values.type), values)
        return CastResult(fitting_values.cast(target.type), misfits)
    return fitting(values.cast(target.type))


def write_out(values: Any, target: CastTarget) -> CastResult:
    """As text."""
    family = target.old.family
    if family is Family.DURATION:
        return fitting(values.cast(pa.int64()).cast(target.type))
    if family not in (Family.DATE, Family.TIMESTAMP):
        return fitting(values.cast(target.type))
    numbers, there = numbers_of(values)
    up, down = _span(target.old, values.type)
    seconds = np.floor_divide(numbers.astype(np.int64) * up, down)
    zone = getattr(target.old, "timezone", None)
    offsets, fits = offsets_at(seconds, zone or "UTC")
    # The offset is written in minutes; a clock that was ahead by seconds too cannot be written.
    fits &= offsets % 60 == 0
    fits &= (seconds + offsets >= FIRST_SECOND) & (seconds + offsets <= LAST_SECOND)
    plain = pa.timestamp(values.type.unit) if family is Family.TIMESTAMP else values.type
    readings, in_range = moved(numbers, offsets * down)
    local_times = array_of(readings, there, fits & in_range, plain)
    written = local_times.values.cast(pa.string())
    if zone is not None:
        suffixes = ["Z"] * len(offsets)
        if zone != "UTC":
            signed = [("-" if o < 0 else "+", abs(int(o)) // 60) for o in offsets]
            suffixes = [f"{sign}{minutes // 60:02}{minutes % 60:02}" for sign, minutes in signed]
        written = pc.binary_join_element_wise(written, pa.array(suffixes, pa.string()), "")
    return CastResult(written.cast(target.type), local_times.misfits)


def read_text(values: Any, target: CastTarget) -> CastResult:
    """Return the value of a text."""
    values = values.cast(pa.large_string())
    family, new = target.new.family, target.new
    if family is Family.TIMESTAMP:
        parsed = one_by_one(values, pa.int64(), lambda text: _timestamp_in(text, target))
        return CastResult(parsed.values.view(target.type), parsed.misfits)
    parsers: dict[Family, Callable[[str], Any]] = {
        Family.BOOLEAN: lambda text: _TRUTHS.get(text.lower()),
        Family.DATE: lambda text: date.fromisoformat(text) if _DATE.fullmatch(text) else None,
        Family.DECIMAL: lambda text: to_decimal(Decimal(text), target) if _NUMBER.fullmatch(text) else None,
        Family.FLOAT: lambda text: _float_in(text, target),
        Family.INTEGER: lambda text: _integer_in(text, new),
    }
    if family not in parsers:
        raise ValueError(f"no cast from a text to {new.type_text()}")
    return one_by_one(values, target.type, parsers[family])


def _bounds(type_: Any) -> tuple[int, int]:
    """Return the lowest and the highest value of an integer type."""
    bits = type_.bits - type_.is_signed
    return -(2**bits) if type_.is_signed else 0, 2**bits - 1


def _integer_in(text: str, type_: Any) -> int | None:
    low, high = _bounds(type_)
    number = int(text) if _WHOLE.fullmatch(text) else None
    return number if number is not None and low <= number <= high else None


def _float_in(text: str, target: CastTarget) -> float | None:
    sign, bare = (text[0], text[1:]) if text.startswith(("+", "-")) else ("", text)
    if bare.lower() in _NO_NUMBERS:
        return float(sign + _NO_NUMBERS[bare.lower()])
    if not _NUMBER.fullmatch(text):
        return None
    if target.new.bits == 64 and repr(float(text)) == text:
        return float(text)
    value = Decimal(text)
    number = to_float(value, -int(value.as_tuple().exponent), target)
    return -0.0 if number == 0 and sign == "-" else number


def _timestamp_in(text: str, target: CastTarget) -> int | None:
    """Return the number to be stored. Raises ValueError for a day or time that no calendar or clock has."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    day, hour, minute, second, fraction, offset = match.groups()
    local_time = datetime.fromisoformat(f"{day}T{hour or '00'}:{minute or '00'}:{second or '00'}+00:00")
    seconds = _in_zone(round(local_time.timestamp()), offset, target)
    if seconds is None:
        return None
    per_second = PER_SECOND[target.new.unit]
    nanoseconds = int((fraction or "").ljust(9, "0"))
    parts, rest = divmod(nanoseconds * per_second, 10**9)
    number = seconds * per_second + parts
    return number if (target.is_rounded or not rest) and -(2**63) <= number < 2**63 else None


def _in_zone(seconds: int, offset: str | None, target: CastTarget) -> int | None:
    """Return the instant or reading that is stored: a text with an offset is an instant, one without a reading."""
    if offset:
        digits = offset[1:].replace(":", "").ljust(4, "0")  # zeros for Z
        ahead_of_utc = int(digits[:2]) * 3600 + int(digits[2:]) * 60
        seconds += ahead_of_utc if offset[0] == "-" else -ahead_of_utc
    is_instant = target.new.timezone is not None
    if bool(offset) == is_instant:
        return seconds
    if not target.zone:
        return None
    offsets, sign = (offsets_of, -1) if is_instant else (offsets_at, 1)
    ahead, known = offsets(np.array([seconds]), target.zone)
    return seconds + sign * int(ahead[0]) if known[0] else None
