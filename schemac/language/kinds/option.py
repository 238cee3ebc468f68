"""Option and Null: values that may be absent, and values that always are.

Layer: language.
Errors: SC306 bare-null.
Source: RFC-016: nullability is this type, never a flag of a field.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from schemac.language.attributes.arrow import ArrowDefaults, Hints
from schemac.language.attributes.attribute import Family
from schemac.language.kinds.answers import Invariable, WithoutValues
from schemac.language.logical.findings import Checked, Findings
from schemac.language.logical.model import Lifted, LogicalType
from schemac.language.logical.schema_fields import SchemaField
from schemac.language.physical.arrow import ArrowField, ArrowType, pa
from schemac.text.source.catalogue import BARE_NULL
from schemac.text.source.help import Help


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
        """Return None: in Arrow nullability belongs to the field."""
        return None


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
