"""Keys of every type: rows are twins, or refer to no row, to Arrow and to Spark alike, with the same reasons."""

import json
import random
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import lance
import pyarrow as pa
from pyspark.sql import SparkSession

import schemac
from schemac.engines.jsonschema.keywords import dump
from schemac.pipeline import conform
from schemac.pipeline.errors import PipelineError
from tests.conformance.manifest_types import TYPES, Manifest, member, option
from tests.engines import crossing
from tests.validation.test_pipeline import of_validation

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("in_utc")]
ROWS = 16


def dataset_of(types: dict[str, Manifest], **rules: Any) -> schemac.Dataset:
    fields = [{"name": "id", "type": "Int64"}, *(member(label, option(one)) for label, one in types.items())]
    extra = {f"schemac.dev/{key}": value for key, value in rules.items()}
    (dataset,) = schemac.compile_text(json.dumps({"name": "keys", "fields": fields, "extra": extra}))
    return dataset


def keys(step: int) -> dict[str, Manifest]:
    """The types of which a key may be, and a record of JSON has values. Spark has some decimals as texts."""
    found = {}
    for i, one in [*enumerate(TYPES.values())][::step]:
        try:
            dataset = dataset_of({f"c{i}": one}, unique=[[f"c{i}"]])
            dataset.to_table([{"id": 1}])
            spark_type = str(dataset.to_spark()).lower()
        except schemac.SchemaError:
            continue
        is_text_in_spark = one["kind"] == "Decimal" and "decimal" not in spark_type
        if not is_text_in_spark:
            found[f"c{i}"] = one
    return found


def grouped(types: dict[str, Manifest]) -> list[dict[str, Manifest]]:
    """A few keys for each schema: each is a step of Spark's plan, which is nested as deep as there are keys."""
    return [dict(several) for several in batched(types.items(), 12)]


def batched(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """`itertools.batched`, which Python 3.11 does not have."""
    iterator = iter(items)
    while several := [*islice(iterator, size)]:
        yield several


def drawn_records(dataset: schemac.Dataset, seed: int) -> list[str]:
    """Rows with one key each, for a row that is wrong already is no twin: twins far from each other and next to each other, and nulls."""
    chance, known = random.Random(seed), crossing.records(dataset)[:5]
    labels = [label for label in dataset.to_arrow().names if label != "id"]
    rows = [{label: chance.choice(known).get(label)} for label in labels for _ in range(ROWS)]
    chance.shuffle(rows)
    return [dump({"id": i, **row}) for i, row in enumerate(rows)]


def some_records(dataset: schemac.Dataset) -> list[str]:
    """Rows with the first value of each key, and with nulls."""
    first, *_ = crossing.records(dataset)
    return [dump({**row, "id": i}) for i, row in enumerate([first, {}])]


def reasons_of_spark(spark: SparkSession, texts: list[str], dataset: schemac.Dataset, **rules: Any) -> Any:
    frame = spark.createDataFrame([(text,) for text in texts], "value string").repartition(3)
    rows = conform(frame, dataset, json_column="value", **rules).frame.select("id", "_errors").toArrow()
    return {row["id"]: [(e["path"], e["rule"], e["value"]) for e in row["_errors"] or []] for row in rows.to_pylist()}  # fmt: skip


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
def test_find_twins_of_every_type(spark: SparkSession, step: int) -> None:
    types = keys(step)
    assert len(types) > 40 / step
    reported = set()
    for some in grouped(types):
        dataset = dataset_of(some, unique=[[label] for label in some])
        texts = drawn_records(dataset, 1)
        expected = of_validation(dataset.validate(texts))
        reported |= {path for several in expected.values() for path, _, _ in several}
        assert reasons_of_spark(spark, texts, dataset) == expected
    missing = types.keys() - reported
    assert len(missing) < len(types) / 4, {label: types[label] for label in missing}


@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.long)])
def test_find_references_of_every_type(spark: SparkSession, tmp_path: Path, step: int) -> None:
    """The other table has some of the values; one that has a type which cannot be compared is refused by both."""
    types, path = {}, str(tmp_path / "others.lance")
    others = {"others": {"path": path}}
    for label, one in keys(step).items():
        references = [{"fields": [label], "dataset": "others", "to": [label]}]
        dataset = dataset_of({label: one}, references=references)
        target = dataset_of({label: one}).to_table(some_records(dataset))
        try:
            lance.write_dataset(target, path, mode="overwrite", data_storage_version="2.1")
            reasons_of_spark(spark, [], dataset, references=others)
        except (PipelineError, OSError):
            continue
        types[label] = one
    assert len(types) > 20 / step
    reported = set()
    for some in grouped(types):
        references = [{"fields": [label], "dataset": "others", "to": [label]} for label in some]
        dataset = dataset_of(some, references=references)
        target = dataset_of(some).to_table(some_records(dataset))
        lance.write_dataset(target, path, mode="overwrite", data_storage_version="2.1")
        texts = drawn_records(dataset, 1)
        stored = lance.dataset(path).to_table()
        expected = of_validation(dataset.validate(texts, references={"others": stored}))
        reported |= {path for several in expected.values() for path, _, _ in several}
        assert reasons_of_spark(spark, texts, dataset, references=others) == expected
    missing = types.keys() - reported
    assert len(missing) < len(types) / 4, {label: types[label] for label in missing}


def test_compare_the_whole_key(spark: SparkSession) -> None:
    """A part of a key may be a member of a struct; rows that differ in it alone are no twins."""
    part: dict[str, Any] = {"lance.org/primaryKey": {}}
    ref = {"kind": "Struct", "fields": [{"name": "part", "type": "Int64", "extra": part}]}
    fields = [
        {"name": "id", "type": "Int64"},
        {"name": "ref", "type": ref},
        {"name": "region", "type": "String", "extra": {"lance.org/primaryKey": {"position": 1}}},
    ]
    (dataset,) = schemac.compile_text(json.dumps({"name": "keys", "fields": fields}))
    keys = [("a", 1), ("a", 2), ("a", 2), ("b", 1)]
    texts = [
        dump({"id": i, "ref": {"part": part}, "region": region}) for i, (region, part) in enumerate(keys)
    ]
    expected = of_validation(dataset.validate(texts))
    twin = [("region,ref.part", "duplicate", '{"region":"a","ref.part":2}')]
    assert expected == {0: [], 1: twin, 2: twin, 3: []}
    table = pa.Table.from_pylist([*map(json.loads, texts)], dataset.to_arrow())
    assert of_validation(dataset.validate(table)) == expected
    assert reasons_of_spark(spark, texts, dataset, keys="check") == expected
    assert dataset.validate(dataset.sample(50)).is_good
