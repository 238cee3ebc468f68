"""SQLite databases as `schemac import` reads them.

Errors: SC551 for a column type without a kind, SC552 for a file that is not a database with one table.
Source: sqlite.org, "PRAGMA table_info" and "Determination Of Column Affinity".
"""

import sqlite3
from pathlib import Path
from typing import Any

from schemac.importers.importer import ImportedSchema, Importer, ImportNotes, UnreadableSourceError
from schemac.text.source.catalogue import UNSUPPORTED_ARROW_TYPE
from schemac.text.source.diagnostics import Report
from schemac_sqlite.attributes import PRIMARY_KEY

_KINDS = {"INTEGER": "Int64", "INT": "Int64", "REAL": "Float64", "TEXT": "String", "BLOB": "Binary"}


def read(path: Path, report: Report) -> ImportedSchema:
    """Read the columns of the database's one table."""
    try:
        with sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True) as connection:
            found = connection.execute("select name from sqlite_schema where type = 'table' order by name")
            names = [name for (name,) in found if not name.startswith("sqlite_")]
            if len(names) != 1:
                raise UnreadableSourceError(f"it has {len(names)} tables, not one")
            columns = connection.execute(
                'select name, type, "notnull", pk, dflt_value from pragma_table_info(?)', names
            )
            return _imported(names[0], columns.fetchall(), str(path), report)
    except sqlite3.Error as error:
        raise UnreadableSourceError(f"it is not an SQLite database: {error}") from error


def _imported(table: str, columns: list[Any], file: str, report: Report) -> ImportedSchema:
    notes, fields, key = ImportNotes(), [], {}
    for name, declared, is_required, place, default in columns:
        kind = _KINDS.get(declared.upper())
        if kind is None:
            message = f"{name}: there is no kind for a column of type {declared or 'any'}"
            report.add(
                UNSUPPORTED_ARROW_TYPE,
                message,
                file=file,
                path=name,
                help=f"leave it out with `--skip '{name}'`",
            )
            continue
        if default is not None:
            notes.add((name,), f"not kept: the default {default}")
        if place:
            key[place] = name
        type_ = {"kind": kind}
        fields.append({"name": name, "type": type_ if is_required else {"kind": "Option", "inner": type_}})
    extra = {PRIMARY_KEY.key: [key[place] for place in sorted(key)]} if key else {}
    return ImportedSchema({"fields": fields, "extra": extra}, name=table, notes=notes)


IMPORTER = Importer("sqlite", "SQLite database with one table", read)
