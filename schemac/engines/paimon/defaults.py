"""Default values: texts that Paimon casts to the column's type.

Layer: engines.
Source: `DefaultValueUtils` and the string rules of `CastExecutors` in github.com/apache/paimon, each held against what
Paimon 0.9.0 makes of such texts. Where Paimon would keep less than the author wrote (a text that is cut, a number that
becomes null, an hour 25), the text is refused here.
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext

from schemac.engines.paimon.types import Atomic, PaimonType

_TRUTHS = frozenset({"t", "true", "y", "yes", "1", "f", "false", "n", "no", "0"})
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_INTEGER = re.compile(r"([+-]?[0-9]+)(\.[0-9]*)?")
_FLOAT = re.compile(r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_DATE = re.compile(r"([0-9]{1,4})-([0-9]{1,2})-([0-9]{1,2})( .*)?")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{1,2})(:([0-9]{1,2})(\.[0-9]{0,9})?)?")
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})( ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(\.[0-9]{0,9})?)?"
)


def default_error(type_: PaimonType, written: str) -> str | None:
    """Why Paimon cannot take a text as the default of a type; None if it can."""
    text = (
        written[1:-1] if len(written) > 1 and written.startswith("'") and written.endswith("'") else written
    )
    check = _CHECKS.get(type_.root) if isinstance(type_, Atomic) else None
    if check is None:
        return f"Paimon has no default values for {type_.type_text()}"
    assert isinstance(type_, Atomic)
    return check(type_, text)


def _says(type_: Atomic, is_right: bool, example: str) -> str | None:
    return None if is_right else f"it is not a valid {type_.type_text()}, such as {example}"


def _boolean(type_: Atomic, text: str) -> str | None:
    return _says(type_, text.lower() in _TRUTHS, "true")


def _integer(type_: Atomic, text: str) -> str | None:
    match = _INTEGER.fullmatch(text)
    if match is None:
        return _says(type_, False, "42")
    limit = 2 ** (_BITS[type_.root] - 1)
    return None if -limit <= int(match[1]) < limit else f"it is too large for a {type_.type_text()}"


def _float(type_: Atomic, text: str) -> str | None:
    return _says(type_, _FLOAT.fullmatch(text.strip()) is not None, "1.5")


def _decimal(type_: Atomic, text: str) -> str | None:
    if _DECIMAL.fullmatch(text) is None:
        return _says(type_, False, "1.5")
    precision, scale = type_.parameters
    with localcontext() as context:
        context.prec = precision
        try:
            Decimal(text).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        except InvalidOperation:
            return f"it is too large for a {type_.type_text()}"
    return None


def _text(type_: Atomic, text: str) -> str | None:
    (length,) = type_.parameters
    return None if len(text) <= length else f"it is longer than a {type_.type_text()}"


def _binary(type_: Atomic, text: str) -> str | None:
    (length,) = type_.parameters
    return None if len(text.encode()) <= length else f"it is longer than a {type_.type_text()}"


def _date(type_: Atomic, text: str) -> str | None:
    match = _DATE.fullmatch(text.strip())
    return _says(type_, match is not None and _is_timestamp(match.group(1, 2, 3)), "2026-01-31")


def _time(type_: Atomic, text: str) -> str | None:
    match = _TIME.fullmatch(text.strip())
    is_right = match is not None and int(match[1]) < 24 and int(match[2]) < 60 and int(match[4] or 0) < 60
    return _says(type_, is_right, "12:30:00")


def _timestamp(type_: Atomic, text: str) -> str | None:
    match = _TIMESTAMP.fullmatch(text)
    is_right = match is not None and _is_timestamp(match.group(1, 2, 3, 5, 6, 7))
    return _says(type_, is_right, "2026-01-31 12:30:00")


def _is_timestamp(parts: tuple[str | None, ...]) -> bool:
    numbers = [int(part) for part in parts if part is not None]
    try:
        date(*numbers) if len(numbers) == 3 else datetime(*numbers)  # type: ignore[arg-type]  # noqa: DTZ001
    except ValueError:
        return False
    return True


_CHECKS: dict[str, Callable[[Atomic, str], str | None]] = {
    "BOOLEAN": _boolean,
    **dict.fromkeys(_BITS, _integer),
    **dict.fromkeys(("FLOAT", "DOUBLE"), _float),
    "DECIMAL": _decimal,
    **dict.fromkeys(("CHAR", "VARCHAR"), _text),
    **dict.fromkeys(("BINARY", "VARBINARY"), _binary),
    "DATE": _date,
    "TIME": _time,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ"), _timestamp),
}
