"""Time zones by their names.

Floor: 2 (attributes).
Source: the IANA time zone database, as the machine or the `tzdata` package has it; Arrow's form of an offset, `+05:30`.
"""

import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import cache

_OFFSET = re.compile(r"([+-])(0[0-9]|1[0-4]):([0-5][0-9])")


@cache
def find_zone(name: str) -> tzinfo | None:
    """The zone of this name, or of this offset from UTC; None where there is none."""
    if name == "UTC":
        return UTC
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        sign, hours, minutes = offset.groups()
        distance = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-distance if sign == "-" else distance)
    # Imported here for start-up time: hardly any manifest names a zone other than UTC.
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
