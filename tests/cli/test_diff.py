"""`schemac diff` in a repository, against everything that there is to compare with."""

import json
from pathlib import Path

import pytest

from tests.cli.repository import RIDES, STOPS, Repository, repository

__all__ = ["repository"]

WIDENED = "  id: integer-widened: Int32 → Int64"
NOW, THEN = "tables/rides.yaml:3:5", "tables/rides.yaml:3:5"


@pytest.mark.parametrize("ref", ["v1", "HEAD~1", "main~1"])
def test_compare_with_commit(ref: str, repository: Repository) -> None:
    code, out, err = repository.run("diff", f"git:{ref}", "tables")
    assert out.splitlines() == [
        f"rides: {ref}:tables/rides.yaml → tables/rides.yaml",
        f"{WIDENED}   ({NOW}, before {ref}:{THEN})",
    ]
    assert (code, err) == (0, "1 field changed\n")


def test_compare_with_branch(repository: Repository) -> None:
    repository.git("checkout", "-b", "topic")
    repository.edit("tables/stops.yaml", "lon", "long")
    repository.commit("three", "place.lon")
    assert repository.run("diff", "git:main")[1].splitlines()[1:] == [
        "  place.long: field-added: Float64   (tables/stops.yaml:8:11)",
        "  place.lon: field-dropped: Float64   (main:tables/stops.yaml:8:11)",
    ]


def test_follow_renames_by_the_ids_of_the_lock(repository: Repository) -> None:
    """Both names lie between the two, and the manifest declares neither any more."""
    for name in ("remark", "comment"):
        old = {"remark": "note", "comment": "remark"}[name]
        repository.edit("tables/rides.yaml", f"name: {old}\n", f"name: {name}\n")
        text = (repository.folder / "tables/rides.yaml").read_text()
        repository.write("tables/rides.yaml", f"{text}    extra: {{schemac.dev/renamedFrom: {old}}}\n")
        repository.commit(name)
        repository.write("tables/rides.yaml", text)
        repository.commit("declared no more")
    assert "  note: field-renamed" not in repository.run("diff", "git:HEAD", "tables")[1]
    assert "comment: field-renamed: note → comment" in repository.run("diff", "git:v1", "tables")[1]


@pytest.mark.parametrize("start", ["", "---\n"], ids=["in parts", "as a whole"])
def test_take_no_id_for_granted_before_it_is_locked(start: str, repository: Repository) -> None:
    """At the commit `late` would have got the next id, but `early` has it now."""
    text = start + (repository.folder / "tables/rides.yaml").read_text()
    late = "  - name: late\n    type: {kind: Option, inner: String}\n"
    repository.write("tables/rides.yaml", text + late)
    repository.git("commit", "--all", "-m", "not locked")
    repository.write("tables/rides.yaml", text + late.replace("late", "early") + late)
    repository.commit("locked")
    assert repository.run("diff", "git:HEAD~1", "tables")[1].splitlines()[1:] == [
        f"  early: field-added: String?   (tables/rides.yaml:{8 if start else 7}:5)"
    ]


def test_find_no_change(repository: Repository) -> None:
    for against in ("git:HEAD", "lock", "tables"):
        assert repository.run("diff", against, "tables") == (0, "", "no changes\n")


def test_tell_what_is_in_no_commit_yet(repository: Repository) -> None:
    repository.write("tables/fares.yaml", RIDES.replace("rides", "fares"))
    code, out, err = repository.run("diff", "git:HEAD")
    assert out == "fares: nothing → tables/fares.yaml\n  dataset-added   (tables/fares.yaml:1:1)\n"
    assert (code, err) == (0, "1 dataset added\n")


def test_tell_what_is_gone(repository: Repository) -> None:
    (repository.folder / "tables/stops.yaml").unlink()
    code, out, err = repository.run("diff", "git:HEAD", "tables")
    assert out.splitlines() == [
        "stops: HEAD:tables/stops.yaml → nothing",
        "  dataset-dropped   (HEAD:tables/stops.yaml:1:1)",
    ]
    assert (code, err) == (0, "1 dataset dropped\n")
    assert repository.run("diff", "git:HEAD", "tables/rides.yaml")[2] == "no changes\n"


def test_pass_over_what_was_no_manifest(repository: Repository) -> None:
    for path in ("tables/values.yaml", ".github/workflows/test.yaml", "tables/node_modules/a.yaml"):
        repository.write(path, "on: push\n")
    repository.commit("others")
    repository.git("rm", "-r", "--quiet", "tables/values.yaml", ".github", "tables/node_modules")
    assert repository.run("diff", "git:HEAD") == (0, "", "no changes\n")


