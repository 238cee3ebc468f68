"""Date, Time, Timestamp and Duration, and the units that they are counted in.

Layer: language.
Errors: SC205 out-of-range, SC316 unknown-timezone.
Source: RFC-016, whose TimeUnit has no plurals and no abbreviations: units default to Millisecond, a timestamp's zone to UTC. No zone at
      all is our `timezone: null`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self, get_args

from pydantic import Field

from schemac.language.attributes.arrow import DATE_ENCODING, ArrowDefaults, Hints
from schemac.language.attributes.attribute import Family
from schemac.language.attributes.builtin import OFFSET
from schemac.language.logical.dataset import Findings
from schemac.language.logical.facts import Fact
from schemac.language.logical.model import AuthoredType, Castability, Invariable, LogicalType, SchemaField
from schemac.language.physical import ArrowField, ArrowType, pa
from schemac.text.source.catalogue import OUT_OF_RANGE, UNKNOWN_TIMEZONE
from schemac.text.source.phrases import Help

DAY = 86400
"""Seconds."""
YEARS = (-62135596800, 253402300799)
"""First and last second of the years 1 to 9999, since 1970."""
_OFFSET_LIKE = re.compile(r"([+-])([0-9].*)")
_POSSIBLE_OFFSET = re.compile(r"[+-]([01][0-9]|2[0-3]):[0-5][0-9]")
"""What Arrow's readers take; no place on earth is more than 14 hours away from UTC."""


class Date(Invariable):
    """A day of the calendar."""

    kind: Literal["Date"] = "Date"
    family: ClassVar[Family] = Family.DATE
    standard_number: ClassVar[int | None] = 3
    foreign_names: ClassVar[tuple[str, ...]] = ("date32", "date64")
    example: ClassVar[str] = "Date"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return date32 or date64."""
        is_wide = defaults.date == "date64" if hints.date is None else hints.date.unit == "Millisecond"
        return pa.date64() if is_wide else pa.date32()

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return the kind, for date64 with a hint of milliseconds."""
        if not pa.types.is_date(type_):
            return None
        hint = {DATE_ENCODING.key: {"unit": "Millisecond"}} if pa.types.is_date64(type_) else {}
        return AuthoredType({}, hint)

    def samples(self) -> tuple[int, ...]:
        """Return days since 1970: the bounds of 32 bits and of the years 1 to 9999."""
        return (0, 1, -1, 19000, -719162, 2932896, 2932897, -719163, 2**31 - 1, -(2**31))


TimeUnit = Literal["Second", "Millisecond", "Microsecond", "Nanosecond"]
ALL_UNITS: tuple[TimeUnit, ...] = get_args(TimeUnit)

UNITS_BY_ARROW: dict[str, str] = {"s": "Second", "ms": "Millisecond", "us": "Microsecond", "ns": "Nanosecond"}
ARROW_UNITS: dict[str, str] = {unit: abbreviation for abbreviation, unit in UNITS_BY_ARROW.items()}
"""Arrow's abbreviation of each unit."""
PER_SECOND: dict[str, int] = {"Second": 1, "Millisecond": 10**3, "Microsecond": 10**6, "Nanosecond": 10**9}
"""How many make a second."""


def is_finer(unit: str, other: str) -> bool:
    """Return whether a unit is shorter than another one."""
    return PER_SECOND[unit] > PER_SECOND[other]


ARROW_PER_SECOND: dict[str, int] = {ARROW_UNITS[unit]: count for unit, count in PER_SECOND.items()}
"""The same by Arrow's abbreviation."""

FRACTION_DIGITS: dict[str, int] = {unit: len(str(count)) - 1 for unit, count in ARROW_PER_SECOND.items()}
"""Digits behind the point of a second that Arrow's unit keeps."""

FOREIGN_UNITS: dict[str, str] = {
    **dict.fromkeys(("s", "sec", "secs"), "Second"),
    **dict.fromkeys(("ms", "milli", "millis", "msec"), "Millisecond"),
    **dict.fromkeys(("us", "micro", "micros", "usec", "\u00b5s", "\u03bcs"), "Microsecond"),
    **dict.fromkeys(("ns", "nano", "nanos", "nsec"), "Nanosecond"),
}
"""What other systems call a unit, without case, to ours."""


