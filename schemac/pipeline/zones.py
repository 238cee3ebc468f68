"""Names of time zones.

Source: the time zone database as Python has it; Java, which Spark asks, has the same names.
"""

from zoneinfo import available_timezones

UTC_NAMES = frozenset(
    {"UTC", "Z", "GMT", "+00:00", "-00:00", "Etc/UTC", "Etc/GMT", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu"}
)
"""Ways to write UTC, whose clocks show instants."""


def is_zone(text: str) -> bool:
    """Whether a text names a zone: of the time zone database, or an offset such as `+02:00`."""
    return text in UTC_NAMES or text in available_timezones() or _is_offset(text)


def _is_offset(text: str) -> bool:
    hours, colon, minutes = text[1:].partition(":")
    is_written = text[:1] in {"+", "-"} and colon and len(hours) == len(minutes) == 2
    return bool(
        is_written
        and (hours + minutes).isdecimal()
        and int(minutes) < 60
        and int(hours) * 60 + int(minutes) <= 18 * 60
    )
