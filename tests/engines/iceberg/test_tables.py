"""`plan`, `apply` and `verify` on tables in a catalog, as an operator calls them."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemac.cli.main import main
from tests.compiling import table_record
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
    assert after.properties == {"owner": "rides", "schemac.version": table_record(Path("trips.lock"))}
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
    # The newest version has these names and types too, in another order.
    assert main(["apply", "trips", "--table", TABLE]) == 1
    assert main(["apply", "trips", "--table", TABLE, "--from", "1"]) == 0
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
    assert "matches no locked version of trips; beside lock:2: " in out, (
        "the newest version is the one to compare with"
    )


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
        ("iceberg://local", "it does not name a table in a catalog"),
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
    assert catalog.load_table("n.trips").properties["schemac.version"] == table_record(Path("trips.lock"))


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


@pytest.mark.parametrize("how", ["partitioned", "sorted"])
@pytest.mark.parametrize("change", ["dropped", "promoted", "added"])
def test_notice_who_made_a_field_a_key_meanwhile(
    how: str,
    change: str,
    table: Any,
    catalog: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between plan and commit; Iceberg does not allow such a field to go."""
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.transforms import IdentityTransform

    lock(
        {
            "dropped": V1.replace("  - {name: fare, description: What was paid, type: Float32}\n", ""),
            "promoted": V1.replace("Float32", "Float64"),
            "added": f"{V1}  - {{name: tip, type: {{kind: Option, inner: Int32}}}}\n",
        }[change]
    )
    commit = SqlCatalog.commit_table

    def late(self: Any, *arguments: Any) -> Any:
        monkeypatch.setattr(SqlCatalog, "commit_table", commit)
        other = catalog.load_table("n.trips")
        if how == "partitioned":
            with other.update_spec() as spec:
                spec.add_identity("fare")
        else:
            with other.update_sort_order() as order:
                order.asc("fare", IdentityTransform())
        return commit(self, *arguments)

    monkeypatch.setattr(SqlCatalog, "commit_table", late)
    code, out = said(capsys, "apply", "trips", "--table", TABLE)
    assert code == 1
    assert "SC423" in out
    after = catalog.load_table("n.trips")
    assert after.schema().fields == table.schema().fields
    code, out = said(capsys, "apply", "trips", "--table", TABLE)
    assert (code, "partitioned or sorted by fare" in out) == (
        (1, True) if change == "dropped" else (0, False)
    )


NARROWER = V1.replace("Float32}", "Float32, extra: {schemac.dev/minimum: 2}}")


@pytest.mark.parametrize("is_alone", [True, False])
def test_ask_about_data_whether_or_not_something_else_changes(
    is_alone: bool,
    catalog: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    lock(V1)
    create(catalog, properties={"schemac.version": "1"})
    more = "" if is_alone else "  - {name: tip, type: {kind: Option, inner: Int32}}\n"
    lock(NARROWER + more)
    before = catalog.load_table("n.trips").metadata
    for _ in range(2):
        code, out = said(capsys, "apply", "trips", "--table", TABLE)
        assert code == 1
        assert "SC422" in out
    assert catalog.load_table("n.trips").metadata == before
    assert said(capsys, "apply", "trips", "--table", TABLE, "--unchecked")[0] == 0
    # From now on the table is at this version.
    code, out = said(capsys, "apply", "trips", "--table", TABLE)
    assert (code, "nothing to do" in out) == (0, True)


def test_leave_the_format_unless_somebody_asks(
    catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lock(V1)
    create(catalog, properties={"format-version": "1"})
    assert catalog.load_table("n.trips").metadata.format_version == 1
    lock(V2)
    assert main(["apply", "trips", "--table", TABLE]) == 0
    assert main(["verify", "trips", "--table", TABLE]) == 0
    assert catalog.load_table("n.trips").metadata.format_version == 1
    asked = V2.replace("extra:\n  iceberg", "extra:\n  iceberg.apache.org/formatVersion: 2\n  iceberg", 1)
    lock(asked)
    assert "the format is 1, expected 2" in said(capsys, "verify", "trips", "--table", TABLE)[1]
    assert main(["apply", "trips", "--table", TABLE]) == 0
    assert catalog.load_table("n.trips").metadata.format_version == 2


def test_import_the_format_of_a_table(catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lock(V1)
    create(catalog, properties={"format-version": "1"})
    for name in ("trips.yaml", "trips.lock"):
        Path(name).unlink()
    assert main(["import", "warehouse/n/trips", "--name", "trips", "--out", "trips.yaml"]) == 0
    assert "iceberg.apache.org/formatVersion: 1" in Path("trips.yaml").read_text()
    assert main(["verify", "trips", "--table", TABLE]) == 0
    built()
    assert "'format-version' = '1'" in Path("built/trips/iceberg/create_table.sql").read_text()


def test_give_no_name_of_files_without_ids_to_another_field(
    catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their values would change from one field to the other in silence."""
    monkeypatch.chdir(tmp_path)
    of = "  - {{name: {}, type: {{kind: Option, inner: Int32}}{}}}\n"
    head = "name: trips\nfields:\n"
    was = ", extra: {{schemac.dev/renamedFrom: {}}}"
    lock(head + of.format("a", "") + of.format("b", ""))
    from pyiceberg.schema import Schema

    made = catalog.create_table("n.trips", Schema.model_validate(built()))
    pq.write_table(pa.table({"a": pa.array([1], pa.int32()), "b": pa.array([2], pa.int32())}), "one.parquet")
    made.add_files([str(tmp_path / "one.parquet")])
    lock(head + of.format("b", was.format("a")) + of.format("a", was.format("b")))
    code, out = said(capsys, "apply", "trips", "--table", TABLE, "--from", "1")
    assert code == 1
    assert "gives the names a and b to other fields" in " ".join(out.split())
    assert catalog.load_table("n.trips").scan().to_arrow().to_pylist() == [{"a": 1, "b": 2}]


def test_follow_names_as_pyiceberg_does(
    catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same mapping as `update_schema` leaves of the same changes."""
    monkeypatch.chdir(tmp_path)
    lock(V1)
    from pyiceberg.schema import Schema
    from pyiceberg.table.name_mapping import NameMapping
    from pyiceberg.types import IntegerType

    made = catalog.create_table("n.trips", Schema.model_validate(built()))
    mapping = {"schema.name-mapping.default": made.schema().name_mapping.model_dump_json()}
    with made.transaction() as transaction:
        transaction.set_properties(mapping)
    theirs = catalog.create_table("n.theirs", Schema.model_validate(built()), properties=mapping)
    create_rows = pa.Table.from_pylist(ROWS, schema=made.schema().as_arrow())
    made.append(create_rows)
    renamed = V1.replace("name: fare,", "name: paid, extra: {schemac.dev/renamedFrom: fare},")
    lock(
        renamed.replace(
            "{name: x, type: Int32}", "{name: x, type: Int32}, {name: y, type: {kind: Option, inner: Int32}}"
        )
    )
    assert main(["apply", "trips", "--table", TABLE]) == 0
    with theirs.update_schema() as update:
        update.rename_column("fare", "paid")
        update.add_column(("start", "y"), IntegerType())
    found, wanted = (
        NameMapping.model_validate_json(catalog.load_table(name).properties["schema.name-mapping.default"])
        for name in ("n.trips", "n.theirs")
    )
    assert str(found) == str(wanted)
