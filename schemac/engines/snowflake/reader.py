"""Snowflake: scripts with CREATE TABLE statements, as people and GET_DDL write them.

Layer: engines.
Source: Snowflake's documentation, "Data types" and "CREATE TABLE".
"""

from schemac.engines import sql_tables as sql
from schemac.language.physical import pa

_DIGITS = 9
_MAPPED = "this is TIMESTAMP_NTZ, unless the parameter TIMESTAMP_TYPE_MAPPING says otherwise"
_ZONE = "not kept: the zone of each timestamp"


def _vector(written: sql.SqlType) -> sql.TypeMapping | None:
    """Return a list of fixed length, whose items are int32 or float32; None without an item type or length."""
    if not written.numbers or not written.words:
        return None
    item = pa.int32() if written.words[0].upper().startswith("INT") else pa.float32()
    return sql.TypeMapping(pa.list_(pa.field("item", item, nullable=False), written.numbers[-1]))


_RULES: dict[str, sql.Rule] = {
    "BOOLEAN": sql.plain(lambda: pa.bool_()),
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), sql.plain(lambda: pa.decimal128(38, 0))),
    "DECIMAL": sql.decimals(38, 0),
    **dict.fromkeys(("FLOAT", "DOUBLE"), sql.plain(lambda: pa.float64())),
    **dict.fromkeys(("TEXT", "VARCHAR", "NVARCHAR"), sql.string),
    **dict.fromkeys(("CHAR", "NCHAR"), sql.padded("CHAR(1)")),
    **dict.fromkeys(("BINARY", "VARBINARY"), sql.binary),
    "DATE": sql.plain(lambda: pa.date32()),
    **dict.fromkeys(("DATETIME", "TIMESTAMPNTZ"), sql.timestamps(None, _DIGITS)),
    "TIMESTAMP": sql.timestamps(None, _DIGITS, _MAPPED),
    "TIMESTAMPLTZ": sql.timestamps("UTC", _DIGITS),
    "TIMESTAMPTZ": sql.timestamps("UTC", _DIGITS, _ZONE),
    "TIME": sql.times(_DIGITS),
    "UUID": sql.plain(lambda: pa.uuid()),
    **dict.fromkeys(("VARIANT", "OBJECT", "ARRAY"), sql.as_other(lambda: pa.json_(), "JSON")),
    "VECTOR": _vector,
    **dict.fromkeys(("GEOMETRY", "GEOGRAPHY"), sql.wkb),
}

IMPORTER = sql.importer(sql.Dialect("snowflake", str.upper, _RULES, is_counter_required=False), "Snowflake")
