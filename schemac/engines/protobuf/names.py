"""Names that Protobuf takes.

Layer: engines.
Source: the language specification of proto3, "Identifiers"; a field also has a name in JSON, and no two of a message the same.
"""

import re
from collections.abc import Collection


def valid(name: str) -> str:
    """Return the nearest name of a field."""
    found = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return found if found[:1].isalpha() else f"f_{found}".rstrip("_")


def json_name(name: str) -> str:
    """Return what a field is called in JSON: `pickupTime` for `pickup_time`."""
    return re.sub("_+([A-Za-z0-9]?)", lambda match: match[1].upper(), name)


def message_name(words: str, taken: Collection[str] = ()) -> str:
    """Return the name of a message: `PickupTime`; one that is taken gets a number."""
    parts = re.findall("[A-Za-z0-9]+", words)
    found = "".join(part[0].upper() + part[1:] for part in parts)
    found = found if found[:1].isalpha() else f"M{found}"
    number, free = 1, found
    while free in taken:
        number += 1
        free = f"{found}{number}"
    return free
