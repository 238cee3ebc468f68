"""The pipeline file, the splitter of documents and the comparison of schemas, without Spark."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from lance.schema import LanceSchema
from pydantic import ValidationError

from schemac.engines.lance.tables.fields import differences, lance_fields_of
from schemac.pipeline.conforming.load import check
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.inputs import parse_steps, variant_path
from schemac.pipeline.reading.json_records import records_of


def test_job_reads_the_short_and_the_long_form() -> None:
    job = Job.model_validate(
        {
            "source": {"path": "a.json", "options": {"multiLine": True}},
            "schema": "a.yaml",
            "fields": {"m": "properties.mag", "t": {"from": "x", "epoch": "Millisecond"}, "n": None},
            "target": {"path": "out/a.lance", "mode": "overwrite"},
            "maxQuarantined": 0.05,
        }
    )
    assert job.source.path == ("a.json",)
    assert job.source.options == {"multiLine": "true"}
    assert job.fields["m"] is not None
    assert job.fields["m"].from_ == "properties.mag"
    assert job.fields["n"] is None
    assert job.quarantine_path == "out/a.quarantine.lance"


@pytest.mark.parametrize(
    "wrong", [{"maxQuarantined": 1.5}, {"maxQuarantined": -1}, {"typo": 1}, {"coerce": "yes"}]
)
def test_job_refuses_what_it_does_not_know(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Job.model_validate({"source": {"path": "a"}, "target": {"path": "b"}, **wrong})


def test_missing_input_is_found_before_spark_starts(tmp_path: Path) -> None:
    (tmp_path / "b.json").touch()
    job = Job.model_validate(
        {"source": {"path": str(tmp_path / "a.json")}, "target": {"path": str(tmp_path / "t")}}
    )
    with pytest.raises(PipelineError, match=r"a\.json.*b\.json"):
        check(job)


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ("[]", []),
        ('[1, {"a": 1.10},\n {"b": 2}]', ["1", '{"a": 1.10}', '{"b": 2}']),
        ('{"a": 1}\n{"b": 2}\n', ['{"a": 1}', '{"b": 2}']),
        ('{\n "a": 1\n}', ['{\n "a": 1\n}']),
        ('[{"a": 1},\n {"a": ,},\n {"a": 3}]', ['{"a": 1}', '{"a": ,}', '{"a": 3}']),
        ('[{"a": 1}, {"a": 2', ['{"a": 1}', '{"a": 2']),
        ('[{"a": 1}', ['{"a": 1}', ""]),
        ('[{"a": 1}] [{"a": 2}]x', ['{"a": 1}', '{"a": 2}', "x"]),
        (
            '[\n {\n  "a": tru,\n  "b": [\n   {"c": 1}]\n },\n {"a": 2}]',
            ['{\n  "a": tru,\n  "b": [\n   {"c": 1}]\n }', '{"a": 2}'],
        ),
        ('{"a": "x\n{"a": 2}\n', ['{"a": "x', '{"a": 2}']),
        ('[\n {"a": "x,\n  "b": {"c": 1}\n },\n {"a": 2}]', ['{"a": "x,\n  "b": {"c": 1}\n },', '{"a": 2}']),
    ],
)
def test_documents_are_cut_into_records(text: str, records: list[str]) -> None:
    assert list(records_of((text,))) == records


def test_features_are_found_behind_other_members() -> None:
    text = '{"type": "FeatureCollection", "metadata": {"features": []}, "features": [{"id": 1}, {"id": 2}], "bbox": []}'
    assert list(records_of((text,), "features")) == ['{"id": 1}', '{"id": 2}']


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ('{"features": [{"id": 1}], "features": [{"id": 2}]}', ['{"id": 1}', '{"id": 2}']),
        ('{"features": [{"id": 1}]}{"features": [{"id": 2}]}', ['{"id": 1}', '{"id": 2}']),
        ('{"features": [{"id": 1}], "x": tru, "y": [{"id": 3}]}', ['{"id": 1}', 'tru, "y": [{"id": 3}]}']),
        ('{"features": [{"id": 1}]} x', ['{"id": 1}', "x"]),
        ('{"id": 1}\n{"id": 2}', ['{"id": 1}', '{"id": 2}']),
    ],
)
def test_whatever_stands_beside_features_is_a_record(text: str, records: list[str]) -> None:
    assert list(records_of((text,), "features")) == records


def test_paths_are_read() -> None:
    assert parse_steps("properties.mag") == ("properties", "mag")
    assert parse_steps("`a.b`.c[2].d") == ("a.b", "c", 2, "d")
    assert parse_steps("US Gross") == ("US Gross",)
    assert variant_path(("it's", 1)) == '$["it\'s"][1]'
    with pytest.raises(PipelineError):
        parse_steps("a..b")


def test_differences_are_named() -> None:
    old = pa.schema(
        [pa.field("a", pa.int32(), metadata={"k": "1"}), pa.field("b", pa.struct([("c", pa.string())]))]
    )
    new = pa.schema(
        [
            pa.field("a", pa.int64(), False, metadata={"k": "2"}),
            pa.field("b", pa.struct([("d", pa.string())])),
        ]
    )
    found = differences(lance_fields_of(old), LanceSchema.from_pyarrow(new))
    assert found == (
        "`a` is Int64 in the table, and Int32 in the schema",
        "`a` may not be null in the table, and may in the schema",
        "`a`: k is `2` in the table, and `1` in the schema",
        "`b.c` has the name `b.d` in the table",
    )
    assert differences(lance_fields_of(old), LanceSchema.from_pyarrow(old)) == ()
