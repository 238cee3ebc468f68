"""Types and columns in the notation of other systems: `ARRAY<INT NOT NULL>`, `timestamp[ns]`, `Int64?`.

Layer: text.
Shape: a tree of heads and arguments without a meaning. Every notation is read as far as possible; a statement of one
dialect has a strict reader of its own (`engines/spark/ddl_statement.py`).
Units: offsets are zero-based and half-open, in code points of the text.
Errors: raises MalformedError.
Source: SQL:2016, 6.1; the type texts of pyarrow, Flink, Iceberg, protobuf, Python, Rust and ClickHouse.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from schemac.text.source.diagnostics import Span


class TypeWord(NamedTuple):
    """A name, a number, a sign, or a text with its escapes read."""

    text: str
    is_quoted: bool
    is_text: bool
    start: int
    end: int


class MalformedTypeError(Exception):
    """A word that the grammar does not allow at its place."""

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.span = span


_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>'[^']*'|\"[^\"]*\"|`[^`]*`)|(?P<zone>(?<=tz=)[^\],)]+)|(?P<plain>-?[0-9]+|\w+(?:[./]\w+)*|\S))"
)


def type_words(text: str) -> list[TypeWord]:
    """Return the words of a type's text, in any notation."""
    words: list[TypeWord] = []
    for match in _TOKEN.finditer(text):
        quoted = match["quoted"]
        word = quoted[1:-1] if quoted is not None else match["zone"] or match["plain"]
        start, end = match.span(match.lastgroup or 0)
        words.append(TypeWord(word, quoted is not None, quoted is not None and quoted[0] != "`", start, end))
    return words


_DEEPEST = 100
"""Levels of nested types; the manifest language stops far above it."""
_MEMBERS = frozenset({"struct", "row", "record", "tuple", "nested"})
_LENGTHS = frozenset({"fixed", "fixed_size_binary", "fixed_size_list", "binary", "bytes"})
"""Heads after which a number in square brackets is their own."""
_PREFIXES = ("OPTIONAL", "NULLABLE", "REQUIRED", "REPEATED", "UNSIGNED", "NATIONAL")
_SUFFIXES = ("PRECISION", "VARYING", "UNSIGNED", "SIGNED", "ZEROFILL")
_UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_CHARACTERISTICS = (("NOT", "ENFORCED"), ("ENFORCED",), ("RELY",), ("NORELY",))
_OPTIONS = (
    "CONSTRAINT", "NOT", "NULL", "COMMENT", "DEFAULT", "GENERATED", "PRIMARY", "UNIQUE", "CHECK", "REFERENCES",
)  # fmt: skip


class TypeText(NamedTuple):
    """A head with its arguments; a number, a text or a unit among them is a head as well."""

    head: str
    """As it is written, several words with one blank between them; `[]` for a list that is only marked so."""
    arguments: "tuple[ColumnText, ...]" = ()
    bracket: str = ""
    """What opens the arguments: `<`, `(` or `[`; `]` where the list's bracket is before its item."""
    is_nullable: bool | None = None
    """None if the text does not say."""
    is_quoted: bool = False

    @property
    def types(self) -> "tuple[TypeText, ...]":
        """The arguments without their names."""
        return tuple(argument.type for argument in self.arguments)


class ColumnText(NamedTuple):
    """A column, a member of a struct, or an argument of a type, which may have no name."""

    name: str
    type: TypeText
    is_required: bool = False
    comment: str | None = None
    is_key: bool = False
    """Whether it is declared as the primary key by itself."""
    others: tuple[str, ...] = ()
    """Its other options, as they are written."""


def read_type(text: str) -> TypeText | None:
    """Return the type in a text, in any notation; None if it is not a type."""
    reader = TypeReader(type_words(text), text)
    try:
        type_text = reader.type()
    except MalformedTypeError:
        return None
    return type_text if reader.ends() else None


