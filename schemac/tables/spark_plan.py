"""Spark's ALTER statements for a table in a catalog of lance-spark.

Floor: 11 (tables). Text only; pyspark is not imported.
Shape: one sort a statement, as lance-spark wants it: properties first, for they tell how new columns are stored. New
columns come last and without comments, and metadata has no statement; what is left, `schemac apply` does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schemac.evolution.changes import Change, Fact
from schemac.evolution.diff import diff_of
from schemac.evolution.engines import spark as engine
from schemac.evolution.side import Pair, Side
from schemac.evolution.verdict import Judgement, Outcome
from schemac.source.catalogue import SPARK_LOSS
from schemac.source.report import Report
from schemac.tables.renames import in_turn
from schemac.targets.spark import literal, quoted_name, table_name, table_properties, to_fields
from schemac.targets.target import Emission


@dataclass(frozen=True)
class SparkPlan:
    """Statements in their order, and what has none."""

    statements: tuple[str, ...]
    refused: tuple[tuple[Change, Judgement], ...]

    def to_json(self) -> dict[str, Any]:
        """The plan for programs."""
        refused = [
            {**change.to_json(), "reason": said.reason, "wayOut": said.way_out}
            for change, said in self.refused
        ]
        return {"refused": refused, "statements": list(self.statements)}


def plan_spark(sides: Pair) -> SparkPlan:
    """The statements from one side to the other."""
    judged = [(change, engine.judge(change, sides)) for change in diff_of(sides)]
    refused = tuple((c, said) for c, said in judged if said.outcome is Outcome.REFUSED)
    changes = [c for c, said in judged if said.outcome is not Outcome.REFUSED]
    table = table_name(sides.new.dataset.name)
    return SparkPlan(tuple(f"ALTER TABLE {table} {text}" for text in _statements(changes, sides)), refused)


def _statements(changes: list[Change], sides: Pair) -> Iterator[str]:
    yield from _property_statements(sides)
    dropped = [str(c.old_slot.segment) for c in changes if c.fact is Fact.FIELD_DROPPED and c.old_slot]
    if dropped:
        yield f"DROP COLUMNS ({', '.join(map(quoted_name, dropped))})"
    renamed = {str(c.old): str(c.new) for c in changes if c.fact is Fact.FIELD_RENAMED}
    names = {str(slot.segment) for side in (sides.old, sides.new) for slot in side.dataset.columns}
    for old, new in in_turn(renamed, names):
        yield f"RENAME COLUMN {quoted_name(old)} TO {quoted_name(new)}"
    for change in changes:
        if change.fact is Fact.BECAME_OPTIONAL:
            assert change.new_slot is not None
            yield f"ALTER COLUMN {quoted_name(str(change.new_slot.segment))} DROP NOT NULL"
    added = {c.new_slot for c in changes if c.fact is Fact.FIELD_ADDED}
    types = {
        slot: field.type.ddl
        for slot, field in zip(sides.new.dataset.columns, _fields(sides.new), strict=True)
        if slot in added
    }
    if types:
        columns = ", ".join(f"{quoted_name(str(slot.segment))} {ddl}" for slot, ddl in types.items())
        yield f"ADD COLUMNS ({columns})"


def _property_statements(sides: Pair) -> Iterator[str]:
    old, new = (table_properties(side.compilation, _fields(side)) for side in (sides.old, sides.new))
    changed = {key: new[key] for key in sorted(new) if old.get(key) != new[key]}
    if changed:
        items = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in changed.items())
        yield f"SET TBLPROPERTIES ({items})"
    gone = sorted(old.keys() - new.keys())
    if gone:
        yield f"UNSET TBLPROPERTIES IF EXISTS ({', '.join(map(literal, gone))})"


def _fields(side: Side) -> list[Any]:
    return to_fields(side.lowered, Emission(side.dataset, "spark", SPARK_LOSS, Report()))
