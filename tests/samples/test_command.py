"""`schemac sample` in a project: its formats, what it refuses, and that pipelines and engines read what it writes."""

import json
import re
import runpy
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import schemac
from schemac.cli.main import main
from schemac.rows.samples.wrong_records import rule_of, wrong_rows
from tests.samples.test_samples import DRIVERS, ROOT


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rides.yaml").write_bytes((ROOT / "examples/constraints/rides.yaml").read_bytes())
    (tmp_path / "drivers.yaml").write_text(DRIVERS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_write_every_format(project: Path) -> None:
    lance = pytest.importorskip("lance")
    (rides,), (drivers,) = schemac.compile_file("rides.yaml"), schemac.compile_file("drivers.yaml")
    expected = rides.sample(50, seed=7, references={"drivers": drivers})
    for name in ("rides.parquet", "rides.arrow", "rides.lance", "rides.ndjson", "rides.csv"):
        assert main(["sample", "rides", "-n", "50", "--seed", "7", "--output", name]) == 0
    assert pq.read_table("rides.parquet").equals(expected)
    assert pa.ipc.open_file("rides.arrow").read_all().equals(expected)
    assert lance.dataset("rides.lance").to_table().equals(expected)
    assert rides.to_table(Path("rides.ndjson").read_text().splitlines()).equals(expected)
    assert main(["verify", "rides.yaml", "--table", "rides.lance"]) == 0
    assert len(Path("rides.csv").read_text().splitlines()) == 51
    assert sorted(path.name for path in project.iterdir() if path.suffix == ".schemac-new") == []


def test_print_rows(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", "drivers.yaml", "-n", "2", "--seed", "1"]) == 0
    first = capsys.readouterr().out
    assert [list(json.loads(line)) for line in first.splitlines()] == [["id"], ["id"]]
    assert main(["sample", "drivers", "-n", "2", "--seed", "1", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "id"


def test_write_wrong_records(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", "rides", "--wrong", "--seed", "7", "--output", "wrong.ndjson"]) == 0
    assert "breaks pattern of driver and nothing else" in capsys.readouterr().err
    records = Path("wrong.ndjson").read_text().splitlines()
    rules = [json.loads(line) for line in Path("wrong.rules.ndjson").read_text().splitlines()]
    assert [one["line"] for one in rules] == list(range(1, len(records) + 1))
    (rides,), (drivers,) = schemac.compile_file("rides.yaml"), schemac.compile_file("drivers.yaml")
    judged = rides.validate(records, references={"drivers": drivers.sample(60, seed=7)})
    assert [(one.path, one.rule) for one in judged.reasons] == [(one["_path"], one["_rule"]) for one in rules]
    assert main(["sample", "rides", "--wrong", "--seed", "7"]) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["record"] for one in printed] == records


@pytest.mark.parametrize("name", ["wrong.csv", "wrong.parquet", "wrong.arrow", "wrong.lance"])
def test_write_wrong_records_of_every_form(
    project: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Read back by the library of each form, they break what is said, and what cannot be written is named."""
    assert main(["sample", "rides", "--wrong", "--seed", "7", "--output", name]) == 0
    said = capsys.readouterr().out
    rules = [json.loads(line) for line in Path("wrong.rules.ndjson").read_text().splitlines()]
    assert [one["row"] for one in rules] == list(range(1, len(rules) + 1))
    (rides,), (drivers,) = schemac.compile_file("rides.yaml"), schemac.compile_file("drivers.yaml")
    found = wrong_rows(rides, 7, {"drivers": drivers})
    broken = {(_anywhere(one["_path"]), one["_rule"]) for one in rules}
    left = {rule_of(one) for one in found.rows} - broken
    assert {rule for _, rule in left} <= {"malformed", "type", "cast", "range", "precision", "length"}
    assert "SC354" in said
    assert all(rule in said for _, rule in left)
    assert len(broken) > 15
    if name == "wrong.csv":
        return
    judged = rides.validate(_read(name), references={"drivers": drivers.sample(60, seed=7)})
    assert [(one.row + 1, one.path, one.rule) for one in judged.reasons] == [
        (one["row"], one["_path"], one["_rule"]) for one in rules
    ]


def _anywhere(path: str) -> str:
    return re.sub(r"\[[0-9]+\]", "[]", path)


def _read(name: str) -> pa.Table:
    if name.endswith(".parquet"):
        return pq.read_table(name)
    if name.endswith(".arrow"):
        return pa.ipc.open_file(name).read_all()
    return pytest.importorskip("lance").dataset(name).to_table()


def test_print_wrong_cells(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", "rides", "--wrong", "--format", "csv"]) == 0
    printed = capsys.readouterr()
    lines = [json.loads(line) for line in printed.out.splitlines()]
    assert {one["_rule"] for one in lines} >= {
        "malformed",
        "cast",
        "required",
        "minimum",
        "unique",
        "references",
    }
    assert "csv cannot hold the records that break type of" in printed.err


def test_say_that_a_form_holds_no_wrong_record(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.yaml").write_text("name: t\nfields:\n  - {name: a, type: {kind: Option, inner: Bool}}\n")
    assert main(["sample", "t", "--wrong", "--output", "t.parquet"]) == 1
    assert "parquet cannot hold any of the wrong records of t" in capsys.readouterr().out
    assert not Path("t.parquet").exists()
    assert not Path("t.rules.ndjson").exists()


def test_say_what_a_form_has_no_place_for(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.yaml").write_text("name: t\nfields:\n  - {name: a, type: {kind: Struct, fields: []}}\n")
    for words in ([], ["--wrong"]):
        assert main(["sample", "t", *words, "--output", "t.parquet"]) == 1
        assert "SC542" in capsys.readouterr().out
        assert sorted(path.name for path in project.iterdir() if path.name.startswith("t.")) == ["t.yaml"]


def test_say_what_lance_says(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With its capitals, and without where in its own code."""
    type_ = "{kind: Option, inner: {kind: Struct, fields: [{name: x, type: Int8}]}}"
    fields = f"fields:\n  - {{name: S, type: {type_}}}\n"
    Path("t.yaml").write_text(f'name: t\nextra: {{lance.org/storageVersion: "2.0"}}\n{fields}')
    assert main(["sample", "t", "--rows", "50", "--output", "t.lance"]) == 1
    (said, _) = capsys.readouterr().out.split("\n --> ")
    assert re.fullmatch(
        r"error\[SC542\]: cannot write t.lance: Invalid user input: The struct field `S` contains \d null value\(s\), but Lance"
        r" file version 2.0 does not encode struct validity; use file version 2.1 or later",
        said,
    )
    assert not Path("t.lance").exists()


REFUSED = {
    "sample ride": (2, "did you mean rides?"),
    "sample rides --format parque": (1, "did you mean `--format parquet`?"),
    "sample rides --format lance": (1, "lance cannot be printed"),
    "sample rides --output rides.yaml": (1, "rides.yaml already exists"),
    "sample rides --output none/rides.csv": (1, "cannot write none/rides.csv"),
}


@pytest.mark.parametrize("command", REFUSED)
def test_refuse(project: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, said = REFUSED[command]
    assert main(command.split()) == code
    assert said in capsys.readouterr().out
    assert sorted(path.name for path in project.iterdir() if not path.name.startswith(".")) == [
        "drivers.yaml",
        "rides.yaml",
    ]


@pytest.mark.parametrize("words", ["-n 0", "-n -5", "-n x", "--seed -1"])
def test_refuse_counts(project: Path, words: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["sample", "rides", *words.split()])
    assert caught.value.code == 2


def test_say_that_there_is_no_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "rides"]) == 2
    assert "SC602" in capsys.readouterr().out


def test_refuse_a_sample_of_nothing() -> None:
    (drivers,) = schemac.compile_text(DRIVERS)
    with pytest.raises(ValueError, match="has to be at least 1"):
        drivers.sample(0)


def test_run_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples/constraints/try_rows.py"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 of 5 rows fit rides"
    assert lines[-1] == "1,000 of 1,000 rows fit rides"
