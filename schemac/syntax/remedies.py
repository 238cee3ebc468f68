"""The ways out that can be carried out, each with the help that it gives.

Layer: syntax.
Shape: a remedy is made of what is to be written alone; where it goes, the place of its finding says. It is safe if the manifest
then means what its author can only have meant, and unsafe if that is a guess, or if a comment goes with what is taken out.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

from schemac.source.diagnostic import Edit, Fix
from schemac.source.remedy import Remedy, Spot
from schemac.source.span import Span
from schemac.source.suggest import fold
from schemac.syntax.place import Place
from schemac.syntax.plain import quoted, written

if TYPE_CHECKING:
    from schemac.syntax.entries import Collection, Entry


class Write(Remedy):
    """Writes a text in place of what the finding underlines."""

    __slots__ = ("is_safe", "key", "text")
    text: str
    """As it is in the manifest afterwards."""
    key: str
    """The key that has to be there; empty where any may."""
    is_safe: bool

    @classmethod
    def _of(cls, help: str, text: str, *, key: str = "", is_safe: bool = True) -> Self:
        self = cls(help)
        self.text, self.key, self.is_safe = text, key, is_safe
        return self

    @classmethod
    def value(cls, text: str, *, key: str = "", reason: str = "", is_safe: bool = True) -> Self:
        """Return "write `Int32`", or with its key "write `unit: Second`"; a reason follows as it is.

        The text is a piece of YAML that may be on one line at any place.
        """
        shown = f"{key}: {text}" if key else text
        return cls._of(f"write `{shown}`{reason}", text, key=key, is_safe=is_safe)

    @classmethod
    def in_quotes(cls, text: str) -> Self:
        """Return "write "2.0" in quotes"."""
        return cls._of(f"write {quoted(text)} in quotes", quoted(text))

    @classmethod
    def without_quotes(cls, text: str) -> Self:
        """Return "write 5 without quotes"."""
        return cls._of(f"write {text} without quotes", text)

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit."""
        if not isinstance(spot, Place):
            return None
        entry = spot.entry
        is_whole = entry is not None and entry.inside is not None and spot.span == entry.value
        if is_whole or (not spot.is_exact and (self.key or entry is None)):
            # What would be replaced is more than what the finding is about.
            return None
        old = spot.source.excerpt(spot.span)
        if self.key and (entry is None or entry.key != self.key):
            return None
        return replacing(self, spot, spot.span, self.new(old), is_safe=self.is_safe)

    def new(self, old: str) -> str:
        """Return what takes the place of these characters."""
        return self.text


class WriteType(Write):
    """Writes a type in place of another one, whether that is a name or a mapping."""

    __slots__ = ()

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit; with the finding at its `kind`, the whole mapping is the type."""
        if not isinstance(spot, Place):
            return None
        entry = spot.entry
        if spot.is_exact and entry is not None and entry.key == "kind":
            return replacing(self, spot, entry.within.span, self.text, is_safe=self.is_safe)
        inside = entry.inside if entry is not None and not spot.is_exact else None
        if inside is not None and any(one.key is not None for one in inside.entries):
            return None
        return replacing(self, spot, spot.span, self.text, is_safe=self.is_safe)


class WriteText(Write):
    """Writes a text as a scalar, in the quotes that exist, or in those that it needs."""

    __slots__ = ()

    @classmethod
    def text_of(cls, text: str, *, mark: str = "`", reason: str = "", is_safe: bool = True) -> Self:
        """Return "write `^a$`", or with other marks."""
        return cls._of(f"write {mark}{text}{mark}{reason}", text, is_safe=is_safe)

    def new(self, old: str) -> str:
        """Return the text with its quotes."""
        if old.startswith("'") and self.text.isprintable():
            return "'" + self.text.replace("'", "''") + "'"
        return quoted(self.text) if old.startswith('"') else written(self.text)


class Meant(WriteText):
    """Writes the word that its author probably meant."""

    __slots__ = ("instead_of",)
    instead_of: str

    @classmethod
    def word(
        cls, near: str, instead_of: str, synonyms: Mapping[str, str] | None = None, *, mark: str = "`"
    ) -> Self:
        """Return "did you mean …?". A word that differs in case and signs alone, or a known synonym, is not a guess."""
        folded = fold(instead_of)
        is_certain = folded == fold(near) or (synonyms or {}).get(folded) == near
        self = cls._of(f"did you mean {mark}{near}{mark}?", near, is_safe=is_certain)
        self.instead_of = instead_of
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit; there is none where the word is next to it already."""
        if isinstance(spot, Place) and (entry := spot.entry) is not None:
            is_name = spot.span.start == entry.span.start
            if is_name and self.text in entry.within.words(spot.source.content):
                return None
        return super().fix(spot)

    def new(self, old: str) -> str:
        """Return the word in place of the other one, which may be the name after a domain; else what is there."""
        found = old[1:-1] if old[:1] in ("'", '"') else old
        if found == self.instead_of:
            return super().new(old)
        lead = found.removesuffix(f"/{self.instead_of}")
        return old if lead == found else old.replace(found, f"{lead}/{self.text}")


