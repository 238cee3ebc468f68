"""Remedies that change something else than what the finding underlines: the type, an attribute, or where a key stands.

Layer: syntax.
Shape: each goes from the entry of the finding to the field, type or schema around it, and gives up where that cannot be told, is
shared by an alias, or is written on several lines and has to move.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Self

from schemac.source.diagnostic import Edit, Fix
from schemac.source.remedy import Remedy, Spot
from schemac.source.span import Span
from schemac.syntax.entries import Collection, Entry, without
from schemac.syntax.place import Place
from schemac.syntax.plain import written
from schemac.syntax.remedies import after_last, replacing

_TYPE_KEYS = frozenset({"type", "inner", "itemType", "keyType", "valueType"})
"""Keys whose value is a type."""


class Retype(Remedy):
    """Writes another type, or a property of the type, for the field or item that the finding is about."""

    __slots__ = ("key", "text")
    key: str
    """The property; `type` for the type as a whole, inside of its Option."""
    text: str

    @classmethod
    def write(cls, key: str, text: str, *, reason: str = "") -> Self:
        """Return "write `type: Int64`" or "write `unit: Microsecond`", and a reason."""
        self = cls(f"write `{key}: {text}`{reason}")
        self.key, self.text = key, text
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit; another type is a guess."""
        if not isinstance(spot, Place) or (entry := spot.entry) is None:
            return None
        if entry.key == self.key != "type":
            return replacing(self, spot, entry.value, self.text, is_safe=False)
        if (found := _type_around(entry)) is None:
            return None
        type_ = _inside_option(found)
        if self.key == "type":
            return replacing(self, spot, type_.value, self.text, is_safe=False)
        if type_.inside is None:
            text = f"{{kind: {spot.source.excerpt(type_.value)}, {self.key}: {self.text}}}"
            return replacing(self, spot, type_.value, text, is_safe=False)
        given = _entry_of(type_.inside, self.key)
        if given is not None:
            return replacing(self, spot, given.value, self.text, is_safe=False)
        return _put(self, spot, type_.inside, (self.key,), self.text)


class RetypeWithExtra(Remedy):
    """Writes another type, and the attributes that say the rest of what was meant beside the name of the field."""

    __slots__ = ("extra", "text")
    text: str
    extra: Mapping[str, str]
    """Values as they stand in a manifest, by key."""

    @classmethod
    def of(cls, help: str, text: str, extra: Mapping[str, str]) -> Self:
        """Return a remedy with this help."""
        self = cls(help)
        self.text, self.extra = text, extra
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edits, of a field that has its type alone in `type`."""
        found = _type_around(spot.entry) if isinstance(spot, Place) else None
        if found is None or not isinstance(spot, Place) or found.key != "type":
            return None
        typed = replacing(self, spot, found.value, self.text, is_safe=False)
        pairs = ", ".join(f"{written(key)}: {value}" for key, value in self.extra.items())
        if _entry_of(found.within, "extra") is None:
            put = _put(self, spot, found.within, ("extra",), f"{{{pairs}}}")
        else:
            ((key, value), *others) = self.extra.items()
            put = _put(self, spot, found.within, ("extra", key), value) if not others else None
        is_last = found.next is None and put is not None and put_at(spot, put) < found.value.end
        return (
            None
            if typed is None or put is None or is_last
            else Fix(str(self), (*typed.edits, *put.edits), False)
        )


class SwapAttribute(Remedy):
    """Writes another attribute in the place of one, and the type that it is for."""

    __slots__ = ("key", "pair", "type")
    key: str
    pair: str
    type: str

    @classmethod
    def of(cls, help: str, key: str, pair: str, type_: str) -> Self:
        """Return a remedy with this help, for the attribute of this key: the pair and the type take the places."""
        self = cls(help)
        self.key, self.pair, self.type = key, pair, type_
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edits."""
        found = next(_attributes_around(spot.entry, self.key), None) if isinstance(spot, Place) else None
        type_ = _type_around(found)
        if found is None or type_ is None or not isinstance(spot, Place) or found.is_shared:
            return None
        type_ = _inside_option(type_)
        swapped = replacing(self, spot, found.span, self.pair, is_safe=False)
        if swapped is None or spot.source.excerpt(type_.value) == self.type:
            return swapped
        typed = replacing(self, spot, type_.value, self.type, is_safe=False)
        return None if typed is None else Fix(str(self), (*swapped.edits, *typed.edits), is_safe=False)


