"""Lance tables.

Floor: 10 (evolution).
Source: every kind of change carried out on tables with data, pylance 14.0.2 (`tests/conformance/test_lance_verdicts.py`): one
commit replaces the schema (names, order, nullability, metadata, drops), another adds columns of nulls, a cast writes a
column anew under a new id.
"""

from schemac.attributes import own
from schemac.evolution.changes import Change, Fact
from schemac.evolution.clocks import clock_of
from schemac.evolution.fit import Fit, fit, misfit
from schemac.evolution.layouts import LAYOUT_FACTS
from schemac.evolution.readers import TYPE_FACTS
from schemac.evolution.side import Pair, Side
from schemac.evolution.verdict import SAFE, Judgement, Outcome, of_another_unit
from schemac.identity.casts import is_cast
from schemac.logical.slots import Slot, is_in_structs, preorder

_LAYOUTS = LAYOUT_FACTS - {Fact.CHILD_NAMES_CHANGED} | {Fact.EXTENSION_TYPE_CHANGED}
"""What may change Lance's own word for a type; the names of parts are metadata to it."""
_NEW_FILES = frozenset(
    {
        Fact.COMPRESSION_CHANGED,
        Fact.STRUCTURAL_ENCODING_CHANGED,
        Fact.PAGE_ENCODING_CHANGED,
        Fact.BLOB_THRESHOLDS_CHANGED,
    }
)
_BESIDE = "add a field beside it, fill it, and drop the old one"


def judge(change: Change, sides: Pair | None) -> Judgement:
    """What a change means for a table with data."""
    if change.fact in (Fact.DATASET_ADDED, Fact.DATASET_DROPPED):
        return SAFE
    if change.fact in _NEW_FILES:
        return Judgement(
            Outcome.NEW_FILES, "pages that are there stay as they are", "compact the table to rewrite them"
        )
    old, new = change.old_slot, change.new_slot
    if change.fact in TYPE_FACTS or change.fact in _LAYOUTS:
        assert sides is not None
        assert old is not None
        assert new is not None
        return _type(change.fact, sides, old, new)
    match change.fact:
        case Fact.FIELD_ADDED if new is not None and sides is not None:
            return _added(new, change, sides)
        case Fact.FIELD_DROPPED if sides is not None and not any(
            slot in sides.before for slot in sides.new.dataset.columns
        ):
            return Judgement(Outcome.REFUSED, "no column of the table would be left", "write a new table")
        case Fact.FIELD_MOVED if new is not None and old is not None:
            if is_in_structs(old) and is_in_structs(new):
                return Judgement(Outcome.REWRITE, "Lance moves no column into another; its data is copied")
            return Judgement(Outcome.REFUSED, "there is no way into or out of a list or map", _BESIDE)
        case Fact.BECAME_REQUIRED if sides is not None and new is not None and not _own_words(sides.new, new):
            return Judgement(Outcome.METADATA, "Lance does not keep whether items of a vector may be null")
        case Fact.BECAME_REQUIRED:
            return Judgement(
                Outcome.DATA,
                f"Lance takes it if no row has null in {change.path}",
                "look for nulls, and fill them first",
            )
        case Fact.STORAGE_VERSION_CHANGED:
            return Judgement(
                Outcome.REFUSED,
                "a table keeps the version of its data files",
                "copy the data into a new table",
            )
        case Fact.PACKED_STRUCT_CHANGED:
            return Judgement(
                Outcome.REFUSED,
                "files that are there have the other layout, and cannot be read with this",
                _BESIDE,
            )
        case Fact.BLOB_ADDED | Fact.BLOB_REMOVED | Fact.FLOAT_ENCODING_CHANGED:
            return Judgement(Outcome.REFUSED, "Lance has no cast between the two layouts", _BESIDE)
        case Fact.JSON_CHANGED if change.new:
            return Judgement(Outcome.DATA, "every text has to be JSON", "look at the texts first")
        case Fact.JSON_CHANGED:
            return Judgement(Outcome.REFUSED, "Lance turns JSON into bytes only", _BESIDE)
        case Fact.UNIT_CHANGED if change.old is not None and change.new is not None:
            return of_another_unit(change)
    return Judgement(Outcome.METADATA)


