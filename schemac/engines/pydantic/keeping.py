"""Validators of constraints, and conditions over the fields of a record; generated modules have copies of those that they use.

Layer: engines. Only pydantic and the standard library are used here, and nothing of the compiler.
Shape: validators take values of Python, as `values` makes them of JSON. Conditions have SQL's three truth values.
Errors: the type of an error is the rule of the pipeline's quarantine that is broken.
"""

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from pydantic_core import SchemaValidator, core_schema

from schemac.engines.pydantic.values import broken


def keeps(rule: str, is_valid: Callable[[Any], bool], text: str) -> Callable[[Any], Any]:
    """Make a validator of values that keep a constraint."""

    def validate(value: Any) -> Any:
        if not is_valid(value):
            raise broken(rule, f"not {text}")
        return value

    return validate


def keeps_minimum(limit: Any) -> Callable[[Any], Any]:
    """Make a validator of values from a limit on."""
    return keeps("minimum", lambda value: value >= limit, f"at least {limit}")


def keeps_maximum(limit: Any) -> Callable[[Any], Any]:
    """Make a validator of values up to a limit."""
    return keeps("maximum", lambda value: value <= limit, f"at most {limit}")


def keeps_exclusive_minimum(limit: Any) -> Callable[[Any], Any]:
    """Make a validator of values above a limit."""
    return keeps("exclusiveMinimum", lambda value: value > limit, f"greater than {limit}")


def keeps_exclusive_maximum(limit: Any) -> Callable[[Any], Any]:
    """Make a validator of values below a limit."""
    return keeps("exclusiveMaximum", lambda value: value < limit, f"less than {limit}")


def keeps_multiple_of(divisor: Any) -> Callable[[Any], Any]:
    """Make a validator of whole multiples."""
    step = Fraction(divisor)
    return keeps("multipleOf", lambda value: Fraction(value) % step == 0, f"a multiple of {divisor}")


def keeps_enum(values: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Make a validator of the only values."""
    return keeps("enum", lambda value: value in values, f"one of {', '.join(map(str, values))}")


def keeps_pattern(pattern: str) -> Callable[[Any], Any]:
    """Make a validator of texts in which a pattern is found. Pydantic's engine takes linear time, which Python's does not."""
    matched_texts = SchemaValidator(core_schema.str_schema(pattern=pattern))
    return keeps("pattern", matched_texts.isinstance_python, f"matched by the pattern {pattern}")


def keeps_min_length(limit: int) -> Callable[[Any], Any]:
    """Make a validator of texts and bytes of a least length."""
    return keeps("minLength", lambda value: len(value) >= limit, f"at least {limit} long")


def keeps_max_length(limit: int) -> Callable[[Any], Any]:
    """Make a validator of texts and bytes of a greatest length."""
    return keeps("maxLength", lambda value: len(value) <= limit, f"at most {limit} long")


def keeps_min_items(limit: int) -> Callable[[Any], Any]:
    """Make a validator of lists with a least number of items."""
    return keeps("minItems", lambda value: len(value) >= limit, f"a list of at least {limit}")


def keeps_max_items(limit: int) -> Callable[[Any], Any]:
    """Make a validator of lists with a greatest number of items."""
    return keeps("maxItems", lambda value: len(value) <= limit, f"a list of at most {limit}")


def keeps_unique_items() -> Callable[[Any], Any]:
    """Make a validator of lists in which no item occurs twice."""
    return keeps(
        "uniqueItems", lambda value: len(set(value)) == len(value), "a list in which no item occurs twice"
    )


def value_at(record: Any, *names: str) -> Any:
    """Return what is in a record; None if a struct on the way there is absent."""
    for name in names:
        record = None if record is None else getattr(record, name)
    return record


def exact_at(record: Any, *names: str) -> Fraction | None:
    """Return an integer or a decimal of a record, to be calculated with."""
    value = value_at(record, *names)
    return None if value is None else Fraction(value)


def length_at(record: Any, *names: str) -> int | None:
    """Return how many characters a text of a record has."""
    value = value_at(record, *names)
    return None if value is None else len(value)


OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def applied(name: str, left: Any, right: Any) -> Any:
    """Calculate or compare; with null it is null."""
    return None if left is None or right is None else OPERATORS[name](left, right)


def among(value: Any, values: tuple[Any, ...]) -> bool | None:
    """Return whether a value is one of some; of null it is null."""
    return None if value is None else value in values


def contrary(truth: bool | None) -> bool | None:
    """Return the contrary of one of SQL's three truth values."""
    return None if truth is None else not truth


def both(left: bool | None, right: bool | None) -> bool | None:
    """Return whether both hold."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def either(left: bool | None, right: bool | None) -> bool | None:
    """Return whether one of two holds."""
    return contrary(both(contrary(left), contrary(right)))


def keep_condition(text: str, truth: bool | None) -> None:
    """Refuse a record for which a condition is false; null is not a violation."""
    if truth is False:
        raise broken(f"check: {text}", "the condition is false")
