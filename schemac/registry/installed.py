"""The engines that are installed.

Layer: registry.
Source: every package of `schemac.engines` is one; other distributions name theirs under the entry point group of that
name, each with its `ENGINE`: `avro = "schemac_avro:ENGINE"`.
"""

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from schemac.registry.engine import Engine, VersionSetting

GROUP = "schemac.engines"


class EngineError(Exception):
    """An engine of another distribution that cannot be used."""


@cache
def engines() -> tuple[Engine, ...]:
    """All engines by position, then by name. Raises EngineError."""
    found = {engine.name: engine for engine in _own()}
    for point in entry_points(group=GROUP):
        try:
            engine = point.load()
        except Exception as error:
            raise EngineError(f"the engine {point.name} ({point.value}) cannot be loaded: {error}") from error
        if not isinstance(engine, Engine):
            raise EngineError(f"the engine {point.name} ({point.value}) is no schemac.registry.engine.Engine")
        if found.setdefault(engine.name, engine) is not engine:
            raise EngineError(f"two engines are called {engine.name}; one of them is {point.value}")
    return tuple(sorted(found.values(), key=lambda engine: (engine.position, engine.name)))


@cache
def engine(name: str) -> Engine:
    """Return the engine of a name. Raises KeyError where there is none."""
    return {engine.name: engine for engine in engines()}[name]


def version_settings() -> dict[str, VersionSetting]:
    """Return the version settings of those engines that have one, by the engine's name."""
    return {engine.name: engine.version for engine in engines() if engine.version is not None}


def _own() -> list[Engine]:
    package = import_module(GROUP)
    found: list[Engine] = []
    for module in iter_modules(package.__path__):
        engine: Engine = import_module(f"{GROUP}.{module.name}").ENGINE
        found.append(engine)
    return found
