"""The output folder: whole or not at all, and nothing that is not ours is touched."""

from pathlib import Path

import pytest

from schemac.artifacts.store import Build, OutputStore, built
from schemac.cli.main import main
from schemac.text.source.diagnostics import Report

TRIPS = "name: trips\nfields:\n  - {name: fare, type: Float64}\n"
RIDES = "name: rides\nfields:\n  - {name: fare, type: Int32}\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trips.yaml").write_text(TRIPS)
    (tmp_path / "rides.yaml").write_text(RIDES)
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_build_twice_gives_the_same_bytes_and_touches_nothing(project: Path) -> None:
    assert main(["build"]) == 0
    first = files(project / "build")
    times = {p: p.stat().st_mtime_ns for p in (project / "build").rglob("*") if p.is_file()}
    assert main(["build"]) == 0
    assert files(project / "build") == first
    assert {p: p.stat().st_mtime_ns for p in times} == times
    assert "trips/lance/schema.binpb" in first


def test_build_elsewhere_gives_the_same_bytes(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["build"]) == 0
    other = tmp_path_factory.mktemp("somewhere")
    for name in ("trips.yaml", "rides.yaml"):
        (other / name).write_bytes((project / name).read_bytes())
    monkeypatch.chdir(other)
    assert main(["build"]) == 0
    assert files(other / "build") == files(project / "build")


def test_check_tells_what_is_stale(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--check"]) == 4
    assert main(["build"]) == 0
    assert main(["build", "--check"]) == 0
    artifact = project / "build/trips/spark/schema.json"
    artifact.write_text("{}")
    capsys.readouterr()
    assert main(["build", "--check"]) == 4
    assert (
        "build/trips/spark/schema.json differs from what its manifest compiles to" in capsys.readouterr().out
    )
    assert artifact.read_text() == "{}"
    assert main(["build"]) == 0
    (project / "trips.yaml").write_text(TRIPS.replace("Float64", "Float32"))
    assert main(["build", "--check"]) == 4


def test_leave_everything_as_it_was_when_one_manifest_has_errors(project: Path) -> None:
    assert main(["build"]) == 0
    before = files(project / "build")
    (project / "trips.yaml").write_text(TRIPS.replace("Float64", "Float32"))
    (project / "rides.yaml").write_text(RIDES.replace("Int32", "Int46"))
    assert main(["build"]) == 1
    assert files(project / "build") == before


def test_remove_what_nothing_produces_any_more_and_nothing_else(project: Path) -> None:
    assert main(["build"]) == 0
    (project / "build/trips/notes.txt").write_text("mine")
    (project / "trips.yaml").write_text(TRIPS.replace("trips", "journeys"))
    assert main(["build", "trips.yaml"]) == 0
    left = files(project / "build")
    assert "journeys/spark/schema.json" in left
    assert {name for name in left if name.startswith("trips/")} == {"trips/notes.txt"}
    assert "rides/spark/schema.json" in left


def test_keep_other_datasets_when_one_manifest_is_built(project: Path) -> None:
    assert main(["build"]) == 0
    before = files(project / "build")
    assert main(["build", "trips.yaml"]) == 0
    assert files(project / "build") == before
    assert main(["build", "--check"]) == 0


def test_report_a_folder_that_cannot_be_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "build").write_text("a file in the way")
    assert main(["build"]) == 1
    assert "SC542" in capsys.readouterr().out
    assert (project / "build").read_text() == "a file in the way"


def test_write_counts_changed_files_only(tmp_path: Path) -> None:
    report = Report()

    def written(contents: dict[str, bytes]) -> int:
        build = Build({"a": built("a.yaml", b"", contents)}, contents)
        return OutputStore(tmp_path / "out", "out").write(build, report).files

    assert written({"a/x.json": b"1", "a/y.json": b"2"}) == 2
    assert written({"a/x.json": b"1", "a/y.json": b"3"}) == 1
    assert not report.has_errors
