"""What Spark's own parser makes of DDL and of types is what `schemac import` and the suggestions make of them."""

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

import schemac
from tests.unit.test_foreign_types import OURS, compiled, same

pytestmark = pytest.mark.spark

TABLES = (
    "CREATE TABLE t (id BIGINT, a STRING, PRIMARY KEY (id) NOT ENFORCED)",
    "CREATE TABLE t (id BIGINT, a STRING, CONSTRAINT pk PRIMARY KEY (ID, a) NOT ENFORCED RELY)",
    "CREATE TABLE t (id BIGINT PRIMARY KEY NOT ENFORCED, a STRING COMMENT 'x')",
    "CREATE TABLE t (id BIGINT CONSTRAINT k PRIMARY KEY, a STRING UNIQUE NOT ENFORCED NOT NULL)",
    "CREATE TABLE t (id BIGINT COMMENT 'x' PRIMARY KEY NOT ENFORCED NORELY)",
    "CREATE TABLE c.d.t (id INT NOT NULL, day DATE, CHECK (id > 0)) PARTITIONED BY (day)",
    "CREATE OR REPLACE TABLE t (a DECIMAL(10), b STRUCT<x: INT NOT NULL, y: ARRAY<MAP<STRING, TIMESTAMP_NTZ>>>)",
    "CREATE TABLE IF NOT EXISTS t (a VARCHAR(5), b CHAR(3), c INTERVAL DAY TO SECOND, d BINARY, e VOID)",
    "CREATE TABLE t (a TIMESTAMP WITHOUT TIME ZONE, b TIMESTAMP WITH LOCAL TIME ZONE, c REAL, d DEC(4, 1))",
)


def parsed(spark: SparkSession, statement: str) -> Any:
    """The StructType of a statement by Spark's parser."""
    plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(statement)
    return json.loads(plan.tableSchema().json())


def without_notes(tree: Any) -> Any:
    """Names, types and nullability alone."""
    if isinstance(tree, dict):
        return {key: without_notes(value) for key, value in tree.items() if key != "metadata"}
    return [without_notes(item) for item in tree] if isinstance(tree, list) else tree


@pytest.mark.parametrize("statement", TABLES)
def test_read_a_table_as_spark_does(spark: SparkSession, statement: str) -> None:
    theirs = parsed(spark, statement)
    ours = schemac.from_spark_ddl(statement).to_spark()
    assert without_notes(ours) == without_notes(theirs)


LEAVES = (
    *(
        [
            "boolean",
            "tinyint",
            "smallint",
            "int",
            "bigint",
            "float",
            "double",
            "string",
            "binary",
            "date",
            "timestamp",
            "timestamp_ntz",
        ]
    ),
    *("byte short integer long real", "decimal(12,3)", "dec(5)", "numeric", "interval day to second"),
)
FORMS = (
    "{}",
    "array<{}>",
    "map<string,{}>",
    "struct<a: {}, b: {} NOT NULL>",
    "array<struct<m: map<int, array<{}>>>>",
)


def test_mean_the_types_that_spark_reads(spark: SparkSession) -> None:
    leaves = [
        leaf
        for words in LEAVES
        for leaf in (words.split() if "(" not in words and "day" not in words else [words])
    ]
    texts = [form.format(*[leaf] * form.count("{}")) for leaf in leaves for form in FORMS]
    texts = [text for text in texts if text not in OURS]
    found = compiled(*texts)
    wrong = {}
    for text in texts:
        theirs = to_arrow_schema(StructType.fromDDL(f"a {text}"), timezone="UTC").field("a").type
        if text not in found or not same(_plain(found[text].type), _plain(theirs)):
            wrong[text] = (str(found.get(text)), str(theirs))
    assert wrong == {}


def _plain(type_: Any) -> Any:
    """Arrow's type with the names of parts that both sides choose freely."""
    import pyarrow as pa

    if pa.types.is_list(type_):
        return pa.list_(pa.field("item", _plain(type_.value_type), type_.value_field.nullable))
    if pa.types.is_map(type_):
        value = pa.field("value", _plain(type_.item_type), type_.item_field.nullable)
        return pa.map_(_plain(type_.key_type), value)
    if pa.types.is_struct(type_):
        return pa.struct([f.with_type(_plain(f.type)) for f in type_])
    return type_
