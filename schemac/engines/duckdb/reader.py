"""DuckDB: scripts with CREATE TABLE statements, as people and EXPORT DATABASE write them; and its reserved words.

Layer: engines.
Source: DuckDB's documentation, "Data Types"; the Arrow types that DuckDB itself gives its columns; `duckdb_keywords()`, category
      `reserved`, which are those of PostgreSQL.
"""

from schemac.engines.sql_tables import (
    Dialect,
    Rule,
    SqlType,
    TypeMapping,
    binary,
    decimals,
    importer,
    plain,
    text,
    times,
    timestamps,
    wkb,
)
from schemac.language.physical import pa

_ZONE = "not kept: the zone of each time"
_HUGE = "not kept: the type {}, which has values with 39 digits"


def _timestamp(written: SqlType) -> TypeMapping:
    """Judge a timestamp by its digits after the second: DuckDB stores them in the next unit that has as many, in nanoseconds at most."""
    digits = written.numbers[0] if written.numbers else 6
    unit = next((unit for most, unit in ((0, "s"), (3, "ms"), (6, "us")) if digits <= most), "ns")
    return TypeMapping(pa.timestamp(unit))


_RULES: dict[str, Rule] = {
    "BOOLEAN": plain(lambda: pa.bool_()),
    "TINYINT": plain(lambda: pa.int8()),
    "SMALLINT": plain(lambda: pa.int16()),
    "INT": plain(lambda: pa.int32()),
    "BIGINT": plain(lambda: pa.int64()),
    "UTINYINT": plain(lambda: pa.uint8()),
    "USMALLINT": plain(lambda: pa.uint16()),
    "UINT": plain(lambda: pa.uint32()),
    "UBIGINT": plain(lambda: pa.uint64()),
    "INT128": plain(lambda: pa.decimal128(38, 0), _HUGE.format("HUGEINT")),
    "UINT128": plain(lambda: pa.decimal128(38, 0), _HUGE.format("UHUGEINT")),
    "uint8": plain(lambda: pa.uint8()),
    "uint16": plain(lambda: pa.uint16()),
    "uint32": plain(lambda: pa.uint32()),
    "uint64": plain(lambda: pa.uint64()),
    "oid": plain(lambda: pa.int64()),
    "FLOAT": plain(lambda: pa.float32()),
    "DOUBLE": plain(lambda: pa.float64()),
    "DECIMAL": decimals(18, 3),
    **dict.fromkeys(("TEXT", "NVARCHAR", "VARCHAR"), plain(lambda: pa.string())),
    "VARBINARY": binary,
    "DATE": plain(lambda: pa.date32()),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ"), _timestamp),
    "TIMESTAMP_S": plain(lambda: pa.timestamp("s")),
    "TIMESTAMP_MS": plain(lambda: pa.timestamp("ms")),
    "TIMESTAMP_NS": plain(lambda: pa.timestamp("ns")),
    "TIMESTAMPTZ": timestamps("UTC", 6),
    "TIME": plain(lambda: pa.time64("us")),
    "TIME_NS": plain(lambda: pa.time64("ns")),
    "TIMETZ": times(6, _ZONE),
    **dict.fromkeys(("UUID", "guid"), plain(lambda: pa.uuid())),
    "JSON": plain(lambda: pa.json_()),
    "ENUM": plain(lambda: pa.string()),
    "BIT": text,
    "BIGNUM": text,
    "varint": text,
    "GEOMETRY": wkb,
}
_DIALECT = Dialect("duckdb", str, _RULES)

IMPORTER = importer(_DIALECT, "DuckDB")


RESERVED_WORDS = frozenset((
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "both", "case", "cast",
    "check", "collate", "column", "constraint", "create", "default", "deferrable", "desc", "describe",
    "distinct", "do", "else", "end", "except", "false", "fetch", "for", "foreign", "from", "group", "having",
    "in", "initially", "intersect", "into", "lambda", "lateral", "leading", "limit", "not", "null", "offset",
    "on", "only", "or", "order", "pivot", "pivot_longer", "pivot_wider", "placing", "primary", "qualify",
    "references", "returning", "select", "show", "some", "summarize", "symmetric", "table", "then", "to",
    "trailing", "true", "union", "unique", "unpivot", "using", "variadic", "when", "where", "window", "with",
))  # fmt: skip
