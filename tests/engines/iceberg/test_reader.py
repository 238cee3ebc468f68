"""Metadata of Iceberg, whoever wrote it: read with its ids, or refused with the place that is wrong."""

import copy
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.iceberg.reader import parse_metadata, parse_schema
from schemac.text.source.json_object import MalformedDocumentError
from tests.engines.iceberg.test_oracle import IcebergDrawing
from tests.engines.iceberg.test_tables import ROWS

SCHEMA = {
    "type": "struct",
    "schema-id": 0,
    "identifier-field-ids": [1],
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {
            "id": 2,
            "name": "tags",
            "required": False,
            "type": {"type": "list", "element-id": 5, "element": "string", "element-required": False},
        },
        {"id": 3, "name": "price", "required": False, "type": "decimal(9,2)", "doc": "in euros"},
    ],
}
LATER = {
    "type": "struct",
    "schema-id": 1,
    "fields": [{"id": 1, "name": "key", "required": True, "type": "long"}, *SCHEMA["fields"][1:2]],  # type: ignore[index]
}
METADATA = {
    "format-version": 2,
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "location": "s3://bucket/shop",
    "last-sequence-number": 0,
    "last-updated-ms": 1602638573590,
    "last-column-id": 5,
    "current-schema-id": 1,
    "schemas": [LATER, SCHEMA],
    "default-spec-id": 0,
    "partition-specs": [{"spec-id": 0, "fields": [{"name": "key", "transform": "identity", "source-id": 1, "field-id": 1000}]}],
    "last-partition-id": 1000,
    "default-sort-order-id": 0,
    "sort-orders": [{"order-id": 0, "fields": []}],
    "properties": {"comment": "A shop", "owner": "ada"},
    "current-snapshot-id": -1,
}  # fmt: skip


def write(path: Path, tree: Any = METADATA, *, is_packed: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(tree).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if is_packed else text)
    return path


@pytest.mark.parametrize(
    ("file", "source", "is_packed"),
    [
        ("shop/metadata/00001-ab-cd.metadata.json", "shop", False),
        ("shop/metadata/v12.metadata.json", "shop/metadata", False),
        ("shop/metadata/v3.gz.metadata.json", "shop", True),
        ("shop/metadata/00003-ab.metadata.json.gz", "shop/metadata/00003-ab.metadata.json.gz", True),
        ("shop/metadata/any.json", "shop/metadata/any.json", False),
    ],
)
def test_import_a_table_with_all_its_versions(
    file: str, source: str, is_packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path(file), is_packed=is_packed)
    older = copy.deepcopy(METADATA)
    older["schemas"], older["current-schema-id"] = [SCHEMA], 0
    write(Path("shop/metadata/v0.metadata.json"), older)
    assert main(["import", source, "--out", "shop.yaml"]) == 0
    text = Path("shop.yaml").read_text()
    assert "name: shop" in text
    assert "# not kept: that it is partitioned or sorted by key" in text
    assert main(["build", "shop.yaml", "--target", "iceberg"]) == 0
    made = json.loads(Path("build/shop/iceberg/schema.json").read_text())
    assert made == LATER
    lock = Path("shop.lock").read_text()
    assert "version 2" in lock
    assert "field 3 v1-1" in lock, "what was dropped keeps its id for ever"
    Path("shop.yaml").write_text(f"{text}  - {{name: new, type: {{kind: Option, inner: Int32}}}}\n")
    assert main(["lock"]) == 0
    assert main(["build", "shop.yaml", "--target", "iceberg"]) == 0
    made = json.loads(Path("build/shop/iceberg/schema.json").read_text())
    assert made["fields"][-1]["id"] == 6, "ids go on where the table's ended"


def test_follow_the_hint_of_tables_without_a_catalog(tmp_path: Path) -> None:
    older = copy.deepcopy(METADATA)
    older["schemas"], older["current-schema-id"] = [SCHEMA], 0
    write(tmp_path / "shop/metadata/v1.metadata.json", older)
    write(tmp_path / "shop/metadata/v2.metadata.json")
    (tmp_path / "shop/metadata/version-hint.text").write_text("1\n")
    dataset = schemac.from_iceberg(tmp_path / "shop")
    assert [field.name for field in dataset.schema.fields] == ["id", "tags", "price"]


@pytest.mark.parametrize(("number", "kept"), [(1, 1), (2, None), (3, 3)])
def test_keep_the_format_of_a_table(number: int, kept: int | None, tmp_path: Path) -> None:
    """Format 2 is what a new table gets, and any other is said."""
    old = copy.deepcopy(METADATA) | {"format-version": number}
    write(tmp_path / "shop/metadata/v1.metadata.json", old)
    dataset = schemac.from_iceberg(tmp_path / "shop")
    assert dataset.schema.extra.get("iceberg.apache.org/formatVersion") == kept


def test_take_a_schema_alone() -> None:
    dataset = schemac.from_iceberg(SCHEMA, name="shop")
    assert dataset.name == "shop"
    assert parse_schema(dataset.to_iceberg()).columns[2].type == parse_schema(SCHEMA).columns[2].type


def test_take_what_pyiceberg_has_open(catalog: Any) -> None:
    import pyarrow as pa
    from pyiceberg.schema import Schema

    table = catalog.create_table("n.trips", pa.Table.from_pylist(ROWS).schema)
    for source in (table, table.schema()):
        made = schemac.from_iceberg(source).to_iceberg()
        fields = Schema.model_validate(made).model_dump(mode="json", by_alias=True)["fields"]
        assert [f["name"] for f in fields] == ["id", "fare", "start"]
    assert schemac.from_iceberg(table).name == "trips"


