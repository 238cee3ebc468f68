"""Validators of values and constraints, and conditions over a record; generated modules have copies of those that they use.

Layer: engines. Only pydantic, the standard library and `schemac.rows.judging.values` are used here, of which the modules have copies, too.
Shape: a validator of a type takes a value of JSON, with `Number` for numbers that have a fraction or an exponent, or the value of Python
       itself, whose text is read as that of a record is; those of constraints take what it returns. Conditions have SQL's three truth
       values.
Errors: the type of an error is the rule of the pipeline's quarantine that is broken.
"""

import base64
import json
import operator
import re
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn, Self
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, ValidationError, ValidatorFunctionWrapHandler
from pydantic_core import InitErrorDetails, PydanticCustomError, SchemaValidator, core_schema

from schemac.rows.judging.values import (
    LONGEST_NUMBER,
    NOT_FINITE,
    BrokenRuleError,
    boolean_of,
    brain_float_of,
    bytes_of,
    clock_of,
    count_of,
    day_of,
    decimal_of,
    exact_of,
    float_of,
    instant_of,
    integer_of,
    time_of,
    uuid_of,
)

HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
"""An escape that is half of a character, and no text alone."""


class Number(Decimal):
    """A number as JSON writes it."""

    text: str


class Record(BaseModel):
    """What the models have in common: JSON is read with every digit of its numbers, and a key that occurs twice is refused."""

    model_config = ConfigDict(protected_namespaces=())

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """Return the record of a JSON text. Raises ValidationError."""
        try:
            text = json_data if isinstance(json_data, str) else json_data.decode("utf-8-sig")
            value = json.loads(
                text,
                parse_float=_number_of_digits,
                parse_int=_integer_of_digits,
                parse_constant=_refuse_constant,
                object_pairs_hook=_without_duplicates,
            )
            if HALF_CHARACTER.search(text):
                json.dumps(value, ensure_ascii=False, default=str).encode()
        except (ValueError, RecursionError) as error:
            reason = PydanticCustomError("malformed", "not one JSON object: {reason}", {"reason": str(error)})
            details = InitErrorDetails(type=reason, loc=(), input=json_data)
            raise ValidationError.from_exception_data(cls.__name__, [details]) from None
        return cls.model_validate(value, **options)


def _number_of_digits(digits: str) -> Number:
    number = Number(exact_of(digits))
    number.text = digits
    return number


def _integer_of_digits(digits: str) -> int | Number:
    # An integer of Python has no negative zero.
    return _number_of_digits(digits) if digits == "-0" or len(digits) >= LONGEST_NUMBER else int(digits)


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key occurs twice in an object")
    return dict(pairs)


def broken(rule: str, message: str) -> PydanticCustomError:
    """Return the error of a value that breaks a rule."""
    return PydanticCustomError(rule, "{message}", {"message": message})


def reading(text_of: Callable[[Any], str], read: Callable[..., Any], *more: Any) -> Callable[[Any], Any]:
    """Make a validator of values that are read from their text."""

    def validate(value: Any) -> Any:
        try:
            return read(text_of(value), *more)
        except BrokenRuleError as error:
            raise broken(error.rule, error.message) from None

    return validate


