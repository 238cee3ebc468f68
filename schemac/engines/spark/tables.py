"""What `plan` says of tables that Spark alters through a connector.

Layer: engines.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from schemac.engines.spark.plan import SparkPlan, plan_spark
from schemac.engines.spark.versions import KNOWN, Connector
from schemac.evolution.tables import PlanLine, PlannedChange, Progress, Spread, TableChange, Tables
from schemac.evolution.version_pair import VersionPair, pair_versions
from schemac.source.catalogue import REFUSED_CHANGE
from schemac.source.diagnostic import Severity
from schemac.source.report import Report


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
