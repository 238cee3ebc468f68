"""Tells whether Spark can read dates and times with a pattern, without starting it.

Layer: pipeline.
Shape: a pattern in, a sentence about its first mistake out, or None.
Source: Spark's DateTimeFormatterHelper and java.time's DateTimeFormatterBuilder: letters, how often they may be in a
        row, and which of them only serve to write.
"""

from itertools import groupby

LONGEST = {
    "G": 4, "y": 6, "M": 4, "L": 4, "d": 2, "D": 3, "a": 1, "h": 2, "H": 2, "k": 2, "K": 2, "m": 2, "s": 2, "S": 9,
    "z": 4, "X": 5, "x": 5, "Z": 5,
}  # fmt: skip
EXACT = {"V": (2,), "O": (1, 4)}
ONLY_WRITTEN = "EFQq"
WEEK_BASED = "YWwu"
ZONES = "VzOXxZ"
RESERVED = "#{}"
LOOK_ALIKES = {"Y": "`yyyy` is the year", "u": "`yyyy` is the year", "e": "leave the day of the week out"}


def pattern_mistake(pattern: str) -> str | None:
    """Say what is wrong with a pattern.

    >>> pattern_mistake("dd.MM.yyyy HH:mm")
    >>> pattern_mistake("YYYY-MM-dd")
    "the letter 'Y' cannot be read: `yyyy` is the year"
    """
    if not pattern.strip():
        return "it is empty"
    plain = _without_quoted(pattern)
    if plain is None:
        return "a quote is not closed"
    depth = 0
    for letter, group in groupby(plain):
        count = len(list(group))
        depth += count * ((letter == "[") - (letter == "]"))
        if depth < 0:
            return "a `]` closes nothing"
        mistake = _mistake_of(letter, count)
        if mistake is not None:
            return mistake
    if not any(letter in LONGEST for letter in plain):
        return "it has no letter for a part of a date or a time"
    return None


def has_zone(pattern: str) -> bool:
    """Whether a pattern reads a zone.

    >>> has_zone("yyyy-MM-dd'T'HH:mm:ssXXX"), has_zone("dd.MM.yyyy 'Zeit' HH:mm")
    (True, False)
    """
    return any(letter in ZONES for letter in _without_quoted(pattern) or "")


def has_optional_zone(pattern: str) -> bool:
    """Whether a pattern reads a zone only where there is one.

    >>> has_optional_zone("HH:mm[XXX]"), has_optional_zone("HH:mm[:ss]XXX")
    (True, False)
    """
    depth = 0
    for letter in _without_quoted(pattern) or "":
        depth += (letter == "[") - (letter == "]")
        if depth and letter in ZONES:
            return True
    return False


def _without_quoted(pattern: str) -> str | None:
    """Strip the literal texts off a pattern; None if a quote is open at the end."""
    parts = pattern.split("'")
    return "\0".join(parts[::2]) if len(parts) % 2 else None


def _mistake_of(letter: str, count: int) -> str | None:
    if letter in RESERVED:
        return f"'{letter}' is reserved: put it in single quotes"
    if not (letter.isascii() and letter.isalpha()):
        return None
    if letter in ONLY_WRITTEN:
        return f"the letter '{letter}' can only be written, not read"
    if letter in WEEK_BASED or letter not in {*LONGEST, *EXACT}:
        known = LOOK_ALIKES.get(letter, "put literal text in single quotes")
        return f"the letter '{letter}' cannot be read: {known}"
    if letter in EXACT:
        return (
            None
            if count in EXACT[letter]
            else f"'{letter * count}' is not one of the lengths that '{letter}' has"
        )
    return (
        None
        if count <= LONGEST[letter]
        else f"'{letter * count}' is longer than '{letter * LONGEST[letter]}'"
    )
