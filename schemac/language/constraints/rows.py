"""Constraints of whole rows: fields that are unique together, that refer to rows of another dataset, and conditions.

Layer: language.
Shape: fields are columns, or members of structs. As in SQL, a row in which one of the fields is null breaks none of them.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from schemac.language.attributes import constraints as attributes
from schemac.language.attributes.attribute import Role
from schemac.language.attributes.registry import has_role
from schemac.language.constraints.constraint import compute
from schemac.language.constraints.expressions import FieldNode, Node
from schemac.language.constraints.parsing import ExpressionError, read_condition
from schemac.language.logical.model import SchemaField, is_in_structs, preorder

UNIQUE_RULE, REFERENCE_RULE, CHECK_RULE = "unique", "references", "check"
DUPLICATE_RULE = "duplicate"
"""That of the primary key."""
_HIDDEN = (Role.JSON, Role.BLOB)
"""Roles of fields whose values are kept in another form than they are written in."""


@dataclass(frozen=True)
class OfFields:
    """What constraints of rows have in common."""

    fields: tuple[FieldNode, ...]
    """The fields in it, in their order."""

    @property
    def path(self) -> str:
        """The fields, each once, as reasons name them."""
        return ",".join(dict.fromkeys(map(str, self.fields)))


class Unique(OfFields):
    """Fields that have the same values in no two rows."""


@dataclass(frozen=True)
class ReferenceTo(OfFields):
    """Fields whose values are in a row of another dataset."""

    dataset: str
    to: tuple[str, ...]
    """Paths in the other dataset."""


@dataclass(frozen=True)
class Check(OfFields):
    """A condition of every row; null is not a violation."""

    text: str
    condition: Node

    @property
    def rule(self) -> str:
        """The rule, with the condition behind a colon."""
        return f"{CHECK_RULE}: {self.text}"

    def violations(self, rows: Any) -> Any:
        """Return a mask of the rows for which it is false."""
        pc = compute()
        return pc.invert(pc.fill_null(self.condition.evaluate(rows), True))


@dataclass(frozen=True)
class RowConstraints:
    """All of a schema."""

    unique: tuple[Unique, ...] = ()
    references: tuple[ReferenceTo, ...] = ()
    checks: tuple[Check, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.unique or self.references or self.checks)


def named_fields(columns: Sequence[SchemaField]) -> dict[str, SchemaField]:
    """Return the fields that have one value in every row, by their paths as people write them."""
    return {
        field.path_text: field
        for field in preorder(columns)
        if is_in_structs(field) and not any(has_role(field.extra, role) for role in _HIDDEN)
    }


def row_constraints(extra: Mapping[str, Any], columns: Sequence[SchemaField]) -> RowConstraints:
    """Return the constraints of the rows of a checked schema; those that name a field which is not there are left out."""
    if not any(attribute.key in extra for attribute in attributes.OF_ROWS):
        return RowConstraints()
    fields = named_fields(columns)

    def nodes(paths: Sequence[str]) -> tuple[FieldNode, ...] | None:
        return tuple([FieldNode.of(fields[path]) for path in paths]) if fields.keys() >= {*paths} else None

    checks: list[Check] = []
    for text in attributes.CHECK.read(extra) or ():
        # The schema was checked as a whole; this may be a part of it.
        with suppress(ExpressionError):
            condition = read_condition(text, fields)
            checks.append(Check(tuple(condition.fields()), text, condition))
    unique = [Unique(of) for paths in attributes.UNIQUE.read(extra) or () if (of := nodes(paths))]
    references = [
        ReferenceTo(of, one.dataset, tuple(one.to or one.fields))
        for one in attributes.REFERENCES.read(extra) or ()
        if (of := nodes(one.fields))
    ]
    return RowConstraints(tuple(unique), tuple(references), tuple(checks))
