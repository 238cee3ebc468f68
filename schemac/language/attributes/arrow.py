"""`arrow.apache.org`: how a logical type is laid out in memory.

Layer: language.
Units: bit widths in bits.
Source: RFC-016, "Encoding Hints"; dictionary and extension types are our own additions.
"""

import json
from math import prod
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from schemac.language.attributes.attribute import (
    NUMBERS,
    TEMPORAL,
    Attribute,
    Extra,
    Facts,
    Family,
    spelled,
    spellings,
)
from schemac.text.source.json_object import Json
from schemac.text.syntax.model import AuthoredModel

DOMAIN = "arrow.apache.org"
INTEGERS = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")


class BufferEncoding(AuthoredModel):
    """Offsets into one buffer, views of prefix and position, or runs of equal values."""

    kind: Annotated[Literal["Contiguous", "View", "RunEnd"], spelled("Contiguous", "View", "RunEnd")] = Field(
        description="How the values are laid out in memory."
    )
    offset_bit_width: Literal[32, 64] | None = Field(None, description="Bits of an offset into the values.")
    run_ends_bit_width: Literal[16, 32, 64] | None = Field(None, description="Bits of the end of a run.")

    @model_validator(mode="after")
    def check_together(self) -> Self:
        """Return the encoding as it is. Raises ValueError for a width of the other kind."""
        if self.kind == "RunEnd" and self.offset_bit_width is not None:
            raise ValueError("offsetBitWidth belongs to Contiguous and View; RunEnd takes runEndsBitWidth")
        if self.kind != "RunEnd" and self.run_ends_bit_width is not None:
            raise ValueError(f"runEndsBitWidth belongs to RunEnd; {self.kind} takes offsetBitWidth")
        return self


class DateEncoding(AuthoredModel):
    """Days in 32 bits, or milliseconds in 64."""

    unit: Annotated[Literal["Day", "Millisecond"], spelled("Day", "Millisecond")] = Field(
        description="Days in 32 bits, or milliseconds in 64."
    )


class DecimalEncoding(AuthoredModel):
    """Width of the stored integer."""

    bit_width: Literal[32, 64, 128, 256] = Field(description="Bits of a value.")


class DictionaryEncoding(AuthoredModel):
    """Distinct values once, and indices to them."""

    index_type: Annotated[Literal[INTEGERS], spelled(*INTEGERS)] = Field(  # type: ignore[valid-type]
        "Int32", description="The type of the indices."
    )
    ordered: bool = Field(False, description="Whether the order of the distinct values means something.")


class ChildNames(AuthoredModel):
    """What the nameless parts of a list or map are called in Arrow."""

    item: str | None = Field(None, description="What the items of a list are called.")
    key: str | None = Field(None, description="What the keys of a map are called.")
    value: str | None = Field(None, description="What the values of a map are called.")


class ExtensionType(AuthoredModel):
    """An Arrow extension type; the field's own type is its storage."""

    name: str = Field(min_length=1, description="The name of the extension type, such as `arrow.uuid`.")
    metadata: str | None = Field(None, description="What the extension type needs to know, as text.")


EXTENSION_STORAGE = {
    "arrow.uuid": "Binary",
    "arrow.json": "String",
    "arrow.bool8": "Int8",
    "arrow.fixed_shape_tensor": "List",
}
"""The kinds that Arrow's canonical extension types are stored as."""
UUID_LENGTH = 16
"""Bytes of an `arrow.uuid`."""


def _json_object(metadata: str) -> Json:
    """Return the object of JSON in a text; empty if there is none, or one with half of a surrogate pair, which Arrow does not store."""
    try:
        value = json.loads(metadata)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


class TensorShape(NamedTuple):
    """The metadata of `arrow.fixed_shape_tensor`.

    Source: Arrow's canonical extension types: a JSON object with `shape` and, if wanted, `dim_names` and
    `permutation`, each with one entry a dimension.
    """

    shape: list[int]
    dim_names: list[str] | None = None
    permutation: list[int] | None = None

    @property
    def size(self) -> int:
        """Number of items."""
        return prod(self.shape)

    @classmethod
    def parse(cls, metadata: str) -> "TensorShape | None":
        """Return the shape in a metadata text, or None if the text is not such an object, or of more items than Arrow counts."""
        value = _json_object(metadata)
        if not set(value) <= {"shape", "dim_names", "permutation"}:
            return None
        shape, names, permutation = value.get("shape"), value.get("dim_names"), value.get("permutation")
        if not isinstance(shape, list) or not all(type(n) is int and n > 0 for n in shape):
            return None
        if prod(shape) >= 2**63:
            return None
        if names is not None and not (isinstance(names, list) and len(names) == len(shape)):
            return None
        if permutation is not None and not (
            isinstance(permutation, list)
            and sorted(map(repr, permutation)) == sorted(map(repr, range(len(shape))))
        ):
            return None
        return cls(shape, list(map(str, names)) if names else None, permutation or None)


