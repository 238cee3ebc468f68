"""A kind that is added as CONTRIBUTING says is met by every room and engine: no number in the standard, a family and an extension type of its own."""

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.kinds.copies import copy_with_uuid, run_python

MANIFEST = """
name: t
fields:
  - {name: id, type: Uuid, extra: {lance.org/primaryKey: {}}}
  - {name: u, type: {kind: Option, inner: Uuid}}
  - {name: l, type: {kind: List, itemType: Uuid}}
  - {name: m, type: {kind: Map, keyType: Uuid, valueType: {kind: Option, inner: Uuid}}}
  - {name: s, type: {kind: Struct, fields: [{name: x, type: Uuid}]}}
"""
BOTH = """
name: both
fields:
  - {name: a, type: Uuid}
  - {name: b, type: {kind: Binary, fixedLength: 16}, extra: {arrow.apache.org/extensionType: {name: arrow.uuid}}}
"""
ENGINES = (
    "arrow",
    "lance",
    "spark",
    "paimon",
    "iceberg",
    "jsonschema",
    "python",
    "pydantic",
    "avro",
    "protobuf",
)


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_with_uuid(tmp_path_factory.mktemp("compiler"))


class Desk:
    """A folder with manifests, and the commands of the compiler that has the kind."""

    def __init__(self, compiler: Path, folder: Path) -> None:
        self.compiler, self.folder = compiler, folder
        (folder / "t.yaml").write_text(MANIFEST)

    def run(self, *arguments: str, code: int = 0) -> CompletedProcess[str]:
        done = run_python(self.compiler, self.folder, "-m", "schemac", *arguments)
        assert "internal error" not in done.stderr, done.stderr
        assert done.returncode == code, done.stdout + done.stderr
        return done


@pytest.fixture
def desk(compiler: Path, tmp_path: Path) -> Desk:
    return Desk(compiler, tmp_path)


def test_build_without_odf_where_nobody_asks_for_it(desk: Desk) -> None:
    built = desk.run("build")
    assert "warning[SC534]: t is built without odf: id: the standard has no kind Uuid" in built.stdout
    assert "SC533" not in built.stdout
    assert (desk.folder / "build/t/lance/schema.binpb").exists()
    assert not (desk.folder / "build/t/odf").exists()
    assert "warning[SC534]" in desk.run("check").stdout


def test_refuse_what_the_standard_does_not_have_where_odf_is_asked_for(desk: Desk) -> None:
    assert desk.run("build", "--target", "odf", code=1).stdout.count("error[SC533]") == 6
    assert "SC214" in desk.run("check", "--strict", code=1).stdout


@pytest.mark.parametrize("engine", ENGINES)
def test_build_for_every_engine(desk: Desk, engine: str) -> None:
    """The same Arrow field is accepted from the kind as from the attribute, and lost alike where the engine has no such type."""
    desk.run("build", "--target", engine)
    (desk.folder / "t.yaml").write_text(BOTH)
    desk.run("build", "--target", engine)
    losses = json.loads((desk.folder / "build/both/losses.json").read_text())["losses"]
    lost = {name: {one["lost"] for one in losses if one["field"] == name} for name in "ab"}
    if engine in ("spark", "paimon", "iceberg"):
        assert lost["a"] == lost["b"]


def test_give_iceberg_its_own_type(desk: Desk) -> None:
    (desk.folder / "t.yaml").write_text(BOTH)
    desk.run("build", "--target", "iceberg")
    schema = json.loads((desk.folder / "build/both/iceberg/schema.json").read_text())
    assert [field["type"] for field in schema["fields"]] == ["uuid", "uuid"]


@pytest.mark.parametrize(("engine", "file"), [("avro", "avro/schema.avsc"), ("protobuf", "protobuf/t.proto")])
def test_come_back_from_other_formats(desk: Desk, engine: str, file: str) -> None:
    desk.run("build", "--target", engine)
    desk.run("import", f"build/t/{file}", "--out", "again.yaml")
    again = (desk.folder / "again.yaml").read_text()
    assert again.count("Uuid") == 6


def test_sample_and_validate_its_own_values(desk: Desk) -> None:
    rows = [json.loads(line) for line in desk.run("sample", "t", "-n", "4").stdout.splitlines()]
    assert len({row["id"] for row in rows}) == 4
    desk.run("sample", "t", "-n", "4", "--output", "rows.ndjson")
    # A kind of few samples has few rows that differ.
    assert "has values for 4 of 60 rows" in desk.run("sample", "t", "--wrong", code=1).stdout
    (desk.folder / "t.yaml").write_text(MANIFEST.replace(", extra: {lance.org/primaryKey: {}}", ""))
    desk.run("sample", "t", "--wrong", "--output", "wrong.ndjson")
    rules = [
        json.loads(line)["_rule"] for line in (desk.folder / "wrong.rules.ndjson").read_text().splitlines()
    ]
    assert {"cast", "type", "required"} <= {*rules}


def test_lock_and_judge_it(desk: Desk) -> None:
    """Nothing but itself and null fits a family that no rule names."""
    desk.run("lock")
    desk.run("lock", "--check")
    manifest = desk.folder / "t.yaml"
    manifest.write_text(MANIFEST.replace("inner: Uuid}}\n  - {name: l", "inner: String}}\n  - {name: l"))
    assert "SC411" in desk.run("breaking", "--against", "lock:1", code=1).stdout


@pytest.mark.parametrize("command", ["docs -o site", "fmt t.yaml", "export t.yaml", "expand t.yaml"])
def test_run_the_other_commands(desk: Desk, command: str) -> None:
    done = run_python(desk.compiler, desk.folder, "-m", "schemac", *command.split())
    assert "internal error" not in done.stdout + done.stderr
