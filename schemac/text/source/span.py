"""Places in a text.

JSON objects, at the edges of the compiler.

Layer: text.
Units: offsets are zero-based and half-open, in Unicode code points of the decoded text (its byte order mark removed); rendered lines
      and columns are one-based, columns in code points.
"""

from typing import Any, NamedTuple


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


Json = dict[str, Any]
"""An object of a JSON, YAML or TOML document, as it was read or is about to be written.

Its keys are those of the document. What the compiler knows by names of its own is a value class.
"""


def in_order(value: Any) -> Any:
    """Return a value whose objects have their keys in order: an author's order of keys means nothing.

    >>> in_order({"b": [{"d": 1, "c": 2}], "a": 3})
    {'a': 3, 'b': [{'c': 2, 'd': 1}]}
    """
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value)}
    return [in_order(item) for item in value] if isinstance(value, list | tuple) else value
