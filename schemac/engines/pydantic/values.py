"""Validators of values, as a pipeline judges them; generated modules have copies of those that they use.

Layer: engines. Only pydantic and the standard library are imported here, and nothing of the compiler.
Shape: each takes a value of JSON, with `Decimal` for numbers that have a fraction or an exponent, or the value of Python itself.
Errors: the type of an error is the rule of the pipeline's quarantine that is broken.
"""

import base64
import json
import math
import re
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any, NoReturn, Self
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, ValidationError, ValidatorFunctionWrapHandler
from pydantic_core import InitErrorDetails, PydanticCustomError

LONGEST_NUMBER = 400
"""Digits; no type reaches further, and longer integers take Python long to read."""
LARGEST_BRAIN_FLOAT = 3.3895313892515355e38


HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
"""An escape that is half of a character, and no text alone."""


class Exponential(Decimal):
    """A number that JSON writes with an exponent."""


class Record(BaseModel):
    """What the models have in common: JSON is read with every digit of its numbers, and a key that stands twice is refused."""

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


def _number_of_digits(digits: str) -> Decimal:
    return Exponential(digits) if "e" in digits.lower() else Decimal(digits)


def _integer_of_digits(digits: str) -> int | Decimal:
    # An integer of Python has no negative zero.
    return Decimal(digits) if digits == "-0" or len(digits) >= LONGEST_NUMBER else int(digits)


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no value of JSON")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key occurs twice in an object")
    return dict(pairs)


def broken(rule: str, message: str) -> PydanticCustomError:
    """Return the error of a value that breaks a rule."""
    return PydanticCustomError(rule, "{message}", {"message": message})


def number_of(value: Any) -> int | float | Decimal:
    """Return a value that is a number; a text is none, and a truth value neither."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise broken("type", "not a number")
    return value


def exact_of(value: Any) -> Decimal:
    """Return a finite number; the shortest digits of a float count."""
    number = number_of(value)
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    if not exact.is_finite():
        raise broken("cast", "not a finite number")
    return exact


def integer(lowest: int, highest: int) -> Callable[[Any], int]:
    """Make a validator of integers; 5.0 and 5e3 are some, too."""

    def validate(value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool):
            number = value
        else:
            exact = exact_of(value)
            if exact and exact.adjusted() >= LONGEST_NUMBER:
                raise broken("range", f"not from {lowest} to {highest}")
            if (exact and exact.adjusted() < -LONGEST_NUMBER) or exact != exact.to_integral_value():
                raise broken("cast", "not an integer")
            number = int(exact)
        if not lowest <= number <= highest:
            raise broken("range", f"not from {lowest} to {highest}")
        return number

    return validate


def count(value: Any) -> int:
    """Return a count of 64 bits, which JSON writes without an exponent."""
    if isinstance(value, Exponential):
        raise broken("cast", "not written as an integer")
    return integer(-(2**63), 2**63 - 1)(value)


def floating(bits: int) -> Callable[[Any], float]:
    """Make a validator of floats of a width, which are rounded to it; what rounds to infinity is refused."""

    def validate(value: Any) -> float:
        number = number_of(value)
        if isinstance(number, float) and not math.isfinite(number):
            return number
        try:
            converted = _rounded(number, bits)
        except OverflowError:
            converted = math.inf
        if math.isinf(converted):
            raise broken("range", "too large")
        return converted

    return validate


def _rounded(number: float | Decimal, bits: int) -> float:
    """Return the nearest float of a width; that of 16 bits is the nearest of the single. Raises OverflowError."""
    double = float(number)
    if bits == 64 or math.isinf(double):
        return double
    is_even = struct.pack("<d", double)[0] % 2 == 0
    if is_even and not isinstance(number, float) and Decimal(double) != Decimal(number):
        # It may be a middle of two singles, on either side of the number; the odd double beside it is none.
        double = math.nextafter(double, math.inf if Decimal(number) > Decimal(double) else -math.inf)
    single = _packed(double, "<f")
    return single if bits == 32 else _packed(single, "<e")


def _packed(number: float, form: str) -> float:
    rounded: float = struct.unpack(form, struct.pack(form, number))[0]
    return rounded


def brain_float(value: Any) -> float:
    """Return the nearest float of which 16 bits are kept, the upper half of a single."""
    single = floating(32)(value)
    if not math.isfinite(single):
        return single
    if abs(single) > LARGEST_BRAIN_FLOAT:
        raise broken("range", "too large")
    bits = int.from_bytes(struct.pack("<f", single), "little")
    upper = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    rounded: float = struct.unpack("<f", upper.to_bytes(4, "little"))[0]
    return rounded


def decimal(precision: int, scale: int) -> Callable[[Any], Decimal]:
    """Make a validator of decimals, which all have `scale` digits after the point; zeros at the end of a fraction do not count."""

    def validate(value: Any) -> Decimal:
        exact = exact_of(value)
        if not exact:
            return Decimal((0, (0,), -scale))
        if exact.adjusted() >= precision - scale:
            raise broken("range", f"more than {precision - scale} digits before the point")
        _, digits, exponent = exact.as_tuple()
        zeros = len(digits) - len("".join(map(str, digits)).rstrip("0"))
        if int(exponent) + zeros < -scale:
            raise broken("precision", f"more than {scale} digits after the point")
        return exact.quantize(Decimal((0, (1,), -scale)), context=Context(prec=precision))

    return validate


def text_of(value: Any) -> str:
    """Return a value that is a text."""
    if not isinstance(value, str):
        raise broken("type", "not a text")
    return value


def matched(pattern: re.Pattern[str], value: Any) -> re.Match[str]:
    """Return what a text says in a form."""
    match = pattern.fullmatch(text_of(value))
    if match is None:
        raise broken("cast", "not of the form that this type has")
    return match


BASE64 = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def binary(length: int | None) -> Callable[[Any], bytes]:
    """Make a validator of binaries: base64 in JSON."""

    def validate(value: Any) -> bytes:
        data = value if isinstance(value, bytes) else base64.b64decode(matched(BASE64, value)[0])
        if length is not None and len(data) != length:
            raise broken("length", f"not {length} bytes")
        return data

    return validate


def base64_of(value: bytes) -> str:
    """Write bytes as JSON has them."""
    return base64.b64encode(value).decode()


UUID_FORM = re.compile("[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


def uuid(value: Any) -> UUID:
    """Return a UUID of its usual form."""
    return value if isinstance(value, UUID) else UUID(matched(UUID_FORM, value)[0])


def present(value: Any) -> Any:
    """Return any value of JSON but null."""
    if value is None:
        raise broken("required", "null")
    return value


DATE = re.compile("([0-9]{4}-[0-9]{2}-[0-9]{2})")


def day(value: Any) -> date:
    """Return a day such as 2024-02-29."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    return _day_of(matched(DATE, value)[1])


