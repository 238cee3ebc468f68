"""A table is brought to the newest version from whatever version it has, however it was made, and no value gets lost or into another field.

Shape: random histories in which names come back; tables made at every version by every way that the guide names; then `apply`. Either
       every row has by the identity of its fields what it had before, or `apply` changes nothing and asks for the version; it is told,
       and then every row has it. A table that says which version it has is never asked about.
"""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.paimon.reader import member_ids, read_table_schema
from schemac.engines.paimon.table_schema import number_fields
from schemac.language.logical.model import preorder
from tests.compiling import table_record
from tests.engines.iceberg.conftest import CATALOG, catalog
from tests.tables.drawing_histories import Histories, Tree, Version, rows_after, rows_of

assert catalog
SEEDS = range(4)
MANY = range(100, 130)


class Project:
    """A project whose schema goes through a history, in the folder that is the current one."""

    def __init__(self, seed: int, *, casts: bool = False, moves_members: bool = True) -> None:
        chance = random.Random(seed)
        histories = Histories(chance, casts=casts, moves_members=moves_members)
        self.versions = histories.draw(chance.randint(3, 6))

    def go_through(self) -> Iterator[tuple[int, Version, schemac.Dataset]]:
        """Lock each version; yield its number and its dataset."""
        for number, version in enumerate(self.versions, 1):
            tree = {"name": "t", "fields": [field.tree() for field in version]}
            Path("t.yaml").write_text(json.dumps(tree))
            assert main(["lock", "t.yaml"]) == 0
            (dataset,) = schemac.compile_file("t.yaml")
            yield number, version, dataset


def settle(
    table: str,
    made_at: int,
    read: Callable[[], Any],
    wanted: Any,
    capsys: pytest.CaptureFixture[str],
    *,
    is_known: bool,
) -> bool:
    """Bring a table to the newest version; true if its version had to be told."""
    before = read()
    capsys.readouterr()
    code = main(["apply", "t", "--table", table])
    said = capsys.readouterr().out
    is_asked = "--from" in said
    if is_asked:
        assert code == 1
        assert not is_known, said
        assert f"lock:{made_at}" in said or "may be at" not in said
        assert f"--table {table} --from " in " ".join(said.split())
        assert read() == before
        assert main(["verify", "t", "--table", table]) == 1
        code = main(["apply", "t", "--table", table, "--from", str(made_at)])
        said = capsys.readouterr().out
    assert code == 0, said
    assert read() == wanted, said
    assert main(["verify", "t", "--table", table]) == 0, capsys.readouterr().out
    assert main(["apply", "t", "--table", table]) == 0
    assert "nothing to do" in capsys.readouterr().out
    return is_asked


# Lance


def turned(schema: pa.Schema) -> pa.Schema:
    """The columns in another order, as a program that knows them by their names may write them."""
    return pa.schema(reversed(schema), schema.metadata)


def write_lance(path: str, schema: pa.Schema, rows: list[Tree]) -> None:
    lance.write_dataset(pa.Table.from_pylist(rows, schema=schema), path)


def run_lance(path: str, dataset: schemac.Dataset, rows: list[Tree]) -> None:
    """A table as a run makes it, without Spark."""
    from datetime import UTC, datetime

    from schemac.engines.lance.runs.sink import SINK
    from schemac.rows.runs.identity import Mode, RunIdentity, this_process
    from schemac.rows.runs.storage import NO_STORAGE

    found = dataset._compilation
    form = SINK.form(found.lowered, found.numbers, dataset.schema.extra)
    run = RunIdentity("r1", datetime.now(UTC), "", Mode.CREATE, this_process())
    place = SINK.prepare(
        path, "create", storage_options=NO_STORAGE, storage_version=None, max_rows_per_file=10, run=run
    )
    SINK.open_staging(place)
    batches = pa.Table.from_pylist(rows, schema=form.schema).to_batches()
    pieces = SINK.write(place, SINK.written_schema(form.schema), iter(batches))
    SINK.claim(place, pieces)
    SINK.commit(place, form, pieces)
    SINK.close_staging(place)


def read_lance(path: str) -> list[Tree]:
    rows: list[Tree] = lance.dataset(path).to_table().to_pylist()
    return rows


