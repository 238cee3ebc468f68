"""Remedies that change the type that a finding is about, and what belongs to it.

Layer: syntax.
Shape: as those in `remedies_around`; another type is always a guess.
"""

from collections.abc import Mapping
from typing import Self

from schemac.source.diagnostic import Fix
from schemac.source.remedy import Remedy, Spot
from schemac.syntax.place import Place
from schemac.syntax.plain import written
from schemac.syntax.remedies import replacing
from schemac.syntax.surroundings import (
    TYPE_KEYS,
    attributes_around,
    entries_around,
    entry_of,
    inside_option,
    put_at,
    put_below,
    type_around,
)


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
        if (found := type_around(entry)) is None:
            return None
        type_ = inside_option(found)
        if self.key == "type":
            return replacing(self, spot, type_.value, self.text, is_safe=False)
        if type_.inside is None:
            text = f"{{kind: {spot.source.excerpt(type_.value)}, {self.key}: {self.text}}}"
            return replacing(self, spot, type_.value, text, is_safe=False)
        given = entry_of(type_.inside, self.key)
        if given is not None:
            return replacing(self, spot, given.value, self.text, is_safe=False)
        return put_below(self, spot, type_.inside, (self.key,), self.text)


class RetypeWithExtra(Remedy):
    """Writes another type, and the attributes that say the rest of what was meant next to the name of the field."""

    __slots__ = ("extra", "text")
    text: str
    extra: Mapping[str, str]
    """Values as they are in a manifest, by key."""

    @classmethod
    def of(cls, help: str, text: str, extra: Mapping[str, str]) -> Self:
        """Return a remedy with this help."""
        self = cls(help)
        self.text, self.extra = text, extra
        return self

    def fix(self, spot: Spot) -> Fix | None:
        """Return the edits, of a field that has its type alone in `type`."""
        entry = type_around(spot.entry) if isinstance(spot, Place) else None
        if entry is None or not isinstance(spot, Place) or entry.key != "type":
            return None
        typed = replacing(self, spot, entry.value, self.text, is_safe=False)
        pairs = ", ".join(f"{written(key)}: {value}" for key, value in self.extra.items())
        if entry_of(entry.within, "extra") is None:
            put = put_below(self, spot, entry.within, ("extra",), f"{{{pairs}}}")
        else:
            ((key, value), *others) = self.extra.items()
            put = put_below(self, spot, entry.within, ("extra", key), value) if not others else None
        is_last = entry.next is None and put is not None and put_at(spot, put) < entry.value.end
        return (
            None
            if typed is None or put is None or is_last
            else Fix(str(self), (*typed.edits, *put.edits), False)
        )


class SwapAttribute(Remedy):
    """Writes another attribute in place of one, and the type that it is for."""

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
        entry = next(attributes_around(spot.entry, self.key), None) if isinstance(spot, Place) else None
        type_ = type_around(entry)
        if entry is None or type_ is None or not isinstance(spot, Place) or entry.is_shared:
            return None
        type_ = inside_option(type_)
        swapped = replacing(self, spot, entry.span, self.pair, is_safe=False)
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
        entry = type_around(spot.entry)
        for _ in range(self.levels):
            above = next(
                (one for one in entries_around(entry) if one is not entry and one.key in TYPE_KEYS), None
            )
            # An Option has its type inside of another one.
            while above is not None and above.key == "inner":
                above = next(
                    (o for o in entries_around(above) if o is not above and o.key in TYPE_KEYS), None
                )
            entry = above
        if entry is None or entry.is_shared:
            return None
        inner = inside_option(entry)
        if inner is entry or "\n" in (text := spot.source.excerpt(inner.value)):
            return None
        return replacing(self, spot, entry.value, text, is_safe=False)