class Quote(Write):
    """Puts a value in quotes, as it is written."""

    __slots__ = ()

    @classmethod
    def it(cls, text: str = "", *, help: str = "") -> Self:
        """Return "write it in quotes", with the text where one is given, or a help that says the same."""
        shown = f": {quoted(text)}" if text else ""
        return cls._of(help or f"write it in quotes{shown}", text)

    def new(self, old: str) -> str:
        """Return the same characters in quotes."""
        is_scalar = old.isprintable() and old[:1] not in ("[", "{", "'", '"', "|", ">") and ": " not in old
        return quoted(old) if is_scalar else old


class Remove(Remedy):
    """Takes out the key with its value, or the item, that the finding is at; with an attribute that lists nothing else."""

    __slots__ = ("is_safe",)
    is_safe: bool

    @classmethod
    def it(cls, reason: str = "", *, what: str = "it", help: str = "", is_safe: bool = True) -> Self:
        """Return "remove it", and why; or a help that says the same."""
        self = cls(help or f"remove {what}{reason}")
        self.is_safe = is_safe
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit."""
        if not isinstance(spot, Place) or not spot.is_exact:
            return None
        entry = spot.entry
        while entry is not None and len(entry.within.entries) == 1:
            around = entry.within.holder
            is_list = entry.key is None and not self.is_safe
            goes = around is not None and (around.key in _NEEDLESS or (is_list and "/" in (around.key or "")))
            entry = around if goes else None
        span = _without(spot.source.content, entry) if entry is not None and not entry.is_shared else None
        return None if span is None else replacing(self, spot, span, "", is_safe=self.is_safe)


_NEEDLESS = frozenset({"extra", "imports", "with", "groups", "parameters", "options", "rules"})
"""Keys that go as well where nothing is left below them."""


class MakeOptional(Remedy):
    """Puts an Option around the type next to a flag of nullability, and takes out the flag."""

    __slots__ = ()

    def fix(self, spot: Spot) -> Fix | None:
        """Return the two edits."""
        if not isinstance(spot, Place) or not spot.is_exact or spot.entry is None:
            return None
        flag = spot.entry
        type_ = next((one for one in flag.within.entries if one.key == "type"), None)
        span = _without(spot.source.content, flag)
        if type_ is None or span is None or flag.is_shared or type_.is_shared:
            return None
        text = spot.source.excerpt(type_.value)
        wrapped = replacing(self, spot, type_.value, f"{{kind: Option, inner: {text}}}", is_safe=True)
        removed = replacing(self, spot, span, "", is_safe=True)
        if wrapped is None or removed is None or "\n" in text or span.start < type_.value.end <= span.end:
            return None
        return Fix(str(self), (*wrapped.edits, *removed.edits), wrapped.is_safe and removed.is_safe)


class Attach(Remedy):
    """Writes an attribute under the `extra:` of the field that the finding is about."""

    __slots__ = ("key", "value")
    key: str
    value: str
    """As it is in the manifest afterwards."""

    @classmethod
    def attribute(cls, key: str, value: str) -> Self:
        """Return "write `schemac.dev/unit: km` under its `extra:`"; that it fits is a guess."""
        self = cls(f"write `{key}: {value}` under its `extra:`")
        self.key, self.value = key, value
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit."""
        field = _field_around(spot.entry) if isinstance(spot, Place) else None
        if field is None or not isinstance(spot, Place):
            return None
        extra = next((one for one in field.entries if one.key == "extra"), None)
        pair = f"{self.key}: {self.value}"
        if extra is None:
            return after_last(self, spot, field, f"extra: {{{pair}}}")
        inside = extra.inside
        return None if inside is None or not inside.entries else after_last(self, spot, inside, pair)


