"""Names that Avro takes.

Layer: engines.
Source: Avro 1.12, "Names": a letter of ASCII or an underscore, then such letters, digits and underscores.
"""

import re

from schemac.logical.slots import Slot


def valid(name: str) -> str:
    """Return the nearest name that Avro takes."""
    found = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return found if found and not found[0].isdigit() else f"_{found}"


def name_of(slot: Slot) -> str:
    """Return the name of a slot in Avro; that of a part is `item`, `key` or `value`."""
    return valid(slot.segment if isinstance(slot.segment, str) else slot.segment.value)