def hold_lance(seed: int, capsys: pytest.CaptureFixture[str]) -> int:
    project = Project(seed, casts=True)
    made: list[tuple[str, int, bool]] = []
    for number, version, dataset in project.go_through():
        rows = rows_of(version)
        record = table_record(Path("t.lock"))
        statement = dataset.artifacts("spark")["spark/create_table.sql"].decode()
        assert f"'schemac.version' = '{record}'" in statement
        assert dataset.to_lance().metadata["schemac.version"] == str(record).encode()
        artifact = pa.ipc.read_schema(pa.BufferReader(dataset.artifacts("arrow")["arrow/schema.arrow"]))
        for way, schema, is_known in (
            ("schema", dataset.to_arrow(), True),
            ("artifact", artifact, True),
            ("plain", dataset.to_arrow(metadata=False), False),
            ("turned", turned(dataset.to_arrow()), True),
            ("turned-plain", turned(dataset.to_arrow(metadata=False)), False),
        ):
            write_lance(f"{way}{number}.lance", schema, rows)
            made.append((f"{way}{number}.lance", number, is_known))
        run_lance(str(Path(f"run{number}.lance").absolute()), dataset, rows)
        made.append((f"run{number}.lance", number, True))
    asked = 0
    for path, number, is_known in made:
        wanted = rows_after(project.versions[number - 1 :])
        asked += settle(path, number, partial(read_lance, path), wanted, capsys, is_known=is_known)
    return asked


def test_keep_the_values_of_lance_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = 0
    for seed in SEEDS:
        (tmp_path / str(seed)).mkdir()
        monkeypatch.chdir(tmp_path / str(seed))
        asked += hold_lance(seed, capsys)
    assert asked, "some tables do not tell their version"


# Iceberg


def create_iceberg(catalog: Any, name: str, tree: Tree, rows: list[Tree], version: int | None) -> None:
    """A table as pyiceberg makes it of the artifact, or as CREATE TABLE does with the property of the statement."""
    from pyiceberg.schema import Schema

    properties = {} if version is None else {"schemac.version": str(version)}
    table = catalog.create_table(f"n.{name}", Schema.model_validate(tree), properties=properties)
    table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()))


def hold_iceberg(seed: int, catalog: Any, capsys: pytest.CaptureFixture[str]) -> int:
    project = Project(seed)
    made: list[tuple[str, int, bool]] = []
    for number, version, dataset in project.go_through():
        statement = dataset.artifacts("iceberg")["iceberg/create_table.sql"].decode()
        assert f"'schemac.version' = '{table_record(Path('t.lock'))}'" in statement
        tree = dataset.to_iceberg()
        other_order = {**tree, "fields": tree["fields"][::-1]}
        for way, schema, record in (
            ("stated", tree, number),
            ("plain", tree, None),
            ("turned", other_order, number),
            ("turned_plain", other_order, None),
        ):
            create_iceberg(catalog, f"{way}{seed}_{number}", schema, rows_of(version), record)
            made.append((f"{way}{seed}_{number}", number, record is not None))
    asked = 0
    for name, number, is_known in made:
        wanted = rows_after(project.versions[number - 1 :])

        def read(name: str = name) -> list[Tree]:
            rows: list[Tree] = catalog.load_table(f"n.{name}").scan().to_arrow().to_pylist()
            return rows

        table = f"iceberg://{CATALOG}/n.{name}"
        asked += settle(table, number, read, wanted, capsys, is_known=is_known)
    return asked


