"""Spark's own parser reads the statements of a plan."""

import re
from typing import Any

import pytest
from pyspark.sql import SparkSession

from schemac.engines.spark.judge import plan_spark
from schemac.engines.spark.versions import NEWEST_KNOWN, Connector
from schemac.versions.evolution.changes import Outcome
from tests.conformance.pypaimon.evolving import Evolution

OLD: dict[str, Any] = {
    "fields": [
        {"name": "it's `a`", "type": "Int64"},
        {"name": "b", "type": "Int64"},
        {"name": "gone.by", "type": "String"},
        {"name": "also gone", "type": "String"},
        {"name": "c", "type": "String"},
    ],
    "extra": {"spark.apache.org/tableProperties": {"team": "me", "it's": "so"}},
}
NEW: dict[str, Any] = {
    "fields": [
        {"name": "b", "type": "Int64", "extra": {"schemac.dev/renamedFrom": "it's `a`"}},
        {"name": "it's `a`", "type": "Int64", "extra": {"schemac.dev/renamedFrom": "b"}},
        {"name": "c", "type": {"kind": "Option", "inner": "String"}},
        {
            "name": "vector",
            "type": {"kind": "Option", "inner": {"kind": "List", "itemType": "Float32", "fixedLength": 3}},
        },
        {
            "name": "nested",
            "type": {
                "kind": "Option",
                "inner": {"kind": "Struct", "fields": [{"name": "x y", "type": "Int32"}]},
            },
        },
    ],
    "extra": {"spark.apache.org/tableProperties": {"team": "you\\'s"}},
}


def test_be_parsed(spark: SparkSession) -> None:
    """With the changes that wait upstream, which take all but the vector."""
    made = plan_spark(Evolution.of(OLD, NEW).pair, Connector("next"))
    parser = spark._jsparkSession.sessionState().sqlParser()
    plans = [parser.parsePlan(statement).nodeName() for statement in made.statements]
    assert plans == [
        "SetTableProperties",
        "UnsetTableProperties",
        "DropColumns",
        "RenameColumn",
        "RenameColumn",
        "RenameColumn",
        "AlterColumns",
        "AddColumns",
    ]
    assert [(change.path, said.outcome) for change, said in made.refused] == [("vector", Outcome.REFUSED)]
    assert "vector" not in "".join(made.statements)


@pytest.mark.parametrize(
    ("version", "statements"),
    [("0.4.0", 0), ("0.5.1", 2), (NEWEST_KNOWN, 2)],
)
def test_say_nothing_that_the_connector_refuses(version: str, statements: int) -> None:
    """No release alters columns, and the oldest nothing at all: a plan has what goes through, and names the rest."""
    made = plan_spark(Evolution.of(OLD, NEW).pair, Connector(version))
    assert len(made.statements) == statements
    assert all("TBLPROPERTIES" in statement for statement in made.statements)
    refused = [said for change, said in made.refused if "property" not in change.fact]
    assert len(refused) >= 7
    assert all(version in said.reason and "schemac apply" in said.way_out for said in refused)
    assert version in made.to_json()["connector"]


REFERENCES = ("${env:HOME}", "${system:user.name}", "${spark.app.name}", "${x}", "$${x}", "\\${x}", "${")


def everywhere(text: str) -> Evolution:
    """A change with a text in every place that a plan has for one: names, members, comments, keys and values."""
    optional = {"kind": "Option", "inner": "Int8"}
    comment = {"opendatafabric.org/description": text}
    struct = {"kind": "Struct", "fields": [{"name": text, "type": optional, "extra": comment}]}
    old = {
        "name": "t",
        "fields": [{"name": f"{text} {word}", "type": "Int8"} for word in ("dropped", "renamed", "loosened")],
        "extra": {"spark.apache.org/tableProperties": {f"{text} gone": text}},
    }
    new = {
        "name": "t",
        "fields": [
            {"name": f"{text} new", "type": "Int8", "extra": {"schemac.dev/renamedFrom": f"{text} renamed"}},
            {"name": f"{text} loosened", "type": optional},
            {"name": text, "type": {"kind": "Option", "inner": struct}, "extra": comment},
        ],
        "extra": {"spark.apache.org/tableProperties": {text: text}},
    }
    return Evolution.of(old, new)


@pytest.mark.parametrize("text", REFERENCES)
def test_leave_nothing_to_replace(text: str) -> None:
    """A text hides its dollar sign; a name cannot, so that the plan turns the replacing off and on again."""
    made = plan_spark(everywhere(text).pair, Connector("next"))
    first, *altering, last = made.statements
    assert made.refused == ()
    assert len(altering) == 6
    assert (first, last) == (
        "SET spark.sql.variable.substitute=false",
        "RESET spark.sql.variable.substitute",
    )
    assert all("${" not in re.sub("`(?:[^`]|``)*`", "", statement) for statement in altering)
    assert sum(statement.count(f"`{text}") for statement in altering) == 6
