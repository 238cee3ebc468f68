"""What an engine shows to the rest of the compiler.

Layer: registry.
Shape: an `Engine` only says where its capabilities stand, as `module:NAME`; a module, and with it the engine's libraries,
is loaded when the capability is first asked for. The room that uses a capability says of which type it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Format:
    """A form in which an engine's schemas lie in files or folders, as `schemac import` reads it."""

    name: str
    """As in `--from`."""
    importer: str
    """Its `Importer`."""
    suffixes: tuple[str, ...] = ()
    """Of its files, with the dot, in lower case."""
    is_json: bool = False
    """Whether JSON of another system may be taken for it; such JSON is then looked for first."""
    magic: bytes = b""
    """What its files begin with; counts where neither function nor suffix tells."""
    recognizes: str = ""
    """A function of a path that tells whether it is such a source by more than its suffix; it is asked first."""

    def is_source(self, path: Path) -> bool:
        """Ask `recognizes` about a path."""
        recognizes = load(self.recognizes)
        assert callable(recognizes)
        return bool(recognizes(path))


@dataclass(frozen=True, slots=True)
class VersionSetting:
    """The version of a part of an engine that people have in different versions."""

    key: str
    """As in the project's configuration; with hyphens as an option of the command line."""
    help: str
    check: str
    """A function that returns the version of a text as it is to be kept. It raises ValueError."""

    def checked(self, text: str) -> str:
        """Return a version as it is to be kept. Raises ValueError for what is none."""
        check = load(self.check)
        assert callable(check)
        return str(check(text))


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine and its capabilities; a capability that is left out is one that it does not have."""

    name: str
    """As in `--engine`, `--target` and `schemac.dev/targets`."""
    title: str
    """As people write it."""
    position: int
    """Sorts the engines wherever they are listed."""
    artifacts: str = ""
    """A `Target` (`schemac.artifacts.emission`): the files that `build` writes, and what they cannot express."""
    numbering: str = ""
    """A `Numbering` (`schemac.identity.numbering`): numbers of its own for fields, which the lock keeps."""
    judge: str = ""
    """A `Judge` (`schemac.evolution.judge`): what a change means for data that is there."""
    tables: str = ""
    """Its `Tables` (`schemac.evolution.tables`): what `plan`, `apply` and `verify` do with tables that are there."""
    formats: tuple[Format, ...] = ()
    """What `import` reads."""
    domain: str = ""
    """Domain of the attributes that are for this engine."""
    is_default: bool = False
    """Whether it is built and judged for where nobody names engines."""
    is_optional: bool = False
    """Whether a dataset that does not speak of this engine may be built and judged without it."""
    version: VersionSetting | None = None
    """A version that its verdicts, plans and losses depend on."""


@dataclass(frozen=True)
class Capability(Generic[T]):
    """One thing that an engine may be able to do."""

    field: str
    """The field of `Engine` that says where it stands."""
    type: type[T]

    def is_of(self, engine: Engine) -> bool:
        """Whether an engine has it."""
        return bool(getattr(engine, self.field))

    def of(self, engine: Engine) -> T:
        """Load it. Raises TypeError where it is not what its room expects, and ImportError."""
        found = load(getattr(engine, self.field))
        if not isinstance(found, self.type):
            raise TypeError(f"{self.field} of the engine {engine.name} is no {self.type.__name__}")
        return found

    def names(self, engines: Iterable[Engine]) -> tuple[str, ...]:
        """Return the names of those engines that have it, in their order."""
        return tuple(engine.name for engine in engines if self.is_of(engine))


def load(reference: str) -> object:
    """Return what stands at `module:NAME`."""
    module, _, name = reference.partition(":")
    found: object = getattr(import_module(module), name)
    return found
