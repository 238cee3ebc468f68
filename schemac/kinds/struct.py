"""Struct: named members in an order.

Layer: kinds.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from schemac.attributes.arrow import ArrowDefaults, Hints
from schemac.attributes.family import Family
from schemac.kinds.answers import Invariable, WithoutValues
from schemac.logical.model import Fields, Lifted, Member
from schemac.physical.arrow import ArrowField, ArrowType, pa


class Struct(Invariable, WithoutValues):
    """A record of fields."""

    kind: Literal["Struct"] = "Struct"
    fields: Fields = Field(description="The members, in their order.")
    family: ClassVar[Family] = Family.STRUCT
    standard_number: ClassVar[int | None] = 21
    foreign_names: ClassVar[tuple[str, ...]] = ("row", "record", "tuple", "nested")
    example: ClassVar[str] = "{kind: Struct, fields: [{name: x, type: Float64}]}"

    def parts(self) -> tuple[Member, ...]:
        """One field a field."""
        return tuple([Member(field.name, ("fields", i), field) for i, field in enumerate(self.fields)])

    def type_text(self) -> str:
        """`Struct<x, y>`."""
        return f"Struct<{', '.join(f.name for f in self.fields)}>"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Arrow's struct of the children."""
        return pa.struct(list(children))

    @classmethod
    def lift(cls, type_: Any) -> Lifted | None:
        """Return the kind; its members are fields of their own."""
        return Lifted({}) if pa.types.is_struct(type_) else None
