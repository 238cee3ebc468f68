"""The interface of a constraint, the values that constraints compare, and Arrow arrays in a form whose values compare exactly.

Layer: language.
Shape: a constraint is made of a type and of the value of an attribute. It finds the values of an Arrow array that break it, and
      compares itself with another constraint of its class: wider, narrower or neither. Comparable arrays have the validity of the
      original: 64-bit integers for integers, days, times and durations, 128-bit decimals, floats of 32 and 64 bits, plain strings and
      bytes.
      Values of a type, as constraints name them: an author writes a number, a text or a boolean; what is meant is an integer, a
      decimal, a float of the type, a text or a boolean. Days, times, timestamps and durations are counts of the type's own unit,
      timestamps since 1970 in UTC.
Rule: nothing goes through a float but floats. A value that is not valid for the type is refused, never rounded; only for a float the
      nearest one of its type is meant, as everywhere where a float is written in digits.
Source: Arrow's columnar format. Views, dictionaries, run-end encodings and small decimals lack kernels for some comparisons.
"""

import re
from abc import ABC, abstractmethod
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from enum import Enum, auto
from typing import Any, ClassVar, Self, TypeVar

from schemac.language.attributes.attribute import Attribute, Family
from schemac.language.kinds.temporal import DAY, PER_SECOND
from schemac.language.logical.model import LogicalType
from schemac.language.physical import pa
from schemac.text.source.catalogue import UNFIT_CONSTRAINT, Code
from schemac.text.source.phrases import Help, counted, with_article

EXACT = Context(prec=1000)
"""For numbers of at most a few hundred digits, which it never rounds."""
_LOW_WORDS = 18
"""Digits of a decimal whose unscaled value fits into 64 bits."""


def plain(values: Any) -> Any:
    """Return the values without what is only about their layout."""
    type_ = values.type
    if isinstance(type_, pa.BaseExtensionType):
        return plain(values.storage)
    if pa.types.is_dictionary(type_):
        return plain(values.dictionary_decode())
    is_ = pa.types
    if is_.is_string_view(type_) or is_.is_large_string(type_):
        return values.cast(pa.large_string())
    if is_.is_binary_view(type_) or is_.is_large_binary(type_):
        return values.cast(pa.large_binary())
    return values


def comparable_array(values: Any) -> Any:
    """Return the values in a type that Arrow compares: see the module."""
    values = plain(values)
    type_, is_ = values.type, pa.types
    if is_.is_date32(type_) or is_.is_time32(type_):
        return values.view(pa.int32()).cast(pa.int64())
    if is_.is_date64(type_):
        return compute().divide(values.view(pa.int64()), pa.scalar(86_400_000))
    if is_.is_timestamp(type_) or is_.is_time64(type_) or is_.is_duration(type_):
        return values.view(pa.int64())
    if is_.is_float16(type_):
        return values.cast(pa.float32())
    if is_.is_integer(type_) and not is_.is_uint64(type_):
        return values.cast(pa.int64())
    if is_.is_decimal(type_) and type_.scale > type_.precision:
        # pyarrow makes no such scalar; with more digits in all the values are the same.
        make = pa.decimal128 if type_.scale <= 38 else pa.decimal256
        return comparable_array(values.cast(make(type_.scale, type_.scale)))
    if is_.is_decimal(type_) and type_.bit_width != 128 and type_.precision <= 38:
        return comparable_array(values.cast(pa.decimal128(type_.precision, type_.scale)))
    if is_.is_decimal128(type_) and type_.scale < 0:
        # Arrow compares none with a negative scale, so what they are kept as stands for them.
        whole_type = pa.decimal128(type_.precision, 0)
        return pa.Array.from_buffers(whole_type, len(values), values.buffers(), offset=values.offset)
    return values


def comparable_value(value: Any, scale: int) -> Any:
    """Return a value in the form that `comparable_array` gives values of its type; `scale` is that of a decimal."""
    return value.scaleb(scale, EXACT) if scale < 0 and isinstance(value, Decimal) else value


def scalar_like(values: Any, value: Any, scale: int = 0) -> Any:
    """Return a value as a scalar of a comparable array's type."""
    return pa.scalar(comparable_value(value, scale), values.type)


