"""The meaning of a changed constraint, primary key, or constraint of rows.

Layer: versions.
Shape: constraints are compared by the values that they allow. No engine checks stored rows when a constraint is added
or narrowed, so whether the table satisfies it depends on its data; if a constraint is widened or removed, programs that
rely on it may meet other values. A primary key is compared by the identity of its fields, so a key whose fields are
renamed or moved is the same. Constraints of rows are compared by their condition and the identity of their fields; a
field of another type makes another constraint.
"""

import dataclasses
import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from schemac.language.attributes.attribute import NUMBERS, Family, Role
from schemac.language.attributes.constraints import KEYS_OF_ROWS
from schemac.language.attributes.registry import of_role
from schemac.language.constraints import rows
from schemac.language.constraints.constraint import EXACT, Constraint, Turn, UnfitValueError, turn_of
from schemac.language.constraints.expressions import FieldNode, LiteralNode
from schemac.language.constraints.field_constraints import BY_KEY, constraints_at
from schemac.language.logical.facts import Fact
from schemac.language.logical.model import LogicalType, SchemaField, preorder
from schemac.versions.evolution.changes import Change, Judgement, depends_on_data
from schemac.versions.evolution.version_pair import SchemaVersion, VersionPair


def is_key_changed(pair: VersionPair) -> bool:
    """Whether a key has other fields or places than before, besides those that go with their columns."""
    remaining = _remaining_marks(pair)
    return bool(remaining) and remaining != _marks(pair.new)


def way_out_of_key(pair: VersionPair) -> str:
    """Return what can be done where a table refuses another key."""
    return f"keep the key ({_paths(_marks(pair.old))}), or create a new table with the new schema and write the rows into it"


def loss_of_key(dropped: SchemaField, pair: VersionPair) -> str:
    """Return what becomes of the primary key when a field is dropped; empty if that is nothing."""
    marks = _marks(pair.old)
    if not any(field in marks for field in preorder([dropped])):
        return ""
    remaining = _remaining_marks(pair)
    return f"of the primary key {_paths(remaining)} is left" if remaining else "the primary key goes with it"


def _remaining_marks(pair: VersionPair) -> Mapping[SchemaField, Any]:
    """Return the marks of the old key on the fields that are still there."""
    return {pair.after[field]: mark for field, mark in _marks(pair.old).items() if field in pair.after}


def _marks(version: SchemaVersion) -> dict[SchemaField, Any]:
    """Return the marks of the primary key of a version, with its position, by field."""
    parts = of_role(Role.KEY_PART)
    return {
        field: mark
        for field in preorder(version.dataset.columns)
        for attribute in (parts if field.extra else ())
        if (mark := attribute.read(field.extra)) is not None
    }


def _paths(marks: Iterable[SchemaField]) -> str:
    """Return the paths of fields, with commas between them."""
    return ", ".join(field.path_text for field in marks)


_EXACT = NUMBERS | {Family.DECIMAL}


@dataclass(frozen=True)
class ConstraintRule:
    """One constraint that existing rows may break."""

    path: str
    """The field, or the fields with commas between them."""
    subject: Constraint | rows.Check | rows.ReferenceTo | rows.Unique
    fields: tuple[SchemaField, ...] = dataclasses.field(compare=False)
    """The fields of the new version that it is about."""

    @property
    def question(self) -> str:
        """The condition that the rows have to fulfil, in words."""
        match self.subject:
            case rows.Unique(several):
                return f"no two rows may have the same value{'s' if len(several) > 1 else ''}"
            case rows.ReferenceTo(several, dataset, to):
                values = "every value has" if len(several) == 1 else "the values of every row have"
                return f"{values} to be the {', '.join(to)} of a row of {dataset}"
            case rows.Check():
                return f"no row may break `{self.subject.text}`"
        return f"every value has to be {self.subject.text}"


class RowTurn(NamedTuple):
    """Added and removed constraints of rows, as text."""

    added: tuple[Any, ...]
    removed: tuple[Any, ...]


def comparison_class(type_: LogicalType) -> Hashable:
    """Return what values of two types have in common if they compare alike: numbers do, and timestamps with a zone, or without one.

    Durations compare as counts of their unit, so those of other units do not compare alike.
    """
    if type_.family in _EXACT:
        return "number"
    if type_.family is Family.DURATION:
        return type_.family, getattr(type_, "unit", None)
    item = getattr(type_, "item_type", None)
    zone = type_.family is Family.TIMESTAMP and getattr(type_, "timezone", None) is not None
    return type_.family, zone, None if item is None else comparison_class(item.inner_type() or item)


