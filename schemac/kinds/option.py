"""Option: the value may be absent.

Layer: kinds.
Source: RFC-016: nullability is this type, never a flag of a field.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from schemac.attributes.arrow import ArrowDefaults, Hints
from schemac.logical.model import LogicalType
from schemac.physical.arrow import ArrowField, ArrowType


class Option(LogicalType):
    """A value of the inner type, or null."""

    kind: Literal["Option"] = "Option"
    inner: LogicalType
    example: ClassVar[str] = "{kind: Option, inner: String}"

    def inner_type(self) -> LogicalType:
        """What is wrapped."""
        return self.inner

    def title(self) -> str:
        """`Option<String>`."""
        return f"Option<{self.inner.title()}>"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Never asked: a slot takes its Option off and becomes a nullable field."""
        raise AssertionError("an Option has no Arrow type of its own")