def unscaled(values: Any) -> list[int | None]:
    """Return the whole numbers that decimals are kept as."""
    scale = values.type.scale
    return [None if value is None else whole(value, scale) for value in values.to_pylist()]


def unscaled_array(values: Any) -> Any:
    """Return the whole numbers that 128-bit decimals of up to 18 digits are kept as; None if they have more."""
    if values.type.precision > _LOW_WORDS:
        return None
    if not len(values):
        return pa.array([], pa.int64())
    import numpy as np

    words = np.frombuffer(values.buffers()[1], dtype="<i8")[::2]
    words_of_values = words[values.offset : values.offset + len(values)]
    return pa.array(words_of_values, mask=np.asarray(values.is_null()))


def compute() -> Any:
    """Return Arrow's functions, which are loaded when values are looked at and not before."""
    import pyarrow.compute

    return pyarrow.compute


def lists_of(lists: Any, items: Any, type_: Any = None) -> Any:
    """Return lists of other items, as many in each as there were."""
    ends = compute().cumulative_sum(
        compute().fill_null(compute().list_value_length(lists), 0).cast(pa.int64())
    )
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends]).cast(pa.int32())
    return pa.ListArray.from_arrays(offsets, items, type_, mask=mask_of(lists))


def compact(lists: Any) -> Any:
    """Return lists with nothing below null, for which `list_parent_indices` has as many numbers as `flatten` has items."""
    return lists_of(lists, lists.flatten()) if lists.null_count else lists


def entries_of(maps: Any) -> Any:
    """Return maps as lists of their entries, which is how Arrow keeps them."""
    entries = pa.StructArray.from_arrays([maps.keys, maps.items], ["key", "value"])
    buffers = maps.buffers()[:2]
    lists = pa.ListArray.from_buffers(
        pa.list_(entries.type), len(maps), buffers, offset=maps.offset, children=[entries]
    )
    return compact(lists)


def mask_of(array: Any) -> Any:
    """Return which values are null; None if none is."""
    return array.is_null() if array.null_count else None


def whole(value: Decimal, scale: int) -> int:
    """Return the whole number that a decimal of a scale is kept as."""
    return int(value.scaleb(scale, EXACT))


class Turn(Enum):
    """How a constraint changed."""

    SAME = auto()
    NARROWED = auto()
    """Some values are no longer allowed, and no others are."""
    WIDENED = auto()
    CHANGED = auto()
    """Some values are no longer allowed, others are for the first time; or nobody can tell."""


@dataclass(frozen=True)
class Constraint(ABC):
    """One constraint of the values at one place; null breaks none."""

    type: LogicalType
    attribute: ClassVar[Attribute[Any]]

    @classmethod
    @abstractmethod
    def read(cls, type_: LogicalType, authored: Any) -> Self:
        """Return the constraint that an attribute's value means for a type. Raises UnfitValueError."""

    @abstractmethod
    def broken(self, values: Any) -> Any:
        """Return which of the values break it: an array of booleans; those of null may be null."""

    @abstractmethod
    def turn(self, new: Self) -> Turn:
        """Return how a new constraint of this class differs."""

    @property
    @abstractmethod
    def text(self) -> str:
        """What every value has to be, as the end of a sentence: "at least 3"."""

    @property
    def rule(self) -> str:
        """The name of the rule that is broken: that of the attribute."""
        return self.attribute.name

    def violations(self, values: Any) -> Any:
        """Return a mask of the values that break it."""
        return compute().fill_null(self.broken(values), False)


def turn_of(narrowed: bool, widened: bool) -> Turn:
    """Return how a constraint changed, by whether it forbids what was allowed, and allows what was forbidden."""
    if narrowed:
        return Turn.CHANGED if widened else Turn.NARROWED
    return Turn.WIDENED if widened else Turn.SAME


Exact = TypeVar("Exact", int, Decimal)
Value = int | Decimal | float | str | bool
"""A value of a type. Of one type, all of them are of one class."""

