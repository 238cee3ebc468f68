"""List, String and Binary: values of variable or fixed length.

Layer: language.
Units: fixed lengths in items for lists, in bytes for binaries.
Errors: SC314 unsupported-hint, SC313 conflicting-hints.
Source: RFC-016; layouts as in the reference conversion (`fixedLength` and a buffer hint exclude each other).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import Field

from schemac.language.attributes.arrow import BUFFER_ENCODING, ArrowDefaults, Hints, read_hints
from schemac.language.attributes.attribute import Family
from schemac.language.logical.dataset import Findings
from schemac.language.logical.facts import Fact
from schemac.language.logical.model import (
    AuthoredType,
    Castability,
    ExtraAttributes,
    Invariable,
    LogicalType,
    Member,
    Part,
    SchemaField,
    UnsupportedTypeError,
    WithoutValues,
)
from schemac.language.physical import ArrowField, ArrowType, arrow_type, pa
from schemac.registry.engine import Trait, with_trait
from schemac.text.source.catalogue import CONFLICTING_HINTS, UNSUPPORTED_HINT
from schemac.text.source.phrases import Help, listed, with_article

FixedLength = Annotated[int, Field(ge=1, le=2**31 - 1)]
ByteLength = Annotated[int, Field(ge=1, le=(2**31 - 1) // 8)]
"""Arrow counts the bits of a value in 31 bits, and refuses to read a schema with more."""


def _layout(hints: Hints, default: str, base: str) -> str:
    """Return the name of pyarrow's factory for a variable-length layout."""
    if hints.buffer is None:
        return default
    large = "large_" if hints.buffer.offset_bit_width == 64 else ""
    view = "_view" if hints.buffer.kind == "View" else ""
    return f"{large}{base}{view}"


_TEXTS = (
    "", "a", "1", "-1", "007", "300", "1.5", "1.005", "0.1", "1e400", "1e300", "99999", "-0", "nan", "inf", "-inf",
    "9007199254740993", "0.10000000000000001", "0.1000000000000000000001", "1e-400", "12345678901234567.89", "true",
    "False", "2", "2020-01-01", "2020-02-30", "0000-01-01", "2024-03-31 02:30:00", "2024-10-27T02:30:00",
    "2024-10-27T02:30:00+01:00", "2020-01-01 12:00:00Z", "2020-01-01 12:00:00.123456789Z", "2020-01-01T00:00Z",
    "9999-12-31 23:59:59", "1.50", "٣", "1_000", "0x1F", "ÿ", "abcd",
)  # fmt: skip
"""Samples of text."""


def buffer_hint(*, is_view: bool = False, is_large: bool = False) -> ExtraAttributes:
    """Return the attribute that asks for a layout of buffers."""
    kind, width = "View" if is_view else "Contiguous", 64 if is_large else 32
    return {BUFFER_ENCODING.key: {"kind": kind, "offsetBitWidth": width}}


class ArrowBuffer(NamedTuple):
    """What a type of variable length is in a manifest."""

    kind: str
    extra: ExtraAttributes = {}
    """The encoding of its buffers, where it is not the default."""


ARROW_BUFFERS = {
    "string": ArrowBuffer("String"),
    "large_string": ArrowBuffer("String", buffer_hint(is_large=True)),
    "string_view": ArrowBuffer("String", buffer_hint(is_view=True)),
    "binary": ArrowBuffer("Binary"),
    "large_binary": ArrowBuffer("Binary", buffer_hint(is_large=True)),
    "binary_view": ArrowBuffer("Binary", buffer_hint(is_view=True)),
}
"""Kind and buffer encoding by what pyarrow prints for a type."""


def _layout_from_arrow(type_: Any, kind: str) -> AuthoredType | None:
    """Return the layout of a kind's type of variable length; None if it is another type."""
    buffer = ARROW_BUFFERS.get(str(type_))
    return AuthoredType({}, buffer.extra) if buffer is not None and buffer.kind == kind else None


class Buffered(LogicalType):
    """What kinds of any length have in common: their values are in buffers."""

    def check(self, field: SchemaField, findings: Findings) -> None:
        """Report a buffer encoding that a type of fixed length, or Arrow, does not have."""
        buffer = read_hints(field.extra).buffer
        if buffer is None:
            return
        add = partial(findings.at_extra, field, BUFFER_ENCODING.key)
        if getattr(self, "fixed_length", None) is not None:
            message = f"{field.path_text} has a fixed length, so it has no offsets to encode"
            help = Help.remove(help="remove the hint, or remove `fixedLength`", is_safe=False)
            add(CONFLICTING_HINTS, message, on_key=True, help=help)
        elif buffer.kind == "RunEnd":
            lacking = listed(with_trait(Trait.LACKS_RUN_ENDS))
            message = f"run-end encoding is not supported: {lacking} have no such type"
            compressing = listed([*with_trait(Trait.COMPRESSES_RUNS), "Parquet files"])
            text = f"remove the hint; {compressing} compress runs automatically"
            add(UNSUPPORTED_HINT, message, "kind", help=Help.remove_attribute(text, BUFFER_ENCODING.key))
        elif buffer.kind == "View" and buffer.offset_bit_width == 64 and self.family is not Family.LIST:
            message = (
                f"views of {with_article(self.kind)} are 32 bits wide; Arrow has 64-bit views for lists only"
            )
            add(UNSUPPORTED_HINT, message, "offsetBitWidth", help=Help.write("32", key="offsetBitWidth"))

    def castability(self, new: Self) -> Castability:
        """Return how well values of one fixed length, or of any if that is None, fit another."""
        old_length, new_length = (getattr(one, "fixed_length", None) for one in (self, new))
        if old_length == new_length:
            return Castability.EQUAL
        if new_length is None:
            return Castability.LOSSLESS
        return Castability.DEPENDS if old_length is None else Castability.NEVER


