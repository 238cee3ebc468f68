"""Types, fields and schemas; the tree of a schema's fields, their paths, and what they inherit.

Layer: language.
Shape: frozen values. Every kind is accepted where `LogicalType` is annotated; `schemac.language.kinds.registry` lists
them, because this package does not know them. A path is a tuple of segments from the top: a member's name, or the part
of a list or map. Names may contain dots, so the dotted form, with backticks where they are needed, is for people only.
The tree of fields is in pre-order of the manifest: columns, members of structs, items of lists, keys and values of maps; `Option` is
not a field but makes its field nullable. Arrow calls the same nodes fields.
Source: the standard's DataSchema, DataField and DataType (RFC-016). The kind `Option` alone makes a value nullable.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, IntEnum
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import pydantic
from pydantic_core.core_schema import CoreSchema, tagged_union_schema

from schemac.language.attributes.arrow import ArrowDefaults, Hints
from schemac.language.attributes.attribute import PROPERTIES, Attribute, Family, Inheritance
from schemac.language.attributes.builtin import (
    CLASSIFICATION,
    DEPRECATED,
    OWNER,
    TAGS,
    Classification,
    Deprecation,
)
from schemac.language.logical.facts import Fact
from schemac.language.physical import ArrowField, ArrowType
from schemac.text.source.json_object import Json, TreePath
from schemac.text.syntax.model import AuthoredModel, Items


class Castability(IntEnum):
    """From the best to the worst."""

    EQUAL = 0
    """The same values."""
    LOSSLESS = 1
    """Every value has its like in the new type."""
    DEPENDS = 2
    """Some values do not fit, or lose digits."""
    NEVER = 3
    """There is no way from one to the other."""


class Part(Enum):
    """The nameless members of lists and maps."""

    ITEM = "item"
    KEY = "key"
    VALUE = "value"


PART_KEYS = {Part.ITEM: "itemType", Part.KEY: "keyType", Part.VALUE: "valueType"}
"""The keys of the standard's long form that the types of parts are behind."""
TYPE_KEYS = ("inner", *PART_KEYS.values())
"""The keys of a type that are types themselves, except for fields."""

Segment = str | Part
FieldPath = tuple[Segment, ...]


def dotted(path: FieldPath) -> str:
    """Return a path for people, such as ``trips.item.`stop.name` ``."""
    return ".".join(s.value if isinstance(s, Part) else quoted(s) for s in path)


def quoted(name: str) -> str:
    """Return a name as a segment of a dotted path."""
    return name if name and "." not in name and "`" not in name else f"`{name.replace('`', '``')}`"


ExtraAttributes = dict[str, Any]


