"""The fields of a schema at every depth, and what they inherit: owner, tags, classification, deprecation.

Layer: language.
Shape: a tree, in pre-order of the manifest. A field is a column, a struct's member, a list's item, a map's key or
value; `Option` is not a field but makes its field nullable. Arrow calls the same nodes fields.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar

from schemac.language.attributes.attribute import Attribute, Family, Inheritance
from schemac.language.attributes.builtin import (
    CLASSIFICATION,
    DEPRECATED,
    OWNER,
    TAGS,
    Classification,
    Deprecation,
)
from schemac.language.logical.model import (
    Field,
    FieldPath,
    LogicalType,
    Member,
    Part,
    Schema,
    Segment,
    dotted,
    quoted,
)
from schemac.text.source.json_object import TreePath

_NO_EXTRA: Mapping[str, Any] = {}


class SchemaField:
    """A column, struct member, list item, map key or map value, with everything that is declared for it."""

    __slots__ = ("_steps", "children", "doubled", "extra", "options", "parent", "segment", "type")

    parent: "SchemaField | None"
    segment: Segment
    type: LogicalType
    """The type without its Option."""
    options: tuple[LogicalType, ...]
    """The Options around it, outermost first; a sound schema has one at most."""
    extra: Mapping[str, Any]
    """The attributes of this field, from next to `name` and from next to `kind`."""
    doubled: tuple[str, ...]
    """Attributes that are at more than one of those places."""
    children: "tuple[SchemaField, ...]"

    def __init__(self, parent: "SchemaField | None", member: Member) -> None:
        declared = member.declared
        self.parent = parent
        self.segment = member.segment
        self._steps = member.steps
        if isinstance(declared, Field):
            type_: LogicalType = declared.type
            extra: Mapping[str, Any] = declared.extra
        else:
            type_, extra = declared, _NO_EXTRA
        options: tuple[LogicalType, ...] = ()
        doubled: tuple[str, ...] = ()
        while True:
            if type_.extra:
                doubled = (*doubled, *(key for key in type_.extra if key in extra))
                extra = {**type_.extra, **extra}
            inner = type_.inner_type()
            if inner is None:
                break
            options = (*options, type_)
            type_ = inner
        self.type = type_
        self.options = options
        self.extra = extra
        self.doubled = doubled
        parts = type_.parts()
        self.children = tuple([SchemaField(self, part) for part in parts]) if parts else ()

    @property
    def is_nullable(self) -> bool:
        """Whether a value may be null here."""
        return bool(self.options)

    @property
    def path(self) -> FieldPath:
        """The segments from the column down to this field."""
        return tuple([field.segment for field in self.chain])

    @property
    def column(self) -> "SchemaField":
        """The column that this field is in, or is."""
        return self.chain[0]

    @property
    def ancestors(self) -> "list[SchemaField]":
        """The fields that this one lies in, innermost first."""
        return self.chain[-2::-1]

    @property
    def chain(self) -> "list[SchemaField]":
        """This field after all fields that it lies in, the column first."""
        return [self] if self.parent is None else [*self.parent.chain, self]

    @property
    def is_in_key(self) -> bool:
        """Whether this field is the key of a map, or is in one."""
        return any(field.segment is Part.KEY for field in (self, *self.ancestors))

    @property
    def path_text(self) -> str:
        """The path for people."""
        if self.parent is None and isinstance(self.segment, str):
            return quoted(self.segment)
        return dotted(self.path)

    @property
    def declared_at(self) -> TreePath:
        """Where the field or the nested type is, from the schema's mapping."""
        return (*self.parent.type_at, *self._steps) if self.parent is not None else self._steps

    @property
    def is_member(self) -> bool:
        """Whether this field is a field with a name, not a part of a list or map."""
        return isinstance(self.segment, str)

    @property
    def type_at(self) -> TreePath:
        """Where the type is, inside its Options."""
        type_step = ("type",) if self.is_member else ()
        return (*self.declared_at, *type_step, *("inner",) * len(self.options))

    def extra_places(self, key: str) -> list[TreePath]:
        """Return every path at which an attribute of this field may be written, the one next to its name first."""
        base = (*self.declared_at, "type") if self.is_member else self.declared_at
        paths = [(*self.declared_at, "extra", key)] if self.is_member else []
        paths += [(*base, *("inner",) * depth, "extra", key) for depth in range(len(self.options) + 1)]
        return paths


def columns(schema: Schema, indices: Sequence[int] | None = None) -> tuple[SchemaField, ...]:
    """Return the fields of a schema's columns, each with its tree below.

    `indices` are the columns' places in the manifest where some that could not be read are left out.
    """
    indices_of_fields = range(len(schema.fields)) if indices is None else indices
    return tuple(
        [
            SchemaField(None, Member(f.name, ("fields", i), f))
            for i, f in zip(indices_of_fields, schema.fields, strict=True)
        ]
    )


def preorder(fields: Sequence[SchemaField]) -> list[SchemaField]:
    """Return these fields and all below them in one list, parents first."""
    all_fields: list[SchemaField] = []
    for field in fields:
        all_fields.append(field)
        if field.children:
            all_fields += preorder(field.children)
    return all_fields


def is_in_structs(field: SchemaField) -> bool:
    """Whether nothing but structs is around a field, so that it has one value in every row."""
    return all(above.type.family is Family.STRUCT for above in field.ancestors)


T = TypeVar("T")
ATTRIBUTES = (OWNER, TAGS, CLASSIFICATION, DEPRECATED)


def inherited(attribute: Attribute[T], field: SchemaField | None, schema: Schema) -> T | None:
    """Return what an attribute is for a field, or for the schema as a whole."""
    fields = [] if field is None else [field, *field.ancestors]
    extras = [*(around.extra for around in fields), schema.extra]
    values: list[Any] = [value for extra in extras if (value := attribute.read(extra)) is not None]
    if not values:
        return None
    if attribute.inheritance is Inheritance.ADDED:
        added: Any = list(dict.fromkeys(item for value in reversed(values) for item in value))
        return added  # type: ignore[no-any-return]
    nearest: T = values[0]
    return nearest


class Ownership(NamedTuple):
    """What is known of one field, or of a schema as a whole."""

    owner: str | None
    tags: tuple[str, ...]
    classification: Classification | None
    deprecation: Deprecation | None

    @classmethod
    def of(cls, field: SchemaField | None, schema: Schema) -> Self:
        """Return what holds for a field with all that is around it."""
        classification = inherited(CLASSIFICATION, field, schema)
        tags = inherited(TAGS, field, schema)
        return cls(
            inherited(OWNER, field, schema),
            tuple(tags or ()),
            Classification(classification) if classification is not None else None,
            inherited(DEPRECATED, field, schema),
        )


def type_text_of(field: SchemaField) -> str:
    """Return a field's type for people; `?` means Option."""
    return f"{field.type.type_text()}{'?' if field.is_nullable else ''}"
