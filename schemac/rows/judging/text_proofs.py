"""Reads columns of texts by Arrow's kernels, where a pattern proves that they mean the same to Arrow and to `scalars`.

Layer: rows.
Shape: for an Arrow type without children a `TextForm`: a pattern in RE2's dialect over the text of a value, the type that Arrow casts
       it to, and the limits that only show in the values. A `TextProof` reads cells by it.
Rule: a form says too little rather than too much. Whatever it does not match is read, or refused, one by one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.language.attributes.attribute import Role
from schemac.language.kinds.temporal import FRACTION_DIGITS
from schemac.rows.judging.arrays import (
    extension_name,
    integer_limits,
    is_scalar,
    is_string,
    nullable_type,
    role_of,
    storage_type,
    to_field,
)
from schemac.rows.judging.proofs import Proven, forbidden_nulls, numpy_mask, with_nulls_at
from schemac.rows.judging.scalars import TokenKind, clock_zone
from schemac.rows.judging.settings import FLOAT16_LARGEST, FLOAT32_LARGEST, FLOAT64_LARGEST
from schemac.rows.judging.values import LARGEST_BRAIN_FLOAT

INTEGER = "-?(?:0|[1-9][0-9]{0,17})"
NUMBER = r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,2})?"

# Centuries that every reader has, and those that also counts of nanoseconds have; other years are rare. The second of each
# pair are those whose first year is a leap year.
CENTURY = ("[12][0-9]", "(?:1[26]|2[048])")
CENTURY_OF_NANOSECONDS = ("(?:1[7-9]|2[01])", "20")
_MONTHS = "(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31"
CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9]FRACTION)?"
ZONE = "(?:Z|[+-](?:0[0-9]|1[0-7])(?::?[0-5][0-9])?)"


# The bits of a double that a float does not have, and the middle of what they can be.
_ONE, _BELOW_FLOAT, _MIDDLE = np.uint64(1), np.uint64(2**29 - 1), np.uint64(2**28)
SMALLEST_NORMAL_FLOAT = 2.0**-126
_SMALLEST_NORMAL = (np.float64(SMALLEST_NORMAL_FLOAT).view(np.uint64) << _ONE) - _ONE
"""Twice the bits of it, which leaves out the sign; less one, for zero is none of those below."""


@dataclass(frozen=True)
class TextForm:
    """The pattern of the texts of a type, and how Arrow reads them; `limits` are the least and the greatest value."""

    token: TokenKind
    pattern: str
    """Empty for any text."""
    parsed: pa.DataType
    """What Arrow makes of the texts."""
    limits: tuple[Any, Any] | None = None
    prefix: str = ""
    """What makes a timestamp of a text, which is what Arrow reads."""
    is_single: bool = False
    """Whether values are rounded to singles."""

    def read(self, texts: pa.Array, *, is_number: bool = False) -> Proven:
        """Give the values in the type that Arrow parses, singles as such; `is_number` where no text can be but a number of JSON, or is in quotes."""
        sound = np.zeros(len(texts), bool)
        if not self.pattern:
            return Proven(texts, sound)
        # Of a decimal that is too long Arrow makes another number, or crashes.
        if is_number and not pa.types.is_decimal(self.parsed):
            try:
                return self.within_limits(self._parsed(texts), sound)
            except pa.ArrowInvalid:
                # One of them is no value for Arrow.
                pass
        fits = self._fitting(texts)
        if self.pattern == INTEGER and pc.any(pc.invert(fits)).as_py():
            texts = pc.replace_substring_regex(texts, rf"^({INTEGER})\.0{{1,3}}$", r"\1")
            fits = self._fitting(texts)
        misfits = numpy_mask(pc.invert(fits))
        return self.within_limits(self._parsed(with_nulls_at(texts, misfits)), misfits)

    def within_limits(self, values: pa.Array, misfits: Any) -> Proven:
        """Return parsed values with null for those beyond the limits, which are in doubt as `misfits` are."""
        outside = np.zeros(len(values), bool)
        if self.limits is not None:
            lowest, highest = self.limits
            extremes = pc.min_max(values)
            least, greatest = extremes["min"].as_py(), extremes["max"].as_py()
            if least is not None and not (lowest <= least and greatest <= highest):
                outside = numpy_mask(pc.or_(pc.less(values, lowest), pc.greater(values, highest)))
        if self.is_single:
            # Doubles so near to the middle of two floats that their text may be rounded to the other one.
            bits = values.fill_null(0.0).to_numpy(zero_copy_only=False).view(np.uint64)
            # Without a sign, what is below a limit wraps beyond it: each comparison looks at both ends of a range.
            outside = outside | ((bits & _BELOW_FLOAT) - (_MIDDLE - _ONE) <= 2 * _ONE)
            outside |= (bits << _ONE) - _ONE < _SMALLEST_NORMAL
        values = with_nulls_at(values, outside)
        return Proven(values.cast(pa.float32()) if self.is_single else values, misfits | outside)

    def _fitting(self, texts: pa.Array) -> pa.Array:
        """Return which texts match the pattern from end to end, null for null."""
        return pc.match_substring_regex(texts, f"^(?:{self.pattern})$")

    def _parsed(self, texts: pa.Array) -> pa.Array:
        """Return the texts in the type `parsed`; where that has a zone, texts without one are in UTC. Raises pa.ArrowInvalid."""
        if self.prefix:
            # A time of day is a count since midnight: that of a timestamp on the first of all days.
            texts = pc.binary_join_element_wise(self.prefix, texts, "")
        if not pa.types.is_timestamp(self.parsed) or self.parsed.tz is None:
            return texts.cast(self.parsed)
        try:
            return texts.cast(self.parsed)
        except pa.ArrowInvalid:
            # Those without a zone are in UTC.
            has_zone = pc.match_substring_regex(texts, f"{ZONE}$")
            return pc.if_else(has_zone, texts, pc.binary_join_element_wise(texts, "Z", "")).cast(self.parsed)


@dataclass(frozen=True)
class TextProof:
    """Reads a column of texts for one field, such as cells of CSV."""

    member: pa.Field
    form: TextForm
    nulls: tuple[str, ...]
    """Texts that are no value."""

    @classmethod
    def of(cls, member: pa.Field, null_texts: Iterable[str] = ()) -> "TextProof | None":
        """Compile; None for types that only `scalars` reads."""
        form = text_form(member) if is_scalar(member) else None
        if form is None:
            return None
        return cls(member, form, (*null_texts, *(("",) if form.pattern else ())))

    def __call__(self, texts: pa.Array) -> Proven:
        """Read texts."""
        texts = texts if pa.types.is_string(texts.type) else texts.cast(pa.string())
        if self.nulls:
            texts = with_nulls_at(texts, numpy_mask(pc.is_in(texts, pa.array(self.nulls))))
        return self.read(texts)

    def read(self, texts: pa.Array, *, is_number: bool = False) -> Proven:
        """Read texts that are values, or null."""
        return self._of_field(texts, self.form.read(texts, is_number=is_number))

    def of_doubles(self, values: pa.Array) -> Proven:
        """Read doubles as the texts that Python writes for them would be read."""
        return self._of_field(values, self.form.within_limits(values, np.zeros(len(values), bool)))

    def _of_field(self, source: pa.Array, proven: Proven) -> Proven:
        """Return values of a source in the nullable type of the field, where a null may be in doubt."""
        target, values = nullable_type(self.member), proven.values
        if role_of(self.member) is Role.BRAIN_FLOATS:
            values = to_field(values, self.member.with_type(storage_type(self.member.type)))
        values = values.view(target) if pa.types.is_duration(target) else values
        values = values if values.type.equals(target) else values.cast(target)
        return Proven(values, forbidden_nulls(self.member, source) | proven.doubtful)


def text_form(field: pa.Field) -> TextForm | None:
    """Return how texts of a field without parts are read; None for types that only `scalars` reads."""
    extension, data_type, is_ = extension_name(field), storage_type(field.type), pa.types
    if role_of(field) is Role.BRAIN_FLOATS:
        return _float_form(LARGEST_BRAIN_FLOAT)
    if extension is not None:
        return None
    if is_.is_integer(data_type):
        least, greatest = integer_limits(data_type)
        limits = None if data_type.equals(pa.int64()) else (least, min(greatest, 2**63 - 1))
        return TextForm(TokenKind.NUMBER, INTEGER, pa.int64(), limits)
    if is_.is_floating(data_type):
        if data_type.bit_width == 64:
            return TextForm(TokenKind.NUMBER, NUMBER, pa.float64(), (-FLOAT64_LARGEST, FLOAT64_LARGEST))
        return _float_form(FLOAT16_LARGEST if data_type.bit_width == 16 else FLOAT32_LARGEST)
    if is_.is_decimal(data_type):
        precision, scale = data_type.precision, data_type.scale
        if not 0 <= scale <= precision <= 38:
            return None
        whole = precision - scale
        digits = f"(?:0|[1-9][0-9]{{0,{whole - 1}}})" if whole else "0"
        places = rf"(?:\.[0-9]{{1,{scale}}})?" if scale else ""
        return TextForm(TokenKind.NUMBER, f"-?{digits}{places}", pa.decimal128(precision, scale))
    if is_.is_boolean(data_type):
        return TextForm(TokenKind.BOOLEAN, "(?:true|false)", pa.bool_())
    if is_.is_duration(data_type):
        return TextForm(TokenKind.NUMBER, INTEGER, pa.int64())
    if is_string(data_type):
        return TextForm(TokenKind.STRING, "", pa.string())
    return _time_form(field, data_type)


def _float_form(largest: float) -> TextForm:
    """Return how floats up to `largest` are spelled; they are rounded to singles."""
    return TextForm(TokenKind.NUMBER, NUMBER, pa.float64(), (-largest, largest), is_single=True)


def _day_pattern(century: tuple[str, str] = CENTURY) -> str:
    """Return a pattern of the days of some centuries, with February 29 in leap years only."""
    leap_year = f"{century[0]}(?:0[48]|[2468][048]|[13579][26])|{century[1]}00"
    return f"(?:{century[0]}[0-9]{{2}}-(?:{_MONTHS})|(?:{leap_year})-02-29)"


def _time_form(field: pa.Field, data_type: pa.DataType) -> TextForm | None:
    """Return how dates, times of day or timestamps are spelled; None for any other type."""
    is_ = pa.types
    if is_.is_date(data_type):
        return TextForm(TokenKind.STRING, _day_pattern(), pa.date32())
    if is_.is_time(data_type):
        pattern = _clock_pattern(data_type.unit)
        return TextForm(TokenKind.STRING, pattern, pa.timestamp(data_type.unit), prefix="1970-01-01T")
    if not is_.is_timestamp(data_type):
        return None
    unit = data_type.unit
    pattern = f"{_day_pattern(CENTURY_OF_NANOSECONDS if unit == 'ns' else CENTURY)}[T ]{_clock_pattern(unit)}"
    if data_type.tz is not None:
        # Without a zone it is the reading of a clock, which needs no more than this where the clock is in UTC.
        pattern += f"{ZONE}?" if clock_zone(field) == "UTC" else ZONE
    timestamp_type = pa.timestamp("ns" if unit == "ns" else "us", None if data_type.tz is None else "UTC")
    return TextForm(TokenKind.STRING, pattern, timestamp_type)


def _clock_pattern(unit: str) -> str:
    """Return a pattern of times of day, with at most as many digits after the point as the unit has."""
    digits = FRACTION_DIGITS[unit]
    return CLOCK.replace("FRACTION", rf"(?:\.[0-9]{{1,{digits}}})?" if digits else "")
