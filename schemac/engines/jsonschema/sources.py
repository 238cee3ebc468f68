"""Recognizes files that hold a JSON Schema.

Layer: engines.
"""

from pathlib import Path

from schemac.importers.sniffing import is_json_with


def is_source(path: Path) -> bool:
    """Tell whether a `.json` file names a dialect of JSON Schema; the suffix `.schema.json` speaks for itself."""
    if path.suffix.lower() != ".json":
        return False
    return path.name.lower().endswith(".schema.json") or (
        is_json_with(path, b'"$schema":"http') and is_json_with(path, b"json-schema.org")
    )
