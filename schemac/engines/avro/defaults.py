"""Default values of fields.

Layer: engines.
Source: Avro 1.12, "Complex Types", the table of field default values; bytes are texts of code points up to 255.
"""

from collections.abc import Mapping
from typing import Any

_RANGES = {"int": 2**31, "long": 2**63}


def fits(value: Any, type_: Any) -> bool:
    """Whether a JSON value is a default value of an Avro type; of a union, of one of its branches."""
    if isinstance(type_, list):
        return any(fits(value, branch) for branch in type_)
    if isinstance(type_, Mapping):
        return _fits_complex(value, type_)
    if type_ in _RANGES:
        return type(value) is int and -_RANGES[type_] <= value < _RANGES[type_]
    match type_:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "float" | "double":
            return type(value) in (int, float)
        case "string":
            return isinstance(value, str)
        case "bytes":
            return isinstance(value, str) and all(ord(character) < 256 for character in value)
    return False


def _fits_complex(value: Any, type_: Mapping[str, Any]) -> bool:
    match type_["type"]:
        case "fixed":
            return fits(value, "bytes") and len(value) == type_["size"]
        case "array":
            return isinstance(value, list) and all(fits(item, type_["items"]) for item in value)
        case "map":
            return isinstance(value, dict) and all(fits(item, type_["values"]) for item in value.values())
        case "record":
            return isinstance(value, dict) and all(
                fits(value[field["name"]], field["type"]) if field["name"] in value else "default" in field
                for field in type_["fields"]
            )
    return fits(value, type_["type"])
