"""`paimon.apache.org`: keys, options and richer types of Paimon tables.

Layer: attributes.
Source: Paimon's schema specification.
"""

from typing import Annotated

from pydantic import AfterValidator, Field

from schemac.attributes.attribute import Attribute
from schemac.attributes.family import Family

DOMAIN = "paimon.apache.org"


def _distinct(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("a column is listed twice")
    return names


Columns = Annotated[list[str], Field(min_length=1), AfterValidator(_distinct)]
_TYPE = (
    r"^((VARCHAR|CHAR|VARBINARY|BINARY)\([1-9][0-9]{0,9}\)|(TIME|TIMESTAMP|TIMESTAMP_LTZ)\([0-9]\)"
    r"|VARIANT|MULTISET|BLOB|VECTOR|ARRAY)$"
)

PRIMARY_KEYS = Attribute[list[str]](
    f"{DOMAIN}/primaryKeys", Columns, "columns of the primary key, in order", on_field=False, on_schema=True
)
PARTITION_KEYS = Attribute[list[str]](
    f"{DOMAIN}/partitionKeys",
    Columns,
    "columns that the table is partitioned by",
    on_field=False,
    on_schema=True,
)
OPTIONS = Attribute[dict[str, str]](
    f"{DOMAIN}/options", dict[str, str], "options of the table, as text", on_field=False, on_schema=True
)
COMMENT = Attribute[str](f"{DOMAIN}/comment", str, "comment of the table", on_field=False, on_schema=True)
DEFAULT_VALUE = Attribute[str](f"{DOMAIN}/defaultValue", str, "default value of the column, as text")
TYPE = Attribute[str](
    f"{DOMAIN}/type",
    Annotated[str, Field(pattern=_TYPE)],
    "Paimon's type where it says more than the kind, such as VARCHAR(20)",
    fits=frozenset(
        {Family.TEXT, Family.BYTES, Family.TIME, Family.TIMESTAMP, Family.LIST, Family.MAP, Family.STRUCT}
    ),
)
NULLABLE_KEY = Attribute[bool](
    f"{DOMAIN}/nullableKey",
    bool,
    "whether Paimon's type of the map key (for a MULTISET: of the element) allows nulls, as Flink declares it",
    fits=frozenset({Family.MAP}),
)
ATTRIBUTES = (PRIMARY_KEYS, PARTITION_KEYS, OPTIONS, COMMENT, DEFAULT_VALUE, TYPE, NULLABLE_KEY)