def _added(new: Slot, change: Change, sides: Pair) -> Judgement:
    if any(slot in sides.before for slot in preorder([new])):
        hollow = _hollow(new, sides)
        if hollow is not None:
            return Judgement(
                Outcome.REFUSED,
                f"rows that are there have no {hollow.title}, and it may not be null",
                f"make it optional: {{kind: Option, inner: {hollow.type.kind}}}",
            )
        return Judgement(Outcome.REWRITE, "it is made of fields that were elsewhere; their data is copied")
    if not new.is_nullable:
        return Judgement(
            Outcome.REFUSED,
            f"rows that are there have no {change.path}, and it may not be null",
            f"make it optional: {{kind: Option, inner: {new.type.kind}}}; when it is filled, make it required",
        )
    if is_inside_map_or_vector(new):
        return Judgement(
            Outcome.REWRITE, "Lance adds nothing inside maps and vectors; the column is written anew"
        )
    return Judgement(Outcome.METADATA, "rows that are there read as null")


def _hollow(new: Slot, sides: Pair) -> Slot | None:
    """A required member without values, in something that is made of fields which were elsewhere."""
    for child in new.children:
        if child in sides.before:
            continue
        if any(slot in sides.before for slot in preorder([child])):
            found = _hollow(child, sides)
            if found is not None:
                return found
        elif not child.is_nullable:
            return child
    return None


def _type(fact: Fact, sides: Pair, old: Slot, new: Slot) -> Judgement:
    before, after = _words(sides.old, old), _words(sides.new, new)
    if before == after:
        # Views are not known to Lance; an extension type is, by its metadata.
        return Judgement(Outcome.METADATA) if fact is Fact.EXTENSION_TYPE_CHANGED else SAFE
    if before == ("json",) and not is_cast("json", after[0]):
        return Judgement(Outcome.REFUSED, "Lance turns JSON into bytes only", _BESIDE)
    if clock_of(old, new) is None:
        return _undeclared_clock(old, new)
    match fit(old.type, new.type):
        case Fit.NEVER:
            return Judgement(Outcome.REFUSED, f"{old.type.title()} cannot become {new.type.title()}", _BESIDE)
        case Fit.DEPENDS:
            return Judgement(
                Outcome.DATA,
                f"the column is written anew; {_what_may_be_wrong(old, new)}",
                "`schemac apply` looks at all values before it changes anything",
            )
    return Judgement(Outcome.REWRITE, "the column is written anew, under a new id")


def _undeclared_clock(old: Slot, new: Slot) -> Judgement:
    reading, instant = (old, new) if getattr(old.type, "timezone", None) is None else (new, old)
    zone = getattr(instant.type, "timezone", "")
    return Judgement(
        Outcome.REFUSED,
        f"nobody has said which clock the readings of {reading.title}, which has no zone, are from",
        f"write under its `extra:` `{own.CLOCK_ZONE.key}: {zone}` if it is the clock of {zone}, or `UTC`, or whichever it is",
    )


def _what_may_be_wrong(old: Slot, new: Slot) -> str:
    zones = [getattr(slot.type, "timezone", None) for slot in (old, new)]
    if old.type.kind == new.type.kind == "Timestamp" and zones.count(None) == 1:
        return f"readings without a zone are taken from a clock in {clock_of(old, new)}, and have to be unambiguous there"
    return misfit(old.type, new.type)


def is_cast_in_place(old: Slot, new: Slot, *, is_rounded: bool = False) -> bool:
    """Whether Lance's own cast gives the values that are meant; it rounds in its own way, and knows no clocks."""
    is_binary = old.type.kind.startswith("Float") and new.type.kind.startswith("Float")
    return (is_binary or not is_rounded) and clock_of(old, new) in ("", "UTC")


def _words(side: Side, slot: Slot) -> tuple[str, ...]:
    """Lance's words for a slot; an item of a vector has none of its own, so those of the vector count."""
    while not _own_words(side, slot) and slot.parent is not None:
        slot = slot.parent
    return _own_words(side, slot)


def _own_words(side: Side, slot: Slot) -> tuple[str, ...]:
    return side.column_words(slot.column)[slot]


def is_inside_map_or_vector(slot: Slot) -> bool:
    """Whether a map or a fixed-size list stands above."""
    above = slot.parent
    while above is not None:
        if above.type.kind == "Map" or getattr(above.type, "fixed_length", None) is not None:
            return True
        above = above.parent
    return False
