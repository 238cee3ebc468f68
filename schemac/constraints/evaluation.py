"""Evaluates constraints over Arrow record batches: the rows that break each.

Layer: constraints.
Shape: fields and a batch in; for each constraint that some rows break, their numbers in the batch and the values, at any depth.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from schemac.attributes.constraints import are_constrained
from schemac.attributes.family import Family
from schemac.constraints.columns import compute
from schemac.constraints.constraint import Constraint
from schemac.constraints.registry import constraints_at
from schemac.logical.schema_fields import SchemaField, preorder
from schemac.physical.arrow import pa


@dataclass(frozen=True)
class Breach:
    """A constraint that values of a batch break."""

    path: str
    constraint: Constraint
    rows: Any
    """The rows of the batch; a row is there as often as it has such values."""
    values: Any


def constrained_columns(columns: Iterable[SchemaField]) -> tuple[SchemaField, ...]:
    """Return the columns that have a constraint at some depth."""
    return tuple([one for one in columns if any(are_constrained(field.extra) for field in preorder([one]))])


def breaches(columns: Sequence[SchemaField], batch: Any) -> Iterator[Breach]:
    """Yield what the rows of a batch break; columns are found by their names."""
    for column in columns:
        values = batch.column(str(column.segment))
        for field, field_values, rows in each_value(column, values, pa.array(range(len(values)), pa.int64())):
            for constraint in constraints_at(field):
                mask = constraint.violations(field_values)
                if compute().any(mask).as_py():
                    yield Breach(field.path_text, constraint, rows.filter(mask), field_values.filter(mask))


def each_value(field: SchemaField, values: Any, rows: Any) -> Iterator[tuple[SchemaField, Any, Any]]:
    """Yield the places at and below a field, each with all of its values and the row of each; those without constraints count."""
    if isinstance(values.type, pa.BaseExtensionType):
        values = values.storage
    yield field, values, rows
    if not field.children:
        return
    if field.type.family is Family.STRUCT:
        for i, child in enumerate(field.children):
            yield from each_value(child, compute().struct_field(values, [i]), rows)
        return
    lists = _as_list(values) if field.type.family is Family.MAP else values
    items, below = lists.flatten(), rows.take(compute().list_parent_indices(lists))
    if field.type.family is Family.MAP:
        for i, child in enumerate(field.children):
            yield from each_value(child, compute().struct_field(items, [i]), below)
    else:
        yield from each_value(field.children[0], items, below)


def _as_list(maps: Any) -> Any:
    """Return maps as lists of their entries, which is how Arrow keeps them."""
    entries = pa.StructArray.from_arrays([maps.keys, maps.items], ["key", "value"])
    return pa.ListArray.from_buffers(
        pa.list_(entries.type), len(maps), maps.buffers()[:2], offset=maps.offset, children=[entries]
    )
