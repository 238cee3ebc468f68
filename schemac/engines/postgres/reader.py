"""PostgreSQL: scripts with CREATE TABLE statements, as people and pg_dump write them.

Layer: engines.
Source: PostgreSQL's documentation, "Data Types" and "CREATE TABLE"; pgvector and PostGIS for theirs.
"""

from collections.abc import Callable

from schemac.engines.sql_tables import (
    Dialect,
    Rule,
    SqlType,
    TypeMapping,
    binary,
    decimals,
    importer,
    padded,
    plain,
    string,
    text,
    times,
    timestamps,
    wkb,
)
from schemac.language.physical import ArrowType, pa

_COUNTED = "not kept: DEFAULT from a sequence"
_DIGITS = 6
_UNBOUNDED = "numeric without precision has no bounds: set the precision and scale that its values need"
_MONEY = "not kept: the type money, whose digits after the point depend on lc_monetary"
_ZONE = "not kept: the zone of each time"


def _float(written: SqlType) -> TypeMapping:
    is_single = written.numbers and written.numbers[0] <= 24
    return TypeMapping(pa.float32() if is_single else pa.float64())


def _vectors(make: Callable[[], ArrowType]) -> Rule:
    """Return the rule of vectors of numbers, of a length that may be left open."""
    return lambda written: TypeMapping(
        pa.list_(pa.field("item", make(), nullable=False), *written.numbers[:1])
    )


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
    "CHAR": padded("char(1)"),
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
    "VECTOR": _vectors(lambda: pa.float32()),
    "halfvec": _vectors(lambda: pa.float16()),
    "GEOMETRY": wkb,
    "GEOGRAPHY": wkb,
    **dict.fromkeys(("XML", "INET", "BIT", "VARBIT", "HSTORE", "POINT"), text),
    **dict.fromkeys(("INT4RANGE", "INT8RANGE", "NUMRANGE", "TSRANGE", "TSTZRANGE", "DATERANGE"), text),
    **dict.fromkeys(("cidr", "macaddr", "macaddr8", "citext", "tsvector", "tsquery", "ltree"), text),
    **dict.fromkeys(("line", "lseg", "box", "path", "polygon", "circle"), text),
}
_DIALECT = Dialect("postgres", str.lower, _RULES)

IMPORTER = importer(_DIALECT, "PostgreSQL")