class Require(Remedy):
    """Takes the Option around a type away."""

    __slots__ = ("levels",)
    levels: int
    """How many fields the finding's own one is inside of the one that is meant."""

    @classmethod
    def field(cls, help: str, *, levels: int = 0) -> Self:
        """Return a remedy with this help."""
        self = cls(help)
        self.levels = levels
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit, if the type of the finding's own field is an Option."""
        if not isinstance(spot, Place):
            return None
        found = _type_around(spot.entry)
        for _ in range(self.levels):
            above = next((one for one in _around(found) if one is not found and one.key in _TYPE_KEYS), None)
            # An Option has its type inside of another one.
            while above is not None and above.key == "inner":
                above = next((o for o in _around(above) if o is not above and o.key in _TYPE_KEYS), None)
            found = above
        if found is None or found.is_shared:
            return None
        inner = _inside_option(found)
        if inner is found or "\n" in (text := spot.source.excerpt(inner.value)):
            return None
        return replacing(self, spot, found.value, text, is_safe=False)


class Detach(Remedy):
    """Takes out an attribute of the field or type that the finding is about; with `extra:` if nothing else is there."""

    __slots__ = ("is_around", "key", "part")
    key: str
    part: str
    """The property of its value that goes alone, if there are others; empty for the whole attribute."""
    is_around: bool
    """Whether it is an attribute of a field that the finding's field is a member of."""

    @classmethod
    def attribute(cls, help: str, key: str, part: str = "", *, is_around: bool = False) -> Self:
        """Return a remedy with this help."""
        self = cls(help)
        self.key, self.part, self.is_around = key, part, is_around
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit."""
        if not isinstance(spot, Place):
            return None
        around = _attributes_around(spot.entry, self.key, is_far=self.is_around)
        found = next((one for one in around if not self.is_around or _entry_of(one.inside, self.part)), None)
        if found is None:
            return None
        inside = found.inside
        if self.part and inside is not None and len(inside.entries) > 1:
            found = next((one for one in inside.entries if one.key == self.part), None)
        elif len(found.within.entries) == 1:
            found = found.within.holder
        span = without(spot.source.content, found) if found is not None and not found.is_shared else None
        return None if span is None else replacing(self, spot, span, "", is_safe=False)


class AttachToSchema(Remedy):
    """Writes an attribute, or a part of one, under the `extra:` of the schema around the finding."""

    __slots__ = ("keys", "pairs")
    keys: tuple[str, ...]
    """Keys that lead from `extra` to the mapping that gets the pairs."""
    pairs: tuple[tuple[str, str], ...]
    """What goes there: keys and values."""

    @classmethod
    def pair(cls, help: str, keys: tuple[str, ...], value: str) -> Self:
        """Return a remedy with this help; the value is a piece of YAML on one line."""
        return cls.several(help, keys[:-1], (keys[-1], value))

    @classmethod
    def several(cls, help: str, keys: tuple[str, ...], *pairs: tuple[str, str]) -> Self:
        """Return the same for several pairs in one mapping."""
        self = cls(help)
        self.keys, self.pairs = keys, pairs
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit; it changes the table, so it is a guess."""
        schema = _schema_around(spot.entry) if isinstance(spot, Place) else None
        if schema is None or not isinstance(spot, Place):
            return None
        held: Entry | None = None
        inside: Collection | None = schema
        for key in ("extra", *self.keys):
            held = _entry_of(inside, key)
            inside = held.inside if held is not None else None
        if inside is None and len(self.pairs) > 1:
            pairs = ", ".join(f"{written(key)}: {value}" for key, value in self.pairs)
            return _put(self, spot, schema, ("extra", *self.keys), f"{{{pairs}}}")
        puts = [_put(self, spot, schema, ("extra", *self.keys, key), value) for key, value in self.pairs]
        edits = tuple(edit for put in puts if put is not None for edit in put.edits)
        return Fix(str(self), edits, is_safe=False) if edits else None


