"""Schemas of other systems in JSON are named, not taken for data; whoever wants them as data says so."""

import json
from pathlib import Path
from typing import Any

import pytest

from schemac.cli.main import main

DOCUMENTS: dict[str, tuple[Any, str]] = {
    "JSON Schema without its name": (
        {"type": "object", "properties": {"a": {"type": "string"}}},
        "a JSON Schema",
    ),
    "Avro error": (
        {"type": "error", "name": "User", "fields": [{"name": "a", "type": "long"}]},
        "an Avro schema",
    ),
    "Avro union": ([{"type": "record", "name": "User", "fields": []}], "an Avro schema"),
    "Arrow": (
        {
            "schema": {"fields": [{"name": "a", "type": {"name": "int"}, "nullable": True, "children": []}]},
            "batches": [],
        },
        "Arrow's JSON for integration tests",
    ),
    "Delta": ({"commitInfo": {"timestamp": 1}}, "a commit of a Delta table's log"),
    "Delta metadata": ({"metaData": {"id": "x", "schemaString": "{}"}}, "a commit of a Delta table's log"),
    "OpenAPI": ({"openapi": "3.1.0", "paths": {"rides": {"get": "all"}}}, "an OpenAPI document"),
    "AsyncAPI": ({"asyncapi": "3.0.0", "channels": {"rides": {"address": "rides"}}}, "an AsyncAPI document"),
    "Paimon": (
        {"version": 3, "id": 1, "schemaId": 0, "baseManifestList": "x"},
        "a snapshot of a Paimon table",
    ),
    "BigQuery": ([{"name": "a", "type": "STRING", "mode": "NULLABLE"}], "a table schema of BigQuery"),
    "Kafka": (
        {"schema": {"type": "struct", "fields": [{"field": "a", "type": "int32"}]}, "payload": {"a": 1}},
        "a record of Kafka Connect with its schema",
    ),
    "pandas": (
        {"schema": {"fields": [{"name": "a", "type": "integer"}]}, "data": [{"a": 1}]},
        "a Table Schema of Frictionless or pandas",
    ),
    "manifest": ({"fields": [{"name": "a", "type": "Int32"}]}, "a manifest or a Table Schema"),
}
RECORDS: dict[str, Any] = {
    "a record with a type": {"type": "record", "name": "x", "value": 1},
    "features": {"type": "Feature", "properties": {"a": 1}},
    "an action": {"add": 3},
    "a schema of its own": {"schema": "public", "fields": 3},
    "fields that are values": {"fields": [{"name": "a", "value": 1}]},
    "modes": [{"name": "a", "type": "b", "mode": "fast"}],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", DOCUMENTS)
def test_name_a_schema_of_another_system(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    document, title = DOCUMENTS[name]
    (folder / "x.json").write_text(json.dumps(document, indent=2))
    assert main(["import", "x.json", "--out", "m.yaml", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (found["code"], found["message"]) == ("SC553", f"x.json is {title}, not data")
    assert found["help"]
    assert not (folder / "m.yaml").exists()
    assert main(["import", "x.json", "--from", "ndjson", "--out", "m.yaml"]) == 0
    assert main(["check", "m.yaml"]) == 0


@pytest.mark.parametrize("name", RECORDS)
def test_infer_data_all_the_same(folder: Path, name: str) -> None:
    (folder / "x.json").write_text(json.dumps(RECORDS[name]))
    assert main(["import", "x.json", "--out", "m.yaml"]) == 0
    assert main(["check", "m.yaml"]) == 0


def test_name_a_delta_log_of_several_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"commitInfo": {}}, {"protocol": {"minReaderVersion": 1}}, {"add": {"path": "x"}}]
    (folder / "00000.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["import", "00000.json"]) == 1
    assert "a commit of a Delta table's log" in capsys.readouterr().err
