"""`verify --data` on files and tables of every library that reads rows: the same counts, and Python that shows the rows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import schemac
from schemac.artifacts.dataset import ROW_READER
from schemac.cli.main import main
from schemac.registry.engine import engines
from tests.constraints.test_survey import MANIFEST, expected_of, rows_of, table_of


def _folder(table: pa.Table, path: str) -> None:
    Path(path).mkdir()
    for i in range(4):
        pq.write_table(table.slice(i * 100, 100), f"{path}/part-{i}.parquet")


WRITERS: dict[str, Callable[[pa.Table, str], Any]] = {
    "rides.parquet": lambda table, path: pq.write_table(table, path, row_group_size=70),
    "rides.arrow": lambda table, path: pa.feather.write_feather(table, path, compression="zstd"),
    "parts": _folder,
    "rides.lance": lance.write_dataset,
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rides.yaml").write_text(MANIFEST)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    main([*words, "--format", "json"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["diagnostics"]
    return found


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("cars", ["cars.lance", "cars.parquet"])
def test_count_the_same_in_every_form(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, cars: str
) -> None:
    (dataset,) = schemac.compile_file("rides.yaml")
    rows = rows_of(400)
    WRITERS[name](table_of(rows, dataset.to_arrow()), name)
    lines = {"id": pa.array([1], pa.int32()), "kind": ["bus"]}
    WRITERS[f"rides.{cars.partition('.')[2]}"](pa.table(lines), cars)
    found = told(capsys, "verify", "rides", "--table", name, "--data", "--reference", f"cars={cars}")
    expected = expected_of(rows, {(1, "bus")})
    assert {one["code"] for one in found} == {"SC425"}
    counts = {
        (one["path"], one["message"].rpartition("(")[2][:-1]): one["message"].split()[2] for one in found
    }
    assert counts == {
        (path, rule.partition(":")[0]): str(count)
        for (path, rule), count in expected.items()
        if path != "price"
    } | {
        ("price", rule.partition(":")[0]): str(count)
        for (path, rule), count in expected.items()
        if path == "price"
    }
    for one in found:
        shown = eval(one["help"].partition(" shows")[0])
        judged = dataset.validate(shown)
        assert 0 < shown.num_rows <= 20
        if "(unique)" not in one["message"]:
            assert {*range(shown.num_rows)} == {reason.row for reason in judged.reasons} | {
                i for i, row in enumerate(shown.to_pylist()) if "(references)" in one["message"]
            }


LOOSE = """
name: t
fields:
  - {name: a, type: Int8}
  - {name: at, type: Timestamp, extra: {schemac.dev/minimum: '2020-01-01T00:00:00Z'}}
  - {name: s, type: {kind: Option, inner: {kind: String, extra: {schemac.dev/maxLength: 2}}}}
"""


def test_read_columns_of_other_types(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a program wrote in wider types is compared as what the schema says."""
    Path("t.yaml").write_text(LOOSE)
    instant = 1_577_836_800_000_000
    columns = {
        "a": pa.array([1, 200, None, 4], pa.int64()),
        "at": pa.array([instant, instant - 1000, instant + 1, instant], pa.timestamp("us", "UTC")),
        "s": pa.array(["ab", "abc", None, "é"], pa.large_string()),
    }
    pq.write_table(pa.table(columns), "t.parquet")
    found = told(capsys, "verify", "t", "--table", "t.parquet", "--data")
    assert {(one["path"], one["message"].split(": ", 2)[2]) for one in found} == {
        ("a", "1 is not of the type in the schema: 200 (range)"),
        ("a", "1 is not of the type in the schema: null (required)"),
        ("at", "1 is not of the type in the schema: 2020-01-01 00:00:00.000001Z (precision)"),
        ("at", "1 is not at least 2020-01-01T00:00:00Z: 2019-12-31 23:59:59.999000+00:00 (minimum)"),
        ("s", '1 is not at most 2 characters long: "abc" (maxLength)'),
    }


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"a": [1], "at": [{"x": 1}], "s": ["x"]}, "at"),
        ({"a": [1], "s": ["x"]}, "there is no column at"),
        ({"b": [1]}, "there is no column a"),
    ],
)
def test_say_which_columns_differ(
    project: Path, capsys: pytest.CaptureFixture[str], columns: dict[str, Any], said: str
) -> None:
    Path("t.yaml").write_text(LOOSE)
    pq.write_table(pa.table(columns), "t.parquet")
    for words in ([], ["--data"]):
        found = told(capsys, "verify", "t", "--table", "t.parquet", *words)
        assert {one["code"] for one in found} == {"SC424"}
        assert any(said in one["message"] for one in found)


def test_say_that_a_file_is_damaged(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.yaml").write_text("name: t\nfields: [{name: a, type: Int64}]\n")
    pq.write_table(pa.table({"a": range(5000)}), "t.parquet", compression="none", use_dictionary=False)
    content = Path("t.parquet").read_bytes()
    Path("t.parquet").write_bytes(b"PAR1" + b"\xff" * 200 + content[204:])
    assert told(capsys, "verify", "t", "--table", "t.parquet") == []
    (found,) = told(capsys, "verify", "t", "--table", "t.parquet", "--data")
    assert found["code"] == "SC428"
    Path("t.parquet").write_bytes(b"PAR1 no more")
    (found,) = told(capsys, "verify", "t", "--table", "t.parquet")
    assert found["code"] == "SC428"


def test_say_what_reads_no_rows(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A Delta table, whose library is none of ours, and files of text."""
    Path("t.yaml").write_text(LOOSE)
    Path("delta/_delta_log").mkdir(parents=True)
    Path("t.csv").write_text("a,at,s\n")
    for name, format in (("delta", "delta"), ("t.csv", "csv")):
        (found,) = told(capsys, "verify", "t", "--table", name, "--data")
        assert found["code"] == "SC421"
        assert f"there is no reader for rows of the format {format}" in found["message"]
        assert f"`schemac import {name} --out found.yaml`" in found["help"]


def test_say_that_there_is_no_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.yaml").write_text(LOOSE)
    (found,) = told(capsys, "verify", "t", "--table", "t.parquet", "--data")
    assert (found["code"], found["message"]) == ("SC421", "there is no file or folder t.parquet")


def test_every_reader_is_tried() -> None:
    tried = {"arrow", "lance", "iceberg"}
    """Iceberg's is tried beside its catalog, in `tests/engines/iceberg/test_rows.py`."""
    assert {engine.name for engine in engines() if ROW_READER.is_of(engine)} == tried
