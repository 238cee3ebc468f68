"""`iceberg.apache.org`: format, identifier fields, defaults and richer types of Iceberg tables.

Layer: engines.
Source: the Iceberg table specification, formats 2 and 3.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from schemac.language.attributes.attribute import Attribute, Family, Renaming
from schemac.language.attributes.builtin import distinct

DOMAIN = "iceberg.apache.org"
_TYPE = r"^(uuid|variant|(geometry|geography)(\([^()]+\))?)$"

OF_COLUMN = ".column."
"""Stands before the full name in `write.metadata.metrics.column.a` and in the properties of bloom filters and statistics."""
COLUMNS = "write.orc.bloom.filter.columns"
"""A property whose value is a list of full names."""


def _renamed_properties(properties: dict[str, str], old: str, new: str) -> Iterator[Renaming]:
    """Yield the properties that name a column, or a field in it."""
    for key, value in properties.items():
        start, of_column, name = key.partition(OF_COLUMN)
        if of_column and _is_within(name, old):
            yield Renaming((key,), f"{start}{of_column}{new}{name[len(old) :]}", is_key=True)
        if key == COLUMNS:
            names = re.split(r"(\s*,\s*)", value)
            if any(_is_within(one, old) for one in names):
                text = "".join(new + one[len(old) :] if _is_within(one, old) else one for one in names)
                yield Renaming((key,), text)


def _is_within(name: str, column: str) -> bool:
    return name == column or name.startswith(f"{column}.")


FORMAT_VERSION = Attribute[int](
    f"{DOMAIN}/formatVersion",
    Literal[1, 2, 3],
    "format version of the table; a new table gets 2 by default, and an existing one keeps its version",
    on_field=False,
    on_schema=True,
)
IDENTIFIER_FIELDS = Attribute[list[str]](
    f"{DOMAIN}/identifierFields",
    Annotated[list[str], distinct("a field")],
    "paths of the fields that identify a row, if not the primary key; an empty list for none",
    on_field=False,
    on_schema=True,
    example="[id]",
)
TABLE_PROPERTIES = Attribute[dict[str, str]](
    f"{DOMAIN}/tableProperties",
    dict[str, str],
    "properties of the table, as text",
    is_of_storage=True,
    on_field=False,
    on_schema=True,
    renamed=_renamed_properties,
    example="{write.format.default: parquet}",
)
TYPE = Attribute[str](
    f"{DOMAIN}/type",
    Annotated[str, Field(pattern=_TYPE)],
    "Iceberg's type where it is richer: uuid, and in format 3 variant, geometry, geography",
    fits=frozenset({Family.TEXT, Family.BYTES, Family.STRUCT}),
    is_geometry=lambda type_: type_.startswith("geo"),
)
INITIAL_DEFAULT = Attribute[Any](
    f"{DOMAIN}/initialDefault", Any, "value of the field in rows that are older than the field (format 3)"
)
WRITE_DEFAULT = Attribute[Any](
    f"{DOMAIN}/writeDefault", Any, "value that writers write if a row has none (format 3)"
)
ATTRIBUTES = (FORMAT_VERSION, IDENTIFIER_FIELDS, TABLE_PROPERTIES, TYPE, INITIAL_DEFAULT, WRITE_DEFAULT)
