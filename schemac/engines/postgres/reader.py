"""PostgreSQL: scripts with CREATE TABLE statements, as people and pg_dump write them.

Layer: engines.
Source: PostgreSQL's documentation, "Data Types" and "CREATE TABLE"; pgvector and PostGIS for theirs.
"""

from functools import partial

from schemac.engines.sql_tables import (
    Dialect,
    Rule,
    SqlType,
    TypeMapping,
    binary,
    decimals,
    plain,
    read,
    read_text,
    string,
    text,
    times,
    timestamps,
    wkb,
)
from schemac.importers.importer import Importer
from schemac.language.physical import pa

_COUNTED = "not kept: DEFAULT from a sequence"
_DIGITS = 6
_UNBOUNDED = "numeric without precision has no bounds: set the precision and scale that its values need"
_MONEY = "not kept: the type money, whose digits after the point depend on lc_monetary"
_ZONE = "not kept: the zone of each time"


def _float(written: SqlType) -> TypeMapping:
    is_single = written.numbers and written.numbers[0] <= 24
    return TypeMapping(pa.float32() if is_single else pa.float64())


def _character(written: SqlType) -> TypeMapping:
    return TypeMapping(
        pa.string(), f"not kept: the length in {written.text if written.numbers else 'char(1)'}"
    )


def _vector(written: SqlType) -> TypeMapping:
    item = pa.field("item", pa.float32(), nullable=False)
    return TypeMapping(pa.list_(item, written.numbers[0]) if written.numbers else pa.list_(item))


def _half_vector(written: SqlType) -> TypeMapping:
    item = pa.field("item", pa.float16(), nullable=False)
    return TypeMapping(pa.list_(item, written.numbers[0]) if written.numbers else pa.list_(item))


def _interval(written: SqlType) -> TypeMapping | None:
    """Judge intervals: those with months have no kind."""
    is_of_days = written.text.upper().startswith(("INTERVAL DAY", "INTERVAL HOUR", "INTERVAL MINUTE"))
    return TypeMapping(pa.duration("us")) if is_of_days or written.text.upper() == "INTERVAL SECOND" else None


_RULES: dict[str, Rule] = {
    "BOOLEAN": plain(lambda: pa.bool_()),
    "SMALLINT": plain(lambda: pa.int16()),
    "INT": plain(lambda: pa.int32()),
    "BIGINT": plain(lambda: pa.int64()),
    "SMALLSERIAL": plain(lambda: pa.int16(), _COUNTED),
    "SERIAL": plain(lambda: pa.int32(), _COUNTED),
    "BIGSERIAL": plain(lambda: pa.int64(), _COUNTED),
    "OID": plain(lambda: pa.uint32()),
    "FLOAT": plain(lambda: pa.float32()),
    "DOUBLE": _float,
    "DECIMAL": decimals(38, 18, _UNBOUNDED),
    "MONEY": plain(lambda: pa.decimal128(19, 2), _MONEY),
    "TEXT": string,
    "VARCHAR": string,
    "CHAR": _character,
    "BPCHAR": string,
    "NAME": string,
    "VARBINARY": binary,
    "DATE": plain(lambda: pa.date32()),
    "TIMESTAMP": timestamps(None, _DIGITS),
    "TIMESTAMPTZ": timestamps("UTC", _DIGITS),
    "TIME": times(_DIGITS),
    "TIMETZ": times(_DIGITS, _ZONE),
    "Interval": _interval,
    "INTERVAL": _interval,
    "UUID": plain(lambda: pa.uuid()),
    "JSON": plain(lambda: pa.json_()),
    "JSONB": plain(lambda: pa.json_()),
    "VECTOR": _vector,
    "halfvec": _half_vector,
    "GEOMETRY": wkb,
    "GEOGRAPHY": wkb,
    **dict.fromkeys(("XML", "INET", "BIT", "VARBIT", "HSTORE", "POINT"), text),
    **dict.fromkeys(("INT4RANGE", "INT8RANGE", "NUMRANGE", "TSRANGE", "TSTZRANGE", "DATERANGE"), text),
    **dict.fromkeys(("cidr", "macaddr", "macaddr8", "citext", "tsvector", "tsquery", "ltree"), text),
    **dict.fromkeys(("line", "lseg", "box", "path", "polygon", "circle"), text),
}
_DIALECT = Dialect("postgres", str.lower, _RULES)


IMPORTER = Importer(
    "postgres",
    "PostgreSQL DDL: CREATE TABLE",
    partial(read, dialect=_DIALECT),
    partial(read_text, dialect=_DIALECT),
)
