"""Reading plain values by annotations.

Layer: syntax.
Shape: an annotation is `str`, `int`, `float`, `bool`, `Any`, a `Literal`, a list, a tuple of any length, a dictionary with
texts as keys, one of these or None, or a record; around it `Annotated` with `Bounds`, `Before` and `Rule`. Any other
is refused with a TypeError. Values are taken as they are: a text is no number, and true is not 1.
Errors: every mistake in a value is reported, in the form and with the words that pydantic has for it, so that
`schemac.syntax.complaints` reads both.
"""

import operator
import re
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin

MISSING: Any = object()
"""Stands for a default that is not there."""


class InvalidValueError(ValueError):
    """A value that cannot be read."""

    def __init__(self, title: str, mistakes: "list[Mistake]") -> None:
        super().__init__(
            f"{len(mistakes)} mistakes in a value of {title}: {mistakes[0].kind} at {mistakes[0].at}"
        )
        self._mistakes = mistakes

    def errors(self, **_: bool) -> list[Any]:
        """Return the mistakes as pydantic writes its own."""
        return [
            {"type": m.kind, "loc": tuple(m.at), "input": m.given, "ctx": m.context, "msg": m.message}
            for m in self._mistakes
        ]


class Mistake:
    """Something that is wrong with a value."""

    __slots__ = ("at", "context", "given", "kind", "message")

    def __init__(
        self, kind: str, given: Any, at: list[str | int], context: dict[str, Any], message: str
    ) -> None:
        self.kind = kind
        self.given = given
        self.at = at
        """The keys and indices that lead to it, and the kinds of types on the way."""
        self.context = context
        self.message = message


class Reading:
    """What is found while one value is read."""

    __slots__ = ("mistakes", "takes_names")

    def __init__(self, *, takes_names: bool) -> None:
        self.mistakes: list[Mistake] = []
        self.takes_names = takes_names
        """Whether properties may have their names in Python as keys."""

    def add(self, kind: str, given: Any, *at: str | int, message: str = "", **context: Any) -> None:
        """Enter a mistake at the value that is read, or below it."""
        self.mistakes.append(Mistake(kind, given, list(at), context, message))

    def lead(self, count: int, *steps: str | int) -> None:
        """Say how to come to the mistakes since the first `count` ones."""
        for mistake in self.mistakes[count:]:
            mistake.at[:0] = steps

    def finish(self, title: str) -> None:
        """Raise InvalidValueError if something was wrong."""
        if self.mistakes:
            raise InvalidValueError(title, self.mistakes)


Read = Callable[[Any, Reading], Any]
"""Returns what a value is read as; after a mistake the result is not to be used."""


class Bounds:
    """The least and the greatest number, the least length, and the form of a text.

    `is_strict` is false for a number that may also be written as a text.
    """

    def __init__(
        self,
        *,
        ge: float | None = None,
        gt: float | None = None,
        le: float | None = None,
        min_length: int | None = None,
        pattern: str | None = None,
        is_strict: bool = True,
    ) -> None:
        self.ge, self.gt, self.le = ge, gt, le
        self.min_length, self.pattern, self.is_strict = min_length, pattern, is_strict

    def around(self, read: Read) -> Read:
        """Return a reader that keeps these bounds."""
        limits: list[tuple[str, str, float | None, Callable[[Any, Any], bool]]] = [
            ("less_than_equal", "le", self.le, operator.le),
            ("greater_than_equal", "ge", self.ge, operator.ge),
            ("greater_than", "gt", self.gt, operator.gt),
        ]
        numbers = [limit for limit in limits if limit[2] is not None]
        # `$` of JSON Schema and of pydantic is the very end.
        pattern = re.compile(re.sub(r"\$$", r"\\Z", self.pattern)) if self.pattern is not None else None

        def bounded(value: Any, reading: Reading) -> Any:
            count = len(reading.mistakes)
            found = read(value, reading)
            if len(reading.mistakes) > count:
                return found
            for kind, key, bound, is_kept in numbers:
                if not is_kept(found, bound):
                    return reading.add(kind, value, message="", **{key: type(found)(bound)})
            if self.min_length is not None and len(found) < self.min_length:
                return reading.add("string_too_short" if isinstance(found, str) else "too_short", value)
            if pattern is not None and not pattern.search(found):
                return reading.add("string_pattern_mismatch", value)
            return found

        return bounded


class Before:
    """Rewrites a value before it is read; `words` are those that it is for, if they can be listed."""

    def __init__(self, rewrite: Callable[[Any], Any], words: tuple[str, ...] = ()) -> None:
        self.rewrite, self.words = rewrite, words

    def around(self, read: Read) -> Read:
        """Return a reader that rewrites first."""
        rewrite = self.rewrite
        return lambda value, reading: read(rewrite(value), reading)


