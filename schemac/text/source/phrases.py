"""Phrases in messages: helps that name their fix, suggestions, lists of words, and text of others made safe for a terminal.

Layer: text.
Shape: a `Help` is the text of a finding's help, with the name of a fix and its arguments; the fix does exactly what the
text says. The location of the finding is where the fix applies; `schemac.text.syntax.fixes` makes the edits of each
name. A fix is safe if the corrected manifest can only mean what its author meant. A help joined of several is plain
text.
Characters that a terminal would obey are written as escapes: control characters, lone surrogates, and format
characters that turn, hide or join their neighbours, such as U+202E. The two joiners (U+200C, U+200D) stay, because
scripts and emoji need them.
Source: typing errors are counted by Damerau and Levenshtein's distance (optimal string alignment), after folding case
and punctuation; other similar words are found by the standard library's difflib.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Self


class Help(str):
    """The help of a finding, and the fix that carries it out."""

    __slots__ = ("arguments", "fix_name", "is_safe")
    fix_name: str
    is_safe: bool
    arguments: Mapping[str, Any]
    """What the fix is made of; texts of it stand in the manifest as they are."""

    @classmethod
    def _fix(cls, help: str, fix_name: str, *, is_safe: bool = False, **arguments: object) -> Self:
        """Return a help with the fix that applies it and its arguments."""
        self = cls(help)
        self.fix_name, self.is_safe, self.arguments = fix_name, is_safe, arguments
        return self

    @classmethod
    def write(cls, text: str, *, key: str = "", reason: str = "", is_safe: bool = True) -> str:
        """Return "write `Int32`", or with its key "write `unit: Second`"; a reason is appended unchanged.

        The text is YAML on one line, for what the finding underlines. A key has to be the one that is there.
        """
        pair = f"{key}: {text}" if key else text
        return cls._fix(f"write `{pair}`{reason}", "write", is_safe=is_safe, text=text, key=key)

    @classmethod
    def write_in_quotes(cls, text: str) -> str:
        """Return "write "2.0" in quotes"."""
        return cls._fix(f"write {quoted(text)} in quotes", "write", is_safe=True, text=quoted(text), key="")

    @classmethod
    def write_without_quotes(cls, text: str) -> str:
        """Return "write 5 without quotes"."""
        return cls._fix(f"write {text} without quotes", "write", is_safe=True, text=text, key="")

    @classmethod
    def write_type(cls, text: str, *, key: str = "", reason: str = "", is_safe: bool = True) -> str:
        """Return the same as `write` for a type in the place of another one, whether that is a name or a mapping."""
        pair = f"{key}: {text}" if key else text
        return cls._fix(f"write `{pair}`{reason}", "write_type", is_safe=is_safe, text=text)

    @classmethod
    def write_text(cls, text: str, *, mark: str = "`", is_safe: bool = True) -> str:
        """Return "write `^a$`", or with other marks, for a text in the quotes that are there, or in those that it needs."""
        return cls._fix(f"write {mark}{text}{mark}", "write_text", is_safe=is_safe, text=text)

    @classmethod
    def did_you_mean(
        cls, near: str, instead_of: str, synonyms: Mapping[str, str] | None = None, *, mark: str = "`"
    ) -> str:
        """Return "did you mean …?". A word that differs in case and signs alone, or a known synonym, is not a guess."""
        is_certain = fold(instead_of) == fold(near) or (synonyms or {}).get(fold(instead_of)) == near
        text = f"did you mean {mark}{near}{mark}?"
        return cls._fix(text, "did_you_mean", is_safe=is_certain, near=near, instead_of=instead_of)

    @classmethod
    def nearest(
        cls,
        word: str,
        known: Iterable[str],
        otherwise: str = "",
        synonyms: Mapping[str, str] | None = None,
        *,
        mark: str = "`",
    ) -> str:
        """Return "did you mean …?" for the known word that is most like another one; `otherwise` if none is near."""
        near = closest(word, known, synonyms)
        return cls.did_you_mean(near, word, synonyms, mark=mark) if near else otherwise

    @classmethod
    def did_you_mean_part(
        cls, near: str, instead_of: str, *, mark: str = "`", is_in_key: bool = False
    ) -> str:
        """Return "did you mean …?" for a word in a longer text: in the value, or in the key."""
        text = f"did you mean {mark}{near}{mark}?"
        return cls._fix(text, "did_you_mean_part", near=near, instead_of=instead_of, is_in_key=is_in_key)

    @classmethod
    def quote(cls, text: str = "", *, help: str = "") -> str:
        """Return "write it in quotes", with the text if there is one; or a help of the caller's own words."""
        suffix = f": {quoted(text)}" if text else ""
        return cls._fix(help or f"write it in quotes{suffix}", "quote", is_safe=True)

    @classmethod
    def rewrite(cls, help: str, text: str, *, is_safe: bool = False) -> str:
        """Return a help that writes a text as the value of the finding's key, in the quotes that are there or that it needs."""
        return cls._fix(help, "rewrite", is_safe=is_safe, text=text)

    @classmethod
    def remove(cls, reason: str = "", *, what: str = "it", help: str = "", is_safe: bool = True) -> str:
        """Return "remove it", and why; or a help of the caller's own words. The fix removes the key with its value, or the item."""
        return cls._fix(help or f"remove {what}{reason}", "remove", is_safe=is_safe)

    @classmethod
    def remove_item(cls, help: str) -> str:
        """Return a help that takes out the item of a list that the key of the finding is in."""
        return cls._fix(help, "remove_item")

    @classmethod
    def remove_tag(cls, help: str = "remove the tag") -> str:
        """Return a help that takes out the tag before a value."""
        return cls._fix(help, "remove_tag")

    @classmethod
    def remove_character(cls, character: str) -> str:
        """Return "remove it" for a control character, which is written as an escape in double quotes."""
        return cls._fix("remove it", "remove_character", character=character)

    @classmethod
    def remove_property(cls, help: str, key: str) -> str:
        """Return a help that takes a property out of the type that the finding is in."""
        return cls._fix(help, "remove_property", key=key)

    @classmethod
    def remove_attribute(cls, help: str, key: str, part: str = "", *, is_around: bool = False) -> str:
        """Return a help that takes out an attribute of the finding's field or type, or a part of its value.

        If `is_around`, the attribute may be that of a field that the finding's field is in.
        """
        return cls._fix(help, "remove_attribute", key=key, part=part, is_around=is_around)

    @classmethod
    def make_optional(cls, help: str) -> str:
        """Return a help whose fix wraps the type in an Option and removes the flag of nullability beside it."""
        return cls._fix(help, "make_optional", is_safe=True)

    @classmethod
    def make_required(cls, help: str, *, levels: int = 0) -> str:
        """Return a help whose fix removes the Option around the type of a field, this many structs above that of the finding."""
        return cls._fix(help, "make_required", levels=levels)

    @classmethod
    def unwrap(cls, help: str, *, is_safe: bool) -> str:
        """Return a help that writes the type inside of an Option in its place."""
        return cls._fix(help, "unwrap", is_safe=is_safe)

    @classmethod
    def retype(cls, key: str, text: str, *, reason: str = "") -> str:
        """Return "write `unit: Microsecond`" for the type that the finding is about; with `type`, for the type as a whole."""
        return cls._fix(f"write `{key}: {text}`{reason}", "retype", key=key, text=text)

    @classmethod
    def retype_with_attributes(cls, help: str, text: str, attributes: Mapping[str, str]) -> str:
        """Return a help that writes another type, and attributes beside the name of its field."""
        return cls._fix(help, "retype_with_attributes", text=text, attributes=attributes)

    @classmethod
    def swap_attribute(cls, help: str, key: str, pair: str, type_: str) -> str:
        """Return a help that writes a pair in the place of the attribute of this key, and the type that it is for."""
        return cls._fix(help, "swap_attribute", key=key, pair=pair, type_=type_)

    @classmethod
    def add_key(cls, key: str, value: str, *, reason: str = "") -> str:
        """Return "write `kind: SetDataSchema`" for a key that is missing in the finding's mapping, or beside its key."""
        return cls._fix(f"write `{key}: {value}`{reason}", "add_key", key=key, value=value)

    @classmethod
    def add_keys(cls, help: str, *pairs: tuple[str, str]) -> str:
        """Return a help that writes keys with values beside the finding's key; those that are there get the values."""
        return cls._fix(help, "add_keys", pairs=pairs)

    @classmethod
    def add_attribute(cls, key: str, value: str) -> str:
        """Return "write `schemac.dev/unit: km` under its `extra:`" for the field of the finding."""
        return cls._fix(f"write `{key}: {value}` under its `extra:`", "add_attribute", key=key, value=value)

    @classmethod
    def add_to_schema(cls, help: str, keys: tuple[str, ...], *pairs: tuple[str, str]) -> str:
        """Return a help that writes pairs below `extra` and these keys of the schema around the finding."""
        return cls._fix(help, "add_to_schema", keys=keys, pairs=pairs)

    @classmethod
    def leave_out(cls, title: str, key: str, name: str) -> str:
        """Return "leave Spark out with `schemac.dev/targets`", which takes a name out of that attribute of the schema."""
        return cls._fix(f"leave {title} out with `{key}`", "leave_out", key=key, name=name)

    @classmethod
    def move_to_extra(cls, help: str, key: str = "", *, is_of_schema: bool = False) -> str:
        """Return a help that moves a property of a field to its `extra:`, or to that of the schema, under a key or its own."""
        return cls._fix(help, "move_to_extra", is_safe=True, key=key, is_of_schema=is_of_schema)

    @classmethod
    def move_to_field(cls, help: str) -> str:
        """Return a help that moves a key out of the type of a field to the field."""
        return cls._fix(help, "move_to_field", is_safe=True)

    @classmethod
    def move_to_child(cls, help: str, key: str) -> str:
        """Return a help that moves an attribute to a child type, such as that of the key `itemType`."""
        return cls._fix(help, "move_to_child", key=key)

    @classmethod
    def move_under(cls, attribute: str, name: str) -> str:
        """Return "write `lance.org/encoding: {compression: …}`" for a property that was written outside of its attribute."""
        text = f"write `{attribute}: {{{name}: …}}`"
        return cls._fix(text, "move_under", is_safe=True, attribute=attribute, name=name)