def test_take_the_ids_of_a_data_file(catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    import pyarrow as pa

    table = catalog.create_table("n.trips", pa.Table.from_pylist(ROWS).schema)
    table.append(pa.Table.from_pylist(ROWS, schema=table.schema().as_arrow()))
    (file,) = (tmp_path / "warehouse/n/trips/data").rglob("*.parquet")
    assert main(["import", str(file), "--name", "trips", "--out", "trips.yaml"]) == 0
    assert main(["build", "trips.yaml", "--target", "iceberg"]) == 0
    made = parse_schema(json.loads(Path("build/trips/iceberg/schema.json").read_text()))
    theirs = parse_schema(table.schema().model_dump(mode="json", by_alias=True))
    assert made.columns == theirs.columns


def _without(tree: Any, *steps: Any) -> Any:
    found = copy.deepcopy(tree)
    at = found
    for step in steps[:-1]:
        at = at[step]
    del at[steps[-1]]
    return found


def _with(tree: Any, value: Any, *steps: Any) -> Any:
    found = copy.deepcopy(tree)
    at = found
    for step in steps[:-1]:
        at = at[step]
    at[steps[-1]] = value
    return found


WRONG: dict[str, tuple[Any, str]] = {
    "no object": ([], "a schema has to be an object"),
    "format of tomorrow": (_with(METADATA, 4, "format-version"), "format 4 is not supported"),
    "no schemas": (_with(METADATA, [], "schemas"), "schemas: the schemas have to be a list of at least one"),
    "lost schema": (_with(METADATA, 7, "current-schema-id"), "there is no schema with the id 7"),
    "no id": (_without(METADATA, "schemas", 1, "fields", 0, "id"), "schemas[1].fields[0].id"),
    "id of nothing": (_with(METADATA, 0, "schemas", 1, "fields", 0, "id"), "a whole number from 1 on"),
    "no name": (_without(METADATA, "schemas", 0, "fields", 0, "name"), "a field needs a `name`"),
    "no type": (_without(METADATA, "schemas", 0, "fields", 0, "type"), "a field needs a `type`"),
    "odd required": (_with(METADATA, "yes", "schemas", 0, "fields", 0, "required"), "true or false"),
    "unknown type": (
        _with(METADATA, "int128", "schemas", 0, "fields", 0, "type"),
        "'int128' is not an Iceberg type",
    ),
    "wide decimal": (_with(METADATA, "decimal(39, 2)", "schemas", 0, "fields", 0, "type"), "1 to 38 digits"),
    "odd object": (
        _with(METADATA, {"type": "array"}, "schemas", 0, "fields", 0, "type"),
        "struct, list or map",
    ),
    "same id": (_with(METADATA, 2, "schemas", 1, "fields", 0, "id"), "the id 2 is that of id and tags"),
    "same name": (_with(METADATA, "tags", "schemas", 1, "fields", 0, "name"), "two fields are called 'tags'"),
    "no identifier": (
        _with(METADATA, [9], "schemas", 1, "identifier-field-ids"),
        "the identifier field with the id 9 does not exist",
    ),
    "list without element": (
        _without(METADATA, "schemas", 1, "fields", 1, "type", "element"),
        "fields[1].type.element: a type has to be a text or an object",
    ),
    "odd properties": (_with(METADATA, ["x"], "properties"), "the properties have to be an object"),
}


@pytest.mark.parametrize("case", WRONG)
def test_refuse_what_is_no_metadata(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tree, says = WRONG[case]
    write(Path("v1.metadata.json"), tree)
    assert main(["import", "v1.metadata.json", "--out", "m.yaml"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "SC552" in out
    assert says in out
    assert not Path("m.yaml").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\x1f\x8bnot gzip",
        gzip.compress(b"{}" * 99, mtime=0)[:-9],
        gzip.compress(b"{}", mtime=0)[:10] + b"\xff" * 9,
        b'{"format-version": NaN}',
        b"[" * 9000,
    ],
)
def test_refuse_what_is_no_json(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "v1.metadata.json"
    file.write_bytes(content)
    assert main(["import", str(file)]) == 1
    assert "SC552" in capsys.readouterr().err


def test_survive_any_mutation() -> None:
    """Whatever stands where something else should: it is read, or it is refused."""
    chance = random.Random(7)
    for _ in range(3000):
        tree = copy.deepcopy(METADATA)
        at: Any = tree
        while True:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            if not keys:
                break
            key = chance.choice(keys)
            if not isinstance(at[key], dict | list) or chance.random() < 0.2:
                at[key] = chance.choice([None, -1, 0, 2**40, "x", [], {}, [1], {"type": "map"}, True, 1.5])
                break
            at = at[key]
        try:
            parse_metadata(json.loads(json.dumps(tree)))
        except MalformedDocumentError:
            continue


def test_come_back_the_same() -> None:
    """From a manifest to Iceberg, to a manifest, and to Iceberg again."""
    for seed in range(60):
        drawn = IcebergDrawing(random.Random(seed))
        fields = [node.member() for node in drawn.schema()]
        (dataset,) = schemac.compile_text(json.dumps({"name": "t", "fields": fields}))
        made = dataset.to_iceberg()
        again = schemac.from_iceberg(made, name="t")
        assert again.to_iceberg() == made, seed
        assert schemac.from_iceberg(again.to_iceberg(), name="t").schema == again.schema
