"""Shared between the cores or not: the same files, the same findings."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from schemac.artifacts import store
from schemac.cli.main import main
from schemac.cli.terminal import ExitCode
from schemac.project import shared_work, targets, workers
from schemac.project.building import compile_files
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.project.options import CompileOptions
from schemac.project.workers import share
from schemac.text.source.diagnostics import Report
from tests.bench.workload import write_manifests
from tests.project.test_store import files

# Lance, which other tests load into this process, warns of every fork; the command line never loads it.
pytestmark = pytest.mark.filterwarnings("ignore:lance is not fork-safe")

CORPUS = Path(__file__).parents[1] / "corpus"


def compiled(
    folder: Path, monkeypatch: pytest.MonkeyPatch, shared_from: int
) -> tuple[object, object, object]:
    monkeypatch.setattr(shared_work, "LARGE_FROM", shared_from)
    manifests = [ManifestFile(path, path.name, is_named=True) for path in sorted(folder.glob("*.yaml"))]
    report = Report()
    output = compile_files(manifests, Project(folder), CompileOptions(show_losses=True), report)
    return output.contents, output.built, report.diagnostics


def test_make_the_same_of_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_manifests(tmp_path / "m", 7, 20)
    shared = compiled(folder, monkeypatch, 0)
    assert shared == compiled(folder, monkeypatch, 1 << 40)
    assert len(shared[0]) == 7 * 8  # type: ignore[arg-type]


def test_find_the_same_in_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_manifests(tmp_path / "m", 5, 4)
    (folder / "table_1.yaml").write_text("name: TABLE_0\nfields:\n  - {name: a, type: Int8}\n")
    (folder / "table_2.yaml").write_text("fields:\n  - {name: a, type: bigint}\n")
    (folder / "table_4.yaml").write_text(
        "fields:\n  - {name: a, type: {kind: Decimal, precision: 5, scale: 7}}\n"
    )
    shared = compiled(folder, monkeypatch, 0)[2]
    assert shared == compiled(folder, monkeypatch, 1 << 40)[2]
    assert {d.code for d in shared} >= {"SC201", "SC216", "SC308"}  # type: ignore[attr-defined]


def test_find_the_same_where_locks_are_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_manifests(tmp_path / "m", 6, 4)
    for number in range(1, 4):
        (folder / f"table_{number}.lock").write_text("no lock at all\n")
    shared = compiled(folder, monkeypatch, 0)[2]
    assert shared == compiled(folder, monkeypatch, 1 << 40)[2]
    assert len(shared) == 3  # type: ignore[arg-type]


@pytest.mark.parametrize("sort", ["accepted", "rejected"])
def test_find_the_same_in_the_corpus(sort: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is said of a manifest can be handed to another process."""
    for manifest in CORPUS.glob(f"{sort}/**/*.yaml"):
        (tmp_path / f"{manifest.parent.name}-{manifest.name}").write_bytes(manifest.read_bytes())
    shared = compiled(tmp_path, monkeypatch, 0)[2]
    assert shared == compiled(tmp_path, monkeypatch, 1 << 40)[2]
    assert shared


def test_pass_on_what_a_task_raises() -> None:
    def fail() -> int:
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        share([lambda: 1, fail])
    assert share([lambda: 1, os.getpid])[0] == 1


def test_say_the_same_of_a_mistake_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An exception that another process hands over is reported like one of this process, and has its traceback."""
    emit = targets.emit_targets

    def fail_at_the_last(compilation: Any, *others: Any, **settings: Any) -> Any:
        if compilation.dataset.name == "table_3":
            raise KeyError("x")
        return emit(compilation, *others, **settings)

    monkeypatch.setattr(targets, "emit_targets", fail_at_the_last)
    monkeypatch.setattr(workers, "cores", lambda: 2)
    monkeypatch.setattr(shared_work, "cores", lambda: 2)
    monkeypatch.chdir(write_manifests(tmp_path / "m", 4, 3))
    said = []
    for shared_from in (0, 1 << 40):
        monkeypatch.setattr(shared_work, "LARGE_FROM", shared_from)
        assert main(["build", "--no-cache"]) == ExitCode.INTERNAL
        said.append(capsys.readouterr())
    assert said[0] == said[1]
    assert "internal error: KeyError: 'x', in the stage emit of table_3.yaml\n" in said[0].err
    monkeypatch.setattr(shared_work, "LARGE_FROM", 0)
    monkeypatch.setenv("SCHEMAC_TRACEBACK", "1")
    with pytest.raises(KeyError) as raised:
        main(["build", "--no-cache"])
    assert "fail_at_the_last" in str(raised.value.__cause__)


def test_tell_that_a_worker_died(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemac.project.workers.cores", lambda: 2)
    with pytest.raises(OSError, match="a worker process ended"):
        share([lambda: 1, lambda: os._exit(9)])


def test_leave_no_process_behind(tmp_path: Path) -> None:
    """Who kills a build leaves nothing that holds the lock of its folder."""
    script = (
        "import os, signal, sys, time\n"
        "from schemac.project.workers import share\n"
        "def other():\n"
        "    time.sleep(0.5)\n"
        "    return b'x' * 1_000_000\n"
        "share([lambda: os.kill(os.getpid(), signal.SIGKILL), other, other])\n"
    )
    # It returns when the last process that has its output ends.
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"")


@pytest.mark.parametrize("shared_from", [0, 1 << 40])
def test_make_the_same_of_an_edited_manifest(
    shared_from: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process takes what the cache has while another compiles what was edited."""
    monkeypatch.setattr(shared_work, "LARGE_FROM", shared_from)
    monkeypatch.setattr(store, "_SHARED_FROM", shared_from)
    monkeypatch.setattr(workers, "cores", lambda: 2)
    monkeypatch.setattr(shared_work, "cores", lambda: 2)
    folder = write_manifests(tmp_path / "m", 5, 4)
    (folder / "schemac.toml").touch()
    monkeypatch.chdir(folder)
    assert main(["build"]) == 0
    edited = folder / "table_3.yaml"
    edited.write_text(edited.read_text().replace("field_2", "other"))
    assert main(["build"]) == 0
    assert main(["build", "--out", "anew", "--no-cache"]) == 0
    assert files(folder / "build") == files(folder / "anew")
    assert b"other" in files(folder / "build")["table_3/spark/schema.json"]
    entry = folder / "build/table_4/spark/schema.json"
    entry.unlink()
    entry.mkdir()
    assert main(["build"]) == 1
    entry.rmdir()
    assert main(["build"]) == 0
    assert files(folder / "build") == files(folder / "anew")