def quoted(text: str) -> str:
    """Return a text in double quotes of YAML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else escape(c) for c in escaped) + '"'


def closest(word: str, candidates: Iterable[str], synonyms: Mapping[str, str] | None = None) -> str | None:
    """Return the candidate most like a word, or None if nothing is near enough.

    `synonyms` maps folded foreign words, such as `bigint`, to the word of this language.
    """
    folded = fold(word)
    if synonyms and folded in synonyms:
        return synonyms[folded]
    return _closest(folded, tuple(candidates))


@lru_cache(maxsize=4096)
def _closest(folded: str, candidates: tuple[str, ...]) -> str | None:
    """Return the candidate with the fewest slips, else the most similar one; None if none is near. `folded` is what `fold` returns."""
    # Remembered, for the same slip often stands in a file a thousand times.
    by_folded: dict[str, str] = {}
    for candidate in candidates:
        by_folded.setdefault(fold(candidate), candidate)
    if folded in by_folded:
        return by_folded[folded]
    if not folded or len(folded) > _LONGEST:
        return None
    by_folded = {c: word for c, word in by_folded.items() if _shares_letters(folded, c)}
    if not by_folded:
        return None
    # Imported here for start-up time: only a run with a mistake in it needs difflib.
    from difflib import SequenceMatcher, get_close_matches

    slips = {c: n for c in by_folded if (n := _slips(folded, c)) <= max(1, len(c) // 4) and n < len(folded)}
    if slips:
        fewest = min(slips.values())
        nearest = [c for c, n in slips.items() if n == fewest]
        return by_folded[max(nearest, key=lambda c: SequenceMatcher(None, folded, c).ratio())]
    near = get_close_matches(folded, by_folded, n=1, cutoff=0.7) if len(folded) >= _SHORTEST else []
    return by_folded[near[0]] if near else None


_SHORTEST = 3
"""Code points of a word that may share its letters with another by more than chance."""
_LONGEST = 100
"""Code points of a word that is compared; no word of the language is near a longer one."""
_SWAP = 0.9
"""Two neighbours in the wrong order: the slip that is made most, so it wins over any other."""


def _shares_letters(a: str, b: str) -> bool:
    """Whether half of the letters of the poorer word are in the other: a quick no for most pairs."""
    letters, others = set(a), set(b)
    return 2 * len(letters & others) >= min(len(letters), len(others))


def _slips(a: str, b: str) -> float:
    """Return how many letters of a word were left out, added, mistaken or swapped with their neighbour to get another; infinite for many."""
    if abs(len(a) - len(b)) > max(len(a), len(b)) // 4 + 1:
        return float("inf")
    before: list[float] = []
    row: list[float] = [float(j) for j in range(len(b) + 1)]
    for i, x in enumerate(a, start=1):
        two_before, before, row = before, row, [float(i)]
        for j, y in enumerate(b, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2]:
                cost = min(cost, two_before[j - 2] + (_SWAP if x != y else 0))
            row.append(cost)
    return row[-1]


def fold(word: str) -> str:
    """Return a word without case and punctuation."""
    return "".join(c for c in word.lower() if c.isalnum())


def shortened(text: str) -> str:
    """Return a text that a message can hold."""
    return text if len(text) <= 60 else f"{text[:59]}…"


def fields_text(names: Sequence[str]) -> str:
    """Return what fields there are, as a help where none of them is near."""
    more = f" and {len(names) - 8:,} more" if len(names) > 8 else ""
    return f"the fields are {', '.join(names[:8])}{more}"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: `1 row`, `2,000 rows`."""
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


