"""Phrases in messages: suggestions, lists of words, and text of others made safe for a terminal.

Layer: text.
Shape: characters that a terminal would obey are written as escapes: control characters, lone surrogates, and format
characters that turn, hide or join their neighbours, such as U+202E. The two joiners (U+200C, U+200D) stay, because
scripts and emoji need them.
Source: typing errors are counted by Damerau and Levenshtein's distance (optimal string alignment), after folding case
and punctuation; other similar words are found by the standard library's difflib.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache


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
    return _UNSAFE.sub(lambda match: match[0] if match[0] == "\n" else _json_escape(match[0]), text)


def _json_escape(character: str) -> str:
    """`\\u202e`; beyond the first plane two of them."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


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
