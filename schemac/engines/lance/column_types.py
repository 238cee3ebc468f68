"""Lance's types for the fields of a version, and the casts that Lance makes by itself.

Layer: engines.
Shape: Casts that Lance makes by itself: between logical types, as Lance spells them. Lance counts on when a zone comes or goes and
      never looks at a clock, so of instants only those in UTC are left to it to make readings of.
Source: all pairs of 38 types tried with `alter_columns` of pylance 14.0.2.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

from schemac.arrow.to_arrow import lower
from schemac.engines.lance.fields import words_by_field
from schemac.language.kinds.plain import PlainType
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.schema_fields import SchemaField
from schemac.versions.evolution.version_pair import SchemaVersion

Words = Mapping[SchemaField, tuple[str, ...]]
"""Lance's logical types of the nodes that belong to each field, parents first."""


class LazyWords(Words):
    """Lance's words for the fields of a dataset, which are worked out when one is read that is not known without Arrow.

    The merge driver starts for every lock anew, and loading pyarrow takes longer than merging one.
    """

    def __init__(self, dataset: LogicalDataset) -> None:
        self.dataset = dataset

    def __getitem__(self, field: SchemaField) -> tuple[str, ...]:
        """Return the words of a field."""
        type_ = field.type
        if field.parent is None and not field.extra and isinstance(type_, PlainType):
            return (type_.arrow_text,)
        return self._all[field]

    def __iter__(self) -> Iterator[SchemaField]:
        """Iterate over the fields."""
        return iter(self._all)

    def __len__(self) -> int:
        """Return how many fields there are."""
        return len(self._all)

    @cached_property
    def _all(self) -> Words:
        return words_of(self.dataset)


def words_of(dataset: LogicalDataset) -> Words:
    """Return Lance's words for the fields of a dataset."""
    return words_by_field(lower(dataset))


def _words(version: SchemaVersion) -> Words:
    return words_by_field(version.lowered)


def words(version: SchemaVersion) -> Words:
    """Return Lance's words for the fields of a schema."""
    return version.view(_words)


def column_words(version: SchemaVersion, column: SchemaField) -> Words:
    """Return Lance's words for the fields of one column; the others are not lowered for it."""
    return version.column_view(words_of, column)


_INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_FLOATS = frozenset({"halffloat", "float", "double"})
_TEXTS = frozenset({"string", "large_string"})
_BYTES = frozenset({"binary", "large_binary"})
_LISTS = ("list", "large_list", "list.struct", "large_list.struct")


def is_cast(old: str, new: str) -> bool:
    """Whether `alter_columns` turns a column of one logical type into the other."""
    if any(old in family and new in family for family in (_INTEGERS, _FLOATS, _BYTES)):
        return True
    if old in _TEXTS or _is_dictionary_of_texts(old):
        # Its cast to JSON leaves texts in the place of JSON's own form, which nothing can read.
        return new in _TEXTS or (old in _TEXTS and _is_dictionary_of_texts(new))
    if old == "json":
        return new in _BYTES
    if old in _LISTS and new in _LISTS:
        return old.endswith(".struct") == new.endswith(".struct")
    if old.startswith("fixed_size_list:") and new.startswith("fixed_size_list:"):
        (old_item, old_size), (new_item, new_size) = _vector(old), _vector(new)
        return old_size == new_size and (old_item == new_item or is_cast(old_item, new_item))
    if new.partition(":")[0] not in _PARAMETRIC.get(old.partition(":")[0], ()):
        return False
    return _is_same_clock(old, new)


def _is_same_clock(old: str, new: str) -> bool:
    """Whether the numbers stay what they are, but for their unit; into UTC, Lance stops at years far away."""
    before, after = (word.split(":", 2)[2] if word.startswith("timestamp:") else "-" for word in (old, new))
    return (before == "-") == (after == "-") or before == "UTC"


def _is_dictionary_of_texts(type_: str) -> bool:
    return type_.startswith(("dict:string:", "dict:large_string:"))


def _vector(type_: str) -> tuple[str, str]:
    item, _, size = type_.removeprefix("fixed_size_list:").rpartition(":")
    return item, size


_DATES = ("date32", "date64")
_TIMES = ("time32", "time64")
_PARAMETRIC: dict[str, tuple[str, ...]] = {
    "decimal": ("decimal",),
    "duration": ("duration",),
    "timestamp": ("timestamp", *_DATES, *_TIMES),
    **dict.fromkeys(_DATES, (*_DATES, "timestamp")),
    **dict.fromkeys(_TIMES, _TIMES),
}
