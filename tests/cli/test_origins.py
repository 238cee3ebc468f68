"""`schemac breaking --against git:REF` with every way that a manifest can get out of its place, in real repositories.

A breaking change is never passed, however the manifest was moved and however it is named; and a move alone breaks nothing.
"""

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from schemac.cli.main import main
from tests.identity.commands import environment

pytestmark = pytest.mark.slow

RIDES = """\
name: rides
fields:
  - name: id
    type: Int64
  - name: note
    type: {kind: Option, inner: String}
"""
STOPS = RIDES.replace("rides", "stops").replace("note", "place")
NAMELESS = RIDES.partition("\n")[2]
ENGINES = ("--engine", "lance", "--engine", "spark")


class Place:
    """A folder with what one does in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *words],
            cwd=self.folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def move(self, old: str, new: str) -> None:
        """A file or a folder; a manifest takes its lock along."""
        (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / old).rename(self.folder / new)
        lock = (self.folder / old).with_suffix(".lock")
        if lock.is_file():
            lock.rename((self.folder / new).with_suffix(".lock"))

    def link(self, path: str, target: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).symlink_to(target)

    def edit(self, path: str) -> None:
        """The change that breaks."""
        file = self.folder / path
        text = file.read_text()
        assert "type: Int64" in text
        file.write_text(text.replace("type: Int64", "type: Binary"))

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", "change")


@dataclass(frozen=True)
class Case:
    """How a repository is before and after."""

    before: Callable[[Place], None]
    after: Callable[[Place], None]
    edited: str
    """The manifest with the change, as it is called afterwards; empty where it is gone."""
    named: tuple[str, ...]
    """What is named alone: a manifest, or what is left of it."""
    folder: str = "tables"
    start: str = "."
    """Where the command runs."""
    locked: str = "tables"
    """What is locked before."""
    is_harmless: bool = True
    """Whether it breaks nothing without the edit."""


def _plain(place: Place) -> None:
    place.write("schemac.toml", 'manifests = ["tables"]\n')
    place.write("tables/rides.yaml", RIDES)
    place.write("tables/stops.yaml", STOPS)


def _nameless(place: Place) -> None:
    place.write("tables/rides.yaml", NAMELESS)
    place.write("tables/stops.yaml", STOPS)


def _linked(place: Place) -> None:
    place.write("schemac.toml", 'manifests = ["tables"]\n')
    place.write("shared/rides.yaml", RIDES)
    place.link("tables/rides.yaml", "../shared/rides.yaml")


def _linked_folder(place: Place) -> None:
    place.write("shared/rides.yaml", RIDES)
    place.link("tables", "shared")


def _project(place: Place) -> None:
    place.write("old/schemac.toml", 'manifests = ["tables"]\n')
    place.write("old/tables/rides.yaml", RIDES)
    place.write("old/tables/stops.yaml", STOPS)


def _submodule(place: Place) -> None:
    library = Place(place.folder.parent / "library")
    library.folder.mkdir()
    library.git("init", "-q")
    library.write("rides.yaml", RIDES)
    library.commit()
    place.git("submodule", "--quiet", "add", str(library.folder), "tables/sub")
    place.write("tables/stops.yaml", STOPS)


def _newline(place: Place) -> None:
    place.write("tables/a\nb.yaml", RIDES.replace("rides", "lines"))
    _plain(place)


def _stream(place: Place) -> None:
    place.write("tables/both.yaml", f"{RIDES}---\n{STOPS}")


def _only(place: Place) -> None:
    place.write("tables/rides.yaml", RIDES)


def _nothing(place: Place) -> None:
    pass


def _split(place: Place) -> None:
    (place.folder / "tables/both.yaml").unlink()
    _plain(place)


def _into_submodule(place: Place) -> None:
    place.move("tables/rides.yaml", "tables/sub/trips.yaml")


def _given_another_link(place: Place) -> None:
    place.move("shared/rides.yaml", "shared/deeper/rides.yaml")
    (place.folder / "tables/rides.yaml").unlink()
    place.link("tables/rides.yaml", "../shared/deeper/rides.yaml")


def _made_a_file(place: Place) -> None:
    (place.folder / "tables/rides.yaml").unlink()
    place.move("shared/rides.yaml", "tables/rides.yaml")


def _made_a_link(place: Place) -> None:
    place.move("tables/rides.yaml", "shared/rides.yaml")
    place.link("tables/rides.yaml", "../shared/rides.yaml")


def _folder_made_a_link(place: Place) -> None:
    place.move("tables", "shared")
    place.link("tables", "shared")


def _moved_into_the_other(place: Place) -> None:
    (place.folder / "tables/rides.yaml").unlink()
    place.write("tables/stops.yaml", f"{RIDES}---\n{STOPS}")


def _swapped(place: Place) -> None:
    place.write("tables/rides.yaml", STOPS)
    place.write("tables/stops.yaml", RIDES)


def _moved_without_rides(place: Place) -> None:
    place.move("old", "new")
    (place.folder / "new/tables/rides.yaml").unlink()


def _unlinked(path: str) -> Callable[[Place], None]:
    return lambda place: (place.folder / path).unlink()


def _moved(old: str, new: str) -> Callable[[Place], None]:
    return lambda place: place.move(old, new)


ALONE = ("tables/rides.yaml",)
CASES = {
    "in place": Case(_plain, _nothing, "tables/rides.yaml", ALONE),
    "renamed": Case(
        _plain, _moved("tables/rides.yaml", "tables/trips.yaml"), "tables/trips.yaml", ("tables/trips.yaml",)
    ),
    "moved": Case(
        _plain,
        _moved("tables/rides.yaml", "tables/a/b/rides.yaml"),
        "tables/a/b/rides.yaml",
        ("tables/a/b/rides.yaml",),
    ),
    "moved in from elsewhere": Case(
        lambda place: place.write("drafts/.old/rides.yml", RIDES),
        _moved("drafts/.old/rides.yml", "tables/rides.yaml"),
        "tables/rides.yaml",
        ALONE,
        locked="drafts/.old/rides.yml",
    ),
    "a link": Case(_linked, _nothing, "shared/rides.yaml", ALONE),
    "in a linked folder": Case(_linked_folder, _nothing, "shared/rides.yaml", ALONE),
    "a link to another place": Case(_linked, _given_another_link, "shared/deeper/rides.yaml", ALONE),
    "a link made a file": Case(_linked, _made_a_file, "tables/rides.yaml", ALONE),
    "a file made a link": Case(_plain, _made_a_link, "shared/rides.yaml", ALONE),
    "the target of a file made a link": Case(
        _plain, _made_a_link, "shared/rides.yaml", ("shared/rides.yaml",)
    ),
    "a folder made a link": Case(_plain, _folder_made_a_link, "shared/rides.yaml", ALONE),
    "in a renamed project": Case(
        _project, _moved("old", "new"), "new/tables/rides.yaml", ALONE, start="new", locked="old/tables"
    ),
    "in a submodule": Case(_submodule, _nothing, "tables/sub/rides.yaml", ("tables/sub/rides.yaml",)),
    "moved out of a submodule": Case(
        _submodule, _moved("tables/sub/rides.yaml", "tables/rides.yaml"), "tables/rides.yaml", ALONE
    ),
    "moved in a submodule": Case(
        _submodule,
        _moved("tables/sub/rides.yaml", "tables/sub/a/trips.yaml"),
        "tables/sub/a/trips.yaml",
        ("tables/sub/a/trips.yaml",),
    ),
    "with a newline": Case(_newline, _nothing, "tables/a\nb.yaml", ("tables/a\nb.yaml",)),
    "beside a newline": Case(_newline, _nothing, "tables/rides.yaml", ("tables/a\nb.yaml", *ALONE)),
    "renamed to a newline": Case(
        _plain, _moved("tables/rides.yaml", "tables/\n.yaml"), "tables/\n.yaml", ("tables/\n.yaml",)
    ),
    "gone": Case(_plain, _unlinked("tables/rides.yaml"), "", ALONE, is_harmless=False),
    "gone, the last one": Case(_only, _unlinked("tables/rides.yaml"), "", ALONE, is_harmless=False),
    "without a name": Case(_nameless, _nothing, "tables/rides.yaml", ALONE),
    "without a name, at the top": Case(
        lambda place: place.write("rides.yaml", NAMELESS),
        _nothing,
        "rides.yaml",
        ("rides.yaml",),
        folder=".",
        locked=".",
    ),
    "without a name, renamed": Case(
        _nameless,
        _moved("tables/rides.yaml", "tables/trips.yaml"),
        "tables/trips.yaml",
        ("tables/trips.yaml",),
        is_harmless=False,
    ),
    "without a name, moved": Case(
        _nameless,
        _moved("tables/rides.yaml", "tables/a/rides.yaml"),
        "tables/a/rides.yaml",
        ("tables/a/rides.yaml",),
    ),
    "in another file": Case(_plain, _moved_into_the_other, "tables/stops.yaml", ("tables/stops.yaml",)),
    "in each other's file": Case(_plain, _swapped, "tables/stops.yaml", ("tables/stops.yaml",)),
    "one of two that were in one file": Case(_stream, _split, "tables/rides.yaml", ALONE),
    "gone from a renamed project": Case(
        _project,
        _moved_without_rides,
        "",
        ALONE,
        start="new",
        is_harmless=False,
    ),
}
WAYS = ("alone", "folder", "nothing")


def _breaking(case: Case, way: str, *more: str) -> int:
    words = {"alone": case.named, "folder": (case.folder,), "nothing": ()}[way]
    return main(["breaking", "--against", "git:HEAD", *ENGINES, *more, *words])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    folder = tmp_path / "repository"
    folder.mkdir()
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    found = Place(folder)
    found.git("init", "-q")
    return found


@pytest.mark.parametrize("name", CASES)
def test_pass_no_change_that_breaks(
    name: str, place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    case.before(place)
    place.commit()
    case.after(place)
    monkeypatch.chdir(place.folder / case.start)
    harmless = {way: _breaking(case, way) for way in WAYS}
    said = capsys.readouterr()
    if case.is_harmless:
        assert set(harmless.values()) == {0}, said
    else:
        assert set(harmless.values()) <= {1, 2}, (harmless, said)
    if case.edited:
        place.edit(case.edited)
        assert {way: _breaking(case, way) for way in WAYS} == dict.fromkeys(WAYS, 1), capsys.readouterr()


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.edited and "submodule" not in n])
def test_find_the_change_itself_by_the_lock(
    name: str, place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The manifest takes its lock along, and the finding is about the field, not about a dataset that came or went."""
    case = CASES[name]
    case.before(place)
    monkeypatch.chdir(place.folder)
    assert main(["lock", case.locked]) == 0
    place.commit()
    case.after(place)
    place.edit(case.edited)
    monkeypatch.chdir(place.folder / case.start)
    capsys.readouterr()
    for way in WAYS:
        assert _breaking(case, way) == 1
        out = capsys.readouterr().out
        if case.is_harmless:
            assert "id: type-replaced: Int64 → Binary" in out, (way, out)
            assert "dataset-" not in out, (way, out)


