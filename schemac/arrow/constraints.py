"""The constraints that an Arrow schema carries in its metadata.

Layer: arrow.
Shape: fields as those of a manifest, each with the Arrow field that it stands for.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from schemac.arrow.from_arrow import lift
from schemac.language.attributes.attribute import Family
from schemac.language.attributes.constraints import ATTRIBUTES
from schemac.language.constraints.constraint import Constraint
from schemac.language.constraints.field_constraints import constraints_at
from schemac.language.constraints.rows import RowConstraints, row_constraints
from schemac.language.logical.model import Schema
from schemac.language.logical.schema_fields import SchemaField, columns
from schemac.language.physical.arrow import ArrowField, ArrowSchema, pa
from schemac.text.source.report import Report


@dataclass(frozen=True)
class Constrained:
    """A place of a schema, with the constraints that hold there and below."""

    schema_field: SchemaField
    field: ArrowField
    constraints: tuple[Constraint, ...] = ()
    children: "tuple[Constrained, ...]" = ()
    """Those below that have constraints, at whatever depth."""


@dataclass(frozen=True)
class SchemaConstraints:
    """All constraints of a schema."""

    columns: tuple[Constrained, ...] = ()
    """The columns that have some, at whatever depth."""
    rows: RowConstraints = dataclasses.field(default_factory=RowConstraints)

    def __bool__(self) -> bool:
        return bool(self.columns or self.rows)

    def column(self, name: str) -> Constrained | None:
        """Return what holds in a column; None if nothing does."""
        return next((one for one in self.columns if one.field.name == name), None)


def constraints_of(schema: ArrowSchema) -> SchemaConstraints:
    """Return the constraints of a schema that was lowered from a checked one, or of some columns of it.

    Constraints of rows that name a column which is not there are left out.
    """
    if not _mentions(schema):
        return SchemaConstraints()
    document = Schema.model_validate(lift(schema, "", Report()))
    fields = columns(document)
    constrained_columns = [
        _constrained(field, schema.field(str(field.segment)))
        for field in fields
        if str(field.segment) in schema.names
    ]
    return SchemaConstraints(
        tuple([one for one in constrained_columns if one is not None]),
        row_constraints(document.extra, fields),
    )


def _mentions(schema: ArrowSchema) -> bool:
    """Whether there is a constraint anywhere; most schemas have none, and lifting takes time."""
    keys = {attribute.key.encode() for attribute in ATTRIBUTES}
    return any(not keys.isdisjoint(metadata) for metadata in _metadata(schema))


def _metadata(schema: ArrowSchema) -> "Iterator[dict[bytes, bytes]]":
    yield schema.metadata or {}
    stack = list(schema)
    while stack:
        part = stack.pop()
        yield part.metadata or {}
        if pa.types.is_map(part.type):
            stack += [part.type.key_field, part.type.item_field]
        elif pa.types.is_nested(part.type):
            stack += [part.type.field(i) for i in range(part.type.num_fields)]


def _constrained(field: SchemaField, arrow: ArrowField) -> Constrained | None:
    constraints = constraints_at(field)
    below = [
        _constrained(child, part) for child, part in zip(field.children, _parts(field, arrow), strict=False)
    ]
    children = tuple([one for one in below if one is not None])
    return Constrained(field, arrow, constraints, children) if constraints or children else None


def _parts(field: SchemaField, arrow: ArrowField) -> tuple[ArrowField, ...]:
    """Return the Arrow fields of the children of a field; none where an extension type hides them."""
    type_ = arrow.type
    if isinstance(type_, pa.BaseExtensionType):
        return ()
    if field.type.family is Family.STRUCT:
        return tuple(type_)
    if field.type.family is Family.MAP:
        return type_.key_field, type_.item_field
    return (type_.value_field,) if field.type.family is Family.LIST else ()
