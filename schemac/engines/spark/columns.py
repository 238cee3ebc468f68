"""Columns as Spark has them, with the keys by which lance-spark finds in them what Spark's types cannot say.

Layer: engines.
Shape: keys of StructField metadata, some of which have a table property that says the same of a top-level column. What the connector leaves
      of them in the tables that it makes is the engine's `ArrowForm`. The storage version of such tables is an attribute of the engine
      whose tables Spark alters.
Source: `SchemaConverter` and `LanceArrowUtils` of github.com/lance-format/lance-spark.
"""

import dataclasses
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import ValidationError

from schemac.arrow.metadata import ArrowForm
from schemac.engines.spark import ENGINE
from schemac.engines.sql_text import literal, quoted_name
from schemac.language.attributes.attribute import Attribute, Extra, Role
from schemac.language.attributes.registry import roles
from schemac.registry.engine import engine
from schemac.text.source.json_object import Json

VECTOR_SIZE = "arrow.fixed-size-list.size"
BYTE_WIDTH = "arrow.fixed-size-binary.byte-width"
FLOAT16 = "arrow.float16"
DATE_MILLISECOND = "arrow.date-millisecond"
LARGE_STRING = "arrow:large-var-char"
LARGE_BINARY = "arrow:large-var-binary"
LARGE_LIST = "arrow.large_list"
CHILD_NAME = "_lance.list.child.name"
ITEM_KEYS = ("_lance.element",)
ENTRY_KEYS = ("_lance.key", "_lance.value")
COMMENT = "comment"
FILE_FORMAT_VERSION = "file_format_version"
"""Table property with the version of the data files; without it the connector takes an older one."""

TYPE_MARKS = frozenset(
    {
        *(VECTOR_SIZE, BYTE_WIDTH, FLOAT16, DATE_MILLISECOND, LARGE_STRING, LARGE_BINARY, LARGE_LIST),
        *(CHILD_NAME, *ITEM_KEYS, *ENTRY_KEYS),
    }
)
"""Those that only repeat what the Arrow type says, once there is a table."""
VECTOR_ELEMENTS = ("float", "double")
"""Items that a vector made by a table property may have."""
ENCODINGS = ("compression", "compression-level", "structural-encoding", "rle-threshold", "bss")
"""Encodings that have a table property."""
ENCODING_PREFIX = "lance-encoding:"
BLOB = f"{ENCODING_PREFIX}blob"
BLOB_EXTENSION = "lance.blob.v2"
PRIMARY_KEY = "lance-schema:unenforced-primary-key"
PRIMARY_KEY_POSITION = f"{PRIMARY_KEY}:position"


class SparkForm(ArrowForm):
    """What lance-spark leaves in the fields of a table."""

    repeated = TYPE_MARKS
    description = COMMENT


FORM = SparkForm()


@dataclass(frozen=True)
class SparkType:
    """A type in both of Spark's spellings, with the metadata of its field."""

    json: Any
    ddl: str
    metadata: Json = dataclasses.field(default_factory=dict)
    quotations: int = 0
    """How many texts of JSON the metadata has inside each other, for items of items."""


@dataclass(slots=True)
class SparkField:
    """A column, or a member of a struct."""

    name: str
    type: SparkType
    is_nullable: bool
    metadata: Json
    comment: str | None

    def json(self) -> Json:
        """Return the StructField."""
        return {
            "metadata": self.metadata,
            "name": self.name,
            "nullable": self.is_nullable,
            "type": self.type.json,
        }

    def ddl(self, separator: str) -> str:
        """Return the column as Spark SQL defines it."""
        null = "" if self.is_nullable else " NOT NULL"
        comment = "" if self.comment is None else f" COMMENT {literal(self.comment)}"
        return f"{quoted_name(self.name)}{separator}{self.type.ddl}{null}{comment}"


@cache
def _storage_version_attribute() -> Attribute[str]:
    return roles(engine(ENGINE.alters).domain)[Role.STORAGE_VERSION]


def storage_version(extra: Extra) -> str:
    """Return the version of the data files that a schema is for."""
    attribute = _storage_version_attribute()
    return attribute.read(extra) or str(attribute.default)


def storage_attribute(version: Any) -> Json:
    """Return the attribute of a data file version; empty if there is no such version."""
    attribute = _storage_version_attribute()
    try:
        return {attribute.key: attribute.typed(version)}
    except ValidationError:
        return {}
