"""The interface of an engine to the rest of the compiler.

Layer: registry.
Shape: an `Engine` only has the places of its capabilities, as `module:NAME`; a module, and with it the engine's libraries,
is loaded when the capability is first asked for. The package that uses a capability defines its type.
"""

from collections.abc import Callable, Iterable
from enum import Enum, auto
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
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
