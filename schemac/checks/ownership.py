"""Successors of deprecated fields.

Layer: checks.
Errors: SC341 unknown-successor.
"""

from collections.abc import Sequence

from schemac.attributes.own import DEPRECATED
from schemac.logical.findings import Findings
from schemac.logical.schema_fields import SchemaField
from schemac.source.catalogue import UNKNOWN_SUCCESSOR
from schemac.source.help import Help
from schemac.source.suggest import closest


def check_successors(fields: Sequence[SchemaField], sound: Sequence[SchemaField], findings: Findings) -> None:
    """Check that what takes the place of a deprecated field is another field, and is not deprecated itself."""
    deprecated = {field.path_text: field for field in sound if DEPRECATED.key in field.extra}
    if not deprecated:
        return
    names = [field.path_text for field in fields if field.is_member]
    for path, field in deprecated.items():
        value = DEPRECATED.read(field.extra)
        successor = value.successor if value is not None else None
        if successor is None:
            continue
        if successor not in names:
            near = closest(successor, [name for name in names if name != path])
            help = (
                Help.did_you_mean(near, successor)
                if near
                else "write the path of a field, such as stops.item.name"
            )
            message = f"there is no field '{successor}' to take the place of {path}"
        elif successor == path:
            message, help = f"{path} cannot be its own successor", "name the field that takes its place"
        elif successor in deprecated:
            message = f"{successor}, the successor of {path}, is deprecated itself"
            help = "name the field that readers are to use in the end"
        else:
            continue
        findings.at_extra(field, DEPRECATED.key, UNKNOWN_SUCCESSOR, message, "successor", help=help)
