"""The words of an SQL text.

Layer: engines.
Units: places are zero-based and half-open, in code points of the text.
Errors: raises MalformedError for a quote without end.
Source: the tokenizer of sqlglot for Spark, which knows its quotes, escapes and comments.
"""

import re

from schemac.source.span import Span
from schemac.syntax.words import MalformedError, Word

_PIECE = re.compile(r"\w+|\S")


def split_words(text: str) -> list[Word]:
    """All words, without comments. Raises MalformedError."""
    # Imported here because sqlglot is an extra that may not be there.
    from sqlglot.dialects import Spark
    from sqlglot.errors import SqlglotError

    try:
        tokens = Spark().tokenize(text)
    except SqlglotError:
        start = _unclosed(text)
        raise MalformedError(f"{text[start]} is opened and never closed", Span(start, start + 1)) from None
    words: list[Word] = []
    for token in tokens:
        start, end = token.start, token.end + 1
        is_text = token.token_type.name in ("STRING", "RAW_STRING")
        if is_text or text[start] == "`":
            words.append(Word(token.text, is_quoted=True, is_text=is_text, start=start, end=end))
            continue
        # Some words come together, such as PRIMARY KEY or <>.
        words += [
            Word(m[0], is_quoted=False, is_text=False, start=m.start(), end=m.end())
            for m in _PIECE.finditer(text, start, end)
        ]
    return words


def _unclosed(text: str) -> int:
    """Where the quote begins that has no end."""
    whole = re.compile(
        r"--[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|[^'\"`]", re.DOTALL
    )
    at = 0
    while at < len(text) and (match := whole.match(text, at)):
        at = match.end()
    return min(at, len(text) - 1)
