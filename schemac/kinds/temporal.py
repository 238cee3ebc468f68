"""Date, Time, Timestamp and Duration.

Layer: kinds.
Errors: SC205 out-of-range, SC316 unknown-timezone.
Source: RFC-016: units default to Millisecond, a timestamp's zone to UTC. No zone at all is our `timezone: null`.
"""

import re
from collections.abc import Sequence
from typing import ClassVar, Literal

from schemac.attributes.arrow import ArrowDefaults, Hints
from schemac.kinds.units import ARROW_UNITS, TimeUnit
from schemac.logical.findings import Findings
from schemac.logical.model import LogicalType
from schemac.logical.slots import Slot
from schemac.physical.arrow import ArrowField, ArrowType, pa
from schemac.source.catalogue import OUT_OF_RANGE, UNKNOWN_TIMEZONE
from schemac.source.suggest import closest

_OFFSET_LIKE = re.compile(r"([+-])([0-9].*)")
_POSSIBLE_OFFSET = re.compile(r"[+-]([01][0-9]|2[0-3]):[0-5][0-9]")
"""What Arrow's readers take; no place on earth is more than 14 hours away from UTC."""
_OFFSET = re.compile(r"[+-](0[0-9]|1[0-4]):[0-5][0-9]")


class Date(LogicalType):
    """A day of the calendar."""

    kind: Literal["Date"] = "Date"
    example: ClassVar[str] = "Date"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """date32 or date64."""
        in_milliseconds = (
            hints.date.unit == "Millisecond" if hints.date is not None else defaults.date == "date64"
        )
        return pa.date64() if in_milliseconds else pa.date32()


class Time(LogicalType):
    """A time of day."""

    kind: Literal["Time"] = "Time"
    unit: TimeUnit = "Millisecond"
    example: ClassVar[str] = "{kind: Time, unit: Microsecond}"

    def title(self) -> str:
        """`Time(Microsecond)`."""
        return f"Time({self.unit})"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """time32 for seconds and milliseconds, else time64."""
        unit = ARROW_UNITS[self.unit]
        return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)


class Timestamp(LogicalType):
    """A point in time; with no zone, a reading of a wall clock."""

    kind: Literal["Timestamp"] = "Timestamp"
    unit: TimeUnit = "Millisecond"
    timezone: str | None = "UTC"
    example: ClassVar[str] = "{kind: Timestamp, unit: Microsecond}"

    def check(self, slot: Slot, findings: Findings) -> None:
        """A zone is an offset, or a name of the zone database."""
        zone = self.timezone
        if zone == "":
            findings.at_type(
                slot,
                OUT_OF_RANGE,
                "`timezone` may not be empty",
                "timezone",
                help="write `timezone: null` for a timestamp without zone",
            )
            return
        if zone is not None and _OFFSET_LIKE.fullmatch(zone) and not _POSSIBLE_OFFSET.fullmatch(zone):
            help = f"write `timezone: {_mended_offset(zone)}`"
            message = f"'{zone}' is no offset from UTC; these are written as +05:30"
            findings.at_type(slot, OUT_OF_RANGE, message, "timezone", help=help)
            return
        if zone is None or zone == "UTC" or _OFFSET.fullmatch(zone):
            return
        # Imported here for start-up time: hardly any manifest names a zone other than UTC.
        from zoneinfo import available_timezones

        names = available_timezones()
        if names and zone not in names:
            nearest = closest(zone, names)
            findings.at_type(
                slot,
                UNKNOWN_TIMEZONE,
                f"no time zone is called '{zone}'",
                "timezone",
                help=f"did you mean '{nearest}'?"
                if nearest
                else "write a name such as UTC, or an offset such as +05:30",
            )

    def title(self) -> str:
        """`Timestamp(Millisecond, UTC)`."""
        return f"Timestamp({self.unit}, {self.timezone or 'no zone'})"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Timestamp of the unit and zone."""
        return pa.timestamp(ARROW_UNITS[self.unit], tz=self.timezone)


def _mended_offset(zone: str) -> str:
    """The offset that was probably meant, as Arrow writes it; UTC where there is no saying."""
    digits = re.sub(r"[^0-9]", "", zone)
    hours, minutes = (digits, "00") if len(digits) < 3 else (digits[:-2], digits[-2:])
    offset = f"{zone[0]}{hours:0>2}:{minutes}"
    return f"'{offset}'" if _OFFSET.fullmatch(offset) else "UTC"


class Duration(LogicalType):
    """A length of time."""

    kind: Literal["Duration"] = "Duration"
    unit: TimeUnit = "Millisecond"
    example: ClassVar[str] = "{kind: Duration, unit: Second}"

    def title(self) -> str:
        """`Duration(Second)`."""
        return f"Duration({self.unit})"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Duration of the unit."""
        return pa.duration(ARROW_UNITS[self.unit])
