"""The dialects of databases whose DDL is read: which Arrow type each of their types is.

Layer: engines, beside their folders; only what their formats name is loaded from here.
Shape: scripts with CREATE TABLE statements, as people and the tools of a database write them: pg_dump, `EXPORT DATABASE` of DuckDB, GET_DDL
      of Snowflake.
Source: "Data Types" and "CREATE TABLE" in the documentation of PostgreSQL, DuckDB, Snowflake and BigQuery; pgvector and PostGIS for
      theirs; the Arrow types that DuckDB itself gives its columns; `duckdb_keywords()`, category `reserved`, which are those of PostgreSQL.
"""

from collections.abc import Callable, Mapping

from schemac.engines import sql_tables as sql
from schemac.language.physical import ArrowType, pa

_ALIKE: Mapping[str, sql.Rule] = {
    "BOOLEAN": sql.plain(lambda: pa.bool_()),
    "DATE": sql.plain(lambda: pa.date32()),
}
_OF_ARROW: Mapping[str, sql.Rule] = {
    **_ALIKE,
    "SMALLINT": sql.plain(lambda: pa.int16()),
    "INT": sql.plain(lambda: pa.int32()),
    "BIGINT": sql.plain(lambda: pa.int64()),
    "FLOAT": sql.plain(lambda: pa.float32()),
    "VARBINARY": sql.binary,
    "UUID": sql.plain(lambda: pa.uuid()),
    "JSON": sql.plain(lambda: pa.json_()),
}
"""Types that PostgreSQL and DuckDB have as Arrow has them."""

_COUNTED = "not kept: DEFAULT from a sequence"
_POSTGRES_DIGITS = 6
_UNBOUNDED = "numeric without precision has no bounds: set the precision and scale that its values need"
_MONEY = "not kept: the type money, whose digits after the point depend on lc_monetary"
_ZONE = "not kept: the zone of each time"


def _postgres_float(written: sql.SqlType) -> sql.TypeMapping:
    """Return float32 for a precision of at most 24 bits, else float64."""
    is_single = written.numbers and written.numbers[0] <= 24
    return sql.TypeMapping(pa.float32() if is_single else pa.float64())


def _vectors(make: Callable[[], ArrowType]) -> sql.Rule:
    """Return the rule of vectors of numbers, of a length that may be left open."""
    return lambda written: sql.TypeMapping(
        pa.list_(pa.field("item", make(), nullable=False), *written.numbers[:1])
    )


def _postgres_interval(written: sql.SqlType) -> sql.TypeMapping | None:
    """Return a duration for an interval of days or less; None for one that may have months."""
    is_of_days = written.text.upper().startswith(("INTERVAL DAY", "INTERVAL HOUR", "INTERVAL MINUTE"))
    is_exact = is_of_days or written.text.upper() == "INTERVAL SECOND"
    return sql.TypeMapping(pa.duration("us")) if is_exact else None


_POSTGRES_RULES: Mapping[str, sql.Rule] = {
    **_OF_ARROW,
    "SMALLSERIAL": sql.plain(lambda: pa.int16(), _COUNTED),
    "SERIAL": sql.plain(lambda: pa.int32(), _COUNTED),
    "BIGSERIAL": sql.plain(lambda: pa.int64(), _COUNTED),
    "OID": sql.plain(lambda: pa.uint32()),
    "DOUBLE": _postgres_float,
    "DECIMAL": sql.decimals(38, 18, _UNBOUNDED),
    "MONEY": sql.plain(lambda: pa.decimal128(19, 2), _MONEY),
    **dict.fromkeys(("TEXT", "VARCHAR", "BPCHAR", "NAME"), sql.string),
    "CHAR": sql.padded("char(1)"),
    "TIMESTAMP": sql.timestamps(None, _POSTGRES_DIGITS),
    "TIMESTAMPTZ": sql.timestamps("UTC", _POSTGRES_DIGITS),
    "TIME": sql.times(_POSTGRES_DIGITS),
    "TIMETZ": sql.times(_POSTGRES_DIGITS, _ZONE),
    **dict.fromkeys(("Interval", "INTERVAL"), _postgres_interval),
    "JSONB": sql.plain(lambda: pa.json_()),
    "VECTOR": _vectors(lambda: pa.float32()),
    "halfvec": _vectors(lambda: pa.float16()),
    **dict.fromkeys(("GEOMETRY", "GEOGRAPHY"), sql.wkb),
    **dict.fromkeys(("XML", "INET", "BIT", "VARBIT", "HSTORE", "POINT"), sql.text),
    **dict.fromkeys(("INT4RANGE", "INT8RANGE", "NUMRANGE", "TSRANGE", "TSTZRANGE", "DATERANGE"), sql.text),
    **dict.fromkeys(("cidr", "macaddr", "macaddr8", "citext", "tsvector", "tsquery", "ltree"), sql.text),
    **dict.fromkeys(("line", "lseg", "box", "path", "polygon", "circle"), sql.text),
}

