"""Default values of fields.

Layer: engines.
Shape: values are JSON, as metadata has them.
Source: the Iceberg table specification, "Default values" and "Appendix D: JSON single-value serialization".
"""

import re
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any
from uuid import UUID

from schemac.engines.iceberg.types import Decimal, Fixed, IcebergType

_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")
_FRACTION = re.compile(r"\.([0-9]+)")


def default_error(type_: IcebergType, value: Any) -> str:
    """Return what is wrong with a default value of a type; empty if nothing is."""
    rule = _default_rule(type_)
    if rule is None:
        return f"Iceberg has no default values for {type_.word}"
    example, fits = rule
    return "" if fits(value) else f"it is not a valid {type_.word}; write it as {example}"


def _default_rule(type_: IcebergType) -> tuple[str, Callable[[Any], bool]] | None:
    """Return an example, and what tells whether a value is one."""
    if isinstance(type_, Decimal):
        zeros = f".{'0' * type_.scale}" if type_.scale else ""
        return f'a text such as "1{zeros}"', lambda value: _is_decimal(value, type_)
    if isinstance(type_, Fixed):
        return f"{2 * type_.length} hexadecimal digits", lambda value: _is_hex(value, type_.length)
    return _PLAIN.get(type_.word)


def _is_whole(bits: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_hex(value: Any, length: int | None = None) -> bool:
    is_hex = isinstance(value, str) and _HEX.fullmatch(value) is not None
    return is_hex and (length is None or len(value) == 2 * length)


def _is_decimal(value: Any, type_: Decimal) -> bool:
    match = re.fullmatch(r"-?([0-9]+)(?:\.([0-9]+))?", value) if isinstance(value, str) else None
    if match is None or len(match[2] or "") != type_.scale:
        return False
    return len((match[1] + (match[2] or "")).lstrip("0")) <= type_.precision


def _is_uuid(value: Any) -> bool:
    try:
        return isinstance(value, str) and str(UUID(value)) == value.lower()
    except ValueError:
        return False


def _is_temporal(
    read: Callable[[str], Any], digits: int, *, is_instant: bool = False
) -> Callable[[Any], bool]:
    """Whether a text is a moment in ISO form; with an offset, of UTC, only where it is an instant."""

    def fits(value: Any) -> bool:
        if not isinstance(value, str) or value.endswith("Z"):
            return False
        fraction = _FRACTION.search(value)
        if fraction is not None and len(fraction[1]) > digits:
            return False
        # Python reads microseconds at most.
        plain = value.replace(fraction[0], "") if fraction is not None else value
        try:
            read(plain)
        except ValueError:
            return False
        return value.endswith("+00:00") if is_instant else "+" not in plain and plain.count("-") in (0, 2)

    return fits


_PLAIN: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "int": ("a whole number of 32 bits", _is_whole(32)),
    "long": ("a whole number of 64 bits", _is_whole(64)),
    "float": ("a number", _is_number),
    "double": ("a number", _is_number),
    "string": ("a text", lambda value: isinstance(value, str)),
    "binary": ("hexadecimal digits, two a byte", _is_hex),
    "uuid": ('"f79c3e09-677c-4bbd-a479-3f349cb785e7"', _is_uuid),
    "date": ('"2017-11-16"', _is_temporal(date.fromisoformat, 0)),
    "time": ('"22:31:08.123456"', _is_temporal(time.fromisoformat, 6)),
    "timestamp": ('"2017-11-16T22:31:08.123456"', _is_temporal(datetime.fromisoformat, 6)),
    "timestamp_ns": ('"2017-11-16T22:31:08.123456789"', _is_temporal(datetime.fromisoformat, 9)),
    "timestamptz": (
        '"2017-11-16T22:31:08.123456+00:00"',
        _is_temporal(datetime.fromisoformat, 6, is_instant=True),
    ),
    "timestamptz_ns": (
        '"2017-11-16T22:31:08.123456789+00:00"',
        _is_temporal(datetime.fromisoformat, 9, is_instant=True),
    ),
}
