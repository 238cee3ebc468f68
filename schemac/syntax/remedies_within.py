"""Remedies that change a part of what the finding underlines, or several places at once.

Layer: syntax.
Shape: as those in `remedies_around`: each gives up where the text is written in a way that it would damage.
"""

import re
from dataclasses import replace
from typing import Self

from schemac.source.diagnostic import Edit, Fix
from schemac.source.remedy import Remedy, Spot
from schemac.source.span import Span
from schemac.syntax.entries import Collection, Entry, without
from schemac.syntax.place import Place
from schemac.syntax.plain import quoted, written
from schemac.syntax.remedies import after_last, replacing
from schemac.syntax.surroundings import without_attribute


class Rewrite(Remedy):
    """Writes another text as the value of the key that the finding is about, whether the key is underlined or the value."""

    __slots__ = ("is_safe", "text")
    text: str
    is_safe: bool

    @classmethod
    def text_of(cls, help: str, text: str, *, is_safe: bool = False) -> Self:
        """Return a remedy with this help; the text is in the quotes that exist, or in those that it needs."""
        self = cls(help)
        self.text, self.is_safe = text, is_safe
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit."""
        if not isinstance(spot, Place) or not spot.is_exact or spot.entry is None or spot.entry.inside:
            return None
        old = spot.source.excerpt(spot.entry.value)
        return replacing(self, spot, spot.entry.value, requoted(self.text, old), is_safe=self.is_safe)


def requoted(text: str, old: str) -> str:
    """Return a text as a scalar, in the quotes of the one that it replaces, or in those that it needs."""
    if old.startswith("'") and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return quoted(text) if old.startswith('"') else written(text)


class DropCharacter(Remedy):
    """Takes a control character out of a text in double quotes, where it is an escape."""

    __slots__ = ("character",)
    character: str

    @classmethod
    def of(cls, character: str) -> Self:
        """Return "remove it"."""
        self = cls("remove it")
        self.character = character
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit, where the character occurs once."""
        if not isinstance(spot, Place) or not spot.is_exact or spot.entry is None:
            return None
        old = spot.source.excerpt(spot.span)
        number = ord(self.character)
        short = _ESCAPES.get(self.character, "")
        forms = [
            rf"x{number:02x}",
            rf"u{number:04x}",
            rf"U{number:08x}",
            *([re.escape(short)] if short else []),
        ]
        # Pairs before it are backslashes.
        entry = list(re.finditer(rf"(?<!\\)(?:\\\\)*(\\(?:{'|'.join(forms[:3])}))", old, re.IGNORECASE))
        if short:
            entry += re.finditer(rf"(?<!\\)(?:\\\\)*(\\{forms[3]})", old)
        if not old.startswith('"') or len(entry) != 1:
            return None
        start = spot.span.start + entry[0].start(1)
        return replacing(self, spot, Span(start, spot.span.start + entry[0].end(1)), "", is_safe=False)


_ESCAPES = {
    "\0": "0",
    "\a": "a",
    "\b": "b",
    "\t": "t",
    "\n": "n",
    "\v": "v",
    "\f": "f",
    "\r": "r",
    "\x1b": "e",
    "\x85": "N",
}
"""Characters that YAML has an escape of one letter for."""


