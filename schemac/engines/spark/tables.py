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
        found = plan_spark(pair, connector)
        if change.is_alone:
            _report_refused(found, pair, report)
        return _PlannedSpark(found)


def _report_refused(found: SparkPlan, pair: VersionPair, report: Report) -> None:
    for change, said in found.refused:
        report.add(
            REFUSED_CHANGE,
            f"{change}: {said.reason}",
            file=pair.new.label,
            path=change.path,
            help=said.way_out,
            severity=Severity.ERROR,
        )


class _PlannedSpark(PlannedChange):
    def __init__(self, found: SparkPlan) -> None:
        self.title = f"Spark, with {found.connector}"
        self.lines = tuple(_lines(found))
        self.document = {"spark": found.to_json()}

    def apply(self, report: Report, progress: Progress, spread: Spread | None = None) -> bool:
        """Not done here: the statements are for the author's own session."""
        raise NotImplementedError


def _lines(plan: SparkPlan) -> Iterator[PlanLine]:
    for statement in plan.statements:
        yield PlanLine("", f"  {statement};", is_code=True)
    for change, said in plan.refused:
        yield PlanLine("", f"  -- refused: {change}: {said.reason}; {said.way_out}", is_code=True)


TABLES = SparkTables("the statements of Spark change no values")
