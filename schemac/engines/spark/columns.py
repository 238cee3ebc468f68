"""Columns as Spark has them.

Layer: engines.
"""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from json.encoder import encode_basestring
from typing import Any

from schemac.arrow.metadata import compact
from schemac.engines.spark_sql import literal, quoted_name
from schemac.text.source.json_object import Json


@dataclass(frozen=True)
class SparkType:
    """A type in both of Spark's spellings, with what its field's metadata has to say about it."""

    json: Any
    ddl: str
    metadata: Json = dataclasses.field(default_factory=dict)
    quotations: int = 0
    """How many texts of JSON the metadata has inside each other, for items of items."""

    @cached_property
    def json_text(self) -> str:
        """The first spelling as compact JSON, keys sorted; most fields share their type with many others."""
        return compact(self.json)


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

    def json_text(self) -> str:
        """Return the StructField as compact JSON, keys sorted."""
        return (
            f'{{"metadata":{compact(self.metadata)},"name":{encode_basestring(self.name)}'
            f',"nullable":{"true" if self.is_nullable else "false"},"type":{self.type.json_text}}}'
        )

    def ddl(self, separator: str) -> str:
        """Return the column as Spark SQL defines it."""
        null = "" if self.is_nullable else " NOT NULL"
        comment = "" if self.comment is None else f" COMMENT {literal(self.comment)}"
        return f"{quoted_name(self.name)}{separator}{self.type.ddl}{null}{comment}"