class TypeReader:
    """Reads types in any notation; the parser of a dialect overrides `_bare_type` and `_column_name`."""

    def __init__(self, words: list[TypeWord], text: str) -> None:
        self._words = words
        self._text = text
        self._at = 0
        self._depth = 0

    def columns(self) -> list[ColumnText]:
        """Return all columns between commas, to the end. Raises MalformedTypeError."""
        column_texts = [self.column()]
        while self._takes(","):
            column_texts.append(self.column())
        if not self.ends():
            raise self._wrong("the end is expected here")
        return column_texts

    def column(self) -> ColumnText:
        """Return a name, a type and options."""
        name = self._column_name()
        self._takes(":")
        column = ColumnText(name, self.type())
        while self._word() in _OPTIONS:
            column = self._option(column)
        return column

    def _column_name(self) -> str:
        """Return the name of a column, after Iceberg's number if there is one."""
        if self._is(":", 1) and self._word().isdigit():
            self._at += 2  # Iceberg's `1: name: required int`
        return self._next().text if self._is_string() else self._name()

    def _option(self, column: ColumnText) -> ColumnText:
        """Return a column with the option that comes next; one that means nothing here is added to `others` as written."""
        start = self._at
        if self._takes("NOT"):
            self._wants("NULL")
            return column._replace(is_required=True)
        if self._takes("NULL"):
            return column
        if self._takes("COMMENT"):
            return column._replace(comment=self._string())
        if self._takes("CONSTRAINT"):
            self._name()
        is_key = self._takes("PRIMARY", "KEY")
        if not is_key:
            self._at += 1
            self._skip_to(
                ",", ")", ">", ";", "NOT", "COMMENT", "DEFAULT", "GENERATED", "ENFORCED", "CONSTRAINT"
            )
        self.characteristics()
        if is_key:
            return column._replace(is_key=True)
        return column._replace(others=(*column.others, self._excerpt(start)))

    def characteristics(self) -> None:
        """Read what follows a constraint: whether it is enforced, and whether the optimizer relies on it."""
        while any(self._takes(*words) for words in _CHARACTERISTICS):
            pass

    def type(self) -> TypeText:
        """Return a type with everything that belongs to it."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._wrong(f"types are nested deeper than {_DEEPEST} levels")
        type_text = self._bare_type()
        self._depth -= 1
        return type_text

    def _words_after(self, word: str) -> str:
        """Return a head with the further words that it may have: zones, the units of an interval, a collation."""
        lower = word.lower()
        if lower == "interval" and self._word() in _UNITS:
            text = f"interval {self._next().text.lower()}"
            return f"{text} to {self._name().lower()}" if self._takes("TO") else text
        if lower in ("timestamp", "time") and (self._is("WITH") or self._is("WITHOUT")):
            return self._zone(word)
        if lower == "string" and self._takes("COLLATE"):
            return f"string collate {self._name()}"
        return word

    def _zone(self, word: str) -> str:
        """Return a head with `with time zone` or the like, which comes next."""
        start = self._at
        self._at += 1
        self._takes("LOCAL")
        self._wants("TIME")
        self._wants("ZONE")
        return f"{word} {self._excerpt(start).lower()}"

    def _bare_type(self) -> TypeText:
        """Return a type with its prefixes and all that follows its head. Raises MalformedTypeError."""
        if self._word() in _PREFIXES and self._word(1)[:1].isalpha():
            word = self._next().text.lower()
            inner = self.type()
            if word in ("unsigned", "national"):
                return inner._replace(head=f"{word} {inner.head}")
            if word == "repeated":
                return TypeText("repeated", (ColumnText("", inner),), "<")
            return inner._replace(is_nullable=word != "required")
        if self._takes("["):
            return self._suffixed(self._bracketed())
        if self.ends() or self._is_mark():
            raise self._wrong("a type is expected here")
        first = self._next()
        if first.is_quoted:
            return self._suffixed(TypeText(first.text, is_quoted=True))
        return self._suffixed(TypeText(self._words_after(first.text.rpartition(".")[2])))

    def _bracketed(self) -> TypeText:
        """`[T]`, `[T; 3]` and `[]T`."""
        if self._takes("]"):
            return TypeText("[]", (ColumnText("", self.type()),), "]")
        parts = [ColumnText("", self.type())]
        if self._takes(";"):
            parts.append(ColumnText("", TypeText(self._value())))
        self._wants("]")
        return TypeText("[]", tuple(parts), "]")

    def _suffixed(self, type_: TypeText) -> TypeText:
        """Return a type with the brackets, words and marks behind it."""
        while not self.ends():
            if self._word() in _SUFFIXES:
                type_ = type_._replace(head=f"{type_.head} {self._next().text.lower()}")
            elif self._takes("?") or self._takes("|", "NONE") or self._takes("|", "NULL") or self._is("NULL"):
                self._takes("NULL")
                type_ = type_._replace(is_nullable=True)
            elif self._takes("NOT", "NULL") or self._takes("!"):
                type_ = type_._replace(is_nullable=False)
            elif self._takes("ARRAY") or self._takes("MULTISET"):
                type_ = TypeText(self._words[self._at - 1].text, (ColumnText("", type_),), "<")
            elif self._is("[") and (
                # A length, or the brackets of a list.
                type_.arguments or self._is("]", 1) or (self._word(1).isdigit() and self._is("]", 2))
            ):
                type_ = self._with_length(type_)
            elif self._is("WITH") or self._is("WITHOUT"):
                type_ = type_._replace(head=self._zone(type_.head))
            elif not type_.arguments and any(self._is(mark) for mark in "<([") and not type_.is_quoted:
                type_ = self._with_arguments(type_)
            else:
                break
        return type_

    def _with_length(self, type_: TypeText) -> TypeText:
        """`T[]`, `T[3]`, or the length of what has one of its own."""
        self._wants("[")
        length = () if self._is("]") else (ColumnText("", TypeText(self._value())),)
        self._wants("]")
        has_length = type_.head.lower() in _LENGTHS or type_.head == "List"
        if has_length and length:
            return type_._replace(arguments=(*type_.arguments, *length), bracket=type_.bracket or "[")
        return TypeText("[]", (ColumnText("", type_), *length), "[")

    def _with_arguments(self, type_: TypeText) -> TypeText:
        """Return a type with the arguments in the brackets that come next."""
        opening = self._next().text
        closing = {"<": ">", "(": ")", "[": "]"}[opening]
        read = self.column if type_.head.lower() in _MEMBERS else self._argument
        return type_._replace(arguments=tuple([read() for _ in self._items(closing)]), bracket=opening)

    def _argument(self) -> ColumnText:
        """Return a type, or one behind its name: `item: int32`, `tz=UTC`."""
        name = ""
        if self._is(":", 1) or self._is("=", 1):
            name = self._next().text
            self._at += 1
        column_text = ColumnText(name, self.type())
        if self._takes("("):
            self._next()  # pyarrow's name of a map's part, as in `map<string, int32 ('values')>`
            self._wants(")")
        return column_text

    # The words, from left to right.

    def ends(self, ahead: int = 0) -> bool:
        """Whether the text has no word that many words ahead."""
        return self._at + ahead >= len(self._words)

    def _is(self, word: str, ahead: int = 0) -> bool:
        """Whether a word comes next; a quoted name is not a word."""
        return self._word(ahead) == word

    def _word(self, ahead: int = 0) -> str:
        """Return the next word, or one ahead, in capitals; empty at the end and for a quoted name."""
        if self.ends(ahead):
            return ""
        word = self._words[self._at + ahead]
        return "" if word.is_quoted else word.text.upper()

    def _is_mark(self) -> bool:
        """Whether a sign comes next, and no word."""
        text = self._word()
        return bool(text) and not any(c.isalnum() or c == "_" for c in text)

    def _is_string(self) -> bool:
        """Whether a text in quotes comes next."""
        return not self.ends() and self._words[self._at].is_text

    def _next(self) -> TypeWord:
        """Return the next word as it is written, and step over it; the caller knows that there is one."""
        word = self._words[self._at]
        self._at += 1
        return word

    def _takes(self, *words: str) -> bool:
        """Whether these words come next; then they are read."""
        is_next = all(self._is(word, ahead) for ahead, word in enumerate(words))
        self._at += len(words) if is_next else 0
        return is_next

    def _wants(self, word: str) -> None:
        """Step over a word, which has to come next. Raises MalformedError."""
        if not self._takes(word):
            raise self._wrong(f"{word} is expected here")

    def _name(self) -> str:
        """Return the next name as it is written, quoted or not. Raises MalformedError at a mark, a text or the end."""
        if self.ends() or self._is_mark() or self._is_string():
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
        if self.ends() or self._is_mark():
            raise self._wrong("a value is expected here")
        return sign + (self._string() if self._is_string() else self._next().text)

    def _items(self, closing: str) -> Iterator[None]:
        """Yield before each item of a list, which the caller then reads; commas and the closing bracket are stepped over."""
        while not self._takes(closing):
            yield
            if not self._is(closing):
                self._wants(",")

    def _skip_to(self, *ends: str) -> None:
        """Go to the next of these words that is outside all brackets."""
        depth = 0
        while not self.ends():
            if depth == 0 and any(self._is(end) for end in ends):
                return
            depth += self._is("(") - self._is(")")
            self._at += 1

    def _excerpt(self, start: int) -> str:
        """Return the author's words from one on, in one line."""
        first, last = self._words[start], self._words[self._at - 1]
        return " ".join(self._text[first.start : last.end].split())

    def _wrong(self, reason: str) -> MalformedTypeError:
        """Return the error for the next word or the end of the text, with its span."""
        if self.ends():
            return MalformedTypeError(f"{reason}, and the text ends", Span(len(self._text), len(self._text)))
        word = self._words[self._at]
        span = Span(word.start, word.end)
        return MalformedTypeError(f"{reason}, not {self._text[span.start : span.end]}", span)
