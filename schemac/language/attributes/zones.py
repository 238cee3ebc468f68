"""Time zones by their names.

Layer: language.
Source: the IANA time zone database, as the machine or the `tzdata` package has it; Arrow's form of an offset, `+05:30`.
"""

import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import cache

_NAMES_OF_UTC = ("GMT", "GMT+0", "GMT-0", "GMT0", "Greenwich", "UCT", "UTC", "Universal", "Zulu")
_UTC = frozenset({"+00:00", "-00:00", *_NAMES_OF_UTC, *(f"Etc/{name}" for name in _NAMES_OF_UTC)})
_OFFSET = re.compile(r"([+-])(0[0-9]|1[0-4]):([0-5][0-9])")


def is_utc(name: str | None) -> bool:
    """Whether a zone is UTC, by whichever of its names."""
    return name in _UTC


@cache
def find_zone(name: str) -> tzinfo | None:
    """Return the zone of this name, or of this offset from UTC; None if there is none."""
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
