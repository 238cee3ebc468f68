"""The spelling that nearly all values of a type have, and how Arrow reads a column of values that are spelled so.

Layer: pipeline.
Shape: for an Arrow type without children a `Form`: a pattern in RE2's dialect over the text of a value, the type that Arrow's
       parser is asked for, the limits that only show in the values, and the type that Spark's column has.
Rule: a form says too little rather than too much. What it matches means the same to Arrow and to `scalars`; whatever it
      does not match is read, or refused, one by one.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.attributes.attribute import Role
from schemac.attributes.zones import is_utc
from schemac.kinds.units import FRACTION_DIGITS
from schemac.rows.judging.clocks import zone_of
from schemac.rows.judging.forms import FLOAT16_LARGEST, FLOAT32_LARGEST, LARGEST_BFLOAT16
from schemac.rows.judging.scalars import Token
from schemac.rows.judging.shapes import extension_name, integer_limits, role_of, storage_type
from schemac.rows.runs.plain_types import WIDER

INTEGER = "-?(?:0|[1-9][0-9]{0,17})"
WHOLE = rf"{INTEGER}(?:\.0{{1,3}})?"
"""Whole numbers as those write them who have doubles for integers that may be absent."""
NUMBER = r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,2})?"

# Centuries that every reader has, and those that also counts of nanoseconds have; other years are rare. The second of each
# pair are those whose first year is a leap year.
CENTURY = ("[12][0-9]", "(?:1[26]|2[048])")
CENTURY_OF_NANOSECONDS = ("(?:1[7-9]|2[01])", "20")
_MONTHS = "(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31"
CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9]FRACTION)?"
ZONE = "(?:Z|[+-](?:0[0-9]|1[0-7])(?::?[0-5][0-9])?)"


_WITH_POINT = pa.decimal128(21, 3)

# The bits of a double that a float does not have, and the middle of what they can be.
_BELOW_FLOAT, _MIDDLE = np.uint64(2**29 - 1), 2**28
SMALLEST_NORMAL_FLOAT = 2.0**-126


@dataclass(frozen=True)
class Form:
    """How values of one type are spelled and read; `limits` are the least and the greatest value, both allowed."""

    token: Token
    pattern: str
    parsed: pa.DataType
    spark: pa.DataType
    limits: tuple[Any, Any] | None = None
    prefix: str = ""
    """What makes a timestamp of a text, which is what Arrow reads."""

    def read(self, values: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """Give the column for Spark, and which values are outside the limits; None if none is."""
        if self.pattern == WHOLE:
            values = values.cast(pa.int64())
        outside = self._outside(values) if self.limits is not None else None
        if pa.types.is_float32(self.spark):
            outside = either(outside, _rounded_in_doubt(values))
        if outside is not None:
            values = pc.if_else(outside, pa.scalar(None, values.type), values)
        return self._converted(values), outside

    @property
    def with_points(self) -> "Form":
        """The same where integers may have a point and zeros behind it; Arrow takes twice as long for these."""
        return replace(self, pattern=WHOLE, parsed=_WITH_POINT) if self.pattern == INTEGER else self

    def _outside(self, values: pa.Array) -> pa.Array | None:
        assert self.limits is not None
        lowest, highest = self.limits
        found = pc.min_max(values)
        least, greatest = found["min"].as_py(), found["max"].as_py()
        if least is None or (lowest <= least and greatest <= highest):
            return None
        inside = pc.and_(pc.greater_equal(values, lowest), pc.less_equal(values, highest))
        return pc.fill_null(pc.invert(inside), False)

    def _converted(self, values: pa.Array) -> pa.Array:
        if values.type.equals(self.spark):
            return values
        if not pa.types.is_string(values.type):
            return values.cast(self.spark)
        if self.prefix:
            # A time of day is a count since midnight: that of a timestamp on the first of all days.
            full = pc.binary_join_element_wise(self.prefix, values, "")
            return full.cast(self.parsed_text).cast(self.spark)
        if pa.types.is_date(self.spark):
            return values.cast(self.spark)
        return _instants(values, self.parsed_text).cast(self.spark)

    parsed_text: pa.DataType | None = None
    """The type that a text becomes on its way."""


def either(a: pa.Array | None, b: pa.Array | None) -> pa.Array | None:
    """Join two masks, of which None is false everywhere."""
    return b if a is None else a if b is None else pc.or_(a, b)


def _rounded_in_doubt(values: pa.Array) -> pa.Array | None:
    """Which doubles are so near to the middle of two floats that their text may be rounded to the other one."""
    doubles = values.fill_null(0.0).to_numpy(zero_copy_only=False)
    below = doubles.view(np.uint64) & _BELOW_FLOAT
    is_small = (np.abs(doubles) < SMALLEST_NORMAL_FLOAT) & (doubles != 0)
    found = (np.abs(below.astype(np.int64) - _MIDDLE) <= 1) | is_small
    return pa.array(found) if found.any() else None


def _instants(values: pa.Array, data_type: pa.DataType) -> pa.Array:
    """Cast texts of which some have a zone: the others are in UTC."""
    if data_type.tz is None:
        return values.cast(data_type)
    try:
        return values.cast(data_type)
    except pa.ArrowInvalid:
        has_zone = pc.match_substring_regex(values, f"{ZONE}$")
        with_zone = pc.if_else(has_zone, values, pc.binary_join_element_wise(values, "Z", ""))
        return with_zone.cast(data_type)


def form_of(field: pa.Field) -> Form | None:
    """How a field without parts is spelled and read; None for types that only `scalars` reads."""
    extension, data_type, is_ = extension_name(field), storage_type(field.type), pa.types
    if role_of(field) is Role.BRAIN_FLOATS:
        return _float(LARGEST_BFLOAT16)
    if extension is not None:
        return None
    if is_.is_integer(data_type):
        return _integer(data_type)
    if is_.is_floating(data_type):
        if data_type.bit_width == 64:
            return Form(Token.NUMBER, NUMBER, pa.float64(), pa.float64())
        return _float(FLOAT16_LARGEST if data_type.bit_width == 16 else FLOAT32_LARGEST)
    if is_.is_decimal(data_type):
        return _decimal(data_type)
    if is_.is_boolean(data_type):
        return Form(Token.BOOLEAN, "(?:true|false)", pa.bool_(), pa.bool_())
    if is_.is_duration(data_type):
        return Form(Token.NUMBER, INTEGER, pa.int64(), pa.int64())
    if is_.is_string(data_type) or is_.is_large_string(data_type) or is_.is_string_view(data_type):
        return Form(Token.STRING, "", pa.string(), pa.string())
    return _time(field, data_type)


def _float(largest: float) -> Form:
    return Form(Token.NUMBER, NUMBER, pa.float64(), pa.float32(), (-largest, largest))


def _integer(data_type: pa.DataType) -> Form:
    """Read what 64 bits with a sign hold; the rest is read one by one."""
    least, greatest = integer_limits(data_type)
    held = WIDER.get(data_type, data_type)
    limits = None if data_type.equals(pa.int64()) else (least, min(greatest, 2**63 - 1))
    return Form(Token.NUMBER, INTEGER, pa.int64(), held, limits)


def _decimal(data_type: pa.DataType) -> Form | None:
    precision, scale = data_type.precision, data_type.scale
    if not 0 <= scale <= precision <= 38:
        return None
    whole = precision - scale
    digits = f"(?:0|[1-9][0-9]{{0,{whole - 1}}})" if whole else "0"
    places = rf"(?:\.[0-9]{{1,{scale}}})?" if scale else ""
    held = pa.decimal128(precision, scale)
    return Form(Token.NUMBER, f"-?{digits}{places}", held, held)


def _day(century: tuple[str, str] = CENTURY) -> str:
    leap_year = f"{century[0]}(?:0[48]|[2468][048]|[13579][26])|{century[1]}00"
    return f"(?:{century[0]}[0-9]{{2}}-(?:{_MONTHS})|(?:{leap_year})-02-29)"


def _time(field: pa.Field, data_type: pa.DataType) -> Form | None:
    is_ = pa.types
    if is_.is_date(data_type):
        return Form(Token.STRING, _day(), pa.string(), pa.date32())
    if is_.is_time(data_type):
        pattern = _clock(data_type.unit)
        count = pa.timestamp(data_type.unit)
        return Form(Token.STRING, pattern, pa.string(), pa.int64(), prefix="1970-01-01T", parsed_text=count)
    if not is_.is_timestamp(data_type):
        return None
    unit = data_type.unit
    pattern = f"{_day(CENTURY_OF_NANOSECONDS if unit == 'ns' else CENTURY)}[T ]{_clock(unit)}"
    if data_type.tz is not None:
        # Without a zone it is the reading of a clock, which needs no more than this where the clock is in UTC.
        pattern += f"{ZONE}?" if is_utc(zone_of(field) or data_type.tz) else ZONE
    held = pa.timestamp("ns" if unit == "ns" else "us", None if data_type.tz is None else "UTC")
    return Form(Token.STRING, pattern, pa.string(), pa.int64() if unit == "ns" else held, parsed_text=held)


def _clock(unit: str) -> str:
    digits = FRACTION_DIGITS[unit]
    return CLOCK.replace("FRACTION", rf"(?:\.[0-9]{{1,{digits}}})?" if digits else "")
