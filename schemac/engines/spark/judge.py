"""Changes of a table in a catalog of lance-spark: what each means, and the ALTER statement that makes it; `plan` of the statements.

Layer: engines. Text only; pyspark is not imported.
Shape: one table: what each fact means with a version of lance-spark, and the statement that makes the change. A plan has only statements
      that the version takes, so that none stops in its middle, one sort a statement; new columns come last. What is refused, `schemac
      apply` does through Lance itself. Comments and metadata have no statement, but no query depends on them, so they are no reason to
      refuse a change.
Source: the statements that lance-spark's catalog accepts. No release changes columns: 0.4.0 answers "Table alteration is not supported",
      builds up to August 2026 "Only SET/UNSET TBLPROPERTIES is supported". Its open pull request 752 has ADD, DROP and RENAME COLUMN at
      the top level, DROP and SET NOT NULL, one sort a statement.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

from schemac.arrow.to_arrow import to_arrow_fields
from schemac.artifacts.targets import Emission
from schemac.engines.spark import SPARK_LOSS
from schemac.engines.spark.artifact import to_fields
from schemac.engines.spark.attributes import SparkFact
from schemac.engines.spark.columns import COMMENT, SparkField
from schemac.engines.spark.versions import KNOWN, NEXT, Connector
from schemac.engines.sql_text import literal, quoted_name, table_name, without_substitution
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.facts import AnyFact, Fact
from schemac.language.logical.model import Castability, SchemaField, preorder
from schemac.text.source.catalogue import REFUSED_CHANGE
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json, without_keys
from schemac.versions.evolution import constraints
from schemac.versions.evolution.castability import castability, misfit
from schemac.versions.evolution.changes import (
    DATASET_FACTS,
    KEY_FACTS,
    METADATA,
    PROPERTY_FACTS,
    SAFE,
    STORAGE_FACTS,
    TYPE_FACTS,
    Change,
    Judgement,
    Outcome,
    depends_on_data,
    of_another_unit,
    refused,
)
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import Judge, judge_change
from schemac.versions.evolution.renames import rename_order
from schemac.versions.evolution.tables import PlanLine, PlannedChange, TableChange, Tables
from schemac.versions.evolution.version_pair import SchemaVersion, VersionPair, pair_versions


def _only_column(alone: LogicalDataset) -> SparkField:
    """Return the only column of a dataset as Spark has it, without reporting losses."""
    (field,) = to_fields(to_arrow_fields(alone), Emission(alone, "spark", SPARK_LOSS, Report()))
    return field


def spark_column(version: SchemaVersion, column: SchemaField) -> SparkField:
    """Return one column as Spark has it."""
    return version.column_view(_only_column, column)


_APPLY = "use `schemac apply`, which changes the table through Lance itself"
Statement = Callable[[Sequence[Change], VersionPair], Iterator[str]]
"""Yields what follows `ALTER TABLE` and the table's name, for all changes of one sort."""


class StatementRow(NamedTuple):
    """What a fact means, and the ALTER TABLE statement that makes the change; None if there is none."""

    judge: Callable[[Connector, Change, VersionPair], Judgement] | Judgement
    statement: Statement | None = None


@cache
def judge_of(connector: Connector) -> Judge:
    """Return the judge for a version of lance-spark."""
    rules = {
        fact: row.judge if isinstance(row.judge, Judgement) else partial(row.judge, connector)
        for fact, row in ROWS.items()
    }
    return Judge(rules, lambda _, pair: SAFE if pair is None else None, lambda v: judge_of(Connector.of(v)))


def _judge_column_property(connector: Connector, change: Change, pair: VersionPair) -> Judgement:
    """Return what a changed type means, or a changed attribute of a column or table."""
    if change.old_field is None:
        return METADATA
    old_field, new_field = change.fields
    old, new = spark_column(pair.old, old_field.column), spark_column(pair.new, new_field.column)
    bare_types = [without_keys(side.type.json, ("metadata", "name", "nullable")) for side in (old, new)]
    is_same_type = bare_types[0] == bare_types[1]
    types = old_field.type, new_field.type
    if is_same_type and change.fact in TYPE_FACTS and castability(*types) >= Castability.DEPENDS:
        reason = f"{misfit(*types)}, though Spark's type stays the same"
        return depends_on_data(reason, "check the values first; `schemac apply` changes the table")
    if old == new:
        return SAFE
    if change.fact in KEY_FACTS - {Fact.CLUSTERING_KEY_CHANGED} and constraints.is_key_changed(pair):
        return refused(
            "a table keeps the primary key that it was created with", constraints.way_out_of_key(pair)
        )
    if is_same_type:
        return Judgement(Outcome.METADATA, f"through `schemac apply`: {connector} cannot alter metadata")
    return _refuse(connector, what="cannot change types")


