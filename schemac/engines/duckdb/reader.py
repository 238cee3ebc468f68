"""DuckDB: scripts with CREATE TABLE statements, as people and EXPORT DATABASE write them; and its reserved words.

Layer: engines.
Source: DuckDB's documentation, "Data Types"; the Arrow types that DuckDB itself gives its columns; `duckdb_keywords()`, category
      `reserved`, which are those of PostgreSQL.
"""

from schemac.engines import sql_tables as sql
from schemac.language.physical import pa

_ZONE = "not kept: the zone of each time"
_HUGE = "not kept: the type {}, which has values with 39 digits"


def _timestamp(written: sql.SqlType) -> sql.TypeMapping:
    """Judge a timestamp by its digits after the second: DuckDB stores them in the next unit that has as many, in nanoseconds at most."""
    digits = written.numbers[0] if written.numbers else 6
    unit = next((unit for most, unit in ((0, "s"), (3, "ms"), (6, "us")) if digits <= most), "ns")
    return sql.TypeMapping(pa.timestamp(unit))


_RULES: dict[str, sql.Rule] = {
    "BOOLEAN": sql.plain(lambda: pa.bool_()),
    "TINYINT": sql.plain(lambda: pa.int8()),
    "SMALLINT": sql.plain(lambda: pa.int16()),
    "INT": sql.plain(lambda: pa.int32()),
    "BIGINT": sql.plain(lambda: pa.int64()),
    "UTINYINT": sql.plain(lambda: pa.uint8()),
    "USMALLINT": sql.plain(lambda: pa.uint16()),
    "UINT": sql.plain(lambda: pa.uint32()),
    "UBIGINT": sql.plain(lambda: pa.uint64()),
    "INT128": sql.plain(lambda: pa.decimal128(38, 0), _HUGE.format("HUGEINT")),
    "UINT128": sql.plain(lambda: pa.decimal128(38, 0), _HUGE.format("UHUGEINT")),
    "uint8": sql.plain(lambda: pa.uint8()),
    "uint16": sql.plain(lambda: pa.uint16()),
    "uint32": sql.plain(lambda: pa.uint32()),
    "uint64": sql.plain(lambda: pa.uint64()),
    "oid": sql.plain(lambda: pa.int64()),
    "FLOAT": sql.plain(lambda: pa.float32()),
    "DOUBLE": sql.plain(lambda: pa.float64()),
    "DECIMAL": sql.decimals(18, 3),
    **dict.fromkeys(("TEXT", "NVARCHAR", "VARCHAR"), sql.plain(lambda: pa.string())),
    "VARBINARY": sql.binary,
    "DATE": sql.plain(lambda: pa.date32()),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ"), _timestamp),
    "TIMESTAMP_S": sql.plain(lambda: pa.timestamp("s")),
    "TIMESTAMP_MS": sql.plain(lambda: pa.timestamp("ms")),
    "TIMESTAMP_NS": sql.plain(lambda: pa.timestamp("ns")),
    "TIMESTAMPTZ": sql.timestamps("UTC", 6),
    "TIME": sql.plain(lambda: pa.time64("us")),
    "TIME_NS": sql.plain(lambda: pa.time64("ns")),
    "TIMETZ": sql.times(6, _ZONE),
    **dict.fromkeys(("UUID", "guid"), sql.plain(lambda: pa.uuid())),
    "JSON": sql.plain(lambda: pa.json_()),
    "ENUM": sql.plain(lambda: pa.string()),
    **dict.fromkeys(("BIT", "BIGNUM", "varint"), sql.text),
    "GEOMETRY": sql.wkb,
}

IMPORTER = sql.importer(sql.Dialect("duckdb", str, _RULES), "DuckDB")


RESERVED_WORDS = frozenset((
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "both", "case", "cast",
    "check", "collate", "column", "constraint", "create", "default", "deferrable", "desc", "describe",
    "distinct", "do", "else", "end", "except", "false", "fetch", "for", "foreign", "from", "group", "having",
    "in", "initially", "intersect", "into", "lambda", "lateral", "leading", "limit", "not", "null", "offset",
    "on", "only", "or", "order", "pivot", "pivot_longer", "pivot_wider", "placing", "primary", "qualify",
    "references", "returning", "select", "show", "some", "summarize", "symmetric", "table", "then", "to",
    "trailing", "true", "union", "unique", "unpivot", "using", "variadic", "when", "where", "window", "with",
))  # fmt: skip
