"""Entries `lance-encoding:*` of Arrow metadata, which Lance's writer reads as it reads what `lance.org/encoding` becomes.

Layer: engines.
Errors: SC312 invalid-attribute, SC313 conflicting-hints.
Source: Lance's encoding specification.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from schemac.attributes.arrow import METADATA
from schemac.attributes.attribute import Attribute
from schemac.engines.lance.arrow_form import (
    ENCODING_PREFIX,
    KNOWN_ENTRIES,
    properties_of,
    unreadable_entries,
    written_value,
)
from schemac.engines.lance.attributes import BLOB, ENCODING, Encoding
from schemac.logical.findings import Findings
from schemac.logical.schema_fields import SchemaField
from schemac.source.catalogue import CONFLICTING_HINTS, INVALID_ATTRIBUTE
from schemac.source.help import Help
from schemac.source.suggest import closest
from schemac.syntax.model_errors import model_errors


def check_entries(field: SchemaField, findings: Findings) -> tuple[Encoding, Mapping[str, str]]:
    """Check the entries of one field; return the encoding that the sound ones mean, and the entry of each property."""
    metadata = METADATA.read(field.extra) or {}
    unreadable = unreadable_entries(metadata)
    names = [entry.removeprefix(ENCODING_PREFIX) for entry in KNOWN_ENTRIES]
    for entry in sorted(unreadable.difference(KNOWN_ENTRIES)):
        near = closest(entry.removeprefix(ENCODING_PREFIX), names)
        known = f"Lance knows {', '.join(names)} after `{ENCODING_PREFIX}`"
        help = Help.did_you_mean(f"{ENCODING_PREFIX}{near}", entry) if near else known
        message = f"Lance has no encoding `{entry}`"
        findings.at_extra(field, METADATA.key, INVALID_ATTRIBUTE, message, entry, on_key=True, help=help)
    for attribute in (ENCODING, BLOB):
        _check_values(attribute, metadata, field, findings)
    sound = {entry: text for entry, text in metadata.items() if entry not in unreadable}
    words = {entry.removeprefix(ENCODING_PREFIX).replace("-", "_"): entry for entry in sound}
    return ENCODING.typed(written_value(ENCODING, sound)), words


def _check_values(
    attribute: Attribute[Any], metadata: Mapping[str, str], field: SchemaField, findings: Findings
) -> None:
    """Check the entries that properties of an attribute become."""
    entries = {name: entry for entry, name in properties_of(attribute).items() if entry in metadata}
    value = written_value(attribute, metadata)
    try:
        attribute.typed(value)
    except ValidationError as error:
        for model_error in model_errors(error, attribute.value_type, value):
            steps = [entries[str(name)] for name in model_error.path]
            message = (
                model_error.message.replace(f"`{model_error.path[0]}`", f"`{steps[0]}`")
                if steps
                else model_error.message
            )
            help = model_error.help or f"its entries are those of `{attribute.key}`: {attribute.summary}"
            findings.at_extra(field, METADATA.key, INVALID_ATTRIBUTE, message, *steps, help=help)
    for name in sorted(entries.keys() & field.extra.get(attribute.key, {}).keys()):
        message = f"`{entries[name]}` and `{name}` of `{attribute.key}` set the same option"
        findings.at_extra(
            field, METADATA.key, CONFLICTING_HINTS, message, entries[name], on_key=True, help=Help.remove()
        )
