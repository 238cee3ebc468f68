"""Recognizes files that hold an Avro schema.

Layer: engines.
"""

import json
from pathlib import Path

_MOST_BYTES = 4 * 1024 * 1024
"""Largest `.json` file that is looked into; larger ones are data."""


def is_source(path: Path) -> bool:
    """Tell whether a `.json` file is an Avro record; the suffix `.avsc` speaks for itself."""
    if path.suffix.lower() != ".json" or not path.is_file() or path.stat().st_size > _MOST_BYTES:
        return False
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    is_record = isinstance(document, dict) and document.get("type") == "record"
    return is_record and "name" in document and isinstance(document.get("fields"), list)
