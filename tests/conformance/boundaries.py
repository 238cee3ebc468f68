"""Plain types with the values at their bounds, and an exact judge of what becomes of a value in another type.

Shape: values are Python's own: integers, floats, decimals, texts, bytes, and counts of units for everything temporal. The
judge knows integers, fractions and the zone database; it asks neither Arrow nor the code that it judges.
"""

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from schemac.language.kinds.registry import KINDS
from tests.conformance.manifest_types import Manifest, of

PER_SECOND = {"Second": 1, "Millisecond": 10**3, "Microsecond": 10**6, "Nanosecond": 10**9}
DAY = 86400
BERLIN = "Europe/Berlin"
FLOATS = {"Float16": (11, 15), "Float32": (24, 127), "Float64": (53, 1023)}
"""Digits of the mantissa, highest exponent."""
_WIDE = Context(prec=200)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
YEARS = (-62135596800, 253402300799)
"""Seconds of the years 1 to 9999."""


@dataclass(frozen=True)
class Bounded:
    """A type with values."""

    kind: str
    manifest: Manifest
    values: tuple[Any, ...]

    def __getattr__(self, name: str) -> Any:
        if name not in self.manifest:
            raise AttributeError(name)
        return self.manifest[name]


def of_kind(kind: str) -> Bounded:
    return Bounded(kind, {}, ())


def all_types() -> dict[str, Bounded]:
    """Every variant of every kind that has values of its own, by its text; a Date in both its encodings."""
    found = {}
    for kind in KINDS:
        for variant in kind.variants():
            properties = variant.model_dump(by_alias=True, exclude={"kind", "extra"})
            manifest = of(kind.__name__, **{k: v for k, v in properties.items() if k != "fixedLength" or v})
            found[variant.type_text()] = Bounded(kind.__name__, manifest, variant.samples())
    in_milliseconds = of("Date", {"arrow.apache.org/dateEncoding": {"unit": "Millisecond"}})
    found["Date in milliseconds"] = Bounded("Date", in_milliseconds, found["Date"].values)
    return found


# --- the judge

MISFIT = object()


def judged(old: Bounded, new: Bounded, value: Any, clock: str | None, *, is_rounded: bool = False) -> Any:
    """What the value is in the new type; MISFIT where nothing there means the same."""
    if old.kind in ("String", "Binary") and new.kind in ("String", "Binary"):
        return _bytes(new, value)
    if new.kind == "String":
        return value if _is_writable(old, value) else MISFIT
    if old.kind == "String":
        return _read(new, value, clock)
    if old.kind in ("Date", "Time", "Timestamp", "Duration"):
        return _moment(old, new, value, clock, is_rounded=is_rounded)
    return _number(old, new, value, is_rounded=is_rounded)


def _bytes(new: Bounded, value: Any) -> Any:
    raw = value.encode() if isinstance(value, str) else value
    if new.kind == "Binary":
        return raw if new.manifest.get("fixedLength", len(raw)) == len(raw) else MISFIT
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return MISFIT


def nearest(exact: Fraction, type_: Bounded) -> Any:
    """The nearest value of a number type, of two the even one; None beyond its range."""
    if type_.kind in FLOATS:
        return _nearest_float(exact, *FLOATS[type_.kind])
    if type_.kind == "Decimal":
        unscaled = round(exact * Fraction(10) ** type_.scale)
        return (
            Fraction(unscaled) / Fraction(10) ** type_.scale if abs(unscaled) < 10**type_.precision else None
        )
    if type_.kind == "Bool":
        return exact if exact in (0, 1) else None
    whole, bits = round(exact), int(re.sub(r"\D", "", type_.kind))
    low, high = (0, 2**bits) if type_.kind.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    return whole if low <= whole < high else None


def _nearest_float(exact: Fraction, digits: int, top: int) -> Any:
    if exact == 0:
        return Fraction(0)
    exponent = 0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, 1 - top) - digits + 1)
    near = round(exact / step) * step
    return near if abs(near) < Fraction(2) ** (top + 1) else None


def _number(old: Bounded, new: Bounded, value: Any, *, is_rounded: bool) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return value if new.kind in FLOATS else MISFIT
    exact = Fraction(value)
    near = nearest(exact, new)
    if near is None or (not is_rounded and nearest(Fraction(near), old) != exact):
        return MISFIT
    return near


def _offset(instant: int, zone: str) -> int:
    if zone == "UTC":
        return 0
    return _ahead((EPOCH + timedelta(seconds=instant)).astimezone(ZoneInfo(zone)))


def _ahead(moment: datetime) -> int:
    offset = moment.utcoffset()
    assert offset is not None
    return round(offset.total_seconds())


def _shown(instant: int, zone: str) -> int | None:
    """The reading, where a calendar has it."""
    if zone == "UTC":
        return instant
    if not YEARS[0] <= instant <= YEARS[1]:
        return None
    try:
        return instant + _offset(instant, zone)
    except OverflowError:
        return None


def _instants(reading: int, zone: str) -> list[int]:
    """All instants at which the clock shows this."""
    if zone == "UTC":
        return [reading]
    if not YEARS[0] <= reading <= YEARS[1]:
        return []
    offsets = set()
    for near in range(reading - 2 * DAY, reading + 2 * DAY, 3600):
        if YEARS[0] + DAY <= near <= YEARS[1] - DAY:
            offsets.add(_offset(near, zone))
    return [reading - o for o in offsets if _shown(reading - o, zone) == reading]


