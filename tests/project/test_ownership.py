"""Owner, tags, classification and deprecation: inherited, found by `schemac list`, and judged by `schemac breaking`."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import schemac as library
from tests.identity.commands import schemac

PEOPLE = """\
name: people
groups:
  contact:
    extra: {schemac.dev/tags: [pii], schemac.dev/classification: personal, schemac.dev/owner: crm}
    fields:
      - name: email
        type: String
      - name: phone
        type: String
        extra: {schemac.dev/tags: [voice], schemac.dev/owner: calls}
extra: {schemac.dev/owner: data, schemac.dev/tags: [core]}
fields:
  - name: id
    type: Int64
  - use: contact
  - name: old
    type: {kind: Struct, fields: [{name: a, type: Int32}, {name: b, type: Int32}]}
    extra:
      schemac.dev/deprecated: {removeAfter: 2027-03-31, successor: id}
"""


def listed(folder: Path, *words: str) -> list[dict[str, Any]]:
    ran = schemac(folder, "list", "people.yaml", "--format", "json", *words)
    assert ran.returncode == 0, ran.stdout
    found: list[dict[str, Any]] = json.loads(ran.stdout)["fields"]
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.yaml").write_text(PEOPLE)
    return tmp_path


def test_have_what_is_around_a_field(folder: Path) -> None:
    found = {one["field"]: one for one in listed(folder)}
    assert {path: (one["owner"], one["tags"], one["classification"]) for path, one in found.items()} == {
        "id": ("data", ["core"], None),
        "email": ("crm", ["core", "pii"], "personal"),
        "phone": ("calls", ["core", "pii", "voice"], "personal"),
        "old": ("data", ["core"], None),
        "old.a": ("data", ["core"], None),
        "old.b": ("data", ["core"], None),
    }
    assert found["old.a"]["deprecated"] == {"removeAfter": "2027-03-31", "successor": "id", "note": None}
    assert (found["email"]["file"], found["email"]["line"]) == ("people.yaml", 6)


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        (("--tag", "pii"), ["email", "phone"]),
        (("--tag", "pii", "--tag", "voice"), ["phone"]),
        (("--owner", "calls", "--owner", "crm"), ["email", "phone"]),
        (("--classification", "personal", "--owner", "crm"), ["email"]),
        (("--deprecated",), ["old", "old.a", "old.b"]),
        (("--tag", "none"), []),
    ],
)
def test_find_fields(folder: Path, words: tuple[str, ...], paths: list[str]) -> None:
    assert [one["field"] for one in listed(folder, *words)] == paths
    text = schemac(folder, "list", "people.yaml", *words)
    assert [line.split()[0].removeprefix("people.") for line in text.stdout.splitlines()[1:]] == paths


def test_carry_them_to_arrow_and_spark_and_tell_where_they_are_lost(folder: Path) -> None:
    (people,) = library.compile_file(folder / "people.yaml")
    metadata = people.to_arrow().field("phone").metadata
    assert metadata[b"schemac.dev/tags"] == b'["pii","voice"]'
    assert metadata[b"schemac.dev/classification"] == b'"personal"'
    assert people.to_arrow().metadata[b"schemac.dev/owner"] == b'"data"'
    again = library.from_arrow(pa.ipc.read_schema(people.to_arrow().serialize()), name="people")
    assert again.schema == people.schema
    (phone,) = (field for field in people.to_spark()["fields"] if field["name"] == "phone")
    assert phone["metadata"]["schemac.dev/owner"] == '"calls"'
    for engine in ("paimon", "iceberg"):
        lost = {(loss.path, loss.lost) for loss in people.losses(engine)}
        assert ("phone", "the attribute schemac.dev/classification") in lost
        assert ("", "the attribute schemac.dev/owner") in lost


def breaking(folder: Path, *words: str) -> tuple[int, dict[str, str]]:
    """The exit code, and the code of each promise that is broken, by field."""
    command = ("breaking", "--against", "lock", "people.yaml", "--engine", "lance", "--ignore-readers")
    for _ in range(2):
        ran = schemac(folder, *command, "--format", "json", *words)
    found = json.loads(ran.stdout)["promises"]
    text = schemac(folder, *command, *words)
    assert text.returncode == ran.returncode
    assert all(f"[{one['code']}]" in text.stdout for one in found)
    return ran.returncode, {one["field"]: one["code"] for one in found}


@pytest.mark.parametrize(
    ("old", "new", "day", "code", "found"),
    [
        (PEOPLE[PEOPLE.index("  - name: old") :], "", "2027-03-31", 1, {"old": "SC431"}),
        (PEOPLE[PEOPLE.index("  - name: old") :], "", "2027-04-01", 0, {}),
        ("{name: a, type: Int32}, ", "", "2027-03-31", 1, {"old.a": "SC431"}),
        ("old\n    type: {kind: Struct, fields: [{name: a, type: Int32}, {name: b, type: Int32}]}\n    extra:\n", "former\n    type: {kind: Struct, fields: [{name: a, type: Int32}, {name: b, type: Int32}]}\n    extra:\n      schemac.dev/renamedFrom: old\n", "2027-03-31", 0, {}),
        ("  - use: contact\n", "  - {name: email, type: String}\n  - {name: phone, type: String}\n", "2027-01-01", 1, {"email": "SC432", "phone": "SC432"}),
        ("personal", "internal", "2027-01-01", 0, {"email": "SC433", "phone": "SC433"}),
        ("personal", "sensitivePersonal", "2027-01-01", 0, {}),
        ("schemac.dev/tags: [core]}", "schemac.dev/classification: personal}", "2027-01-01", 0, {}),
    ],
)  # fmt: skip
def test_judge_promises(folder: Path, old: str, new: str, day: str, code: int, found: dict[str, str]) -> None:
    assert schemac(folder, "lock", "people.yaml").returncode == 0
    assert old in PEOPLE
    text = PEOPLE.replace(old, new)
    (folder / "people.yaml").write_text(text)
    assert breaking(folder, "--as-of", day) == (code, found)


def test_judge_for_the_day_of_a_reproducible_build(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schemac(folder, "lock", "people.yaml")
    (folder / "people.yaml").write_text(PEOPLE[: PEOPLE.index("  - name: old")])
    for epoch, found in (("1806451200", {"old": "SC431"}), ("1806624000", {})):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        assert breaking(folder)[1] == found
    assert schemac(folder, "list", "people.yaml").returncode == 0


def test_say_once_what_a_schema_lost(folder: Path) -> None:
    text = PEOPLE.replace("schemac.dev/tags: [core]}", "schemac.dev/classification: internal}")
    (folder / "people.yaml").write_text(text)
    schemac(folder, "lock", "people.yaml")
    (folder / "people.yaml").write_text(PEOPLE)
    assert breaking(folder) == (1, {"": "SC432"})


@pytest.mark.parametrize("is_shared", [False, True])
def test_rename_a_successor(tmp_path: Path, is_shared: bool) -> None:
    new = "groups:\n  g:\n    fields:\n      - {name: fare_amount, type: Float64}\n" if is_shared else ""
    field = "- use: g" if is_shared else "- {name: fare_amount, type: Float64}"
    old = "- {name: fare, type: Float64, extra: {schemac.dev/deprecated: {successor: fare_amount}}}"
    (tmp_path / "trips.yaml").write_text(f"{new}name: trips\nfields:\n  {old}\n  {field}\n")
    assert schemac(tmp_path, "lock", "trips.yaml").returncode == 0
    assert schemac(tmp_path, "rename", "trips.yaml", "fare_amount", "amount").returncode == 0
    text = (tmp_path / "trips.yaml").read_text()
    assert "successor: amount}" in text
    assert "fare_amount" not in text
    assert schemac(tmp_path, "lock", "trips.yaml", "--check").returncode == 0
