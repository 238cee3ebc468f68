"""The constraints that an Arrow schema carries in its metadata.

Layer: arrow.
Shape: fields as those of a manifest.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from schemac.arrow.from_arrow import decoded, field_attributes, from_arrow
from schemac.language.attributes.attribute import Role
from schemac.language.attributes.constraints import ATTRIBUTES
from schemac.language.attributes.registry import of_role
from schemac.language.constraints.evaluation import Constrained, constrained
from schemac.language.constraints.rows import RowConstraints, row_constraints
from schemac.language.kinds.sequences import String
from schemac.language.logical.dataset import LAST_POSITION
from schemac.language.logical.model import Schema, columns
from schemac.language.physical import ArrowField, ArrowSchema, pa, parts_of
from schemac.text.source.diagnostics import Report


@dataclass(frozen=True)
class SchemaConstraints:
    """All constraints of a schema."""

    columns: tuple[Constrained, ...] = ()
    """The columns that have some, at whatever depth."""
    rows: RowConstraints = RowConstraints()

    def column(self, name: str) -> Constrained | None:
        """Return a column with its constraints; None if it has none."""
        return next((one for one in self.columns if str(one.field.segment) == name), None)


def constraints_of(schema: ArrowSchema) -> SchemaConstraints:
    """Return the constraints of a schema that was lowered from a checked one, or of some columns of it.

    Constraints of rows that name a column which is not there are left out.
    """
    # Most schemas have no constraint anywhere, and reading all fields takes time.
    content = schema.serialize().to_pybytes()
    if not any(attribute.key.encode() in content for attribute in ATTRIBUTES):
        return SchemaConstraints()
    document = Schema.model_validate(from_arrow(schema, "", Report()))
    fields = columns(document)
    names = frozenset(schema.names)
    return SchemaConstraints(
        constrained([field for field in fields if str(field.segment) in names]),
        row_constraints(document.extra, fields),
    )


def key_paths(schema: ArrowSchema) -> list[tuple[str, ...]]:
    """Return the paths of the parts of the primary key in its order: columns, and members of structs."""
    parts = of_role(Role.KEY_PART)
    positions: dict[tuple[str, ...], int] = {}
    for path, field in _in_structs(schema):
        extra = field_attributes(decoded(field.metadata), String.__name__) if field.metadata else {}
        for attribute in parts if extra else ():
            if (part := attribute.read(extra)) is not None:
                positions[path] = part.position or LAST_POSITION
    return sorted(positions, key=positions.__getitem__)


def _in_structs(
    fields: Iterable[ArrowField], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], ArrowField]]:
    """Yield fields, and those inside of structs, with their paths."""
    for field in fields:
        path = (*above, field.name)
        yield path, field
        if pa.types.is_struct(field.type):
            yield from _in_structs(parts_of(field.type), path)
