"""Which files hold a schema of Spark.

Layer: engines.
"""

from pathlib import Path

from schemac.importers.sniffing import is_json_with


def is_struct_type(path: Path) -> bool:
    """Tell whether a file is a StructType as JSON: other systems have structs as well, whose fields are not `nullable`."""
    if path.suffix.lower() != ".json" or not is_json_with(path, b'"type":"struct"'):
        return False
    is_empty = is_json_with(path, b'"fields":[]') and not is_json_with(path, b'"schema-id":')
    return is_empty or is_json_with(path, b'"nullable":')