def _without(content: str, entry: "Entry") -> Span | None:
    """Return what to take out of a text so that an entry is gone; as `schemac.syntax.entries.without`."""
    from schemac.syntax.entries import without  # for start-up time: most manifests have no mistake

    return without(content, entry)


def _field_around(entry: "Entry | None") -> "Collection | None":
    """Return the mapping of the field that a place is in."""
    while entry is not None:
        keys = {one.key for one in entry.within.entries}
        if {"name", "type"} <= keys:
            return None if entry.is_shared else entry.within
        entry = entry.within.holder
    return None


def after_last(remedy: Remedy, spot: Place, mapping: "Collection", text: str) -> Fix | None:
    """Return the fix that puts a key with its value at the end of a mapping."""
    content = spot.source.content
    first, last = mapping.entries[0], mapping.entries[-1]
    at = last.span.end
    if mapping.is_flow:
        text = f", {text}"
    else:
        line = content.rfind("\n", 0, first.span.start) + 1
        is_line_end = content[at - 1 : at] == "\n"
        indent = " " * (first.span.start - line)
        text = f"{indent}{text}\n" if is_line_end else f"\n{indent}{text}"
        rest = content[at : content.find("\n", at) if "\n" in content[at:] else len(content)]
        if not is_line_end and rest.strip():
            # The comment at the end of the line stays there.
            at += len(rest.rstrip("\r"))
    region = spot.source.region(Span(at, at))
    return Fix(str(remedy), (Edit(spot.source.name, *region, text),), is_safe=False)


class Untag(Remedy):
    """Takes out the tag before a value."""

    __slots__ = ()

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit."""
        if not isinstance(spot, Place):
            return None
        tag = _TAG.match(spot.source.content, spot.span.start)
        if tag is None:
            return None
        region = spot.source.region(Span(tag.start(), tag.end()))
        return Fix(str(self), (Edit(spot.source.name, *region, ""),), is_safe=False)


REMOVE_TAG = Untag("remove the tag")
_TAG = re.compile(r"![^\s,\[\]{}]*[ \t]+(?=[^\s#])")


class Unwrap(Remedy):
    """Writes a part of a mapping in place of the mapping: the type inside an Option."""

    __slots__ = ("is_safe", "key")
    key: str
    is_safe: bool

    @classmethod
    def part(cls, help: str, key: str = "inner", *, is_safe: bool) -> Self:
        """Return a remedy with this help."""
        self = cls(help)
        self.key, self.is_safe = key, is_safe
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edit; the mapping may be what is underlined, or what that is in."""
        if not isinstance(spot, Place) or not spot.is_exact or spot.entry is None:
            return None
        part = _part(spot.entry, self.key)
        if part is None or part.is_shared:
            return None
        text = spot.source.excerpt(part.value)
        return None if "\n" in text else replacing(self, spot, part.within.span, text, is_safe=self.is_safe)


def _part(entry: "Entry", key: str) -> "Entry | None":
    """Return the entry of a key in the mapping that an entry holds, or else in the one that it is in."""
    for mapping in (entry.inside, entry.within):
        found = next((one for one in mapping.entries if one.key == key), None) if mapping else None
        if found is not None:
            return found
    return None


def replacing(remedy: Remedy, spot: Place, span: Span, text: str, *, is_safe: bool) -> Fix | None:
    """Return the fix that puts a text in place of a span; None where aliases or arguments stand for what is there."""
    old = spot.source.excerpt(span)
    entry = spot.entry
    if old == text or not old or (entry is not None and entry.is_shared) or "$(" in old:
        return None
    if _NAMED.search(old):
        # An alias elsewhere may stand for what goes, or what stands there is not what it says.
        return None
    edit = Edit(spot.source.name, *spot.source.region(span), text)
    return Fix(str(remedy), (edit,), is_safe and "#" not in old)


_NAMED = re.compile(r"(?:^|[\s\[{,:-])[&*!][^\s]")
"""An anchor, an alias or a tag."""