class LeaveOut(Remedy):
    """Takes a name out of a list that the schema around the finding has as an attribute."""

    __slots__ = ("key", "name")
    key: str
    name: str

    @classmethod
    def engine(cls, title: str, key: str, name: str) -> Self:
        """Return "leave Spark out with `schemac.dev/targets`"."""
        self = cls(f"leave {title} out with `{key}`")
        self.key, self.name = key, name
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit, where the schema itself names it, and others: otherwise it is named elsewhere."""
        schema = _schema_around(spot.entry) if isinstance(spot, Place) else None
        extra = _entry_of(schema, "extra")
        names = _entry_of(extra.inside, self.key) if extra is not None else None
        if names is None or names.inside is None or names.is_shared or not isinstance(spot, Place):
            return None
        content = spot.source.content
        item = next((one for one in names.inside.entries if _word(content, one) == self.name), None)
        gone = without(content, item) if item is not None else None
        return None if gone is None else replacing(self, spot, gone, "", is_safe=False)


def _word(content: str, entry: Entry) -> str:
    return content[entry.value.start : entry.value.end].strip("'\"").lower()


class Move(Remedy):
    """Takes a key with its value out, and writes it elsewhere under the same name or another one."""

    __slots__ = ("key", "where")
    key: str
    """The key that it has there; empty for its own."""
    where: str

    @classmethod
    def to_schema(cls, help: str) -> Self:
        """Return a remedy that moves an attribute of a field to the `extra:` of the schema."""
        return cls._of(help, "schema", "")

    @classmethod
    def to_extra(cls, help: str, key: str) -> Self:
        """Return a remedy that moves a property of a field to its `extra:`, under this key."""
        return cls._of(help, "extra", key)

    @classmethod
    def to_field(cls, help: str) -> Self:
        """Return a remedy that moves what stands in the type of a field to the field."""
        return cls._of(help, "field", "")

    @classmethod
    def _of(cls, help: str, where: str, key: str) -> Self:
        self = cls(help)
        self.where, self.key = where, key
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the two edits; where the key stands there already, or its value has several lines, there are none."""
        if not isinstance(spot, Place) or not spot.is_exact or (entry := spot.entry) is None:
            return None
        text, at = spot.source.excerpt(entry.value), spot.source.excerpt(entry.span)
        if self.where == "field":
            return self._out(spot, entry)
        goal = _schema_around(entry) if self.where == "schema" else entry.within
        gone = _gone(spot, entry)
        if goal is None or gone is None or entry.key is None or "\n" in at or not text:
            return None
        extra = _entry_of(goal, "extra")
        key = self.key or entry.key
        if extra is not None and (extra.inside is None or _entry_of(extra.inside, key) is not None):
            return None
        removed = replacing(self, spot, gone, "", is_safe=True)
        put = _put(self, spot, goal, ("extra", key), text)
        if removed is None or put is None:
            return None
        (edit,), (other,) = removed.edits, put.edits
        return Fix(str(self), (edit, other), is_safe=removed.is_safe)

    def _out(self, spot: Place, entry: Entry) -> Fix | None:
        """Return the edits that put a key of a type beside the `name` of its field."""
        holder = entry.within.holder
        goal = holder.within if holder is not None and holder.key == "type" else None
        gone = without(spot.source.content, entry) if not entry.is_shared else None
        text = spot.source.excerpt(entry.value)
        if goal is None or gone is None or entry.key is None or "\n" in spot.source.excerpt(entry.span):
            return None
        if _entry_of(goal, entry.key) is not None:
            return None
        removed = replacing(self, spot, gone, "", is_safe=True)
        put = _put(self, spot, goal, (entry.key,), text)
        if removed is None or put is None or gone.end > put_at(spot, put) > gone.start:
            return None
        return Fix(str(self), (*removed.edits, *put.edits), is_safe=removed.is_safe)


def put_at(spot: Place, put: Fix) -> int:
    """Return where the only edit of a fix begins."""
    (edit,) = put.edits
    return spot.source.offset(edit.line, edit.column)


class Hold(Remedy):
    """Writes a property under the attribute that has it: `lance.org/encoding: {compression: zstd}`."""

    __slots__ = ("holder", "name")
    holder: str
    name: str

    @classmethod
    def under(cls, holder: str, name: str) -> Self:
        """Return "write `lance.org/encoding: {compression: …}`"."""
        self = cls(f"write `{holder}: {{{name}: …}}`")
        self.holder, self.name = holder, name
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit; there is none where the attribute is there already."""
        if not isinstance(spot, Place) or not spot.is_exact or (entry := spot.entry) is None:
            return None
        text = spot.source.excerpt(entry.value)
        if entry.key is None or not text or "\n" in text or _entry_of(entry.within, self.holder) is not None:
            return None
        text = f"{self.holder}: {{{self.name}: {text}}}"
        return replacing(self, spot, entry.span, text, is_safe=True)


class MeantPart(Remedy):
    """Writes the word that its author probably meant in the place of one in a longer text."""

    __slots__ = ("instead_of", "is_in_key", "near")
    near: str
    instead_of: str
    is_in_key: bool
    """Whether it stands in the key, not in the value."""

    @classmethod
    def word(cls, near: str, instead_of: str, *, mark: str = "`", is_in_key: bool = False) -> Self:
        """Return "did you mean …?"."""
        self = cls(f"did you mean {mark}{near}{mark}?")
        self.near, self.instead_of, self.is_in_key = near, instead_of, is_in_key
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit, if the word stands once in what the finding underlines."""
        if (
            not isinstance(spot, Place)
            or not spot.is_exact
            or (entry := spot.entry) is None
            or entry.is_shared
        ):
            return None
        within = spot.span if self.is_in_key else entry.value
        old = spot.source.excerpt(within)
        before = r"(?<![\w`])" if self.is_in_key else r"(?<![\w.`])"
        places = list(re.finditer(rf"{before}{re.escape(self.instead_of)}(?![\w`])", old))
        if len(places) != 1:
            return None
        start = within.start + places[0].start()
        region = spot.source.region(Span(start, start + len(self.instead_of)))
        return Fix(str(self), (Edit(spot.source.name, *region, self.near),), is_safe=False)


