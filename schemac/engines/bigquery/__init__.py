"""BigQuery: DDL that makes tables; it is read, not written.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "bigquery",
    "BigQuery",
    position=110,
    formats=(
        Format("bigquery", "schemac.engines.sql_dialects:BIGQUERY", (".sql", ".ddl"), systems=("bigquery",)),
    ),
)
