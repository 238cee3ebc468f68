"""Remedies that change something else than what the finding underlines: an attribute, or where a key is.

Layer: syntax.
Shape: each goes from the entry of the finding to the field, type or schema around it, and gives up where that cannot be told, is
shared by an alias, or is written on several lines and has to move.
"""

import re
from typing import Self

from schemac.source.diagnostic import Edit, Fix
from schemac.source.remedy import Remedy, Spot
from schemac.source.span import Span
from schemac.syntax.entries import Collection, Entry, without
from schemac.syntax.place import Place
from schemac.syntax.plain import written
from schemac.syntax.remedies import after_last, replacing
from schemac.syntax.surroundings import (
    attributes_around,
    entry_of,
    put_at,
    put_below,
    schema_around,
    without_attribute,
)


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
        around = attributes_around(spot.entry, self.key, is_far=self.is_around)
        entry = next((one for one in around if not self.is_around or entry_of(one.inside, self.part)), None)
        if entry is None:
            return None
        inside = entry.inside
        if self.part and inside is not None and len(inside.entries) > 1:
            entry = next((one for one in inside.entries if one.key == self.part), None)
        elif len(entry.within.entries) == 1:
            entry = entry.within.holder
        span = without(spot.source.content, entry) if entry is not None and not entry.is_shared else None
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
        schema = schema_around(spot.entry) if isinstance(spot, Place) else None
        if schema is None or not isinstance(spot, Place):
            return None
        entry: Entry | None = None
        inside: Collection | None = schema
        for key in ("extra", *self.keys):
            entry = entry_of(inside, key)
            inside = entry.inside if entry is not None else None
        if inside is None and len(self.pairs) > 1:
            pairs = ", ".join(f"{written(key)}: {value}" for key, value in self.pairs)
            return put_below(self, spot, schema, ("extra", *self.keys), f"{{{pairs}}}")
        puts = [put_below(self, spot, schema, ("extra", *self.keys, key), value) for key, value in self.pairs]
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
        schema = schema_around(spot.entry) if isinstance(spot, Place) else None
        extra = entry_of(schema, "extra")
        names = entry_of(extra.inside, self.key) if extra is not None else None
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
        """Return a remedy that moves what is in the type of a field to the field."""
        return cls._of(help, "field", "")

    @classmethod
    def _of(cls, help: str, where: str, key: str) -> Self:
        self = cls(help)
        self.where, self.key = where, key
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the two edits; where the key already exists, or its value has several lines, there are none."""
        if not isinstance(spot, Place) or not spot.is_exact or (entry := spot.entry) is None:
            return None
        text, at = spot.source.excerpt(entry.value), spot.source.excerpt(entry.span)
        if self.where == "field":
            return self._out(spot, entry)
        goal = schema_around(entry) if self.where == "schema" else entry.within
        gone = without_attribute(spot, entry)
        if goal is None or gone is None or entry.key is None or "\n" in at or not text:
            return None
        extra = entry_of(goal, "extra")
        key = self.key or entry.key
        if extra is not None and (extra.inside is None or entry_of(extra.inside, key) is not None):
            return None
        removed = replacing(self, spot, gone, "", is_safe=True)
        put = put_below(self, spot, goal, ("extra", key), text)
        if removed is None or put is None:
            return None
        (edit,), (other,) = removed.edits, put.edits
        return Fix(str(self), (edit, other), is_safe=removed.is_safe)

    def _out(self, spot: Place, entry: Entry) -> Fix | None:
        """Return the edits that put a key of a type next to the `name` of its field."""
        holder = entry.within.holder
        goal = holder.within if holder is not None and holder.key == "type" else None
        gone = without(spot.source.content, entry) if not entry.is_shared else None
        text = spot.source.excerpt(entry.value)
        if goal is None or gone is None or entry.key is None or "\n" in spot.source.excerpt(entry.span):
            return None
        if entry_of(goal, entry.key) is not None:
            return None
        removed = replacing(self, spot, gone, "", is_safe=True)
        put = put_below(self, spot, goal, (entry.key,), text)
        if removed is None or put is None or gone.end > put_at(spot, put) > gone.start:
            return None
        return Fix(str(self), (*removed.edits, *put.edits), is_safe=removed.is_safe)


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
        """Return the edit; there is none where the attribute already exists."""
        if not isinstance(spot, Place) or not spot.is_exact or (entry := spot.entry) is None:
            return None
        text = spot.source.excerpt(entry.value)
        if entry.key is None or not text or "\n" in text or entry_of(entry.within, self.holder) is not None:
            return None
        text = f"{self.holder}: {{{self.name}: {text}}}"
        return replacing(self, spot, entry.span, text, is_safe=True)


class MeantPart(Remedy):
    """Writes the word that its author probably meant in place of one in a longer text."""

    __slots__ = ("instead_of", "is_in_key", "near")
    near: str
    instead_of: str
    is_in_key: bool
    """Whether it is in the key, not in the value."""

    @classmethod
    def word(cls, near: str, instead_of: str, *, mark: str = "`", is_in_key: bool = False) -> Self:
        """Return "did you mean …?"."""
        self = cls(f"did you mean {mark}{near}{mark}?")
        self.near, self.instead_of, self.is_in_key = near, instead_of, is_in_key
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit, if the word occurs once in what the finding underlines."""
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
        """Return the edit: in the mapping that exists, or next to the key that does."""
        if not isinstance(spot, Place):
            return None
        entry = spot.entry
        if entry is not None and entry.key is not None:
            mapping: Collection | None = entry.within
        else:
            starting = (one.within for one in spot.entries.keys.values() if one.index == 0)
            mapping = next((one for one in starting if one.span.start == spot.span.start), None)
        if mapping is None or entry_of(mapping, self.key) is not None or mapping.entries[0].is_shared:
            return None
        return after_last(self, spot, mapping, f"{self.key}: {self.value}")
