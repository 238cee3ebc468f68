"""PostgreSQL: scripts with CREATE TABLE statements, as people and pg_dump write them.

Layer: engines.
Source: PostgreSQL's documentation, "Data Types" and "CREATE TABLE"; pgvector and PostGIS for theirs.
"""

from collections.abc import Callable

from schemac.engines import sql_tables as sql
from schemac.language.physical import ArrowType, pa

_COUNTED = "not kept: DEFAULT from a sequence"
_DIGITS = 6
_UNBOUNDED = "numeric without precision has no bounds: set the precision and scale that its values need"
_MONEY = "not kept: the type money, whose digits after the point depend on lc_monetary"
_ZONE = "not kept: the zone of each time"


def _float(written: sql.SqlType) -> sql.TypeMapping:
    """Return float32 for a precision of at most 24 bits, else float64."""
    is_single = written.numbers and written.numbers[0] <= 24
    return sql.TypeMapping(pa.float32() if is_single else pa.float64())


def _vectors(make: Callable[[], ArrowType]) -> sql.Rule:
    """Return the rule of vectors of numbers, of a length that may be left open."""
    return lambda written: sql.TypeMapping(
        pa.list_(pa.field("item", make(), nullable=False), *written.numbers[:1])
    )


def _interval(written: sql.SqlType) -> sql.TypeMapping | None:
    """Judge intervals: those with months have no kind."""
    is_of_days = written.text.upper().startswith(("INTERVAL DAY", "INTERVAL HOUR", "INTERVAL MINUTE"))
    is_exact = is_of_days or written.text.upper() == "INTERVAL SECOND"
    return sql.TypeMapping(pa.duration("us")) if is_exact else None


_RULES: dict[str, sql.Rule] = {
    "BOOLEAN": sql.plain(lambda: pa.bool_()),
    "SMALLINT": sql.plain(lambda: pa.int16()),
    "INT": sql.plain(lambda: pa.int32()),
    "BIGINT": sql.plain(lambda: pa.int64()),
    "SMALLSERIAL": sql.plain(lambda: pa.int16(), _COUNTED),
    "SERIAL": sql.plain(lambda: pa.int32(), _COUNTED),
    "BIGSERIAL": sql.plain(lambda: pa.int64(), _COUNTED),
    "OID": sql.plain(lambda: pa.uint32()),
    "FLOAT": sql.plain(lambda: pa.float32()),
    "DOUBLE": _float,
    "DECIMAL": sql.decimals(38, 18, _UNBOUNDED),
    "MONEY": sql.plain(lambda: pa.decimal128(19, 2), _MONEY),
    **dict.fromkeys(("TEXT", "VARCHAR", "BPCHAR", "NAME"), sql.string),
    "CHAR": sql.padded("char(1)"),
    "VARBINARY": sql.binary,
    "DATE": sql.plain(lambda: pa.date32()),
    "TIMESTAMP": sql.timestamps(None, _DIGITS),
    "TIMESTAMPTZ": sql.timestamps("UTC", _DIGITS),
    "TIME": sql.times(_DIGITS),
    "TIMETZ": sql.times(_DIGITS, _ZONE),
    **dict.fromkeys(("Interval", "INTERVAL"), _interval),
    "UUID": sql.plain(lambda: pa.uuid()),
    **dict.fromkeys(("JSON", "JSONB"), sql.plain(lambda: pa.json_())),
    "VECTOR": _vectors(lambda: pa.float32()),
    "halfvec": _vectors(lambda: pa.float16()),
    **dict.fromkeys(("GEOMETRY", "GEOGRAPHY"), sql.wkb),
    **dict.fromkeys(("XML", "INET", "BIT", "VARBIT", "HSTORE", "POINT"), sql.text),
    **dict.fromkeys(("INT4RANGE", "INT8RANGE", "NUMRANGE", "TSRANGE", "TSTZRANGE", "DATERANGE"), sql.text),
    **dict.fromkeys(("cidr", "macaddr", "macaddr8", "citext", "tsvector", "tsquery", "ltree"), sql.text),
    **dict.fromkeys(("line", "lseg", "box", "path", "polygon", "circle"), sql.text),
}

IMPORTER = sql.importer(sql.Dialect("postgres", str.lower, _RULES), "PostgreSQL")
