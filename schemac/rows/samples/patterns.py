"""Texts that a pattern matches.

Layer: rows.
Shape: a pattern that `schemac.language.constraints.patterns` has read, as a tree of pieces; each piece knows how many texts it stands for and which
       one has a number. A text is one of all that the pattern matches as a whole: nothing is added before and behind it.
Rule: a piece that may be repeated without end is repeated at most `more` times more than it has to be.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_READABLE = [
    *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    *" -_.,:;/@#+*=!?()[]{}<>'\"&%$~|^\\`",
    *"éßñ日本Ωж",
]
"""What stands for the characters that a class excludes some of."""


@dataclass(frozen=True)
class Characters:
    """One of some characters."""

    members: tuple[str, ...]
    is_plain: ClassVar[bool] = True

    @property
    def count(self) -> int:
        """The number of characters."""
        return len(self.members)

    def nth(self, number: int) -> str:
        """Return the character."""
        return self.members[number]


@dataclass(frozen=True)
class Sequence:
    """Pieces one after the other."""

    parts: "tuple[TextGenerator, ...]"

    @cached_property
    def count(self) -> int:
        """The product."""
        total = 1
        for part in self.parts:
            total *= part.count
        return total

    def nth(self, number: int) -> str:
        """Take a digit for each piece."""
        texts = []
        for part in reversed(self.parts):
            number, digit = divmod(number, part.count)
            texts.append(part.nth(digit))
        return "".join(reversed(texts))

    @property
    def is_plain(self) -> bool:
        """Whether each is."""
        return all(part.is_plain for part in self.parts)


@dataclass(frozen=True)
class Alternatives:
    """One of several pieces."""

    parts: "tuple[TextGenerator, ...]"

    @cached_property
    def count(self) -> int:
        """The sum."""
        return sum(part.count for part in self.parts)

    def nth(self, number: int) -> str:
        """Find the piece."""
        for part in self.parts:
            if number < part.count:
                return part.nth(number)
            number -= part.count
        raise IndexError(number)

    @property
    def is_plain(self) -> bool:
        """Of one piece, whether that is."""
        return len(self.parts) == 1 and self.parts[0].is_plain


@dataclass(frozen=True)
class Repeated:
    """A piece that occurs several times."""

    part: "TextGenerator"
    low: int
    high: int

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        """Return how many texts there are for each number of repetitions, from `low` to `high`."""
        return tuple([self.part.count**times for times in range(self.low, self.high + 1)])

    @cached_property
    def count(self) -> int:
        """All texts of each number of times."""
        return sum(self._counts)

    def nth(self, number: int) -> str:
        """Find how often it occurs, and a digit for each time."""
        for times, count in enumerate(self._counts, self.low):
            if number < count:
                return Sequence((self.part,) * times).nth(number)
            number -= count
        raise IndexError(number)

    @property
    def is_plain(self) -> bool:
        """Whether it always occurs equally often, and so does the piece."""
        return self.low == self.high and self.part.is_plain


TextGenerator = Characters | Sequence | Alternatives | Repeated
"""A part of a pattern: `count` says how many texts it generates, equal ones each time; `nth` is the text with a number below that.

`is_plain`: whether all of its texts are of one length, and differ.
"""


def generator_of(pattern: str, more: int) -> TextGenerator:
    """Return a pattern that was read before as a tree."""
    return _PatternReader(pattern, more).alternatives()


class _PatternReader:
    def __init__(self, text: str, more: int) -> None:
        self.text, self.more, self.at = text, more, 0

    def alternatives(self) -> TextGenerator:
        """Read up to the end, or to the bracket that closes a group."""
        sequences = [self.sequence()]
        while self.text[self.at : self.at + 1] == "|":
            self.at += 1
            sequences.append(self.sequence())
        return sequences[0] if len(sequences) == 1 else Alternatives(tuple(sequences))

    def sequence(self) -> TextGenerator:
        """Read the pieces up to the next `|`."""
        parts: list[TextGenerator] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            atom = self.atom()
            if atom is not None:
                parts.append(self.repeated(atom))
        return Sequence(tuple(parts))

    def atom(self) -> TextGenerator | None:
        """Read a character, a class or a group; None for an anchor."""
        character = self.text[self.at]
        self.at += 1
        if character in "^$":
            return None
        if character == "(":
            self.at += 2 if self.text.startswith("?:", self.at) else 0
            group = self.alternatives()
            self.at += 1
            return group
        if character == "[":
            return self.character_class()
        return Characters((self.escaped() if character == "\\" else character,))

    def escaped(self) -> str:
        """Read the character behind a backslash."""
        letter = self.text[self.at]
        self.at += 1
        return _CONTROLS.get(letter, letter)

    def character_class(self) -> TextGenerator:
        """Read a class behind its opening bracket."""
        is_negated = self.text[self.at] == "^"
        self.at += is_negated
        characters: list[str] = []
        while self.text[self.at] != "]":
            low = self.member()
            if self.text[self.at] == "-" and self.text[self.at + 1] != "]":
                self.at += 1
                characters += map(chr, range(ord(low), ord(self.member()) + 1))
            else:
                characters.append(low)
        self.at += 1
        if is_negated:
            excluded = {*characters}
            characters = [one for one in _READABLE if one not in excluded] or [
                next(chr(c) for c in range(0x20, 0x10000) if chr(c) not in excluded)
            ]
        # Halves of pairs are no characters of a text.
        usable = [one for one in dict.fromkeys(characters) if not "\ud800" <= one <= "\udfff"]
        return Characters(tuple(usable))

    def member(self) -> str:
        """Read one character of a class."""
        character = self.text[self.at]
        self.at += 1
        return self.escaped() if character == "\\" else character

    def repeated(self, atom: TextGenerator) -> TextGenerator:
        """Read how often an atom may occur; return it with that."""
        match = re.compile(r"([*+?]|\{([0-9]+)(,?)([0-9]*)\})\??").match(self.text, self.at)
        if match is None:
            return atom
        self.at = match.end()
        if match[2] is None:
            low = int(match[1] == "+")
            return Repeated(atom, low, 1 if match[1] == "?" else low + self.more)
        low = int(match[2])
        high = int(match[4]) if match[4] else low + self.more if match[3] else low
        return Repeated(atom, low, min(high, low + max(self.more, 1)))
