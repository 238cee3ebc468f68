"""Which files hold a schema of Spark.

Layer: engines.
"""

from pathlib import Path

from schemac.importers.sniffing import is_json_with


def is_struct_type(path: Path) -> bool:
    """Tell whether a file is a StructType as JSON."""
    return path.suffix.lower() == ".json" and is_json_with(path, b'"type":"struct"')
