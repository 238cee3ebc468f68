"""Readers of Arrow and Parquet files.

Floor: 9 (evolution).
Shape: columns and members are found by name, absent ones read as null, and types are cast safely on the way. Null in a
column that may not be null passes unseen; in a member of a struct it makes the read fail.
Source: `pyarrow.dataset`, asked with every pair of types and layouts (`tests/conformance/test_verdicts.py`).
"""

from schemac.attributes.arrow import EXTENSION_TYPE, read_hints
from schemac.attributes.lance import JSON
from schemac.evolution.changes import Change, Fact
from schemac.evolution.fit import Fit, fit
from schemac.evolution.readers import TYPE_FACTS
from schemac.evolution.side import Pair
from schemac.evolution.verdict import SAFE, Judgement, Outcome
from schemac.logical.slots import Slot

_LAYOUTS = frozenset(
    {
        Fact.OFFSET_WIDTH_CHANGED,
        Fact.BUFFER_LAYOUT_CHANGED,
        Fact.DATE_ENCODING_CHANGED,
        Fact.DECIMAL_WIDTH_CHANGED,
        Fact.DICTIONARY_ADDED,
        Fact.DICTIONARY_REMOVED,
        Fact.DICTIONARY_CHANGED,
    }
)
_NOTHING = frozenset(
    {
        Fact.FIELDS_REORDERED,
        Fact.FIELD_DROPPED,
        Fact.BECAME_OPTIONAL,
        Fact.CHILD_NAMES_CHANGED,
        Fact.DATASET_ADDED,
        Fact.DATASET_DROPPED,
    }
)
_SHAPES = TYPE_FACTS | {
    Fact.FIELD_ADDED,
    Fact.FIELD_DROPPED,
    Fact.FIELDS_REORDERED,
    Fact.BECAME_OPTIONAL,
    Fact.BECAME_REQUIRED,
}
"""Changes of an Arrow type, so that whatever lies around it is cast."""
_REGISTERED = frozenset(
    {"arrow.json", "arrow.uuid", "arrow.bool8", "arrow.opaque", "arrow.fixed_shape_tensor"}
)
"""Extension types that pyarrow knows; of all others it sees the storage."""
_BYTES = ("String", "Binary")
_WRITE_ANEW = "write the files anew, or add a field beside the old one"


def judge(change: Change, sides: Pair | None) -> Judgement:
    """What a change means for files that are there."""
    old, new = change.old_slot, change.new_slot
    if change.fact in _SHAPES and _is_in_list_view(new or old):
        return _refused("casts nothing inside views of lists")
    if change.fact in _NOTHING:
        return SAFE
    if old is not None and new is not None:
        if change.fact in TYPE_FACTS:
            return _type(old, new)
        if change.fact in _LAYOUTS:
            return _layout(old, new) or SAFE
        if change.fact in (Fact.EXTENSION_TYPE_CHANGED, Fact.JSON_CHANGED):
            return _extension(old, new)
    match change.fact:
        case Fact.FIELD_ADDED if new is not None:
            if new.is_nullable:
                return SAFE
            return Judgement(
                Outcome.REFUSED,
                f"files that are there have no {change.path}, and it may not be null",
                f"make it optional: {{kind: Option, inner: {new.type.kind}}}",
            )
        case Fact.FIELD_RENAMED | Fact.FIELD_MOVED:
            return Judgement(
                Outcome.REFUSED,
                f"files that are there call it {change.old}, and Arrow goes by names: it would read as null",
                "write the files anew, or read them with the old schema and rename",
            )
        case Fact.BECAME_REQUIRED:
            return Judgement(
                Outcome.DATA, f"{change.path} may be null in files that are there", "look for nulls first"
            )
        case Fact.UNIT_CHANGED if change.old is not None and change.new is not None:
            return _unit(change)
        case Fact.BLOB_ADDED | Fact.BLOB_REMOVED | Fact.FLOAT_ENCODING_CHANGED:
            return Judgement(
                Outcome.REFUSED, f"{change.path} is laid out in another way", "add a field beside it"
            )
    return Judgement(Outcome.METADATA)


def _type(old: Slot, new: Slot) -> Judgement:
    match fit(old.type, new.type):
        case Fit.NEVER:
            return Judgement(
                Outcome.REFUSED, f"{old.type.title()} cannot be cast to {new.type.title()}", _WRITE_ANEW
            )
        case Fit.DEPENDS:
            return _layout(old, new) or Judgement(
                Outcome.DATA,
                f"values of {old.type.title()} that do not fit {new.type.title()} make a read fail, or come out changed",
                "look at the values with `schemac plan`",
            )
    return _layout(old, new) or SAFE


def _layout(old: Slot, new: Slot) -> Judgement | None:
    """Casts between layouts that pyarrow does not have; None where it has the one in question."""
    before, after = read_hints(old.extra), read_hints(new.extra)
    had_view = before.buffer is not None and before.buffer.kind == "View"
    has_view = after.buffer is not None and after.buffer.kind == "View"
    if "List" in (old.type.kind, new.type.kind) and (had_view or has_view):
        # Of lists that are made of views, it loses the last one, and says nothing.
        return _refused("does not cast between lists and views of lists")
    if before.dictionary is None and after.dictionary is not None:
        is_cast = old.type.kind in _BYTES and new.type.kind in _BYTES and not had_view
        return None if is_cast else _refused("makes dictionaries of contiguous texts and bytes only")
    if before.dictionary is not None and after.dictionary is None and (had_view or has_view):
        return _refused("has no cast between dictionaries and views")
    return None


def _is_in_list_view(slot: Slot | None) -> bool:
    above = slot.parent if slot is not None else None
    while above is not None:
        buffer = read_hints(above.extra).buffer
        if above.type.kind == "List" and buffer is not None and buffer.kind == "View":
            return True
        above = above.parent
    return False


def _refused(what: str) -> Judgement:
    return Judgement(Outcome.REFUSED, f"pyarrow {what}", "keep the layout, or write the files anew")


def _extension(old: Slot, new: Slot) -> Judgement:
    before, after = _extension_of(old), _extension_of(new)
    if before == after or not {before[0], after[0]} <= _REGISTERED:
        return Judgement(Outcome.METADATA)
    return Judgement(
        Outcome.REFUSED, f"there is no cast from {before[0]} to another extension type", _WRITE_ANEW
    )


def _extension_of(slot: Slot) -> tuple[str, str]:
    """Name and metadata; empty where there is none."""
    if JSON.read(slot.extra):
        return ("arrow.json", "")
    found = EXTENSION_TYPE.read(slot.extra)
    return (found.name, found.metadata or "") if found is not None else ("", "")


def _unit(change: Change) -> Judgement:
    return Judgement(
        Outcome.REFUSED,
        f"stored numbers are in {change.old}, and nothing turns them into {change.new}",
        "add a field with the new unit, fill it, then drop the old one",
    )
