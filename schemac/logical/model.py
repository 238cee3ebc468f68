"""Types, fields and schemas.

Layer: logical.
Shape: frozen values. Wherever `LogicalType` is annotated any kind is accepted; `schemac.kinds.registry` says
which there are, for this floor does not know.
Source: the standard's DataSchema, DataField and DataType (RFC-016). Nullability is the kind `Option` alone.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

from schemac.attributes.arrow import ArrowDefaults, Hints
from schemac.attributes.family import PROPERTIES, Family
from schemac.logical.castability import Castability
from schemac.logical.facts import Fact
from schemac.logical.path import Segment
from schemac.physical.arrow import ArrowField, ArrowType
from schemac.source.json_object import Json
from schemac.syntax.reading import Reading
from schemac.syntax.record import Record

ExtraAttributes = dict[str, Any]


class LogicalType(Record):
    """A kind with its properties. Each kind is one subclass, in one file of `schemac.kinds`."""

    kind: Any
    extra: ExtraAttributes = {}
    """Attributes at a nested position (list item, map key or value, Option inner); empty elsewhere."""

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

    @classmethod
    def read(cls, value: Any, reading: Reading) -> Any:
        """Read a value as this kind, or as the kind that it names."""
        if cls is not LogicalType:
            return super().read(value, reading)
        if not isinstance(value, dict):
            return value if isinstance(value, cls) else reading.add("model_attributes_type", value)
        if "kind" not in value:
            return reading.add("union_tag_not_found", value)
        name = value["kind"]
        kind = cls.kinds.get(name) if isinstance(name, str) else None
        if kind is None:
            expected = ", ".join(map(repr, cls.kinds))
            return reading.add("union_tag_invalid", value, expected_tags=expected)
        if len(value) == 1 and kind.bare is not None:
            return kind.bare
        count = len(reading.mistakes)
        found = kind.read(value, reading)
        if len(reading.mistakes) > count:
            reading.lead(count, name)
        return found

    bare: ClassVar["LogicalType | None"] = None
    """The type of this kind with nothing but its name, which is all that most fields say; None where it needs more."""

    @classmethod
    def check_class(cls) -> None:
        """Refuse a kind that leaves a question open. Raises TypeError."""
        if cls.model_fields["kind"].is_required():
            # What kinds have in common is no kind itself.
            return
        open_ = [name for name in _ANSWERS if not hasattr(cls, name)]
        if open_:
            raise TypeError(f"the kind {cls.__name__} does not say its {', '.join(open_)}")
        missing = [
            name
            for name in PROPERTIES.get(cls.family, ())
            if name not in cls.model_fields and not hasattr(cls, name)
        ]
        if missing:
            raise TypeError(
                f"the kind {cls.__name__} does not say its {', '.join(missing)}, which the family {cls.family.value} has"
            )
        if not any(found.is_required() for found in cls.model_fields.values()):
            cls.bare = cls.model_construct(kind=cls.__name__)

    def parts(self) -> "tuple[Member, ...]":
        """Return the slots below this type; none for a leaf."""
        return ()

    def inner_type(self) -> "LogicalType | None":
        """Return what an Option wraps; None for every other kind."""
        return None

    @abstractmethod
    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return the Arrow type of a checked type, given its children as Arrow fields in the order of `parts`."""

    @classmethod
    @abstractmethod
    def lift(cls, type_: Any) -> "Lifted | None":
        """Return this kind's properties and hints for an Arrow type; None for a type of another kind.

        Parts of the type are not looked at. Raises UnsupportedTypeError for a type of this kind that no manifest can say.
        """

    @abstractmethod
    def facts(self, new: Self) -> Iterator[Fact]:
        """Return what changed in the properties, from this type to another of its kind; parts are fields of their own."""

    @abstractmethod
    def castability(self, new: Self) -> Castability:
        """How well values of this type fit another of its kind; parts are fields of their own."""

    @classmethod
    @abstractmethod
    def variants(cls) -> "tuple[Self, ...]":
        """Types of this kind that differ in what decides about values; none for a kind with parts."""

    @abstractmethod
    def samples(self) -> tuple[Any, ...]:
        """Values at the bounds of the type and around those of others: Python's own, and counts of units for time."""

    def type_text(self) -> str:
        """Return the kind with its properties, for messages: `Decimal(12, 2)`."""
        return str(self.kind)


_ANSWERS = ("example", "family", "standard_number", "foreign_names")


class UnsupportedTypeError(Exception):
    """An Arrow type that no kind stands for."""


class Lifted(NamedTuple):
    """An Arrow type in the words of a manifest."""

    properties: Json
    """Those of the kind, as a manifest spells them."""
    hints: ExtraAttributes = {}
    """Attributes without which lowering would choose another layout."""


class Field(Record):
    """A column, or a member of a struct."""

    name: str
    """What the column or member is called."""
    type: LogicalType
    """What its values are."""
    extra: ExtraAttributes = {}
    """Attributes, as `<domain>/<name>`: encodings, keys, constraints, owners and others."""


Fields = tuple[Field, ...]


class Schema(Record):
    """The columns of a dataset, in their order, and attributes of the dataset as a whole."""

    fields: Fields
    """The columns, in their order."""
    extra: ExtraAttributes = {}
    """Attributes of the dataset as a whole, as `<domain>/<name>`."""


class Member(NamedTuple):
    """A slot below a type: how it is called, where it stands in the manifest, and what is written there."""

    segment: Segment
    steps: tuple[str | int, ...]
    declared: Field | LogicalType
