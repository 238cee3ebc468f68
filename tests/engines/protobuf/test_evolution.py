"""Verdicts held against protobuf's own library, and against buf where it is at hand: `SCHEMAC_BUF` names its program.

Shape: a table has a field for each pair of types, of the one before and of the other after; the lock keeps the numbers.
"""

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.cli.main import main
from schemac.versions.evolution.changes import Outcome
from schemac.versions.evolution.judge import judge_change
from tests.engines.protobuf.test_artifact import compiled, file_of, message

BUF = os.environ.get("SCHEMAC_BUF") or shutil.which("buf")
TYPES: dict[str, Any] = {
    "Bool": "Bool", "Int8": "Int8", "Int32": "Int32", "Int64": "Int64", "UInt8": "UInt8", "UInt32": "UInt32", "UInt64": "UInt64",
    "Float32": "Float32", "Float64": "Float64", "String": "String", "Binary": "Binary", "Date": "Date",
    "Decimal": {"kind": "Decimal", "precision": 5, "scale": 2}, "wider": {"kind": "Decimal", "precision": 9, "scale": 2},
    "Time": {"kind": "Time", "unit": "Second"}, "finer": {"kind": "Time", "unit": "Microsecond"},
    "instant": {"kind": "Timestamp", "unit": "Microsecond"}, "clock": {"kind": "Timestamp", "unit": "Microsecond", "timezone": None},
    "nanos": {"kind": "Timestamp", "unit": "Nanosecond", "timezone": None}, "Duration": "Duration",
    "sint": {"kind": "Int32", "extra": {"protobuf.dev/type": "sint32"}},
    "wide sint": {"kind": "Int64", "extra": {"protobuf.dev/type": "sint64"}},
    "fixed": {"kind": "UInt32", "extra": {"protobuf.dev/type": "fixed32"}},
    "signed fixed": {"kind": "Int32", "extra": {"protobuf.dev/type": "sfixed32"}},
    "wide fixed": {"kind": "UInt64", "extra": {"protobuf.dev/type": "fixed64"}},
    "wrapped": {"kind": "Int32", "extra": {"protobuf.dev/type": "google.protobuf.Int32Value"}},
    "raw": {"kind": "String", "extra": {"protobuf.dev/type": "bytes"}},
    "enum": {"kind": "String", "extra": {"protobuf.dev/enum": {"ZERO": 0, "ONE": 1}}},
    "longer enum": {"kind": "String", "extra": {"protobuf.dev/enum": {"ZERO": 0, "ONE": 1, "TWO": 2}}},
    "other enum": {"kind": "String", "extra": {"protobuf.dev/enum": {"ZERO": 0, "ONE": 2}}},
}  # fmt: skip
VALUES: dict[str, list[Any]] = {
    "bool": [True, False], "int32": [0, 1, 127], "int64": [0, 1, 127], "uint32": [0, 1, 255], "uint64": [0, 1, 255],
    "enum": [0, 1], "float": [1.5, 0.0], "double": [1.5, 0.0], "string": ["é", "1.25"], "bytes": [b"a\xff"],
}  # fmt: skip
"""Small values by the scalar type of Protobuf, as every type has them that is written so."""
PAIRS = [(old, new) for old in TYPES for new in TYPES if old != new]
HARMLESS = (Outcome.SAFE, Outcome.METADATA)


def bare(type_: Any) -> Any:
    return (
        {key: value for key, value in type_.items() if key != "extra"} if isinstance(type_, dict) else type_
    )


def extra(type_: Any) -> Any:
    return type_.get("extra", {}) if isinstance(type_, dict) else {}


@cache
def datasets() -> tuple[schemac.Dataset, schemac.Dataset]:
    """The tables before and after."""
    found = []
    for at in (0, 1):
        fields = [
            {
                "name": f"f{i}",
                "type": {"kind": "Option", "inner": bare(TYPES[pair[at]])},
                "extra": extra(TYPES[pair[at]]),
            }
            for i, pair in enumerate(PAIRS)
        ]
        (dataset,) = schemac.compile_text(json.dumps({"name": "pairs", "fields": fields}))
        found.append(dataset)
    return found[0], found[1]


@cache
def verdicts() -> dict[str, Outcome]:
    """The worst of the verdicts on what changed, by field."""
    order = [Outcome.SAFE, Outcome.METADATA, Outcome.DATA, Outcome.REFUSED]
    found: dict[str, Outcome] = {}
    for change in schemac.diff(*datasets()):
        outcome = judge_change("protobuf", change, None).outcome
        assert outcome in order, change
        path = str(change.path)
        found[path] = max(found.get(path, Outcome.SAFE), outcome, key=order.index)
    return found


