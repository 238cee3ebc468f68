"""Types, fields and schemas.

Layer: logical.
Shape: frozen values. Wherever `LogicalType` is annotated any kind is accepted; `schemac.kinds.registry` says
which there are, for this floor does not know.
Source: the standard's DataSchema, DataField and DataType (RFC-016). Nullability is the kind `Option` alone.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, Strict
from pydantic import Field as Bounds
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema

from schemac.attributes.arrow import ArrowDefaults, Hints
from schemac.logical.path import Segment
from schemac.physical.arrow import ArrowField, ArrowType

if TYPE_CHECKING:
    from schemac.logical.findings import Findings
    from schemac.logical.slots import Slot

ExtraAttributes = dict[str, Any]


class Model(BaseModel):
    """Base of everything an author writes: closed, exact, camelCase in the manifest."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        defer_build=True,
        protected_namespaces=(),
    )


class LogicalType(Model):
    """A kind with its properties. Each kind is one subclass, in one file of `schemac.kinds`."""

    kind: Any
    extra: ExtraAttributes = Bounds(default_factory=dict)
    """Attributes at a nested position (list item, map key or value, Option inner); empty elsewhere."""

    union: ClassVar[Any]
    """All kinds, told apart by `kind`; what an annotation with this base class accepts. Set by the registry."""
    example: ClassVar[str]
    """The kind as an author writes it, in flow style."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(cls.union) if cls is LogicalType else handler(source)

    def parts(self) -> "tuple[Member, ...]":
        """The slots below this type; none for a leaf."""
        return ()

    def inner_type(self) -> "LogicalType | None":
        """What an Option wraps; None for every other kind."""
        return None

    def check(self, slot: "Slot", findings: "Findings") -> None:
        """Report what no grammar can: combinations of properties that mean nothing."""

    @abstractmethod
    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """The Arrow type of a checked type, given its children as Arrow fields in the order of `parts`."""

    def title(self) -> str:
        """The kind with its properties, for messages: `Decimal(12, 2)`."""
        return str(self.kind)


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
