"""System columns that an author leaves to the compiler.

Layer: manifest.
Shape: what is missing comes first, in the standard's order; what is there stays as it is. An inserted column has no place
of its own in the text, so a finding about it is at `fields`.
Source: the standard's system columns; the wish to have them filled in is an open question of RFC-016.
"""

from dataclasses import replace
from itertools import takewhile

from schemac.kinds.registry import BY_NAME
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import Field, Member, Schema
from schemac.logical.schema_fields import SchemaField
from schemac.logical.system import VARIANTS


def with_system_columns(dataset: LogicalDataset, variant: str) -> LogicalDataset:
    """Return the dataset with all its system columns."""
    names = dataset.naming.names
    present = {field.name for field in dataset.schema.fields}
    types = [BY_NAME[kind](kind=kind) for kind in (*VARIANTS[variant], "Timestamp", "Timestamp")]
    added = [
        Field(name=name, type=type_) for name, type_ in zip(names, types, strict=True) if name not in present
    ]
    if not added or not dataset.is_whole:
        return dataset
    new = [(field, SchemaField(None, Member(field.name, ("fields",), field))) for field in added]
    old = list(zip(dataset.schema.fields, dataset.columns, strict=True))
    leading = list(takewhile(lambda column: column[0].name in names, old))
    places = [names.index(field.name) for field, _ in leading]
    first = [*new, *leading]
    if places == sorted(places):
        first.sort(key=lambda column: names.index(column[0].name))
    fields, schema_fields = zip(*first, *old[len(leading) :], strict=True)
    return replace(dataset, schema=Schema(fields=fields, extra=dataset.schema.extra), columns=schema_fields)