def test_follow_a_dataset_into_another_file(repository: Repository) -> None:
    repository.git("mv", "tables/stops.yaml", "tables/places.yaml")
    repository.git("mv", "tables/stops.lock", "tables/places.lock")
    assert repository.run("diff", "git:HEAD") == (0, "", "no changes\n")
    repository.edit("tables/places.yaml", "lat, type: Float64", "lat, type: Float32")
    assert repository.run("diff", "git:HEAD")[1].splitlines() == [
        "stops: HEAD:tables/stops.yaml → tables/places.yaml",
        "  place.lat: float-narrowed: Float64 → Float32   (tables/places.yaml:7:11, before HEAD:tables/stops.yaml:7:11)",
    ]


def test_follow_a_dataset_from_file_to_file(repository: Repository) -> None:
    repository.write("tables/rides.yaml", f"{RIDES.replace('Int32', 'Int64')}---\n{STOPS}")
    (repository.folder / "tables/stops.yaml").write_text("name: other\nfields: []\n")
    (repository.folder / "tables/stops.lock").unlink()
    code, out, _ = repository.run("diff", "git:HEAD")
    assert (code, out) == (
        0,
        "other: nothing → tables/stops.yaml\n  dataset-added   (tables/stops.yaml:1:1)\n",
    )


@pytest.mark.parametrize("ref", ["nope", "--help", "", "v1^{tree}", "HEAD:tables", "--all", "HEAD~9"])
def test_know_no_such_commit(ref: str, repository: Repository) -> None:
    code, out, _ = repository.run("diff", f"git:{ref}", "tables")
    assert code == 1
    assert f"error[SC408]: git finds no commit '{ref}' in this repository" in out


def test_say_that_this_is_no_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Repository
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    code, out, _ = repository.run("diff", "git:HEAD", "tables")
    assert code == 1
    assert "help: fatal: not a git repository" in out


def test_say_that_git_is_missing(monkeypatch: pytest.MonkeyPatch, repository: Repository) -> None:
    monkeypatch.setenv("PATH", "")
    code, out, _ = repository.run("diff", "git:HEAD", "tables")
    assert (code, "`git:HEAD` needs git, which is not installed" in out) == (1, True)


def test_compare_with_versions_of_the_lock(repository: Repository) -> None:
    code, out, _ = repository.run("diff", "lock:1", "tables")
    assert out == f"rides: lock:1 → tables/rides.yaml\n{WIDENED}   ({NOW})\n"
    assert code == 0
    repository.edit("tables/rides.yaml", "Int64", "Int16")
    assert "Int64 → Int16" in repository.run("diff", "lock", "tables")[1]
    _, out, err = repository.run("diff", "lock", "tables", "--transitive")
    assert [line for line in out.splitlines() if line.startswith("rides")] == [
        "rides: lock:1 → tables/rides.yaml",
        "rides: lock:2 → tables/rides.yaml",
    ]
    assert err == "1 field changed\n"


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("lock:99", "tables/rides.lock has no version 99 of rides"),
        ("lock:0", "tables/rides.lock has no version 0 of rides"),
        ("lock:x", "'x' is not a version number"),
        ("lock:-1", "'-1' is not a version number"),
        ("lock:²", "'²' is not a version number"),
        ("lock:", "'' is not a version number"),
        ("lokc", "there is nothing at 'lokc' to compare with"),
        ("", "there is nothing at '' to compare with"),
        ("tables/nothing.yaml", "there is nothing at 'tables/nothing.yaml' to compare with"),
        ("tables/stops.yaml", "tables/stops.yaml has none of the datasets to compare"),
    ],
)
def test_know_no_such_version(against: str, message: str, repository: Repository) -> None:
    paths = ["tables/rides.yaml", "tables/fares.yaml"] if "stops" in against else ["tables/rides.yaml"]
    repository.write("tables/fares.yaml", RIDES.replace("rides", "fares"))
    code, out, _ = repository.run("diff", against, *paths)
    assert code == 1
    assert f"error[SC408]: {message}\n" in out


def test_know_no_version_without_a_lock(repository: Repository) -> None:
    (repository.folder / "tables/rides.lock").unlink()
    for words in (["lock"], ["lock:1"], ["--transitive", "lock"]):
        code, out, _ = repository.run("diff", *words, "tables/rides.yaml")
        assert code == 1
        assert "create the first one with `schemac lock tables/rides.yaml`" in out


