"""`plan`, `apply` and `verify` on tables in a catalog, as an operator calls them."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from schemac.cli.main import main
from tests.engines.iceberg.conftest import CATALOG

TABLE = f"iceberg://{CATALOG}/n.trips"
V1 = """\
name: trips
extra:
  opendatafabric.org/description: Rides of a day
  iceberg.apache.org/identifierFields: [id]
fields:
  - {name: id, type: Int64}
  - {name: fare, description: What was paid, type: Float32}
  - name: start
    type: {kind: Option, inner: {kind: Struct, fields: [{name: x, type: Int32}, {name: tags, type: {kind: List, itemType: String}}]}}
"""
V2 = """\
name: trips
extra:
  iceberg.apache.org/tableProperties: {owner: rides}
fields:
  - name: origin
    type: {kind: Option, inner: {kind: Struct, fields: [{name: x, type: Int64}, {name: y, type: {kind: Option, inner: Int64}}]}}
    extra: {schemac.dev/renamedFrom: start}
  - {name: id, type: Int64}
  - {name: fare, type: Float64}
  - {name: tip, type: {kind: Option, inner: {kind: Decimal, precision: 8, scale: 2}}}
"""
ROWS = [{"id": 1, "fare": 2.5, "start": {"x": 3, "tags": ["a"]}}, {"id": 2, "fare": 1.5, "start": None}]


def lock(*versions: str) -> None:
    for version in versions:
        Path("trips.yaml").write_text(version)
        assert main(["lock", "trips.yaml"]) == 0


def built() -> dict[str, Any]:
    assert main(["build", "trips.yaml", "--target", "iceberg", "--out", "built"]) == 0
    tree: dict[str, Any] = json.loads(Path("built/trips/iceberg/schema.json").read_text())
    return tree


def create(catalog: Any, **more: Any) -> Any:
    """A table of the artifact, as a user of pyiceberg makes it, with two rows."""
    from pyiceberg.schema import Schema

    table = catalog.create_table("n.trips", Schema.model_validate(built()), **more)
    table.append(pa.Table.from_pylist(ROWS, schema=table.schema().as_arrow()))
    return table


@pytest.fixture
def table(catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The table of the first version, while the lock is at the second."""
    monkeypatch.chdir(tmp_path)
    lock(V1)
    made = create(catalog, properties={"comment": "Rides of a day"})
    lock(V2)
    return made


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_bring_a_table_to_the_next_version(
    table: Any, catalog: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = said(capsys, "verify", "trips", "--table", TABLE)
    assert code == 1
    assert "SC424" in out
    assert "`tip` (id 8) is missing" in out
    code, out = said(capsys, "plan", "trips", "--table", TABLE)
    assert code == 0, out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == f"trips: {TABLE} (lock:1) → lock:2"
    for line in (
        "rename origin: start → origin [metadata only]",
        "promote fare: float → double; values are cast when they are read [metadata only]",
        "remove doc fare [metadata only]",
        "drop start.tags: required list<required string> [metadata only]",
        "reorder origin, id, fare [metadata only]",
        "identify by none [metadata only]",
        "set property owner = rides [metadata only]",
        "remove property comment [metadata only]",
    ):
        assert any(found.endswith(line) for found in lines), line
    assert said(capsys, "apply", "trips", "--table", TABLE, "--dry-run")[0] == 0
    assert catalog.load_table("n.trips").metadata == table.metadata
    code, out = said(capsys, "apply", "trips", "--table", TABLE)
    assert code == 0, out
    assert f"done: {TABLE} matches lock:2, and verified" in out
    after = catalog.load_table("n.trips")
    assert after.properties == {"owner": "rides", "schemac.version": "2"}
    assert after.schema().identifier_field_ids == []
    assert after.scan().to_arrow().to_pylist() == [
        {"origin": {"x": 3, "y": None}, "id": 1, "fare": 2.5, "tip": None},
        {"origin": None, "id": 2, "fare": 1.5, "tip": None},
    ]
    assert [s.snapshot_id for s in after.snapshots()] == [s.snapshot_id for s in table.snapshots()]
    assert said(capsys, "verify", "trips", "--table", TABLE)[0] == 0
    code, out = said(capsys, "apply", "trips", "--table", TABLE, "--format", "json")
    assert code == 0
    assert json.loads(out)["iceberg"]["steps"] == []


def test_give_new_fields_the_ids_of_the_lock(
    catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that was imported has the lock's ids, and keeps them."""
    monkeypatch.chdir(tmp_path)
    lock(V1)
    create(catalog)
    Path("trips.yaml").unlink()
    Path("trips.lock").unlink()
    folder = str(tmp_path / "warehouse/n/trips")
    assert main(["import", folder, "--name", "trips", "--out", "trips.yaml"]) == 0
    assert main(["verify", "trips", "--table", TABLE]) == 0
    imported = Path("trips.yaml").read_text()
    Path("trips.yaml").write_text(f"{imported}  - {{name: tip, type: {{kind: Option, inner: Int32}}}}\n")
    assert main(["lock"]) == 0
    assert main(["apply", "trips", "--table", TABLE]) == 0
    found = catalog.load_table("n.trips").schema()
    wanted = {field["name"]: field["id"] for field in built()["fields"]}
    assert {field.name: field.field_id for field in found.fields} == wanted
    assert wanted["tip"] == 7


def test_go_back_where_nothing_is_lost(table: Any, catalog: Any) -> None:
    lock(
        V2.replace("tip", "gratuity").replace(
            "type: {kind: Option, inner: {kind: Decimal",
            "extra: {schemac.dev/renamedFrom: tip}, type: {kind: Option, inner: {kind: Decimal",
        )
    )
    for version in ("3", "2", "3"):
        assert main(["apply", "trips", "--table", TABLE, "--to", version]) == 0
        assert main(["verify", "trips", "--table", TABLE, "--to", version]) == 0
    ids = {field.field_id for field in catalog.load_table("n.trips").schema().fields}
    assert len(ids) == 4


def test_swap_names_and_take_a_name_again(
    catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    of = "  - {{name: {}, type: {{kind: Option, inner: Int32}}{}}}\n"
    head = "name: trips\nfields:\n"
    was = ", extra: {{schemac.dev/renamedFrom: {}}}"
    lock(head + of.format("a", "") + of.format("b", "") + of.format("c", ""))
    from pyiceberg.schema import Schema

    made = catalog.create_table("n.trips", Schema.model_validate(built()))
    made.append(pa.Table.from_pylist([{"a": 1, "b": 2, "c": 3}], schema=made.schema().as_arrow()))
    swapped = of.format("b", was.format("a")) + of.format("a", was.format("b"))
    # `c` is another field now, so the old one is renamed away and dropped.
    lock(head + swapped, head + swapped + of.format("c", ""))
    assert main(["apply", "trips", "--table", TABLE]) == 0
    assert catalog.load_table("n.trips").scan().to_arrow().to_pylist() == [{"b": 1, "a": 2, "c": None}]


def test_refuse_what_iceberg_refuses(table: Any, catalog: Any, capsys: pytest.CaptureFixture[str]) -> None:
    lock(V2.replace("{name: id, type: Int64}", "{name: id, type: Int32}"))
    code, out = said(capsys, "apply", "trips", "--table", TABLE)
    assert code == 1
    assert "SC411" in out
    assert "long cannot become int" in out
    assert catalog.load_table("n.trips").metadata == table.metadata


def test_refuse_to_drop_what_the_table_is_partitioned_by(
    table: Any, catalog: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with table.update_spec() as spec:
        spec.add_identity("fare")
    lock("name: trips\nfields:\n  - {name: id, type: Int64}\n")
    code, out = said(capsys, "apply", "trips", "--table", TABLE)
    assert code == 1
    assert "the table is, or was, partitioned or sorted by fare" in out


def test_notice_who_was_quicker(
    table: Any, catalog: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.types import LongType

    commit = SqlCatalog.commit_table

    def late(self: Any, *arguments: Any) -> Any:
        monkeypatch.setattr(SqlCatalog, "commit_table", commit)
        with catalog.load_table("n.trips").update_schema() as update:
            update.add_column("other", LongType())
        return commit(self, *arguments)

    monkeypatch.setattr(SqlCatalog, "commit_table", late)
    code, out = said(capsys, "apply", "trips", "--table", TABLE)
    assert code == 1
    assert "SC423" in out
    names = [field.name for field in catalog.load_table("n.trips").schema().fields]
    assert names == ["id", "fare", "start", "other"]
    code, out = said(capsys, "apply", "trips", "--table", TABLE)
    assert code == 1
    assert "is at no locked version of trips" in out


def test_look_at_a_folder_and_change_nothing(
    table: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "warehouse/n/trips")
    assert said(capsys, "verify", "trips", "--table", folder, "--to", "1")[0] == 0
    assert said(capsys, "plan", "trips", "--table", folder)[0] == 0
    code, out = said(capsys, "apply", "trips", "--table", folder)
    assert code == 1
    assert "only a catalog can change a table" in out


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (f"iceberg://{CATALOG}/n.other", "there is no table n.other in the catalog local"),
        ("iceberg://nowhere/n.trips", "PYICEBERG_CATALOG__NOWHERE__URI"),
        ("iceberg://local", "it names no table in a catalog"),
    ],
)
def test_say_what_is_wrong_with_a_name(
    name: str, says: str, table: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("plan", "apply", "verify"):
        code, out = said(capsys, command, "trips", "--table", name)
        assert code == 1
        assert "SC421" in out
        assert says in " ".join(out.split())


def test_ask_which_version_a_table_is_at(
    catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A field that was dropped and one of its name and type look alike where the ids are not the lock's."""
    monkeypatch.chdir(tmp_path)
    head = "name: trips\nfields:\n  - {name: s, type: {kind: Struct, fields: [{name: x, type: Int32}]}}\n"
    other = "  - {name: a, type: {kind: Option, inner: Int32}}\n"
    lock(head + other, head, head + other)
    from pyiceberg.schema import Schema

    made = catalog.create_table("n.trips", Schema.model_validate(built()))
    code, out = said(capsys, "plan", "trips", "--table", TABLE)
    assert code == 1
    assert "may be at lock:3 or lock:1" in out
    with made.transaction() as transaction:
        transaction.set_properties({"schemac.version": "1"})
    code, out = said(capsys, "plan", "trips", "--table", TABLE)
    assert code == 0
    assert "drop" in out
    assert main(["apply", "trips", "--table", TABLE]) == 0
    assert catalog.load_table("n.trips").properties["schemac.version"] == "3"


def test_plan_between_versions(table: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = said(capsys, "plan", "trips", "--engine", "iceberg")
    assert code == 0
    assert "Iceberg\n" in out
    assert "promote" in out
    code, out = said(capsys, "plan", "trips")
    assert "Iceberg\n" in out, "the schema has an attribute of Iceberg's"


def test_judge_where_the_schema_speaks_of_it(table: Any, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = said(capsys, "breaking", "--against", "lock:1")
    assert "    iceberg      metadata only" in out


def test_give_an_empty_table_the_ids_of_the_lock(
    catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As whoever makes a table of the artifact wants it; pyiceberg itself numbers all columns first."""
    from pyiceberg.schema import Schema

    monkeypatch.chdir(tmp_path)
    nested = "{kind: Struct, fields: [{name: x, type: Int32}]}"
    lock(f"name: trips\nfields:\n  - {{name: s, type: {nested}}}\n  - {{name: id, type: Int64}}\n")
    wanted = built()
    made = catalog.create_table("n.trips", Schema.model_validate(wanted))
    assert {field.name: field.field_id for field in made.schema().fields} == {"s": 1, "id": 2}
    code, out = said(capsys, "apply", "trips", "--table", TABLE)
    assert code == 0, out
    assert "renumber" in out
    found = catalog.load_table("n.trips")
    assert found.schema().model_dump(mode="json", by_alias=True)["fields"] == wanted["fields"]
    found.append(pa.Table.from_pylist([{"s": {"x": 1}, "id": 2}], schema=found.schema().as_arrow()))
    assert found.scan().to_arrow().to_pylist() == [{"s": {"x": 1}, "id": 2}]
    assert "nothing to do" in said(capsys, "apply", "trips", "--table", TABLE)[1]
