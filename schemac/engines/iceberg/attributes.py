"""`iceberg.apache.org`: format, identifier fields, defaults and richer types of Iceberg tables.

Layer: engines.
Source: the Iceberg table specification, formats 2 and 3.
"""

from typing import Annotated, Any, Literal

from schemac.attributes.attribute import Attribute
from schemac.attributes.family import Family
from schemac.syntax.reading import Bounds, Rule

DOMAIN = "iceberg.apache.org"


def _distinct(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("a field is listed twice")
    return names


_TYPE = r"^(uuid|variant|(geometry|geography)(\([^()]+\))?)$"

FORMAT_VERSION = Attribute[int](
    f"{DOMAIN}/formatVersion",
    Literal[1, 2, 3],
    "format version of the table; a new table gets 2 by default, and one that is there keeps its own",
    on_field=False,
    on_schema=True,
)
IDENTIFIER_FIELDS = Attribute[list[str]](
    f"{DOMAIN}/identifierFields",
    Annotated[list[str], Rule(_distinct)],
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
    example="{write.format.default: parquet}",
)
TYPE = Attribute[str](
    f"{DOMAIN}/type",
    Annotated[str, Bounds(pattern=_TYPE)],
    "Iceberg's type where it is richer: uuid, and in format 3 variant, geometry, geography",
    fits=frozenset({Family.TEXT, Family.BYTES, Family.STRUCT}),
    is_geometry=lambda type_: type_.startswith("geo"),
)
INITIAL_DEFAULT = Attribute[Any](
    f"{DOMAIN}/initialDefault", Any, "value of the field in rows older than the field (format 3)"
)
WRITE_DEFAULT = Attribute[Any](
    f"{DOMAIN}/writeDefault", Any, "value that is written where a row has none (format 3)"
)
ATTRIBUTES = (FORMAT_VERSION, IDENTIFIER_FIELDS, TABLE_PROPERTIES, TYPE, INITIAL_DEFAULT, WRITE_DEFAULT)