class String(Invariable, Buffered):
    """Text in UTF-8."""

    kind: Literal["String"] = "String"
    family: ClassVar[Family] = Family.TEXT
    standard_number: ClassVar[int | None] = 24
    foreign_names: ClassVar[tuple[str, ...]] = (
        "varchar", "char", "text", "str", "utf8", "character", "charactervarying", "charvarying", "bpchar",
        "nchar", "nvarchar", "varchar2", "nvarchar2", "clob", "longtext", "mediumtext", "tinytext",
        "citext", "object", "enum", "json", "jsonb", "variant", "fixedstring", "largestring", "largeutf8",
        "stringview", "utf8view",
    )  # fmt: skip
    example: ClassVar[str] = "String"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return string, large_string or string_view."""
        return arrow_type(_layout(hints, defaults.string, "string"))

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return the layout as a hint, where it is not the default."""
        return _layout_from_arrow(type_, "String")

    def samples(self) -> tuple[str, ...]:
        """Return texts that other kinds can, or nearly can, be read from."""
        return _TEXTS


class Binary(Buffered):
    """Bytes, of any length or of one."""

    kind: Literal["Binary"] = "Binary"
    fixed_length: ByteLength | None = Field(
        None, description="Bytes of every value; without it, values are of any length."
    )
    family: ClassVar[Family] = Family.BYTES
    standard_number: ClassVar[int | None] = 1
    foreign_names: ClassVar[tuple[str, ...]] = (
        "bytes", "bytea", "blob", "varbinary", "largebinary", "binaryview", "uuid", "fixedsizebinary",
        "fixed",
    )  # fmt: skip
    example: ClassVar[str] = "Binary"

    def type_text(self) -> str:
        """`Binary(16)`."""
        return "Binary" if self.fixed_length is None else f"Binary({self.fixed_length})"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return binary, large_binary, binary_view or fixed_size_binary."""
        if self.fixed_length is not None:
            return pa.binary(self.fixed_length)
        return arrow_type(_layout(hints, defaults.binary, "binary"))

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return the fixed length, or the layout as a hint."""
        if pa.types.is_fixed_size_binary(type_) and not pa.types.is_decimal(type_):
            if type_.byte_width == 0:
                raise UnsupportedTypeError("fixed_size_binary of no bytes")
            return AuthoredType({"fixedLength": type_.byte_width})
        return _layout_from_arrow(type_, "Binary")

    def facts(self, new: Self) -> Iterator[Fact]:
        """Yield the length."""
        if self.fixed_length != new.fixed_length:
            yield Fact.BYTE_LENGTH_CHANGED

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Return a type of any length, and one of a fixed length."""
        return (cls(), cls(fixed_length=4))

    def samples(self) -> tuple[bytes, ...]:
        """Return texts, and bytes that are not text, of the fixed length if there is one."""
        values = (b"", b"a", b"abcd", b"\xff\xfe", b"\xff\xfe\xfd\xfc")
        return tuple(v for v in values if self.fixed_length in (None, len(v)))


class List(WithoutValues, Buffered):
    """Items of one type, any number of them or always the same number."""

    kind: Literal["List"] = "List"
    item_type: LogicalType = Field(description="The type of the items.")
    fixed_length: FixedLength | None = Field(
        None, description="Items of every list, as of a vector; without it, lists are of any length."
    )
    family: ClassVar[Family] = Family.LIST
    standard_number: ClassVar[int | None] = 17
    foreign_names: ClassVar[tuple[str, ...]] = (
        "array", "sequence", "vector", "embedding", "vec", "set", "repeated", "largelist", "listview",
        "largelistview", "fixedsizelist",
    )  # fmt: skip
    example: ClassVar[str] = "{kind: List, itemType: Float32, fixedLength: 768}"

    def parts(self) -> tuple[Member, ...]:
        """Return the item."""
        return (Member(Part.ITEM, ("itemType",), self.item_type),)

    def type_text(self) -> str:
        """`List<Float32>[768]`."""
        length = "" if self.fixed_length is None else f"[{self.fixed_length}]"
        return f"List<{self.item_type.type_text()}>{length}"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return list, large_list, list_view, large_list_view or fixed_size_list."""
        (item,) = children
        if self.fixed_length is not None:
            return pa.list_(item, self.fixed_length)
        layout = _layout(hints, defaults.list, "list")
        return arrow_type("list_" if layout == "list" else layout, item)

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return the fixed length, or the layout as a hint."""
        if pa.types.is_fixed_size_list(type_):
            if type_.list_size == 0:
                raise UnsupportedTypeError("fixed_size_list of no items")
            return AuthoredType({"fixedLength": type_.list_size})
        is_view = type_.id in (pa.lib.Type_LIST_VIEW, pa.lib.Type_LARGE_LIST_VIEW)
        is_large = type_.id in (pa.lib.Type_LARGE_LIST, pa.lib.Type_LARGE_LIST_VIEW)
        if not is_view and not is_large:
            return AuthoredType({}) if type_.id == pa.lib.Type_LIST else None
        return AuthoredType({}, buffer_hint(is_view=is_view, is_large=is_large))

    def facts(self, new: Self) -> Iterator[Fact]:
        """Yield the length."""
        if self.fixed_length != new.fixed_length:
            was_free, is_free = self.fixed_length is None, new.fixed_length is None
            yield (
                Fact.LIST_SIZE_FIXED
                if was_free
                else Fact.LIST_SIZE_FREED
                if is_free
                else Fact.LIST_SIZE_CHANGED
            )
