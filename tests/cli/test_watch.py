"""`--watch`: the command again after each change, until somebody interrupts it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from schemac.cli.compile_commands import manifests_of
from schemac.cli.main import main
from schemac.project.discovery import ManifestFile

SOUND = "fields: [{name: a, type: Int8}]\n"


def _wait(log: Path, text: str, times: int = 1) -> None:
    """Wait for a text; a run that hangs is ended by the tests' own limit."""
    while log.read_text().count(text) < times:
        time.sleep(0.02)


@contextmanager
def _watching(folder: Path, *words: str) -> Iterator[Path]:
    """Watch in a folder; gives the file with what is told, and stops at the end as Ctrl-C does."""
    log = folder / "log.txt"
    with log.open("w") as stream:
        run = subprocess.Popen(
            [sys.executable, "-m", "schemac", *words, "--watch"],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": str(Path(__file__).parent.parent.parent),
                "PYTHONUNBUFFERED": "1",
            },
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
        try:
            yield log
        finally:
            run.send_signal(signal.SIGINT)
        assert run.wait() == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends the signal of Ctrl-C")
def test_check_again_what_changes(tmp_path: Path) -> None:
    (tmp_path / "groups.yaml").write_text("groups: {g: {fields: [{name: b, type: Int8}]}}\n")
    (tmp_path / "trips.yaml").write_text("fields: [{name: a, type: Int9}]\n")
    with _watching(tmp_path, "build") as log:
        _wait(log, "watching")
        assert "SC201" in log.read_text()
        assert not (tmp_path / "build").exists()
        (tmp_path / "trips.yaml").write_text("imports: [groups.yaml]\nfields: [{use: g}]\n")
        _wait(log, "watching", 2)
        assert (tmp_path / "build/trips/arrow/schema.arrow").exists()
        (tmp_path / "new.yaml").write_text(SOUND)
        _wait(log, "watching", 3)
        (tmp_path / "groups.yaml").write_text("groups: {g: {fields: [{name: b, type: Strin}]}}\n")
        _wait(log, "watching", 4)
        (tmp_path / "new.yaml").unlink()
        _wait(log, "watching", 5)
    text = log.read_text()
    for told in ("trips.yaml changed", "new.yaml changed", "groups.yaml changed", "stopped watching"):
        assert told in text
    assert "\x1b" not in text


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends the signal of Ctrl-C")
def test_check_a_pipeline_again_when_its_manifest_changes(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/trips.yaml").write_text("fields: [{name: a, type: Int9}]\n")
    (tmp_path / "rows.json").write_text('{"a": 1}\n')
    (tmp_path / "load.yaml").write_text(
        "source: {path: rows.json, format: json}\nschema: tables/trips.yaml\ntarget: {path: trips.lance}\n"
    )
    with _watching(tmp_path, "check", "load.yaml") as log:
        _wait(log, "watching")
        assert "SC201" in log.read_text()
        (tmp_path / "tables/trips.yaml").write_text(SOUND)
        _wait(log, "watching", 2)
    text = log.read_text()
    assert "tables/trips.yaml changed" in text
    assert "checked 1 pipeline: no findings" in text


@pytest.mark.parametrize(
    ("named", "expected"),
    [("trips.yaml", ["trips.yaml", "trips.lock"]), ("''", []), (".", []), ("/", []), ("[1]", [])],
)
def test_name_the_manifest_of_a_pipeline_if_it_can_be_one(
    named: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pipeline = Path("load.yaml")
    pipeline.write_text(f"schema: {named}\ntarget: {{path: trips.lance}}\n")
    files = manifests_of([ManifestFile(pipeline, "load.yaml", is_named=True)], {})
    assert [*map(str, files)] == expected


@pytest.mark.parametrize("words", [["--format", "json"], ["--output-file", "x"], ["-"]])
def test_refuse_to_watch_for_programs(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--watch", *words]) == 2
    assert "--watch" in capsys.readouterr().err