class LogicalType(AuthoredModel):
    """A kind with its properties. Each kind is a subclass in a file of `schemac.language.kinds`."""

    kind: Any
    extra: ExtraAttributes = pydantic.Field(
        default_factory=dict,
        description="Attributes at a nested position (list item, map key or value, Option inner); empty elsewhere.",
    )

    kinds: ClassVar[Mapping[str, "type[LogicalType]"]]
    """All kinds by name; an annotation with this base class accepts each of them. Set by the registry."""
    example: ClassVar[str]
    """The kind as an author writes it, in flow style."""
    family: ClassVar[Family]
    """What its values are like; rules between kinds go by it."""
    standard_number: ClassVar[int | None]
    """Its number in the union of the standard's binary form; None for a kind that the standard does not have."""
    foreign_names: ClassVar[tuple[str, ...]]
    """What other systems call it, without case and punctuation."""

    has_short_form: ClassVar[bool] = False
    """Whether the name of the kind alone says a type of it, for no other property is needed."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: pydantic.GetCoreSchemaHandler) -> CoreSchema:
        """Return the union of all kinds for the base class; each kind is a model as others are."""
        if cls is not LogicalType:
            return handler(source)
        choices = {name: handler.generate_schema(kind) for name, kind in cls.kinds.items()}
        return tagged_union_schema(choices, discriminator="kind")

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Refuse a kind that leaves a question open. Raises TypeError."""
        if cls.model_fields["kind"].is_required():
            # What kinds have in common is no kind itself.
            return
        open_ = [name for name in _ANSWERS if not hasattr(cls, name)]
        if not open_:
            missing = [
                name
                for name in PROPERTIES.get(cls.family, ())
                if name not in cls.model_fields and not hasattr(cls, name)
            ]
            if missing:
                raise TypeError(
                    f"the kind {cls.__name__} does not define its {', '.join(missing)}, which the family {cls.family.value} has"
                )
            open_ = sorted(cls.__abstractmethods__)
        if open_:
            raise TypeError(f"the kind {cls.__name__} does not define its {', '.join(open_)}")
        cls.has_short_form = not any(field.is_required() for field in cls.model_fields.values())

    def parts(self) -> "tuple[Member, ...]":
        """Return the fields below this type; none for a leaf."""
        return ()

    def inner_type(self) -> "LogicalType | None":
        """Return what an Option wraps; None for every other kind."""
        return None

    def check(self, field: "SchemaField", findings: Any) -> None:
        """Report what no grammar can: properties of a field's type that mean nothing together, to its `Findings`; most kinds have none."""

    @abstractmethod
    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return the Arrow type of a checked type; `children` are Arrow fields in the order of `parts`."""

    @classmethod
    @abstractmethod
    def from_arrow(cls, type_: Any) -> "AuthoredType | None":
        """Return this kind's properties and hints for an Arrow type; None for a type of another kind.

        Parts of the type are not looked at. Raises UnsupportedTypeError for a type of this kind that a manifest cannot express.
        """

    @abstractmethod
    def facts(self, new: Self) -> Iterator[Fact]:
        """Return what changed in the properties, from this type to another of its kind; parts are fields of their own."""

    @abstractmethod
    def castability(self, new: Self) -> Castability:
        """Return how well values of this type fit another type of its kind; parts are separate fields."""

    @classmethod
    @abstractmethod
    def variants(cls) -> "tuple[Self, ...]":
        """Return types of this kind that differ in their values; none for a kind with parts."""

    @abstractmethod
    def samples(self) -> tuple[Any, ...]:
        """Return values at the bounds of this type and around the bounds of others: Python values, and counts of units for time."""

    def type_text(self) -> str:
        """Return the kind with its properties, for messages: `Decimal(12, 2)`."""
        return str(self.kind)


_ANSWERS = ("example", "family", "standard_number", "foreign_names")


class UnsupportedTypeError(Exception):
    """An Arrow type without a matching kind."""


class AuthoredType(NamedTuple):
    """An Arrow type as a manifest writes it."""

    properties: Json
    """Those of the kind, as a manifest spells them."""
    hints: ExtraAttributes = {}
    """Attributes without which lowering would choose another layout."""


class Invariable(LogicalType):
    """A kind whose properties cannot change; its parts are fields of their own."""

    def facts(self, new: Self) -> Iterator[Fact]:
        """Return nothing."""
        return iter(())

    def castability(self, new: Self) -> Castability:
        """Return EQUAL."""
        return Castability.EQUAL

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Return the one type."""
        return (cls.model_validate({"kind": cls.__name__}),)


class WithoutValues(LogicalType):
    """A kind without values of its own: values are those of its parts, or null alone."""

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Return nothing."""
        return ()

    def samples(self) -> tuple[Any, ...]:
        """Return nothing."""
        return ()


class Field(AuthoredModel):
    """A column, or a member of a struct."""

    name: str = pydantic.Field(
        description="The name of the column or member.",
        json_schema_extra={
            "pattern": r"^(?![\s\S]*[\x00-\x08\x0b\x0c\x0e-\x1f\x7f])[\s\S]*\S",
            "patternErrorMessage": "a field needs a name without control characters",
        },
    )
    type: LogicalType = pydantic.Field(description="The type of its values.")
    extra: ExtraAttributes = pydantic.Field(
        default_factory=dict,
        description="Attributes, as `<domain>/<name>`: encodings, keys, constraints, owners and others.",
    )


Fields = Items[Field]


class Schema(AuthoredModel):
    """The columns of a dataset, in their order, and attributes of the dataset as a whole."""

    fields: Fields = pydantic.Field(description="The columns, in their order.")
    extra: ExtraAttributes = pydantic.Field(
        default_factory=dict, description="Attributes of the dataset as a whole, as `<domain>/<name>`."
    )


class Member(NamedTuple):
    """A field below a type: its name, its place in the manifest, and its text there."""

    segment: Segment
    steps: tuple[str | int, ...]
    declared: Field | LogicalType


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
    if values and attribute.inheritance is Inheritance.ADDED:
        values = [list(dict.fromkeys(item for value in reversed(values) for item in value))]
    nearest: T | None = values[0] if values else None
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
