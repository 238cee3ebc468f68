"""Groups in a project: imports, renames, comparisons, and what is told of groups that nothing uses."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.repository import Repository, repository
from tests.identity.commands import schemac

__all__ = ["repository"]

GROUPS = """\
imports: [deeper/author.yaml]
groups:
  audit:
    extra: {schemac.dev/tags: [audit]}
    fields:
      - name: created_at      # by the clock of the server
        type: Timestamp
      - use: author
  money:
    parameters:
      name: {default: fare}
      digits: {}
    fields:
      - name: $(name)
        type: {kind: Decimal, precision: $(digits), scale: 2}
      - name: $(name)_currency
        type: String
"""
AUTHOR = "groups:\n  author:\n    fields: [{name: created_by, type: String}]\n"
TRIPS = """\
name: trips
imports: [groups/audit.yaml]
extra:
  paimon.apache.org/primaryKeys: [id, created_by]
fields:
  - name: id
    type: Int64
  - use: audit
  - use: money
    with: {digits: 8}
"""
RIDES = """\
name: rides
imports: [groups/audit.yaml]
fields:
  - name: stop
    type: {kind: Struct, fields: [{use: audit}, {name: place, type: String}]}
  - use: money
    with: {digits: 8, name: toll}
"""


def lay_out(folder: Path) -> Path:
    for name, text in {
        "trips.yaml": TRIPS,
        "rides.yaml": RIDES,
        "groups/audit.yaml": GROUPS,
        "groups/deeper/author.yaml": AUTHOR,
        "schemac.toml": "",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def edit(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))


def test_find_nothing_wrong(tmp_path: Path) -> None:
    ran = schemac(lay_out(tmp_path), "check")
    assert (ran.returncode, ran.stdout) == (0, "")


def test_point_to_both_ends(tmp_path: Path) -> None:
    edit(lay_out(tmp_path), "groups/deeper/author.yaml", "String", "Strin")
    found = json.loads(schemac(tmp_path, "check", "--format", "json").stdout)["diagnostics"]
    by_path = {d["path"]: d for d in found}
    assert by_path.keys() == {"created_by", "stop.created_by"}
    assert {d["file"] for d in found} == {"groups/deeper/author.yaml"}
    labels = [
        (label["file"], label["line"], label["message"]) for label in by_path["stop.created_by"]["labels"]
    ]
    assert labels == [
        ("groups/audit.yaml", 8, "in group 'author', used here"),
        ("rides.yaml", 5, "in group 'audit', used here"),
    ]


def test_tell_once_what_is_wrong_in_many_places(tmp_path: Path) -> None:
    lay_out(tmp_path)
    for n in range(8):
        (tmp_path / f"t{n}.yaml").write_text(TRIPS.replace("name: trips", f"name: t{n}"))
    edit(tmp_path, "groups/deeper/author.yaml", "String", "Strin")
    said = schemac(tmp_path, "check").stdout
    assert said.count("SC201") == 2
    assert "and 5 more places" in said


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ([("rides.yaml", "- use: money\n    with: {digits: 8, name: toll}", ""), ("trips.yaml", "- use: money\n    with: {digits: 8}", "")], "nothing uses the group 'money'"),
        ([("rides.yaml", "{use: audit}, ", ""), ("rides.yaml", "- use: money\n    with: {digits: 8, name: toll}", "")], "no group of groups/audit.yaml is used here"),
        ([("groups/audit.yaml", "      - use: author\n", "")], "nothing uses the group 'author'"),
    ],
)  # fmt: skip
def test_tell_of_what_nothing_uses(tmp_path: Path, edits: list[tuple[str, str, str]], said: str) -> None:
    lay_out(tmp_path)
    edit(tmp_path, "trips.yaml", "[id, created_by]", "[id]")
    for each in edits:
        edit(tmp_path, *each)
    for _ in range(2):
        assert said in schemac(tmp_path, "check").stdout
    # Whoever names a part of the project is not told of groups that another part may use.
    assert "nothing uses" not in schemac(tmp_path, "check", "trips.yaml", "groups/audit.yaml").stdout


@pytest.mark.parametrize(
    ("imported", "code", "said"),
    [
        ("nowhere.yaml", "SC234", "cannot read nowhere.yaml: no such file or directory"),
        ("/etc/groups.yaml", "SC234", "/etc/groups.yaml is not a relative path"),
        ("https://example.com/g.yaml", "SC234", "is not a relative path"),
        ("groups", "SC234", "cannot read groups: is a directory"),
        ("trips.yaml", "SC233", "trips.yaml imports itself"),
        ("rides.yaml", "SC233", "trips.yaml imports itself through rides.yaml"),
    ],
)
def test_refuse_imports(tmp_path: Path, imported: str, code: str, said: str) -> None:
    edit(lay_out(tmp_path), "trips.yaml", "groups/audit.yaml", imported)
    edit(tmp_path, "rides.yaml", "groups/audit.yaml", "trips.yaml")
    out = schemac(tmp_path, "check", "trips.yaml").stdout
    assert set(re.findall(r"SC\d+", out)) == {code}
    assert said in out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("      - use: author\n", "      - use: {author: x}\n"),
        ("      - use: author\n", "      - use: [author]\n"),
        ("    extra: {schemac.dev/tags: [audit]}\n", "    parameters: {who: String}\n"),
    ],
)
def test_say_nothing_of_groups_that_mistakes_hide(tmp_path: Path, old: str, new: str) -> None:
    edit(lay_out(tmp_path), "groups/audit.yaml", old, new)
    edit(tmp_path, "rides.yaml", "- use: money\n    with: {digits: 8, name: toll}", "")
    said = schemac(tmp_path, "check").stdout
    assert "SC204" in said
    assert "is used here" not in said
    assert "nothing uses" not in said


@pytest.mark.parametrize("length", [2, 3, 5])
def test_show_every_import_of_a_circle(tmp_path: Path, length: int) -> None:
    """Whichever file is named, also for files that are taken for manifests and for groups alike."""
    names = [f"m{i}.yaml" for i in range(length)]
    for i, name in enumerate(names):
        text = f"imports: [{names[i - 1]}]\ngroups:\n  g{i}: {{fields: [{{name: x, type: Int64}}]}}\nfields:\n  - use: g{(i - 1) % length}\n"
        (tmp_path / name).write_text(text)
    for name in names:
        said = schemac(tmp_path, "check", name).stdout
        assert said.count("SC233") == 1
        assert {*re.findall(r"(?:-->|:::) (m\d.yaml):1:11", said)} == {*names}
    assert schemac(tmp_path, "check").stdout.count("SC233") == length


RENAMINGS = (
    ("trips", "created_by", "author"),
    ("rides", "stop.created_by", "author"),
    ("rides", "stop.created_at", "at"),
    ("rides", "toll", "fee"),
    ("trips", "fare", "price"),
    ("trips", "id", "number"),
)


@pytest.mark.parametrize(("dataset", "old", "new"), RENAMINGS)
def test_rename_in_all_datasets_at_once(tmp_path: Path, dataset: str, old: str, new: str) -> None:
    """Locks are as if the fields of the groups stood in each manifest."""
    groups, plain = lay_out(tmp_path / "groups"), tmp_path / "plain"
    plain.mkdir()
    for name in ("trips", "rides"):
        (plain / f"{name}.yaml").write_text(schemac(groups, "expand", f"{name}.yaml").stdout)
    (plain / "schemac.toml").write_text("")
    before = {
        name: (groups / name).read_text() for name in ("groups/audit.yaml", "groups/deeper/author.yaml")
    }
    for folder in (groups, plain):
        assert schemac(folder, "lock").returncode == 0
    ran = schemac(groups, "rename", dataset, old, new)
    if old in ("toll", "fare"):
        # Its name is a part of another one as well.
        assert ran.returncode == 1
        assert "SC409" in ran.stdout
        assert before == {name: (groups / name).read_text() for name in before}
        return
    assert ran.returncode == 0, ran.stdout
    column = old.rpartition(".")[2]
    is_shared = column.startswith("created")
    for name, path in (("trips", column), ("rides", f"stop.{column}")):
        if name == dataset or is_shared:
            assert schemac(plain, "rename", name, path, new).returncode == 0
    for name in ("trips.lock", "rides.lock"):
        assert (groups / name).read_text() == (plain / name).read_text()
    for folder in (groups, plain):
        assert schemac(folder, "lock", "--check").returncode == 0
        assert schemac(folder, "check").stdout == ""
    assert "# by the clock of the server" in (groups / "groups/audit.yaml").read_text()


def test_leave_everything_where_another_dataset_has_changes(tmp_path: Path) -> None:
    lay_out(tmp_path)
    assert schemac(tmp_path, "lock").returncode == 0
    edit(tmp_path, "rides.yaml", "place", "spot")
    before = {
        path: path.read_bytes()
        for path in tmp_path.rglob("*.*")
        if path.is_file() and ".schemac" not in str(path)
    }
    ran = schemac(tmp_path, "rename", "trips", "created_by", "author")
    assert ran.returncode == 4
    assert "SC401" in ran.stdout
    assert before == {path: path.read_bytes() for path in before}


def test_refuse_to_move_out_of_a_group(tmp_path: Path) -> None:
    ran = schemac(lay_out(tmp_path), "rename", "rides", "stop.created_by", "created_by")
    assert (ran.returncode, "SC409" in ran.stdout) == (1, True)
    assert "it is defined in a group" in ran.stdout


def test_judge_a_group_for_every_dataset(repository: Repository) -> None:
    for name in ("rides", "stops"):
        (repository.folder / f"tables/{name}.yaml").unlink()
        (repository.folder / f"tables/{name}.lock").unlink()
    lay_out(repository.folder / "tables")
    repository.commit("groups")
    repository.edit("tables/groups/deeper/author.yaml", "String", "Int32")
    for _ in range(2):
        code, out, _ = repository.run(
            "breaking", "--against", "git:HEAD", "--engine", "lance", "--format", "json"
        )
        verdicts = json.loads(out)["verdicts"]
        assert {(v["dataset"], v["field"]) for v in verdicts} == {
            ("trips", "created_by"),
            ("rides", "stop.created_by"),
        }
        assert code == 0
        assert {v["newUsed"] for v in verdicts} == {"tables/trips.yaml:8:10", "tables/rides.yaml:5:41"}
    said = repository.run("diff", "git:HEAD")[1]
    assert "(tables/groups/deeper/author.yaml:3:14, used at tables/trips.yaml:8:10, before HEAD:" in said
    repository.edit("tables/groups/deeper/author.yaml", "Int32", "String")
    assert repository.run("breaking", "--against", "git:HEAD", "--engine", "lance")[2] == "no changes\n"


def test_write_the_standard_form(tmp_path: Path) -> None:
    ran = schemac(lay_out(tmp_path), "expand", "--out", str(tmp_path / "all.yaml"))
    assert ran.returncode == 0
    checked = schemac(tmp_path, "check", "--strict", "all.yaml")
    assert (checked.returncode, checked.stdout) == (0, "")
    assert "$(" not in (tmp_path / "all.yaml").read_text()


def test_expand_nothing_that_has_errors(tmp_path: Path) -> None:
    edit(lay_out(tmp_path), "trips.yaml", "use: money", "use: many")
    ran = schemac(tmp_path, "expand")
    assert ran.returncode == 1
    assert "SC231" in ran.stdout
    assert "DatasetSnapshot" not in ran.stdout


def test_find_nothing_wrong_with_the_example(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(Path(__file__).parents[2] / "examples/shared-fields", folder)
    for command in (
        ("check",),
        ("check", "--overlay", "production.yaml"),
        ("build", "--overlay", "production.yaml"),
    ):
        ran = schemac(folder, *command)
        assert (ran.returncode, ran.stdout) == (0, ""), ran.stdout
    assert (folder / "build/crm_customers").is_dir()
    found = json.loads(schemac(folder, "list", "--tag", "pii", "--format", "json").stdout)["fields"]
    assert [one["field"] for one in found] == ["email", "phone", "emergency.email", "emergency.phone"]