class UnitType(LogicalType):
    """What these kinds have in common: the unit that their values are counted in."""

    unit: TimeUnit = Field("Millisecond", description="The unit that values are counted in.")

    def type_text(self) -> str:
        """`Time(Microsecond)`."""
        return f"{self.kind}({self.unit})"

    def facts(self, new: Self) -> Iterator[Fact]:
        """Yield how the unit changed."""
        if self.unit != new.unit:
            yield Fact.TIME_UNIT_REFINED if is_finer(new.unit, self.unit) else Fact.TIME_UNIT_COARSENED

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Return a type of each unit."""
        return tuple(cls(kind=cls.__name__, unit=unit) for unit in ALL_UNITS)


class Time(UnitType):
    """A time of day."""

    kind: Literal["Time"] = "Time"
    family: ClassVar[Family] = Family.TIME
    standard_number: ClassVar[int | None] = 22
    foreign_names: ClassVar[tuple[str, ...]] = ("time32", "time64", "timewithouttimezone")
    example: ClassVar[str] = "{kind: Time, unit: Microsecond}"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return time32 for seconds and milliseconds, else time64."""
        unit = ARROW_UNITS[self.unit]
        return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return the unit."""
        return AuthoredType({"unit": UNITS_BY_ARROW[type_.unit]}) if pa.types.is_time(type_) else None

    def castability(self, new: Self) -> Castability:
        """Return LOSSLESS to a finer unit, for a time of day is within reach of every one; DEPENDS to a coarser one."""
        if self.unit == new.unit:
            return Castability.EQUAL
        return Castability.LOSSLESS if is_finer(new.unit, self.unit) else Castability.DEPENDS

    def samples(self) -> tuple[int, ...]:
        """Return times from midnight to the last moment of the day."""
        per = PER_SECOND[self.unit]
        return tuple(dict.fromkeys((0, 1, 3600 * per, DAY * per - 1)))


class Timestamp(UnitType):
    """A point in time; with no zone, a reading of a wall clock."""

    kind: Literal["Timestamp"] = "Timestamp"
    timezone: str | None = Field(
        "UTC",
        description="The zone of the clock that shows the values, which are instants; `null` for readings of a clock without a zone.",
    )
    family: ClassVar[Family] = Family.TIMESTAMP
    standard_number: ClassVar[int | None] = 23
    foreign_names: ClassVar[tuple[str, ...]] = (
        "datetime", "timestamptz", "timestampltz", "timestampntz", "instant", "datetime64", "datetime2",
        "timestampwithtimezone", "timestampwithouttimezone", "timestampwithlocaltimezone", "timestampns",
        "timestamptzns", "datetimeoffset", "smalldatetime",
    )  # fmt: skip
    example: ClassVar[str] = "{kind: Timestamp, unit: Microsecond}"

    def check(self, field: SchemaField, findings: Findings) -> None:
        """Check that the zone is an offset, or a name of the zone database."""
        zone, code = self.timezone, OUT_OF_RANGE
        if zone == "":
            message = "`timezone` may not be empty"
            help = Help.write("null", key="timezone", reason=" for a timestamp without zone")
        elif zone is not None and _OFFSET_LIKE.fullmatch(zone) and not _POSSIBLE_OFFSET.fullmatch(zone):
            # The offset that was probably meant; UTC if that cannot be guessed.
            digits = re.sub(r"[^0-9]", "", zone)
            hours, minutes = (digits, "00") if len(digits) < 3 else (digits[:-2], digits[-2:])
            offset = f"{zone[0]}{hours:0>2}:{minutes}"
            meant = f"'{offset}'" if OFFSET.fullmatch(offset) else "UTC"
            message = f"'{zone}' is not a valid offset from UTC; write it like +05:30"
            help = Help.write(meant, key="timezone", is_safe=False)
        elif zone is None or zone == "UTC" or OFFSET.fullmatch(zone):
            return
        else:
            # Imported here for start-up time: hardly any manifest names a zone other than UTC.
            from zoneinfo import available_timezones

            names = available_timezones()
            if not names or zone in names:
                return
            code, message = UNKNOWN_TIMEZONE, f"there is no time zone '{zone}'"
            example = "write a name such as UTC, or an offset such as +05:30"
            help = Help.nearest(zone, names, example, mark="'")
        findings.at_type(field, code, message, "timezone", help=help)

    def type_text(self) -> str:
        """`Timestamp(Millisecond, UTC)`."""
        return f"Timestamp({self.unit}, {self.timezone or 'no zone'})"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return a timestamp of the unit and zone."""
        return pa.timestamp(ARROW_UNITS[self.unit], tz=self.timezone)

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return unit and zone."""
        if not pa.types.is_timestamp(type_):
            return None
        return AuthoredType({"unit": UNITS_BY_ARROW[type_.unit], "timezone": type_.tz})

    def facts(self, new: Self) -> Iterator[Fact]:
        """Yield how the unit and how the zone changed."""
        yield from super().facts(new)
        if self.timezone != new.timezone:
            was_clock, is_clock = self.timezone is None, new.timezone is None
            yield Fact.ZONE_ADDED if was_clock else Fact.ZONE_REMOVED if is_clock else Fact.ZONE_CHANGED

    def castability(self, new: Self) -> Castability:
        """Return LOSSLESS between zones, for an instant stays what it is; DEPENDS where a reading of a clock becomes one, or the unit changes."""
        # A finer unit does not reach as far.
        unit = Castability.EQUAL if self.unit == new.unit else Castability.DEPENDS
        if self.timezone == new.timezone:
            return unit
        if self.timezone is None or new.timezone is None:
            return Castability.DEPENDS
        return max(unit, Castability.LOSSLESS)

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Return types of each unit without a zone, in UTC, and in a zone with a summer time."""
        zones = (None, "UTC", "Europe/Berlin")
        return tuple(cls(unit=unit, timezone=zone) for zone in zones for unit in ALL_UNITS)

    def samples(self) -> tuple[int, ...]:
        """Return midnights, the years 1 and 9999, the bounds of 64 bits, and the hours around two changes of Berlin's clocks."""
        per = PER_SECOND[self.unit]
        changes = (1711848600, 1711852200, 1729992600, 1729996200)
        midnight = 4 * 10**9 - 4 * 10**9 % DAY
        seconds = (0, -1, DAY, -3600, -7200, midnight, *changes, *(s - 3600 for s in changes), *YEARS)
        counts = {second * per for second in seconds} | {1, -1, per + 1, 2**63 - 1, -(2**63)}
        return tuple(sorted(count for count in counts if -(2**63) <= count < 2**63))


class Duration(UnitType):
    """A length of time."""

    kind: Literal["Duration"] = "Duration"
    family: ClassVar[Family] = Family.DURATION
    standard_number: ClassVar[int | None] = 5
    foreign_names: ClassVar[tuple[str, ...]] = ("interval", "timedelta", "timedelta64", "intervaldaytosecond")
    example: ClassVar[str] = "{kind: Duration, unit: Second}"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return a duration of the unit."""
        return pa.duration(ARROW_UNITS[self.unit])

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return the unit."""
        return AuthoredType({"unit": UNITS_BY_ARROW[type_.unit]}) if pa.types.is_duration(type_) else None

    def castability(self, new: Self) -> Castability:
        """Return DEPENDS for another unit: a finer one does not reach as far, a coarser one cuts."""
        return Castability.EQUAL if self.unit == new.unit else Castability.DEPENDS

    def samples(self) -> tuple[int, ...]:
        """Return lengths around one and a thousand seconds, and the bounds of 64 bits."""
        per = PER_SECOND[self.unit]
        return tuple(dict.fromkeys((0, 1, -1, 1000, per, per + 1, -per, 2**63 - 1, -(2**63))))
