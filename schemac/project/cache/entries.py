"""Cache entries as JSON, and the keys that they are found by.

Layer: project.
Shape: tuples, named tuples and dataclasses are arrays of their fields, enumerations are their values. Pydantic would do the same, but
      loading it takes longer than all else that a command does where nothing has changed.
      A key is a digest of everything that an entry depends on. The dependencies of an entry are a frozen dataclass, and all of its
      fields are in the key, except fields with `compare=False`, which another field determines. The environment is part of each key:
      the code of the compiler and of engines of other distributions, every installed distribution with its version, Python, and the
      time zones of the machine.
Errors: UnreadableEntryError.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, partial
from hashlib import sha256
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from schemac import version
from schemac.project.discovery import content_of
from schemac.registry.engine import distribution_names, engines, entry_points_of, outside_points

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
    """Return a record as the list of its fields, and any other mapping as a dict; raises TypeError for the rest."""
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
        return lambda value: type_(
            *[read(one) for read, one in zip(_field_readers(type_), _of_type(list, value), strict=True)]
        )
    if issubclass(type_, Enum):
        return lambda value: type_(value)
    return partial(_of_type, type_)


@cache
def _field_readers(type_: Any) -> list[Callable[[Any], Any]]:
    """Return the functions that read the fields of a dataclass or a named tuple, in their order; their types may name the type itself."""
    names = [field.name for field in fields(type_)] if is_dataclass(type_) else type_._fields
    hints = get_type_hints(type_)
    return [_reader(hints[name]) for name in names]


def _of_type(type_: type[T], value: Any) -> T:
    """Return a value that has exactly this type. Raises TypeError for another one."""
    if type(value) is not type_:
        raise TypeError(f"{type(value).__name__} in the place of {type_.__name__}")
    return value


SIZE = 16
"""Bytes of a key."""


class EntryKeys:
    """The keys of entries that share these values."""

    def __init__(self, *shared: object) -> None:
        self._start = sha256(b"".join(map(_framed, shared)))

    def key(self, *values: object) -> bytes:
        """Return the key of one entry; different values give different keys. Raises TypeError."""
        start = self._start.copy()
        start.update(b"".join(map(_framed, values)))
        return start.digest()[:SIZE]


def digest(*values: object) -> bytes:
    """Return the digest of frozen values with all their fields. Raises TypeError for a value that has none."""
    return EntryKeys().key(*values)


def _framed(value: object) -> bytes:
    """Return a value with its type and length before it, so that no two values are the same bytes."""
    sort = b"s"
    if isinstance(value, str):
        content = value.encode("utf-8", "surrogatepass")
    elif isinstance(value, bytes):
        sort, content = b"b", value
    elif value is None or isinstance(value, (bool, int, float)):
        sort, content = type(value).__name__.encode(), repr(value).encode()
    elif isinstance(value, (tuple, list)):
        sort, content = b"l", b"".join(map(_framed, value))
    elif is_dataclass(value) and not isinstance(value, type):
        compared = ((field.name, getattr(value, field.name)) for field in fields(value) if field.compare)
        sort, content = b"d", b"".join(map(_framed, compared))
    elif isinstance(value, Mapping):
        sort, content = b"m", b"".join(sorted(map(_framed, value.items())))
    elif isinstance(value, AbstractSet):
        sort, content = b"u", b"".join(sorted(map(_framed, value)))
    else:
        raise TypeError(f"a {type(value).__name__} has no digest")
    return b"%s%d\n%s" % (sort, len(content), content)


_RULES = "schemac.language.lint"
"""The entry point group of rules."""
_FORMAT = "3"
"""Counts up when entries get another form."""
_ZONES = "/usr/share/zoneinfo/tzdata.zi"
"""Begins with the version of the machine's time zones; those of other systems come with Python's `tzdata`."""


@cache
def fingerprint() -> bytes:
    """Return the digest of everything besides the input that results depend on."""
    engines()  # loads those of other distributions
    try:
        with open(_ZONES, "rb") as stream:
            zones = stream.readline(100).decode("ascii", "replace")
    except OSError:
        zones = ""
    machine = (sys.version, sys.platform, sys.byteorder, zones)
    parts = (_FORMAT, version.__version__, *machine, *distribution_names())
    digest = sha256("\n".join(parts).encode("utf-8", "replace"))
    # Of an installed schemac, the list of its files with their digests, which pip wrote; of a working tree, that of its files.
    package = os.path.dirname(os.path.realpath(version.__file__))
    record = f"{os.path.dirname(package)}/schemac-{version.__version__}.dist-info/RECORD"
    content = content_of(record) or b""
    digest.update(content if b"\nschemac/version.py,sha256=" in content else _code(f"{package}/__init__.py"))
    for point in (*outside_points(), *entry_points_of(_RULES)):
        from importlib.util import find_spec  # for start-up time: hardly anybody has other distributions

        digest.update(f"\n{point.name} {point.value}\n".encode())
        # Rules of other distributions are loaded only where something is checked afresh.
        spec = find_spec(point.module.partition(".")[0])
        digest.update(_code(spec.origin or "" if spec is not None else ""))
    return digest.digest()[:SIZE]


def _code(file: str) -> bytes:
    """Return the digest of a module's file, or of all modules of a package."""
    folder, name = os.path.split(file)
    paths = sorted(_modules(folder)) if name == "__init__.py" else [file] if file else []
    digest = sha256()
    for path in paths:
        content = content_of(path) or b""
        digest.update(f"{path[len(folder) :]} {len(content)}\n".encode() + content)
    return digest.digest()


def _modules(folder: str) -> Iterator[str]:
    """Yield the paths of the Python files in a folder and below it, in the order of the file system."""
    for entry in os.scandir(folder):
        if entry.is_dir():
            yield from _modules(entry.path)
        elif entry.name.endswith(".py"):
            yield entry.path
