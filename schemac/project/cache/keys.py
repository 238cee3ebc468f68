"""Keys of cache entries: a digest of everything that an entry depends on.

Layer: project.
Shape: the dependencies of an entry are a frozen dataclass, and all of its fields are in the key, except fields with
`compare=False`, which another field determines. The environment is part of each key: the code of the compiler and of
engines of other distributions, every installed distribution with its version, Python, and the time zones of the
machine.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256

from schemac import version
from schemac.registry.installed import distribution_names, engines, entry_points_of, outside_points
from schemac.text.source.text import read_file

SIZE = 16
"""Bytes of a key."""


class Keys:
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
    return Keys().key(*values)


def _framed(value: object) -> bytes:
    """Return a value with its type and length before it, so that no two values are the same bytes."""
    sort = b"s"
    if isinstance(value, str):
        content = value.encode("utf-8", "surrogatepass")
    elif isinstance(value, bytes):
        sort, content = b"b", value
    elif value is None or isinstance(value, bool | int | float):
        sort, content = type(value).__name__.encode(), repr(value).encode()
    elif isinstance(value, Mapping):
        sort, content = b"m", b"".join(sorted(map(_framed, value.items())))
    elif isinstance(value, AbstractSet):
        sort, content = b"u", b"".join(sorted(map(_framed, value)))
    elif isinstance(value, tuple | list):
        sort, content = b"l", b"".join(map(_framed, value))
    elif is_dataclass(value) and not isinstance(value, type):
        compared = ((field.name, getattr(value, field.name)) for field in fields(value) if field.compare)
        sort, content = b"d", b"".join(map(_framed, compared))
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
    parts = [
        _FORMAT,
        version.__version__,
        sys.version,
        sys.platform,
        sys.byteorder,
        _zones(),
        *distribution_names(),
    ]
    digest = sha256("\n".join(parts).encode("utf-8", "replace"))
    digest.update(_installed_code())
    for point in (*outside_points(), *entry_points_of(_RULES)):
        digest.update(f"\n{point.name} {point.value}\n".encode())
        digest.update(_code(_file_of(point.module.partition(".")[0])))
    return digest.digest()[:SIZE]


def _file_of(package: str) -> str:
    """Return where the code of another distribution is; rules are loaded only where something is checked afresh."""
    module = sys.modules.get(package)
    if module is not None:
        file: str = getattr(module, "__file__", None) or ""
        return file
    from importlib.util import find_spec  # for start-up time: hardly anybody has rules of other distributions

    spec = find_spec(package)
    return (spec.origin or "") if spec is not None else ""


def _installed_code() -> bytes:
    """Return the list of the installed files with their digests, which pip wrote; of a working tree, that of its files."""
    package = os.path.dirname(os.path.realpath(version.__file__))
    record = f"{os.path.dirname(package)}/schemac-{version.__version__}.dist-info/RECORD"
    try:
        content = read_file(record)
    except OSError:
        content = b""
    return content if b"\nschemac/version.py,sha256=" in content else _code(f"{package}/__init__.py")


def _code(file: str) -> bytes:
    """Return the digest of a module's file, or of all modules of a package."""
    folder, name = os.path.split(file)
    paths = sorted(_modules(folder)) if name == "__init__.py" else [file] if file else []
    digest = sha256()
    for path in paths:
        try:
            content = read_file(path)
        except OSError:
            content = b""
        digest.update(f"{path[len(folder) :]} {len(content)}\n".encode() + content)
    return digest.digest()


def _modules(folder: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            yield from _modules(entry.path)
        elif entry.name.endswith(".py"):
            yield entry.path


def _zones() -> str:
    try:
        with open(_ZONES, "rb") as stream:
            return stream.readline(100).decode("ascii", "replace")
    except OSError:
        return ""