def _day_of(text: str) -> date:
    if text.startswith("0000"):
        raise broken("range", "the years begin with 0001")
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise broken("cast", "not a day of the calendar") from None


class Nanoseconds(int):
    """Nanoseconds since 1970, or since midnight; the types of Python for time end at microseconds."""


SECOND, NANOSECOND = 10**9, 1
CLOCK = re.compile(
    "([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:[.,]([0-9]*))?)?(.*)",
    re.DOTALL,
)
OFFSET = re.compile("[Zz]|([+-])([0-9]{2})(?::?([0-5][0-9]))?")
FIRST, LAST, MARGIN = -62135596800 * SECOND, 253402300800 * SECOND, 86400 * SECOND
"""Nanoseconds of the years 0001 to 9999 since 1970, the last excluded, and how far from their ends zones other than UTC stay."""


def in_unit(nanoseconds: int, unit: int) -> int:
    """Return nanoseconds that are whole in a unit."""
    if nanoseconds % unit:
        raise broken("precision", "more digits than the unit has")
    return nanoseconds


def fraction(digits: str | None) -> int:
    """Return the nanoseconds of a fraction of a second."""
    if digits and digits[9:].strip("0"):
        raise broken("precision", "more digits than the unit has")
    return int(f"{digits or '':0<9}"[:9])


def clock(unit: int) -> Callable[[Any], Any]:
    """Make a validator of timestamps without a zone; `unit` in nanoseconds."""

    def validate(value: Any) -> datetime | Nanoseconds:
        if unit == NANOSECOND and isinstance(value, Nanoseconds):
            return value
        if isinstance(value, datetime):
            if value.tzinfo is not None:
                raise broken("cast", "an instant, not the reading of a clock")
            return _timestamp(_nanoseconds(value), unit, 0, None)
        nanoseconds, rest = _local_nanoseconds(value)
        if rest:
            raise broken("cast", "not of the form that this type has")
        return _timestamp(nanoseconds, unit, 0, None)

    return validate


