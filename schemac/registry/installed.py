"""The installed engines.

Layer: registry.
Shape: distributions are found by their folders, because `importlib.metadata` takes as long to load as checking a small
file; it is used only if `sys.path` has other entries than folders.
Source: every package of `schemac.engines` is an engine; other distributions register theirs under the entry point group
of that name, each with its `ENGINE`: `sqlite = "schemac_sqlite:ENGINE"`.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING

from schemac.registry.engine import Engine, EngineError, Trait, VersionSetting, load_as, reason_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_SUFFIXES = (".dist-info", ".egg-info")


@cache
def distribution_names() -> tuple[str, ...]:
    """Return the names of all distributions with their versions, by which their folders are called."""
    return tuple(sorted({name for _, name in _described()}))


def entry_points_of(group: str) -> "tuple[EntryPoint, ...]":
    """Return the entry points of a group, sorted by their names."""
    # A distribution may also be in an archive, or only a finder of its own may know it.
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    are_all_folders = len(finders) <= 1 and not any(os.path.isfile(path) for path in sys.path)
    if are_all_folders and not any(_names(folder, name, group) for folder, name in _described()):
        return ()
    from importlib.metadata import entry_points  # for start-up time, as above

    return tuple(sorted(entry_points(group=group), key=lambda point: (point.name, point.value)))


def _described() -> Iterator[tuple[str, str]]:
    """Yield the folders of the import path with the names of the metadata folders of distributions in them."""
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        yield from ((folder, name) for name in names if name.endswith(_SUFFIXES))


def _names(folder: str, name: str, group: str) -> bool:
    """Whether the entry points of a distribution mention a group; a cheap test that reads no more than one file."""
    try:
        with open(os.path.join(folder, name, "entry_points.txt"), "rb") as stream:
            return group.encode() in stream.read()
    except OSError:
        return False


GROUP = "schemac.engines"
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
"""Form of an engine's name: it is a word of the command line, and the folder of its artifacts."""
_ORDER = attrgetter("position", "name")


@cache
def engines() -> tuple[Engine, ...]:
    """Return all engines by position, then by name; those of other distributions follow the compiler's own. Raises EngineError."""
    core_engines = builtin_engines()
    engines_by_name = {engine.name: engine for engine in core_engines}
    formats = {format.name: engine.name for engine in core_engines for format in engine.formats}
    others: list[Engine] = []
    for point in outside_points():
        engine = load_as(f"{point.module}:{point.attr}", object, f"the engine {point.name}")
        what = f"the engine {point.name} ({point.value})"
        if not isinstance(engine, Engine):
            raise EngineError(f"{what} is not a schemac.registry.engine.Engine")
        if not _NAME.fullmatch(engine.name):
            raise EngineError(f"{what} cannot be called '{engine.name}'; a name is like hudi or my_engine2")
        if engines_by_name.setdefault(engine.name, engine) is not engine:
            raise EngineError(f"two engines are called {engine.name}; one of them is {point.value}")
        for format in engine.formats:
            other = formats.setdefault(format.name, engine.name)
            if other != engine.name:
                raise EngineError(f"the engines {other} and {engine.name} both have a format {format.name}")
        others.append(engine)
    return (*core_engines, *sorted(others, key=_ORDER))


@cache
def outside_points() -> "tuple[EntryPoint, ...]":
    """Return the entry points of engines of other distributions, sorted by name; none if the environment asks for none."""
    return () if os.environ.get("SCHEMAC_BUILTIN_ENGINES") else entry_points_of(GROUP)


def default_targets() -> tuple[str, ...]:
    """Return the names of the targets that are built by default."""
    return tuple(engine.name for engine in engines() if engine.artifacts and engine.is_default)


@cache
def engine(name: str) -> Engine:
    """Return the engine of a name. Raises KeyError if there is none."""
    return {engine.name: engine for engine in engines()}[name]


@contextmanager
def blamed(name: str | None, *expected: type[Exception]) -> Iterator[None]:
    """Turn an exception of an engine of another distribution into EngineError; it is not a mistake of the compiler.

    Without a name, what is done is not an engine's. Exceptions that are `expected` are nobody's fault.
    """
    try:
        yield
    except Exception as error:
        is_ours = name is None or any(engine.name == name for engine in builtin_engines())
        if is_ours or isinstance(error, (EngineError, *expected)):
            raise
        raise EngineError(f"the engine {name} failed: {reason_of(error)}") from error


def with_trait(trait: Trait) -> tuple[str, ...]:
    """Return the titles of the engines that have a trait."""
    return tuple(engine.title for engine in engines() if trait in engine.traits)


def version_settings() -> dict[str, VersionSetting]:
    """Return the version settings of those engines that have one, by the engine's name."""
    settings = {engine.name: engine.version for engine in engines() if engine.version is not None}
    keys = [setting.key for setting in settings.values()]
    for name, setting in settings.items():
        if keys.count(setting.key) > 1:
            raise EngineError(f"the engine {name} has a version setting {setting.key}, and so has another")
    return settings


@cache
def builtin_engines() -> tuple[Engine, ...]:
    """Return the engines that come with the compiler, by position."""
    package = import_module(GROUP)
    names = [name for folder in package.__path__ for name in _packages(folder)]
    return tuple(sorted((import_module(f"{GROUP}.{name}").ENGINE for name in names), key=_ORDER))


def _packages(folder: str) -> list[str]:
    """Return the names of the packages in a folder."""
    if os.path.isdir(folder):
        return [name for name in os.listdir(folder) if os.path.isfile(f"{folder}/{name}/__init__.py")]
    # An archive; for start-up time imported here, as it loads much that most runs do without.
    from pkgutil import iter_modules

    return [module.name for module in iter_modules([folder]) if module.ispkg]
