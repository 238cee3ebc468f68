"""BigQuery: scripts with CREATE TABLE statements.

Layer: engines.
Source: BigQuery's documentation, "Data types" and "CREATE TABLE". An array cannot be null in a table, nor can its items.
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
    string,
    text,
)
from schemac.language.physical import pa

_BIG = "not kept: the type BIGNUMERIC, whose numbers may have one digit more before the point"
_BOUNDS = {"RANGE<DATE>": lambda: pa.date32(), "RANGE<DATETIME>": lambda: pa.timestamp("us"), "RANGE<TIMESTAMP>": lambda: pa.timestamp("us", "UTC")}  # fmt: skip


def _range(written: SqlType) -> TypeMapping | None:
    bound = _BOUNDS.get(written.text.replace(" ", ""))
    if bound is None:
        return None
    members = [pa.field(name, bound()) for name in ("start", "end")]
    return TypeMapping(pa.struct(members), f"not kept: the type {written.text}; these are its bounds")


_RULES: dict[str, Rule] = {
    "BOOLEAN": plain(lambda: pa.bool_()),
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), plain(lambda: pa.int64())),
    **dict.fromkeys(("FLOAT", "DOUBLE"), plain(lambda: pa.float64())),
    "DECIMAL": decimals(38, 9),
    "BIGDECIMAL": decimals(76, 38, _BIG),
    **dict.fromkeys(("TEXT", "VARCHAR", "CHAR"), string),
    "BINARY": binary,
    "DATE": plain(lambda: pa.date32()),
    "TIMESTAMP": plain(lambda: pa.timestamp("us")),
    "TIMESTAMPTZ": plain(lambda: pa.timestamp("us", "UTC")),
    "TIME": plain(lambda: pa.time64("us")),
    "JSON": plain(lambda: pa.json_()),
    "GEOGRAPHY": text,
    "RANGE": _range,
}
_DIALECT = Dialect("bigquery", str, _RULES, is_key_required=False, has_null_arrays=False)

IMPORTER = importer(_DIALECT, "BigQuery")
