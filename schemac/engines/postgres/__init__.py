"""PostgreSQL: DDL that makes tables; it is read, not written.

Layer: engines.
"""

from typing import TYPE_CHECKING

from schemac.registry.engine import Engine, Format

if TYPE_CHECKING:
    from pathlib import Path

ENGINE = Engine(
    "postgres",
    "PostgreSQL",
    position=80,
    formats=(
        Format(
            "postgres",
            "schemac.engines.sql_dialects:POSTGRES",
            (".sql", ".ddl"),
            recognizes="schemac.engines.postgres:is_dump",
            systems=("postgres", "postgresql", "redshift"),
        ),
    ),
)


def is_dump(path: "Path") -> bool:
    """Return whether a script was written by pg_dump, by its first lines."""
    if path.suffix.lower() not in (".sql", ".ddl") or not path.is_file():
        return False
    with path.open("rb") as stream:
        return b"-- PostgreSQL database dump" in stream.read(4096)
