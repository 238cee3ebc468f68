"""Recognizes files that hold a schema of Spark.

Layer: engines.
"""

from pathlib import Path

from schemac.importers.sniffing import is_json_with


def is_struct_type(path: Path) -> bool:
    """Tell whether a file is a StructType as JSON; the structs of table formats have words that Spark's have not."""
    if path.suffix.lower() != ".json" or not is_json_with(path, b'"type":"struct"'):
        return False
    return not any(is_json_with(path, mark) for mark in (b'"schema-id":', b'"last-column-id":'))
