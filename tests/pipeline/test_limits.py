"""Limits of single rules and fields, and rules that only warn: what they count is what a plain count of the records gives."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from pyspark.sql import SparkSession

from schemac.cli.main import main
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.declaration.parts import AuthoredLimits, Key, Limits
from schemac.rows.judging.reasons import QUARANTINE_SCHEMA

LIMITS = TypeAdapter(AuthoredLimits)
PATHS = ["fare", "fare_2", "fare.a", "fare[3].b", 'fare["k"]', "other", ""]
RULES = ["cast", "zone", "zone: say which", "zone-gap", "required"]
REASONS = st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from(RULES)), min_size=1, max_size=4)
KEYS: dict[Key, Callable[[str, str], bool]] = {
    ("rules", "cast"): lambda path, rule: rule == "cast",
    ("rules", "zone"): lambda path, rule: rule in ("zone", "zone: say which"),
    ("fields", "fare"): lambda path, rule: path.startswith("fare") and path != "fare_2",
    ("fields", "fare.a"): lambda path, rule: path == "fare.a",
}


@given(st.lists(REASONS, min_size=1, max_size=8))
def test_records_count_once(records: list[list[tuple[str, str]]]) -> None:
    limits = Limits(rules={"cast": 0, "zone": 0}, fields={"fare": 0, "fare.a": 0})
    broken: Counter[Key] = Counter()
    kind = QUARANTINE_SCHEMA.field("errors").type
    for some in (records[:3], records[3:]):
        rows = [[{"path": path, "rule": rule, "value": None} for path, rule in one] for one in some]
        broken.update(limits.count_broken(pa.array([None, *rows], kind)[1:]))
    for key, is_meant in KEYS.items():
        assert broken[key] == sum(any(is_meant(*reason) for reason in one) for one in records)


def test_limits_are_counts_or_shares() -> None:
    assert LIMITS.validate_python(None) == Limits()
    assert LIMITS.validate_python(5) == Limits(total=5)
    assert LIMITS.validate_json('{"total": 0.5, "rules": {"cast": 1}}') == Limits(
        total=0.5, rules={"cast": 1}
    )
    for wrong in (-1, 1.5, True, "5", {"total": -1}, {"rules": {"cast": 2.0}}, {"al": 1}):
        with pytest.raises(ValidationError):
            LIMITS.validate_python(wrong)
    limits = Limits(total=10, rules={"cast": 0.1}, fields={"fare": 3})
    assert limits.passed(100, 10, {("rules", "cast"): 10, ("fields", "fare"): 3}) is None
    cases: list[tuple[int, dict[Key, int], Key]] = [
        (11, {}, ()),
        (10, {("rules", "cast"): 11}, ("rules", "cast")),
        (10, {("fields", "fare"): 4}, ("fields", "fare")),
    ]
    for quarantined, broken, place in cases:
        passed = limits.passed(100, quarantined, broken)
        assert passed is not None
        assert passed.place == place
        assert (
            f"the limit is {limits.total if not place else {'cast': 0.1, 'fare': 3}[place[1]]}"
            in passed.message
        )


def told(
    folder: Path,
    settings: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *words: str,
) -> tuple[int, dict[str, Any]]:
    monkeypatch.chdir(folder)
    (folder / "rides.yaml").write_text(
        "fields:\n  - {name: id, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}\n"
        "  - {name: fare, type: {kind: Option, inner: Float64}}\n"
    )
    (folder / "p.yaml").write_text(
        f"source: {{path: rides.json}}\nschema: rides.yaml\ntarget: {{path: rides.lance}}\n{settings}"
    )
    status = main(["run", "p.yaml", "--format", "json", *words])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("settings", "code", "line", "words"),
    [
        ("maxQuarantined: {rules: {casts: 1}}\n", "SC693", 4, "did you mean `cast`?"),
        ("rules: {unexpectd: warn}\n", "SC693", 4, "did you mean `unexpected`?"),
        ("rules: {cast: warn}\n", "SC694", 4, "maxQuarantined: {rules: {cast: 0.05}}"),
        ("maxQuarantined:\n  total: 1\n  fields: {far: 1}\n", "SC622", 6, "did you mean `fare`?"),
        ("maxQuarantined: 1.5\n", "SC611", 4, ""),
        ("maxQuarantined: {total: -1}\n", "SC611", 4, ""),
        ("rules: {unexpected: worn}\n", "SC611", 4, "warn"),
    ],
)
def test_mistakes_have_their_place(
    settings: str, code: str, line: int, words: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    (tmp_path / "rides.json").write_text("")
    status, document = told(tmp_path, settings, monkeypatch, capsys, "--dry-run")
    (found,) = document["diagnostics"]
    assert (status, found["code"], found["line"]) == (1, code, line)
    assert words in found["message"] + found["help"]


@pytest.mark.spark
def test_warnings_are_counted_and_the_records_written(
    spark: SparkSession, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    records = [
        '{"id": 1, "fare": 1}',
        '{"id": 2, "tip": 1, "fare": 2}',
        '{"id": 2, "fare": 3}',
        '{"id": 3, "tip": 1, "fare": "x"}',
    ]
    (tmp_path / "rides.json").write_text("\n".join(records))
    status, document = told(tmp_path, "rules: {unexpected: warn, duplicate: warn}\n", monkeypatch, capsys)
    assert status == 0
    assert [one["code"] for one in document["diagnostics"]] == ["SC695", "SC695"]
    assert document["run"]["records"] == {
        "in": 4,
        "written": 3,
        "quarantined": 1,
        "superseded": 0,
        "deleted": 0,
    }
    assert document["run"]["reasons"] == [{"path": "fare", "rule": "type", "count": 1}]
    assert document["run"]["warnings"] == [
        {"path": "id", "rule": "duplicate", "count": 2},
        {"path": "tip", "rule": "unexpected", "count": 1},
    ]
    rows = lance.dataset("rides.lance").to_table().to_pylist()
    assert sorted((row["id"], row["fare"]) for row in rows) == [(1, 1.0), (2, 2.0), (2, 3.0)]


@pytest.mark.spark
def test_a_limit_that_is_passed_is_told_at_its_place(
    spark: SparkSession, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    (tmp_path / "rides.json").write_text('{"id": 1}\n{"id": 2, "fare": "x"}\n')
    settings = "maxQuarantined:\n  total: 1.0\n  rules:\n    type: 0.25\n"
    status, document = told(tmp_path, settings, monkeypatch, capsys)
    (found,) = document["diagnostics"]
    assert (status, found["code"], found["line"]) == (1, "SC657", 7)
    assert "1 of 2 records break the rule `type`, the limit is 0.25" in found["message"]
    assert not (tmp_path / "rides.lance").exists()


def test_a_job_keeps_the_short_form() -> None:
    job = Job.model_validate({"source": {}, "target": {"path": "t"}, "maxQuarantined": 3})
    assert job.max_quarantined == Limits(total=3)