def _moment(old: Bounded, new: Bounded, value: int, clock: str | None, *, is_rounded: bool) -> Any:
    seconds = Fraction(value) * DAY if old.kind == "Date" else Fraction(value, PER_SECOND[old.unit])
    was_instant = old.kind == "Timestamp" and old.timezone is not None
    is_instant = new.kind == "Timestamp" and new.timezone is not None
    whole, rest = math.floor(seconds), seconds - math.floor(seconds)
    if was_instant and not is_instant:
        zone = clock or old.timezone
        reading = _shown(whole, zone)
        if reading is None or (
            _instants(reading, zone) != [whole] and not (is_rounded and new.kind == "Date")
        ):
            return MISFIT
        seconds = reading + rest
    if is_instant and not was_instant:
        found = _instants(whole, clock or new.timezone)
        if len(found) != 1:
            return MISFIT
        seconds = found[0] + rest
    if new.kind == "Time" and not 0 <= seconds < DAY:
        return MISFIT
    counts = seconds / DAY if new.kind == "Date" else seconds * PER_SECOND[new.unit]
    count = math.floor(counts)
    # A Date counts days in 32 bits, or as many milliseconds in 64.
    is_in_milliseconds = new.kind == "Date" and "extra" in new.manifest
    bits = 32 if new.kind == "Date" and not is_in_milliseconds else 64
    per = DAY * 1000 if is_in_milliseconds else 1
    if (count != counts and not is_rounded) or not -(2 ** (bits - 1)) <= count * per < 2 ** (bits - 1):
        return MISFIT
    # A count in 64 bits on the way there, too.
    return count if _is_reached(old, seconds) else MISFIT


def _is_reached(old: Bounded, seconds: Fraction) -> bool:
    if old.kind != "Timestamp":
        return True
    return -(2**63) <= seconds * PER_SECOND[old.unit] < 2**63


def _is_writable(old: Bounded, value: Any) -> bool:
    if old.kind not in ("Date", "Timestamp"):
        return True
    seconds = value * DAY if old.kind == "Date" else math.floor(Fraction(value, PER_SECOND[old.unit]))
    zone = (old.timezone if old.kind == "Timestamp" else None) or "UTC"
    shown = _shown(seconds, zone)
    if shown is None or not YEARS[0] <= shown <= YEARS[1]:
        return False
    # An offset has minutes, and the reading as many bits as the instant.
    per = 1 if old.kind == "Date" else PER_SECOND[old.unit]
    is_held = -(2**63) <= value + (shown - seconds) * per < 2**63
    return (shown - seconds) % 60 == 0 and is_held


def _read(new: Bounded, text: str, clock: str | None) -> Any:
    if new.kind == "Bool":
        return {"true": 1, "false": 0, "1": 1, "0": 0}.get(text.lower(), MISFIT)
    if new.kind == "Date":
        try:
            return (datetime.strptime(text + "+0000", "%Y-%m-%d%z").date() - date(1970, 1, 1)).days
        except ValueError:
            return MISFIT
    if new.kind == "Timestamp":
        return _read_moment(new, text, clock)
    if new.kind in FLOATS and text.lower() in ("nan", "inf", "-inf"):
        return float(text)
    pattern = r"[+-]?[0-9]+" if new.kind[0] in "IU" else r"[+-]?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?"
    if not re.fullmatch(pattern, text, re.ASCII):
        return MISFIT
    written, exact = Decimal(text), Fraction(Decimal(text))
    near = nearest(exact, new)
    if near is None:
        return MISFIT
    places = -int(written.as_tuple().exponent)
    is_exact = Fraction(near) == exact
    if new.kind not in FLOATS or near == 0:
        return near if is_exact else MISFIT
    # The text is what the number is, rounded to the digits of the text.
    return near if abs(Fraction(near) - exact) * 2 <= Fraction(10) ** -places else MISFIT


def _read_moment(new: Bounded, text: str, clock: str | None) -> Any:
    if not re.match(r"\d{4}-\d\d-\d\d", text):
        return MISFIT
    bare, fraction = text, "0"
    found = re.search(r"\.(\d+)", text)
    if found:
        bare, fraction = text.replace(found[0], ""), found[1]
    try:
        at = datetime.fromisoformat(bare)
    except ValueError:
        return MISFIT
    naive = at.replace(tzinfo=None)
    seconds = round((naive - EPOCH.replace(tzinfo=None)).total_seconds())
    if at.tzinfo is not None:
        seconds -= _ahead(at)
        if new.timezone is None:
            shown = _shown(seconds, clock) if clock else None
            if shown is None:
                return MISFIT
            seconds = shown
    elif new.timezone is not None:
        zone = clock or ("UTC" if new.timezone == "UTC" else None)
        instants = _instants(seconds, zone) if zone else []
        if len(instants) != 1:
            return MISFIT
        seconds = instants[0]
    count = (seconds + Fraction(int(fraction), 10 ** len(fraction))) * PER_SECOND[new.unit]
    return int(count) if count.denominator == 1 and -(2**63) <= count < 2**63 else MISFIT
