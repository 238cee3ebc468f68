"""Nothing outside the output folder is read, written or removed, and nothing in it that is not ours."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from schemac.cli.main import main
from tests.project.trees import tree, write_manifests

pytestmark = pytest.mark.slow

KINDS = {"trips": "Int32", "rides": "Int32"}
COMMANDS = (["build"], ["build", "--check"], ["build", "trips.yaml"], ["build", "--target", "lance"])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that was built once, beside a folder with something of value."""
    home = tmp_path / "home"
    (home / "project").mkdir(parents=True)
    (home / "precious").mkdir()
    (home / "precious/losses.json").write_text("precious")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home / "project")
    write_manifests(home / "project", KINDS)
    assert main(["build"]) == 0
    return home / "project"


def _outside(project: Path) -> dict[str, bytes]:
    return {
        path: content
        for path, content in tree(project.parent).items()
        if not path.startswith(("project/build/", "project/.schemac/"))
    }


def _run(project: Path, command: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """Exit code and codes of a command that may touch nothing outside."""
    before = _outside(project)
    capsys.readouterr()
    code = main([*command, "--format", "json"])
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    assert _outside(project) == before
    assert not (project / "build/.schemac-new").exists()
    return code, [d["code"] for d in found]


LISTED = {
    "upwards": "../precious/losses.json",
    "upwards from the dataset": "trips/../../../precious/losses.json",
    "up and down again": "trips/../trips/losses.json",
    "absolute": "{home}/precious/losses.json",
    "absolute below the dataset": "trips/{home}/precious/losses.json",
    "through a link": "trips/out/losses.json",
    "NUL": "trips/\x00losses.json",
    "line end": "trips/losses.json\n",
    "escape": "trips/\x1b[31m",
    "lone surrogate": "trips/\ud800",
    "right to left": "trips/\u202egnp.json",
    "backslashes": "trips\\..\\..\\precious\\losses.json",
    "drive": "C:/precious/losses.json",
    "empty": "",
    "dot": ".",
    "dots": "..",
    "the folder itself": "trips/",
    "two slashes": "trips//losses.json",
    "another dataset": "rides/losses.json",
    "a file beside": "README.md",
    "too long": "trips/" + "x" * 5_000,
    "too deep": "trips/" + "x/" * 5_000 + "x",
}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("listed", LISTED.values(), ids=LISTED.keys())
def test_stay_inside_whatever_is_listed(
    project: Path, capsys: pytest.CaptureFixture[str], listed: str, command: list[str]
) -> None:
    os.symlink(project.parent / "precious", project / "build/trips/out")
    (project / "build/README.md").write_text("mine")
    file = project / "build/artifacts.json"
    document = json.loads(file.read_text())
    document["datasets"]["trips"]["files"][listed.replace("{home}", str(project.parent))] = "x"
    document["datasets"]["gone"] = document["datasets"]["trips"]
    file.write_text(json.dumps(document))
    before = tree(project / "build")
    assert _run(project, command, capsys) in ((1, ["SC544"]), (1, ["SC545"]), (4, ["SC541"]))
    assert tree(project / "build") == before


def _swap_for_link(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    path.rename(target)
    path.symlink_to(target)


LINKS = ("trips", "trips/lance", "trips/lance/schema.binpb", "artifacts.json", "trips/losses.json")


@pytest.mark.parametrize("change", ["nothing", "a field", "the dataset"])
@pytest.mark.parametrize("link", LINKS)
def test_follow_no_link(project: Path, capsys: pytest.CaptureFixture[str], link: str, change: str) -> None:
    _swap_for_link(project / "build" / link, project.parent / "precious/moved" / link)
    changed = {"nothing": KINDS, "a field": KINDS | {"trips": "Int64"}, "the dataset": {"rides": "Int32"}}
    write_manifests(project, changed[change])
    for command in COMMANDS[:2]:
        code, codes = _run(project, command, capsys)
        # What is gone goes without a look behind the link.
        if change == "the dataset" and code == 0:
            assert not (project / "build/trips/arrow").exists()
        else:
            assert code == (1 if "SC545" in codes else 4)
            assert set(codes) <= {"SC541", "SC545"}


def _make_folder(path: Path) -> None:
    path.mkdir()


def _make_pipe(path: Path) -> None:
    os.mkfifo(path)


def _make_loop(path: Path) -> None:
    path.symlink_to(path.name)


def _make_file(path: Path) -> None:
    path.write_text("mine")


@pytest.mark.parametrize("make", [_make_folder, _make_pipe, _make_loop, _make_file])
@pytest.mark.parametrize(
    "path", ["trips", "trips/lance", "trips/losses.json", "artifacts.json", ".schemac-new"]
)
def test_refuse_what_is_in_the_way(
    project: Path, capsys: pytest.CaptureFixture[str], path: str, make: Callable[[Path], None]
) -> None:
    main(["build", "--out", "new"])
    target = project / "build" / path
    if target.is_dir():
        target.rename(project / "aside")
    elif target.exists():
        target.unlink()
    make(target)
    write_manifests(project, KINDS | {"trips": "Int64"})
    before = tree(project / "build") if make is not _make_pipe else {}
    code = main(["build"])
    said = capsys.readouterr().out
    if code == 0:
        assert make is _make_folder or path == "trips/losses.json"
        return
    assert any(f"[{known}]" in said for known in ("SC543", "SC544", "SC545"))
    assert make is _make_pipe or tree(project / "build") == before


PLACES = {
    "root": "/",
    "home": "{home}",
    "home by another way": "{home}/precious/../",
    "above home": "{home}/..",
    "project": ".",
    "project with artifacts": ".",
    "foreign": "../precious",
    "link to a foreign folder": "link",
}


@pytest.mark.parametrize("command", COMMANDS[:2], ids=" ".join)
@pytest.mark.parametrize("place", PLACES)
def test_refuse_a_folder_that_is_not_for_artifacts(
    project: Path, capsys: pytest.CaptureFixture[str], place: str, command: list[str]
) -> None:
    (project / "link").symlink_to("../precious")
    if place == "project with artifacts":
        (project / "artifacts.json").write_bytes((project / "build/artifacts.json").read_bytes())
    out = PLACES[place].replace("{home}", str(project.parent))
    assert _run(project, [*command, "--out", out], capsys) == (1, ["SC543"])


def test_offer_a_way_out_that_works(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "docs").mkdir()
    (project / "docs/README.md").write_text("# Tables")
    assert main(["build", "--out", "docs"]) == 1
    said = capsys.readouterr().out
    command = said.split("`schemac ")[1].split("`")[0].split()
    assert main(command) == 0
    assert main([*command, "--check"]) == 0
    assert main(command) == 0
    assert sorted(p.name for p in (project / "docs").iterdir()) == ["README.md", "schemas"]


@pytest.mark.parametrize("name", [".gitkeep", ".gitignore"])
def test_take_a_folder_that_git_keeps_for_empty(project: Path, name: str) -> None:
    (project / "docs").mkdir()
    (project / "docs" / name).write_text("*\n")
    assert main(["build", "--out", "docs"]) == 0
    assert (project / "docs" / name).read_text() == "*\n"


def test_take_a_link_to_a_folder_of_ours(project: Path) -> None:
    (project / "build").rename(project / "elsewhere")
    (project / "build").symlink_to("elsewhere")
    write_manifests(project, {"trips": "Int64"})
    assert main(["build"]) == 0
    assert (project / "build").is_symlink()
    assert not (project / "elsewhere/rides").exists()


def test_mend_a_merge_conflict_in_the_provenance(project: Path) -> None:
    file = project / "build/artifacts.json"
    ours = file.read_text()
    write_manifests(project, {"trips": "Int64", "rides": "Int32", "acme/new": "Int32"})
    assert main(["build"]) == 0
    whole = tree(project / "build")
    file.write_text(f"<<<<<<< HEAD\n{ours}=======\n{file.read_text()}>>>>>>> theirs\n")
    assert main(["build", "--check"]) == 4
    assert main(["build"]) == 0
    assert tree(project / "build") == whole
    write_manifests(project, KINDS)
    file.write_text(f"<<<<<<< HEAD\n{ours}=======\n{file.read_text()}>>>>>>> theirs\n")
    assert main(["build"]) == 0
    assert not (project / "build/acme").exists()


DAMAGED = (
    b"",
    b"{",
    b"[" * 100_000,
    b"null",
    b"[]",
    b'{"datasets": []}',
    b"\xff\xfe",
    b'"\\ud800"',
    b"1" * 5_000,
)


@pytest.mark.parametrize("content", DAMAGED)
def test_touch_nothing_by_a_provenance_that_is_not_ours(
    project: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    (project / "build/artifacts.json").write_bytes(content)
    before = tree(project / "build")
    for command in COMMANDS:
        assert _run(project, command, capsys) == (1, ["SC544"])
    assert tree(project / "build") == before


def test_refuse_a_manifest_whose_path_is_not_utf_8(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(project / "build")
    (project / "rides.yaml").rename(project / "rides\udcff.yaml")
    for command in (["build"], ["build", "--check"]):
        assert main(command) == 1
        out = capsys.readouterr().out
        assert "the manifest 'rides\\udcff.yaml': its path is not UTF-8" in out
        assert "SC541" not in out, "`schemac build` is no way out here"
    assert tree(project / "build") == before


def test_remove_the_artifacts_of_a_removed_manifest(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "rides.yaml").unlink()
    assert _run(project, ["build", "--check"], capsys) == (4, ["SC541"])
    assert main(["build", "trips.yaml"]) == 0
    assert "1 dataset of other manifests left unchanged" in capsys.readouterr().err
    assert (project / "build/rides").exists()
    assert main(["build"]) == 0
    assert "1 dataset removed" in capsys.readouterr().err
    assert not (project / "build/rides").exists()
    assert _run(project, ["build", "--check"], capsys) == (0, [])


def test_list_manifests_from_the_project_wherever_it_is_built(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "schemac.toml").write_text("")
    assert main(["build"]) == 0
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    assert main(["build", "--check"]) == 0
