"""Values for people.

Layer: engines.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from schemac.engines.lance.tables.casts.cast_target import numbers_of
from schemac.engines.lance.tables.casts.clocks import FIRST_SECOND, LAST_SECOND
from schemac.kinds.units import ARROW_PER_SECOND

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
        text = f"a list of {len(value)} item{'s' if len(value) != 1 else ''}"
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
