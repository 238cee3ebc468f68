"""`schemac runs` over whatever commits say of a run: nothing, one source, several, an interval; in a table and in a folder of files."""

import json
from pathlib import Path

import lance
import pyarrow as pa
import pytest

from schemac.cli.main import main
from schemac.rows.runs.history import LEDGER, ROWS, FileRecord
from schemac.rows.runs.identity import RunIdentity

SOURCES: dict[str, list[tuple[str, list[str]]]] = {
    "none": [],
    "frame": [("frame", [])],
    "one": [("json", ["a.json"])],
    "paths": [("json", ["a.json", "b.json", "c.json"])],
    "several": [("json", ["a.json"]), ("csv", ["b.csv", "c.csv"])],
    "secret": [("json", ["s3://me:word@bucket/a"]), ("kafka", [])],
}


def runs() -> list[RunIdentity]:
    told = [RunIdentity.new(name, sources, "append") for name, sources in SOURCES.items()]
    return [*told, RunIdentity.new("day", SOURCES["several"], "append", interval="2026-01-01..2026-01-02")]


def as_table(folder: Path) -> Path:
    for run in runs():
        lance.write_dataset(
            pa.table({"a": [1]}),
            folder / "t",
            mode="append",
            transaction_properties={**run.properties(), ROWS: "1"},
        )
    return folder / "t"


def as_files(folder: Path) -> Path:
    (folder / "t" / LEDGER).mkdir(parents=True)
    for version, run in enumerate(runs(), 1):
        record = FileRecord.new(run, version, {ROWS: "1"}, ["a.parquet"])
        (folder / "t" / LEDGER / f"{run.id}.json").write_text(record.text)
    (folder / "t" / LEDGER / "notes.txt").write_text("[]")
    return folder / "t"


@pytest.mark.parametrize("made", [as_table, as_files])
def test_list_runs_of_every_kind(made: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(made)
    path = made(tmp_path)
    assert main(["runs", str(path)]) == 0
    text = capsys.readouterr().out
    assert "b.csv and 1 more" in text
    assert "word" not in text
    assert "2026-01-01..2026-01-02" in text
    assert main(["runs", "--format", "json", str(path)]) == 0
    found = json.loads(capsys.readouterr().out)["runs"]
    assert [(one["id"], one["version"]) for one in found] == [
        (run.id, version) for version, run in reversed(list(enumerate(runs(), 1)))
    ]
    assert main(["runs", "--limit", "2", "--format", "json", str(path)]) == 0
    assert len(json.loads(capsys.readouterr().out)["runs"]) == 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("runs", "--limit", "-1", "t"), "argument --limit: has to be zero or more"),
        (("runs", "--limit", "two", "t"), "argument --limit: 'two' is not a whole number"),
        (("check", "--max-findings", "-1"), "argument --max-findings: has to be zero or more"),
        (("check", "--max-findings", "few"), "argument --max-findings: 'few' is not a whole number"),
    ],
)
def test_refuse_what_is_no_count(
    words: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*words])
    assert reason in capsys.readouterr().err


def test_a_folder_with_a_damaged_record_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = as_files(tmp_path)
    (path / LEDGER / "one.json").write_text('{"committed"')
    assert main(["runs", str(path)]) == 1
    said = capsys.readouterr()
    assert "SC652" in said.out + said.err
    assert "_schemac/one.json` is not the record of a run" in said.out + said.err
