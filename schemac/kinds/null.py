"""Null: a value that is never there.

Layer: kinds.
Errors: SC306 bare-null.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from schemac.attributes.arrow import ArrowDefaults, Hints
from schemac.logical.findings import Findings
from schemac.logical.model import LogicalType
from schemac.logical.slots import Slot
from schemac.physical.arrow import ArrowField, ArrowType, pa
from schemac.source.catalogue import BARE_NULL


class Null(LogicalType):
    """Only null. Means something inside an Option alone: a null that may not be null has no value."""

    kind: Literal["Null"] = "Null"
    example: ClassVar[str] = '{kind: Option, inner: "Null"}'

    def check(self, slot: Slot, findings: Findings) -> None:
        """A Null has to be optional."""
        if not slot.is_nullable:
            findings.at_type(
                slot,
                BARE_NULL,
                f"{slot.title} is a Null that may not be null",
                help='write `{kind: Option, inner: "Null"}`',
            )

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Arrow's null type."""
        return pa.null()
