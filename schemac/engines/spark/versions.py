"""Versions of lance-spark, and what each can do.

Layer: engines.
Source: 0.4.0 as published was run; so were builds of 0.5.1 and of August 2026, after 0.7.1. Changes of columns are an open
pull request of the project (github.com/lance-format/lance-spark/pull/752), which no release has.
"""

import re
from dataclasses import dataclass
from functools import cache, cached_property

NEXT = "next"
"""The word for the connector with the changes that wait upstream."""
NEWEST_KNOWN = "0.7.1"
"""What nobody says otherwise: the newest release whose behaviour is known."""
_FORM = re.compile(r"[0-9]{1,4}\.[0-9]{1,4}(\.[0-9]{1,4})?")


@dataclass(frozen=True)
class Connector:
    """A version of lance-spark."""

    version: str = NEWEST_KNOWN

    @classmethod
    @cache
    def of(cls, text: str) -> "Connector":
        """Return the version of a text such as `0.4.0`. Raises ValueError."""
        if text != NEXT and not _FORM.fullmatch(text):
            why = "is not a version of lance-spark; write one such as 0.4.0"
            raise ValueError(f"`{text}` {why}, or `{NEXT}`")
        connector = cls(text)
        if text != NEXT and connector._number > cls(NEWEST_KNOWN)._number:
            way_out = f"write a version up to {NEWEST_KNOWN}, or `{NEXT}`"
            raise ValueError(f"schemac does not know lance-spark {text}; {way_out}")
        return connector

    @cached_property
    def _number(self) -> tuple[int, ...]:
        """Return the version as comparable numbers; the next version is above all others."""
        return (9999,) if self.version == NEXT else tuple(map(int, self.version.split(".")))

    @property
    def is_since_0_5(self) -> bool:
        """Whether it has the changes of version 0.5.

        Since then it takes ALTER TABLE … SET TBLPROPERTIES, knows primary keys and the table properties of fixed-size binaries,
        halves and encodings, and takes a blob in files of the newer storage versions in CREATE TABLE. It reads rows that are older
        than a member of one of their structs, and times, halves, large lists, maps, and timestamps that do not count microseconds.
        Items of lists are called `item`, and all members of a nullable struct become nullable.
        """
        return self._number >= (0, 5)

    def __str__(self) -> str:
        """Return `lance-spark 0.4.0` for a sentence; without a chosen version, all known versions."""
        if self.version == NEXT:
            return "lance-spark as of pull request 752"
        return f"lance-spark {'≤ ' if self.version == NEWEST_KNOWN else ''}{self.version}"


def checked(text: str) -> str:
    """Return the version of a text such as `0.4.0`. Raises ValueError."""
    return Connector.of(text).version


KNOWN = Connector()
"""The one that answers where nobody names a version."""
