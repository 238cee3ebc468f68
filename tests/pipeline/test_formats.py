"""The formats of engines in Spark: `df.write` and `spark.read` of one table, with the columns that a query needs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import schemac
from schemac.pipeline import register_formats
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.writing.sink_options import encode_schema
from schemac.text.source.catalogue import (
    INPUT_NOT_FOUND,
    SINK_OPTION,
    SOURCE_TYPE_MISMATCH,
    UNKNOWN_SOURCE_COLUMN,
)
from tests.pipeline.conftest import another_session

pytestmark = pytest.mark.spark
FORMAT = "schemac-lance"
(TRIPS,) = schemac.compile_text(
    "name: trips\nfields:\n  - {name: id, type: UInt32}\n  - {name: day, type: Date}\n  - {name: city, type: {kind: Option, inner: String}}\n"
)


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """A session of somebody else's, in which nothing of ours is known yet."""
    with another_session(spark) as session:
        register_formats(session)
        yield session


def trips(session: SparkSession, path: Path) -> DataFrame:
    frame = session.sql(
        "select id, date_add(date'2024-01-01', cast(id as int)) as day, if(id % 3 = 0, null, concat('city ', id)) as city"
        " from range(100)"
    ).repartition(2)
    options = {"path": str(path), "schema": encode_schema(TRIPS.to_arrow())}
    frame.write.format(FORMAT).mode("append").options(**options).save()
    return session.read.format(FORMAT).load(str(path))


def test_read_what_was_written(session: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "t.lance"
    frame = trips(session, table)
    assert [(field.name, field.dataType.simpleString()) for field in frame.schema.fields] == [
        ("id", "bigint"),
        ("day", "date"),
        ("city", "string"),
    ]
    assert frame.count() == 100
    ids = frame.where("id in (5, 7, 1000) and city is not null and day < date'2024-01-08'").select("id")
    assert [row.id for row in ids.collect()] == [5]
    assert frame.where("city like 'city 1%' and id >= 98").count() == 0
    assert frame.where("city <=> null or id = 4").count() == 35
    more = {"path": str(table), "schema": encode_schema(TRIPS.to_arrow())}
    session.sql("select 1000 as id, date'2024-01-01' as day, null as city").write.format(FORMAT).mode(
        "overwrite"
    ).options(**more).save()
    assert session.read.format(FORMAT).load(str(table)).count() == 1
    assert session.read.format(FORMAT).option("version", 1).load(str(table)).count() == 100
    some = session.read.format(FORMAT).schema("city string, id bigint").load(str(table))
    assert [tuple(row) for row in some.collect()] == [(None, 1000)]


def test_a_query_gets_all_of_its_rows_after_another_one(session: SparkSession, tmp_path: Path) -> None:
    """Also where the session hands filters to data sources: Spark has one reader for all queries of a frame."""
    session.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    frame = trips(session, tmp_path / "t.lance")
    assert frame.where("id = 7").count() == 1
    assert frame.count() == 100
    assert frame.where("city <=> null or id = 4").count() == 35


def test_a_filter_is_lances(session: SparkSession, tmp_path: Path) -> None:
    """The columns that a filter needs are not those that are read."""
    trips(session, tmp_path / "t.lance")
    reader = session.read.format(FORMAT).option("filter", "id in (5, 6, 7) and city is not null")
    assert sorted(row.id for row in reader.load(str(tmp_path / "t.lance")).collect()) == [5, 7]
    days = reader.schema("day date").load(str(tmp_path / "t.lance"))
    assert (days.columns, days.count(), days.where("day < date'2024-01-07'").count()) == (["day"], 2, 1)


@pytest.mark.parametrize(
    ("options", "schema", "code"),
    [
        ({}, None, SINK_OPTION),
        ({"path": "t.lance", "versoin": "1"}, None, SINK_OPTION),
        ({"path": "t.lance", "version": "3"}, None, SINK_OPTION),
        ({"path": "t.lance", "filter": "fare > 1"}, None, SINK_OPTION),
        ({"path": "t.lance", "filter": "id >"}, None, SINK_OPTION),
        ({"path": "t.lance", "filter": "id + 1"}, None, SINK_OPTION),
        ({"path": "gone.lance"}, None, INPUT_NOT_FOUND),
        ({"path": "t.lance"}, "fare double", UNKNOWN_SOURCE_COLUMN),
        ({"path": "t.lance"}, "id string", SOURCE_TYPE_MISMATCH),
    ],
)
def test_mistakes_name_their_code(
    session: SparkSession, tmp_path: Path, options: dict[str, str], schema: str | None, code: Any
) -> None:
    lance.write_dataset(pa.table({"id": [1]}), tmp_path / "t.lance")
    if "path" in options:
        options = {**options, "path": str(tmp_path / options["path"])}
    reader = session.read.format(FORMAT).options(**options)
    with pytest.raises(PySparkException) as caught:
        (reader.schema(schema) if schema else reader).load().collect()
    found = PipelineError.from_text(str(caught.value))
    assert found is not None, caught.value
    assert found.code is code
