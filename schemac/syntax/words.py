"""The words of a text that is not YAML: a type as SQL or Arrow writes it, a statement.

Layer: syntax.
Units: places are zero-based and half-open, in code points of the text.
Errors: raises MalformedError.
"""

import re
from typing import NamedTuple

from schemac.source.span import Span


class Word(NamedTuple):
    """A name, a number, a sign, or a text with its escapes read."""

    text: str
    is_quoted: bool
    is_text: bool
    start: int
    end: int


class MalformedError(Exception):
    """A word that the grammar does not allow at its place."""

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.span = span


_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>'[^']*'|\"[^\"]*\"|`[^`]*`)|(?P<zone>(?<=tz=)[^\],)]+)|(?P<plain>-?[0-9]+|\w+(?:[./]\w+)*|\S))"
)


def type_words(text: str) -> list[Word]:
    """Return the words of a type's text, in any notation."""
    words: list[Word] = []
    for match in _TOKEN.finditer(text):
        quoted = match["quoted"]
        word = quoted[1:-1] if quoted is not None else match["zone"] or match["plain"]
        start, end = match.span(match.lastgroup or 0)
        words.append(Word(word, quoted is not None, quoted is not None and quoted[0] != "`", start, end))
    return words


class Cursor:
    """Reads words from left to right."""

    def __init__(self, words: list[Word], text: str) -> None:
        self._words = words
        self._text = text
        self._at = 0

    def _ends(self, ahead: int = 0) -> bool:
        return self._at + ahead >= len(self._words)

    def _is(self, word: str, ahead: int = 0) -> bool:
        """Whether a word comes next; names in quotes are no words."""
        return self._word(ahead) == word

    def _word(self, ahead: int = 0) -> str:
        if self._ends(ahead):
            return ""
        word = self._words[self._at + ahead]
        return "" if word.is_quoted else word.text.upper()

    def _is_mark(self) -> bool:
        text = self._word()
        return bool(text) and not any(c.isalnum() or c == "_" for c in text)

    def _is_string(self, ahead: int = 0) -> bool:
        return not self._ends(ahead) and self._words[self._at + ahead].is_text

    def _next(self) -> Word:
        word = self._words[self._at]
        self._at += 1
        return word

    def _takes(self, *words: str) -> bool:
        """Whether these words come next; then they are read."""
        is_next = all(self._is(word, ahead) for ahead, word in enumerate(words))
        self._at += len(words) if is_next else 0
        return is_next

    def _wants(self, word: str) -> None:
        if not self._takes(word):
            raise self._wrong(f"{word} is expected here")

    def _name(self) -> str:
        if self._ends() or self._is_mark() or self._is_string():
            raise self._wrong("a name is expected here")
        return self._next().text

    def _string(self) -> str:
        """Return a text; Spark takes several in a row for one."""
        if not self._is_string():
            raise self._wrong("a text in quotes is expected here")
        text = self._next().text
        while self._is_string():
            text += self._next().text
        return text

    def _value(self) -> str:
        """Return a text, a name, a number or a truth, as text."""
        sign = "-" if self._takes("-") else ""
        if self._ends() or self._is_mark():
            raise self._wrong("a value is expected here")
        return sign + (self._string() if self._is_string() else self._next().text)

    def _skip_to(self, *ends: str) -> None:
        """Go to the next of these words that is outside all brackets."""
        depth = 0
        while not self._ends():
            if depth == 0 and any(self._is(end) for end in ends):
                return
            depth += self._is("(") - self._is(")")
            self._at += 1

    def _excerpt(self, start: int) -> str:
        """Return the author's words from one on, in one line."""
        first, last = self._words[start], self._words[self._at - 1]
        return " ".join(self._text[first.start : last.end].split())

    def _wrong(self, reason: str) -> MalformedError:
        if self._ends():
            return MalformedError(f"{reason}, and the text ends", Span(len(self._text), len(self._text)))
        word = self._words[self._at]
        span = Span(word.start, word.end)
        return MalformedError(f"{reason}, not {self._text[span.start : span.end]}", span)