def test_judge_every_pair() -> None:
    assert set(verdicts()) == {f"f{i}" for i in range(len(PAIRS))}
    assert {verdicts()[f"f{i}"] for i in range(len(PAIRS))} >= {Outcome.SAFE, Outcome.DATA, Outcome.REFUSED}


def test_read_what_was_written(tmp_path: Path) -> None:
    """Where nothing is refused, a value that both types have comes back the same; where it is said to be safe, every one does."""
    before, after = (message(compiled(tmp_path, file_of(dataset))) for dataset in datasets())
    asked = 0
    for i, pair in enumerate(PAIRS):
        name = f"f{i}"
        outcome = verdicts()[name]
        if outcome is Outcome.REFUSED:
            continue
        for value in _values(before.DESCRIPTOR.fields_by_name[name]):
            row = before()
            if isinstance(value, int | float | str | bytes):
                setattr(row, name, value)
            elif hasattr(getattr(row, name), "value"):
                getattr(row, name).value = 5
            else:
                getattr(row, name).seconds = 5
            again = after.FromString(row.SerializeToString())
            read = getattr(again, name)
            if value is None and hasattr(read, "value"):
                assert read.value == 5, pair
                continue
            asked += 1
            is_text = isinstance(read, bytes) and isinstance(value, str)
            expected = value.encode() if is_text else value
            is_same = read == expected if value is not None else read.seconds == 5
            fits = not (pair[1] == "Bool" and value not in (0, 1))
            assert is_same or (outcome is Outcome.DATA and not fits), (pair, value, read)
    assert asked > 100


def _values(field: Any) -> list[Any]:
    if field.message_type is not None:
        return [None]
    names = {
        1: "double",
        2: "float",
        3: "int64",
        4: "uint64",
        5: "int32",
        8: "bool",
        9: "string",
        12: "bytes",
        13: "uint32",
        6: "uint64",
        7: "uint32",
        14: "enum",
        15: "int32",
        17: "int32",
        18: "int64",
    }
    return VALUES[names[field.type]]


@pytest.mark.skipif(
    BUF is None, reason="needs buf: SCHEMAC_BUF names its program, as `make bench` installs it"
)
def test_refuse_what_buf_refuses(tmp_path: Path) -> None:
    """What buf finds broken on the wire is refused here; we refuse more, for buf does not know what a number counts."""
    for name, dataset in zip(("old", "new"), datasets(), strict=True):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pairs.proto").write_bytes(file_of(dataset))
        (tmp_path / name / "buf.yaml").write_text("version: v2\nbreaking: {use: [WIRE]}\n")
    assert BUF is not None
    words = [
        BUF,
        "breaking",
        str(tmp_path / "new"),
        "--against",
        str(tmp_path / "old"),
        "--error-format",
        "json",
    ]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    assert found, ran.stderr
    lines = (tmp_path / "new/pairs.proto").read_text().splitlines()
    broken = {lines[one["start_line"] - 1].split("=")[0].split()[-1] for one in found}
    assert {name for name in broken if verdicts()[name] in HARMLESS} == set()
    assert {name for name in broken if verdicts()[name] is Outcome.DATA} == set()
    assert len(broken) > 50


def test_keep_numbers_through_evolution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is added, dropped, renamed and put in another order is read by number; what was dropped is never used again."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemac.toml").write_text('targets = ["protobuf"]\n')
    steps: tuple[tuple[list[str], list[str]], ...] = (
        (["a: Int32", "b: String", "c: Bool"], []),
        (["c: Bool", "b: String", "d: Int64"], ["trips.yaml", "--drop", "a"]),
        (["e: Int32", "d: Int64", "c: Bool"], ["trips.yaml", "--drop", "b"]),
    )
    seen: dict[str, int] = {}
    rows = []
    for step, dropped in steps:
        fields = "".join(f"  - {{name: {one.split(':')[0]}, type:{one.split(':')[1]}}}\n" for one in step)
        (tmp_path / "trips.yaml").write_text(f"name: trips\nfields:\n{fields}")
        assert main(["lock", *dropped]) == main(["build"]) == 0
        file = compiled(tmp_path, (tmp_path / "build/trips/protobuf/trips.proto").read_bytes())
        numbers = {field.name: field.number for field in file.message_type[0].field}
        assert all(seen.setdefault(name, number) == number for name, number in numbers.items())
        made = message(file)
        rows.append((made, made(c=True)))
    assert len(set(seen.values())) == len(seen)
    newest = rows[-1][0]
    for _, row in rows:
        assert newest.FromString(row.SerializeToString()).c
