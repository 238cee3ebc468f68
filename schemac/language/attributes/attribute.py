"""The definition of an attribute, and the families of kinds that attributes and rules refer to.

Layer: language.
Source: RFC-016, "Extra Attributes Format": keys are `<domain>/<attribute-name>`, values any JSON.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Generic, NamedTuple, TypeVar, get_args, get_origin

if TYPE_CHECKING:
    from pydantic import BeforeValidator, TypeAdapter


class Family(StrEnum):
    """What values of a kind are like. A kind of a family that no rule names is refused by that rule."""

    NULL = "null"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"
    TEXT = "text"
    BYTES = "bytes"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    DURATION = "duration"
    LIST = "list"
    MAP = "map"
    STRUCT = "struct"
    OPTION = "option"


NUMBERS = frozenset({Family.INTEGER, Family.FLOAT})
"""Numbers of a fixed width."""
TEMPORAL = frozenset({Family.DATE, Family.TIME, Family.TIMESTAMP, Family.DURATION})
NESTED = frozenset({Family.LIST, Family.MAP, Family.STRUCT})
"""Those with other types inside."""

PROPERTIES: dict[Family, tuple[str, ...]] = {
    Family.INTEGER: ("bits", "is_signed"),
    Family.FLOAT: ("bits", "mantissa"),
    Family.DECIMAL: ("precision", "scale"),
    Family.BYTES: ("fixed_length",),
    Family.LIST: ("fixed_length",),
    Family.MAP: ("keys_sorted",),
    Family.TIME: ("unit",),
    Family.TIMESTAMP: ("unit", "timezone"),
    Family.DURATION: ("unit",),
}
"""What the rules that go by a family read of each of its kinds."""


T = TypeVar("T")

Extra = Mapping[str, Any]
"""Attributes as they are written: key to JSON value."""

KEY_PATTERN = r"[a-zA-Z0-9.-]+/[a-zA-Z0-9_-]+"
"""Form of a key. Source: the standard's JSON Schema of ExtraAttributes."""


class Spelling:
    """Converts PascalCase words into the attribute's own spelling; other values stay unchanged."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words
        self._by_spelling = {spelling: word for word in words for spelling in spellings(word)}

    def __call__(self, value: Any) -> Any:
        """Return the value, or the word that it spells."""
        return self._by_spelling.get(value, value) if isinstance(value, str) else value


def spelled(*words: str) -> "BeforeValidator":
    """Return a validator that takes PascalCase words in lowerCamelCase and lowercase too, as RFC-016's enums do."""
    from pydantic import BeforeValidator  # here and below for start-up time: most runs need no models

    return BeforeValidator(Spelling(words))


def spellings(word: str) -> tuple[str, str, str]:
    """Return a word in PascalCase, lowerCamelCase and lowercase: `UInt8`, `uInt8` and `uint8`."""
    return (word, word[0].lower() + word[1:], word.lower())


class Role(Enum):
    """What an attribute is, whichever engine brings it: by its role the core and other engines find it."""

    PRIMARY_KEY = auto()
    """Of the schema: the columns of the primary key."""
    PARTITION_KEY = auto()
    """Of the schema: the columns that the table is partitioned by."""
    OPTIONS = auto()
    """Of the schema: options of the table, as text."""
    STORAGE_VERSION = auto()
    """Of the schema: the version of the data files, as text."""
    KEY_PART = auto()
    """Of a field: a part of the primary key. Its value has a `position`, counted from 1, or None for none."""
    CLUSTERING_PART = auto()
    """Of a field: a part of the clustering key. Its value has a `position`, as that of `KEY_PART`."""
    BLOB = auto()
    """Of a field of bytes: large values that are stored apart."""
    JSON = auto()
    """Of a text: it is JSON, and Arrow's own extension type for JSON stands for it. Its value is `true`."""
    BRAIN_FLOATS = auto()
    """Of a vector of floats: its items are stored as bfloat16."""


class Inheritance(Enum):
    """How a field inherits an attribute of its group, its struct or its schema."""

    NEAREST = auto()
    """The field's own counts, else that of what is nearest around it."""
    ADDED = auto()
    """The items of all of them, outermost first."""


class Facts(NamedTuple):
    """What it is when an attribute is added, removed or changed: texts of facts of the core, or of its engine's `facts`."""

    added: str
    removed: str
    changed: str

    @classmethod
    def all(cls, fact: str) -> "Facts":
        """Return one fact for all three."""
        return cls(fact, fact, fact)


