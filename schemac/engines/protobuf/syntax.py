"""The text of `.proto` files.

Layer: engines.
Shape: messages with their fields and the comments above them; services, options and extensions are passed over.
Errors: raises MalformedError.
Source: the language specifications of proto2, proto3 and the editions.
"""

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"\s+|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<word>[A-Za-z_.][A-Za-z0-9_.]*|[0-9][A-Za-z0-9_.+-]*)|(?P<sign>[-+{}()<>\[\]=;,:/])",
    re.DOTALL,
)
_LABELS = ("optional", "required", "repeated")


class MalformedError(Exception):
    """Something that is no `.proto`, and why."""


@dataclass(frozen=True)
class Field:
    """A field of a message; the types of a map's keys and values are divided by a comma."""

    name: str
    type: str
    number: int
    label: str = ""
    """Empty where there is none; `map` and `oneof` count as labels."""
    comments: tuple[str, ...] = ()
    options: str = ""


@dataclass
class Message:
    """A message, or an enum, whose `values` are its names."""

    name: str
    comments: tuple[str, ...] = ()
    fields: list[Field] = field(default_factory=list)
    inner: "dict[str, Message]" = field(default_factory=dict)
    values: list[str] = field(default_factory=list)
    reserved: list[int] = field(default_factory=list)
    outer: "Message | None" = None
    is_enum: bool = False


@dataclass
class File:
    """A file: its version of the language, its package, and what is declared in it."""

    root: Message
    syntax: str = "proto2"
    package: str = ""


def parse(text: str) -> File:
    """Return what a file declares."""
    return _Parser(text).file()


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, tuple[str, ...]]] = []
        comments: list[str] = []
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise MalformedError(f"'{text[at]}' is not expected in line {text.count(chr(10), 0, at) + 1}")
            at = found.end()
            if found["comment"]:
                comments += _lines(found["comment"])
            elif found.lastgroup:
                self._tokens.append((found[0], tuple(comments)))
                comments = []
        self._at = 0

    def file(self) -> File:
        """Read the whole file."""
        found = File(Message(""))
        while self._at < len(self._tokens):
            word, comments = self._tokens[self._at]
            if word in ("syntax", "edition"):
                self._skip(2)
                value = self._next().strip("\"'")
                found.syntax = value if word == "syntax" else "editions"
                self._expect(";")
            elif word == "package":
                self._skip(1)
                found.package = self._next()
                self._expect(";")
            else:
                self._member(found.root, word, comments)
        return found

    def _member(self, message: Message, word: str, comments: tuple[str, ...]) -> None:
        """Read what stands in a message, or at the top of a file."""
        if word == ";":
            self._skip(1)
        elif word in ("message", "enum") and self._peek(2) == "{":
            self._skip(1)
            inner = Message(self._next(), comments, outer=message, is_enum=word == "enum")
            message.inner[inner.name] = inner
            self._expect("{")
            self._body(inner)
        elif word == "oneof" and self._peek(2) == "{":
            self._skip(3)
            while self._peek() != "}":
                self._oneof_member(message)
            self._skip(1)
        elif word in ("reserved", "extensions") and self._peek(1) != "=":
            self._numbers(message)
        elif word in ("option", "import") or word in ("service", "extend", "rpc") or message.outer is None:
            self._statement()
        else:
            message.fields.append(self._field(comments))

    def _body(self, message: Message) -> None:
        while self._peek() != "}":
            word, comments = self._tokens[self._at]
            if message.is_enum and word not in ("option", "reserved", ";"):
                message.values.append(word)
                self._statement()
            else:
                self._member(message, word, comments)
        self._skip(1)

    def _oneof_member(self, message: Message) -> None:
        word, comments = self._tokens[self._at]
        if word == "option":
            self._statement()
        elif word == ";":
            self._skip(1)
        else:
            found = self._field(comments)
            message.fields.append(
                Field(found.name, found.type, found.number, "oneof", comments, found.options)
            )

    def _field(self, comments: tuple[str, ...]) -> Field:
        label = self._next() if self._peek() in _LABELS and self._peek(2) != "=" else ""
        type_ = self._type()
        if type_ == "map" and self._peek() == "<":
            self._skip(1)
            key = self._next()
            self._expect(",")
            type_, label = f"{key},{self._type()}", "map"
            self._expect(">")
        name = self._next()
        self._expect("=")
        number = self._next()
        if not number.isdecimal():
            raise MalformedError(f"the field {name} has no number")
        options = ""
        if self._peek() == "[":
            start = self._at
            self._until("]")
            options = "".join(token for token, _ in self._tokens[start + 1 : self._at - 1])
        if self._peek() == "{":
            raise MalformedError(f"{name} is a group, which has no form in a table")
        self._expect(";")
        return Field(name, type_, int(number), label, comments, options)

    def _type(self) -> str:
        """Read the name of a type, whose parts may stand on several lines."""
        name = self._next()
        while name.endswith(".") or self._peek().startswith("."):
            name += self._next()
        return name

    def _numbers(self, message: Message) -> None:
        """Read the numbers that no field may have."""
        while self._peek() != ";":
            word = self._next()
            if word.isdecimal():
                message.reserved.append(int(word))
            elif word == "[":
                self._at -= 1
                self._until("]")
        self._skip(1)

    def _statement(self) -> None:
        """Pass over a statement, to its semicolon or its closing brace."""
        depth = 0
        while True:
            word = self._next()
            depth += (word in "{[(") - (word in "}])") if len(word) == 1 else 0
            if depth < 0:
                raise MalformedError("a brace is closed that was not opened")
            if depth == 0 and word in (";", "}"):
                return

    def _until(self, end: str) -> None:
        depth = 0
        while True:
            word = self._next()
            depth += (word in "{[") - (word in "}]") if len(word) == 1 else 0
            if word == end and depth == 0:
                return

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        if at >= len(self._tokens):
            raise MalformedError("it ends in the middle of a statement")
        return self._tokens[at][0]

    def _next(self) -> str:
        word = self._peek()
        self._at += 1
        return word

    def _skip(self, count: int) -> None:
        self._at += count

    def _expect(self, sign: str) -> None:
        word = self._next()
        if word != sign:
            raise MalformedError(f"'{sign}' is expected in the place of '{word}'")


def _lines(comment: str) -> list[str]:
    if comment.startswith("//"):
        return [comment[2:].strip()]
    return [line.strip().lstrip("*").strip() for line in comment[2:-2].strip().splitlines()]
