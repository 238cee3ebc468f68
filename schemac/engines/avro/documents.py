"""JSON with schemas of Avro that is not a record, and no data either.

Layer: engines.
Source: Avro 1.12, "Schema Declaration": a list is a union, and an `error` belongs to a protocol.
"""

from typing import Any

from schemac.importers.foreign_json import ForeignDocument


def _is_schema(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_schema, value))
    is_named = isinstance(value, dict) and value.get("type") in ("record", "error") and "name" in value
    return is_named and isinstance(value.get("fields"), list)


DOCUMENTS = (ForeignDocument("an Avro schema", _is_schema, "import a file that holds one record"),)
"""What to import in place of such a file."""
