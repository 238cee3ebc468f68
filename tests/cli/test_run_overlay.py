"""A pipeline whose schema is that of an environment."""

import json
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from schemac.cli.main import main
from schemac.pipeline.conforming.load import load_job
from schemac.project.overlays import load_overlay
from schemac.text.source.diagnostics import Report
from tests.compiling import table_record

TRIPS = "name: trips\nfields:\n  - {name: id, type: Int64}\n  - {name: fare, type: Float64}\n"
PIPELINE = "source: {path: in.ndjson, format: json}\nschema: trips.yaml\ntarget: {path: trips.lance}\n"
OVERLAY = """\
datasets:
  trips:
    name: prod_trips
    extra: {lance.org/storageVersion: '2.1'}
    fields:
      fare: {extra: {lance.org/encoding: {compression: zstd}}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("trips.yaml", TRIPS), ("pipeline.yaml", PIPELINE), ("prod.yaml", OVERLAY)):
        (tmp_path / name).write_text(text)
    (tmp_path / "in.ndjson").write_text('{"id": 1, "fare": 2.5}\n')
    (tmp_path / "schemac.toml").write_text("")
    return tmp_path


@pytest.mark.parametrize("is_locked", [False, True])
def test_run_with_the_schema_of_an_environment(
    is_locked: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if is_locked:
        assert main(["lock"]) == 0
    assert main(["run", "--dry-run", "pipeline.yaml", "--overlay", "prod.yaml"]) == 0
    assert "2 columns of prod_trips" in "".join(capsys.readouterr())
    report = Report()
    plain = load_job(Path("pipeline.yaml"), report)
    laid = load_job(Path("pipeline.yaml"), report, load_overlay("prod.yaml", report))
    assert plain is not None
    assert laid is not None
    assert plain.arrow_schema.field("fare").metadata is None
    assert laid.form.schema.field("fare").metadata
    assert laid.version == (table_record(Path("trips.lock")) if is_locked else None) == plain.version
    numbers = [list(one.numbers.values()) if one.numbers else [] for one in (plain, laid)]
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize(
    ("overlay", "code"),
    [
        ("datasets: {trips: {fields: {fares: {extra: {lance.org/encoding: {compression: zstd}}}}}}", "SC237"),
        ("datasets: {trips: {extra: {schemac.dev/owner: me}}}", "SC237"),
        ("datasets: [", "SC1"),
    ],
)
def test_say_what_is_wrong_with_an_overlay(
    overlay: str, code: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "prod.yaml").write_text(overlay)
    words = ["run", "--dry-run", "pipeline.yaml", "--overlay", "prod.yaml", "--format", "json"]
    assert main(words) == 1
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    assert found
    assert all(one["code"].startswith(code) and one["line"] > 0 for one in found)