class Insert(Remedy):
    """Writes a key that is missing into the mapping that the finding is about."""

    __slots__ = ("key", "value")
    key: str
    value: str

    @classmethod
    def pair(cls, key: str, value: str, *, reason: str = "") -> Self:
        """Return "write `kind: SetDataSchema`", and a reason."""
        self = cls(f"write `{key}: {value}`{reason}")
        self.key, self.value = key, value
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit: in the mapping that stands there, or beside the key that does."""
        if not isinstance(spot, Place):
            return None
        entry = spot.entry
        if entry is not None and entry.key is not None:
            mapping: Collection | None = entry.within
        else:
            starting = (one.within for one in spot.entries.keys.values() if one.index == 0)
            mapping = next((one for one in starting if one.span.start == spot.span.start), None)
        if mapping is None or _entry_of(mapping, self.key) is not None or mapping.entries[0].is_shared:
            return None
        return after_last(self, spot, mapping, f"{self.key}: {self.value}")


def _entry_of(mapping: Collection | None, key: str) -> Entry | None:
    return next((one for one in mapping.entries if one.key == key), None) if mapping is not None else None


def _around(entry: Entry | None) -> Iterator[Entry]:
    while entry is not None:
        yield entry
        entry = entry.within.holder


def _type_around(entry: Entry | None) -> Entry | None:
    """Return the entry whose value is the type that an entry is about: in its `extra`, or in the type itself."""
    for one in _around(entry):
        if one.is_shared:
            return None
        if one.key == "extra":
            beside = _entry_of(one.within, "type")
            return one.within.holder if beside is None else beside
        if one.key in _TYPE_KEYS:
            return one
        if _is_field(one.within):
            return _entry_of(one.within, "type")
    return None


def _is_field(mapping: Collection) -> bool:
    return _entry_of(mapping, "name") is not None and _entry_of(mapping, "type") is not None


def _inside_option(type_: Entry) -> Entry:
    """Return the type inside of the Options of one."""
    while (inner := _entry_of(type_.inside, "inner")) is not None:
        type_ = inner
    return type_


def _attributes_around(entry: Entry | None, key: str, *, is_far: bool = False) -> Iterator[Entry]:
    """Yield the attribute that an entry is in, or those of this name around its type, from the nearest on."""
    for one in _around(entry):
        if one.key == key:
            yield one
            return
        extra = _entry_of(one.within, "extra")
        found = _entry_of(extra.inside, key) if extra is not None else None
        if found is not None:
            yield found
        if _is_field(one.within) and not is_far:
            return


def _schema_around(entry: Entry | None) -> Collection | None:
    """Return the outermost mapping with `fields`, if an entry is in no group."""
    found: Collection | None = None
    for one in _around(entry):
        if one.is_shared or one.key == "groups":
            return None
        if _entry_of(one.within, "fields") is not None:
            found = one.within
    return found


def _gone(spot: Place, entry: Entry) -> Span | None:
    """Return what to take out so that an attribute is gone, and with it an `extra` that has no other."""
    holder = entry.within.holder
    if len(entry.within.entries) == 1 and holder is not None and holder.key == "extra":
        entry = holder
    return None if entry.is_shared else without(spot.source.content, entry)


def _put(remedy: Remedy, spot: Place, mapping: Collection, keys: tuple[str, ...], value: str) -> Fix | None:
    """Return the fix that writes a value below keys, and those keys that are not there yet."""
    key, rest = keys[0], keys[1:]
    entry = _entry_of(mapping, key)
    if entry is None:
        for name in reversed(rest):
            value = f"{{{written(name)}: {value}}}"
        return after_last(remedy, spot, mapping, f"{written(key)}: {value}") if mapping.entries else None
    if entry.is_shared:
        return None
    if not rest:
        is_scalar = entry.inside is None
        return replacing(remedy, spot, entry.value, value, is_safe=False) if is_scalar else None
    return None if entry.inside is None else _put(remedy, spot, entry.inside, rest, value)