_EPOCH = date(1970, 1, 1).toordinal()
_FRACTION = r"(?:\.(?P<fraction>[0-9]{1,18}))?"
_CLOCK = rf"(?P<hour>[0-9]{{2}}):(?P<minute>[0-9]{{2}}):(?P<second>[0-9]{{2}}){_FRACTION}"
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(_CLOCK)
_TIMESTAMP = re.compile(
    rf"(?P<date>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})[T ]{_CLOCK}(?P<zone>Z|[+-][0-9]{{2}}:[0-9]{{2}})?"
)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_MOST_DIGITS = 400


class UnfitValueError(Exception):
    """An authored value that is not valid for its type; `code` is that of the finding."""

    code: ClassVar[Code] = UNFIT_CONSTRAINT

    def __init__(self, message: str, help: str = "", *, at: int | None = None) -> None:
        super().__init__(message)
        self.message, self.help = message, help
        self.at = at
        """The item of a list that it is about."""


def read_value(type_: LogicalType, authored: Any) -> Value:
    """Return the value that an author means. Raises UnfitValueError."""
    match type_.family:
        case Family.INTEGER | Family.DURATION:
            return _parse_integer(type_, authored)
        case Family.DECIMAL:
            return _parse_decimal(type_, authored)
        case Family.FLOAT:
            return _parse_float(type_, authored)
        case Family.TIMESTAMP:
            return _parse_timestamp(type_, authored)
        case Family.TEXT:
            if isinstance(authored, str):
                return authored
            what = f"not a text, but {with_article(type_.type_text())} is one"
            help = Help.quote(help=f"write it in quotes: '{authored}'")
        case Family.BOOLEAN:
            if isinstance(authored, bool):
                return authored
            what, help = "neither true nor false", "write `true` or `false`"
        case Family.DATE:
            if isinstance(authored, str) and _DATE.fullmatch(authored):
                return _parse_day(authored)
            what, help = "not a date", "write a date as 2020-01-31"
        case Family.TIME:
            if isinstance(authored, str) and (match := _TIME.fullmatch(authored)):
                return _parse_clock(type_, match)
            what, help = "not a time of day", "write a time of day as '13:45:00'"
        case _:
            text = with_article(type_.type_text())
            raise UnfitValueError(f"no value of {text} can be written in a constraint")
    raise UnfitValueError(f"{_quoted(authored)} is {what}", help)


def step_of(type_: LogicalType) -> Decimal | None:
    """Return the distance of two neighbours, where a type has one."""
    if type_.family is Family.DECIMAL:
        return Decimal(1).scaleb(-_as_any(type_).scale)
    return None if type_.family is Family.FLOAT else Decimal(1)


def scale_of(type_: LogicalType) -> int:
    """Return the scale of a decimal; 0 for all others."""
    return int(_as_any(type_).scale) if type_.family is Family.DECIMAL else 0


def limits_of(type_: LogicalType) -> tuple[int | Decimal, int | Decimal] | None:
    """Return the least and the greatest value of a type; None if it has no numeric limits."""
    type_spec = _as_any(type_)
    if type_.family is Family.INTEGER:
        bits = type_spec.bits - type_spec.is_signed
        return (-(2**bits) if type_spec.is_signed else 0), 2**bits - 1
    if type_.family is Family.DECIMAL:
        largest = Decimal(10**type_spec.precision - 1).scaleb(-type_spec.scale, EXACT)
        return largest.copy_negate(), largest
    if type_.family in (Family.TIMESTAMP, Family.DURATION):
        return -(2**63), 2**63 - 1
    return None


