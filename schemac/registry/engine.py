"""The interface of an engine to the rest of the compiler, and the engines that are installed.

Layer: registry.
Shape: an `Engine` only has the places of its capabilities, as `module:NAME`; a module, and with it the engine's libraries, is loaded when
      the capability is first asked for. The package that uses a capability defines its type. Distributions are found by their
      folders, because `importlib.metadata` takes as long to load as checking a small file; it is used only if `sys.path` has other
      entries than folders.
Source: every package of `schemac.engines` is an engine; other distributions register theirs under the entry point group of that name,
      each with its `ENGINE`: `sqlite = "schemac_sqlite:ENGINE"`.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum, auto
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from pathlib import Path  # for start-up time: most commands come this far before they need one


T = TypeVar("T")


class EngineError(Exception):
    """An engine of another distribution that cannot be used; its text is one line for the person who installed it."""


class Format(NamedTuple):
    """A format of an engine's schemas in files or folders, as `schemac import` reads it."""

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
    systems: tuple[str, ...] = ()
    """Databases in small letters whose types it reads as texts, as contracts and projects name them."""

    def is_source(self, path: "Path") -> bool:
        """Return whether `recognizes` takes a path for such a source. Raises EngineError."""
        recognizes = _function(self.recognizes, f"`recognizes` of the format {self.name}")
        return bool(recognizes(path))


class VersionSetting(NamedTuple):
    """The version of a part of an engine that people have in different versions."""

    key: str
    """As in the project's configuration; with hyphens as an option of the command line."""
    help: str
    check: str
    """A function that returns the version of a text as it is to be kept. It raises ValueError."""

    def checked(self, text: str) -> str:
        """Return the normalized version. Raises ValueError for an invalid one."""
        check = _function(self.check, f"`check` of the version {self.key}")
        return str(check(text))


class Trait(Enum):
    """A property of an engine that matters to schemas or commands that are not only for this engine."""

    IGNORES_CASE = auto()
    """It takes columns whose names differ only in case for one."""
    REFUSES_SCALE_ABOVE_PRECISION = auto()
    """It refuses a decimal with more digits after the point than in all."""
    LACKS_RUN_ENDS = auto()
    """It has no type for values that are run-end encoded."""
    COMPRESSES_RUNS = auto()
    """It compresses equal values that follow each other without being asked."""
    ROUNDS = auto()
    """`apply` can round the values of its tables."""
    IS_NOT_READ = auto()
    """`apply` changes its tables without reading their data."""


