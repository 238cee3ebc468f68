"""Finds the metadata of an Iceberg table.

Layer: engines.
Source: the Iceberg table specification, "Table Metadata" and "File System Tables": metadata files are called
`v<N>.metadata.json` or `<N>-<uuid>.metadata.json`, with `.gz` before `.metadata` or at the end where they are packed.
"""

import re
from pathlib import Path

from schemac.importers.sources import is_json_with

METADATA_FILE = re.compile(r"v?([0-9]+)(?:-[0-9A-Za-z-]+)?(?:\.gz)?\.metadata\.json(?:\.gz)?")


def metadata_file(path: Path) -> Path | None:
    """Return the newest metadata file of a table's folder, or of the `metadata` folder in it; a file itself; None for none."""
    if path.is_file():
        return path
    for folder in (path / "metadata", path):
        hint = folder / "version-hint.text"  # as tables without a catalog have it
        if hint.is_file():
            version = hint.read_text(encoding="utf-8", errors="replace").strip()
            for name in ("{}.metadata.json", "{}.gz.metadata.json", "{}.metadata.json.gz"):
                if (file := folder / name.format(f"v{version}")).is_file():
                    return file
        numbered = [
            (int(match[1]), file.name, file)
            for file in (folder.iterdir() if folder.is_dir() else ())
            if (match := METADATA_FILE.fullmatch(file.name)) and file.is_file()
        ]
        if numbered:
            return max(numbered)[2]
    return None


def is_source(path: Path) -> bool:
    """Whether a path is a table's folder, one of its metadata files, or a schema alone."""
    if path.is_dir():
        return metadata_file(path) is not None
    if METADATA_FILE.fullmatch(path.name):
        return True
    if path.suffix.lower() != ".json":
        return False
    return is_json_with(path, b'"last-column-id":') or is_json_with(path, b'"schema-id":')
