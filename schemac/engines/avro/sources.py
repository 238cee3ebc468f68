"""Which files hold an Avro schema, and which JSON around it is neither a schema nor data.

Layer: engines.
Source: JSON with schemas of Avro that is not a record, and no data either: Avro 1.12, "Schema Declaration": a list is a union, and an
      `error` belongs to a protocol.
"""

import json
from pathlib import Path
from typing import Any

from schemac.importers.sniffing import ForeignDocument

_MOST_BYTES = 4 * 1024 * 1024
"""Largest `.json` file that is looked into; larger ones are data."""


def is_source(path: Path) -> bool:
    """Return whether a `.json` file is an Avro record; the suffix `.avsc` is enough."""
    if path.suffix.lower() != ".json" or not path.is_file() or path.stat().st_size > _MOST_BYTES:
        return False
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    is_record = isinstance(document, dict) and document.get("type") == "record"
    return is_record and "name" in document and isinstance(document.get("fields"), list)


def _is_schema(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_schema, value))
    is_named = isinstance(value, dict) and value.get("type") in ("record", "error") and "name" in value
    return is_named and isinstance(value.get("fields"), list)


DOCUMENTS = (ForeignDocument("an Avro schema", _is_schema, "import a file that holds one record"),)
"""What to import in place of such a file."""
