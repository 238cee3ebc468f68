"""Did you mean …? Ranks the words an author may have meant.

Layer: source.
Source: slips of the pen are counted as by Damerau and Levenshtein (optimal string alignment), after folding case
and punctuation; words that share much without being a slip apart are found by the standard library's difflib.
"""

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
    """How many letters were left out, added, mistaken or swapped with their neighbour."""
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


def shortened(text: str, length: int = 60) -> str:
    """Return a text that a message can hold."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def fields_text(names: Sequence[str], most: int = 8) -> str:
    """Return what fields there are, as a help where none of them is near."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"the fields are {', '.join(names[:most])}{more}"


def one_of(words: Iterable[str]) -> str:
    """Words as a readable list of choices."""
    items = [str(word) for word in words]
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} or {items[-1]}"


def with_article(kind: str) -> str:
    """Return a kind as a noun in a sentence: an Int32, a UInt8."""
    return f"{'an' if kind[0] in 'AEIO' else 'a'} {kind}"
