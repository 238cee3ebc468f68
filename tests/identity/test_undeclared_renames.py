"""A field that is renamed by hand keeps its values, unless the author says that they are to go.

Every place of a field, with its type kept or widened, beside one new field or two, on each way from the edited manifest to a Lance
table: no command that ends with 0 loses a value before somebody said `--drop`.
"""

import itertools
import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from tests.identity.commands import schemac

OLD, NEW, OTHER = "started_at", "begun_at", "updated_at"
VALUES = [1, 2, 3]
PLACES = ("top", "struct", "nested struct", "item", "value")
WIDER = {"kind": "Int64"}
PLAIN = {"kind": "Int32"}


def optional(type_: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "Option", "inner": type_}


def member(name: str, type_: dict[str, Any], renamed_from: str = "") -> dict[str, Any]:
    declared = {"schemac.dev/renamedFrom": renamed_from}
    return {"name": name, "type": optional(type_), **({"extra": declared} if renamed_from else {})}


def around(place: str, members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The columns of a schema that has these fields at a place."""
    key: dict[str, Any] = {"name": "key", "type": {"kind": "Int64"}}
    stays: dict[str, Any] = {"name": "stays", "type": optional({"kind": "String"})}
    struct = {"kind": "Struct", "fields": [*members, stays]}
    match place:
        case "top":
            return [key, *members, stays]
        case "struct":
            return [key, {"name": "s", "type": struct}]
        case "nested struct":
            return [key, {"name": "s", "type": {"kind": "Struct", "fields": [{"name": "t", "type": struct}]}}]
        case "item":
            return [key, {"name": "s", "type": {"kind": "List", "itemType": struct}}]
        case _:
            return [
                key,
                {"name": "s", "type": {"kind": "Map", "keyType": {"kind": "String"}, "valueType": struct}},
            ]


def path_of(place: str, name: str) -> str:
    before = {"top": "", "struct": "s.", "nested struct": "s.t.", "item": "s.item.", "value": "s.value."}
    return before[place] + name


@dataclass
class Project:
    """A manifest, its lock and a table of its first version."""

    folder: Path
    place: str

    def write(self, *members: dict[str, Any]) -> None:
        schema = {"name": "trips", "fields": around(self.place, list(members))}
        (self.folder / "trips.yaml").write_text(json.dumps(schema))

    def run(self, *arguments: str, code: int = 0) -> str:
        done = schemac(self.folder, *arguments)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def make_table(self, name: str = OLD) -> None:
        self.run("build", "--target", "arrow")
        content = (self.folder / "build/trips/arrow/schema.arrow").read_bytes()
        schema = pa.ipc.read_schema(pa.py_buffer(content))
        rows: list[dict[str, Any]] = []
        for value in VALUES:
            inside: dict[str, Any] = {name: value, "stays": "x"}
            row: dict[str, Any] = {
                "top": inside,
                "struct": {"s": inside},
                "nested struct": {"s": {"t": inside}},
                "item": {"s": [inside]},
                "value": {"s": [("k", inside)]},
            }[self.place]
            rows.append({"key": value, **row})
        lance.write_dataset(
            pa.Table.from_pylist(rows, schema=schema),
            str(self.folder / "t.lance"),
            data_storage_version="2.2",
        )

    def values(self, name: str) -> list[Any]:
        """What the table has under a name."""
        rows = lance.dataset(str(self.folder / "t.lance")).to_table().to_pylist()
        found: list[Any] = []
        for row in rows:
            match self.place:
                case "top":
                    found.append(row.get(name))
                case "struct":
                    found.append(row["s"].get(name))
                case "nested struct":
                    found.append(row["s"]["t"].get(name))
                case "item":
                    found.append(row["s"][0].get(name))
                case _:
                    found.append(dict(row["s"])["k"].get(name))
        return found

    def apply(self) -> None:
        self.run("apply", "trips", "--table", "t.lance", "--yes")


@pytest.fixture(params=list(itertools.product(PLACES, (PLAIN, WIDER), (1, 2))), ids=str)
def edited(
    request: pytest.FixtureRequest, tmp_path: Path
) -> tuple[Project, list[dict[str, Any]], dict[str, Any]]:
    """A project whose field was renamed by hand; its fields now, and the type of the one that is meant."""
    place, type_, count = request.param
    project = Project(tmp_path, place)
    project.write(member(OLD, PLAIN))
    project.run("lock")
    project.make_table()
    fields = [member(NEW, type_), *([member(OTHER, type_)] if count == 2 else [])]
    project.write(*fields)
    return project, fields, type_


Edited = tuple[Project, list[dict[str, Any]], dict[str, Any]]


def test_every_gate_asks(edited: Edited) -> None:
    project, fields, _ = edited
    before = (project.folder / "trips.lock").read_text()
    removed = f"{path_of(project.place, OLD)} was removed"
    breaking = project.run("breaking", "--against", "lock", "--engine", "arrow", "--ignore-readers")
    assert removed in " ".join(breaking.split())
    assert "1 possible rename" in breaking
    assert "none of them critical" not in breaking
    shown = json.loads(
        project.run(
            *("breaking", "--against", "lock", "--engine", "arrow", "--ignore-readers", "--format", "json")
        )
    )
    assert [d["code"] for d in shown["diagnostics"]] == ["SC405"]
    for word in ("lock", "lock:1"):
        difference = project.run("diff", word, "--html", "page.html")
        assert removed in difference
        assert "1 possible rename" in difference
        assert f"Possible rename:</b> {removed}" in (project.folder / "page.html").read_text()
    for arguments in (("lock", "--check"), ("plan", "trips"), ("build", "--locked")):
        assert removed in project.run(*arguments, code=4)
    for command in ("apply", "verify"):
        assert schemac(project.folder, command, "trips", "--table", "t.lance").returncode != 0
    said = project.run("lock", code=1)
    assert all(path_of(project.place, field["name"]) in said for field in fields)
    assert (project.folder / "trips.lock").read_text() == before
    assert project.values(OLD) == VALUES


def test_a_declared_rename_keeps_the_values(edited: Edited) -> None:
    project, fields, type_ = edited
    (declared,) = set(re.findall(r"`schemac\.dev/renamedFrom: ([^`]*)`", project.run("lock", code=1)))
    project.write(member(NEW, type_, declared), *fields[1:])
    project.run("lock")
    assert "SC405" not in project.run("diff", "lock:1")
    project.apply()
    assert project.values(NEW) == VALUES


def test_a_field_that_is_dropped_goes(edited: Edited) -> None:
    project, _, _ = edited
    (command,) = set(re.findall(r"`(schemac lock [^`]* --drop [^`]*)`", project.run("lock", code=1)))
    project.run(*shlex.split(command)[1:])
    # What the lock has decided is not asked again.
    assert "SC405" not in project.run("diff", "lock:1") + project.run("lock", "--check")
    project.apply()
    assert project.values(NEW) == [None, None, None]


@pytest.mark.parametrize("was_declared_before", [False, True])
def test_a_declaration_that_comes_late_says_how_to_keep_the_values(
    edited: Edited, was_declared_before: bool
) -> None:
    """The field was locked as new, or dropped alone, before anybody said that it is the same."""
    project, fields, type_ = edited
    path = path_of(project.place, OLD)
    if was_declared_before:
        project.write()
        project.run("lock")
    else:
        project.run("lock", "--drop", path)
    before = (project.folder / "trips.lock").read_text()
    project.write(member(NEW, type_, OLD), *fields[1:])
    for arguments in (
        *(("lock",), ("lock", "--check"), ("diff", "lock"), ("breaking", "--against", "lock")),
        *(("build",), ("plan", "trips"), ("apply", "trips", "--table", "t.lance")),
    ):
        said = project.run(*arguments, code=1)
        assert "error[SC429]" in said
    (command,) = set(re.findall(r"`(schemac lock [^`]* --restore [^`]*)`", said))
    assert (project.folder / "trips.lock").read_text() == before
    project.run(*shlex.split(command)[1:])
    project.run("lock", "--check")
    project.apply()
    assert project.values(NEW) == VALUES


@pytest.mark.parametrize("place", PLACES)
def test_lose_no_values_that_were_written_in_between(place: str, tmp_path: Path) -> None:
    """The table got the new field, and rows with it, before the former one was given its id back."""
    project = Project(tmp_path, place)
    project.write(member(OLD, PLAIN))
    project.run("lock")
    project.write(member(NEW, PLAIN))
    project.run("lock", "--drop", path_of(place, OLD))
    project.make_table(NEW)
    project.write(member(NEW, PLAIN, OLD))
    (command,) = set(re.findall(r"`(schemac lock [^`]* --restore [^`]*)`", project.run("lock", code=1)))
    project.run(*shlex.split(command)[1:])
    refused = project.run("apply", "trips", "--table", "t.lance", "--yes", code=1)
    assert project.values(NEW) == VALUES
    (command,) = set(re.findall(r"`(schemac lock --restore [^`]*)`", refused))
    project.run(*shlex.split(command)[1:])
    project.apply()
    assert project.values(NEW) == VALUES


STRUCT = {"kind": "Struct", "fields": [member("a", PLAIN), member("b", {"kind": "String"})]}
CHANGED = {"kind": "Struct", "fields": [member("a", WIDER), member("c", {"kind": "String"})]}
KEY = {"name": "key", "type": {"kind": "Int64"}}
MOVES = {
    "a struct with other members": ([member("s", STRUCT)], [member("t", CHANGED)], "s"),
    "a list": (
        [member("s", {"kind": "List", "itemType": PLAIN})],
        [member("t", {"kind": "List", "itemType": WIDER})],
        "s",
    ),
    "into a struct": ([member("a", PLAIN)], [member("s", STRUCT)], "a"),
    "out of a struct": ([member("s", STRUCT)], [member("a", WIDER)], "s.a"),
    "into another struct": (
        [member("s", STRUCT), member("t", {"kind": "Struct", "fields": [member("x", {"kind": "Bool"})]})],
        [member("t", {"kind": "Struct", "fields": [member("x", {"kind": "Bool"}), member("a", PLAIN)]})],
        "s.a",
    ),
    "a date that becomes a time": (
        [member("a", {"kind": "Date"})],
        [member("b", {"kind": "Timestamp", "timezone": None})],
        "a",
    ),
    "a finer unit": (
        [member("a", {"kind": "Timestamp", "unit": "Millisecond"})],
        [member("b", {"kind": "Timestamp", "unit": "Microsecond"})],
        "a",
    ),
    "a required field": ([{"name": "a", "type": PLAIN}], [member("b", PLAIN)], "a"),
}


@pytest.mark.parametrize("move", MOVES)
def test_ask_about_whole_structs_and_moves(move: str, tmp_path: Path) -> None:
    old, new, path = MOVES[move]
    manifest = tmp_path / "trips.yaml"
    manifest.write_text(json.dumps({"fields": [KEY, *old]}))
    assert schemac(tmp_path, "lock").returncode == 0
    manifest.write_text(json.dumps({"fields": [KEY, *new]}))
    said = schemac(tmp_path, "lock")
    assert said.returncode == 1
    assert re.findall(r"error\[SC405\]: (\S+) was removed", said.stdout) == [path]
    assert schemac(tmp_path, "lock", "--drop", path).returncode == 0


OTHERS = {
    "another type": ([member("a", PLAIN)], [member("b", {"kind": "Bool"})]),
    "a narrower type": ([member("a", WIDER)], [member("b", PLAIN)]),
    "from a column into the items of a list": (
        [member("a", PLAIN)],
        [member("s", {"kind": "List", "itemType": STRUCT})],
    ),
    "a new name elsewhere": (
        [member("a", PLAIN)],
        [member("s", {"kind": "Struct", "fields": [member("x", PLAIN)]})],
    ),
    "structs without anything in common": (
        [member("s", STRUCT)],
        [member("t", {"kind": "Struct", "fields": [member("x", {"kind": "Bool"})]})],
    ),
}


@pytest.mark.parametrize("other", OTHERS)
def test_ask_nothing_about_other_fields(other: str, tmp_path: Path) -> None:
    old, new = OTHERS[other]
    manifest = tmp_path / "trips.yaml"
    manifest.write_text(json.dumps({"fields": [KEY, *old]}))
    assert schemac(tmp_path, "lock").returncode == 0
    manifest.write_text(json.dumps({"fields": [KEY, *new]}))
    said = schemac(tmp_path, "lock")
    assert (said.returncode, "SC405" in said.stdout) == (0, False)
