"""What the engine writes, reads and judges, asked of sqlite3."""

import json
import re
import sqlite3
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.cli.main import main
from schemac.language.kinds.registry import KINDS
from schemac.versions.evolution.changes import Outcome
from schemac.versions.evolution.judge import judge
from schemac_sqlite.codes import CODES
from schemac_sqlite.judge import JUDGE


def _statement(manifest: str) -> str:
    return schemac.build_text(manifest, targets=["sqlite"])["trips/sqlite/create_table.sql"]


def _table(manifest: str, path: str | Path = ":memory:") -> sqlite3.Connection:
    text = _statement(manifest)
    connection = sqlite3.connect(path)
    connection.execute(text if isinstance(text, str) else text.decode())
    return connection


def _manifest(*fields: str, extra: str = "") -> str:
    return "name: trips\n" + extra + "fields:\n" + "".join(f"  - {field}\n" for field in fields)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_write_a_statement_that_sqlite_takes(kind: Any) -> None:
    manifest = _manifest(
        "{name: id, type: Int64}", f"{{name: x, type: {{kind: Option, inner: {kind.example}}}}}"
    )
    try:
        connection = _table(manifest)
    except schemac.SchemaError:
        assert kind.__name__ in ("Null", "Option"), "their examples are Options themselves"
        return
    connection.execute("insert into trips (id) values (1)")
    with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"):
        connection.execute("insert into trips (x) values (null)")
    kept = kind.__name__ in ("Int64", "Float64", "String", "Binary")
    assert bool(schemac.compile_text(manifest)[0].losses("sqlite")) != kept


def test_write_keys_defaults_and_odd_names() -> None:
    extra = "extra: {sqlite.org/primaryKey: ['a \"b\"']}\n"
    manifest = _manifest(
        "{name: 'a \"b\"', type: Int64}",
        '{name: s, type: String, extra: {sqlite.org/default: "it\'s"}}',
        extra=extra,
    )
    connection = _table(manifest)
    connection.execute('insert into trips ("a ""b""") values (1)')
    assert connection.execute("select * from trips").fetchall() == [(1, "it's")]
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        connection.execute('insert into trips ("a ""b""") values (1)')


CHANGES = {
    "added": ("", "{name: y, type: {kind: Option, inner: String}}", "add column y text", Outcome.METADATA),
    "required": ("", "{name: y, type: String}", "add column y text not null", Outcome.REFUSED),
    "default": (
        "",
        "{name: y, type: String, extra: {sqlite.org/default: a}}",
        "add column y text not null default 'a'",
        Outcome.METADATA,
    ),
    "dropped": ("{name: y, type: String}", "", "drop column y", Outcome.METADATA),
    "renamed": (
        "{name: y, type: String}",
        "{name: z, type: String, extra: {schemac.dev/renamedFrom: y}}",
        "rename column y to z",
        Outcome.METADATA,
    ),
    "widened": (
        "{name: y, type: Int32}",
        "{name: y, type: Int64}",
        "alter column y type integer",
        Outcome.REWRITE,
    ),
    "became required": (
        "{name: y, type: {kind: Option, inner: String}}",
        "{name: y, type: String}",
        "alter column y set not null",
        Outcome.REWRITE,
    ),
}
"""The field before and after, what says it in SQL, and the verdict."""


@pytest.mark.parametrize("name", CHANGES)
def test_judge_fields_as_sqlite_alters_them(name: str) -> None:
    before, after, sql, expected = CHANGES[name]
    old, new = (_manifest("{name: id, type: Int64}", *filter(None, [field])) for field in (before, after))
    compiled = [schemac.compile_text(manifest)[0] for manifest in (old, new)]
    verdicts = judge(schemac.diff(*compiled), None, ["sqlite"])
    assert (
        max(v.old_data.outcome for v in verdicts) is expected
        if len(verdicts) == 1
        else {expected} <= {v.old_data.outcome for v in verdicts}
    )
    connection = _table(old)
    columns = "id, y" if before and "Option" not in before else "id"
    connection.execute(f"insert into trips ({columns}) values ({'1, 2' if ',' in columns else '1'})")
    if expected is Outcome.METADATA:
        connection.execute(f"alter table trips {sql}")
    else:
        with pytest.raises(sqlite3.OperationalError):
            connection.execute(f"alter table trips {sql}")


def test_refuse_what_was_not_thought_of() -> None:
    from schemac.versions.evolution.changes import Fact

    assert set(Fact) == JUDGE.rules.keys(), (
        "a new fact is refused until the judge has a row for it; then this says that it does"
    )


def test_read_back_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = _manifest(
        "{name: id, type: Int64}",
        "{name: x, type: {kind: Option, inner: Float64}}",
        "{name: s, type: String}",
        "{name: b, type: {kind: Option, inner: Binary}}",
        extra="extra: {sqlite.org/primaryKey: [id]}\n",
    )
    _table(manifest, tmp_path / "trips.sqlite").close()
    assert main(["import", str(tmp_path / "trips.sqlite")]) == 0
    read = capsys.readouterr().out
    assert schemac.diff(schemac.compile_text(manifest)[0], schemac.compile_text(read)[0]) == ()


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("create table a (x varchar(3))", "SC551"),
        ("create table a (x text); create table b (x text)", "it has 2 tables"),
        ("", "SC552"),
    ],
)
def test_say_what_is_not_read(
    sql: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(tmp_path / "a.sqlite") as connection:
        connection.executescript(sql)
    if not sql:
        (tmp_path / "a.sqlite").write_text("no database")
    assert main(["import", str(tmp_path / "a.sqlite")]) == 1
    assert said in "".join(capsys.readouterr())


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.id)
def test_explain_each_code_with_examples_that_hold(
    code: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = files("schemac_sqlite.pages").joinpath(f"{code.id}.md").read_text(encoding="utf-8")
    assert main(["explain", code.slug]) == 0
    assert capsys.readouterr().out.split()[:3] == ["#", code.id, code.slug]
    examples = re.findall(r"```yaml (wrong|right)\n(.*?)```", text, re.DOTALL)
    assert {kind for kind, _ in examples} == {"wrong", "right"}
    for kind, example in examples:
        (tmp_path / f"{kind}.yaml").write_text(example)
        options = ["--target", "sqlite", "--losses", "--format", "sarif", "--out", str(tmp_path / kind)]
        main(["build", str(tmp_path / f"{kind}.yaml"), *options])
        log = json.loads(capsys.readouterr().out)["runs"][0]
        assert (code.id in {result["ruleId"] for result in log["results"]}) == (kind == "wrong")
