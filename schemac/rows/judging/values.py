"""Values of texts: the one definition of which text is which value, and which rule a text breaks that is none.

Layer: rows. Only the standard library is used here, and nothing of the compiler: models that are generated have copies of these functions.
Shape: a function takes the text of a value and returns the value, or raises BrokenRuleError.
Units: days and nanoseconds are counted from 1970-01-01, in UTC or on the clock itself; precision and scale are decimal digits.
"""

import base64
import math
import re
import struct
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Context, Decimal, InvalidOperation


class BrokenRuleError(ValueError):
    """A text that is not a value of its type: the rule of the quarantine, and a message for people."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message


NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"[+-]?[0-9]+(?:\.0*)?")
NOT_FINITE = re.compile(r"NaN|[+-]?Infinity|[+-]?inf")
LONGEST_NUMBER = 400
"""Digits; no type reaches further, and longer integers take Python long to read."""


def exact_of(text: str) -> Decimal:
    """Return a number with all its digits; one beyond what `Decimal` can hold is as far from zero, or as near to it, as any type can tell."""
    if not NUMBER.fullmatch(text):
        raise BrokenRuleError("cast", "not a number")
    try:
        return Decimal(text)
    except InvalidOperation:
        digits, _, exponent = text.lower().partition("e")
        if not digits.strip("+-.0"):
            return Decimal(digits)
        sign = "-" if digits.startswith("-") else ""
        return Decimal(f"{sign}1e{'-' if exponent.startswith('-') else ''}999999")


def integer_of(text: str, lowest: int, highest: int) -> int:
    """Return an integer; 5.0 and 5e3 are some, too."""
    if len(text) < 19 and text.isascii() and text.isdigit():
        number = int(text)
    else:
        exact = exact_of(text)
        if exact and exact.adjusted() >= LONGEST_NUMBER:
            raise BrokenRuleError("range", f"not from {lowest} to {highest}")
        if (exact and exact.adjusted() < 0) or exact != exact.to_integral_value():
            raise BrokenRuleError("cast", "not an integer")
        number = int(exact)
    if not lowest <= number <= highest:
        raise BrokenRuleError("range", f"not from {lowest} to {highest}")
    return number


def count_of(text: str) -> int:
    """Return a count of 64 bits, which is written without an exponent."""
    if not WHOLE.fullmatch(text):
        raise BrokenRuleError("cast", "not written as an integer")
    return integer_of(text, -(2**63), 2**63 - 1)


def float_of(text: str, bits: int) -> float:
    """Return the nearest float of a width; that of 16 bits is the nearest of the single. What rounds to infinity is refused."""
    if not NUMBER.fullmatch(text):
        if NOT_FINITE.fullmatch(text):
            return float(text)
        raise BrokenRuleError("cast", "not a number")
    found = float(text)
    try:
        if bits < 64 and not math.isinf(found):
            if struct.pack("<d", found)[0] % 2 == 0 and Decimal(found) != (exact := exact_of(text)):
                # It may be a middle of two singles, on either side of the number; the odd double beside it is none.
                found = math.nextafter(found, math.inf if exact > Decimal(found) else -math.inf)
            found = _packed(found, "<f") if bits == 32 else _packed(_packed(found, "<f"), "<e")
    except OverflowError:
        found = math.inf
    if math.isinf(found):
        raise BrokenRuleError("range", "too large")
    return found


def _packed(number: float, form: str) -> float:
    """Return the number that is read back from the bytes of a form of `struct`. Raises OverflowError."""
    found: float = struct.unpack(form, struct.pack(form, number))[0]
    return found


LARGEST_BRAIN_FLOAT = 3.3895313892515355e38


def brain_float_of(text: str) -> bytes:
    """Return the upper half of a single, rounded to the nearest, ties to even."""
    single = float_of(text, 32)
    if math.isnan(single):
        return b"\xc0\x7f"
    if math.isfinite(single) and abs(single) > LARGEST_BRAIN_FLOAT:
        raise BrokenRuleError("range", "too large")
    bits = int.from_bytes(struct.pack("<f", single), "little")
    return (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF).to_bytes(2, "little")


def decimal_of(text: str, precision: int, scale: int) -> Decimal:
    """Return a decimal with `scale` digits behind the point; zeros at the end of a fraction do not count."""
    exact = exact_of(text)
    if not exact:
        return Decimal((0, (0,), -scale))
    if exact.adjusted() >= precision - scale:
        raise BrokenRuleError("range", f"more than {precision - scale} digits before the point")
    _, digits, exponent = exact.as_tuple()
    zeros = len(digits) - len("".join(map(str, digits)).rstrip("0"))
    if int(exponent) + zeros < -scale:
        raise BrokenRuleError("precision", f"more than {scale} digits after the point")
    return exact.quantize(Decimal((0, (1,), -scale)), context=Context(prec=100))


def boolean_of(text: str) -> bool:
    """Return a truth value, in small letters or large ones."""
    if text.lower() not in ("true", "false") or not text.isascii():
        raise BrokenRuleError("cast", "neither true nor false")
    return text.lower() == "true"


BASE64 = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def bytes_of(text: str, length: int | None = None) -> bytes:
    """Return the bytes of base64, of a fixed length if there is one."""
    if not BASE64.fullmatch(text):
        raise BrokenRuleError("cast", "not base64")
    data = base64.b64decode(text)
    if length is not None and len(data) != length:
        raise BrokenRuleError("length", f"not {length} bytes")
    return data


UUID_FORM = re.compile("[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


def uuid_of(text: str) -> bytes:
    """Return the bytes of a UUID of its usual form."""
    if not UUID_FORM.fullmatch(text):
        raise BrokenRuleError("cast", "not a UUID")
    return bytes.fromhex(text.replace("-", ""))


DATE = re.compile("([0-9]{4})-([0-9]{2})-([0-9]{2})")
LEAP_YEAR = 2000
"""Stands for year 0, which is out of range, where the rest of a date is looked at."""


def day_of(text: str) -> int:
    """Return the days of a text such as 2024-02-29."""
    match = DATE.fullmatch(text)
    if match is None:
        raise BrokenRuleError("cast", "not of the form 2024-02-29")
    days = _days(*match.groups())
    if match[1] == "0000":
        raise BrokenRuleError("range", "the years begin with 0001")
    return days


def _days(year: str, month: str, day: str) -> int:
    """Return the days since 1970-01-01. Raises BrokenRuleError."""
    try:
        return date(int(year) or LEAP_YEAR, int(month), int(day)).toordinal() - date(1970, 1, 1).toordinal()
    except ValueError:
        raise BrokenRuleError("cast", "not a day of the calendar") from None


TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]*))?)?")


def time_of(text: str, digits: int) -> int:
    """Return the nanoseconds of a time of day such as 13:45:00.5, with so many digits of a second."""
    match = TIME.fullmatch(text)
    if match is None:
        raise BrokenRuleError("cast", "not of the form 13:45:00")
    hours, minutes, seconds, fraction = match.groups()
    _check_digits(fraction, digits)
    return _in_nanoseconds(hours, minutes, seconds, fraction)


def _check_digits(fraction: str | None, digits: int) -> None:
    if fraction and fraction[digits:].strip("0"):
        raise BrokenRuleError("precision", "more digits than the unit has")


def _in_nanoseconds(hours: str, minutes: str, seconds: str | None, fraction: str | None) -> int:
    in_seconds = (int(hours) * 60 + int(minutes)) * 60 + int(seconds or 0)
    return in_seconds * 10**9 + int(f"{fraction or '':0<9}"[:9])


DAY = 86_400 * 10**9
FIRST, LAST = -62135596800 * 10**9, 253402300800 * 10**9
"""Nanoseconds of the years 0001 to 9999, the last excluded."""
CLOCK = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:[.,]([0-9]*))?)?([Zz]|[+-][0-9:]+)?"
)
OFFSET = re.compile("([+-])([0-9]{2})(?::?([0-5][0-9]))?")


def clock_of(text: str, digits: int) -> int:
    """Return what a clock without a zone shows, with so many digits of a second."""
    match = CLOCK.fullmatch(text)
    if match is None or match[8] is not None:
        raise BrokenRuleError("cast", "not of the form 2024-02-29T13:45:00")
    return _local_time(match, digits, UTC, 0)


def instant_of(text: str, digits: int, zone: tzinfo | None, margin: int) -> int:
    """Return an instant; a text without an offset is what a clock in `zone` shows. `margin` is the distance to the first and the last year."""
    match = CLOCK.fullmatch(text)
    if match is None:
        raise BrokenRuleError("cast", "not of the form 2024-02-29T13:45:00Z")
    return _local_time(match, digits, zone, margin)


def _local_time(match: re.Match[str], digits: int, zone: tzinfo | None, margin: int) -> int:
    try:
        return _local_time_of(match, digits, zone, margin)
    except BrokenRuleError:
        if match[7] == "":
            raise BrokenRuleError("cast", "a fraction without digits") from None
        raise


def _local_time_of(match: re.Match[str], digits: int, zone: tzinfo | None, margin: int) -> int:
    year, month, day, hours, minutes, seconds, fraction, offset = match.groups()
    shown = _days(year, month, day) * DAY + _in_nanoseconds(hours, minutes, seconds, fraction)
    found = instant_at(shown, zone) if offset is None else shown - _offset(offset)
    if year == "0000":
        raise BrokenRuleError("range", "the years begin with 0001")
    _check_digits(fraction, digits)
    if not FIRST + margin <= found < LAST - margin:
        raise BrokenRuleError("range", "not in the years 0001 to 9999")
    return in_64_bits(found) if digits == 9 else found


def in_64_bits(nanoseconds: int) -> int:
    """Return nanoseconds that a timestamp can count."""
    if not -(2**63) <= nanoseconds < 2**63:
        raise BrokenRuleError("range", "not in the years 1677 to 2262")
    return nanoseconds


def _offset(text: str) -> int:
    """Return the nanoseconds that a clock such as `+01:00` is ahead of UTC. Raises BrokenRuleError."""
    if text in ("Z", "z"):
        return 0
    match = OFFSET.fullmatch(text)
    seconds = 0 if match is None else (int(match[2]) * 60 + int(match[3] or 0)) * 60
    if match is None or seconds > 18 * 3600:
        raise BrokenRuleError("cast", "not an offset from UTC of at most 18 hours")
    return (-seconds if match[1] == "-" else seconds) * 10**9


_CALENDAR = 146_097 * DAY
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 — a clock


def local_time_at(instant: int, zone: tzinfo) -> int:
    """Return what the clocks of a zone show at an instant, to the microsecond."""
    # The calendar repeats itself after 400 years, and what is shown at its ends may lie beyond those of Python.
    shift = _CALENDAR if instant < FIRST + 2 * DAY else -_CALENDAR if instant > LAST - 2 * DAY else 0
    at = _EPOCH.replace(tzinfo=UTC) + timedelta(microseconds=(instant + shift) // 1000)
    there = at.astimezone(zone).replace(tzinfo=None)
    return (there - _EPOCH) // timedelta(microseconds=1) * 1000 + instant % 1000 - shift


def instant_at(shown: int, zone: tzinfo | None) -> int:
    """Return the instant of a local time in a zone. Raises BrokenRuleError if it does not exist there, or exists twice."""
    if zone is None:
        raise BrokenRuleError("zone", "set `timezone` under `source`, or `zone` of the field")
    if zone is UTC:
        return shown
    reading = _EPOCH + timedelta(microseconds=shown // 1000)
    found = set()
    for fold in (0, 1):
        offset = reading.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta()
        instant = shown - offset // timedelta(microseconds=1) * 1000
        if local_time_at(instant, zone) == shown:
            found.add(instant)
    if not found:
        raise BrokenRuleError("zone-gap", "the clocks of this zone skip the time")
    if len(found) > 1:
        raise BrokenRuleError("zone-overlap", "the clocks of this zone show the time twice")
    return found.pop()