POSTGRES = sql.importer(sql.SqlDialect("postgres", str.lower, _POSTGRES_RULES), "PostgreSQL")


_HUGE = "not kept: the type {}, which has values with 39 digits"


def _duckdb_timestamp(written: sql.SqlType) -> sql.TypeMapping:
    """Return a timestamp in the coarsest unit that has the digits after the second, as DuckDB stores it."""
    digits = written.numbers[0] if written.numbers else 6
    return sql.TypeMapping(pa.timestamp(sql.UNITS[sql.stored_digits(digits)]))


_DUCKDB_RULES: Mapping[str, sql.Rule] = {
    **_OF_ARROW,
    "TINYINT": sql.plain(lambda: pa.int8()),
    **dict.fromkeys(("UTINYINT", "uint8"), sql.plain(lambda: pa.uint8())),
    **dict.fromkeys(("USMALLINT", "uint16"), sql.plain(lambda: pa.uint16())),
    **dict.fromkeys(("UINT", "uint32"), sql.plain(lambda: pa.uint32())),
    **dict.fromkeys(("UBIGINT", "uint64"), sql.plain(lambda: pa.uint64())),
    "INT128": sql.plain(lambda: pa.decimal128(38, 0), _HUGE.format("HUGEINT")),
    "UINT128": sql.plain(lambda: pa.decimal128(38, 0), _HUGE.format("UHUGEINT")),
    "oid": sql.plain(lambda: pa.int64()),
    "DOUBLE": sql.plain(lambda: pa.float64()),
    "DECIMAL": sql.decimals(18, 3),
    **dict.fromkeys(("TEXT", "NVARCHAR", "VARCHAR", "ENUM"), sql.plain(lambda: pa.string())),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ"), _duckdb_timestamp),
    "TIMESTAMP_S": sql.plain(lambda: pa.timestamp("s")),
    "TIMESTAMP_MS": sql.plain(lambda: pa.timestamp("ms")),
    "TIMESTAMP_NS": sql.plain(lambda: pa.timestamp("ns")),
    "TIMESTAMPTZ": sql.timestamps("UTC", 6),
    "TIME": sql.plain(lambda: pa.time64("us")),
    "TIME_NS": sql.plain(lambda: pa.time64("ns")),
    "TIMETZ": sql.times(6, _ZONE),
    "guid": sql.plain(lambda: pa.uuid()),
    **dict.fromkeys(("BIT", "BIGNUM", "varint"), sql.text),
    "GEOMETRY": sql.wkb,
}

DUCKDB = sql.importer(sql.SqlDialect("duckdb", str, _DUCKDB_RULES, has_sized_arrays=True), "DuckDB")


RESERVED_WORDS = frozenset((
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "both", "case", "cast",
    "check", "collate", "column", "constraint", "create", "default", "deferrable", "desc", "describe",
    "distinct", "do", "else", "end", "except", "false", "fetch", "for", "foreign", "from", "group", "having",
    "in", "initially", "intersect", "into", "lambda", "lateral", "leading", "limit", "not", "null", "offset",
    "on", "only", "or", "order", "pivot", "pivot_longer", "pivot_wider", "placing", "primary", "qualify",
    "references", "returning", "select", "show", "some", "summarize", "symmetric", "table", "then", "to",
    "trailing", "true", "union", "unique", "unpivot", "using", "variadic", "when", "where", "window", "with",
))  # fmt: skip


_SNOWFLAKE_DIGITS = 9
_MAPPED = "this is TIMESTAMP_NTZ, unless the parameter TIMESTAMP_TYPE_MAPPING says otherwise"
_ZONES = "not kept: the zone of each timestamp"


