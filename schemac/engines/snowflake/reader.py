"""Snowflake: scripts with CREATE TABLE statements, as people and GET_DDL write them.

Layer: engines.
Source: Snowflake's documentation, "Data types" and "CREATE TABLE".
"""

from schemac.engines.sql_tables import (
    Dialect,
    Rule,
    SqlType,
    TypeMapping,
    as_other,
    binary,
    decimals,
    importer,
    padded,
    plain,
    string,
    times,
    timestamps,
    wkb,
)
from schemac.language.physical import pa

_DIGITS = 9
_MAPPED = "this is TIMESTAMP_NTZ, unless the parameter TIMESTAMP_TYPE_MAPPING says otherwise"
_ZONE = "not kept: the zone of each timestamp"


def _vector(written: SqlType) -> TypeMapping | None:
    if not written.numbers or not written.words:
        return None
    item = pa.int32() if written.words[0].upper().startswith("INT") else pa.float32()
    return TypeMapping(pa.list_(pa.field("item", item, nullable=False), written.numbers[-1]))


_RULES: dict[str, Rule] = {
    "BOOLEAN": plain(lambda: pa.bool_()),
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), plain(lambda: pa.decimal128(38, 0))),
    "DECIMAL": decimals(38, 0),
    **dict.fromkeys(("FLOAT", "DOUBLE"), plain(lambda: pa.float64())),
    **dict.fromkeys(("TEXT", "VARCHAR", "NVARCHAR"), string),
    **dict.fromkeys(("CHAR", "NCHAR"), padded("CHAR(1)")),
    **dict.fromkeys(("BINARY", "VARBINARY"), binary),
    "DATE": plain(lambda: pa.date32()),
    "DATETIME": timestamps(None, _DIGITS),
    "TIMESTAMPNTZ": timestamps(None, _DIGITS),
    "TIMESTAMP": timestamps(None, _DIGITS, _MAPPED),
    "TIMESTAMPLTZ": timestamps("UTC", _DIGITS),
    "TIMESTAMPTZ": timestamps("UTC", _DIGITS, _ZONE),
    "TIME": times(_DIGITS),
    "UUID": plain(lambda: pa.uuid()),
    **dict.fromkeys(("VARIANT", "OBJECT", "ARRAY"), as_other(lambda: pa.json_(), "JSON")),
    "VECTOR": _vector,
    "GEOMETRY": wkb,
    "GEOGRAPHY": wkb,
}
_DIALECT = Dialect("snowflake", str.upper, _RULES, is_counter_required=False)

IMPORTER = importer(_DIALECT, "Snowflake")
