"""Plain types with the values at their bounds, and an exact judge of what becomes of a value in another type.

Shape: values are Python's own: integers, floats, decimals, texts, bytes, and counts of units for everything temporal. The
judge knows integers, fractions and the zone database; it asks neither Arrow nor the code that it judges.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from schemac.kinds.registry import KINDS
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


def _integer(kind: str) -> list[Bounded]:
    bits = int(re.sub(r"\D", "", kind))
    low, high = (0, 2**bits - 1) if kind.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    edges = [
        e + d for n in (7, 8, 11, 15, 16, 24, 31, 32, 53, 63) for e in (2**n, -(2**n)) for d in (-1, 0, 1)
    ]
    values = sorted({v for v in (*edges, 0, 1, 2, 7, -1, 999, 100000, low, high) if low <= v <= high})
    return [Bounded(kind, of(kind), tuple(values))]


def _float(kind: str) -> list[Bounded]:
    digits, top = FLOATS[kind]
    largest = float(Fraction(2**digits - 1) * Fraction(2) ** (top - digits + 1))
    smallest = float(Fraction(2) ** (2 - top - digits))
    wide = (
        1e300,
        99999.0,
        1.005,
        1.5,
        2.5,
        0.1,
        1e-300,
        65504.0,
        65520.0,
        2.0**24 + 1,
        2.0**53,
        2.0**63,
        2.0**64,
    )
    plain = (
        0.0,
        -0.0,
        1.0,
        2.0,
        -1.0,
        3.5,
        255.0,
        largest,
        -largest,
        smallest,
        math.nan,
        math.inf,
        -math.inf,
    )
    held = [v for v in (*plain, *wide) if not math.isfinite(v) or nearest(Fraction(v), of_kind(kind)) == v]
    return [Bounded(kind, of(kind), tuple(held))]


def _decimal(kind: str) -> list[Bounded]:
    found = []
    for precision, scale in ((9, 2), (5, 0), (5, 2), (15, 2), (20, 2), (38, 10), (5, -3), (50, 5)):
        numbers = (0, 1, -1, 5, 150, 12345, 10**precision - 1, 1 - 10**precision, 10 ** (precision - 1) + 1)
        values = tuple(
            dict.fromkeys(Decimal(n).scaleb(-scale, _WIDE) for n in numbers if abs(n) < 10**precision)
        )
        found.append(Bounded(kind, of(kind, precision=precision, scale=scale), values))
    return found


def _timestamp(kind: str) -> list[Bounded]:
    # Beside bounds: the hour that a summer takes and the one that a winter gives in Berlin, for both.
    local = (1711848600, 1711852200, 1729992600, 1729996200)
    found = []
    for zone in (None, "UTC", BERLIN):
        for unit, n in PER_SECOND.items():
            moments = [
                0,
                -1,
                DAY,
                -3600,
                -7200,
                4 * 10**9 - 4 * 10**9 % DAY,
                *local,
                *(s - 3600 for s in local),
                *YEARS,
            ]
            counts = {m * n for m in moments} | {1, -1, n + 1, 2**63 - 1, -(2**63)}
            values = tuple(sorted(c for c in counts if -(2**63) <= c < 2**63))
            found.append(Bounded(kind, of(kind, unit=unit, timezone=zone), values))
    return found


def _duration(kind: str) -> list[Bounded]:
    return [
        Bounded(kind, of(kind, unit=unit), (0, 1, -1, 1000, n, n + 1, -n, 2**63 - 1, -(2**63)))
        for unit, n in PER_SECOND.items()
    ]


def _time(kind: str) -> list[Bounded]:
    return [
        Bounded(kind, of(kind, unit=unit), tuple(dict.fromkeys((0, 1, 3600 * n, DAY * n - 1))))
        for unit, n in PER_SECOND.items()
    ]


_TEXTS = (
    "", "a", "1", "-1", "007", "300", "1.5", "1.005", "0.1", "1e400", "1e300", "99999", "-0", "nan", "inf", "-inf",
    "9007199254740993", "0.10000000000000001", "0.1000000000000000000001", "1e-400", "12345678901234567.89", "true",
    "False", "2", "2020-01-01", "2020-02-30", "0000-01-01", "2024-03-31 02:30:00", "2024-10-27T02:30:00",
    "2024-10-27T02:30:00+01:00", "2020-01-01 12:00:00Z", "2020-01-01 12:00:00.123456789Z", "2020-01-01T00:00Z",
    "9999-12-31 23:59:59", "1.50", "٣", "1_000", "0x1F", "ÿ", "abcd",
)  # fmt: skip

SAMPLES: dict[str, Callable[[str], list[Bounded]]] = {
    **dict.fromkeys([f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)], _integer),
    **dict.fromkeys(FLOATS, _float),
    "Decimal": _decimal,
    "Bool": lambda kind: [Bounded(kind, of(kind), (True, False))],
    "Date": lambda kind: [
        Bounded(kind, manifest, (0, 1, -1, 19000, -719162, 2932896, 2932897, -719163, 2**31 - 1, -(2**31)))
        for manifest in (of(kind), of(kind, {"arrow.apache.org/dateEncoding": {"unit": "Millisecond"}}))
    ],
    "Time": _time,
    "Timestamp": _timestamp,
    "Duration": _duration,
    "String": lambda kind: [Bounded(kind, of(kind), _TEXTS)],
    "Binary": lambda kind: [
        Bounded(kind, of(kind), (b"", b"a", b"abcd", b"\xff\xfe", b"\xff\xfe\xfd\xfc")),
        Bounded(kind, of(kind, fixedLength=4), (b"abcd", b"\xff\xfe\xfd\xfc")),
    ],
}
"""How the samples of a kind are made; every kind without parts has to be here."""


def of_kind(kind: str) -> Bounded:
    return Bounded(kind, {}, ())


def all_types() -> dict[str, Bounded]:
    """Every plain type that the registry of kinds has, with parameters, by its title."""
    found = {}
    for kind in KINDS:
        name = kind.__name__
        if name in ("List", "Map", "Struct", "Option", "Null"):
            continue
        for bounded in SAMPLES[name](name):
            parameters = (
                {k: v for k, v in bounded.manifest.items() if k != "kind"}
                if isinstance(bounded.manifest, dict)
                else {}
            )
            found[" ".join([name, *(str(v) for v in parameters.values())])] = bounded
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
