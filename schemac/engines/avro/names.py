"""Names that Avro takes.

Layer: engines.
Source: Avro 1.12, "Names": a letter of ASCII or an underscore, then such letters, digits and underscores.
"""

import re

from schemac.logical.schema_fields import SchemaField


def valid(name: str) -> str:
    """Return the nearest name that Avro takes."""
    valid_name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return valid_name if valid_name and not valid_name[0].isdigit() else f"_{valid_name}"


def name_of(field: SchemaField) -> str:
    """Return the name of a field in Avro; that of a part is `item`, `key` or `value`."""
    return valid(field.segment if isinstance(field.segment, str) else field.segment.value)
