"""DuckDB: DDL that makes tables; it is read, not written.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "duckdb",
    "DuckDB",
    position=90,
    reserved_words="schemac.engines.sql_dialects:RESERVED_WORDS",
    formats=(
        Format(
            "duckdb",
            "schemac.engines.sql_dialects:DUCKDB",
            (".sql", ".ddl"),
            systems=("duckdb", "motherduck"),
        ),
    ),
)
