"""What Lance's messages say, in the words of the manifest.

Layer: engines.
"""

import json

import schemac.kinds.registry  # noqa: F401 — without it no kind is known
from schemac.arrow.lift import lift
from schemac.attributes.odf import DESCRIPTION
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.names import CLUSTERING_KEY_POSITION, PRIMARY_KEY_MARK, PRIMARY_KEY_POSITION
from schemac.engines.lance.reader_schema import UnreadableMessageError, to_arrow
from schemac.logical.model import Schema
from schemac.logical.schema_fields import columns
from schemac.source.report import Report

_NESTED = {"struct": "Struct", "list": "List", "large_list": "List", "map": "Map"}
_NAMES = {
    DESCRIPTION.key: "description",
    PRIMARY_KEY_MARK: "primary key",
    PRIMARY_KEY_POSITION: "position in the primary key",
    CLUSTERING_KEY_POSITION: "position in the clustering key",
}


def type_words(logical_type: str) -> str:
    """Lance's word for a type as the manifest has it: `timestamp:us:UTC` is a Timestamp."""
    plain = logical_type.removesuffix(".struct")
    if plain in _NESTED:
        return _NESTED[plain]
    message = pb.Schema(fields=[pb.Field(name="x", parent_id=-1, logical_type=logical_type, nullable=True)])
    try:
        tree = lift(to_arrow(message), "", Report())
    except (UnreadableMessageError, ValueError):
        return logical_type
    (field,) = columns(Schema.model_validate(tree)) or (None,)
    return logical_type if field is None else field.type.type_text()


def type_pair(actual: str, expected: str) -> tuple[str, str]:
    """Two types apart: where the manifest has one word for both, Lance's own are next to it."""
    here, there = type_words(actual), type_words(expected)
    return (here, there) if here != there else (f"{here} ({actual})", f"{there} ({expected})")


def entry_name(key: str) -> str:
    """Return what an entry of a field's metadata is about."""
    return _NAMES.get(key, key)


def entry_words(value: bytes | None) -> str:
    """Return the value of an entry; attributes travel as JSON."""
    if value is None:
        return "missing"
    text = value.decode("utf-8", "replace")
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = text
    return f"`{parsed}`" if isinstance(parsed, str) else f"`{text}`"
