"""Locks of form 1: what stands in them is read, and written in the form of today."""

import re
import subprocess
from pathlib import Path

import pytest

from schemac.project.locking import merge_driver
from schemac.text.source.diagnostics import Report
from schemac.versions.identity.lock import Lock, LockedDataset
from schemac.versions.identity.lockfile import read_lock, write_lock
from schemac.versions.identity.merge import merge
from tests.identity.commands import TRIPS, environment, schemac
from tests.identity.trees import fields, locked

LOCKS = sorted((Path(__file__).parent / "locks").glob("*.locked"))
every_lock = pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def read(text: str) -> Lock:
    report = Report()
    lock = read_lock(text, "d.lock", report)
    assert report.diagnostics == ()
    assert lock is not None
    return lock


def lines(text: str, word: str) -> list[str]:
    """The lines of one sort, without what checks them."""
    return [line.rpartition(" ~")[0] for line in text.split("\n") if line.startswith(f"{word} ")]


@every_lock
def test_read_the_numbers_of_a_lock_of_form_1(path: Path) -> None:
    text = text_of(path)
    assert text.startswith("# schemac lock 1:")
    states = [state for dataset in read(text).datasets for state in dataset.states]
    told = [
        re.match(r"field (\d+) v(\d+)-(\d*) .*?lance (\S+) paimon (\S+) ", line)
        for line in lines(text, "field")
    ]
    assert [
        (
            str(state.id),
            str(state.first),
            str(state.last or ""),
            ",".join(map(str, state.numbers.of("lance"))) or "-",
            ",".join(map(str, state.numbers.of("paimon"))) or "-",
        )
        for state in states
    ] == [match.groups() for match in told if match is not None]


@every_lock
def test_read_the_versions_of_a_lock_of_form_1(path: Path) -> None:
    text = text_of(path)
    versions = [version for dataset in read(text).datasets for version in dataset.versions]
    for version, line in zip(versions, lines(text, "version"), strict=True):
        data = version.data.of("paimon")
        id = f" id<={version.highest_id}" if version.highest_id else ""
        made = f" made {data['timeMillis']}" if "timeMillis" in data else ""
        extra = f" {version.extra}" if version.extra else ""
        assert line == (
            f"version {version.number} schema-{data['schemaId']} lance<={version.highest.of('lance')}"
            f" paimon<={version.highest.of('paimon')}{id}{made}{extra} {version.digest}"
        )


@every_lock
def test_write_a_lock_of_form_1_in_the_form_of_today(path: Path) -> None:
    lock = read(text_of(path))
    text = write_lock(lock)
    assert text.startswith("# schemac lock 2:")
    assert read(text) == lock
    assert write_lock(read(text)) == text
    # By its digest a version is known in both forms.
    assert all(f" was {version.digest} " in text for dataset in lock.datasets for version in dataset.versions)
    assert merge(lock, read(text)).lock == lock


@every_lock
def test_refuse_a_lock_of_form_1_that_was_changed(path: Path) -> None:
    whole = text_of(path).split("\n")
    for at, line in enumerate(whole[:-1]):
        if line.startswith("#"):
            continue
        for place in range(0, len(line), 7):
            other = chr(ord(line[place]) + 1)
            changed = [*whole[:at], line[:place] + other + line[place + 1 :], *whole[at + 1 :]]
            report = Report()
            assert read_lock("\n".join(changed), "d.lock", report) is None
            assert report.diagnostics[0].code == "SC402"
        if line.startswith("field "):
            report = Report()
            assert read_lock("\n".join([*whole[:at], *whole[at + 1 :]]), "d.lock", report) is None


def test_go_on_from_a_lock_of_form_1() -> None:
    (before,) = read(text_of(next(path for path in LOCKS if path.stem == "imported_from_paimon"))).datasets
    after, _ = locked(fields(a={"kind": "Option", "inner": {"kind": "Int32"}}, b="Int8"), before)
    first, second = after.versions
    assert first == before.versions[0]
    assert second.data.of("paimon") == {"schemaId": 1}
    assert [state.numbers.entries for state in after.states] == [
        (("lance", (0,)), ("paimon", (0,))),
        (("lance", (1,)), ("paimon", (1,))),
    ]
    text = write_lock(Lock((after,)))
    assert read(text).datasets == (after,)
    # A version that is locked today has one digest, and one that is locked again from another form the same.
    assert text.count(" was ") == 1
    again, _ = locked(
        fields(a={"kind": "Option", "inner": {"kind": "Int32"}}, b="Int8"),
        LockedDataset(after.name, (first,), read(write_lock(Lock((before,)))).datasets[0].states),
    )
    assert again == after


OLD = Path(__file__).parent / "locks" / "trips.locked"


def test_accept_a_lock_of_form_1_until_the_next_one_is_written(tmp_path: Path) -> None:
    (tmp_path / "trips.yaml").write_text(TRIPS)
    lock = tmp_path / "trips.lock"
    lock.write_bytes(OLD.read_bytes())
    for command in (("lock", "--check"), ("build", "--locked", "--out", "build"), ("diff", "lock")):
        done = schemac(tmp_path, *command, *(["trips.yaml"] if command[0] != "diff" else []))
        assert done.returncode == 0, done.stderr
        assert lock.read_bytes() == OLD.read_bytes()
    done = schemac(tmp_path, "lock", "trips.yaml")
    assert done.returncode == 0
    assert "new format" in done.stdout + done.stderr
    assert lock.read_text().startswith("# schemac lock 2:")
    assert read(lock.read_text()) == read(text_of(OLD))
    done = schemac(tmp_path, "lock", "trips.yaml")
    assert "unchanged" in done.stdout + done.stderr
    assert schemac(tmp_path, "build", "--check", "--out", "build", "trips.yaml").returncode == 0


def test_follow_a_rename_from_a_lock_of_form_1(tmp_path: Path) -> None:
    (tmp_path / "trips.yaml").write_text(TRIPS)
    (tmp_path / "trips.lock").write_bytes(OLD.read_bytes())
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, env=environment())
    assert schemac(tmp_path, "rename", "trips", "fare", "paid").returncode == 0
    assert (tmp_path / "trips.lock").read_text().startswith("# schemac lock 2:")
    # The ids of both locks mean the same, for the first version has one digest.
    told = schemac(tmp_path, "diff", "git:HEAD", "trips.yaml").stdout
    assert "field-renamed" in told
    assert "field-dropped" not in told


def test_merge_a_lock_of_form_1_into_one_of_today(tmp_path: Path) -> None:
    base, theirs = (OLD.parent / name for name in ("trips.locked", "trips_with_tip.locked"))
    (dataset,) = read(text_of(base)).datasets
    ours, _ = locked(fields(id="Int64", fare="Float64", way="Int8"), dataset)
    file = tmp_path / "ours"
    file.write_text(write_lock(Lock((ours,))))
    report = Report()
    merge_driver(file, theirs, report)
    assert report.diagnostics == ()
    (merged,) = read(file.read_text()).datasets
    assert merged.versions[:2] == ours.versions
    assert {state.shape.segment: state.numbers.entries for state in merged.states} == {
        "id": (("lance", (0,)), ("paimon", (0,))),
        "fare": (("lance", (1,)), ("paimon", (1,))),
        "way": (("lance", (2,)), ("paimon", (2,))),
        "tip": (("lance", (3,)), ("paimon", (3,))),
    }
