"""Whatever a source calls a column of any JSON, the manifest has one word for it; where the source allows null there, so does the manifest."""

import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from schemac.cli.main import main

pytest.importorskip("sqlglot")

ODCS = """
kind: DataContract
apiVersion: v3.0.2
id: m
version: 1.0.0
status: active
schema:
  - {name: m, properties: [{name: a, logicalType: object, physicalType: json, required: true}]}
"""
DBT = "version: 2\nmodels:\n  - {name: m, columns: [{name: a, data_type: json}]}\n"
CONTRACT = """
dataContractSpecification: 1.1.0
id: m
info: {title: m, version: 1.0.0}
models:
  m: {type: table, fields: {a: {type: json, required: true}}}
"""
MODEL = "from typing import Any\nfrom pydantic import BaseModel\n\n\nclass M(BaseModel):\n    a: "
UNION = {"type": "record", "name": "m", "fields": [{"name": "a", "type": ["null", "int", "string"]}]}
ANY = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": ["a"]}
SOURCES = {
    "pydantic Any": ("pydantic", "m.py", f"{MODEL}Any\n", True),
    "pydantic object": ("pydantic", "m.py", f"{MODEL}object\n", True),
    "pydantic union": ("pydantic", "m.py", f"{MODEL}int | str\n", False),
    "JSON Schema": ("jsonschema", "m.json", json.dumps({**ANY, "properties": {"a": {}}}), True),
    "Avro": ("avro", "m.avsc", json.dumps(UNION), True),
    "Postgres json": ("postgres", "m.sql", "CREATE TABLE m (a json NOT NULL);", False),
    "Postgres jsonb": ("postgres", "m.sql", "CREATE TABLE m (a jsonb);", True),
    "DuckDB": ("duckdb", "m.sql", "CREATE TABLE m (a JSON NOT NULL);", False),
    "BigQuery": ("bigquery", "m.sql", "CREATE TABLE m (a JSON);", True),
    "dbt": ("dbt", "schema.yml", DBT, True),
    "ODCS": ("odcs", "m.yaml", ODCS, False),
    "data contract": ("datacontract", "m.yaml", CONTRACT, False),
}


@pytest.mark.parametrize("source", SOURCES)
def test_have_one_word_for_any_json(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    form, name, text, may_be_null = SOURCES[source]
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    assert main(["import", name, "--from", form]) == 0
    (field,) = YAML(typ="safe").load(capsys.readouterr().out)["fields"]
    assert field["extra"] == {"lance.org/json": True}
    assert field["type"] == ({"kind": "Option", "inner": "String"} if may_be_null else "String")
