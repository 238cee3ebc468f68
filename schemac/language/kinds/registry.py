"""All kinds, in the order of the standard, and their names in other systems.

Layer: language.
Shape: names of other systems are compared without case and punctuation; `manifest.foreign` reads what is in brackets
after them.
Source: RFC-016; the order is that of the union in the standard's binary form, counted from 1. Other names are those of
SQL dialects, Spark, Flink, Iceberg, Arrow, protobuf, Python, Rust and ClickHouse.
"""

from types import ModuleType
from typing import Any

from schemac.language.attributes.attribute import spellings
from schemac.language.kinds import nested, plain, sequences, temporal
from schemac.language.logical.model import LogicalType


def _kinds_in(module: ModuleType) -> list[type[LogicalType]]:
    """Return the kinds that a module defines, without what several of them have in common."""
    classes: list[Any] = [one for one in vars(module).values() if isinstance(one, type)]
    kinds = [one for one in classes if issubclass(one, LogicalType) and one.__module__ == module.__name__]
    return [kind for kind in kinds if not kind.model_fields["kind"].is_required()]


_ALL = [kind for module in (nested, plain, sequences, temporal) for kind in _kinds_in(module)]
KINDS = tuple(sorted(_ALL, key=lambda kind: kind.standard_number or len(_ALL)))

BY_NAME: dict[str, type[LogicalType]] = {kind.__name__: kind for kind in KINDS}
"""Kinds by their name in manifests."""

SPELLINGS: dict[str, str] = {spelling: name for name in BY_NAME for spelling in spellings(name)}
"""Every accepted spelling of a kind, to its name."""

LogicalType.kinds = BY_NAME


ARROW_NAMES: dict[str, str] = {
    "null": "Null",
    **{kind.arrow_text: kind.__name__ for kind in KINDS if issubclass(kind, plain.PlainType)},
}
"""Kinds by what pyarrow prints for their one Arrow type."""

FOREIGN_NAMES: dict[str, str] = {name: kind.__name__ for kind in KINDS for name in kind.foreign_names}
"""What other systems call it, to our kind."""


def kind_of_name(name: str) -> str:
    """Return the kind that a name of another system stands for, whatever its case: Int64 for `BIGINT`. Raises KeyError for an unknown name."""
    return SPELLINGS.get(name.lower()) or FOREIGN_NAMES[name.lower()]
