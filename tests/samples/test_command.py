"""`schemac sample` in a project: its formats, what it refuses, and that pipelines and engines read what it writes."""

import json
import runpy
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import schemac
from schemac.cli.main import main
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


REFUSED = {
    "sample ride": (2, "did you mean rides?"),
    "sample rides --format parque": (1, "did you mean `--format parquet`?"),
    "sample rides --format lance": (1, "lance cannot be printed"),
    "sample rides --output rides.yaml": (1, "rides.yaml is there already"),
    "sample rides --wrong --output rides.parquet": (1, "parquet cannot hold wrong records"),
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
    with pytest.raises(ValueError, match="ask for at least one row"):
        drivers.sample(0)


def test_run_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples/constraints/try_rows.py"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 of 5 rows fit rides"
    assert lines[-1] == "1,000 of 1,000 rows fit rides"
