"""Manifests with lines of DDL become manifests with schemas, and keep everything else."""

from pathlib import Path

import pytest

import schemac
from schemac.cli.main import main

OLD = """\
# the licence of this file
kind: DatasetSnapshot
version: 1
content:
  name: prices   # kept
  kind: Root
  metadata:
    - kind: SetPollingSource
      fetch: {kind: Url, url: "https://example.org/a.csv"}
      read:
        kind: Csv
        KEY:  # in the order of the file
          # the day
          - "day DATE NOT NULL" # behind
          - at TIMESTAMP(3)

          # money
          - price DECIMAL(10,2) COMMENT 'in USD'
          - tags ARRAY<STRING>  # the last
        separator: ";"
      merge: {kind: Append}
"""
NEW = """\
# the licence of this file
kind: DatasetSnapshot
version: 1
content:
  name: prices   # kept
  kind: Root
  metadata:
    - kind: SetPollingSource
      fetch: {kind: Url, url: "https://example.org/a.csv"}
      read:
        kind: Csv
        schema:
          fields:
            # in the order of the file
            # the day
            # behind
            - {name: day, type: Date}
            - {name: at, type: {kind: Option, inner: Timestamp}}
            # money
            - name: price
              type: {kind: Option, inner: {kind: Decimal, precision: 10, scale: 2}}
              extra:
                opendatafabric.org/description: in USD
            - name: tags
              type:
                kind: Option
                inner: {kind: List, itemType: {kind: Option, inner: String}}  # the last
        separator: ";"
      merge: {kind: Append}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("key", ["schema", "ddlSchema"])
def test_import_lines_and_keep_the_file(folder: Path, key: str) -> None:
    (folder / "old.yaml").write_text(OLD.replace("KEY", key))
    assert main(["import", "old.yaml", "--out", "new.yaml"]) == 0
    assert (folder / "new.yaml").read_text() == NEW
    assert main(["check", "--strict", "new.yaml"]) == 0


def test_lead_from_the_finding_to_the_import(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "old.yaml").write_text(OLD.replace("KEY", "schema"))
    assert main(["check", "old.yaml"]) == 1
    assert "`schemac import old.yaml --out new.yaml`" in capsys.readouterr().out


FLOW = """\
name: x
fields: []
---
kind: SetPollingSource
read: {kind: Csv, ddlSchema: [a BIGINT, 'b INT NOT NULL']}  # kept
"""
RESOURCE = """\
$schema: https://opendatafabric.org/schemas/source/v1alpha1/Source
headers: {name: trips}
spec:
  read:
    kind: NdJson
    schema: [a BIGINT UNSIGNED, b TEXT]
"""


def test_import_lists_in_flow_style_and_in_several_documents(folder: Path) -> None:
    (folder / "old.yaml").write_text(FLOW)
    assert main(["import", "old.yaml", "--out", "new.yaml"]) == 0
    fields = "[{name: a, type: {kind: Option, inner: Int64}}, {name: b, type: Int32}]"
    expected = FLOW.replace("ddlSchema: [a BIGINT, 'b INT NOT NULL']", f"schema: {{fields: {fields}}}")
    assert (folder / "new.yaml").read_text() == expected


def test_import_resources(folder: Path) -> None:
    (folder / "old.yaml").write_text(RESOURCE)
    assert main(["import", "old.yaml", "--out", "new.yaml"]) == 0
    (trips,) = schemac.compile_file("new.yaml")
    assert [f.type.type_text() for f in trips.schema.fields] == ["Option<UInt64>", "Option<String>"]
    assert main(["import", "old.yaml", "--name", "other", "--out", "named.yaml"]) == 0
    assert schemac.compile_file("named.yaml")[0].schema == trips.schema


@pytest.mark.parametrize(
    ("line", "reason"),
    [("a FROB", "there is no kind for"), ("a", "a type is expected"), ("a INT x", "the end is expected")],
)
def test_refuse_a_line_at_its_place(
    folder: Path, capsys: pytest.CaptureFixture[str], line: str, reason: str
) -> None:
    (folder / "old.yaml").write_text(
        f"kind: AddPushSource\nsourceName: s\nread:\n  kind: Csv\n  schema:\n    - {line}\n"
    )
    assert main(["import", "old.yaml", "--out", "new.yaml"]) == 1
    shown = capsys.readouterr().out
    assert "--> old.yaml:6:7" in shown
    assert reason in shown
    assert not (folder / "new.yaml").exists()
