"""A primary key that a table is given once.

Layer: evolution.
Shape: fields by identity, each with its mark, so that a key whose fields are renamed or moved is the same one.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from schemac.attributes.attribute import Role
from schemac.attributes.registry import of_role
from schemac.evolution.version_pair import SchemaVersion, VersionPair
from schemac.logical.schema_fields import SchemaField, preorder


def is_key_changed(pair: VersionPair) -> bool:
    """Whether a key has other fields or places than before, besides those that go with their columns."""
    remaining = _remaining_marks(pair)
    return bool(remaining) and remaining != _marks(pair.new)


def way_out_of_key(pair: VersionPair) -> str:
    """Return what can be done where a table refuses another key."""
    return f"keep the key ({_paths(_marks(pair.old))}), or create a new table with the new schema and write the rows into it"


def loss_of_key(dropped: SchemaField, pair: VersionPair) -> str:
    """Return what becomes of the primary key when a field is dropped; empty if that is nothing."""
    marks = _marks(pair.old)
    if not any(field in marks for field in preorder([dropped])):
        return ""
    remaining = _remaining_marks(pair)
    return f"of the primary key {_paths(remaining)} is left" if remaining else "the primary key goes with it"


def _remaining_marks(pair: VersionPair) -> Mapping[SchemaField, Any]:
    """Return the marks of the old key on the fields that are still there."""
    return {pair.after[field]: mark for field, mark in _marks(pair.old).items() if field in pair.after}


def _marks(version: SchemaVersion) -> dict[SchemaField, Any]:
    parts = of_role(Role.KEY_PART)
    return {
        field: mark
        for field in preorder(version.dataset.columns)
        for attribute in (parts if field.extra else ())
        if (mark := attribute.read(field.extra)) is not None
    }


def _paths(marks: Iterable[SchemaField]) -> str:
    return ", ".join(field.path_text for field in marks)