class Rule:
    """Checks a value after it was read; the function raises ValueError, or returns the value.

    `json_schema` says the same in JSON Schema, where the annotation says less.
    """

    def __init__(self, check: Callable[[Any], Any], json_schema: dict[str, Any] | None = None) -> None:
        self.check, self.json_schema = check, json_schema

    def around(self, read: Read) -> Read:
        """Return a reader that checks afterwards."""

        def checked(value: Any, reading: Reading) -> Any:
            count = len(reading.mistakes)
            found = read(value, reading)
            if len(reading.mistakes) > count:
                return found
            try:
                return self.check(found)
            except ValueError as error:
                return reading.add("value_error", value, error=error)

        return checked


def bare(annotation: Any) -> Any:
    """Return an annotation without what stands around it."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def reader_of(annotation: Any) -> Read:
    """Return the reader of an annotation. Raises TypeError."""
    plain = _PLAIN.get(annotation) if isinstance(annotation, type) or annotation is Any else None
    if plain is not None:
        return plain
    if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
        of_record: Read = annotation.read  # type: ignore[attr-defined]
        return of_record
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _annotated(arguments)
    if origin is Literal:
        return _one_of(arguments)
    if origin in (Union, UnionType) and len(arguments) == 2 and NoneType in arguments:
        (inner,) = (a for a in arguments if a is not NoneType)
        return _or_none(reader_of(inner))
    if origin is list or (origin is tuple and arguments[1:] == (...,)):
        return _sequence(reader_of(arguments[0]), origin)
    if origin is dict and arguments[0] is str:
        return _open_mapping if arguments[1] is Any else _mapping(reader_of(arguments[1]))
    return _refuse(annotation)


def _refuse(annotation: Any) -> NoReturn:
    raise TypeError(f"{annotation} is not an annotation of a property; see schemac.syntax.reading")


def _annotated(arguments: tuple[Any, ...]) -> Read:
    inner, *around = arguments
    is_loose = any(isinstance(mark, Bounds) and not mark.is_strict for mark in around)
    read = _loose_number if is_loose and inner is float else reader_of(inner)
    for mark in around:
        if not isinstance(mark, Bounds | Before | Rule):
            _refuse(mark)
        read = mark.around(read)
    return read


def _text(value: Any, reading: Reading) -> Any:
    return value if isinstance(value, str) else reading.add("string_type", value)


def _whole_number(value: Any, reading: Reading) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number else reading.add("int_type", value)


def _number(value: Any, reading: Reading) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else reading.add("float_type", value)


def _loose_number(value: Any, reading: Reading) -> Any:
    if not isinstance(value, str | int | float):
        return reading.add("float_type", value)
    try:
        return float(value)
    except ValueError:
        message = "Input should be a valid number, unable to parse string as a number"
        return reading.add("float_parsing", value, message=message)


def _truth(value: Any, reading: Reading) -> Any:
    return value if isinstance(value, bool) else reading.add("bool_type", value)


_PLAIN: dict[Any, Read] = {
    str: _text,
    int: _whole_number,
    float: _number,
    bool: _truth,
    Any: lambda value, _reading: value,
}


def _one_of(words: tuple[Any, ...]) -> Read:
    known = {(word.__class__, word) for word in words}
    shown = [repr(word) for word in words]
    expected = " or ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))

    def read(value: Any, reading: Reading) -> Any:
        if isinstance(value, str | int) and (value.__class__, value) in known:
            return value
        return reading.add("literal_error", value, expected=expected)

    return read


def _or_none(read: Read) -> Read:
    return lambda value, reading: None if value is None else read(value, reading)


def _sequence(read: Read, kind: type) -> Read:
    """Return the reader of a list; a tuple is written as a list too."""
    accepted = (list, tuple) if kind is tuple else list

    def read_all(value: Any, reading: Reading) -> Any:
        if not isinstance(value, accepted):
            return reading.add(f"{kind.__name__}_type", value)
        mistakes = reading.mistakes
        found: list[Any] = []
        for i, item in enumerate(value):
            count = len(mistakes)
            found.append(read(item, reading))
            if len(mistakes) > count:
                reading.lead(count, i)
        return kind(found)

    return read_all


def _open_mapping(value: Any, reading: Reading) -> Any:
    """Read a mapping of anything, as most attributes are."""
    if value.__class__ is dict and all(key.__class__ is str for key in value):
        return dict(value)
    return _mapping(_PLAIN[Any])(value, reading)


def _mapping(read: Read) -> Read:
    def read_all(value: Any, reading: Reading) -> Any:
        if not isinstance(value, dict):
            return reading.add("dict_type", value)
        found: dict[str, Any] = {}
        for key, item in value.items():
            count = len(reading.mistakes)
            if not isinstance(key, str):
                reading.add("string_type", key, "[key]")
            found[key] = read(item, reading)
            reading.lead(count, key)
        return found

    return read_all
