"""Constraints of rows in two versions: which of them are the same, whatever their fields are called now.

Layer: evolution.
Shape: a constraint is told apart by what it asks of which fields; fields by their identity. Where a field has values of another
sort than before, what is asked of it is something else.
"""

import dataclasses
import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from schemac.attributes.attribute import Attribute
from schemac.attributes.constraints import OF_ROWS
from schemac.attributes.family import NUMBERS, Family
from schemac.constraints.columns import EXACT
from schemac.constraints.constraint import Constraint
from schemac.constraints.expressions import FieldNode, LiteralNode
from schemac.constraints.registry import constraints_at
from schemac.constraints.rows import Check, ReferenceTo, RowConstraints, Unique, named_fields, row_constraints
from schemac.evolution.version_pair import SchemaVersion, VersionPair
from schemac.logical.model import LogicalType
from schemac.logical.schema_fields import SchemaField

BY_KEY: Mapping[str, Attribute[Any]] = {attribute.key: attribute for attribute in OF_ROWS}
_EXACT = NUMBERS | {Family.DECIMAL}


@dataclass(frozen=True)
class Rule:
    """One constraint that existing rows may break."""

    path: str
    """The field, or the fields with commas between them."""
    subject: Constraint | Check | ReferenceTo | Unique
    fields: tuple[SchemaField, ...] = dataclasses.field(compare=False)
    """The fields of the new version that it is about."""

    @property
    def question(self) -> str:
        """What is asked of the rows."""
        match self.subject:
            case Unique(several):
                return f"no two rows may have the same value{'s' if len(several) > 1 else ''}"
            case ReferenceTo(several, dataset, to):
                values = "every value has" if len(several) == 1 else "the values of every row have"
                return f"{values} to be the {', '.join(to)} of a row of {dataset}"
            case Check():
                return f"no row may break `{self.subject.text}`"
        return f"every value has to be {self.subject.text}"


class RowTurn(NamedTuple):
    """What is asked of rows for the first time, and what is no longer; each as it is written."""

    added: tuple[Any, ...]
    removed: tuple[Any, ...]


def sort_of(type_: LogicalType) -> Hashable:
    """Return what values of two types have in common if they compare alike: numbers do, and timestamps with a zone, or without one."""
    if type_.family in _EXACT:
        return "number"
    item = getattr(type_, "item_type", None)
    zone = type_.family is Family.TIMESTAMP and getattr(type_, "timezone", None) is not None
    return type_.family, zone, None if item is None else sort_of(item.inner_type() or item)


def row_turn(pair: VersionPair, key: str) -> RowTurn:
    """Return how the constraints of one attribute differ."""
    before = _meanings(key, pair.old, lambda field: field)
    after = _meanings(key, pair.new, lambda field: pair.before.get(field, field))
    return RowTurn(
        tuple([written for meaning, written in after.items() if meaning not in before]),
        tuple([written for meaning, written in before.items() if meaning not in after]),
    )


def rules_at(field: SchemaField, *keys: str) -> tuple[Rule, ...]:
    """Return the constraints of the values of a field: those of some attributes, or all."""
    return tuple(
        [
            Rule(field.path_text, one, (field,))
            for one in constraints_at(field)
            if not keys or one.attribute.key in keys
        ]
    )


def row_rules(version: SchemaVersion, key: str, written: Sequence[Any] | None = None) -> tuple[Rule, ...]:
    """Return the constraints of rows of one attribute: all, or those that are written so."""
    columns = version.dataset.columns
    several = version.dataset.schema.extra.get(key) or () if written is None else written
    if not several:
        return ()
    rules = row_constraints({key: list(several)}, columns)
    fields = named_fields(columns)
    constraints: list[tuple[Unique | ReferenceTo | Check, Iterable[FieldNode]]] = [
        *[(one, one.fields) for one in rules.unique],
        *[(one, one.fields) for one in rules.references],
        *[(one, one.condition.fields()) for one in rules.checks],
    ]
    return tuple([Rule(one.path, one, tuple([fields[n.path] for n in nodes])) for one, nodes in constraints])


def constraints_of(rules: Iterable[Rule]) -> RowConstraints:
    """Return those that are about whole rows."""
    subjects = [rule.subject for rule in rules]
    return RowConstraints(
        tuple([one for one in subjects if isinstance(one, Unique)]),
        tuple([one for one in subjects if isinstance(one, ReferenceTo)]),
        tuple([one for one in subjects if isinstance(one, Check)]),
    )


def _meanings(
    key: str, version: SchemaVersion, identity: Callable[[SchemaField], SchemaField]
) -> dict[Hashable, Any]:
    """Return each constraint as it is written, by what it means."""
    columns, by_meaning = version.dataset.columns, {}
    fields = named_fields(columns)

    def of(node: FieldNode) -> Hashable:
        return identity(fields[node.path]), sort_of(node.type)

    for written in version.dataset.schema.extra.get(key) or ():
        rules = row_constraints({key: [written]}, columns)
        several: list[Unique | ReferenceTo | Check] = [*rules.unique, *rules.references, *rules.checks]
        one = next(iter(several), None)
        by_meaning[json.dumps(written, sort_keys=True) if one is None else _meaning(one, of)] = written
    return by_meaning


def _meaning(one: Unique | ReferenceTo | Check, of: Callable[[FieldNode], Hashable]) -> Hashable:
    match one:
        case Unique():
            return frozenset(map(of, one.fields))
        case ReferenceTo():
            return one.dataset, frozenset(zip(map(of, one.fields), one.to, strict=True))
        case Check():
            return _tree(one.condition, of)


def _tree(node: Any, of: Callable[[FieldNode], Hashable]) -> Hashable:
    if isinstance(node, FieldNode):
        return of(node)
    if isinstance(node, LiteralNode):
        value = node.value
        is_number = not isinstance(value, bool | str)
        is_plain = is_number and node.type.family in _EXACT
        return Decimal(value).normalize(EXACT) if is_plain else str(node)
    if isinstance(node, tuple):
        return tuple([_tree(one, of) for one in node])
    if not is_dataclass(node):
        return str(node)
    parts = [getattr(node, one.name) for one in fields(node) if one.name != "type"]
    return type(node).__name__, tuple([_tree(part, of) for part in parts])