def _judge_table_property(connector: Connector, _change: Change, _pair: VersionPair) -> Judgement:
    """Return NEW_FILES, or refuse for versions of the connector without ALTER TABLE."""
    if connector.is_since_0_5:
        return Judgement(Outcome.NEW_FILES, "existing columns keep their encodings")
    return refused(f"{connector} does not support ALTER TABLE", "use lance-spark 0.5 or newer")


def _judge_storage(connector: Connector, _change: Change, _pair: VersionPair) -> Judgement:
    """Refuse to change how existing values are stored."""
    way_out = "add a new column next to it, fill it, and drop the old one"
    return refused(f"{connector} sets it when a column is created", way_out)


def _judge_constraint(_connector: Connector, change: Change, pair: VersionPair) -> Judgement:
    """Return DATA for a constraint that is added or tightened, with the command that checks stored rows."""
    return constraints.tightened(change, pair, constraints.verify_of(change))


def _judge_unit(connector: Connector, change: Change, pair: VersionPair) -> Judgement:
    """Return what another unit means, by the type that the column has before and after."""
    return of_another_unit(change, pair, _judge_column_property(connector, change, pair))


def _judge_column(connector: Connector, change: Change, pair: VersionPair) -> Judgement:
    """Return what it means that a column or member is added, dropped, or gets another name or nullability."""
    field = change.new_field or change.old_field
    assert field is not None
    if change.fact is Fact.FIELD_ADDED and not field.is_nullable:
        return refused("a new column has no values, so it has to be optional", "make it optional")
    if connector.version != NEXT:
        # Whether a future release can is not known.
        return _refuse(connector, what="cannot alter columns")
    if field.parent is not None:
        return _refuse(connector, what="can alter only top-level columns")
    moved = next((inner for inner in preorder(field.children) if inner in pair.after), None)
    if moved is not None:
        return _refuse(connector, what=f"would drop {moved.path_text} too, which moves out of it")
    # The description is what the comment says.
    plain = {COMMENT, DESCRIPTION.key}
    if change.fact is Fact.FIELD_ADDED and spark_column(pair.new, field).metadata.keys() - plain:
        return _refuse(connector, what="ignores table properties when it adds a column")
    if change.fact is Fact.BECAME_REQUIRED:
        reason = f"{connector} allows it if no row has null in {change.path}"
        return depends_on_data(reason, "check for nulls, and fill them first")
    return Judgement(Outcome.METADATA, f"with {connector}")


def _refuse(connector: Connector, *_: object, what: str) -> Judgement:
    """Refuse what the connector cannot do; the help is `schemac apply`."""
    return refused(f"{connector} {what}", _APPLY)


def _set_properties(changes: Sequence[Change], _pair: VersionPair) -> Iterator[str]:
    changed = {change.key: str(change.new) for change in changes}
    yield f"SET TBLPROPERTIES ({', '.join(f'{literal(key)} = {literal(changed[key])}' for key in sorted(changed))})"


def _unset_properties(changes: Sequence[Change], _pair: VersionPair) -> Iterator[str]:
    keys = sorted(change.key for change in changes)
    yield f"UNSET TBLPROPERTIES IF EXISTS ({', '.join(map(literal, keys))})"


def _drop_columns(changes: Sequence[Change], _pair: VersionPair) -> Iterator[str]:
    names = [str(change.old_field.segment) for change in changes if change.old_field is not None]
    yield f"DROP COLUMNS ({', '.join(map(quoted_name, names))})"


def _rename_columns(changes: Sequence[Change], pair: VersionPair) -> Iterator[str]:
    """Yield RENAME COLUMN, in an order in which no name is taken."""
    names = {str(column.segment) for version in (pair.old, pair.new) for column in version.dataset.columns}
    for old, new in rename_order({str(change.old): str(change.new) for change in changes}, names):
        yield f"RENAME COLUMN {quoted_name(old)} TO {quoted_name(new)}"


def _alter_columns(changes: Sequence[Change], _pair: VersionPair) -> Iterator[str]:
    """Yield ALTER COLUMN for each change of nullability."""
    for change in changes:
        verb = "DROP" if change.fact is Fact.BECAME_OPTIONAL else "SET"
        yield f"ALTER COLUMN {quoted_name(str(change.current_field.segment))} {verb} NOT NULL"


