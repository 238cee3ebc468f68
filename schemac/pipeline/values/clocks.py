"""A clock without a zone, and the instant that it means.

Layer: pipeline.
Shape: `zone` of a field in the pipeline file says it of what is read, `schemac.dev/clockZone` in the schema of what is written;
       the side that has no zone counts first, as it does where a table changes (`evolution.clocks`). Where neither says
       it, `timezone` of the source does. `with_zones` writes the zone beside each timestamp, at every depth, where
       whatever reads a value finds it.
Rule: nothing is guessed. A clock is an instant only where its zone is told, or the field's own zone is UTC; a time that
      the clocks of the zone skip, or show twice, is none. An instant for a field without a zone is what the clock of the
      told zone shows, or that of UTC.
"""

from dataclasses import dataclass
from datetime import timedelta

import pyarrow as pa

from schemac.judging.clocks import with_zones as with_zones_of
from schemac.judging.clocks import zone_of, zone_of_clock
from schemac.judging.forms import GAP, NOT_DECLARED, OVERLAP
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.spark.sqltext import first_of, let, literal, when

__all__ = ["Clock", "with_zones", "zone_of"]

DAY_MICROSECONDS = timedelta(days=1) // timedelta(microseconds=1)


def with_zones(schema: pa.Schema, job: Job) -> pa.Schema:
    """Note the zone of its clocks beside each field of a schema that has one."""
    zones = {label: origin.zone for label, origin in job.fields.items() if origin is not None}
    return with_zones_of(schema, zones.get, job.source.timezone)


@dataclass(frozen=True)
class Clock:
    """How clocks become instants of one field; `zone` is None where nobody has told it."""

    zone: str | None

    @classmethod
    def of(cls, field_zone: str, told: str | None) -> "Clock":
        """Give the clock of a field whose values are shown in `field_zone`."""
        return cls(zone_of_clock(field_zone, told))

    def instant(self, clock: str) -> str:
        """Compute the instant of a clock that is given as the instant at which clocks in UTC show the same; null where it is none."""
        if self.zone is None:
            return "cast(null as timestamp)"
        if self.zone == "UTC":
            return clock
        return let(
            clock,
            lambda c: let(
                self._earlier(c), lambda u: when(f"{self._gap(c, u)} or {self._twice(c, u)}", "null", u)
            ),
        )

    def rule(self, clock: str) -> str | None:
        """Name the rule that a clock breaks which is no instant; null where it is one. None where all are."""
        if self.zone is None:
            return literal(NOT_DECLARED)
        if self.zone == "UTC":
            return None
        return let(
            clock,
            lambda c: let(
                self._earlier(c),
                lambda u: first_of([(self._gap(c, u), literal(GAP)), (self._twice(c, u), literal(OVERLAP))]),
            ),
        )

    def shown(self, instant: str) -> str:
        """Compute what the clock shows at an instant, given as the instant at which clocks in UTC show the same."""
        return instant if self.zone == "UTC" else self._shown(instant)

    def _earlier(self, clock: str) -> str:
        return f"to_utc_timestamp({clock}, {literal(self.zone or '')})"

    def _shown(self, instant: str) -> str:
        return f"from_utc_timestamp({instant}, {literal(self.zone or '')})"

    def _gap(self, clock: str, instant: str) -> str:
        return f"({self._shown(instant)} <> {clock})"

    def _twice(self, clock: str, instant: str) -> str:
        """Whether the offset of a day later gives another instant with the same clock: Spark has taken the earlier one."""
        later = f"timestamp_micros(unix_micros({instant}) + {DAY_MICROSECONDS}L)"
        offset = f"unix_micros({self._shown(later)}) - unix_micros({later})"
        other = f"timestamp_micros(unix_micros({clock}) - ({offset}))"
        return f"({other} <> {instant} and {self._shown(other)} = {clock})"
