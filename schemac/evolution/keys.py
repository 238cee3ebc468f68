"""A primary key that a table is given once.

Layer: evolution.
Shape: fields by identity, each with its mark, so that a key whose fields are renamed or moved is the same one.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from schemac.attributes.attribute import Role
from schemac.attributes.registry import of_role
from schemac.evolution.version_pair import SchemaVersion, VersionPair
from schemac.logical.slots import Slot, preorder


def is_key_changed(pair: VersionPair) -> bool:
    """Whether a key has other fields or places than before, beside those that go with their columns."""
    kept = _kept(pair)
    return bool(kept) and kept != _marks(pair.new)


def way_out_of_key(pair: VersionPair) -> str:
    """Return what can be done where a table refuses another key."""
    return f"keep the key ({_paths(_marks(pair.old))}), or make a new table with the new schema and write the rows into it"


def loss_of_key(dropped: Slot, pair: VersionPair) -> str:
    """Return what becomes of the primary key when a field is dropped; empty where that is nothing."""
    marks = _marks(pair.old)
    if not any(slot in marks for slot in preorder([dropped])):
        return ""
    kept = _kept(pair)
    return f"of the primary key {_paths(kept)} is left" if kept else "the primary key goes with it"


def _kept(pair: VersionPair) -> Mapping[Slot, Any]:
    """Return the marks of the old key on the fields that are still there."""
    return {pair.after[slot]: mark for slot, mark in _marks(pair.old).items() if slot in pair.after}


def _marks(version: SchemaVersion) -> dict[Slot, Any]:
    parts = of_role(Role.KEY_PART)
    return {
        slot: mark
        for slot in preorder(version.dataset.columns)
        for attribute in (parts if slot.extra else ())
        if (mark := attribute.read(slot.extra)) is not None
    }


def _paths(marks: Iterable[Slot]) -> str:
    return ", ".join(slot.path_text for slot in marks)
