"""Which run a job is: by its id, its interval, or what it reads."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import lance
import pytest

from schemac.cli.main import main
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reruns.repeats import IdentifiedRun, identify_and_fence
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import RunRequest, this_process
from schemac.rows.runs.tables import TableForm, sink_of
from schemac.text.source.catalogue import INVALID_RUN
from tests.pipeline.killing import SCHEMA, attempt

FORM = TableForm(SCHEMA)


class Place:
    """A folder with a table and its input."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read("in.json", "1")

    def read(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def job(self, mode: str = "append", source: str = "in.json", **settings: Any) -> Job:
        target = {"path": str(self.folder / "t.lance"), "mode": mode}
        quarantine = {"path": str(self.folder / "q.lance")}
        path = {"path": str(self.folder / source)}
        told = {"source": path, "target": target, "quarantine": quarantine, **settings}
        return Job.model_validate(told)

    def which(
        self, mode: str = "append", source: str = "in.json", form: TableForm = FORM, **more: Any
    ) -> IdentifiedRun:
        wanted = {name: more.pop(name) for name in ("id", "interval", "again") if name in more}
        return identify_and_fence(self.job(mode, source, **more), form, RunRequest(**wanted), sink_of(None))

    def run(self, mode: str = "append", **more: Any) -> str:
        """Commits the run that is asked for; its id."""
        found = self.which(mode, **more)
        assert found.earlier is None
        attempt(self.folder, found.identity.id, [1], 1, mode, this_process())
        return found.identity.id

    def version(self, mode: str = "append", **more: Any) -> int | None:
        """The version that has the run already."""
        earlier = self.which(mode, **more).earlier
        return None if earlier is None else earlier.version


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_same_input_is_the_same_run(place: Place) -> None:
    place.run()
    assert place.version() == place.version("create") == 1
    (place.folder / "in.json").touch()
    assert place.version() == 1
    place.read("elsewhere/in.json", "1")
    assert place.version(source="elsewhere/in.json") == 1


CHANGES: dict[str, dict[str, Any]] = {
    "a setting": {"coerce": "text"},
    "a mapping": {"fields": {"s": "t"}},
    "another table": {"target": {"path": "other.lance"}},
    "another schema": {"form": replace(FORM, version="2-a")},
    "another name": {"source": "other.json"},
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_input_is_another_run(place: Place, change: str) -> None:
    place.read("other.json", "1")
    first = place.run()
    assert place.which(**CHANGES[change]).identity.id != first
    assert place.version(**CHANGES[change]) is None


def test_changed_files_are_another_run(place: Place) -> None:
    place.read("in/a.json", "1")
    place.run(source="in")
    assert place.version(source="in") == 1
    place.read("in/_hidden.json", "1")
    assert place.version(source="in") == 1
    place.read("in/b.json", "2")
    assert place.version(source="in") is None
    place.run(source="in")
    assert place.version(source="in") == 2
    (place.folder / "in/b.json").unlink()
    assert place.version(source="in") == 1


def test_read_the_same_input_again(place: Place) -> None:
    first = place.run()
    assert place.run(again=True) == f"{first}-2"
    assert place.run(again=True) == f"{first}-3"
    assert place.version() == 3


def test_overwrite_with_what_is_there_only_if_nothing_came_after(place: Place) -> None:
    place.read("b.json", "2")
    first = place.run("overwrite")
    assert place.version("overwrite") == 1
    place.run("overwrite", source="b.json")
    assert place.version("overwrite", source="b.json") == 2
    assert place.run("overwrite") == f"{first}-2"
    assert place.version("overwrite") == 3
    place.run(source="b.json", again=True)
    assert place.version("overwrite") is None


def test_append_what_was_replaced(place: Place) -> None:
    place.read("b.json", "2")
    first = place.run()
    place.run("overwrite", source="b.json")
    assert place.run() == f"{first}-2"


def test_run_undone_by_a_restore_can_be_made_again(place: Place) -> None:
    place.read("b.json", "2")
    place.run()
    place.run(source="b.json", id="b")
    assert place.version(source="b.json", id="b") == 2
    lance.dataset(str(place.folder / "t.lance")).checkout_version(1).restore()
    assert place.version() == 1
    assert place.version(source="b.json", id="b") is None


def test_id_is_committed_once_whatever_it_reads(place: Place) -> None:
    place.run(id="batch-1")
    (place.folder / "in.json").unlink()
    for mode in ("append", "overwrite", "create"):
        assert place.version(mode, id="batch-1") == place.version(mode, run="batch-1") == 1
    place.read("in.json", "3")
    attempt(place.folder, "replaced", [1], 1, "overwrite", this_process())
    assert place.version(id="batch-1") == 1
    assert place.version(id="batch-2") is None


def test_interval_is_committed_once_whatever_it_reads(place: Place) -> None:
    day = "2026-01-01..2026-01-02"
    place.run(interval=day)
    place.read("in.json", "2")
    assert place.version(interval=day) == 1
    assert place.version(interval="2026-01-02..2026-01-03") is None
    assert place.which(interval=day).identity.interval == day
    assert place.run(interval=day, again=True) == f"{place.which(interval=day).identity.id}-2"


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "a b"},
        {"id": "a" * 65},
        {"id": "a", "again": True},
        {"interval": "2026-01-01"},
        {"interval": "2026-01-02..2026-01-01"},
        {"interval": "2026-01-01..2026-01-01"},
        {"interval": "2026-01-01T00:00Z..2026-01-02T00:00"},
        {"interval": "yesterday..today"},
    ],
    ids=str,
)
def test_refuse_what_is_no_run(wrong: dict[str, Any]) -> None:
    with pytest.raises(PipelineError) as caught:
        RunRequest(**wrong)
    assert caught.value.code is INVALID_RUN
    assert caught.value.help


def test_list_the_runs(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a table, of its quarantine, and of the target that a pipeline file names."""
    place.run(id="one")
    place.run("overwrite", id="two")
    (place.folder / "p.yaml").write_text("source: {path: in.json}\nschema: m.yaml\ntarget: {path: t.lance}\n")
    (place.folder / "m.yaml").write_text("fields:\n  - {name: id, type: Int64}\n")
    for name in ("t.lance", "q.lance", "p.yaml"):
        assert main(["runs", "--format", "json", str(place.folder / name)]) == 0
        found = json.loads(capsys.readouterr().out)["runs"]
        assert [(run["id"], run["mode"], run["version"]) for run in found] == [
            ("two", "overwrite", 2),
            ("one", "append", 1),
        ]
        assert all(
            run["records"] == {"written": 1, "quarantined": 1, "superseded": 0, "deleted": 0} for run in found
        )
    assert main(["runs", "--limit", "1", str(place.folder / "t.lance")]) == 0
    header, line = capsys.readouterr().out.splitlines()
    assert header.split()[:2] == ["version", "committed"]
    assert line.split()[0] == "2"
    assert "two" in line
    (place.folder / "none.yaml").write_text(
        (place.folder / "p.yaml").read_text().replace("t.lance", "n.lance")
    )
    for name in ("none.lance", "none.yaml"):
        assert main(["runs", str(place.folder / name)]) == 1
        said = capsys.readouterr().out
        assert ("has not written a table" if name.endswith(".yaml") else "there is no table") in said
        assert ("schemac run " in said) == name.endswith(".yaml")
