"""Spark's own parser reads the statements of a plan."""

import json
from typing import Any

from pyspark.sql import SparkSession

from schemac.tables.spark_plan import plan_spark
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
    made = plan_spark(Evolution.of(OLD, NEW).sides)
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
    assert not made.refused, json.dumps(made.to_json())
