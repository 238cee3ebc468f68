"""Option: the value may be absent.

Layer: kinds.
Source: RFC-016: nullability is this type, never a flag of a field.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from schemac.attributes.arrow import ArrowDefaults, Hints
from schemac.attributes.family import Family
from schemac.kinds.answers import Invariable, WithoutValues
from schemac.logical.model import Lifted, LogicalType
from schemac.physical.arrow import ArrowField, ArrowType


class Option(Invariable, WithoutValues):
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
    def lift(cls, type_: Any) -> Lifted | None:
        """Never: Arrow says of a field whether it may be null."""
        return None
