"""Lance's words for Arrow's types.

Layer: engines.
Source: the table of logical types in rust/lance-core/src/datatypes.rs of github.com/lance-format/lance.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from schemac.arrow.lower_metadata import EXTENSION_NAME
from schemac.engines.lance.names import BRAIN_FLOAT, JSON_EXTENSION
from schemac.physical.arrow import ArrowField, pa

NAME_KEY = EXTENSION_NAME.encode()
"""Under which pyarrow has the name of an extension type."""


class Encoding:
    """Numbers of `Field.Encoding` in `protos/lance/file.proto`; plain ones, for there is one in each field."""

    NONE = 0
    PLAIN = 1
    VAR_BINARY = 2
    DICTIONARY = 3
    RLE = 4


class Types:
    """Arrow type ids to Lance's words."""

    def __init__(self) -> None:
        types = pa.lib
        self.plain: dict[int, str] = {
            types.Type_NA: "null",
            types.Type_BOOL: "bool",
            types.Type_INT8: "int8",
            types.Type_INT16: "int16",
            types.Type_INT32: "int32",
            types.Type_INT64: "int64",
            types.Type_UINT8: "uint8",
            types.Type_UINT16: "uint16",
            types.Type_UINT32: "uint32",
            types.Type_UINT64: "uint64",
            types.Type_HALF_FLOAT: "halffloat",
            types.Type_FLOAT: "float",
            types.Type_DOUBLE: "double",
            types.Type_DATE32: "date32:day",
            types.Type_DATE64: "date64:ms",
        }
        self.variable: dict[int, str] = {
            types.Type_STRING: "string",
            types.Type_STRING_VIEW: "string",
            types.Type_LARGE_STRING: "large_string",
            types.Type_BINARY: "binary",
            types.Type_BINARY_VIEW: "binary",
            types.Type_LARGE_BINARY: "large_binary",
        }
        self.with_parameters: dict[int, Callable[[Any], str]] = {
            types.Type_TIMESTAMP: lambda t: f"timestamp:{t.unit}:{t.tz or '-'}",
            types.Type_TIME32: lambda t: f"time32:{t.unit}",
            types.Type_TIME64: lambda t: f"time64:{t.unit}",
            types.Type_DURATION: lambda t: f"duration:{t.unit}",
            types.Type_DECIMAL128: lambda t: f"decimal:128:{t.precision}:{t.scale}",
            types.Type_DECIMAL256: lambda t: f"decimal:256:{t.precision}:{t.scale}",
            types.Type_FIXED_SIZE_BINARY: lambda t: f"fixed_size_binary:{t.byte_width}",
        }
        self.views = (types.Type_STRING_VIEW, types.Type_BINARY_VIEW)
        self.dates = (types.Type_DATE32, types.Type_DATE64)
        self.null = types.Type_NA
        self.bool = types.Type_BOOL
        self.struct = types.Type_STRUCT
        self.lists = {types.Type_LIST: "list", types.Type_LARGE_LIST: "large_list"}
        self.fixed_list = types.Type_FIXED_SIZE_LIST
        self.map = types.Type_MAP
        self.dictionary = types.Type_DICTIONARY

    def words(self, type_: Any, metadata: Mapping[str, str]) -> tuple[str, int]:
        """Logical type and (deprecated, still compared) encoding of a storage type."""
        id = type_.id
        if (plain := self.plain.get(id)) is not None:
            return plain, Encoding.NONE if id == self.null else Encoding.PLAIN
        if metadata and metadata.get(EXTENSION_NAME) == JSON_EXTENSION:
            return "json", Encoding.VAR_BINARY
        if (variable := self.variable.get(id)) is not None:
            return variable, Encoding.VAR_BINARY
        if (spelled := self.with_parameters.get(id)) is not None:
            return spelled(type_), Encoding.PLAIN
        if id == self.struct:
            return "struct", Encoding.NONE
        if id in self.lists:
            of_structs = ".struct" if type_.value_type.id == self.struct else ""
            return self.lists[id] + of_structs, Encoding.PLAIN
        if id == self.fixed_list:
            return f"fixed_size_list:{self.item_words(type_.value_field)}:{type_.list_size}", Encoding.PLAIN
        if id == self.map:
            return "map", Encoding.PLAIN
        if id == self.dictionary:
            value, _ = self.words(type_.value_type, {})
            index, _ = self.words(type_.index_type, {})
            return f"dict:{value}:{index}:false", Encoding.DICTIONARY
        raise ValueError(f"Lance has no type for {type_}")

    def item_words(self, item: ArrowField) -> str:
        """Return the item of a fixed-size list, which has no message of its own unless it is a struct."""
        if (item.metadata or {}).get(NAME_KEY) == BRAIN_FLOAT.encode():
            return BRAIN_FLOAT
        type_: Any = item.type
        return self.words(type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_, {})[0]


@cache
def types_of_lance() -> Types:
    """Return the words, which are the same for every schema."""
    return Types()
