"""Reads JSON as Spark's variant keeps it, and writes it as Spark's `to_json` does.

Layer: judging.
Shape: a text in; None, True, False, `Number`, str, list or dict out. A `Number` is the text of the token. Keys come in the
       order of the record; Spark has them in the order of their UTF-16 code units (`in_order`).
Source: Spark's VariantBuilder over Jackson. A number is a long, else a decimal of up to 38 digits without zeros at its end,
        else a double, which is written as Java does. A surrogate stands with its other half. Jackson takes 1000 levels,
        numbers of 1000 characters, keys of 50,000.
"""

import json
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

from schemac.judging.forms import LONG_DIGITS

MOST_LEVELS = 900
"""Less than Jackson takes, and what Python's own limit leaves."""
LONGEST_NUMBER, LONGEST_KEY = 1000, 50_000
MOST_DIGITS = 38
LOWEST, HIGHEST = -(2**63), 2**63 - 1


class Number(str):
    """A number as it stands in the record."""

    __slots__ = ()


class NotJsonError(ValueError):
    """The text is not one JSON value. `is_certain` is false where that depends on limits of parsers."""

    def __init__(self, *, is_certain: bool = True) -> None:
        super().__init__()
        self.is_certain = is_certain


def _refused(constant: str) -> Any:
    raise NotJsonError


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotJsonError
    return found


def _small_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if any(len(key) >= LONGEST_KEY for key, _ in pairs):
        raise NotJsonError(is_certain=False)
    return _object(pairs)


def _short_number(text: str) -> Number:
    if len(text) >= LONGEST_NUMBER:
        raise NotJsonError(is_certain=False)
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
    if text.count("[") + text.count("{") > MOST_LEVELS and _levels(text) > MOST_LEVELS:
        raise NotJsonError(is_certain=False)
    try:
        value = (_parse if len(text) < LONGEST_NUMBER else _parse_long)(text)
    except NotJsonError:
        raise
    except RecursionError:
        raise NotJsonError(is_certain=False) from None
    except ValueError:
        raise NotJsonError from None
    if "\\u" in text and not _is_well_formed(value):
        raise NotJsonError
    return value


def _levels(text: str) -> int:
    """How deep brackets are opened, in strings too: never less than there are levels."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*+"', "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _is_well_formed(value: Any) -> bool:
    if type(value) is str:
        return _ALONE.search(value) is None
    if isinstance(value, list):
        return all(map(_is_well_formed, value))
    return not isinstance(value, dict) or all(map(_is_well_formed, [*value, *value.values()]))


def in_order(keys: Iterable[str]) -> list[str]:
    """Sort keys as Java does."""
    found = sorted(keys)
    if found and any(key > "\ud7ff" for key in found):
        found.sort(key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return found


def is_double(number: str) -> bool:
    """Whether a variant keeps the number as a double."""
    if len(number) <= MOST_DIGITS:
        return "e" in number or "E" in number
    if "e" in number or "E" in number:
        return True
    whole, point, fraction = number.lstrip("-").partition(".")
    if not point and LOWEST <= int(number) <= HIGHEST:
        return False
    return len(fraction) > MOST_DIGITS or len((whole + fraction).lstrip("0")) > MOST_DIGITS


def as_kept(number: str) -> str:
    """Write a number as a variant has it."""
    if number.isdigit() and len(number) <= MOST_DIGITS:
        return number
    if is_double(number):
        return double_text(float(number))
    if "." in number:
        number = number.rstrip("0").removesuffix(".")
    return "0" if number == "-0" else number


def with_digits(number: str) -> str:
    """Write it with its own digits, where a variant would have a double."""
    return number if is_double(number) else as_kept(number)


def as_marked(number: str) -> str:
    """Write it as an item of a list whose long numbers were marked: these stay as they stand."""
    is_long = "e" in number or "E" in number or len(number.lstrip("-")) >= LONG_DIGITS
    return number if is_long else as_kept(number)


def double_text(value: float) -> str:
    """Write a double as Java does: its shortest digits, at least two, plain from 0.001 to below 10,000,000."""
    if value in (float("inf"), float("-inf")):
        # No number of JSON says it.
        return '"Infinity"' if value > 0 else '"-Infinity"'
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


def written(value: Any, number: Callable[[str], str] = as_kept) -> str:
    """Write a value as `to_json` does, its numbers by `number`."""
    if type(value) is str:
        return quoted(value)
    if type(value) is Number:
        return number(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{','.join(written(item, number) for item in value)}]"
    members = (f"{quoted(key)}:{written(value[key], number)}" for key in in_order(value))
    return f"{{{','.join(members)}}}"
