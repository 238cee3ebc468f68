"""Names that Protobuf takes.

Layer: engines.
Source: the language specification of proto3, "Identifiers"; a field also has a name in JSON, and no two of a message the same.
"""

import re
from collections.abc import Collection


def valid(name: str) -> str:
    """Return the nearest name of a field."""
    valid_name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return valid_name if valid_name[:1].isalpha() else f"f_{valid_name}".rstrip("_")


def json_name(name: str) -> str:
    """Return what a field is called in JSON: `pickupTime` for `pickup_time`."""
    return re.sub("_+([A-Za-z0-9]?)", lambda match: match[1].upper(), name)


def message_name(words: str, used_names: Collection[str] = ()) -> str:
    """Return the name of a message: `PickupTime`; one that is taken gets a number."""
    parts = re.findall("[A-Za-z0-9]+", words)
    base_name = "".join(part[0].upper() + part[1:] for part in parts)
    base_name = base_name if base_name[:1].isalpha() else f"M{base_name}"
    number, free = 1, base_name
    while free in used_names:
        number += 1
        free = f"{base_name}{number}"
    return free