def number_text(value: Any) -> str:
    """Return the text of a number; texts and booleans are not numbers."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise BrokenRuleError("type", "not a number")
    if isinstance(value, int) and abs(value) >= 2**64:
        # Python writes no integer of thousands of digits.
        value = Decimal(value)
    is_nan = value.is_nan() if isinstance(value, Decimal) else value != value  # noqa: PLR0124 — NaN is not itself
    return "NaN" if is_nan else str(value)


def text_of(value: Any) -> str:
    """Return a value that is a text."""
    if not isinstance(value, str):
        raise BrokenRuleError("type", "not a text")
    return value


def integer(lowest: int, highest: int) -> Callable[[Any], int]:
    """Make a validator of integers; 5.0 and 5e3 are some, too."""
    return reading(number_text, integer_of, lowest, highest)


def count() -> Callable[[Any], int]:
    """Make a validator of counts of 64 bits, which JSON writes without an exponent."""
    return reading(number_text, count_of)


def floating(bits: int) -> Callable[[Any], float]:
    """Make a validator of floats of a width, which are rounded to it; what rounds to infinity is refused."""
    return reading(number_text, float_of, bits)


def brain_float() -> Callable[[Any], float]:
    """Make a validator of floats of which 16 bits are kept, the upper half of a single."""
    return reading(number_text, lambda text: struct.unpack("<f", b"\0\0" + brain_float_of(text))[0])


def decimal(precision: int, scale: int) -> Callable[[Any], Decimal]:
    """Make a validator of decimals, which all have `scale` digits after the point; zeros at the end of a fraction do not count."""
    return reading(number_text, decimal_of, precision, scale)


def binary(length: int | None) -> Callable[[Any], bytes]:
    """Make a validator of binaries: base64 in JSON."""
    return reading(
        lambda value: base64_of(value) if isinstance(value, bytes) else text_of(value), bytes_of, length
    )


def base64_of(value: bytes) -> str:
    """Write bytes as JSON has them."""
    return base64.b64encode(value).decode()


def uuid() -> Callable[[Any], UUID]:
    """Make a validator of UUIDs of their usual form."""
    return reading(
        lambda value: str(value) if isinstance(value, UUID) else text_of(value),
        lambda text: UUID(bytes=uuid_of(text)),
    )


def present(value: Any) -> Any:
    """Return any value of JSON but null."""
    if value is None:
        raise broken("required", "null")
    return value


EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 — a clock


def day() -> Callable[[Any], date]:
    """Make a validator of days such as 2024-02-29."""
    return reading(day_text, lambda text: EPOCH.date() + timedelta(days=day_of(text)))


def day_text(value: Any) -> str:
    """Write a day."""
    is_day = isinstance(value, date) and not isinstance(value, datetime)
    return value.isoformat() if is_day else text_of(value)


class Nanoseconds(int):
    """Nanoseconds since 1970, or since midnight; the types of Python for time end at microseconds."""


SECOND, MARGIN = 10**9, 86400 * 10**9
"""In nanoseconds; the margin is how far from the first and the last year zones other than UTC stay."""


def moment_text(value: Any) -> str:
    """Write an instant in UTC, or what a clock without a zone shows."""
    if not isinstance(value, datetime):
        return text_of(value)
    if value.tzinfo is None:
        return value.isoformat()
    try:
        return f"{value.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"
    except OverflowError:
        # It is beyond the years of the calendar.
        return value.isoformat()


def in_nanoseconds(
    digits: int, validate: Callable[[Any], int], found: Callable[[int], Any]
) -> Callable[[Any], Any]:
    """Make a validator that takes nanoseconds as they are where these are kept, and else makes a value of Python of them."""
    if digits < 9:
        return lambda value: found(validate(value))
    return lambda value: value if isinstance(value, Nanoseconds) else Nanoseconds(validate(value))


def clock(digits: int) -> Callable[[Any], Any]:
    """Make a validator of timestamps without a zone, with so many digits of a second."""
    read = reading(moment_text, clock_of, digits)
    return in_nanoseconds(digits, read, lambda count: EPOCH + timedelta(microseconds=count // 1000))


def instant(digits: int, clock_zone: str | None, margin: int) -> Callable[[Any], Any]:
    """Make a validator of timestamps with a zone; a text without one is what a clock in `clock_zone` shows."""
    read = reading(moment_text, instant_of, digits, clock_zone and rules_of(clock_zone), margin)
    start = EPOCH.replace(tzinfo=UTC)
    return in_nanoseconds(digits, read, lambda count: start + timedelta(microseconds=count // 1000))


def rules_of(zone: str) -> tzinfo:
    """Return the rules of a zone, such as `UTC`, `+05:30` or `Europe/Berlin`."""
    if zone == "UTC":
        return UTC
    if zone[0] in "+-":
        minutes = int(zone[1:3]) * 60 + int(zone[-2:])
        return timezone(timedelta(minutes=-minutes if zone[0] == "-" else minutes))
    return ZoneInfo(zone)


def time_of_day(digits: int) -> Callable[[Any], Any]:
    """Make a validator of times of day such as 13:45:00.5, with so many digits of a second."""
    read = reading(
        lambda value: value.isoformat() if isinstance(value, time) else text_of(value), time_of, digits
    )
    return in_nanoseconds(digits, read, lambda count: (EPOCH + timedelta(microseconds=count // 1000)).time())


def timestamp_text(value: Any) -> Any:
    """Write nanoseconds since 1970 as JSON has them."""
    if not isinstance(value, Nanoseconds):
        return value
    timestamp = datetime(1970, 1, 1) + timedelta(seconds=value // SECOND)  # noqa: DTZ001 — a clock
    return f"{timestamp.isoformat()}.{value % SECOND:09}"


def instant_text(value: Any) -> Any:
    """Write nanoseconds since 1970, in UTC, as JSON has them."""
    return f"{timestamp_text(value)}Z" if isinstance(value, Nanoseconds) else value


def time_text(value: Any) -> Any:
    """Write nanoseconds since midnight as JSON has them."""
    return timestamp_text(value).partition("T")[2] if isinstance(value, Nanoseconds) else value


def number_key(value: Any) -> Any:
    """Return the number in the key of an object."""
    if not isinstance(value, str):
        return value
    return float(value) if NOT_FINITE.fullmatch(value) else reading(text_of, _number_of_digits)(value)


def boolean_key(value: Any) -> Any:
    """Return the boolean in the key of an object."""
    return reading(text_of, boolean_of)(value) if isinstance(value, str) else value


def distinct_keys(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """Refuse a map two of whose keys are one after they are read."""
    mapping = validate(value)
    if len(mapping) < len(value):
        raise broken("key", "two keys are equal")
    return mapping


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