class InsertKeys(Remedy):
    """Writes keys that are missing into the mapping that the finding is about, or next to the key that it is at."""

    __slots__ = ("is_beside", "pairs")
    pairs: tuple[tuple[str, str], ...]
    is_beside: bool

    @classmethod
    def beside(cls, help: str, *pairs: tuple[str, str]) -> Self:
        """Return a remedy with this help: keys, with values as they are in the manifest, next to that of the finding."""
        self = cls(help)
        self.pairs, self.is_beside = pairs, True
        return self

    @classmethod
    def into(cls, help: str, *pairs: tuple[str, str]) -> Self:
        """Return the same for the mapping that is the value of the finding's key."""
        self = cls.beside(help, *pairs)
        self.is_beside = False
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit: a key that exists gets the value, the others are behind the last one."""
        if not isinstance(spot, Place) or (entry := spot.entry) is None or entry.is_shared:
            return None
        mapping = entry.within if self.is_beside and spot.is_exact else entry.inside
        if mapping is None or not mapping.entries or mapping.entries[0].key is None:
            return None
        there = {one.key: one for one in mapping.entries}
        edits: list[Edit] = []
        missing = [pair for pair in self.pairs if pair[0] not in there]
        for key, value in self.pairs:
            if (known := there.get(key)) is not None and known.inside is None and not known.is_shared:
                changed = replacing(self, spot, known.value, value, is_safe=False)
                edits += changed.edits if changed is not None else ()
        added = _added(self, spot, mapping, missing)
        edits += added.edits if added is not None else ()
        return Fix(str(self), tuple(edits), is_safe=False) if edits else None


def _added(remedy: Remedy, spot: Place, mapping: Collection, pairs: list[tuple[str, str]]) -> Fix | None:
    """Return the fix that puts several keys at the end of a mapping."""
    texts = [f"{written(key)}: {value}" for key, value in pairs]
    if not texts:
        return None
    first = after_last(remedy, spot, mapping, texts[0])
    if first is None or len(texts) == 1:
        return first
    (edit,) = first.edits
    # All of them go to one place, each as the first one does.
    return replace(first, edits=(edit._replace(text="".join(edit.text.replace(texts[0], t) for t in texts)),))


class RemoveItem(Remedy):
    """Takes out the item of a list that the key of the finding is in; what is wrong may be something else."""

    __slots__ = ()

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit; the only item of a list stays."""
        item = spot.entry.within.holder if isinstance(spot, Place) and spot.is_exact and spot.entry else None
        if item is None or item.key is not None or item.is_shared or not isinstance(spot, Place):
            return None
        span = without(spot.source.content, item)
        return None if span is None else replacing(self, spot, span, "", is_safe=False)


class DropProperty(Remedy):
    """Takes a property out of the type that the finding is in."""

    __slots__ = ("key",)
    key: str

    @classmethod
    def of(cls, help: str, key: str) -> Self:
        """Return a remedy with this help."""
        self = cls(help)
        self.key = key
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit; there is none where only the kind would be left of a type, and its name alone would do."""
        if not isinstance(spot, Place) or spot.entry is None:
            return None
        entry = next((one for one in spot.entry.within.entries if one.key == self.key), None)
        span = without(spot.source.content, entry) if entry is not None and not entry.is_shared else None
        return None if span is None else replacing(self, spot, span, "", is_safe=False)


class MoveToPart(Remedy):
    """Takes an attribute out, and writes it next to the kind of a part of the type: of the items of a list."""

    __slots__ = ("key",)
    key: str
    """The part: `itemType`."""

    @classmethod
    def of(cls, help: str, key: str) -> Self:
        """Return a remedy with this help."""
        self = cls(help)
        self.key = key
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the two edits, where the part is a name alone."""
        if not isinstance(spot, Place) or not spot.is_exact or (entry := spot.entry) is None or not entry.key:
            return None
        part = _part_beside(entry, self.key)
        text = spot.source.excerpt(entry.value)
        gone = without_attribute(spot, entry)
        if part is None or part.inside is not None or part.is_shared or gone is None or "\n" in text:
            return None
        kind = spot.source.excerpt(part.value)
        new = f"{{kind: {kind}, extra: {{{entry.key}: {text}}}}}"
        put = replacing(self, spot, part.value, new, is_safe=False)
        removed = replacing(self, spot, gone, "", is_safe=False)
        is_apart = gone.end <= part.value.start or part.value.end <= gone.start
        return Fix(str(self), (*put.edits, *removed.edits), False) if put and removed and is_apart else None


def _part_beside(entry: Entry, key: str) -> Entry | None:
    """Return the part of the type that the attribute of an entry is about: next to its `extra`, or in the `type` there."""
    extra = entry.within.holder
    for one in extra.within.entries if extra is not None else ():
        if one.key == key:
            return one
        if one.key == "type" and one.inside is not None:
            return next((part for part in one.inside.entries if part.key == key), None)
    return None