def test_keep_the_values_of_iceberg_tables(
    catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = 0
    for seed in SEEDS:
        (tmp_path / str(seed)).mkdir()
        monkeypatch.chdir(tmp_path / str(seed))
        asked += hold_iceberg(seed, catalog, capsys)
    assert asked, "some tables do not tell their version"


# Paimon


def newest_file(table: str) -> Path:
    return max((Path(table) / "schema").iterdir(), key=lambda file: int(file.name.removeprefix("schema-")))


def read_paimon(path: str, first: dict[int, Any]) -> Tree:
    """A row of a table as Paimon reads it: by its ids, of which the first file had these values."""
    fields = read_table_schema(json.loads(newest_file(path).read_bytes())).fields
    found: Tree = {}
    for names, id in member_ids(fields):
        *above, name = map(str, names)
        place = found
        for outer in above:
            place = place[outer]
        is_struct = any(other[:-1] == names for other, _ in member_ids(fields))
        place[name] = {} if is_struct else first.get(id)
    return found


def write_paimon(path: str, files: dict[str, bytes], row: Tree) -> dict[int, Any]:
    """A table of schema files; the values of one row by its ids."""
    (Path(path) / "schema").mkdir(parents=True)
    for file, content in files.items():
        (Path(path) / "schema" / file).write_bytes(content)
    values: dict[int, Any] = {}
    for names, id in member_ids(read_table_schema(json.loads(newest_file(path).read_bytes())).fields):
        value: Any = row
        for name in map(str, names):
            value = value[name]
        if not isinstance(value, dict):
            values[id] = value
    return values


def fresh(dataset: schemac.Dataset, text: bytes, number: int | None) -> bytes:
    """The file that Paimon writes for a new table of the same names and types."""
    schema = read_table_schema(json.loads(text))
    columns = dataset._compilation.dataset.columns
    ids = number_fields(columns)[0]
    own = [ids[field] for field in preorder(columns) if field in ids]
    pairs = zip(member_ids(schema.fields), own, strict=True)
    schema = schema.renumbered({old: new for (_, old), new in pairs})
    options = {} if number is None else {"schemac.version": str(number)}
    return schema._replace(schema_id=0, options=options).to_text().encode()


def hold_paimon(seed: int, capsys: pytest.CaptureFixture[str]) -> int:
    project = Project(seed, moves_members=False)
    made: list[tuple[str, int, bool, dict[int, Any]]] = []
    for number, version, dataset in project.go_through():
        (row,) = rows_of(version, 1)
        artifacts = dataset.artifacts("paimon")
        files = {Path(name).name: content for name, content in artifacts.items()}
        newest = files[f"schema-{number - 1}"]
        for way, given, is_known in (
            ("files", files, True),
            ("stated", {"schema-0": fresh(dataset, newest, number)}, True),
            ("plain", {"schema-0": fresh(dataset, newest, None)}, False),
        ):
            path = f"{way}{number}"
            made.append((path, number, is_known, write_paimon(path, given, row)))
    asked = 0
    for path, number, is_known, values in made:
        (wanted,) = rows_after(project.versions[number - 1 :], 1)

        def read(path: str = path, values: dict[int, Any] = values) -> Tree:
            return read_paimon(path, values)

        asked += settle(path, number, read, wanted, capsys, is_known=is_known)
    return asked


def test_keep_the_values_of_paimon_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = 0
    for seed in SEEDS:
        (tmp_path / str(seed)).mkdir()
        monkeypatch.chdir(tmp_path / str(seed))
        asked += hold_paimon(seed, capsys)
    assert asked, "some tables do not tell their version"


# Tables that somebody changed by hand

OPTIONAL = "  - {{name: {}, type: {{kind: Option, inner: Int32}}}}\n"
KEY = "name: t\nfields:\n  - {name: key, type: Int64}\n"
BOTH, ONE = KEY + OPTIONAL.format("a") + OPTIONAL.format("b"), KEY + OPTIONAL.format("a")


def lock_in_turn(*texts: str) -> list[schemac.Dataset]:
    found = []
    for text in texts:
        Path("t.yaml").write_text(text)
        assert main(["lock", "t.yaml"]) == 0
        found += schemac.compile_file("t.yaml")
    return found


def test_tell_the_fields_of_a_table_without_a_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The id of `b` is that of the field that was dropped; the table says that it was made after that."""
    monkeypatch.chdir(tmp_path)
    *_, newest = lock_in_turn(BOTH, ONE, BOTH)
    row = {"key": 1, "a": 2, "b": 3}
    for name, schema in (("said", newest.to_arrow()), ("plain", newest.to_arrow(metadata=False))):
        write_lance(f"{name}.lance", schema, [row])
        lance.dataset(f"{name}.lance").drop_columns(["a"])
    assert main(["apply", "t", "--table", "said.lance"]) == 0
    assert read_lance("said.lance") == [{"key": 1, "a": None, "b": 3}]
    capsys.readouterr()
    assert main(["apply", "t", "--table", "plain.lance"]) == 1
    assert "--table plain.lance --from 3" in " ".join(capsys.readouterr().out.split())
    assert main(["apply", "t", "--table", "plain.lance", "--from", "3"]) == 0
    assert read_lance("plain.lance") == [{"key": 1, "a": None, "b": 3}]


@pytest.mark.parametrize("way", ["lance", "iceberg"])
def test_ask_where_a_table_was_changed_after_it_said_its_version(
    catalog: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    way: str,
) -> None:
    """Somebody went from the first version to the third by hand."""
    monkeypatch.chdir(tmp_path)
    first, *_ = lock_in_turn(BOTH, ONE, BOTH)
    after = [{"key": 1, "a": 2, "b": 9}]
    if way == "lance":
        table = "t.lance"
        write_lance(table, first.to_arrow(), [{"key": 1, "a": 2, "b": 3}])
        lance.dataset(table).drop_columns(["b"])
        lance.dataset(table).add_columns({"b": "cast(9 as int)"})
    else:
        create_iceberg(catalog, "t", first.to_iceberg(), [], 1)
        handle, table = catalog.load_table("n.t"), f"iceberg://{CATALOG}/n.t"
        with handle.update_schema(allow_incompatible_changes=True) as update:
            update.delete_column("b")
        with handle.update_schema() as update:
            from pyiceberg.types import IntegerType

            update.add_column("b", IntegerType())
        handle.append(pa.Table.from_pylist(after, schema=handle.schema().as_arrow()))

    def read() -> list[Tree]:
        if way == "lance":
            return read_lance(table)
        rows: list[Tree] = catalog.load_table("n.t").scan().to_arrow().to_pylist()
        return rows

    assert read() == after
    capsys.readouterr()
    assert main(["apply", "t", "--table", table]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "it records version 1, but its ids are not those" in said
    assert f"--table {table} --from 3" in said
    assert main(["apply", "t", "--table", table, "--from", "3"]) == 0
    assert read() == after


@pytest.mark.parametrize("way", ["lance", "iceberg"])
def test_ask_where_a_table_was_replaced_after_it_said_its_version(
    catalog: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    way: str,
) -> None:
    """Lance's configuration and Iceberg's properties stay where a table is overwritten, also where it gets another schema."""
    monkeypatch.chdir(tmp_path)
    first, *_, third = lock_in_turn(BOTH, ONE, BOTH)
    old, new = {"key": 1, "a": 2, "b": 3}, {"key": 1, "a": 2, "b": 9}

    def apply(table: str, *more: str) -> tuple[int, str]:
        capsys.readouterr()
        return main(["apply", "t", "--table", table, *more]), " ".join(capsys.readouterr().out.split())

    if way == "lance":
        for name in ("kept", "replaced"):
            write_lance(f"{name}.lance", first.to_arrow(metadata=False), [old])
            lance.dataset(f"{name}.lance").update_config({"schemac.version": "1"})
        replacement = pa.Table.from_pylist([new], schema=third.to_arrow(metadata=False))
        lance.write_dataset(replacement, "replaced.lance", mode="overwrite")
        kept, replaced = "kept.lance", "replaced.lance"
    else:
        from pyiceberg.table.update import RemoveSnapshotRefUpdate

        for name in ("kept", "replaced"):
            create_iceberg(catalog, name, first.to_iceberg(), [old], 1)
        handle = catalog.load_table("n.replaced")
        with handle.transaction() as transaction:
            transaction._apply((RemoveSnapshotRefUpdate(ref_name="main"),))
        handle.append(pa.Table.from_pylist([new], schema=handle.schema().as_arrow()))
        kept, replaced = (f"iceberg://{CATALOG}/n.{name}" for name in ("kept", "replaced"))

    def read() -> list[Tree]:
        if way == "lance":
            return read_lance(replaced)
        rows: list[Tree] = catalog.load_table("n.replaced").scan().to_arrow().to_pylist()
        return rows

    assert apply(kept)[0] == 0
    code, said = apply(replaced)
    assert code == 1
    assert "it records version 1, but it may have been replaced since" in said
    assert read() == [new]
    assert apply(replaced, "--from", "3")[0] == 0
    assert read() == [new]


def test_tell_versions_of_two_branches_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both branches have a third version of the same names and types, with another field `b`."""
    monkeypatch.chdir(tmp_path)
    lock_in_turn(BOTH)
    shutil.copy("t.lock", "base.lock")
    *_, theirs = lock_in_turn(ONE, BOTH)
    write_lance("t.lance", theirs.to_arrow(), [{"key": 1, "a": 2, "b": 9}])
    shutil.move("t.lock", "theirs.lock")
    shutil.copy("base.lock", "t.lock")
    lock_in_turn(BOTH + OPTIONAL.format("c"), BOTH)
    assert main(["lock", "--merge-driver", "base.lock", "t.lock", "theirs.lock"]) == 0
    lock_in_turn(BOTH)
    capsys.readouterr()
    assert main(["apply", "t", "--table", "t.lance"]) == 1
    assert "which is not one of them" in " ".join(capsys.readouterr().out.split())
    assert main(["apply", "t", "--table", "t.lance", "--from", "4"]) == 0
    assert read_lance("t.lance") == [{"key": 1, "a": 2, "b": 9}]


@pytest.mark.long
@pytest.mark.parametrize("seed", MANY)
def test_keep_the_values_in_many_histories(
    catalog: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    seed: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    for hold in (hold_lance, partial(hold_iceberg, catalog=catalog), hold_paimon):
        (tmp_path / "t.lock").unlink(missing_ok=True)
        hold(seed, capsys=capsys)
