"""The texts of values that come with an Arrow type, as Spark shows them.

Layer: rows.
Shape: values are those of `typed_values.raw_values`. `cast_text` writes one as Spark's `cast(… as string)` does, `json_text` as its
       `to_json` does.
Units: Spark counts timestamps in microseconds; those in nanoseconds and times of day travel as counts, and are shown as ISO 8601 has
      them.
"""

import base64
import math
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from schemac.language.kinds.temporal import ARROW_PER_SECOND, FRACTION_DIGITS
from schemac.rows.judging.tokens import double_text, json_string

DAY = 86_400
EPOCH = date(1970, 1, 1)
MILLIS_A_DAY = DAY * 1000


def cast_text(value: Any, type_: pa.DataType) -> str:
    """Write a value of a type without parts; an instant does not show that it is one."""
    is_ = pa.types
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_.is_date(type_):
        return clock_text(int(value * MILLIS_A_DAY), "ms") if isinstance(value, Fraction) else day_text(value)
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
    # Of a single numpy writes the digits that it has, and no more.
    return double_text(value if type_.bit_width == 64 else float(str(np.float32(value))))


def day_text(days: int) -> str:
    """Write a day, also one that Python's calendar does not have."""
    # The calendar repeats itself after 400 years.
    cycles, rest = divmod(days, 146_097)
    day = EPOCH + timedelta(rest)
    year = day.year + 400 * cycles
    sign = "+" if year > 9999 else "-" if year < 0 else ""
    return f"{sign}{abs(year):04}-{day.month:02}-{day.day:02}"


def clock_text(count: int, unit: str, divider: str = " ") -> str:
    """Write a timestamp with as many digits of the second as it needs."""
    per = ARROW_PER_SECOND[unit]
    days, clock = divmod(count, DAY * per)
    seconds, fraction = divmod(clock, per)
    below = f".{fraction:0{FRACTION_DIGITS[unit]}}".rstrip("0") if fraction else ""
    return f"{day_text(days)}{divider}{_time_text(seconds)}{below}"


def count_text(count: int, type_: pa.DataType) -> str:
    """Write a timestamp or a time of day with all digits of its unit."""
    per, digits = ARROW_PER_SECOND[type_.unit], FRACTION_DIGITS[type_.unit]
    seconds, fraction = divmod(count, per)
    below = f".{fraction:0{digits}}" if digits else ""
    days, clock = divmod(seconds, DAY)
    if pa.types.is_time(type_):
        return f"{_time_text(clock)}{below}"
    zone = "Z" if type_.tz is not None else ""
    return f"{day_text(days)}T{_time_text(clock)}{below}{zone}"


def _time_text(seconds: int) -> str:
    """Write seconds since midnight as `13:45:00`."""
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
        there = [part for part in type_ if value[part.name] is not None]
        return json_object([(part.name, value[part.name], part.type) for part in there])
    if is_.is_map(type_):
        keys = [(key_text(key, type_.key_type), item, type_.item_type) for key, item in value]
        return json_object(keys)
    if is_.is_nested(type_):
        return f"[{','.join(json_text(item, type_.value_type) for item in value)}]"
    if isinstance(value, bytes):
        return json_string(base64.b64encode(value).decode())
    if is_.is_timestamp(type_) and type_.unit != "ns":
        # Spark's writer has three digits of the second.
        millis = value * 1000 // ARROW_PER_SECOND[type_.unit]
        return json_string(count_text(millis, pa.timestamp("ms", type_.tz)))
    if is_.is_date(type_):
        return json_string(cast_text(value, type_))
    if is_.is_temporal(type_):
        return str(value)
    if isinstance(value, float):
        text = float_text(value, type_)
        return text if math.isfinite(value) else json_string(text)
    return json_string(value) if isinstance(value, str) else cast_text(value, type_)


def json_object(members: list[tuple[str, Any, pa.DataType]]) -> str:
    """Write an object of named values with their types."""
    return f"{{{','.join(f'{json_string(label)}:{json_text(value, type_)}' for label, value, type_ in members)}}}"


def key_text(key: Any, type_: pa.DataType) -> str:
    """Write the key of a map."""
    return base64.b64encode(key).decode() if isinstance(key, bytes) else cast_text(key, type_)