def row_turn(pair: VersionPair, key: str) -> RowTurn:
    """Return how the constraints of one attribute differ."""
    before = _texts_by_meaning(key, pair.old, lambda field: field)
    after = _texts_by_meaning(key, pair.new, lambda field: pair.before.get(field, field))
    return RowTurn(
        tuple([written for meaning, written in after.items() if meaning not in before]),
        tuple([written for meaning, written in before.items() if meaning not in after]),
    )


def rules_at(field: SchemaField, *keys: str) -> tuple[ConstraintRule, ...]:
    """Return the constraints of the values of a field: those of some attributes, or all."""
    return tuple(
        [
            ConstraintRule(field.path_text, one, (field,))
            for one in constraints_at(field)
            if not keys or one.attribute.key in keys
        ]
    )


def row_rules(
    version: SchemaVersion, key: str, written: Sequence[Any] | None = None
) -> tuple[ConstraintRule, ...]:
    """Return the constraints of rows of one attribute: all, or those that are written so."""
    columns = version.dataset.columns
    several = version.dataset.schema.extra.get(key) or () if written is None else written
    if not several:
        return ()
    rules = rows.row_constraints({key: list(several)}, columns)
    fields = rows.named_fields(columns)
    constraints: list[rows.Unique | rows.ReferenceTo | rows.Check] = [
        *rules.unique,
        *rules.references,
        *rules.checks,
    ]
    return tuple(
        [ConstraintRule(one.path, one, tuple([fields[str(n)] for n in one.fields])) for one in constraints]
    )


def constraints_of(rules: Iterable[ConstraintRule]) -> rows.RowConstraints:
    """Return the constraints of whole rows among some rules."""
    subjects = [rule.subject for rule in rules]
    return rows.RowConstraints(
        tuple([one for one in subjects if isinstance(one, rows.Unique)]),
        tuple([one for one in subjects if isinstance(one, rows.ReferenceTo)]),
        tuple([one for one in subjects if isinstance(one, rows.Check)]),
    )


def _texts_by_meaning(
    key: str, version: SchemaVersion, identity: Callable[[SchemaField], SchemaField]
) -> dict[Hashable, Any]:
    """Return the text of each constraint, by its meaning."""
    columns = version.dataset.columns
    by_meaning: dict[Hashable, Any] = {}
    fields = rows.named_fields(columns)

    def of(node: FieldNode) -> Hashable:
        return identity(fields[str(node)]), comparison_class(node.type)

    for written in version.dataset.schema.extra.get(key) or ():
        rules = rows.row_constraints({key: [written]}, columns)
        meaning: Hashable = json.dumps(written, sort_keys=True)
        for unique in rules.unique:
            meaning = frozenset(map(of, unique.fields))
        for reference in rules.references:
            meaning = reference.dataset, frozenset(zip(map(of, reference.fields), reference.to, strict=True))
        for check in rules.checks:
            meaning = _comparable(check.condition, of)
        by_meaning[meaning] = written
    return by_meaning


def _comparable(node: Any, of: Callable[[FieldNode], Hashable]) -> Hashable:
    """Return a comparable form of a condition in which `of` replaces fields and exact numbers are equal by value."""
    if isinstance(node, FieldNode):
        return of(node)
    if isinstance(node, LiteralNode):
        value = node.value
        is_number = not isinstance(value, bool | str)
        is_plain = is_number and node.type.family in _EXACT
        return Decimal(value).normalize(EXACT) if is_plain else str(node)
    if isinstance(node, tuple):
        return tuple([_comparable(one, of) for one in node])
    if not is_dataclass(node):
        return str(node)
    parts = [getattr(node, one.name) for one in fields(node) if one.name != "type"]
    return type(node).__name__, tuple([_comparable(part, of) for part in parts])


TIGHTENED = frozenset({Fact.CONSTRAINT_ADDED, Fact.CONSTRAINT_NARROWED, Fact.CONSTRAINT_CHANGED})
"""Existing rows may break it."""
LOOSENED = frozenset({Fact.CONSTRAINT_REMOVED, Fact.CONSTRAINT_WIDENED, Fact.CONSTRAINT_CHANGED})
"""New rows may have values that were not allowed before."""
_FACTS = {
    Turn.NARROWED: Fact.CONSTRAINT_NARROWED,
    Turn.WIDENED: Fact.CONSTRAINT_WIDENED,
    Turn.CHANGED: Fact.CONSTRAINT_CHANGED,
}


