"""Twice the input is twice the work, counted in calls: what is measured is the same on every machine."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import schemac
from schemac.cli.main import main
from schemac.project import shared_work, targets, workers
from schemac.project.configuration import find_project
from schemac.text.source.diagnostics import Report
from tests.bench.workload import write_manifests

pytestmark = pytest.mark.slow


def _calls(work: Callable[[], object]) -> int:
    """Calls of functions, those that are written in C included."""
    count = 0

    def see(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def _fields(line: str) -> Callable[[int], str]:
    return lambda number: (
        "fields:\n" + "".join("  - " + line.replace("#", str(n)) + "\n" for n in range(number))
    )


def _stream(document: str) -> Callable[[int], str]:
    return lambda number: "".join("---\n" + document.replace("#", str(n)) + "\n" for n in range(number))


def _keys(head: str, line: str) -> Callable[[int], str]:
    return lambda number: head + "".join(line.replace("#", str(n)) + "\n" for n in range(number))


FIELD = "fields:\n  - name: a\n    type: Int8\n"
TEXTS: dict[str, Callable[[int], str]] = {
    "documents of one name": _stream("name: a\nfields: [{name: x, type: Int8}]"),
    "documents of many names": _stream("name: a#\nfields: [{name: x, type: Int8}]"),
    "documents with a finding each": _stream("name: a#\nfields: [{name: x, tpye: Int8}]"),
    "documents without a schema": _stream("a: #"),
    "events": _stream("kind: SetDataShcema\nschema: {fields: []}"),
    "fields of one name": _fields("{name: a, type: Int8}"),
    "fields that differ in case": _fields("{name: a#, type: Int8}\n  - {name: A#, type: Int8}"),
    "wrong keys of fields": _fields("{name: a#, tpye#: Int8}"),
    "wrong keys beside": _fields("{name: a#, type: Int8, descripton#: x}"),
    "wrong keys of one field": _keys(FIELD, "    descripton#: x"),
    "wrong attributes of one field": _keys(FIELD + "    extra:\n", "      lance.org/primraykey#: x"),
    "wrong attributes of fields": _fields("{name: a#, type: Int8, extra: {lance.org/primraykey#: 1}}"),
    "wrong domains": _fields("{name: a#, type: Int8, extra: {lance#.org/primaryKey: 1}}"),
    "wrong kinds": _fields("{name: a#, type: Timestmap#}"),
    "wrong properties": _fields("{name: a#, type: {kind: Decimal, percision#: 1, scale: 1}}"),
    "keys twice": _keys(FIELD, "    type: Int8"),
    "missing names": _fields("{type: Int8}"),
    "aliases": lambda number: "x: &x {kind: Int8}\n" + _fields("{name: a#, tpye: *x}")(number),
    "keys of a document": _keys("", "feilds#: 1"),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_work_in_proportion_to_the_text(text: Callable[[int], str]) -> None:
    schemac.check_text(text(2))
    once, twice = (_calls(partial(schemac.check_text, text(n))) for n in (150, 300))
    assert twice < 2.4 * once


@pytest.mark.parametrize("line", ["tagrets# = 1", '[vocabularies."x#.com"]', '"x#" = "y"'])
def test_work_in_proportion_to_the_configuration(tmp_path: Path, line: str) -> None:
    def find(number: int) -> Report:
        report = Report()
        find_project(tmp_path / str(number), report)
        return report

    for number in (2, 150, 300):
        (tmp_path / str(number)).mkdir()
        text = "".join(line.replace("#", str(n)) + "\n" for n in range(number))
        (tmp_path / str(number) / "schemac.toml").write_text(text)
    assert find(2).has_errors
    once, twice = (_calls(partial(find, n)) for n in (150, 300))
    assert twice < 2.4 * once


def _project_of(folder: Path, shape: str, number: int) -> Path:
    """A project that is as large as a number says, in one of its dimensions."""
    if shape == "manifests":
        return write_manifests(folder, number, 5)
    manifests = write_manifests(folder, 1, number if shape == "fields" else 1)
    if shape in WRITTEN:
        (manifests / "table_0.yaml").write_text(WRITTEN[shape](number))
    return manifests


WRITTEN: dict[str, Callable[[int], str]] = {
    "documents": lambda number: _stream("name: a#\nfields: [{name: x, type: Int8}]")(number),
    "attributes": _keys(FIELD + "    extra:\n", "      acme.com/key#: x"),
    "keys": _fields("{name: a#, type: Int8, extra: {lance.org/primaryKey: {position: 1#}}}"),
    "findings": _fields("{name: a#, type: Int8, extra: {lance.org/primraykey: 1}}"),
    "warnings": _fields("{name: a#, type: {kind: Timestamp, unit: seconds}}"),
}
MOST = 2**1.05
"""Twice the input is no more than so much more work."""


LARGEST = {
    "manifests": (60, 1_000),
    "fields": (600, 10_000),
    "documents": (120, 1_000),
    "attributes": (600, 1_000),
    "keys": (600, 1_000),
    "findings": (600, 10_000),
    "warnings": (600, 10_000),
}
"""How far each dimension is tried: in every run, and in the long one."""


@pytest.mark.parametrize("shape", LARGEST)
def test_grow_no_faster_than_the_project(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _grow_no_faster(shape, LARGEST[shape][0], tmp_path, monkeypatch)
    assert capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize("shape", LARGEST)
def test_grow_no_faster_than_a_large_project(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _grow_no_faster(shape, LARGEST[shape][1], tmp_path, monkeypatch)
    assert capsys.readouterr().out


def _grow_no_faster(shape: str, largest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What each of two doublings adds is compared, so that what a command costs anyway counts on neither side."""
    sizes = (largest // 4, largest // 2, largest)
    # All in this process, where they can be counted.
    for module in (workers, shared_work, targets):
        monkeypatch.setattr(module, "cores", lambda: 1)
    words_of_targets = [word for name in ("arrow", "lance", "spark") for word in ("--target", name)]
    made = [_project_of(tmp_path / str(size), shape, size) for size in sizes]
    monkeypatch.chdir(tmp_path)

    def build(folder: Path, name: str) -> int:
        words = ["build", str(folder), "--out", name, "--no-cache", "--format", "json", *words_of_targets]
        return _calls(lambda: main(words))

    build(made[0], "first")
    once, twice, thrice = (build(folder, f"out-{i}") for i, folder in enumerate(made))
    assert thrice - twice <= MOST * (twice - once), (once, twice, thrice)
