"""Struct, Map, Option and Null: the kinds that hold others, and values that may be absent.

Layer: language.
Errors: SC306 bare-null; SC305 optional-map-key.
Source: RFC-016: nullability is this type, never a flag of a field.
      Struct and Map: named members in an order; keys and values: Map: keys and values: RFC-016; Arrow names the children `key` and
      `value` inside a struct `entries`.
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from schemac.language.attributes.arrow import ArrowDefaults, Hints
from schemac.language.attributes.attribute import Family
from schemac.language.logical.dataset import Findings
from schemac.language.logical.facts import Fact
from schemac.language.logical.model import (
    AuthoredType,
    Castability,
    Fields,
    Invariable,
    LogicalType,
    Member,
    Part,
    SchemaField,
    WithoutValues,
)
from schemac.language.physical import ArrowField, ArrowType, pa
from schemac.text.source.catalogue import BARE_NULL, OPTIONAL_MAP_KEY
from schemac.text.source.phrases import Help


class Option(WithoutValues, Invariable):
    """A value of the inner type, or null."""

    kind: Literal["Option"] = "Option"
    inner: LogicalType = Field(description="The type of the values that are not null.")
    family: ClassVar[Family] = Family.OPTION
    standard_number: ClassVar[int | None] = 20
    foreign_names: ClassVar[tuple[str, ...]] = ("nullable", "optional", "maybe")
    example: ClassVar[str] = "{kind: Option, inner: String}"

    def inner_type(self) -> LogicalType:
        """Return what is wrapped."""
        return self.inner

    def type_text(self) -> str:
        """`Option<String>`."""
        return f"Option<{self.inner.type_text()}>"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Never asked: a field takes its Option off and becomes a nullable field."""
        raise AssertionError("an Option has no Arrow type of its own")

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return None: in Arrow nullability belongs to the field."""
        return None


OPTIONAL_NULL = '{kind: Option, inner: "Null"}'
"""The one type that only null is a value of, as an author writes it."""


class Null(WithoutValues, Invariable):
    """Only null. Means something inside an Option alone: a null that may not be null has no value."""

    kind: Literal["Null"] = "Null"
    family: ClassVar[Family] = Family.NULL
    standard_number: ClassVar[int | None] = 19
    foreign_names: ClassVar[tuple[str, ...]] = ("none", "void", "nil")
    example: ClassVar[str] = OPTIONAL_NULL

    def check(self, field: SchemaField, findings: Findings) -> None:
        """Check that a Null is optional."""
        if not field.is_nullable:
            message = f"{field.path_text} is a Null without an Option around it"
            findings.at_type(field, BARE_NULL, message, help=Help.write_type(OPTIONAL_NULL))

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return Arrow's null type."""
        return pa.null()

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return the kind, for Arrow's null type."""
        return AuthoredType({}) if pa.types.is_null(type_) else None


class Struct(WithoutValues, Invariable):
    """A record of fields."""

    kind: Literal["Struct"] = "Struct"
    fields: Fields = Field(description="The members, in their order.")
    family: ClassVar[Family] = Family.STRUCT
    standard_number: ClassVar[int | None] = 21
    foreign_names: ClassVar[tuple[str, ...]] = ("row", "record", "tuple", "nested")
    example: ClassVar[str] = "{kind: Struct, fields: [{name: x, type: Float64}]}"

    def parts(self) -> tuple[Member, ...]:
        """Return the fields."""
        return tuple([Member(field.name, ("fields", i), field) for i, field in enumerate(self.fields)])

    def type_text(self) -> str:
        """`Struct<x, y>`."""
        return f"Struct<{', '.join(f.name for f in self.fields)}>"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return Arrow's struct of the children."""
        return pa.struct(list(children))

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return the kind; its members are fields of their own."""
        return AuthoredType({}) if pa.types.is_struct(type_) else None


class Map(WithoutValues):
    """Values by key; a key is never null."""

    kind: Literal["Map"] = "Map"
    key_type: LogicalType = Field(description="The type of the keys; keys are never null.")
    value_type: LogicalType = Field(description="The type of the values.")
    keys_sorted: bool = Field(False, description="Whether the keys of every map are in order.")
    family: ClassVar[Family] = Family.MAP
    standard_number: ClassVar[int | None] = 18
    foreign_names: ClassVar[tuple[str, ...]] = ("dict", "hashmap", "multiset")
    example: ClassVar[str] = "{kind: Map, keyType: String, valueType: Int64}"

    def parts(self) -> tuple[Member, ...]:
        """Return the key, then the value."""
        return (
            Member(Part.KEY, ("keyType",), self.key_type),
            Member(Part.VALUE, ("valueType",), self.value_type),
        )

    def check(self, field: SchemaField, findings: Findings) -> None:
        """Check that the key is not an Option."""
        key = field.children[0]
        if key.is_nullable:
            message = f"the key of {field.path_text} may not be null"
            help = Help.unwrap(f"write `keyType: {key.type.kind}` without Option", is_safe=True)
            findings.at_name(key, OPTIONAL_MAP_KEY, message, help=help)

    def type_text(self) -> str:
        """`Map<String, Int64>`."""
        return f"Map<{self.key_type.type_text()}, {self.value_type.type_text()}>"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return Arrow's map of the two children."""
        key, value = children
        return pa.map_(key, value, keys_sorted=self.keys_sorted)

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return the kind with whether the keys are sorted, for a map of Arrow."""
        if not pa.types.is_map(type_):
            return None
        return AuthoredType({"keysSorted": True} if type_.keys_sorted else {})

    def facts(self, new: Self) -> Iterator[Fact]:
        """Yield that the keys are sorted now, or no longer."""
        if self.keys_sorted != new.keys_sorted:
            yield Fact.SORTED_KEYS_CHANGED

    def castability(self, new: Self) -> Castability:
        """Return LOSSLESS from sorted keys to any, DEPENDS from any to sorted ones."""
        if self.keys_sorted == new.keys_sorted:
            return Castability.EQUAL
        return Castability.LOSSLESS if self.keys_sorted else Castability.DEPENDS
