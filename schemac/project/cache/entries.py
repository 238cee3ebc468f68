"""Entries as JSON, and back by their types.

Layer: project.
Shape: tuples, named tuples and dataclasses are arrays of their fields, enumerations are their values. Pydantic would do the same,
but loading it takes longer than all else that a command does where nothing has changed.
Errors: UnreadableEntryError.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
_CODING = ("utf-8", "surrogatepass")
_parse: Callable[[str], Any] = json.JSONDecoder().decode
_CUSTOM: dict[Any, Callable[[Any], Any]] = {}


class UnreadableEntryError(Exception):
    """An entry is not of its type: it is damaged, or another program has made it."""


def encode(entry: object) -> bytes:
    """Return an entry as JSON. Raises TypeError for a value that has none."""
    text = json.dumps(entry, default=_plain, ensure_ascii=False, separators=(",", ":"))
    return text.encode(*_CODING)


def decode(content: bytes, type_: type[T]) -> T:
    """Return the entry of a type that JSON holds. Raises UnreadableEntryError."""
    try:
        entry: T = _reader(type_)(_parse(content.decode(*_CODING)))  # type: ignore[arg-type]  # a class has a hash
    except (ValueError, KeyError, TypeError, NameError, RecursionError) as error:
        raise UnreadableEntryError(str(error)) from error
    return entry


def read_with(type_: type[T], read: Callable[[Any], T]) -> None:
    """Read values of a type from their JSON with a function, which may raise ValueError, KeyError or TypeError."""
    _CUSTOM[type_] = read


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value)]
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} has no JSON")


@cache
def _reader(type_: Any) -> Callable[[Any], Any]:
    """Return the function that makes a value of a type of its JSON."""
    origin, arguments = get_origin(type_), get_args(type_)
    if type_ is Any:
        return lambda value: value
    if type_ in _CUSTOM:
        return _CUSTOM[type_]
    if origin in (Union, UnionType):
        (present,) = (argument for argument in arguments if argument is not NoneType)
        return lambda value: None if value is None else _reader(present)(value)
    if origin is Literal:
        return dict(zip(arguments, arguments, strict=True)).__getitem__
    if origin is tuple and arguments[1:] == (...,):
        item = _reader(arguments[0])
        return lambda value: tuple([item(one) for one in _of_type(list, value)])
    if origin is tuple:
        items = [_reader(argument) for argument in arguments]
        return lambda value: tuple(
            [read(one) for read, one in zip(items, _of_type(list, value), strict=True)]
        )
    if isinstance(origin, type) and issubclass(origin, Mapping):
        item = _reader(arguments[1])
        return lambda value: {name: item(one) for name, one in _of_type(dict, value).items()}
    if is_dataclass(type_) or issubclass(type_, tuple):
        return _RecordReader(type_)
    if issubclass(type_, Enum):
        return lambda value: type_(value)
    return lambda value: _of_type(type_, value)


class _RecordReader:
    """Makes a dataclass or a named tuple of an array of its fields, whose types may name the type itself."""

    def __init__(self, type_: Any) -> None:
        self._type = type_

    @cached_property
    def _readers(self) -> list[Callable[[Any], Any]]:
        type_ = self._type
        names = [field.name for field in fields(type_)] if is_dataclass(type_) else type_._fields
        hints = get_type_hints(type_)
        return [_reader(hints[name]) for name in names]

    def __call__(self, value: Any) -> Any:
        members = zip(self._readers, _of_type(list, value), strict=True)
        return self._type(*[read(member) for read, member in members])


def _of_type(type_: type[T], value: Any) -> T:
    if type(value) is not type_:
        raise TypeError(f"{type(value).__name__} in the place of {type_.__name__}")
    return value