def test_compare_with_another_manifest(repository: Repository) -> None:
    repository.write("before.yaml", RIDES.replace("rides", "trips"))
    code, out, _ = repository.run("diff", "before.yaml", "tables/rides.yaml")
    assert out == f"rides: before.yaml → tables/rides.yaml\n{WIDENED}   ({NOW}, before before.yaml:3:5)\n"
    assert code == 0
    # Beside several datasets it is compared with its namesake, whatever else there is.
    repository.write("before.yaml", RIDES)
    assert repository.run("diff", "before.yaml", "tables")[1] == out


def test_compare_with_a_folder(repository: Repository) -> None:
    repository.write("before/rides.yaml", RIDES)
    repository.write("before/deeper/stops.yaml", STOPS)
    repository.write("before/gone.yaml", STOPS.replace("stops", "gone"))
    code, out, err = repository.run("diff", "before", "tables")
    assert out.splitlines() == [
        "gone: before/gone.yaml → nothing",
        "  dataset-dropped   (before/gone.yaml:1:1)",
        "rides: before/rides.yaml → tables/rides.yaml",
        f"{WIDENED}   ({NOW}, before before/rides.yaml:3:5)",
    ]
    assert (code, err) == (0, "1 dataset dropped, 1 field changed\n")
    assert "gone" not in repository.run("diff", "before", "tables/rides.yaml", "tables/stops.yaml")[1]


@pytest.mark.parametrize("build", ["build", "build/"])
def test_compare_with_artifacts(build: str, repository: Repository) -> None:
    code, out, _ = repository.run("diff", build, "tables")
    assert out == f"rides: build → tables/rides.yaml\n{WIDENED}   ({NOW})\n"
    assert code == 0
    (repository.folder / "tables/stops.yaml").unlink()
    assert "stops: build → nothing" in repository.run("diff", build, "tables")[1]


def test_refuse_artifacts_that_cannot_be_read(repository: Repository) -> None:
    (repository.folder / "build/rides/arrow/schema.arrow").write_bytes(b"nonsense")
    code, out, _ = repository.run("diff", "build", "tables")
    assert (code, "build/rides/arrow/schema.arrow cannot be read" in out) == (1, True)


def test_compare_with_every_version_at_a_commit(repository: Repository) -> None:
    repository.edit("tables/rides.yaml", "Int64", "Int16")
    out = repository.run("diff", "git:HEAD", "tables", "--transitive")[1]
    assert [line.partition(" →")[0] for line in out.splitlines() if line.startswith("rides")] == [
        "rides: lock:1",
        "rides: lock:2",
    ]


def test_show_what_is_wrong_with_the_manifest(repository: Repository) -> None:
    repository.edit("tables/rides.yaml", "Int64", "Itn64")
    code, out, _ = repository.run("diff", "git:HEAD", "tables")
    assert code == 1
    assert "error[SC201]" in out
    assert " --> tables/rides.yaml:4:11" in out


def test_show_what_was_wrong_with_the_manifest(repository: Repository) -> None:
    repository.write("tables/fares.yaml", "fields:\n  - {name: x, type: Strin}\n")
    repository.git("add", "--all")
    repository.git("commit", "-m", "broken")
    repository.edit("tables/fares.yaml", "Strin", "String")
    code, out, _ = repository.run("diff", "git:HEAD", "tables")
    assert code == 1
    assert " --> HEAD:tables/fares.yaml:2:21" in out


def test_print_json(repository: Repository) -> None:
    code, out, _ = repository.run("diff", "git:v1", "tables", "--format", "json")
    assert code == 0
    document = json.loads(out)
    assert document["diagnostics"] == []
    assert {"changes": document["changes"]} == {
        "changes": [
            {
                "change": "integer-widened",
                "dataset": "rides",
                "field": "id",
                "from": "v1:tables/rides.yaml",
                "key": "",
                "new": "Int64",
                "newPlace": "tables/rides.yaml:3:5",
                "old": "Int32",
                "oldPlace": "v1:tables/rides.yaml:3:5",
                "to": "tables/rides.yaml",
            }
        ]
    }


def test_work_from_a_folder_of_the_repository(
    monkeypatch: pytest.MonkeyPatch, repository: Repository
) -> None:
    monkeypatch.chdir(repository.folder / "tables")
    assert repository.run("diff", "git:v1")[1].splitlines()[0] == "rides: v1:rides.yaml → rides.yaml"
