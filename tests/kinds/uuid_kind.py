"""Uuid: 128 bits that name something. A kind as a stranger would add it: `with_uuid.py` puts it into a copy of the compiler."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

from schemac.language.attributes.arrow import ArrowDefaults, Hints
from schemac.language.attributes.attribute import Family
from schemac.language.logical.model import AuthoredType, Invariable
from schemac.language.physical import ArrowField, ArrowType, pa


class Uuid(Invariable):
    """128 bits that name something."""

    kind: Literal["Uuid"] = "Uuid"
    example: ClassVar[str] = "Uuid"
    family: ClassVar[Family] = Family.UUID  # type: ignore[attr-defined]  # of the copy
    standard_number: ClassVar[int | None] = None
    foreign_names: ClassVar[tuple[str, ...]] = ("guid", "uniqueidentifier")

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return Arrow's canonical extension type."""
        arrow_type: ArrowType = pa.uuid()
        return arrow_type

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return the kind for this extension type."""
        is_uuid = isinstance(type_, pa.BaseExtensionType) and type_.extension_name == "arrow.uuid"
        return AuthoredType({}) if is_uuid else None

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Return the one type."""
        return (cls(),)

    def samples(self) -> tuple[bytes, ...]:
        """Return the least and the greatest, and some others."""
        return (bytes(16), b"\xff" * 16, bytes(range(16)), bytes.fromhex("6ba7b8109dad11d180b400c04fd430c8"))