def one_of(words: Iterable[str]) -> str:
    """Return words as a readable list of choices: `a, b or c`."""
    return listed([str(word) for word in words], "or")


def with_article(kind: str) -> str:
    """Return a kind as a noun in a sentence: an Int32, a UInt8."""
    return f"{'an' if kind[0] in 'AEIO' else 'a'} {kind}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str, *, keep: str = "") -> str:
    """Return the text without anything that a terminal obeys; `keep` may hold `\\n` and `\\t`."""
    if text.isprintable():
        return text
    return _UNSAFE.sub(lambda match: match[0] if match[0] in keep else escape(match[0]), text)


def json_printable(text: str) -> str:
    """Return equal JSON in which such characters are escaped; they can occur in strings only."""
    import json  # for start-up time: people read text

    return _UNSAFE.sub(lambda match: match[0] if match[0] == "\n" else json.dumps(match[0])[1:-1], text)


def pictured(text: str) -> str:
    """Return the same with one character for each, so that columns stay: for an excerpt above its underline."""
    if text.isprintable():
        return text
    return _UNSAFE.sub(lambda match: _picture(match[0]), text)


def escape(character: str) -> str:
    """`\\n`, `\x1b`, `\u202e`."""
    number = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if number > 0xFFFF:
        return f"\\U{number:08x}"
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def _picture(character: str) -> str:
    """Return the visible form of an unsafe character: a tab stays, another control gets its picture, the rest U+FFFD."""
    if character == "\t":
        return character
    return chr(0x2400 + ord(character)) if ord(character) < 32 else "\ufffd"
