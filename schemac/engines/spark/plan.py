"""Spark's ALTER statements for a table in a catalog of lance-spark.

Layer: engines. Text only; pyspark is not imported.
Shape: only statements that the version of lance-spark takes, so that no plan stops in its middle; what it refuses,
`schemac apply` does. One sort a statement, as lance-spark needs it. New columns come last; metadata has no statement.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from schemac.artifacts.emission import Emission
from schemac.engines.spark import judge as engine
from schemac.engines.spark.artifact import to_fields
from schemac.engines.spark.codes import SPARK_LOSS
from schemac.engines.spark.columns import SparkField
from schemac.engines.spark.facts import SparkFact
from schemac.engines.spark.versions import KNOWN, Connector
from schemac.engines.spark_sql import literal, quoted_name, table_name, without_substitution
from schemac.evolution.changes import Change, Fact
from schemac.evolution.diff import diff_of
from schemac.evolution.renames import in_turn
from schemac.evolution.verdict import Judgement, Outcome
from schemac.evolution.version_pair import SchemaVersion, VersionPair
from schemac.logical.facts import AnyFact
from schemac.source.json_object import Json
from schemac.source.report import Report


@dataclass(frozen=True)
class SparkPlan:
    """Statements in their order, and what has none."""

    connector: Connector
    statements: tuple[str, ...]
    refused: tuple[tuple[Change, Judgement], ...]

    def to_json(self) -> Json:
        """Return the plan for programs."""
        refused = [
            {**change.to_json(), "reason": judgement.reason, "wayOut": judgement.way_out}
            for change, judgement in self.refused
        ]
        return {
            "connector": str(self.connector),
            "refused": refused,
            "statements": list(self.statements),
        }


def plan_spark(pair: VersionPair, connector: Connector = KNOWN) -> SparkPlan:
    """Return the statements from the old version to the new one that a version of lance-spark takes."""
    judged = [(change, engine.judge(change, pair, connector)) for change in diff_of(pair)]
    refused = tuple((c, judgement) for c, judgement in judged if judgement.outcome is Outcome.REFUSED)
    changes = [c for c, judgement in judged if judgement.outcome is not Outcome.REFUSED]
    table = table_name(pair.new.dataset.name)
    statements = [f"ALTER TABLE {table} {text}" for text in _statements(changes, pair)]
    return SparkPlan(connector, without_substitution(statements), refused)


def _statements(changes: list[Change], pair: VersionPair) -> Iterator[str]:
    yield from _property_statements(changes)
    dropped = [str(c.old_field.segment) for c in changes if c.fact is Fact.FIELD_DROPPED and c.old_field]
    if dropped:
        yield f"DROP COLUMNS ({', '.join(map(quoted_name, dropped))})"
    renamed = {str(c.old): str(c.new) for c in changes if c.fact is Fact.FIELD_RENAMED}
    names = {
        str(schema_field.segment)
        for version in (pair.old, pair.new)
        for schema_field in version.dataset.columns
    }
    for old, new in in_turn(renamed, names):
        yield f"RENAME COLUMN {quoted_name(old)} TO {quoted_name(new)}"
    for change in changes:
        if change.fact in _NULLABILITY:
            assert change.new_field is not None
            column = quoted_name(str(change.new_field.segment))
            yield f"ALTER COLUMN {column} {_NULLABILITY[change.fact]} NOT NULL"
    added = {c.new_field for c in changes if c.fact is Fact.FIELD_ADDED}
    columns = [
        f"{quoted_name(field.name)} {field.type.ddl}{_comment(field)}"
        for schema_field, field in zip(pair.new.dataset.columns, _fields(pair.new), strict=True)
        if schema_field in added
    ]
    if columns:
        yield f"ADD COLUMNS ({', '.join(columns)})"


_NULLABILITY: dict[AnyFact, str] = {Fact.BECAME_OPTIONAL: "DROP", Fact.BECAME_REQUIRED: "SET"}


def _comment(field: SparkField) -> str:
    return "" if field.comment is None else f" COMMENT {literal(field.comment)}"


def _property_statements(changes: list[Change]) -> Iterator[str]:
    """Yield the author's own properties; those of columns take effect only where a table is made."""
    changed = {c.key: str(c.new) for c in changes if c.fact is SparkFact.TABLE_PROPERTY_SET}
    if changed:
        items = ", ".join(f"{literal(key)} = {literal(changed[key])}" for key in sorted(changed))
        yield f"SET TBLPROPERTIES ({items})"
    gone = sorted(c.key for c in changes if c.fact is SparkFact.TABLE_PROPERTY_REMOVED)
    if gone:
        yield f"UNSET TBLPROPERTIES IF EXISTS ({', '.join(map(literal, gone))})"


def _fields(version: SchemaVersion) -> list[SparkField]:
    return to_fields(version.lowered, Emission(version.dataset, "spark", SPARK_LOSS, Report()))
