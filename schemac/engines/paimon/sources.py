"""Which paths are Paimon tables or their schema files, and which JSON around them is neither a schema nor data.

Layer: engines.
Source: JSON around Paimon tables that is neither a schema nor data: the snapshots of Paimon.
"""

import re
from pathlib import Path

from schemac.importers.sniffing import ForeignDocument, has_keys, is_json_with

FILE_NAME = re.compile(r"schema-([0-9]+)")
"""How Paimon names its schema files."""


def is_source(path: Path) -> bool:
    """Tell whether a path is a folder with schema files, or such a file by its name and what is in it."""
    if path.is_dir():
        return any(any(folder.glob("schema-[0-9]*")) for folder in (path / "schema", path))
    is_named = path.name.startswith("schema-") or path.suffix.lower() == ".json"
    return is_named and is_json_with(path, b'"highestFieldId":')


def is_table(path: Path) -> bool:
    """Tell whether a path is a table's folder: one with a file of a schema's name."""
    return path.is_dir() and bool(schema_files(path))


def schema_files(path: Path) -> list[Path]:
    """List the schema files of a table, oldest first; of a file, itself."""
    if path.is_file():
        return [path]
    for folder in (path / "schema", path):
        numbered = [
            (int(match[1]), file)
            for file in (folder.iterdir() if folder.is_dir() else ())
            if (match := FILE_NAME.fullmatch(file.name)) and file.is_file()
        ]
        if numbered:
            return [file for _, file in sorted(numbered)]
    return []


DOCUMENTS = (
    ForeignDocument(
        "a snapshot of a Paimon table", has_keys("schemaId", "baseManifestList"), "import the table's folder"
    ),
)
"""What to import in place of such a file."""