class Renaming(NamedTuple):
    """A place in an attribute's value that names a column, and what is there after the column is renamed."""

    steps: tuple[str | int, ...]
    """The keys and indices in the value that lead to it."""
    text: str
    is_key: bool = False
    """Whether it is the key that changes, not what is behind it."""


@dataclass(frozen=True)
class Attribute(Generic[T]):
    """One known attribute: its key, the type of its value, and where it may be used."""

    key: str
    value_type: Any
    summary: str
    fits: frozenset[Family] | None = None
    """Families of kinds that it can apply to; None means every kind."""
    property_fits: Mapping[str, frozenset[Family]] | None = None
    """Where properties of its value fit other families than the attribute: the families of each of them, by its name as written."""
    refused: Mapping[str, Any] | None = None
    """Values that no engine takes, as far as a JSON Schema can say it: a schema of them, for editors."""
    on_field: bool = True
    on_schema: bool = False
    facts: Facts = Facts("attribute-added", "attribute-removed", "attribute-changed")
    """What a change of it is; of options, what a change of each entry is."""
    property_facts: Mapping[str, str] | None = None
    """Where a change of each property is a fact of its own: the facts of some properties; `facts` has that of the others."""
    decides_type: bool = False
    """Whether it decides the Arrow type of its field; no two such attributes can be used together."""
    role: Role | None = None
    keeps: Callable[[str, int | None], Any] | None = None
    """The value, as it is written, that keeps a type of another system, by its name in lower case and its length; None
    where none does."""
    default: T | None = None
    """What is meant where it is absent, if that is a value."""
    example: str = ""
    """A value as a manifest writes it, on one line; of attributes whose values have parts."""
    foreign_keys: tuple[str, ...] = ()
    """What other systems call it as a key next to a field's name."""
    is_of_storage: bool = False
    """Whether it says how values are stored, not what they are; so are options and storage versions by their roles."""
    inheritance: Inheritance | None = None
    """How the fields of a group or a schema have it; None if it counts at its own place alone."""
    is_geometry: Callable[[T], bool] | None = None
    """Of a field of bytes: whether a value says that they are geometries in well-known binary."""
    renamed: Callable[[T, str, str], Iterable[Renaming]] | None = None
    """Where a value names a column, by the old and the new name of the column, if it is not a list of columns."""

    @cached_property
    def _adapter(self) -> "TypeAdapter[T]":
        """Return pydantic's adapter of the value type, strict unless the type is a model with a configuration."""
        from pydantic import ConfigDict, TypeAdapter

        is_model = hasattr(self.value_type, "model_config")
        return TypeAdapter(self.value_type, config=None if is_model else ConfigDict(strict=True))

    def typed(self, value: Any, *, by_name: bool = True) -> T:
        """Return the typed value of a written one; with `by_name` Python's names are accepted as keys. Raises ValidationError."""
        return self._adapter.validate_python(value, by_alias=True, by_name=by_name)

    def as_standard(self, value: Any) -> Any:
        """Return a value that has passed the checks with its words in the standard's spelling."""
        return self._adapter.dump_python(self.typed(value), by_alias=True, exclude_unset=True)

    def read(self, extra: Extra) -> T | None:
        """Return the typed value, or None if the attribute is absent. The value has to have passed the checks."""
        return self.typed(extra[self.key]) if self.key in extra else None

    @property
    def has_entries(self) -> bool:
        """Whether its value is a mapping with keys that the author chooses."""
        annotation = self.value_type
        plain = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
        return get_origin(plain) is dict

    @property
    def names_columns(self) -> bool:
        """Whether its value is a list of columns."""
        return self.role in (Role.PRIMARY_KEY, Role.PARTITION_KEY)

    def renamings(self, extra: Extra, old: str, new: str) -> Iterator[Renaming]:
        """Return the edits of its value that the renaming of a column needs."""
        if self.key not in extra or not (self.names_columns or self.renamed is not None):
            return
        value: Any = self.read(extra)
        if self.renamed is not None:
            yield from self.renamed(value, old, new)
        else:
            yield from (Renaming((i,), new) for i, name in enumerate(value) if name == old)

    @property
    def name(self) -> str:
        """The part after the domain."""
        return self.key.partition("/")[2]
