"""JSON with all digits of its numbers, and jsonschema asked with them: the library's own numbers are floats of Python."""

import json
import re
from collections.abc import Iterator
from decimal import Decimal, localcontext
from typing import Any

import jsonschema

_FURTHEST = 400
"""Digits from the point; what is further away is no multiple, and out of all bounds, without calculating it."""


def exact(text: str | bytes) -> Any:
    """A document with every digit. Raises ValueError for what the grammar of JSON does not have, keys that stand twice, and halves of characters."""
    found = json.loads(text, parse_float=Decimal, parse_constant=_refused, object_pairs_hook=_without_twins)
    if (b"\\u" if isinstance(text, bytes) else "\\u") in text:  # type: ignore[operator]  # of its own type
        json.dumps(found, ensure_ascii=False, default=str).encode()
    return found


def _refused(constant: str) -> Any:
    raise ValueError(constant)


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _is_integer(_: Any, value: Any) -> bool:
    """A number without a fraction, which the standard calls an integer however it is written."""
    if isinstance(value, bool):
        return False
    if isinstance(value, Decimal) and value and value.adjusted() < -_FURTHEST:
        return False
    return isinstance(value, int) or (isinstance(value, Decimal) and value == value.to_integral_value())


def _pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    """With the end of a text as ECMA-262 has it; that of Python is before a last line break, too."""
    if isinstance(value, str) and not re.search(pattern.replace("$", r"\Z"), value):
        yield jsonschema.ValidationError(f"{value} is not {pattern}")


def _multiple_of(_: Any, step: Any, value: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not value:
        return
    number = Decimal(value)
    if number.adjusted() > _FURTHEST:
        return
    if number.adjusted() < -_FURTHEST or number % Decimal(step):
        yield jsonschema.ValidationError(f"{value} is no multiple of {step}")


_validators: Any = jsonschema.validators
_EXACT = _validators.extend(
    jsonschema.Draft202012Validator,
    {"pattern": _pattern, "multipleOf": _multiple_of},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)


def validator_of(schema: Any) -> Any:
    """A validator of values that were read with all digits, which checks formats, too."""
    return _EXACT(schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)


def takes(validator: Any, text: str) -> bool:
    """Whether a validator takes the value of a text."""
    try:
        with localcontext(prec=1000):
            return bool(validator.is_valid(exact(text)))
    except ValueError:
        return False