def comparable(type_: LogicalType, value: Value) -> Any:
    """Return a value in a form that can be compared across the units and widths of a family."""
    if type_.family in (Family.TIME, Family.TIMESTAMP, Family.DURATION):
        return int(value) * (10**9 // PER_SECOND[_as_any(type_).unit])
    return value


def shown(type_: LogicalType, value: Any) -> str:
    """Return a value as an author would write it."""
    if type_.family is Family.DATE and isinstance(value, int):
        return _day_text(value)
    if type_.family is Family.TIME and isinstance(value, int):
        return _clock_text(value, PER_SECOND[_as_any(type_).unit])
    if type_.family is Family.TIMESTAMP and isinstance(value, int):
        per = PER_SECOND[_as_any(type_).unit]
        days, clock = divmod(value, DAY * per)
        zone = "" if _as_any(type_).timezone is None else "Z"
        return f"{_day_text(days)}T{_clock_text(clock, per)}{zone}"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _as_any(type_: LogicalType) -> Any:
    """Return a type with the properties that its family has; the type checker knows families by no class."""
    return type_


def _parse_number(type_: LogicalType, authored: Any) -> Decimal:
    """Return an authored value as an exact Decimal. Raises UnfitValueError for NaN, infinities and other texts."""
    what = with_article(type_.type_text())
    if isinstance(authored, bool) or not isinstance(authored, int | float | str):
        raise UnfitValueError(f"{_quoted(authored)} is not a number, but {what} is one", _number_help(type_))
    text = repr(authored) if isinstance(authored, float) else str(authored)
    if not _NUMBER.fullmatch(text) or len(text) > _MOST_DIGITS:
        is_word = text.lower().strip("+-.") in ("nan", "inf", "infinity")
        help = "leave it out: without a bound, every value is allowed" if is_word else _number_help(type_)
        raise UnfitValueError(f"{_quoted(authored)} is not a number, but {what} is one", help)
    return Decimal(text)


def _number_help(type_: LogicalType) -> str:
    """Return the help that shows how a number of the type is written."""
    has_places = type_.family is Family.FLOAT or scale_of(type_) > 0
    return f"write a number such as {'1.5' if has_places else '1'}"


def _check_limits(type_: LogicalType, value: Exact) -> Exact:
    """Return a value as it is. Raises UnfitValueError with the nearest limit if the type cannot have it."""
    limits = limits_of(type_)
    if limits is not None and not limits[0] <= value <= limits[1]:
        which, nearest = ("greatest", limits[1]) if value > limits[1] else ("least", limits[0])
        nearest_text = shown(type_, nearest) if type_.family is not Family.TIMESTAMP else ""
        help = f"the {which} {type_.type_text()} is {nearest_text}" if nearest_text else "use a coarser unit"
        raise UnfitValueError(f"{shown(type_, value)} is outside {type_.type_text()}", help)
    return value


def _parse_integer(type_: LogicalType, authored: Any) -> Value:
    """Return an authored value as an integer of the type. Raises UnfitValueError if it has a fraction."""
    number = _parse_number(type_, authored)
    whole = int(number.to_integral_value(context=EXACT))
    if whole != number:
        message = (
            f"{_quoted(authored)} is not a whole number, but {type_.type_text()} holds only whole numbers"
        )
        raise UnfitValueError(message, f"write {whole} or {whole + (1 if number > whole else -1)}")
    return _check_limits(type_, whole)


def _parse_decimal(type_: LogicalType, authored: Any) -> Value:
    """Return an authored value with the scale of the type. Raises UnfitValueError if it has more digits."""
    number, scale = _parse_number(type_, authored), _as_any(type_).scale
    rounded = number.quantize(Decimal(1).scaleb(-scale), context=EXACT)
    if rounded != number:
        digits = f"{counted(scale, 'digit')} after the point" if scale >= 0 else f"{-scale} zeros at its end"
        near = f"write '{rounded:f}'" if rounded else f"write '{Decimal(1).scaleb(-scale):f}'"
        digit = rounded or Decimal(1).scaleb(-scale)
        help = Help.rewrite(f"{near}, or a type with more digits", f"{digit:f}")
        message = f"{_quoted(authored)} is not a value of {type_.type_text()}, which has {digits}"
        raise UnfitValueError(message, help)
    return _check_limits(type_, rounded)


def _parse_float(type_: LogicalType, authored: Any) -> Value:
    """Return the float of the type that is nearest to an authored value. Raises UnfitValueError if that is infinite."""
    rounded: float = _as_any(type_).nearest(float(_parse_number(type_, authored)))
    if rounded in (float("inf"), float("-inf")):
        raise UnfitValueError(f"{_quoted(authored)} is outside {type_.type_text()}", "use a wider type")
    return rounded


def _parse_day(text: str) -> int:
    """Return the days of a date since 1970. Raises UnfitValueError for a day that the calendar does not have."""
    try:
        return date.fromisoformat(text).toordinal() - _EPOCH
    except ValueError as error:
        year, month = (int(part) for part in text.split("-")[:2])
        help: str = "write a day of the years 0001 to 9999, such as '2020-01-31'"
        if 1 <= year <= 9999 and 1 <= month <= 12:
            last = f"{text[:8]}{monthrange(year, month)[1]}"
            help = Help.rewrite(f"the last day of this month is '{last}'", last)
        raise UnfitValueError(f"there is no day '{text}' in the calendar", help) from error


def _parse_clock(type_: LogicalType, clock: re.Match[str]) -> int:
    """Return a time of day in units of the type since midnight. Raises UnfitValueError, also for more digits than the unit has."""
    hour, minute, second = (int(clock[name]) for name in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 59:
        help = "write a time of day from '00:00:00' to '23:59:59'"
        raise UnfitValueError(f"there is no time of day '{clock[0]}'", help)
    per = PER_SECOND[_as_any(type_).unit]
    fraction = Decimal(f"0.{clock['fraction'] or 0}") * per
    if fraction != int(fraction):
        message = f"'{clock[0]}' has more digits than {type_.type_text()} keeps"
        raise UnfitValueError(message, "leave digits out, or use a finer unit")
    return ((hour * 60 + minute) * 60 + second) * per + int(fraction)


def _parse_timestamp(type_: LogicalType, authored: Any) -> Value:
    """Return an authored timestamp as a count of the type's unit since 1970. Raises UnfitValueError."""
    is_instant = _as_any(type_).timezone is not None
    example = "2020-01-31T13:45:00" + ("Z" if is_instant else "")
    match = _TIMESTAMP.fullmatch(authored) if isinstance(authored, str) else None
    if match is None and isinstance(authored, str) and _DATE.fullmatch(authored):
        _parse_day(authored)
        start = Help.write_text(f"{authored}T00:00:00{'Z' if is_instant else ''}", mark="'", is_safe=False)
        raise UnfitValueError(f"'{authored}' is a date, but {type_.type_text()} has a time as well", start)
    if match is None:
        raise UnfitValueError(f"{_quoted(authored)} is not a timestamp", f"write a timestamp as '{example}'")
    if is_instant and match["zone"] is None:
        utc = f"write '{authored}Z' for UTC, or with another offset, such as '{authored}+02:00'"
        help = Help.rewrite(utc, f"{authored}Z")
        raise UnfitValueError(f"'{authored}' has no offset, but {type_.type_text()} is an instant", help)
    if not is_instant and match["zone"] is not None:
        reading = Help.write_text(authored.removesuffix(match["zone"]), mark="'", is_safe=False)
        raise UnfitValueError(f"'{authored}' has an offset, but {type_.type_text()} has no zone", reading)
    per = PER_SECOND[_as_any(type_).unit]
    count = _parse_day(match["date"]) * DAY * per + _parse_clock(type_, match)
    zone, seconds_ahead = match["zone"] or "Z", 0
    if zone != "Z":
        hours, minutes = int(zone[1:3]), int(zone[4:6])
        if hours > 14 or minutes > 59:
            raise UnfitValueError(f"'{zone}' is not an offset from UTC")
        seconds_ahead = (hours * 60 + minutes) * (60 if zone[0] == "+" else -60)
    return _check_limits(type_, count - seconds_ahead * per)


def _day_text(days: int) -> str:
    """Return a day since 1970 as a date, or as a count outside of the years 1 to 9999."""
    try:
        return date.fromordinal(days + _EPOCH).isoformat()
    except (ValueError, OverflowError):
        return f"day {days} since 1970-01-01"


def _clock_text(count: int, per: int) -> str:
    """Return a time of day from a count since midnight, `per` of which make a second; a fraction has the digits of the unit."""
    seconds, fraction = divmod(count, per)
    clock = (datetime(1970, 1, 1) + timedelta(seconds=seconds)).strftime("%H:%M:%S")  # noqa: DTZ001  a clock
    digits = len(str(per)) - 1
    return f"{clock}.{fraction:0{digits}}" if fraction else clock


def _quoted(authored: Any) -> str:
    """Return an authored value as messages show it: texts in single quotes, booleans in lower case."""
    if isinstance(authored, bool):
        return "true" if authored else "false"
    return f"'{authored}'" if isinstance(authored, str) else f"{authored}"