def constraint_fact(key: str, old: SchemaField, new: SchemaField) -> Fact | None:
    """Return how a constraint of values changed; None if it allows the same ones."""
    before, after = old.extra.get(key), new.extra.get(key)
    if before is None:
        return Fact.CONSTRAINT_ADDED
    if after is None:
        return Fact.CONSTRAINT_REMOVED
    is_alike = comparison_class(old.type) == comparison_class(new.type)
    if before == after and is_alike:
        return None
    try:
        was, is_ = (BY_KEY[key].read(field.type, field.extra[key]) for field in (old, new))
    except UnfitValueError:
        # A lock may remember what an earlier version of the compiler accepted.
        return Fact.CONSTRAINT_CHANGED
    is_compared = is_alike and old.type.family is new.type.family
    return _FACTS.get(was.turn(is_)) if is_compared else Fact.CONSTRAINT_CHANGED


def row_fact(pair: VersionPair, key: str) -> Fact | None:
    """Return how the constraints of rows of one attribute changed; None if they ask the same of the same fields."""
    was, is_ = (key in version.dataset.schema.extra for version in (pair.old, pair.new))
    if not (was and is_):
        return Fact.CONSTRAINT_ADDED if is_ else Fact.CONSTRAINT_REMOVED
    turn = row_turn(pair, key)
    return _FACTS.get(turn_of(bool(turn.added), bool(turn.removed)))


def rules_to_check(
    pair: VersionPair, changes: Iterable[Change], is_altered: Callable[[SchemaField], bool] = lambda _: False
) -> tuple[ConstraintRule, ...]:
    """Return the constraints that existing rows may break: those that changes add or narrow, and those of fields whose values become others."""
    rules: list[ConstraintRule] = []
    for change in changes:
        if change.fact in TIGHTENED and change.new_field is not None:
            rules += rules_at(change.new_field, change.key)
        elif change.fact in TIGHTENED:
            rules += row_rules(pair.new, change.key, row_turn(pair, change.key).added)
    for rule in every_rule(pair.new):
        # A list is another one where its items are.
        is_other = any(is_altered(inner) for field in rule.fields for inner in preorder([field]))
        if is_other and rule not in rules:
            rules.append(rule)
    return tuple(rules)


def every_rule(version: SchemaVersion) -> tuple[ConstraintRule, ...]:
    """Return all constraints of a version."""
    return (
        *[rule for field in preorder(version.dataset.columns) for rule in rules_at(field)],
        *[rule for key in KEYS_OF_ROWS for rule in row_rules(version, key)],
    )


def constraint_of(change: Change) -> Constraint | None:
    """Return the new constraint that a change is about; None for those of rows."""
    field = change.new_field
    return BY_KEY[change.key].read(field.type, field.extra[change.key]) if field is not None else None


def tightened(change: Change, pair: VersionPair | None, find: str = "") -> Judgement:
    """Return what a new or narrower constraint means for stored rows; `find` is the command that finds rows that break it."""
    constraint = constraint_of(change)
    if constraint is not None:
        reason = f"{change.path} has to be {constraint.text}, but existing rows were not checked"
        look = find or f"find values of {change.path} that are not {constraint.text}"
    else:
        name = change.key.partition("/")[2]
        reason = f"rows have to satisfy {', '.join(_added_texts(change, pair))} of `{name}`, but existing rows were not checked"
        look = find or "find the rows that break it"
    return depends_on_data(reason, f"{look}, and correct them first")


def verify_of(change: Change) -> str:
    """Return the command that finds such rows in a table that `verify` reads."""
    return f"lock the schema, and find the rows with `schemac verify {change.dataset} --table PATH --data`"


def loosened(change: Change) -> Judgement:
    """Return what a loosened constraint means for programs with the old schema."""
    where = f" of {change.path}" if change.path else ""
    return depends_on_data(
        f"old readers may rely on `{change.key}: {json.dumps(change.old, ensure_ascii=False)}`{where}",
        "update the readers to the new schema first",
    )


def _added_texts(change: Change, pair: VersionPair | None) -> Iterator[str]:
    """Yield the added row constraints in backticks; without a version pair all new ones."""
    for one in change.new or () if pair is None else row_turn(pair, change.key).added:
        yield f"`{one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)}`"
