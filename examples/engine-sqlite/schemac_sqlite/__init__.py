"""SQLite as an engine of schemac: strict tables, and what ALTER TABLE can do to them.

This module is loaded by every command, so it only names the parts.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "sqlite",
    "SQLite",
    position=100,
    artifacts="schemac_sqlite.artifact:TARGET",
    judge="schemac_sqlite.judge:JUDGE",
    formats=(
        Format(
            "sqlite",
            "schemac_sqlite.reader:IMPORTER",
            suffixes=(".sqlite", ".sqlite3"),
            magic=b"SQLite f",
        ),
    ),
    domain="sqlite.org",
    attributes="schemac_sqlite.attributes:ATTRIBUTES",
    codes="schemac_sqlite.codes:CODES",
    pages="schemac_sqlite.pages",
)
