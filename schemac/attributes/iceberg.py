"""`iceberg.apache.org`: format, identifier fields, defaults and richer types of Iceberg tables.

Layer: attributes.
Source: the Iceberg table specification, formats 2 and 3.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from schemac.attributes.attribute import Attribute
from schemac.attributes.family import Family

DOMAIN = "iceberg.apache.org"


def _distinct(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("a field stands here twice")
    return names


_TYPE = r"^(uuid|variant|(geometry|geography)(\([^()]+\))?)$"

FORMAT_VERSION = Attribute[int](
    f"{DOMAIN}/formatVersion",
    Literal[2, 3],
    "version of the table's format; 2 where nothing is said",
    on_field=False,
    on_schema=True,
)
IDENTIFIER_FIELDS = Attribute[list[str]](
    f"{DOMAIN}/identifierFields",
    Annotated[list[str], AfterValidator(_distinct)],
    "paths of the fields that identify a row, where they are not the primary key; an empty list for none",
    on_field=False,
    on_schema=True,
)
TABLE_PROPERTIES = Attribute[dict[str, str]](
    f"{DOMAIN}/tableProperties",
    dict[str, str],
    "properties of the table, as text",
    on_field=False,
    on_schema=True,
)
TYPE = Attribute[str](
    f"{DOMAIN}/type",
    Annotated[str, Field(pattern=_TYPE)],
    "Iceberg's type where it is richer: uuid, and in format 3 variant, geometry, geography",
    fits=frozenset({Family.BYTES, Family.TEXT, Family.STRUCT}),
)
INITIAL_DEFAULT = Attribute[Any](
    f"{DOMAIN}/initialDefault", Any, "value of the field in rows that are older than it (format 3)"
)
WRITE_DEFAULT = Attribute[Any](
    f"{DOMAIN}/writeDefault", Any, "value that writers write where they have none (format 3)"
)
ATTRIBUTES = (FORMAT_VERSION, IDENTIFIER_FIELDS, TABLE_PROPERTIES, TYPE, INITIAL_DEFAULT, WRITE_DEFAULT)
