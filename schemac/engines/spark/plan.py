"""Spark's ALTER statements for a table in a catalog of lance-spark.

Layer: engines. Text only; pyspark is not imported.
Shape: only statements that the version of lance-spark takes, so that no plan stops in its middle; what it refuses,
`schemac apply` does. One sort a statement, as lance-spark needs it. New columns come last; metadata has no statement.
"""

from dataclasses import dataclass

from schemac.engines.spark.judge import ROWS
from schemac.engines.spark.versions import KNOWN, Connector
from schemac.engines.spark_sql import table_name, without_substitution
from schemac.evolution.changes import Change
from schemac.evolution.diff import diff_of
from schemac.evolution.judge import judge_change
from schemac.evolution.verdict import Judgement, Outcome
from schemac.evolution.version_pair import VersionPair
from schemac.source.json_object import Json


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
