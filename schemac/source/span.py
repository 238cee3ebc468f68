"""Places in a text.

Layer: source.
Units: offsets are zero-based and half-open, in Unicode code points of the decoded text (its byte order
mark removed); rendered lines and columns are one-based, columns in code points.
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