class Engine(NamedTuple):
    """An engine and its capabilities; it does not have those that are left out."""

    name: str
    """As in `--engine`, `--target` and `schemac.dev/targets`."""
    title: str
    """As people write it."""
    position: int
    """Sorts the engines wherever they are listed."""
    artifacts: str = ""
    """A `Target` (`schemac.artifacts.targets`): the files that `build` writes, and what they cannot express."""
    optional_artifacts: tuple[str, ...] = ()
    """Paths of those of its files that `build` writes only where the project's `files` name them."""
    numbering: str = ""
    """A `Numbering` (`schemac.versions.identity.lock`): numbers of its own for fields, which the lock keeps."""
    judge: str = ""
    """A `Judge` (`schemac.versions.evolution.judge`): what a change means for existing data."""
    tables: str = ""
    """Its `Tables` (`schemac.versions.evolution.tables`): what `plan`, `apply` and `verify` do with existing tables."""
    alters: str = ""
    """The engine whose tables it alters; empty for its own."""
    table_help: str = ""
    """What `--table` accepts for its tables."""
    sink: str = ""
    """Its `Sink` (`schemac.rows.runs.tables`): tables that runs of a pipeline write."""
    source: str = ""
    """Its `Source` (`schemac.rows.runs.tables`): tables that runs of a pipeline read, as the format of its name."""
    column_sink: str = ""
    """Its `ColumnSink` (`schemac.rows.runs.columns`): columns of its tables that runs of a pipeline fill."""
    row_writer: str = ""
    """Its `RowWriter` (`schemac.artifacts.dataset`): new tables of rows that somebody made, such as samples."""
    row_reader: str = ""
    """Its `RowReader` (`schemac.artifacts.dataset`): the rows of tables and files that `verify --data` looks at."""
    table_suffix: str = ""
    """The suffix of names of its tables, with the dot."""
    formats: tuple[Format, ...] = ()
    """What `import` reads."""
    domain: str = ""
    """Domain of the attributes that are for this engine."""
    attributes: str = ""
    """A tuple of `Attribute` (`schemac.language.attributes.attribute`), all of them in `domain`, which is a closed one then."""
    facts: str = ""
    """An enumeration of `AnyFact` (`schemac.language.logical.facts`): what changes of its attributes are, where that matters to it."""
    arrow_form: str = ""
    """An `ArrowForm` (`schemac.arrow.metadata`): what its attributes are in Arrow, where they do not travel under their own keys."""
    checks: str = ""
    """`AttributeChecks` (`schemac.language.checks.run`): what of its attributes is wrong in every schema, whatever it is built for."""
    codes: str = ""
    """Tuple of `Code` (`schemac.text.source.catalogue`) of its own diagnostics."""
    pages: str = ""
    """A package with the pages of `schemac explain`: `<code>.md` for each of its codes, `losses/<engine>.md`."""
    documents: str = ""
    """Tuple of `ForeignDocument` (`schemac.importers.sources`): JSON around its tables that is neither a schema nor data."""
    spread: str = ""
    """Its `Spread` (`schemac.versions.evolution.tables`): it does the work of other engines on parts of a table."""
    reserved_words: str = ""
    """A frozenset of the reserved words of its SQL, in lower case."""
    traits: frozenset[Trait] = frozenset()
    """Its traits."""
    checks_constraints: bool = False
    """Whether its artifacts refuse values that break a constraint, but for those constraints that it names as losses."""
    is_default: bool = False
    """Whether it is a target by default, for builds and verdicts."""
    is_optional: bool = False
    """Whether a dataset without attributes of this engine is built without it if the engine refuses the dataset."""
    is_judged_on_request: bool = False
    """Whether changes of a dataset without attributes of this engine are judged for it only if it is named."""
    version: VersionSetting | None = None
    """The version setting that its verdicts, plans and losses depend on; None if there is none."""


class Capability(NamedTuple, Generic[T]):
    """One thing that an engine may be able to do."""

    field: str
    """The field of `Engine` that has its place."""
    type: type[T]

    def is_of(self, engine: Engine) -> bool:
        """Whether an engine has it."""
        return bool(getattr(engine, self.field))

    def of(self, engine: Engine) -> T:
        """Return an engine's object for this capability, loaded now. Raises EngineError if it cannot be loaded, or is of another type."""
        return load_as(getattr(engine, self.field), self.type, f"`{self.field}` of the engine {engine.name}")

    def names(self, engines: Iterable[Engine]) -> tuple[str, ...]:
        """Return the names of those engines that have it, in their order."""
        return tuple(engine.name for engine in engines if self.is_of(engine))


RESERVED_WORDS: Capability[frozenset[str]] = Capability("reserved_words", frozenset)


def load_as(reference: str, type: type[T], what: str) -> T:
    """Return the object at `module:NAME`. Raises EngineError, with `what` as its name, if it is not of the type."""
    try:
        value = load(reference)
    except Exception as error:
        raise EngineError(f"{what} ({reference}) cannot be loaded: {reason_of(error)}") from error
    if not isinstance(value, type):
        raise EngineError(f"{what} ({reference}) is not of the type {type.__name__}")
    return value


def _function(reference: str, what: str) -> Callable[..., object]:
    """Return the function that a reference `module:name` names. Raises EngineError, with `what` as its subject."""
    function = load_as(reference, object, what)
    if not callable(function):
        raise EngineError(f"{what} ({reference}) is not a function")
    return function


def reason_of(error: Exception) -> str:
    """Return the message of an exception on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def load(reference: str) -> object:
    """Return the object at `module:NAME`."""
    module, _, name = reference.partition(":")
    value: object = attrgetter(name)(import_module(module))
    return value


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


def named_versions(settings: object) -> dict[str, str]:
    """Return the versions that settings or options name, by engine; each is in the attribute of its setting, None if none is named."""
    named = {name: getattr(settings, setting.key) for name, setting in version_settings().items()}
    return {name: version for name, version in named.items() if version is not None}


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
