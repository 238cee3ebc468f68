"""Constraints in Arrow metadata that other programs wrote: what they mean is read, however it is written, and what cannot be read is told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import schemac
from schemac.cli.main import main
from tests.constraints.cases import cases, dataset_of

SPELLINGS: dict[str, Callable[[Any], str]] = {
    "blanks": json.dumps,
    "lines": lambda value: json.dumps(value, indent=2),
    "escapes": lambda value: json.dumps(value, ensure_ascii=True, sort_keys=False),
    "around": lambda value: f"\t{json.dumps(value, ensure_ascii=False)}\n",
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_read_every_constraint_in_every_spelling(name: str) -> None:
    dataset = dataset_of(list(cases()))
    schema = dataset.to_arrow(metadata=True)
    spelled = pa.schema([_spelled(member, SPELLINGS[name]) for member in schema])
    found = schemac.from_arrow(spelled)
    assert found.schema.fields == dataset.schema.fields
    assert found.warnings == ()


def _spelled(member: pa.Field, spelling: Callable[[Any], str]) -> pa.Field:
    metadata = {key.decode(): spelling(json.loads(text)) for key, text in (member.metadata or {}).items()}
    return member.with_metadata(metadata)


def test_read_constraints_of_rows_in_every_spelling() -> None:
    rows = {
        "unique": [["a"], ["a", "b"]],
        "check": ["a > 1"],
        "references": [{"fields": ["b"], "dataset": "d", "to": ["id"]}],
    }
    fields = [pa.field("a", pa.int64()), pa.field("b", pa.string())]
    for spelling in SPELLINGS.values():
        metadata = {f"schemac.dev/{key}": spelling(value) for key, value in rows.items()}
        found = schemac.from_arrow(pa.schema(fields, metadata))
        assert found.schema.extra == {f"schemac.dev/{key}": value for key, value in rows.items()}
        assert found.warnings == ()


UNFIT = {
    "not of the type": ({"schemac.dev/minimum": "1"}, {}, "`schemac.dev/minimum` in the metadata is not valid for String: 1"),
    "no JSON": ({"schemac.dev/enum": '["a"'}, {}, '`schemac.dev/enum` in the metadata is not valid for String: ["a"'),
    "no value": ({"schemac.dev/maxLength": "-1"}, {}, "`schemac.dev/maxLength` in the metadata is not valid for String: -1"),
    "no pattern": ({"schemac.dev/pattern": '"("'}, {}, "not kept: pattern: ( ("),
    "a digit lost": ({"schemac.dev/owner": '{"a": 1, "a": 2}'}, {}, "`schemac.dev/owner` in the metadata is not valid"),
    "a column that is not there": ({}, {"schemac.dev/unique": '[["s"], ["s", "gone"]]'}, "not kept: unique ['s', 'gone']"),
    "of a schema": ({}, {"schemac.dev/check": '{"a": 1}'}, "`schemac.dev/check` in the metadata is not valid for a schema"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNFIT)
def test_tell_what_is_not_read(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_field, of_schema, said = UNFIT[name]
    schema = pa.schema([pa.field("s", pa.string(), metadata=of_field)], of_schema)
    (warning,) = schemac.from_arrow(schema).warnings
    assert (warning.code, warning.path) == ("SC555", "s" if of_field else "")
    assert warning.message.startswith(said)
    pq.write_table(pa.Table.from_pylist([], schema), tmp_path / "s.parquet")
    with pa.ipc.new_file(str(tmp_path / "s.arrow"), schema):
        pass
    for file in ("s.parquet", "s.arrow"):
        assert main(["import", str(tmp_path / file)]) == 0
        assert f"# {said}" in capsys.readouterr().out


def test_read_what_is_left_of_columns(tmp_path: Path) -> None:
    """A program that reads some columns and writes them again keeps the metadata of all."""
    (dataset,) = schemac.compile_text(
        "extra: {schemac.dev/unique: [[a], [a, b]]}\nfields: [{name: a, type: Int64}, {name: b, type: Int64}]"
    )
    pq.write_table(dataset.sample(3), tmp_path / "all.parquet")
    pq.write_table(pq.read_table(tmp_path / "all.parquet", columns=["a"]), tmp_path / "some.parquet")
    found = schemac.from_parquet(tmp_path / "some.parquet")
    assert found.schema.extra == {"schemac.dev/unique": [["a"]]}
