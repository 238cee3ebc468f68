"""The first declared schema of a dataset whose events had `rawArrowSchema` alone: optionality was inferred, and does not count."""

import base64
from pathlib import Path

import pyarrow as pa
import pytest

from tests.cli.repository import Repository, repository
from tests.laws.test_odf import _raw

__all__ = ["repository"]

POINT = pa.struct([pa.field("lat", pa.float64()), pa.field("lon", pa.float64(), nullable=False)])
RAW = base64.b64encode(
    _raw(
        pa.schema(
            [
                pa.field("id", pa.int32()),
                pa.field("note", pa.large_string(), nullable=False),
                pa.field("points", pa.list_(pa.field("item", POINT))),
                pa.field("by_name", pa.map_(pa.string(), pa.int32())),
            ]
        )
    )
).decode()
EVENT = f"kind: SetDataSchema\nrawArrowSchema: {RAW}\n"
EVENTS = f"- {{kind: SetVocab, offsetColumn: id}}\n- kind: SetDataSchema\n  rawArrowSchema: {RAW}\n"
SNAPSHOT = f"""\
kind: DatasetSnapshot
version: 1
content:
  name: acme.spots
  kind: Root
  metadata:
    - kind: SetDataSchema
      rawArrowSchema: |
        {RAW}
"""
FIELDS = """\
fields:
  - {name: id, type: Int32}
  - {name: note, type: {kind: Option, inner: String}}
  - name: points
    type:
      kind: List
      itemType:
        kind: Struct
        fields:
          - {name: lat, type: Float64}
          - {name: lon, type: {kind: Option, inner: Float64}}
  - {name: by_name, type: {kind: Map, keyType: String, valueType: Int32}}
"""


def _indented(spaces: int) -> str:
    return "".join(f"{' ' * spaces}{line}\n" for line in FIELDS.splitlines())


DECLARED = {
    EVENT: FIELDS,
    EVENTS: f"{EVENTS}- kind: SetDataSchema\n  schema:\n{_indented(4)}",
    SNAPSHOT: f"{SNAPSHOT}    - kind: SetDataSchema\n      schema:\n{_indented(8)}",
}


def _committed(repository: Repository, old: str) -> None:
    repository.write("spots.yaml", old)
    repository.git("add", "--all")
    repository.git("commit", "-m", "raw")


@pytest.mark.parametrize("old", DECLARED, ids=["event", "events", "snapshot"])
def test_ignore_optionality_at_the_first_conversion(repository: Repository, old: str) -> None:
    _committed(repository, old)
    repository.write("spots.yaml", DECLARED[old])
    assert repository.run("breaking", "--against", "git:HEAD", "spots.yaml")[::2] == (0, "no changes\n")
    assert repository.run("diff", "git:HEAD", "spots.yaml")[::2] == (0, "no changes\n")
    repository.write("old.yaml", old)
    assert repository.run("breaking", "--against", "old.yaml", "spots.yaml")[::2] == (0, "no changes\n")


@pytest.mark.parametrize("old", DECLARED, ids=["event", "events", "snapshot"])
def test_judge_anything_else_as_always(repository: Repository, old: str) -> None:
    _committed(repository, old)
    new = DECLARED[old].replace("{name: id, type: Int32}", "{name: id, type: Int64}")
    repository.write("spots.yaml", new.replace("{name: lat, type: Float64}", "{name: height, type: Float64}"))
    code, out, _ = repository.run("breaking", "--against", "git:HEAD", "spots.yaml", "--engine", "odf")
    assert code == 1
    facts = [
        line.split(": ")[1] for line in out.splitlines() if line.startswith("  ") and line[2] not in " w"
    ]
    assert facts == ["integer-widened", "field-added", "field-dropped"]


def test_follow_a_declared_rename(repository: Repository) -> None:
    _committed(repository, EVENT)
    repository.write(
        "spots.yaml",
        FIELDS.replace(
            "{name: id, type: Int32}", "{name: key, type: Int32, extra: {schemac.dev/renamedFrom: id}}"
        ),
    )
    _, out, _ = repository.run("diff", "git:HEAD", "spots.yaml")
    assert [line.split("   ")[0] for line in out.splitlines()[1:]] == ["  key: field-renamed: id → key"]


def test_count_optionality_from_the_second_schema_on(repository: Repository) -> None:
    _committed(repository, DECLARED[EVENTS])
    repository.edit("spots.yaml", "{name: id, type: Int32}", "{name: id, type: {kind: Option, inner: Int32}}")
    code, out, _ = repository.run("breaking", "--against", "git:HEAD", "spots.yaml", "--engine", "odf")
    assert (code, "became-optional" in out) == (1, True)


@pytest.mark.parametrize("raw", ["Zm9v", "'%'", "[]"])
def test_refuse_a_damaged_event(repository: Repository, raw: str) -> None:
    _committed(repository, EVENT.replace(RAW, raw))
    repository.write("spots.yaml", FIELDS)
    code, out, _ = repository.run("breaking", "--against", "git:HEAD", "spots.yaml")
    assert (code, "error[SC552]: cannot read HEAD:spots.yaml: its " in out) == (1, True)
    assert " --> HEAD:spots.yaml:2:17" in out


def test_compare_the_whole_folder(repository: Repository, tmp_path: Path) -> None:
    _committed(repository, EVENT)
    (tmp_path / "spots.yaml").rename(tmp_path / "tables/places.yaml")
    repository.write("tables/places.yaml", f"name: spots\n{FIELDS}")
    code, _, err = repository.run("breaking", "--against", "git:HEAD")
    assert (code, err) == (0, "no changes\n")


@pytest.mark.parametrize("old", [EVENTS, SNAPSHOT], ids=["events", "snapshot"])
def test_judge_both_events_of_one_new_text(repository: Repository, old: str) -> None:
    """Without an earlier commit, the event with the bytes is what the declared schema after it is compared with."""
    repository.write("other.yaml", FIELDS)
    repository.git("add", "--all")
    repository.git("commit", "-m", "none of it")
    repository.write("spots.yaml", DECLARED[old])
    assert repository.run("breaking", "--against", "git:HEAD", "spots.yaml")[::2] == (0, "no changes\n")
    repository.edit("spots.yaml", "{name: id, type: Int32}", "{name: id, type: String}")
    code, out, _ = repository.run("breaking", "--against", "git:HEAD", "spots.yaml", "--engine", "odf")
    assert (code, "rawArrowSchema in spots.yaml → " in out, "  id: " in out) == (1, True, True), out
