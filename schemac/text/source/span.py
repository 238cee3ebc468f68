"""Places in a text.

Layer: text.
Units: offsets are zero-based and half-open, in Unicode code points of the decoded text (its byte order mark removed); rendered lines
      and columns are one-based, columns in code points.
"""

from typing import NamedTuple


class Span(NamedTuple):
    """A half-open range of code points, `start <= end`."""

    start: int
    end: int


class Position(NamedTuple):
    """A one-based line and column, as editors count them."""

    line: int
    column: int


class Region(NamedTuple):
    """A range of lines and columns, one-based, the end exclusive; line 0 means "the file as a whole"."""

    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    @classmethod
    def within(cls, line: int, column: int, end_column: int) -> "Region":
        """Return a range of one line."""
        return cls(line, column, line, end_column)

    @classmethod
    def point(cls, line: int, column: int) -> "Region":
        """Return the empty range before a column."""
        return cls(line, column, line, column)


WHOLE_FILE = Region()
