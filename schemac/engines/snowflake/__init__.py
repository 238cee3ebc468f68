"""Snowflake: DDL that makes tables; it is read, not written.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "snowflake",
    "Snowflake",
    position=100,
    formats=(
        Format(
            "snowflake", "schemac.engines.sql_dialects:SNOWFLAKE", (".sql", ".ddl"), systems=("snowflake",)
        ),
    ),
)
