"""`plan` for tables that Spark alters through a connector, and its ALTER statements.

Layer: engines. Text only; pyspark is not imported.
Shape: Spark's ALTER statements for a table in a catalog of lance-spark: only statements that the version of lance-spark takes, so that
      no plan stops in its middle; what it refuses, `schemac apply` does. One sort a statement, as lance-spark needs it. New columns
      come last; metadata has no statement.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from schemac.engines.spark.judge import ROWS
from schemac.engines.spark.versions import KNOWN, Connector
from schemac.engines.spark_sql import table_name, without_substitution
from schemac.text.source.catalogue import REFUSED_CHANGE
from schemac.text.source.diagnostic import Severity
from schemac.text.source.json_object import Json
from schemac.text.source.report import Report
from schemac.versions.evolution.changes import Change
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import judge_change
from schemac.versions.evolution.tables import PlanLine, PlannedChange, Progress, Spread, TableChange, Tables
from schemac.versions.evolution.verdict import Judgement, Outcome
from schemac.versions.evolution.version_pair import VersionPair, pair_versions


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
    judged = [(change, judge_change("spark", change, pair, connector.version)) for change in diff_of(pair)]
    refused = tuple((c, judgement) for c, judgement in judged if judgement.outcome is Outcome.REFUSED)
    changes = [c for c, judgement in judged if judgement.outcome is not Outcome.REFUSED]
    table = table_name(pair.new.dataset.name)
    statements = []
    for statement in dict.fromkeys(row.statement for row in ROWS.values() if row.statement is not None):
        made = [change for change in changes if (row := ROWS.get(change.fact)) and row.statement is statement]
        statements += [f"ALTER TABLE {table} {text}" for text in (statement(made, pair) if made else ())]
    return SparkPlan(connector, without_substitution(statements), refused)


@dataclass(frozen=True)
class SparkTables(Tables):
    """Tables in a catalog of lance-spark, by statements that the author runs."""

    def plan(self, change: TableChange, report: Report) -> PlannedChange | None:
        """Plan the statements; what has none is an error only where Spark alone was asked, for `apply` does it as well."""
        assert change.old is not None
        pair = pair_versions(change.old, change.new)
        connector = Connector.of(change.version) if change.version else KNOWN
        spark_plan = plan_spark(pair, connector)
        if change.is_alone:
            _report_refused(spark_plan, pair, report)
        return _PlannedSpark(spark_plan)


def _report_refused(spark_plan: SparkPlan, pair: VersionPair, report: Report) -> None:
    for change, judgement in spark_plan.refused:
        report.add(
            REFUSED_CHANGE,
            f"{change}: {judgement.reason}",
            file=pair.new.label,
            path=change.path,
            help=judgement.way_out,
            severity=Severity.ERROR,
        )


class _PlannedSpark(PlannedChange):
    def __init__(self, spark_plan: SparkPlan) -> None:
        self.title = f"Spark, with {spark_plan.connector}"
        self.lines = tuple(_lines(spark_plan))
        self.document = {"spark": spark_plan.to_json()}

    def apply(self, report: Report, progress: Progress, spread: Spread | None = None) -> bool:
        """Not done here: the statements are for the author's own session."""
        raise NotImplementedError


def _lines(plan: SparkPlan) -> Iterator[PlanLine]:
    for statement in plan.statements:
        yield PlanLine("", f"  {statement};", is_code=True)
    for change, judgement in plan.refused:
        yield PlanLine("", f"  -- refused: {change}: {judgement.reason}; {judgement.way_out}", is_code=True)


TABLES = SparkTables("the statements of Spark change no values")
