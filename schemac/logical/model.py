"""Types, fields and schemas.

Layer: logical.
Shape: frozen values. Wherever `LogicalType` is annotated any kind is accepted; `schemac.kinds.registry` says
which there are, for this floor does not know.
Source: the standard's DataSchema, DataField and DataType (RFC-016). Nullability is the kind `Option` alone.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple, Self

from pydantic import Field as Bounds
from pydantic import GetCoreSchemaHandler, Strict
from pydantic_core import CoreSchema

from schemac.attributes.arrow import ArrowDefaults, Hints
from schemac.attributes.family import PROPERTIES, Family
from schemac.logical.castability import Castability
from schemac.logical.facts import Fact
from schemac.logical.path import Segment
from schemac.physical.arrow import ArrowField, ArrowType
from schemac.source.json_object import Json
from schemac.syntax.model import AuthoredModel

ExtraAttributes = dict[str, Any]


class Model(AuthoredModel):
    """Base of everything in a schema: closed, exact, camelCase in the manifest."""


class LogicalType(Model):
    """A kind with its properties. Each kind is one subclass, in one file of `schemac.kinds`."""

    kind: Any
    extra: ExtraAttributes = Bounds(default_factory=dict)
    """Attributes at a nested position (list item, map key or value, Option inner); empty elsewhere."""

    union: ClassVar[Any]
    """All kinds, told apart by `kind`; what an annotation with this base class accepts. Set by the registry."""
    example: ClassVar[str]
    """The kind as an author writes it, in flow style."""
    family: ClassVar[Family]
    """What its values are like; rules between kinds go by it."""
    standard_number: ClassVar[int | None]
    """Its number in the union of the standard's binary form; None for a kind that the standard does not have."""
    foreign_names: ClassVar[tuple[str, ...]]
    """What other systems call it, without case and punctuation."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(cls.union) if cls is LogicalType else handler(source)

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Refuse a kind that leaves a question open. Raises TypeError."""
        if "kind" not in cls.__annotations__:
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


class Field(Model):
    """A column, or a member of a struct."""

    name: str
    type: LogicalType
    extra: ExtraAttributes = Bounds(default_factory=dict)


Fields = Annotated[tuple[Field, ...], Strict(False)]


class Schema(Model):
    """The columns of a dataset, in their order, and attributes of the dataset as a whole."""

    fields: Fields
    extra: ExtraAttributes = Bounds(default_factory=dict)


class Member(NamedTuple):
    """A slot below a type: how it is called, where it stands in the manifest, and what is written there."""

    segment: Segment
    steps: tuple[str | int, ...]
    declared: Field | LogicalType
