"""What other systems call a kind.

Layer: kinds.
Shape: names without case and punctuation; what stands in brackets behind a name is read by `manifest.foreign`.
Source: the type names of SQL dialects, Spark, Flink, Iceberg, Arrow, protobuf, Python, Rust and ClickHouse.
"""

from typing import Any

ARROW_NAMES: dict[str, str] = {
    "null": "Null",
    "bool": "Bool",
    "int8": "Int8",
    "int16": "Int16",
    "int32": "Int32",
    "int64": "Int64",
    "uint8": "UInt8",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "halffloat": "Float16",
    "float": "Float32",
    "double": "Float64",
}
"""Kinds by what pyarrow prints for their one Arrow type."""

ARROW_BUFFERS: dict[str, tuple[str, dict[str, Any]]] = {
    "string": ("String", {}),
    "large_string": ("String", {"kind": "Contiguous", "offsetBitWidth": 64}),
    "string_view": ("String", {"kind": "View", "offsetBitWidth": 32}),
    "binary": ("Binary", {}),
    "large_binary": ("Binary", {"kind": "Contiguous", "offsetBitWidth": 64}),
    "binary_view": ("Binary", {"kind": "View", "offsetBitWidth": 32}),
}
"""Kind and buffer encoding by what pyarrow prints for a type."""

_NAMES: dict[str, tuple[str, ...]] = {
    "Int64": ("bigint", "long", "int8byte", "i64", "sint64", "sfixed64", "bigserial", "longlong"),
    "Int32": ("int", "integer", "i32", "sint32", "sfixed32", "serial", "mediumint"),
    "Int16": ("smallint", "short", "i16", "smallserial"),
    "Int8": ("tinyint", "byte", "i8"),
    "UInt8": ("u8", "ubyte", "unsignedtinyint", "tinyintunsigned", "utinyint"),
    "UInt16": ("u16", "ushort", "unsignedsmallint", "smallintunsigned", "usmallint"),
    "UInt32": (
        *("u32", "uint", "unsigned", "fixed32", "intunsigned", "integerunsigned"),
        *("unsignedint", "unsignedinteger", "uinteger"),
    ),
    "UInt64": ("u64", "ulong", "fixed64", "bigintunsigned", "unsignedbigint", "ubigint"),
    "Float64": ("double", "float8", "number", "f64", "doubleprecision"),
    "Float32": ("float", "real", "f32", "single", "float4"),
    "Float16": ("half", "halffloat", "f16"),
    "String": (
        *("varchar", "char", "text", "str", "utf8", "character", "charactervarying", "charvarying", "bpchar"),
        *("nchar", "nvarchar", "varchar2", "nvarchar2", "clob", "longtext", "mediumtext", "tinytext"),
        *("citext", "object", "enum", "json", "jsonb", "variant", "fixedstring"),
        *("largestring", "largeutf8", "stringview", "utf8view"),
    ),
    "Binary": (
        "bytes",
        "bytea",
        "blob",
        "varbinary",
        "largebinary",
        "binaryview",
        "uuid",
        "fixedsizebinary",
        "fixed",
    ),
    "Bool": ("boolean", "bit", "logical"),
    "Timestamp": (
        *("datetime", "timestamptz", "timestampltz", "timestampntz", "instant", "datetime64", "datetime2"),
        *("timestampwithtimezone", "timestampwithouttimezone", "timestampwithlocaltimezone"),
        *("timestampns", "timestamptzns", "datetimeoffset", "smalldatetime"),
    ),
    "Date": ("date32", "date64"),
    "Time": ("time32", "time64", "timewithouttimezone"),
    "Duration": ("interval", "timedelta", "timedelta64", "intervaldaytosecond"),
    "Decimal": (
        "numeric",
        "money",
        "decimal32",
        "decimal64",
        "decimal128",
        "decimal256",
        "dec",
        "hugeint",
        "int128",
    ),
    "List": (
        *("array", "sequence", "vector", "embedding", "vec", "set", "repeated", "largelist", "listview"),
        *("largelistview", "fixedsizelist"),
    ),
    "Struct": ("row", "record", "tuple", "nested"),
    "Map": ("dict", "hashmap", "multiset"),
    "Option": ("nullable", "optional", "maybe"),
    "Null": ("none", "void", "nil"),
}
FOREIGN_NAMES: dict[str, str] = {name: kind for kind, names in _NAMES.items() for name in names}
"""What other systems call it, to our kind."""
