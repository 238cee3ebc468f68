"""The words of an SQL text.

Layer: engines.
Units: places are zero-based and half-open, in code points of the text.
Errors: raises MalformedError for a quote without end.
Source: the tokenizer of sqlglot for Spark, which knows its quotes, escapes and comments.
"""

import re

from schemac.engines.sql_parsing import SqlParser
from schemac.syntax.words import Word

_TOKEN = re.compile(r"\w+|\S")


def split_words(text: str) -> list[Word]:
    """All words, without comments. Raises MalformedError."""
    words: list[Word] = []
    for token in SqlParser("spark").tokens(text):
        start, end = token.start, token.end + 1
        is_text = token.token_type.name in ("STRING", "RAW_STRING")
        if is_text or text[start] == "`":
            words.append(Word(token.text, is_quoted=True, is_text=is_text, start=start, end=end))
            continue
        # Some words come together, such as PRIMARY KEY or <>.
        words += [
            Word(m[0], is_quoted=False, is_text=False, start=m.start(), end=m.end())
            for m in _TOKEN.finditer(text, start, end)
        ]
    return words