def test_say_what_a_clone_has_no_submodule_for(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _submodule(place)
    place.commit()
    monkeypatch.chdir(place.folder)
    place.git("submodule", "--quiet", "deinit", "--force", "tables/sub")
    subprocess.run(["rm", "-rf", ".git/modules"], check=True, cwd=place.folder)
    place.write("tables/new.yaml", RIDES.replace("rides", "new"))
    # Where the submodule is as it was, nothing can have come out of it.
    assert main(["breaking", "--against", "git:HEAD", *ENGINES, "tables/new.yaml"]) == 0
    place.write("tables/sub/rides.yaml", RIDES)
    capsys.readouterr()
    assert (
        main(["breaking", "--against", "git:HEAD", *ENGINES, "tables/sub/rides.yaml", "--format", "github"])
        == 1
    )
    assert "of the submodule tables/sub is not in this clone" in capsys.readouterr().out
    subprocess.run(["rm", "-rf", "tables/sub"], check=True, cwd=place.folder)
    place.git("rm", "-q", "--cached", "tables/sub")
    for words in (["tables/new.yaml"], ["tables"], []):
        assert main(["breaking", "--against", "git:HEAD", *ENGINES, *words]) == 1
        assert "error[SC416]: it is unknown whether new is new" in capsys.readouterr().out


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../../elsewhere.yaml", "../tables/nowhere.yaml", "rides.yaml"]
)
def test_take_no_link_for_a_manifest(
    target: str, place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One out of the repository cannot be known; one that led nowhere held nothing."""
    place.link("tables/rides.yaml", target)
    place.commit()
    (place.folder / "tables/rides.yaml").unlink()
    place.write("tables/rides.yaml", RIDES)
    monkeypatch.chdir(place.folder)
    is_outside = "/" in target and "tables" not in target
    assert main(["breaking", "--against", "git:HEAD", *ENGINES, "tables/rides.yaml"]) == int(is_outside)
    assert ("SC416" in capsys.readouterr().out) is is_outside


def test_tell_a_copy_from_a_move(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a dataset of the same name is still in its place, another one is new: projects may share a repository."""
    place.write("one/rides.yaml", RIDES)
    place.commit()
    place.write("two/rides.yaml", RIDES)
    place.edit("two/rides.yaml")
    monkeypatch.chdir(place.folder)
    assert main(["breaking", "--against", "git:HEAD", *ENGINES, "two/rides.yaml"]) == 0
    assert "dataset-added" in capsys.readouterr().out


def test_doubt_a_copy_beside_its_original(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One folder is one project, in which two datasets cannot have one name."""
    place.write("one/rides.yaml", RIDES)
    place.commit()
    place.write("one/copy.yaml", RIDES)
    place.edit("one/copy.yaml")
    monkeypatch.chdir(place.folder)
    assert main(["breaking", "--against", "git:HEAD", *ENGINES, "one/copy.yaml"]) == 1
    assert "SC415" in capsys.readouterr().out


def test_name_all_places_that_a_dataset_may_have_come_from(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place.write("one/rides.yaml", RIDES)
    place.write("two/rides.yaml", RIDES.replace("note", "remark"))
    place.commit()
    place.move("one/rides.yaml", "three/rides.yaml")
    place.move("two/rides.yaml", "gone.txt")
    monkeypatch.chdir(place.folder)
    assert main(["breaking", "--against", "git:HEAD", *ENGINES, "three/rides.yaml"]) == 0
    place.edit("three/rides.yaml")
    capsys.readouterr()
    assert main(["breaking", "--against", "git:HEAD", *ENGINES, "three/rides.yaml"]) == 1
    assert "rides may have come from HEAD:one/rides.yaml and HEAD:two/rides.yaml" in capsys.readouterr().out


def test_find_what_the_configuration_of_then_had(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place.write("schemac.toml", 'manifests = ["tables"]\n')
    _plain(place)
    place.commit()
    place.move("tables/stops.yaml", "schemas/stops.yaml")
    (place.folder / "tables/rides.yaml").unlink()
    place.write("schemac.toml", 'manifests = ["schemas"]\n')
    monkeypatch.chdir(place.folder)
    assert main(["breaking", "--against", "git:HEAD", *ENGINES]) == 1
    assert capsys.readouterr().out.startswith("rides: HEAD:tables/rides.yaml → nothing\n  dataset-dropped\n")


@pytest.mark.parametrize("ref", ["HEAD~1", "main~1", "origin/side", "v1"])
def test_say_how_to_deepen_a_shallow_clone(
    ref: str, place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _plain(place)
    place.commit()
    place.git("tag", "v1")
    place.git("branch", "side")
    place.edit("tables/rides.yaml")
    place.commit()
    clone = Place(place.folder.parent / "clone")
    place.git("clone", "-q", "--depth", "1", f"file://{place.folder}", str(clone.folder))
    monkeypatch.chdir(clone.folder)
    words = ["breaking", "--against", f"git:{ref}", *ENGINES, "tables/rides.yaml"]
    assert main(words) == 1
    out = capsys.readouterr().out
    assert "error[SC408]" in out
    (command,) = re.findall("`(git [^`]+)`", out)
    subprocess.run(
        ["sh", "-c", command], cwd=clone.folder, check=True, capture_output=True, env=environment()
    )
    assert main(words) == 1
    assert "id: type-replaced: Int64 → Binary" in capsys.readouterr().out
