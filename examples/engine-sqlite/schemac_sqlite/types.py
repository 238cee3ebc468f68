"""The type of a column in a strict table.

Source: sqlite.org, "STRICT Tables": INTEGER (64 bits), REAL, TEXT, BLOB and ANY.
"""

from typing import Any, NamedTuple

from schemac.language.attributes.attribute import Family
from schemac.language.logical.model import SchemaField


class ColumnType(NamedTuple):
    """A type of SQLite, and whether the manifest's type comes back from it."""

    name: str
    is_lossless: bool = False


def type_of(field: SchemaField) -> ColumnType:
    """Return the type of a column; a kind of a family that is not listed is text."""
    type_: Any = field.type
    match type_.family:
        case Family.INTEGER if type_.bits < 64 or type_.is_signed:
            return ColumnType("INTEGER", is_lossless=type_.bits == 64)
        case Family.BOOLEAN | Family.DURATION:
            return ColumnType("INTEGER")
        case Family.FLOAT:
            return ColumnType("REAL", is_lossless=type_.bits == 64)
        case Family.BYTES:
            return ColumnType("BLOB", is_lossless=type_.fixed_length is None)
    return ColumnType("TEXT", is_lossless=type_.family is Family.TEXT)
