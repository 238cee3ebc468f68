"""Did you mean …? Ranks the words an author may have meant.

Floor: 0 (source).
Source: similarity is that of the standard library's difflib, after folding case and punctuation.
"""

from collections.abc import Iterable, Mapping


def closest(word: str, candidates: Iterable[str], synonyms: Mapping[str, str] | None = None) -> str | None:
    """The candidate most like a word, or None where nothing is near enough.

    `synonyms` maps folded foreign words, such as `bigint`, to the word of this language.
    """
    folded = fold(word)
    if synonyms and folded in synonyms:
        return synonyms[folded]
    by_folded: dict[str, str] = {}
    for candidate in candidates:
        by_folded.setdefault(fold(candidate), candidate)
    if folded in by_folded:
        return by_folded[folded]
    # Imported here for start-up time: only a run with a mistake in it needs difflib.
    from difflib import get_close_matches

    near = get_close_matches(folded, by_folded, n=1, cutoff=0.6)
    return by_folded[near[0]] if near else None


def fold(word: str) -> str:
    """A word without case and punctuation."""
    return "".join(c for c in word.lower() if c.isalnum())


def one_of(words: Iterable[str]) -> str:
    """Words as a readable list of choices."""
    items = [str(word) for word in words]
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} or {items[-1]}"
