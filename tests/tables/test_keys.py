"""Primary keys of Lance tables: what pylance refuses is refused, and what it does is done.

Shape: every pair of keys over three columns, of which some go, is asked of pylance itself, step by step: columns are dropped, then
the marks of the others are set.
"""

import json
from itertools import permutations, product
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main

NAMES = ("a", "b", "c")
MARK = "lance-schema:unenforced-primary-key"
KEYS = [key for count in range(3) for key in permutations(NAMES, count)]
PAIRS = [
    (old, new, gone)
    for old, new, gone in product(KEYS, KEYS, ((), ("a",), ("a", "b")))
    if not set(new) & set(gone)
]


def _manifest(key: tuple[str, ...], gone: tuple[str, ...] = (), **renamed: str) -> dict[str, Any]:
    fields = []
    for name in NAMES:
        extra: dict[str, Any] = (
            {"lance.org/primaryKey": {"position": key.index(name) + 1}} if name in key else {}
        )
        if name in renamed:
            extra["schemac.dev/renamedFrom"] = name
        if name not in gone:
            fields.append({"name": renamed.get(name, name), "type": "Int32", "extra": extra})
    return {"name": "t", "fields": fields}


def _lock(manifest: dict[str, Any]) -> pa.Schema:
    Path("t.yaml").write_text(json.dumps(manifest))
    assert main(["lock", "t.yaml"]) == 0
    (dataset,) = schemac.compile_file("t.yaml")
    return dataset.to_arrow()


def _write(schema: pa.Schema, rows: int = 2) -> None:
    lance.write_dataset(pa.table([pa.array(range(rows), pa.int32())] * 3, schema=schema), "t.lance")


def _is_refused_by_lance(old: tuple[str, ...], new: tuple[str, ...], gone: tuple[str, ...], at: str) -> bool:
    plain = pa.schema(
        [
            pa.field(
                name,
                pa.int32(),
                False,
                {MARK: "true", f"{MARK}:position": str(old.index(name) + 1)} if name in old else None,
            )
            for name in NAMES
        ]
    )
    lance.write_dataset(pa.table([pa.array([1], pa.int32())] * 3, schema=plain), at, mode="overwrite")
    if gone:
        lance.dataset(at).drop_columns(list(gone))
    marks = {
        name: {MARK: "true", f"{MARK}:position": str(new.index(name) + 1)} if name in new else {}
        for name in NAMES
        if name not in gone
    }
    dataset = lance.dataset(at)
    there = {f.name: {k.decode(): v.decode() for k, v in (f.metadata or {}).items()} for f in dataset.schema}
    updates = {name: mark for name, mark in marks.items() if mark != there[name]}
    if not updates:
        return False
    try:
        dataset.update_field_metadata(updates, replace=True)
    except OSError as error:
        return "primary key" in str(error)
    return False


@pytest.mark.parametrize("rows", [0, 2])
@pytest.mark.parametrize("gone", [(), ("a",), ("a", "b")], ids=lambda gone: "-".join(gone) or "none")
def test_refuse_what_lance_refuses(
    gone: tuple[str, ...], rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {}
    for number, (old, new, _) in enumerate(pair for pair in PAIRS if pair[2] == gone):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        _write(_lock(_manifest(old)), rows)
        _lock(_manifest(new, gone))
        version = lance.dataset("t.lance").version
        code = main(["apply", "t", "--table", "t.lance"])
        told[old, new] = code, _is_refused_by_lance(old, new, gone, "asked.lance")
        if code:
            assert lance.dataset("t.lance").version == version
    assert {pair for pair, (code, is_refused) in told.items() if bool(code) is not is_refused} == set()


def test_keep_a_key_whose_fields_get_other_names_and_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(_lock(_manifest(("a", "b"))))
    manifest = _manifest(("a", "b"), a="z")
    manifest["fields"][0]["type"] = "Int64"
    _lock(manifest)
    assert main(["apply", "t", "--table", "t.lance"]) == 0
    assert lance.dataset("t.lance").schema.field("z").metadata[MARK.encode()] == b"true"


@pytest.mark.parametrize(
    ("key", "left"), [(("a",), "the primary key goes with it"), (("a", "b"), "of the primary key b is left")]
)
def test_say_what_becomes_of_the_key_of_a_dropped_column(
    key: tuple[str, ...],
    left: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(_lock(_manifest(key)))
    after = _manifest(key, ("a",))
    _lock(after)
    capsys.readouterr()
    main(["breaking", "t.yaml", "--against", "lock:1", "--engine", "lance"])
    assert left in " ".join(capsys.readouterr().out.split())
    assert main(["plan", "t", "--table", "t.lance"]) == 0
    assert left in " ".join(capsys.readouterr().out.split())
    assert main(["apply", "t", "--table", "t.lance"]) == 0


def test_name_a_way_to_another_key_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(_lock(_manifest(("a",))))
    new = _lock(_manifest(("b",)))
    assert main(["apply", "t", "--table", "t.lance"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "create a new table with the new schema and write the rows into it" in told
    lance.write_dataset(lance.dataset("t.lance").to_table().cast(new), "new.lance")
    assert main(["verify", "t", "--table", "new.lance"]) == 0
    assert main(["breaking", "t.yaml", "--against", "lock:1", "--engine", "lance"]) == 1