def _add_columns(changes: Sequence[Change], pair: VersionPair) -> Iterator[str]:
    """Yield ADD COLUMNS for all new columns, in the order of the schema."""
    added = {change.new_field for change in changes}
    # None of them has NOT NULL, for a new column that may not be null is refused.
    fields = [spark_column(pair.new, column) for column in pair.new.dataset.columns if column in added]
    yield f"ADD COLUMNS ({', '.join(field.ddl(' ') for field in fields)})"


ROWS: Mapping[AnyFact, StatementRow] = {
    SparkFact.TABLE_PROPERTY_SET: StatementRow(_judge_table_property, _set_properties),
    SparkFact.TABLE_PROPERTY_REMOVED: StatementRow(_judge_table_property, _unset_properties),
    Fact.FIELD_DROPPED: StatementRow(_judge_column, _drop_columns),
    Fact.FIELD_RENAMED: StatementRow(_judge_column, _rename_columns),
    Fact.BECAME_OPTIONAL: StatementRow(_judge_column, _alter_columns),
    Fact.BECAME_REQUIRED: StatementRow(_judge_column, _alter_columns),
    Fact.FIELD_ADDED: StatementRow(_judge_column, _add_columns),
    Fact.FIELD_MOVED: StatementRow(partial(_refuse, what="cannot move columns")),
    Fact.FIELDS_REORDERED: StatementRow(partial(_refuse, what="does not support FIRST and AFTER")),
    Fact.UNIT_CHANGED: StatementRow(_judge_unit),
    SparkFact.TYPE_CHANGED: StatementRow(_judge_column_property),
    **dict.fromkeys(DATASET_FACTS, StatementRow(SAFE)),
    **dict.fromkeys(TYPE_FACTS | PROPERTY_FACTS, StatementRow(_judge_column_property)),
    **dict.fromkeys(STORAGE_FACTS, StatementRow(_judge_storage)),
    **dict.fromkeys(constraints.TIGHTENED, StatementRow(_judge_constraint)),
}
"""In the order of the statements."""
JUDGE = judge_of(KNOWN)


@dataclass(frozen=True)
class SparkPlan:
    """The statements of a plan in their order, and the changes that have none."""

    connector: Connector
    statements: tuple[str, ...]
    refused: tuple[tuple[Change, Judgement], ...]

    def to_json(self) -> Json:
        """Return the plan for programs."""
        refused = [{**c.to_json(), "reason": j.reason, "wayOut": j.way_out} for c, j in self.refused]
        return {"connector": str(self.connector), "refused": refused, "statements": list(self.statements)}


def plan_spark(pair: VersionPair, connector: Connector = KNOWN) -> SparkPlan:
    """Return the statements from the old version to the new one that a version of lance-spark takes."""
    judged = [(change, judge_change("spark", change, pair, connector.version)) for change in diff_of(pair)]
    impossible = tuple((c, judgement) for c, judgement in judged if judgement.outcome is Outcome.REFUSED)
    changes = [c for c, judgement in judged if judgement.outcome is not Outcome.REFUSED]
    table = table_name(pair.new.dataset.name)
    statements = []
    for statement in dict.fromkeys(row.statement for row in ROWS.values() if row.statement is not None):
        made = [change for change in changes if (row := ROWS.get(change.fact)) and row.statement is statement]
        statements += [f"ALTER TABLE {table} {text}" for text in (statement(made, pair) if made else ())]
    return SparkPlan(connector, without_substitution(statements), impossible)


@dataclass(frozen=True)
class SparkTables(Tables):
    """Tables in a catalog of lance-spark, by statements that the author runs."""

    def plan(self, change: TableChange, report: Report) -> PlannedChange | None:
        """Plan the statements; what has none is an error only where Spark alone was asked, for `apply` does it as well."""
        assert change.old is not None
        pair = pair_versions(change.old, change.new)
        connector = Connector.of(change.version) if change.version else KNOWN
        spark_plan = plan_spark(pair, connector)
        for impossible, judgement in spark_plan.refused if change.is_alone else ():
            message, file, path = f"{impossible}: {judgement.reason}", pair.new.label, impossible.path
            report.add(REFUSED_CHANGE, message, file=file, path=path, help=judgement.way_out)
        lines = [f"  {statement};" for statement in spark_plan.statements]
        lines += [f"  -- refused: {c}: {j.reason}; {j.way_out}" for c, j in spark_plan.refused]
        return PlannedChange(
            title=f"Spark, with {connector}",
            lines=tuple(PlanLine("", line, is_code=True) for line in lines),
            document={"spark": spark_plan.to_json()},
        )


TABLES = SparkTables("the statements of Spark change no values")
