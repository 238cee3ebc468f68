"""List, String and Binary: values of variable or fixed length.

Layer: kinds.
Units: fixed lengths in items for lists, in bytes for binaries.
Errors: SC314 unsupported-hint, SC313 conflicting-hints.
Source: RFC-016; layouts as in the reference conversion (`fixedLength` and a buffer hint exclude each other).
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field as Bounds

from schemac.attributes.arrow import BUFFER_ENCODING, ArrowDefaults, Hints, read_hints
from schemac.logical.findings import Findings
from schemac.logical.model import LogicalType, Member
from schemac.logical.path import Part
from schemac.logical.slots import Slot
from schemac.physical.arrow import ArrowField, ArrowType, pa
from schemac.source.catalogue import CONFLICTING_HINTS, UNSUPPORTED_HINT
from schemac.source.suggest import with_article

FixedLength = Annotated[int, Bounds(ge=1, le=2**31 - 1)]
ByteLength = Annotated[int, Bounds(ge=1, le=(2**31 - 1) // 8)]
"""Arrow counts the bits of a value in 31 bits, and refuses to read a schema with more."""


def _layout(hints: Hints, default: str, base: str) -> str:
    """The name of pyarrow's factory for a variable-length layout."""
    if hints.buffer is None:
        return default
    large = "large_" if hints.buffer.offset_bit_width == 64 else ""
    view = "_view" if hints.buffer.kind == "View" else ""
    return f"{large}{base}{view}"


def _check_buffer_hint(slot: Slot, findings: Findings, is_fixed: bool, has_large_views: bool) -> None:
    buffer = read_hints(slot.extra).buffer
    if buffer is None:
        return
    key = BUFFER_ENCODING.key
    if is_fixed:
        findings.at_extra(
            slot,
            key,
            CONFLICTING_HINTS,
            f"{slot.title} has a fixed length, so it has no offsets to encode",
            on_key=True,
            help="remove the hint, or remove `fixedLength`",
        )
    elif buffer.kind == "RunEnd":
        findings.at_extra(
            slot,
            key,
            UNSUPPORTED_HINT,
            "run-end encoding is refused: Lance, Spark and Paimon have no such type",
            "kind",
            help="files of Lance and Parquet find runs by themselves; remove the hint",
        )
    elif buffer.kind == "View" and buffer.offset_bit_width == 64 and not has_large_views:
        findings.at_extra(
            slot,
            key,
            UNSUPPORTED_HINT,
            f"views of {with_article(slot.type.kind)} are 32 bits wide; Arrow has 64-bit views for lists only",
            "offsetBitWidth",
            help="write `offsetBitWidth: 32`",
        )


class String(LogicalType):
    """Text in UTF-8."""

    kind: Literal["String"] = "String"
    example: ClassVar[str] = "String"

    def check(self, slot: Slot, findings: Findings) -> None:
        """Views have 32 bits; runs are refused."""
        _check_buffer_hint(slot, findings, is_fixed=False, has_large_views=False)

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """string, large_string or string_view."""
        arrow_type: ArrowType = getattr(pa, _layout(hints, defaults.string, "string"))()
        return arrow_type


class Binary(LogicalType):
    """Bytes, of any length or of one."""

    kind: Literal["Binary"] = "Binary"
    fixed_length: ByteLength | None = None
    example: ClassVar[str] = "Binary"

    def check(self, slot: Slot, findings: Findings) -> None:
        """Views have 32 bits; a fixed length has no offsets."""
        _check_buffer_hint(slot, findings, is_fixed=self.fixed_length is not None, has_large_views=False)

    def title(self) -> str:
        """`Binary(16)`."""
        return "Binary" if self.fixed_length is None else f"Binary({self.fixed_length})"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """binary, large_binary, binary_view or fixed_size_binary."""
        if self.fixed_length is not None:
            return pa.binary(self.fixed_length)
        arrow_type: ArrowType = getattr(pa, _layout(hints, defaults.binary, "binary"))()
        return arrow_type


class List(LogicalType):
    """Items of one type, any number of them or always the same number."""

    kind: Literal["List"] = "List"
    item_type: LogicalType
    fixed_length: FixedLength | None = None
    example: ClassVar[str] = "{kind: List, itemType: Float32, fixedLength: 768}"

    def parts(self) -> tuple[Member, ...]:
        """The item."""
        return (Member(Part.ITEM, ("itemType",), self.item_type),)

    def check(self, slot: Slot, findings: Findings) -> None:
        """A fixed length has no offsets; runs are refused."""
        _check_buffer_hint(slot, findings, is_fixed=self.fixed_length is not None, has_large_views=True)

    def title(self) -> str:
        """`List<Float32>[768]`."""
        length = "" if self.fixed_length is None else f"[{self.fixed_length}]"
        return f"List<{self.item_type.title()}>{length}"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """list, large_list, list_view, large_list_view or fixed_size_list."""
        (item,) = children
        if self.fixed_length is not None:
            return pa.list_(item, self.fixed_length)
        layout = _layout(hints, defaults.list, "list")
        factory = pa.list_ if layout == "list" else getattr(pa, layout)
        arrow_type: ArrowType = factory(item)
        return arrow_type
