"""How an engine numbers fields.

Layer: identity.
Shape: numbers that a field had are kept where the engine would keep them, the others are new, above the highest that
was ever used; none is used twice, whatever the engine itself would do. An engine that goes by the ids of the lock, or by
names, numbers nothing and has no such capability.
"""

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any

from schemac.identity.lock import Highest
from schemac.logical.dataset import LogicalDataset
from schemac.logical.schema_fields import SchemaField
from schemac.registry.engine import Capability, EngineError
from schemac.registry.installed import engines

FieldNumbers = Mapping[SchemaField, tuple[int, ...]]
"""The numbers of an engine; a field that it does not number is not there, or has none."""
Numbered = tuple[FieldNumbers, int]
"""The numbers of all fields, and the highest one that was ever given."""


@dataclass(frozen=True, slots=True)
class Old:
    """A field as it was, with the numbers that an engine gave it."""

    field: SchemaField
    numbers: tuple[int, ...]
    is_back: bool = False
    """Whether it was dropped in between, and has been given its id back."""


@dataclass(frozen=True, slots=True)
class Former:
    """The version before, or the newest one of another branch."""

    dataset: LogicalDataset
    fields: Mapping[SchemaField, Old]
    """What fields were, by the fields that they are now."""

    def is_in_its_place(self, field: SchemaField) -> bool:
        """Whether a field that was there before is still in the same field, or still a column."""
        if field.parent is None:
            return self.fields[field].field.parent is None
        above = self.fields.get(field.parent)
        return above is not None and above.field is self.fields[field].field.parent


def _nothing(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an engine that has nothing to remember."""
    return {}


@dataclass(frozen=True, slots=True)
class Numbering:
    """An engine's own way to number fields."""

    number: Callable[[LogicalDataset, Former | None, int], Numbered]
    """The numbers of a schema, given what was before it (None for the first version) and the highest number that was ever
    given, -1 for none. The same arguments have to give the same numbers."""
    takes: Callable[[LogicalDataset, Former], Container[SchemaField]] | None = None
    """The fields of a merged schema that may have the numbers which they have on the other branch, as far as those are not
    given to other fields; None for all."""
    next_data: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _nothing
    """What to remember of a version besides numbers, a JSON object, given that of the version before; empty for nothing."""
    is_existing_only: bool = False
    """Whether it numbers only what came with numbers of its own, as an imported schema does; a lock that has none is not changed by it."""
    data_of_form_1: Callable[[int, int], Mapping[str, Any]] | None = None
    """The same of a version in a lock of form 1, which had two numbers there: of the schema, and of when it was made. For
    the engine that they were of."""


NUMBERING: Capability[Numbering] = Capability("numbering", Numbering)


ENGINE_NAME = "[A-Za-z0-9_.-]+"
"""What an engine may be called to have numbers in a lock."""


def numberings() -> dict[str, Numbering]:
    """How each of the installed engines numbers fields, by its name. Raises EngineError."""
    numberings_by_name: dict[str, Numbering] = {}
    for engine in engines():
        if not NUMBERING.is_of(engine):
            continue
        if not re.fullmatch(ENGINE_NAME, engine.name):
            message = f"no lock can name the engine {engine.name!r}: use letters, digits, `_`, `.` and `-`"
            raise EngineError(message)
        numberings_by_name[engine.name] = NUMBERING.of(engine)
    return numberings_by_name


def not_installed(highest: Highest) -> tuple[str, ...]:
    """Engines that have given numbers, and are not here to give more."""
    known = numberings()
    return tuple([name for name in highest.engines if name not in known])
