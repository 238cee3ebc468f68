"""Numbers of fields in messages.

Layer: engines.
Shape: a schema that came from a `.proto` keeps the numbers that it had there, and a new field gets the next above all that were ever
given. Any other goes by the ids of the lock, which are never used twice; it needs no numbers of its own.
Source: the language guide of Protocol Buffers, "Assigning Field Numbers": 1 to 536,870,911, without 19,000 to 19,999.
"""

from collections.abc import Mapping

from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.schema_fields import SchemaField, preorder
from schemac.versions.identity.compilation import Compilation
from schemac.versions.identity.lock import Numbers
from schemac.versions.identity.numbering import Former, Numbered, Numbering

NAME = "protobuf"
HIGHEST = 536_870_911
IMPLEMENTATION = range(19_000, 20_000)
"""Numbers that Protocol Buffers keeps for itself."""


def is_number(number: int) -> bool:
    """Whether a field may have a number."""
    return 1 <= number <= HIGHEST and number not in IMPLEMENTATION


def numbers_of(compilation: Compilation) -> Mapping[SchemaField, int]:
    """Return the number of every field: that of its `.proto`, or its id in the lock; without a lock the place in the schema."""
    numbers: Mapping[SchemaField, Numbers] = compilation.numbers or {}
    declared = {
        field: field_numbers.of(NAME)[0] for field, field_numbers in numbers.items() if field_numbers.of(NAME)
    }
    if declared:
        return declared
    return compilation.ids or {field: i for i, field in enumerate(preorder(compilation.dataset.columns), 1)}


def _number(dataset: LogicalDataset, former: Former | None, highest: int) -> Numbered:
    field_numbers: dict[SchemaField, tuple[int, ...]] = {}
    for field in preorder(dataset.columns):
        if not field.is_member:
            continue
        old = former.fields.get(field) if former is not None else None
        if former is not None and old is not None and old.numbers and former.is_in_its_place(field):
            field_numbers[field] = old.numbers
            continue
        highest = max(highest, 0) + 1
        if highest in IMPLEMENTATION:
            highest = IMPLEMENTATION.stop
        field_numbers[field] = (highest,)
    return field_numbers, highest


NUMBERING = Numbering(_number, is_existing_only=True)