class OpaqueName(NamedTuple):
    """The metadata of `arrow.opaque`: the type of another system, and that system.

    Source: Arrow's canonical extension types: a JSON object with `type_name` and `vendor_name`.
    """

    type_name: str
    vendor_name: str

    @classmethod
    def parse(cls, metadata: str) -> "OpaqueName | None":
        """Return the two names in a metadata text, or None if the text is not such an object."""
        value = _json_object(metadata)
        if value.keys() != {"type_name", "vendor_name"}:
            return None
        return cls(str(value["type_name"]), str(value["vendor_name"]))


BUFFER_ENCODING = Attribute[BufferEncoding](
    f"{DOMAIN}/bufferEncoding",
    BufferEncoding,
    "offsets of 32 or 64 bits, or views, for values of variable length",
    is_of_storage=True,
    refused={
        "anyOf": [
            {"properties": {"kind": {"enum": [*spellings("RunEnd")]}}, "required": ["kind"]},
            {"properties": {"runEndsBitWidth": {"type": "integer"}}, "required": ["runEndsBitWidth"]},
        ],
        "type": "object",
    },
    fits=frozenset({Family.TEXT, Family.BYTES, Family.LIST}),
    example="{kind: View}",
)
DATE_ENCODING = Attribute[DateEncoding](
    f"{DOMAIN}/dateEncoding",
    DateEncoding,
    "days in 32 bits or milliseconds in 64",
    is_of_storage=True,
    fits=frozenset({Family.DATE}),
    facts=Facts.all("date-encoding-changed"),
    example="{unit: Millisecond}",
)
DECIMAL_ENCODING = Attribute[DecimalEncoding](
    f"{DOMAIN}/decimalEncoding",
    DecimalEncoding,
    "width of a decimal in bits",
    is_of_storage=True,
    fits=frozenset({Family.DECIMAL}),
    facts=Facts.all("decimal-width-changed"),
    example="{bitWidth: 128}",
)
DICTIONARY_ENCODING = Attribute[DictionaryEncoding](
    f"{DOMAIN}/dictionaryEncoding",
    DictionaryEncoding,
    "distinct values stored once, with indices to them",
    is_of_storage=True,
    fits=NUMBERS | TEMPORAL | {Family.BOOLEAN, Family.TEXT, Family.BYTES, Family.DECIMAL},
    facts=Facts("dictionary-added", "dictionary-removed", "dictionary-changed"),
    decides_type=True,
    example="{indexType: Int16}",
)
EXTENSION_TYPE = Attribute[ExtensionType](
    f"{DOMAIN}/extensionType",
    ExtensionType,
    "an Arrow extension type with this storage",
    facts=Facts.all("extension-type-changed"),
    decides_type=True,
    example="{name: acme.point}",
)
CHILD_NAMES = Attribute[ChildNames](
    f"{DOMAIN}/childNames",
    ChildNames,
    "names of a list's or map's child fields, where they are not `item`, `key` and `value`",
    fits=frozenset({Family.LIST, Family.MAP}),
    facts=Facts.all("child-names-changed"),
    example="{item: element}",
)
METADATA = Attribute[dict[str, str]](
    f"{DOMAIN}/metadata",
    dict[str, str],
    "Arrow metadata without an attribute of its own, kept unchanged",
    on_schema=True,
    facts=Facts.all("arrow-metadata-changed"),
    example="{source: 'v1'}",
)
ATTRIBUTES = tuple([one for one in globals().values() if isinstance(one, Attribute)])


class Hints(NamedTuple):
    """The encoding hints of one field; None if the author gave none."""

    buffer: BufferEncoding | None = None
    date: DateEncoding | None = None
    decimal: DecimalEncoding | None = None
    dictionary: DictionaryEncoding | None = None
    extension: ExtensionType | None = None


class ArrowDefaults(NamedTuple):
    """Encodings for fields without a hint, at every depth; for engines that need views or large types everywhere.

    Source: the reference implementation has the same four settings, and none for decimals.
    """

    string: Literal["string", "large_string", "string_view"] = "string"
    binary: Literal["binary", "large_binary", "binary_view"] = "binary"
    list: Literal["list", "large_list", "list_view", "large_list_view"] = "list"
    date: Literal["date32", "date64"] = "date32"


NO_HINTS = Hints()


def read_hints(extra: Extra) -> Hints:
    """Return the encoding hints among attributes that have passed the checks."""
    if not any(key.startswith(DOMAIN) for key in extra):
        return NO_HINTS
    return Hints(
        BUFFER_ENCODING.read(extra),
        DATE_ENCODING.read(extra),
        DECIMAL_ENCODING.read(extra),
        DICTIONARY_ENCODING.read(extra),
        EXTENSION_TYPE.read(extra),
    )
