"""Null: a value that is never there.

Layer: kinds.
Errors: SC306 bare-null.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from schemac.attributes.arrow import ArrowDefaults, Hints
from schemac.attributes.family import Family
from schemac.kinds.answers import Invariable, WithoutValues
from schemac.logical.checked import Checked
from schemac.logical.findings import Findings
from schemac.logical.model import Lifted
from schemac.logical.schema_fields import SchemaField
from schemac.physical.arrow import ArrowField, ArrowType, pa
from schemac.source.catalogue import BARE_NULL
from schemac.source.help import Help

OPTIONAL_NULL = '{kind: Option, inner: "Null"}'
"""The one type that only null is a value of, as an author writes it."""


class Null(Invariable, WithoutValues, Checked):
    """Only null. Means something inside an Option alone: a null that may not be null has no value."""

    kind: Literal["Null"] = "Null"
    family: ClassVar[Family] = Family.NULL
    standard_number: ClassVar[int | None] = 19
    foreign_names: ClassVar[tuple[str, ...]] = ("none", "void", "nil")
    example: ClassVar[str] = OPTIONAL_NULL

    def check(self, field: SchemaField, findings: Findings) -> None:
        """Check that a Null is optional."""
        if not field.is_nullable:
            findings.at_type(
                field,
                BARE_NULL,
                f"{field.path_text} is a Null without an Option around it",
                help=Help.write_type(OPTIONAL_NULL),
            )

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Arrow's null type."""
        return pa.null()

    @classmethod
    def lift(cls, type_: Any) -> Lifted | None:
        """Return the kind, for Arrow's null type."""
        return Lifted({}) if pa.types.is_null(type_) else None
