"""The text of `.proto` files.

Layer: engines.
Shape: messages with their fields, options and comments, by protoc's rules of which comment belongs to what; services are passed over.
Errors: raises MalformedError.
Source: the language specifications of proto2, proto3 and the editions.
Why by hand: proto-schema-parser 2.1 has no comments inside a statement (Google's own `descriptor.proto` has one), no `reserved name;`
of the editions and no hexadecimal numbers, and recovers from errors without saying so; protoc refuses a file whose import is missing.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from schemac.text.source.json_object import Json

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<word>[A-Za-z_.][A-Za-z0-9_.]*|[0-9](?:[eE][-+]|[A-Za-z0-9_.])*)|(?P<sign>[-+{}()<>\[\]=;,:/])",
    re.DOTALL,
)
_LABELS = ("optional", "required", "repeated")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_LINE_END = re.compile(r"[^\S\n]*(?:\n|$)")
_INTEGER = re.compile(r"0[xX][0-9A-Fa-f]+|[0-9]{1,40}")
_NUMBER = re.compile(r"\.?[0-9]")
_ESCAPE = re.compile(
    r"\\(?:[xX]([0-9A-Fa-f]{1,2})|([0-7]{1,3})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL
)
_CONTROLS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CLOSING = {"{": "}", "<": ">"}


class MalformedProtoError(Exception):
    """A text that is not a `.proto` file; the message says why."""


class ProtoWord(str):
    """A value of an option that is a name, as that of an enum, and no text."""

    __slots__ = ()


@dataclass(frozen=True)
class ProtoOption:
    """An option of a field or message."""

    name: str
    """As it is written, without blanks: `deprecated`, `(buf.validate.field).int32.gte`."""
    value: Any
    """A text, a Word, a boolean, an integer or float; for a message a mapping, whose lists are repeated fields."""
    text: str
    """The name and the value as they are written, without blanks."""


@dataclass(frozen=True)
class ProtoField:
    """A field of a message; the types of a map's keys and values are divided by a comma."""

    name: str
    type: str
    number: int
    label: str = ""
    """Empty if there is none; `map` and `oneof` count as labels."""
    comments: tuple[str, ...] = ()
    options: tuple[ProtoOption, ...] = ()
    oneof: str = ""
    """The name of the oneof that it is in."""
    is_group: bool = False
    """Whether its message is written between two marks, as proto2's groups are."""


@dataclass
class ProtoMessage:
    """A message, or an enum, whose `values` are its names with their numbers."""

    name: str
    comments: tuple[str, ...] = ()
    fields: list[ProtoField] = field(default_factory=list)
    inner: "dict[str, ProtoMessage]" = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)
    reserved: list[int] = field(default_factory=list)
    options: list[ProtoOption] = field(default_factory=list)
    extensions: list[tuple[str, ProtoField]] = field(default_factory=list)
    """Fields that it gives to other messages, with the names of those."""
    outer: "ProtoMessage | None" = None
    is_enum: bool = False

    def all(self) -> "Iterator[ProtoMessage]":
        """Yield the message, and all messages and enums that are declared in it."""
        yield self
        for inner in self.inner.values():
            yield from inner.all()


@dataclass
class ProtoFile:
    """A file: its version of the language, its package, and what is declared in it."""

    root: ProtoMessage
    syntax: str = "proto2"
    """`proto2`, `proto3` or `editions`."""
    package: str = ""


def parse(text: str) -> ProtoFile:
    """Return the declarations of a `.proto` file. Raises MalformedProtoError."""
    try:
        return _Parser(text).file()
    except RecursionError:
        raise MalformedProtoError("it is nested too deep") from None


class _Tokens:
    """Words and signs, with the comments that belong to them."""

    def __init__(self, text: str) -> None:
        self.texts: list[str] = []
        self.leading: list[tuple[str, ...]] = []
        """Comments that end right above a token."""
        self.trailing: dict[int, list[str]] = {}
        """Comments that begin right behind a token."""
        text = text.removeprefix("\ufeff")
        at = 0
        above: list[str] = []
        is_same_line = can_trail = False
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                message = f"'{text[at]}' is not expected in line {text.count(chr(10), 0, at) + 1}"
                raise MalformedProtoError(message)
            at = match.end()
            if match["space"]:
                is_same_line = is_same_line and "\n" not in match[0]
                if _BLANK_LINE.search(match[0]):
                    self._detach(above if can_trail else [])
                    above, can_trail = [], False
            elif match["comment"]:
                ends_line = match[0].startswith("//") or _LINE_END.match(text, at)
                if is_same_line and ends_line:
                    self._detach(_lines(match[0]))
                    can_trail = False
                else:
                    above += _lines(match[0])
            else:
                if match[0] in _CLOSING.values():
                    self._detach(above if can_trail else [])
                    above = []
                self.texts.append(match[0])
                self.leading.append(tuple(above))
                above, is_same_line, can_trail = [], True, True

    def _detach(self, comments: list[str]) -> None:
        """Attach comments to the last token."""
        if comments:
            self.trailing.setdefault(len(self.texts) - 1, []).extend(comments)


