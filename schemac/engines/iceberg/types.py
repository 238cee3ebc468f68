"""Iceberg's types and schemas, as its metadata has them.

Layer: engines.
Shape: a tree; every field, element, key and value has an id. `to_json` gives keys in the order in which Iceberg's Java
writes them.
Why by hand: pyiceberg 0.12 knows no `variant`, and no `geometry` or `geography` with a reference system, which format 3 has; and an
artifact of Iceberg belongs to the base install. Where a catalog is open, its schemas are pyiceberg's.
Source: the Iceberg table specification, "Schemas and Data Types" and "Appendix C: JSON serialization".
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from schemac.source.json_object import Json

FORMAT_2, FORMAT_3 = 2, 3
MOST_DIGITS = 38
"""Of a decimal."""


@dataclass(frozen=True, slots=True)
class IcebergType:
    """Base of all types."""

    @property
    def word(self) -> str:
        """The type without its parts: `long`, `decimal(9, 2)`, `list`."""
        raise NotImplementedError

    @property
    def fields(self) -> "tuple[NestedField, ...]":
        """The members of a struct, the element of a list, or key and value of a map."""
        return ()

    def with_fields(self, fields: "tuple[NestedField, ...]") -> "IcebergType":
        """Return the same type with other fields in the places of its own."""
        return self

    def type_text(self) -> str:
        """Return the type for people."""
        return self.word

    def to_json(self) -> Any:
        """Return the type as metadata has it."""
        return self.word


@dataclass(frozen=True, slots=True)
class Primitive(IcebergType):
    """A type without parts, by its text; `variant`, which is none of them by the specification, counts as one here."""

    text: str

    @property
    def word(self) -> str:
        """The text."""
        return self.text


@dataclass(frozen=True, slots=True)
class Decimal(IcebergType):
    """A number with a fixed scale."""

    precision: int
    scale: int

    @property
    def word(self) -> str:
        """As Java and Python write it."""
        return f"decimal({self.precision}, {self.scale})"


@dataclass(frozen=True, slots=True)
class Fixed(IcebergType):
    """Always the same number of bytes."""

    length: int

    @property
    def word(self) -> str:
        """`fixed[16]`."""
        return f"fixed[{self.length}]"


@dataclass(frozen=True, slots=True)
class NestedField:
    """A column, a member, an element, a key or a value."""

    id: int
    name: str
    """`element`, `key` or `value` for the parts of lists and maps."""
    type: IcebergType
    required: bool = False
    doc: str | None = None
    initial_default: Any = None
    """The value in files that do not have the field, as JSON; None for none."""
    write_default: Any = None
    """The value that writers write where they have none, as JSON; None for none."""

    def to_json(self) -> Json:
        """Return a column or member as metadata has it."""
        tree: Json = {
            "id": self.id,
            "name": self.name,
            "required": self.required,
            "type": self.type.to_json(),
        }
        if self.doc is not None:
            tree["doc"] = self.doc
        if self.initial_default is not None:
            tree["initial-default"] = self.initial_default
        if self.write_default is not None:
            tree["write-default"] = self.write_default
        return tree

    def full_type_text(self) -> str:
        """Return the type with its nullability, as people write it."""
        return f"{'required' if self.required else 'optional'} {self.type.type_text()}"


@dataclass(frozen=True, slots=True)
class Struct(IcebergType):
    """Named members in an order."""

    members: tuple[NestedField, ...]

    @property
    def word(self) -> str:
        """`struct`."""
        return "struct"

    @property
    def fields(self) -> tuple[NestedField, ...]:
        """The members."""
        return self.members

    def with_fields(self, fields: tuple[NestedField, ...]) -> "Struct":
        """Other members."""
        return Struct(fields)

    def type_text(self) -> str:
        """`struct<x: required int>`."""
        return f"struct<{', '.join(f'{m.name}: {m.full_type_text()}' for m in self.members)}>"

    def to_json(self) -> Any:
        """Return an object with the members."""
        return {"type": "struct", "fields": [member.to_json() for member in self.members]}


@dataclass(frozen=True, slots=True)
class List(IcebergType):
    """Elements of one type."""

    element: NestedField

    @property
    def word(self) -> str:
        """`list`."""
        return "list"

    @property
    def fields(self) -> tuple[NestedField, ...]:
        """The element."""
        return (self.element,)

    def with_fields(self, fields: tuple[NestedField, ...]) -> "List":
        """Another element."""
        return List(*fields)

    def type_text(self) -> str:
        """`list<required int>`."""
        return f"list<{self.element.full_type_text()}>"

    def to_json(self) -> Any:
        """Return an object with the element."""
        return {
            "type": "list",
            "element-id": self.element.id,
            "element": self.element.type.to_json(),
            "element-required": self.element.required,
        }


@dataclass(frozen=True, slots=True)
class Map(IcebergType):
    """Values by key; a key is always required."""

    key: NestedField
    value: NestedField

    @property
    def word(self) -> str:
        """`map`."""
        return "map"

    @property
    def fields(self) -> tuple[NestedField, ...]:
        """Key and value."""
        return (self.key, self.value)

    def with_fields(self, fields: tuple[NestedField, ...]) -> "Map":
        """Another key and value."""
        return Map(*fields)

    def type_text(self) -> str:
        """`map<string, optional int>`."""
        return f"map<{self.key.type.type_text()}, {self.value.full_type_text()}>"

    def to_json(self) -> Any:
        """Return an object with key and value."""
        return {
            "type": "map",
            "key-id": self.key.id,
            "key": self.key.type.to_json(),
            "value-id": self.value.id,
            "value": self.value.type.to_json(),
            "value-required": self.value.required,
        }


@dataclass(frozen=True, slots=True)
class IcebergSchema:
    """The columns of a table, and which of them identify a row."""

    columns: tuple[NestedField, ...]
    identifier_ids: tuple[int, ...] = ()
    """In rising order."""
    schema_id: int = 0

    def to_json(self) -> Json:
        """Return the schema as metadata has it."""
        tree: Json = {"type": "struct", "schema-id": self.schema_id}
        if self.identifier_ids:
            tree["identifier-field-ids"] = list(self.identifier_ids)
        tree["fields"] = [column.to_json() for column in self.columns]
        return tree

    def preorder(self) -> "Iterator[tuple[tuple[str, ...], NestedField]]":
        """Every field with its path, parents first."""
        return preorder(self.columns)

    @property
    def highest_id(self) -> int:
        """The highest id that a field has; 0 for none."""
        return max((field.id for _, field in self.preorder()), default=0)

    def renumbered(self, ids: "dict[int, int]") -> "IcebergSchema":
        """Return the same schema with other ids; every id has to have a new one."""
        columns = _renumbered(self.columns, ids)
        return replace(
            self, columns=columns, identifier_ids=tuple(sorted(ids[i] for i in self.identifier_ids))
        )


def preorder(
    fields: tuple[NestedField, ...], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], NestedField]]:
    """Yield these fields and all below them with their paths, parents first."""
    for field in fields:
        path = (*above, field.name)
        yield path, field
        yield from preorder(field.type.fields, path)


def _renumbered(fields: tuple[NestedField, ...], ids: dict[int, int]) -> tuple[NestedField, ...]:
    return tuple(
        [replace(f, id=ids[f.id], type=f.type.with_fields(_renumbered(f.type.fields, ids))) for f in fields]
    )