def _snowflake_vector(written: sql.SqlType) -> sql.TypeMapping | None:
    """Return a list of fixed length, whose items are int32 or float32; None without an item type or length."""
    if not written.numbers or not written.words:
        return None
    item = pa.int32() if written.words[0].upper().startswith("INT") else pa.float32()
    return sql.TypeMapping(pa.list_(pa.field("item", item, nullable=False), written.numbers[-1]))


_SNOWFLAKE_RULES: Mapping[str, sql.Rule] = {
    **_ALIKE,
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), sql.plain(lambda: pa.decimal128(38, 0))),
    "DECIMAL": sql.decimals(38, 0),
    **dict.fromkeys(("FLOAT", "DOUBLE"), sql.plain(lambda: pa.float64())),
    **dict.fromkeys(("TEXT", "VARCHAR", "NVARCHAR"), sql.string),
    **dict.fromkeys(("CHAR", "NCHAR"), sql.padded("CHAR(1)")),
    **dict.fromkeys(("BINARY", "VARBINARY"), sql.binary),
    **dict.fromkeys(("DATETIME", "TIMESTAMPNTZ"), sql.timestamps(None, _SNOWFLAKE_DIGITS)),
    "TIMESTAMP": sql.timestamps(None, _SNOWFLAKE_DIGITS, _MAPPED),
    "TIMESTAMPLTZ": sql.timestamps("UTC", _SNOWFLAKE_DIGITS),
    "TIMESTAMPTZ": sql.timestamps("UTC", _SNOWFLAKE_DIGITS, _ZONES),
    "TIME": sql.times(_SNOWFLAKE_DIGITS),
    "UUID": sql.plain(lambda: pa.uuid()),
    **dict.fromkeys(("VARIANT", "OBJECT", "ARRAY"), sql.as_other(lambda: pa.json_(), "JSON")),
    "VECTOR": _snowflake_vector,
    **dict.fromkeys(("GEOMETRY", "GEOGRAPHY"), sql.wkb),
}

SNOWFLAKE = sql.importer(
    sql.SqlDialect("snowflake", str.upper, _SNOWFLAKE_RULES, is_counter_required=False), "Snowflake"
)


# An array cannot be null in a table of BigQuery, nor can its items.
_BIG = "not kept: the type BIGNUMERIC, whose numbers may have one digit more before the point"
_BOUNDS = {"RANGE<DATE>": lambda: pa.date32(), "RANGE<DATETIME>": lambda: pa.timestamp("us"), "RANGE<TIMESTAMP>": lambda: pa.timestamp("us", "UTC")}  # fmt: skip


def _bigquery_range(written: sql.SqlType) -> sql.TypeMapping | None:
    """Return the struct of start and end that a range becomes; None for a range of an unknown type."""
    bound = _BOUNDS.get(written.text.replace(" ", ""))
    if bound is None:
        return None
    members = [pa.field(name, bound()) for name in ("start", "end")]
    return sql.TypeMapping(pa.struct(members), f"not kept: the type {written.text}; these are its bounds")


_BIGQUERY_RULES: Mapping[str, sql.Rule] = {
    **_ALIKE,
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), sql.plain(lambda: pa.int64())),
    **dict.fromkeys(("FLOAT", "DOUBLE"), sql.plain(lambda: pa.float64())),
    "DECIMAL": sql.decimals(38, 9),
    "BIGDECIMAL": sql.decimals(76, 38, _BIG),
    **dict.fromkeys(("TEXT", "VARCHAR", "CHAR"), sql.string),
    "BINARY": sql.binary,
    "TIMESTAMP": sql.plain(lambda: pa.timestamp("us")),
    "TIMESTAMPTZ": sql.plain(lambda: pa.timestamp("us", "UTC")),
    "TIME": sql.plain(lambda: pa.time64("us")),
    "JSON": sql.plain(lambda: pa.json_()),
    "GEOGRAPHY": sql.text,
    "RANGE": _bigquery_range,
}

BIGQUERY = sql.importer(
    sql.SqlDialect("bigquery", str, _BIGQUERY_RULES, is_key_required=False, has_null_arrays=False), "BigQuery"
)
