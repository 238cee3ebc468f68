"""A table that a branch was applied to before its merge: the merged lock gives other ids to what the branch added.

Shape: `apply` changes nothing and names the way on; that way, as it is printed, brings the table to the merged version with all its values.
"""

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.paimon.reader import read_table_schema
from tests.engines.iceberg.conftest import CATALOG, catalog

assert catalog
HEAD = "name: t\nfields:\n  - {name: key, type: Int64}\n  - name: s\n    type: {kind: Struct, fields: [{name: a, type: Int32}INNER]}\n"
X, Y = (f"  - {{name: {name}, type: {{kind: Option, inner: Int32}}}}\n" for name in "xy")
MEMBER_X, MEMBER_Y = (f", {{name: {name}, type: {{kind: Option, inner: Int32}}}}" for name in "xy")
BASE = HEAD.replace("INNER", "")
WAYS = {
    "columns": (BASE + X, BASE + Y, BASE + Y + X, {"key": 1, "s": {"a": 2}, "x": 7}),
    "members": (
        HEAD.replace("INNER", MEMBER_X),
        HEAD.replace("INNER", MEMBER_Y),
        HEAD.replace("INNER", MEMBER_Y + MEMBER_X),
        {"key": 1, "s": {"a": 2, "x": 7}},
    ),
}


def locked(text: str) -> schemac.Dataset:
    Path("t.yaml").write_text(text)
    assert main(["lock", "t.yaml"]) == 0
    (dataset,) = schemac.compile_file("t.yaml")
    return dataset


def branch(way: str) -> schemac.Dataset:
    """The dataset as a branch has locked it."""
    locked(BASE)
    shutil.copy("t.lock", "base.lock")
    return locked(WAYS[way][0])


def merge(way: str) -> None:
    """Merge the branch into one that has added something else under the same ids."""
    shutil.move("t.lock", "branch.lock")
    shutil.copy("base.lock", "t.lock")
    locked(WAYS[way][1])
    assert main(["lock", "--merge-driver", "base.lock", "t.lock", "branch.lock"]) == 0
    locked(WAYS[way][2])


def go_on(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["apply", "t", "--table", table]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "SC421" in said
    way_out = re.search(r"confirm it: schemac (apply .* --from [0-9]+)", said)
    assert way_out is not None, said
    words = shlex.split(way_out[1])
    assert main(["apply", "t", "--table", table, "--from", "1"]) == 1
    again = " ".join(capsys.readouterr().out.split())
    assert way_out[0] in again, "a version that does not have its fields is refused with the same way on"
    assert main([*words, "--dry-run"]) == 0
    assert main(words) == 0, capsys.readouterr().out
    assert main(["verify", "t", "--table", table]) == 0, capsys.readouterr().out
    capsys.readouterr()
    assert main(["apply", "t", "--table", table]) == 0
    assert "nothing to do" in capsys.readouterr().out


def with_y(row: dict[str, Any], way: str) -> dict[str, Any]:
    return {**row, "y": None} if way == "columns" else {**row, "s": {**row["s"], "y": None}}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_applied", [False, True])
def test_go_on_with_a_lance_table(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    way: str,
    is_applied: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    row = WAYS[way][3]
    if is_applied:
        lance.write_dataset(locked(BASE).to_arrow().empty_table(), "t.lance")
    schema = branch(way).to_arrow()
    if is_applied:
        assert main(["apply", "t", "--table", "t.lance"]) == 0
        schema = lance.dataset("t.lance").schema
    rows = pa.Table.from_pylist([row], schema=schema)
    lance.write_dataset(rows, "t.lance", mode="append" if is_applied else "create")
    merge(way)
    go_on("t.lance", capsys)
    assert lance.dataset("t.lance").to_table().to_pylist() == [with_y(row, way)]


@pytest.mark.parametrize("way", WAYS)
def test_go_on_with_an_iceberg_table(
    catalog: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    way: str,
) -> None:
    from pyiceberg.schema import Schema

    monkeypatch.chdir(tmp_path)
    row = WAYS[way][3]
    table = catalog.create_table("n.t", Schema.model_validate(branch(way).to_iceberg()))
    table.append(pa.Table.from_pylist([row], schema=table.schema().as_arrow()))
    merge(way)
    go_on(f"iceberg://{CATALOG}/n.t", capsys)
    assert catalog.load_table("n.t").scan().to_arrow().to_pylist() == [with_y(row, way)]


@pytest.mark.parametrize("way", WAYS)
def test_go_on_with_a_paimon_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], way: str
) -> None:
    monkeypatch.chdir(tmp_path)
    dataset = branch(way)
    Path("table/schema").mkdir(parents=True)
    Path("table/schema/schema-1").write_bytes(dataset.artifacts("paimon")["paimon/schema-1"])
    merge(way)
    if way == "members":
        # Paimon adds members at the end only.
        locked(WAYS[way][2].replace(MEMBER_Y + MEMBER_X, MEMBER_X + MEMBER_Y))
    before = ids_of("table/schema/schema-1")
    go_on("table", capsys)
    after = ids_of("table/schema/schema-2")
    assert {path: after[path] for path in before} == before
    assert len(set(after.values())) == len(before) + 1


def ids_of(file: str) -> dict[Any, int]:
    from schemac.engines.paimon.reader import member_ids

    return dict(member_ids(read_table_schema(json.loads(Path(file).read_bytes())).fields))
