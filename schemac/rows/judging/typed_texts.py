"""Values that came with a type of Arrow, and the texts that Spark shows for them.

Layer: rows.
Shape: `raw_values` gives what Python calculates with: counts for dates, times, timestamps and durations, in the unit of the type; `Decimal`;
       bytes; lists; dicts for structs; lists of pairs for maps. `cast_text` writes one of them as Spark's `cast(… as string)` does,
       `json_text` as its `to_json` does.
Units: Spark counts timestamps in microseconds; those in nanoseconds and times of day travel as counts, and are shown as ISO 8601 has them.
"""

import base64
import math
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from schemac.kinds.units import ARROW_PER_SECOND, FRACTION_DIGITS
from schemac.rows.judging.tokens import double_text, quoted

DAY = 86_400
_SINGLE = struct.Struct("<f")
_DIGITS_OF_SINGLE = 9


def raw_values(array: pa.Array) -> list[Any]:
    """Return the values of an array that is laid out by `layouts`."""
    type_, is_ = array.type, pa.types
    if is_.is_struct(type_):
        columns = [raw_values(column) for column in array.flatten()]
        names = [member.name for member in type_]
        rows = zip(*columns, strict=True) if columns else (() for _ in range(len(array)))
        pairs = zip(array.is_valid().to_pylist(), rows, strict=True)
        return [dict(zip(names, row, strict=True)) if there else None for there, row in pairs]
    if is_.is_map(type_):
        return _cut(array, list(zip(raw_values(array.keys), raw_values(array.items), strict=True)))
    if is_.is_fixed_size_list(type_):
        return _of_vectors(array)
    if is_.is_list(type_) or is_.is_large_list(type_):
        return _cut(array, raw_values(array.values))
    if is_.is_date32(type_) or is_.is_time32(type_):
        return array.view(pa.int32()).to_pylist()  # type: ignore[no-any-return]  # pyarrow has no types
    if is_.is_date64(type_):
        return [None if v is None else v // (DAY * 1000) for v in array.view(pa.int64()).to_pylist()]
    if is_.is_temporal(type_):
        return array.view(pa.int64()).to_pylist()  # type: ignore[no-any-return]  # likewise
    return array.to_pylist()  # type: ignore[no-any-return]  # likewise


def _cut(array: pa.Array, items: list[Any]) -> list[Any]:
    offsets = array.offsets.to_pylist()
    there = array.is_valid().to_pylist()
    return [items[offsets[i] : offsets[i + 1]] if valid else None for i, valid in enumerate(there)]


def _of_vectors(array: pa.Array) -> list[Any]:
    size, items, at = array.type.list_size, raw_values(array.flatten()), 0
    texts: list[Any] = []
    for valid in array.is_valid().to_pylist():
        # What lies below null is left out by `flatten`.
        texts.append(items[at : at + size] if valid else None)
        at += size if valid else 0
    return texts


def cast_text(value: Any, type_: pa.DataType) -> str:
    """Write a value of a type without parts; an instant does not show that it is one."""
    is_ = pa.types
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_.is_date(type_):
        return day_text(value)
    if is_.is_time(type_):
        return count_text(value, type_)
    if is_.is_timestamp(type_):
        return count_text(value, type_) if type_.unit == "ns" else clock_text(value, type_.unit)
    if isinstance(value, float):
        return float_text(value, type_)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(value)


def float_text(value: float, type_: pa.DataType) -> str:
    """Write a float as Java does: the shortest digits that mean it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return double_text(value if type_.bit_width == 64 else _with_digits_of_single(value))


def _with_digits_of_single(value: float) -> float:
    """Return the double that is written with the digits of a single."""
    for digits in range(1, _DIGITS_OF_SINGLE):
        near = float(f"{value:.{digits}g}")
        try:
            if _SINGLE.unpack(_SINGLE.pack(near))[0] == value:
                return near
        except OverflowError:
            continue
    return float(f"{value:.{_DIGITS_OF_SINGLE}g}")


def day_text(days: int) -> str:
    """Write a day, also one that Python's calendar does not have."""
    year, month, day = _civil(days)
    sign = "+" if year > 9999 else "-" if year < 0 else ""
    return f"{sign}{abs(year):04}-{month:02}-{day:02}"


def _civil(days: int) -> tuple[int, int, int]:
    """Return year, month and day of the proleptic Gregorian calendar, counted from 1970-01-01."""
    # Eras of 400 years that begin in March, so that the day of the leap year is the last one.
    era, of_era = divmod(days + 719_468, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def clock_text(count: int, unit: str, divider: str = " ") -> str:
    """Write a timestamp with as many digits of the second as it needs."""
    per = ARROW_PER_SECOND[unit]
    days, clock = divmod(count, DAY * per)
    seconds, fraction = divmod(clock, per)
    below = f".{fraction:0{FRACTION_DIGITS[unit]}}".rstrip("0") if fraction else ""
    return f"{day_text(days)}{divider}{_of_day(seconds)}{below}"


def count_text(count: int, type_: pa.DataType) -> str:
    """Write a timestamp or a time of day with all digits of its unit."""
    per, digits = ARROW_PER_SECOND[type_.unit], FRACTION_DIGITS[type_.unit]
    seconds, fraction = divmod(count, per)
    below = f".{fraction:0{digits}}" if digits else ""
    days, clock = divmod(seconds, DAY)
    if pa.types.is_time(type_):
        return f"{_of_day(clock)}{below}"
    zone = "Z" if type_.tz is not None else ""
    return f"{day_text(days)}T{_of_day(clock)}{below}{zone}"


def _of_day(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def json_text(value: Any, type_: pa.DataType) -> str:
    """Write a value with its parts; members of structs that are null are left out."""
    is_ = pa.types
    if value is None:
        return "null"
    if isinstance(type_, pa.BaseExtensionType):
        return json_text(value, type_.storage_type)
    if is_.is_dictionary(type_):
        return json_text(value, type_.value_type)
    if is_.is_struct(type_):
        members = [(part.name, value[part.name], part.type) for part in type_]
        return json_object(
            [(label, member_value, part) for label, member_value, part in members if member_value is not None]
        )
    if is_.is_map(type_):
        keys = [(key_text(key, type_.key_type), item, type_.item_type) for key, item in value]
        return json_object(keys)
    if is_.is_nested(type_):
        return f"[{','.join(json_text(item, type_.value_type) for item in value)}]"
    return _json_scalar(value, type_)


def json_object(members: list[tuple[str, Any, pa.DataType]]) -> str:
    """Write an object of named values with their types."""
    return f"{{{','.join(f'{quoted(label)}:{json_text(value, type_)}' for label, value, type_ in members)}}}"


def key_text(key: Any, type_: pa.DataType) -> str:
    """Write the key of a map."""
    return base64.b64encode(key).decode() if isinstance(key, bytes) else cast_text(key, type_)


def _json_scalar(value: Any, type_: pa.DataType) -> str:
    is_ = pa.types
    if isinstance(value, bytes):
        return quoted(base64.b64encode(value).decode())
    if is_.is_timestamp(type_) and type_.unit != "ns":
        # Spark's writer has three digits of the second.
        millis = value * 1000 // ARROW_PER_SECOND[type_.unit]
        return quoted(count_text(millis, pa.timestamp("ms", type_.tz)))
    if is_.is_date(type_):
        return quoted(day_text(value))
    if is_.is_temporal(type_):
        return str(value)
    if isinstance(value, float):
        text = float_text(value, type_)
        return text if math.isfinite(value) else quoted(text)
    return quoted(value) if isinstance(value, str) else cast_text(value, type_)


Shown = Callable[[Any], str]
