"""All JSON of commands has one shape, which `schemas/output.schema.json` describes."""

import argparse
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schemac.cli.main import COMMANDS, function_of, main
from schemac.version import __version__

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas/output.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)
RIDES = "name: rides\nfields:\n  - {name: id, type: Int32}\n  - {name: größe, type: {kind: Option, inner: String}}\n"
AWRY = "name: rides\nfields:\n  - {name: id, type: Flota64}\n  - {name: ID, type: Int8}\n  - {name: id, type: Int8}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset with two versions, a table of the first, and a manifest with mistakes."""
    monkeypatch.chdir(tmp_path)
    rides = tmp_path / "rides.yaml"
    rides.write_text(RIDES)
    assert main(["lock", "rides.yaml", "-q"]) == 0
    lance = pytest.importorskip("lance")
    import pyarrow as pa

    schema = pa.schema([pa.field("id", pa.int32(), nullable=False), pa.field("größe", pa.string())])
    lance.write_dataset(pa.table({"id": [1], "größe": ["a"]}, schema=schema), "rides.lance")
    rides.write_text(
        RIDES.replace("Int32", "Int64") + "  - {name: at, type: Date, extra: {schemac.dev/owner: me}}\n"
    )
    assert main(["lock", "rides.yaml", "-q"]) == 0
    (tmp_path / "awry").mkdir()
    (tmp_path / "awry/awry.yaml").write_text(AWRY)
    (tmp_path / "pipeline.yaml").write_text(
        "source: {path: x.ndjson, format: json}\nschema: rides.yaml\ntarget: {path: y.lance}\n"
    )
    (tmp_path / "x.ndjson").write_text('{"id": 1}\n')
    return tmp_path


SOUND = {
    "check": "check rides.yaml",
    "build": "build rides.yaml",
    "import": "import rides.lance",
    "import to a file": "import rides.lance --out new.yaml",
    "list": "list rides.yaml",
    "expand": "expand rides.yaml",
    "fmt": "fmt rides.yaml",
    "lock": "lock rides.yaml",
    "lock --show": "lock rides.yaml --show 1",
    "rename": "rename rides id number",
    "diff": "diff lock:1 rides.yaml",
    "breaking": "breaking --against lock:1 rides.yaml",
    "plan": "plan rides.yaml",
    "plan a table": "plan rides.yaml --table rides.lance",
    "apply": "apply rides.yaml --table rides.lance",
    "apply --dry-run": "apply rides.yaml --table rides.lance --dry-run",
    "verify": "verify rides.yaml --table rides.lance",
    "run": "run pipeline.yaml --dry-run",
    "clean": "clean",
}
BROKEN = {
    "check": "check awry",
    "build": "build awry",
    "import": "import rides.yaml --from parquet",
    "list": "list awry",
    "expand": "expand awry",
    "fmt": "fmt nothing.yaml",
    "lock": "lock awry",
    "rename": "rename rides nothing number",
    "diff": "diff lock:9 rides.yaml",
    "breaking": "breaking --against git:nothing awry",
    "plan": "plan rides.yaml --to 9",
    "apply": "apply rides.yaml --table nothing.lance",
    "verify": "verify rides.yaml --table nothing.lance",
    "run": "run rides.yaml --dry-run",
    "runs": "runs nothing.lance",
}


def _document(words: str, capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    code = main([*words.split(), "--format", "json"])
    out, err = capsys.readouterr()
    assert err == "", "a program gets one document, and nothing beside it"
    document = json.loads(out)
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []
    assert (document["command"], document["schemac"]) == (words.split(maxsplit=1)[0], __version__)
    counts = {
        severity: sum(d["severity"] == severity for d in document["diagnostics"])
        for severity in ("error", "warning", "note")
    }
    assert document["summary"] == counts
    assert code or not counts["error"]
    return document


@pytest.mark.parametrize("words", SOUND.values(), ids=SOUND)
def test_print_what_the_schema_describes(
    words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _document(words, capsys)


@pytest.mark.parametrize("words", BROKEN.values(), ids=BROKEN)
def test_print_mistakes_in_the_same_shape(
    words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _document(words, capsys)["summary"]["error"]


def test_have_every_command_that_prints_json() -> None:
    able = set()
    for command in COMMANDS:
        parser = argparse.ArgumentParser()
        function_of(command, "add_{}_arguments")(parser)
        formats = next((a.choices or () for a in parser._actions if "--format" in a.option_strings), ())
        if "json" in formats:
            able.add(command)
    assert able == set(SCHEMA["properties"]["command"]["enum"])
    assert able == {words.split()[0] for words in (*SOUND.values(), *BROKEN.values())}


def test_show_manifests_in_the_document(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = _document("lock rides.yaml --show 1", capsys)["manifest"]
    (folder / "again.yaml").write_text(manifest)
    assert main(["diff", "again.yaml", "again.yaml"]) == 0
    assert "Int32" in manifest


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_print_json_in_any_encoding(encoding: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding))
    assert main(["list", "rides.yaml", "--format", "json"]) == 0
    sys.stdout.flush()
    document = json.loads(out.getvalue().decode(encoding))
    assert document["fields"][1]["field"] == "größe"


def test_write_plainly_what_an_encoding_lacks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="cp1252"))
    assert main(["diff", "lock:1", "rides.yaml"]) == 0
    sys.stdout.flush()
    assert b"rides: lock:1 -> rides.yaml\n  id: integer-widened: Int32 -> Int64" in out.getvalue()
