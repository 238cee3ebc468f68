"""PostgreSQL: DDL that makes tables; it is read, not written.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "postgres",
    "PostgreSQL",
    position=80,
    formats=(
        Format(
            "postgres",
            "schemac.engines.postgres.reader:IMPORTER",
            (".sql", ".ddl"),
            recognizes="schemac.engines.postgres.sources:is_dump",
            systems=("postgres", "postgresql", "redshift"),
        ),
    ),
)
