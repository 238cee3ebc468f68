"""Conditions as texts: what is read, and how they follow the names of columns."""

import json
from pathlib import Path

import pytest

import schemac
from schemac.cli.main import main
from schemac.language.attributes.constraints import CHECK, REFERENCES, UNIQUE
from schemac.language.constraints.rows import row_constraints

FIELDS = [
    {"name": "length", "type": "Int32"},
    {"name": "a", "type": "Int64"},
    {"name": "b c", "type": "String"},
    {"name": "in", "type": "Bool"},
    {"name": "trip", "type": {"kind": "Struct", "fields": [{"name": "a", "type": "Int32"}]}},
]


def texts(*conditions: str) -> list[str]:
    manifest = {"name": "t", "fields": FIELDS, "extra": {CHECK.key: list(conditions)}}
    (dataset,) = schemac.compile_text(json.dumps(manifest))
    logical = dataset._logical
    return [str(check.condition) for check in row_constraints(logical.schema.extra, logical.columns).checks]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a=1 AND NOT length>2", "a = 1 and (not (length > 2))"),
        ("a = 1 or a = 2 and a = 3", "a = 1 or (a = 2 and a = 3)"),
        ("a - 1 - length = 0", "(a - 1) - length = 0"),
        ("a + length * 2 = 0", "a + (length * 2) = 0"),
        ("a between 1 and 2", "a >= 1 and a <= 2"),
        ("length(`b c`) = 1", "length ( `b c` ) == 1"),
        ("`in`", "(`in`)"),
        ("1 < a", "1<a"),
        ("a <> -1", "a != -1"),
    ],
)
def test_read_alike(one: str, other: str) -> None:
    first, second = texts(one, other)
    assert first == second


def test_follow_a_column_that_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    extra = {
        UNIQUE.key: [["a"], ["b c", "a"], ["trip.a"]],
        REFERENCES.key: [{"fields": ["a"], "dataset": "a", "to": ["a"]}],
        CHECK.key: ["a > 1 and trip.a <> a or `b c` = 'a'", "length(`b c`) = length"],
    }
    Path("t.yaml").write_text(json.dumps({"fields": FIELDS, "extra": extra}, indent=1))
    assert main(["lock", "t.yaml"]) == 0
    for old, new in (("a", "x y"), ("b c", "b"), ("length", "size")):
        assert main(["rename", "t", old, new]) == 0, capsys.readouterr().out
    assert json.loads(Path("t.yaml").read_text())["extra"] == {
        UNIQUE.key: [["x y"], ["b", "x y"], ["trip.a"]],
        REFERENCES.key: [{"fields": ["x y"], "dataset": "a", "to": ["a"]}],
        CHECK.key: ["`x y` > 1 and trip.a <> `x y` or b = 'a'", "length(b) = size"],
    }
    assert main(["check", "t.yaml"]) == 0
