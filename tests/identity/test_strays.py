"""Manifests that are moved, with their locks and without: no id is ever given anew without a word, and the way out works."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from schemac.text.source.diagnostics import Report
from schemac.versions.identity.lockfile import read_lock
from tests.identity.commands import TRIPS, environment, schemac
from tests.identity.trees import ids

NAMELESS = TRIPS.replace("name: trips\n", "")
OTHER = "name: other\nfields:\n  - {name: x, type: Int64}\n"


def _move(folder: Path, old: str, new: str) -> None:
    (folder / new).parent.mkdir(exist_ok=True)
    (folder / old).rename(folder / new)


def _with_lock(folder: Path) -> None:
    _move(folder, "trips.yaml", "a/trips.yaml")
    _move(folder, "trips.lock", "a/trips.lock")


def _renamed_with_lock(folder: Path) -> None:
    _move(folder, "trips.yaml", "rides.yaml")
    _move(folder, "trips.lock", "rides.lock")


def _without_lock(folder: Path) -> None:
    _move(folder, "trips.yaml", "a/trips.yaml")


def _renamed_without_lock(folder: Path) -> None:
    _move(folder, "trips.yaml", "rides.yaml")


def _into_a_stream(folder: Path) -> None:
    (folder / "other.yaml").write_text(f"{OTHER}---\n{(folder / 'trips.yaml').read_text()}")
    (folder / "trips.yaml").unlink()


def _renamed_in_the_manifest(folder: Path) -> None:
    (folder / "trips.yaml").write_text(TRIPS.replace("name: trips", "name: rides"))


CASES: dict[str, tuple[str, Callable[[Path], None], str, bool]] = {
    "named, with its lock": (TRIPS, _with_lock, "a/trips.yaml", False),
    "named, renamed with its lock": (TRIPS, _renamed_with_lock, "rides.yaml", False),
    "named, without its lock": (TRIPS, _without_lock, "a/trips.yaml", True),
    "named, renamed without its lock": (TRIPS, _renamed_without_lock, "rides.yaml", True),
    "named, into a stream": (TRIPS, _into_a_stream, "other.yaml", True),
    "named, with another name": (TRIPS, _renamed_in_the_manifest, "trips.yaml", True),
    "without a name, with its lock": (NAMELESS, _with_lock, "a/trips.yaml", False),
    "without a name, renamed with its lock": (NAMELESS, _renamed_with_lock, "rides.yaml", True),
    "without a name, without its lock": (NAMELESS, _without_lock, "a/trips.yaml", True),
    "without a name, renamed without its lock": (NAMELESS, _renamed_without_lock, "rides.yaml", True),
}


@pytest.mark.parametrize("mark", ["schemac.toml", None])
@pytest.mark.parametrize("case", CASES)
def test_start_no_ids_anew_without_a_word(case: str, mark: str | None, tmp_path: Path) -> None:
    text, move, manifest, is_lost = CASES[case]
    (tmp_path / "trips.yaml").write_text(text)
    (tmp_path / "other.yaml").write_text(OTHER)
    if mark is not None:
        (tmp_path / mark).touch()
    assert schemac(tmp_path, "lock").returncode == 0
    move(tmp_path)
    for words in (["lock"], ["lock", manifest], ["lock", "--check", manifest], ["build", manifest]):
        done = schemac(tmp_path, *words)
        assert ("error[SC419]" in done.stdout) is is_lost, (words, done)
        assert done.returncode == int(is_lost)
    if is_lost:
        _follow(tmp_path, manifest, re.findall("`([^`]+)`", done.stdout))
    assert schemac(tmp_path, "lock").returncode == 0
    lock = read_lock((tmp_path / manifest).with_suffix(".lock").read_text(), "", Report())
    assert lock is not None
    (trips,) = (dataset for dataset in lock.datasets if dataset.name == "trips")
    assert ids(trips) == {"id": 1, "fare": 2}
    assert len(trips.versions) == 1


def _follow(folder: Path, manifest: str, advice: list[str]) -> None:
    """Do what is said, word for word."""
    for step in advice:
        if step.startswith("name: "):
            text = re.sub("^name: rides\n", "", (folder / manifest).read_text(), flags=re.MULTILINE)
            (folder / manifest).write_text(f"{step}\n{text}")
        elif step.startswith("schemac "):
            done = schemac(folder, *step.split()[1:])
            assert done.returncode == 0, done
        else:
            subprocess.run(["sh", "-c", step], cwd=folder, check=True, env=environment())


def test_take_a_part_of_a_stream_out(tmp_path: Path) -> None:
    (tmp_path / "schemac.toml").touch()
    (tmp_path / "both.yaml").write_text(f"{OTHER}---\n{TRIPS}")
    assert schemac(tmp_path, "lock").returncode == 0
    (tmp_path / "both.yaml").write_text(OTHER)
    (tmp_path / "trips.yaml").write_text(TRIPS)
    said = schemac(tmp_path, "lock")
    assert (
        "error[SC419]: trips would get new ids for all its fields, but both.lock has those of this dataset"
        in said.stdout
    )
    _follow(tmp_path, "trips.yaml", re.findall("`([^`]+)`", said.stdout))
    assert schemac(tmp_path, "lock").returncode == 0
    assert "version 1" in (tmp_path / "trips.lock").read_text()


def test_take_no_namesake_of_another_place_for_it(tmp_path: Path) -> None:
    """Two projects in one repository may have a dataset of one name."""
    (tmp_path / ".git").mkdir()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trips.yaml").write_text(TRIPS)
        assert schemac(tmp_path, "lock", name).returncode == 0
    (tmp_path / "new.yaml").write_text(OTHER)
    assert schemac(tmp_path, "lock", "new.yaml").returncode == 0


def test_give_no_dataset_a_place_in_the_lock_of_another(tmp_path: Path) -> None:
    """A lock that came from another manifest, and whose datasets are not alike."""
    (tmp_path / "schemac.toml").touch()
    (tmp_path / "other.yaml").write_text(OTHER)
    assert schemac(tmp_path, "lock").returncode == 0
    foreign = (tmp_path / "other.lock").read_text()
    (tmp_path / "trips.yaml").write_text(TRIPS)
    (tmp_path / "trips.lock").write_text(foreign)
    for words in (
        ["lock"],
        ["lock", "trips.yaml"],
        ["lock", "--check", "trips.yaml"],
        ["build", "trips.yaml"],
    ):
        done = schemac(tmp_path, *words)
        assert done.returncode == 1, (words, done)
        assert (
            "error[SC419]: trips.lock is the lock of other, and trips.yaml has no dataset of that name"
            in done.stdout
        )
    assert (tmp_path / "trips.lock").read_text() == foreign
    (tmp_path / "trips.lock").unlink()
    assert schemac(tmp_path, "lock").returncode == 0
    # A manifest that has a dataset of the lock still may get others.
    (tmp_path / "other.yaml").write_text(f"{OTHER}---\n{TRIPS.replace('name: trips', 'name: rides')}")
    assert schemac(tmp_path, "lock").returncode == 0
