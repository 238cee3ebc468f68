"""What is around the entry of a finding: its field, its type, its attributes, its schema; and what is put there.

Layer: syntax.
Shape: for the remedies. What is shared by an alias is not found, for an edit of it would change another place too.
"""

from collections.abc import Iterator

from schemac.source.diagnostic import Fix
from schemac.source.remedy import Remedy
from schemac.source.span import Span
from schemac.syntax.entries import Collection, Entry, without
from schemac.syntax.place import Place
from schemac.syntax.plain import written
from schemac.syntax.remedies import after_last, replacing

TYPE_KEYS = frozenset({"type", "inner", "itemType", "keyType", "valueType"})
"""Keys whose value is a type."""


def entry_of(mapping: Collection | None, key: str) -> Entry | None:
    """Return the entry of a key in a mapping; None if there is none."""
    return next((one for one in mapping.entries if one.key == key), None) if mapping is not None else None


def entries_around(entry: Entry | None) -> Iterator[Entry]:
    """Yield an entry, and those that it is in, from the innermost on."""
    while entry is not None:
        yield entry
        entry = entry.within.holder


def type_around(entry: Entry | None) -> Entry | None:
    """Return the entry whose value is the type that an entry is about: in its `extra`, or in the type itself."""
    for one in entries_around(entry):
        if one.is_shared:
            return None
        if one.key == "extra":
            beside = entry_of(one.within, "type")
            return one.within.holder if beside is None else beside
        if one.key in TYPE_KEYS:
            return one
        if is_field(one.within):
            return entry_of(one.within, "type")
    return None


def is_field(mapping: Collection) -> bool:
    """Whether a mapping is a field."""
    return entry_of(mapping, "name") is not None and entry_of(mapping, "type") is not None


def inside_option(type_: Entry) -> Entry:
    """Return the type inside of the Options of one."""
    while (inner := entry_of(type_.inside, "inner")) is not None:
        type_ = inner
    return type_


def attributes_around(entry: Entry | None, key: str, *, is_far: bool = False) -> Iterator[Entry]:
    """Yield the attribute that an entry is in, or those of this name around its type, from the nearest on."""
    for one in entries_around(entry):
        if one.key == key:
            yield one
            return
        extra = entry_of(one.within, "extra")
        found = entry_of(extra.inside, key) if extra is not None else None
        if found is not None:
            yield found
        if is_field(one.within) and not is_far:
            return


def schema_around(entry: Entry | None) -> Collection | None:
    """Return the outermost mapping with `fields`, if an entry is in no group."""
    collection: Collection | None = None
    for one in entries_around(entry):
        if one.is_shared or one.key == "groups":
            return None
        if entry_of(one.within, "fields") is not None:
            collection = one.within
    return collection


def without_attribute(spot: Place, entry: Entry) -> Span | None:
    """Return what to take out so that an attribute is gone, and with it an `extra` that has no other."""
    holder = entry.within.holder
    if len(entry.within.entries) == 1 and holder is not None and holder.key == "extra":
        entry = holder
    return None if entry.is_shared else without(spot.source.content, entry)


def put_below(
    remedy: Remedy, spot: Place, mapping: Collection, keys: tuple[str, ...], value: str
) -> Fix | None:
    """Return the fix that writes a value below keys, and those keys that are not there yet."""
    key, rest = keys[0], keys[1:]
    entry = entry_of(mapping, key)
    if entry is None:
        for name in reversed(rest):
            value = f"{{{written(name)}: {value}}}"
        return after_last(remedy, spot, mapping, f"{written(key)}: {value}") if mapping.entries else None
    if entry.is_shared:
        return None
    if not rest:
        is_scalar = entry.inside is None
        return replacing(remedy, spot, entry.value, value, is_safe=False) if is_scalar else None
    return None if entry.inside is None else put_below(remedy, spot, entry.inside, rest, value)


def put_at(spot: Place, put: Fix) -> int:
    """Return where the only edit of a fix begins."""
    (edit,) = put.edits
    return spot.source.offset(edit.line, edit.column)
