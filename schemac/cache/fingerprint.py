"""Who made an entry: everything besides the input that decides what the compiler says and writes.

Layer: cache.
Shape: the compiler's own code, the engines of other distributions with theirs, every distribution that Python sees with its version
(pyarrow, for instance, decides about bytes), Python itself and the time zones of the machine.
"""

import os
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import sha256

from schemac import version
from schemac.cache.keys import SIZE
from schemac.registry.distributions import distribution_names, entry_points_of
from schemac.registry.installed import engines, outside_points
from schemac.source.text import read_file

_RULES = "schemac.lint"
"""The entry point group of rules."""
_FORMAT = "3"
"""Counts up when entries get another form."""
_ZONES = "/usr/share/zoneinfo/tzdata.zi"
"""Begins with the version of the machine's time zones; those of other systems come with Python's `tzdata`."""


@cache
def fingerprint() -> bytes:
    """Return the digest of everything but the input; another one where any part of it is another."""
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
