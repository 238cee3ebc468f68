"""Struct: named members in an order.

Layer: kinds.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from schemac.attributes.arrow import ArrowDefaults, Hints
from schemac.logical.model import Fields, LogicalType, Member
from schemac.physical.arrow import ArrowField, ArrowType, pa


class Struct(LogicalType):
    """A record of fields."""

    kind: Literal["Struct"] = "Struct"
    fields: Fields
    example: ClassVar[str] = "{kind: Struct, fields: [{name: x, type: Float64}]}"

    def parts(self) -> tuple[Member, ...]:
        """One slot a field."""
        return tuple([Member(field.name, ("fields", i), field) for i, field in enumerate(self.fields)])

    def title(self) -> str:
        """`Struct<x, y>`."""
        return f"Struct<{', '.join(f.name for f in self.fields)}>"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Arrow's struct of the children."""
        return pa.struct(list(children))