def instant(unit: int, clock_zone: str | None, margin: int) -> Callable[[Any], Any]:
    """Make a validator of timestamps with a zone; a text without one is what a clock in `clock_zone` shows."""

    def validate(value: Any) -> datetime | Nanoseconds:
        if unit == NANOSECOND and isinstance(value, Nanoseconds):
            return value
        if isinstance(value, datetime):
            if value.tzinfo is None:
                raise broken("zone", "a clock without a zone")
            return _timestamp(_nanoseconds(value.astimezone(UTC).replace(tzinfo=None)), unit, margin, UTC)
        nanoseconds, rest = _local_nanoseconds(value)
        if rest:
            return _timestamp(nanoseconds - _offset(rest), unit, margin, UTC)
        if clock_zone is None:
            raise broken("zone", "a clock without a zone")
        return _timestamp(nanoseconds - _distance(nanoseconds, clock_zone), unit, margin, UTC)

    return validate


def _local_nanoseconds(value: Any) -> tuple[int, str]:
    """Return what a clock shows, in nanoseconds as if it was in UTC, and what stands behind it."""
    day, hours, minutes, seconds, digits, rest = matched(CLOCK, value).groups()
    days = _day_of(day).toordinal() - date(1970, 1, 1).toordinal()
    in_seconds = ((days * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(seconds or 0)
    return in_seconds * SECOND + fraction(digits), rest


def _nanoseconds(value: datetime) -> int:
    return (value - datetime(1970, 1, 1)) // timedelta(microseconds=1) * 1000  # noqa: DTZ001 — a clock


def _offset(text: str) -> int:
    sign, hours, minutes = matched(OFFSET, text).groups()
    seconds = (int(hours or 0) * 60 + int(minutes or 0)) * 60
    if seconds > 18 * 3600:
        raise broken("cast", "further than 18 hours from UTC")
    return (-seconds if sign == "-" else seconds) * SECOND


def _distance(nanoseconds: int, zone: str) -> int:
    """Return how far a clock is ahead of UTC."""
    if zone == "UTC":
        return 0
    if zone[0] in "+-":
        return _offset(zone)
    at = datetime(1970, 1, 1) + timedelta(seconds=nanoseconds // SECOND)  # noqa: DTZ001 — a clock
    offsets = {at.replace(tzinfo=ZoneInfo(zone), fold=fold).utcoffset() or timedelta() for fold in (0, 1)}
    if len(offsets) > 1:
        back = (at - min(offsets)).replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        raise broken(*(("zone-overlap", "shown twice") if back == at else ("zone-gap", "never shown")))
    return offsets.pop() // timedelta(seconds=1) * SECOND


def _timestamp(nanoseconds: int, unit: int, margin: int, zone: Any) -> datetime | Nanoseconds:
    if not FIRST + margin <= nanoseconds < LAST - margin:
        raise broken("range", "not in the years 0001 to 9999")
    if unit == NANOSECOND:
        if not -(2**63) <= nanoseconds < 2**63:
            raise broken("range", "not in the years 1677 to 2262")
        return Nanoseconds(nanoseconds)
    return datetime(1970, 1, 1, tzinfo=zone) + timedelta(microseconds=in_unit(nanoseconds, unit) // 1000)


TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]*))?)?")


def time_of_day(unit: int) -> Callable[[Any], Any]:
    """Make a validator of times of day such as 13:45:00.5; `unit` in nanoseconds."""

    def validate(value: Any) -> time | Nanoseconds:
        if unit == NANOSECOND and isinstance(value, Nanoseconds):
            return value
        if isinstance(value, time):
            in_seconds, below = (value.hour * 60 + value.minute) * 60 + value.second, value.microsecond * 1000
        else:
            hours, minutes, seconds, digits = matched(TIME, value).groups()
            in_seconds, below = (int(hours) * 60 + int(minutes)) * 60 + int(seconds or 0), fraction(digits)
        ticks = in_unit(in_seconds * SECOND + below, unit)
        if unit == NANOSECOND:
            return Nanoseconds(ticks)
        return (datetime(1970, 1, 1) + timedelta(microseconds=ticks // 1000)).time()  # noqa: DTZ001 — a clock

    return validate


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


NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
NOT_FINITE = re.compile("NaN|[+-]?(?:Infinity|inf)")


def number_key(value: Any) -> Any:
    """Return the number that the key of an object says."""
    if not isinstance(value, str):
        return value
    if NOT_FINITE.fullmatch(value):
        return float(value)
    return Decimal(matched(NUMBER, value)[0])


def count_key(value: Any) -> Any:
    """Return the count that the key of an object says."""
    return int(matched(WHOLE, value)[1]) if isinstance(value, str) else value


def boolean_key(value: Any) -> Any:
    """Return the truth value that the key of an object says."""
    return {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value


def distinct_keys(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """Refuse a map two of whose keys are one after they are read."""
    mapping = validate(value)
    if len(mapping) < len(value):
        raise broken("key", "two keys are equal")
    return mapping
