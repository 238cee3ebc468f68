"""BigQuery: scripts with CREATE TABLE statements.

Layer: engines.
Source: BigQuery's documentation, "Data types" and "CREATE TABLE". An array cannot be null in a table, nor can its items.
"""

from schemac.engines import sql_tables as sql
from schemac.language.physical import pa

_BIG = "not kept: the type BIGNUMERIC, whose numbers may have one digit more before the point"
_BOUNDS = {"RANGE<DATE>": lambda: pa.date32(), "RANGE<DATETIME>": lambda: pa.timestamp("us"), "RANGE<TIMESTAMP>": lambda: pa.timestamp("us", "UTC")}  # fmt: skip


def _range(written: sql.SqlType) -> sql.TypeMapping | None:
    """Return the struct of start and end that a range becomes; None for a range of an unknown type."""
    bound = _BOUNDS.get(written.text.replace(" ", ""))
    if bound is None:
        return None
    members = [pa.field(name, bound()) for name in ("start", "end")]
    return sql.TypeMapping(pa.struct(members), f"not kept: the type {written.text}; these are its bounds")


_RULES: dict[str, sql.Rule] = {
    "BOOLEAN": sql.plain(lambda: pa.bool_()),
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), sql.plain(lambda: pa.int64())),
    **dict.fromkeys(("FLOAT", "DOUBLE"), sql.plain(lambda: pa.float64())),
    "DECIMAL": sql.decimals(38, 9),
    "BIGDECIMAL": sql.decimals(76, 38, _BIG),
    **dict.fromkeys(("TEXT", "VARCHAR", "CHAR"), sql.string),
    "BINARY": sql.binary,
    "DATE": sql.plain(lambda: pa.date32()),
    "TIMESTAMP": sql.plain(lambda: pa.timestamp("us")),
    "TIMESTAMPTZ": sql.plain(lambda: pa.timestamp("us", "UTC")),
    "TIME": sql.plain(lambda: pa.time64("us")),
    "JSON": sql.plain(lambda: pa.json_()),
    "GEOGRAPHY": sql.text,
    "RANGE": _range,
}

IMPORTER = sql.importer(
    sql.Dialect("bigquery", str, _RULES, is_key_required=False, has_null_arrays=False), "BigQuery"
)
