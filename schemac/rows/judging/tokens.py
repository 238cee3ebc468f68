"""Reads the text of a record of JSON, and writes its values again.

Layer: rows.
Shape: a text in; None, True, False, `Number`, str, list or dict out. A `Number` is the text of the token. Keys come in the order of the record.
Limits: 900 levels, numbers of 1,000 characters, keys of 50,000; a text beyond them is not a record. A key that occurs twice, and half of a pair
        of surrogates, are none either.
"""

import json
import re
from collections.abc import Iterable
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

BLANK = " \t"
"""What may stand before the brace of a record."""
MOST_LEVELS = 900
"""Less than Jackson takes, and what Python's own limit leaves."""
LONGEST_NUMBER, LONGEST_KEY = 1000, 50_000


class Number(str):
    """A number as it is in the record."""

    __slots__ = ()


class NotJsonError(ValueError):
    """The text is not one JSON value, or goes beyond a limit."""


def _refused(constant: str) -> Any:
    raise NotJsonError


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotJsonError
    return members


def _small_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if any(len(key) >= LONGEST_KEY for key, _ in pairs):
        raise NotJsonError
    return _object(pairs)


def _short_number(text: str) -> Number:
    if len(text) >= LONGEST_NUMBER:
        raise NotJsonError
    return Number(text)


_parse = json.JSONDecoder(
    parse_float=Number, parse_int=Number, parse_constant=_refused, object_pairs_hook=_object
).decode
_parse_long = json.JSONDecoder(
    parse_float=_short_number,
    parse_int=_short_number,
    parse_constant=_refused,
    object_pairs_hook=_small_object,
).decode
_ALONE = re.compile("[\ud800-\udfff]")


def parse(text: str) -> Any:
    """Return the one value of a text. Raises NotJsonError."""
    if text.count("[") + text.count("{") > MOST_LEVELS and levels(text) > MOST_LEVELS:
        raise NotJsonError
    try:
        value = (_parse if len(text) < LONGEST_NUMBER else _parse_long)(text)
    except NotJsonError:
        raise
    except RecursionError:
        raise NotJsonError from None
    except ValueError:
        raise NotJsonError from None
    if "\\u" in text and not _is_well_formed(value):
        raise NotJsonError
    return value


def levels(text: str) -> int:
    """How deep brackets are opened, in strings too: never less than there are levels."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*+"', "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _is_well_formed(value: Any) -> bool:
    """Whether no text in a value has half of a pair of surrogates. Not recursive: a record is nested deeper than Python calls."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
        elif isinstance(part, str) and _ALONE.search(part):
            return False
    return True


def double_text(value: float) -> str:
    """Write a double as Java does: its shortest digits, at least two, plain from 0.001 to below 10,000,000."""
    if value == 0:
        return repr(value)
    sign, digits_of, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, digits_of)).rstrip("0")
    power = len(digits_of) + exponent
    """The number is 0.DIGITS times ten to this power."""
    if len(digits) == 1:
        # Of two digits Java takes those that are closest, which matters for numbers as small as 4.9E-324.
        digits = f"{value:.1e}".lstrip("-").partition("e")[0].replace(".", "").rstrip("0")
        power = int(f"{value:.1e}".partition("e")[2]) + 1
    minus = "-" if sign else ""
    if -2 <= power <= 0:
        return f"{minus}0.{'0' * -power}{digits}"
    if 0 < power <= 7:
        padded = digits.ljust(power, "0")
        return f"{minus}{padded[:power]}.{padded[power:] or '0'}"
    return f"{minus}{digits[0]}.{digits[1:] or '0'}E{power - 1}"


_CONTROL = re.compile("[\x00-\x1f]")
_ESCAPES = {code: f"\\u{code:04X}" for code in range(32)} | {
    ord(character): "\\" + letter for character, letter in zip('"\\\b\t\n\f\r', '"\\btnfr', strict=True)
}


def quoted(text: str) -> str:
    """Write a string token."""
    if _CONTROL.search(text):
        return f'"{text.translate(_ESCAPES)}"'
    return encode_basestring(text)


class _Text(str):
    """A part of a JSON text."""

    __slots__ = ()


def written(value: Any) -> str:
    """Write a value without blanks, its numbers as they are in the record. Not recursive: a record is nested deeper than Python calls."""
    texts: list[str] = []
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if type(part) is _Text:
            texts.append(part)
        elif isinstance(part, list):
            waiting += _reversed(_Text("["), [(item,) for item in part], _Text("]"))
        elif isinstance(part, dict):
            members = [(_Text(f"{quoted(key)}:"), item) for key, item in part.items()]
            waiting += _reversed(_Text("{"), members, _Text("}"))
        else:
            texts.append(_scalar(part))
    return "".join(texts)


def _reversed(opened: _Text, members: Iterable[tuple[Any, ...]], closed: _Text) -> list[Any]:
    """Return the parts of a list or an object, the last one first."""
    tokens: list[Any] = [opened]
    for i, member in enumerate(members):
        tokens += (_Text(","), *member) if i else member
    tokens.append(closed)
    tokens.reverse()
    return tokens


def _scalar(value: Any) -> str:
    if type(value) is str:
        return quoted(value)
    if type(value) is Number:
        return str.__str__(value)
    if value is None:
        return "null"
    assert isinstance(value, bool)
    return "true" if value else "false"