class _Parser:
    """Reads the declarations of one file, word by word."""

    def __init__(self, text: str) -> None:
        self._tokens = _Tokens(text)
        self._at = 0

    def file(self) -> ProtoFile:
        """Read the whole file."""
        file = ProtoFile(ProtoMessage(""))
        while self._at < len(self._tokens.texts):
            word = self._peek()
            if word in ("syntax", "edition"):
                self._at += 2
                value = self._next().strip("\"'")
                file.syntax = value if word == "syntax" else "editions"
                self._expect(";")
            elif word == "package":
                self._at += 1
                file.package = self._next()
                self._expect(";")
            else:
                self._member(file.root)
        return file

    def _member(self, message: ProtoMessage) -> None:
        """Read one statement of a message, or of the top of a file."""
        if self._peek() in ("export", "local") and self._peek(1) in ("message", "enum"):
            self._at += 1
        word, comments = self._peek(), self._tokens.leading[self._at]
        if word == ";":
            self._at += 1
        elif word in ("message", "enum") and self._peek(2) == "{":
            self._at += 1
            self._declared(message, self._next(), comments, is_enum=word == "enum")
        elif word == "oneof" and self._peek(2) == "{":
            name = self._peek(1)
            self._at += 3
            for _ in self._statements():
                if self._peek() == "option":
                    message.options.append(self._option_statement())
                else:
                    message.fields.append(replace(self._field(message), label="oneof", oneof=name))
        elif word == "extend" and self._peek(1) != "=":
            self._extension(message)
        elif word in ("reserved", "extensions") and self._peek(1) != "=":
            self._numbers(message)
        elif word == "option":
            message.options.append(self._option_statement())
        elif word in ("import", "service") or message.outer is None:
            self._pass_over(";", "}")
        else:
            message.fields.append(self._field(message))

    def _declared(
        self, outer: ProtoMessage, name: str, comments: tuple[str, ...], *, is_enum: bool
    ) -> ProtoMessage:
        """Read the body of a message or enum."""
        inner = ProtoMessage(name, comments, outer=outer, is_enum=is_enum)
        outer.inner[name] = inner
        inner.comments += self._expect("{")
        for _ in self._statements():
            if is_enum and self._peek() not in ("option", "reserved"):
                value = self._next()
                self._expect("=")
                is_negative = self._peek() == "-"
                self._at += 1 if is_negative else 0
                number = self._integer(value)
                inner.values[value] = -number if is_negative else number
                self._pass_over(";", "}")
            else:
                self._member(inner)
        return inner

    def _statements(self) -> Iterator[None]:
        """Yield before each statement of a block, which the caller then reads; empty ones and the closing brace are passed over."""
        while self._peek() != "}":
            if self._peek() == ";":
                self._at += 1
            else:
                yield
        self._at += 1

    def _extension(self, message: ProtoMessage) -> None:
        """Read an `extend` block, and add its fields to the message with the type that they extend."""
        self._at += 1
        target = self._type()
        self._expect("{")
        for _ in self._statements():
            message.extensions.append((target, self._field(message)))

    def _field(self, message: ProtoMessage) -> ProtoField:
        """Read a field to its semicolon, and of a group its body."""
        comments = self._tokens.leading[self._at]
        label = self._next() if self._peek() in _LABELS and self._peek(2) != "=" else ""
        type_ = self._type()
        if type_ == "map" and self._peek() == "<":
            self._at += 1
            key = self._next()
            self._expect(",")
            type_, label = f"{key},{self._type()}", "map"
            self._expect(">")
        name = self._next()
        self._expect("=")
        number = self._integer(name)
        options = tuple(self._options()) if self._peek() == "[" else ()
        if type_ == "group" and self._peek() == "{":
            self._declared(message, name, comments, is_enum=False)
            return ProtoField(name.lower(), name, number, label, comments, options, is_group=True)
        comments += self._expect(";")
        return ProtoField(name, type_, number, label, comments, options)

    def _integer(self, name: str) -> int:
        """Read a decimal, octal or hexadecimal number. Raises MalformedError with the field's name."""
        word = self._next()
        if _INTEGER.fullmatch(word):
            with suppress(ValueError):
                return _whole(word)
        raise MalformedProtoError(f"the field {name} has no number")

    def _type(self) -> str:
        """Read the name of a type, whose parts may be on several lines."""
        name = self._next()
        while name.endswith(".") or self._peek().startswith("."):
            name += self._next()
        return name

    def _numbers(self, message: ProtoMessage) -> None:
        """Read the numbers that no field may have."""
        while self._peek() != ";":
            word = self._next()
            if _INTEGER.fullmatch(word):
                self._at -= 1
                message.reserved.append(self._integer(message.name))
            elif word == "[":
                self._at -= 1
                self._pass_over("]")
        self._at += 1

    def _option_statement(self) -> ProtoOption:
        """Read `option name = value;`."""
        self._at += 1
        option = self._option()
        self._expect(";")
        return option

    def _options(self) -> Iterator[ProtoOption]:
        """Yield the options in brackets."""
        self._expect("[")
        while True:
            yield self._option()
            if self._next() == "]":
                return
            self._at -= 1
            self._expect(",")

    def _option(self) -> ProtoOption:
        """Read the name and value of an option, with its text without spaces."""
        start = self._at
        while self._peek() != "=":
            self._at += 1
            if self._peek() in (";", "]", "}"):
                self._expect("=")
        name = "".join(self._tokens.texts[start : self._at])
        self._at += 1
        value = self._value()
        return ProtoOption(name, value, "".join(self._tokens.texts[start : self._at]))

    def _value(self) -> Any:
        """Read the value of an option, or of a field in the text format."""
        word = self._next()
        if word in _CLOSING:
            return self._message_value(_CLOSING[word])
        if word == "[":
            items = []
            while self._peek() != "]":
                items.append(self._value())
                if self._peek() == ",":
                    self._at += 1
            self._at += 1
            return items
        if word[0] in "\"'":
            text = _unescaped(word)
            while self._peek()[0] in "\"'":
                text += _unescaped(self._next())
            return text
        if word in "-+":
            value = self._value()
            return -value if word == "-" and isinstance(value, int | float) else value
        if _NUMBER.match(word):
            with suppress(ValueError):
                return _whole(word)
            with suppress(ValueError):
                return float(word.rstrip("fF"))
        return {"true": True, "false": False, "inf": float("inf"), "nan": float("nan")}.get(
            word, ProtoWord(word)
        )

    def _message_value(self, end: str) -> Json:
        """Read the fields of a message in the text format, to the closing sign."""
        message: Json = {}
        while self._peek() != end:
            if self._peek() in (",", ";"):
                self._at += 1
                continue
            start = self._at
            if self._peek() == "[":
                self._pass_over("]")
            else:
                self._at += 1
            name = "".join(self._tokens.texts[start : self._at])
            if self._peek() == ":":
                self._at += 1
            elif self._peek() not in _CLOSING:
                self._expect(":")
            value = self._value()
            # A field that stands there twice is a repeated one.
            message[name] = [*listed(message[name]), *listed(value)] if name in message else value
        self._at += 1
        return message

    def _pass_over(self, *ends: str) -> None:
        """Pass over everything up to one of some signs that is not inside of braces or brackets."""
        depth = 0
        while True:
            word = self._next()
            depth += (word in "{[(") - (word in "}])") if len(word) == 1 else 0
            if depth < 0:
                raise MalformedProtoError("a brace is closed that was not opened")
            if depth == 0 and word in ends:
                return

    def _peek(self, ahead: int = 0) -> str:
        """Return a word without moving on. Raises MalformedError at the end of the text."""
        at = self._at + ahead
        if at >= len(self._tokens.texts):
            raise MalformedProtoError("it ends in the middle of a statement")
        return self._tokens.texts[at]

    def _next(self) -> str:
        """Read one word and move on. Raises MalformedError at the end of the text."""
        word = self._peek()
        self._at += 1
        return word

    def _expect(self, sign: str) -> tuple[str, ...]:
        """Pass over a sign; return the comments behind it."""
        word = self._next()
        if word != sign:
            raise MalformedProtoError(f"'{sign}' is expected instead of '{word}'")
        return tuple(self._tokens.trailing.get(self._at - 1, ()))


def _whole(word: str) -> int:
    """Return a whole number, which is octal where it begins with zero. Raises ValueError."""
    return int(word, 8 if word.startswith("0") and word.isdecimal() else 0)


def listed(value: Any) -> list[Any]:
    """Return a repeated field as a list, though it may have one value alone."""
    return value if isinstance(value, list) else [value]


def _unescaped(quoted: str) -> str:
    """Return the value of a quoted text."""

    def character(match: re.Match[str]) -> str:
        for digits, base in ((match[1], 16), (match[2], 8), (match[3], 16), (match[4], 16)):
            if digits:
                code = int(digits, base)
                return chr(code) if code < 0x110000 else match[0]
        return _CONTROLS.get(match[5], match[5])

    return _ESCAPE.sub(character, quoted[1:-1])


def _lines(comment: str) -> list[str]:
    """Return the lines of a comment without its delimiters and leading asterisks."""
    if comment.startswith("//"):
        return [comment[2:].strip()]
    return [line.strip().lstrip("*").strip() for line in comment[2:-2].strip().splitlines()]
