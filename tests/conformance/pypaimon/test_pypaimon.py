"""Our schema files in the hands of the real pypaimon: understood, opened, written and read."""

import datetime
import decimal
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import schemac
from schemac import Dataset
from schemac.engines.paimon.artifact import to_table_schema
from schemac.engines.paimon.reader import member_ids, read_table_schema
from schemac.engines.paimon.table_schema import number_fields
from schemac.language.logical.model import FieldPath, SchemaField, preorder
from tests.conformance.arrow_values import table as some_rows
from tests.conformance.manifest_types import POSITIONS, TYPES
from tests.conformance.pypaimon.client import Paimon, PaimonError, packed, unpacked

WITHOUT_LOSSES = [
    place
    for place in POSITIONS
    if place in ("item of a vector", "optional item of an optional vector")
    or ("vector" not in place and "large" not in place)
]
"""Positions that mean the same to Paimon; it has vectors of plain numbers only."""
JAVA = sorted((Path(__file__).parent / "java").glob("*.yaml"))


def text_of(dataset: Dataset, time_millis: int = 0) -> str:
    return to_table_schema(dataset._compilation, dataset._emit("paimon"), time_millis=time_millis).to_text()


def only(manifest: str) -> Dataset:
    (dataset,) = schemac.compile_text(manifest)
    return dataset


def held(position: str) -> dict[str, Dataset]:
    """Datasets of every type at a position, of those that Paimon can hold."""
    found = {}
    for name, type_ in TYPES.items():
        try:
            dataset = only(json.dumps({"fields": [POSITIONS[position](type_)]}))
            dataset.to_paimon()
        except schemac.SchemaError:
            continue
        found[name] = dataset
    assert len(found) > 60
    return found


def kept(position: str) -> dict[str, Dataset]:
    """Those of them that come back from Paimon as the same Arrow type: it has one sort of bytes and of times of day."""
    return {
        name: dataset
        for name, dataset in held(position).items()
        if not dataset.losses("paimon") and name not in ("Binary of 16 bytes", "Time in Seconds")
    }


def shape(field: Any) -> Any:
    """A field with all that is below it; the names of items are each library's own.

    pypaimon makes the elements of every VECTOR nullable in Arrow, whatever the schema file says.
    """
    type_ = field.type
    if pa.types.is_struct(type_):
        return ("struct", field.nullable, [(f.name, shape(f)) for f in type_.fields])
    if pa.types.is_map(type_):
        return ("map", field.nullable, shape(type_.key_field), shape(type_.item_field))
    if pa.types.is_fixed_size_list(type_):
        return ("vector", field.nullable, type_.list_size, str(type_.value_type))
    if pa.types.is_nested(type_):
        return ("list", field.nullable, shape(type_.value_field))
    return (str(type_), field.nullable)


def place(warehouse: Path, table: str, dataset: Dataset) -> None:
    """What a catalog of Paimon needs to find a table: the schema file in its folder."""
    folder = warehouse / "db.db" / table / "schema"
    folder.mkdir(parents=True)
    (folder / "schema-0").write_text(text_of(dataset), encoding="utf-8", newline="")


@pytest.mark.parametrize("manifest", JAVA, ids=lambda path: path.stem)
def test_write_the_bytes_that_java_wrote(manifest: Path) -> None:
    """The files name it with `--overlay`, in addition to the manifests are from Paimon 0.9.0, which numbered and printed the same columns."""
    written = manifest.with_suffix(".json").read_bytes()
    time_millis = json.loads(written)["timeMillis"]
    assert text_of(only(manifest.read_text(encoding="utf-8")), time_millis).encode() == written


@pytest.mark.parametrize("position", POSITIONS)
def test_be_understood(paimon: Paimon, position: str) -> None:
    datasets = held(position)
    texts = [text_of(dataset) for dataset in datasets.values()]
    for text, found in zip(texts, paimon.ask("parse", texts=texts)["tables"], strict=True):
        ours, theirs = (read_table_schema(json.loads(file)) for file in (text, found["file"]))
        assert theirs == ours


@pytest.mark.parametrize("position", WITHOUT_LOSSES)
def test_be_the_same_in_arrow(paimon: Paimon, position: str) -> None:
    datasets = kept(position)
    texts = [text_of(dataset) for dataset in datasets.values()]
    found = paimon.ask("parse", texts=texts)["tables"]
    for (name, dataset), theirs in zip(datasets.items(), found, strict=True):
        ours = dataset.to_arrow(metadata=False)
        assert [shape(f) for f in unpacked(theirs["arrow"]).schema] == [shape(f) for f in ours], name


@pytest.mark.parametrize("position", WITHOUT_LOSSES)
def test_number_fields_as_pypaimon_does(paimon: Paimon, warehouse: Path, position: str) -> None:
    dataset = only(json.dumps({"fields": _columns(position)}))
    empty = dataset.to_arrow(metadata=False).empty_table()
    paimon.ask("create", warehouse=str(warehouse), table="t", arrow=packed(empty))
    theirs = read_table_schema(json.loads((warehouse / "db.db/t/schema/schema-0").read_bytes()))
    ours = read_table_schema(json.loads(text_of(dataset)))
    assert member_ids(theirs.fields) == member_ids(ours.fields)
    assert theirs.highest_field_id == ours.highest_field_id


def _columns(position: str, *, with_vectors: bool = True) -> list[dict[str, Any]]:
    """Columns of all types that come back the same; names tell them apart."""
    columns = [{**POSITIONS[position](TYPES[name]), "name": f"c{i}"} for i, name in enumerate(kept(position))]
    return [column for column in columns if with_vectors or "fixedLength" not in json.dumps(column)]


@pytest.mark.parametrize("position", WITHOUT_LOSSES)
def test_write_and_read_rows(paimon: Paimon, warehouse: Path, position: str) -> None:
    # Parquet files of pyarrow hold no vector that is null.
    dataset = only(json.dumps({"fields": _columns(position, with_vectors=position == "column")}))
    place(warehouse, "t", dataset)
    schema = dataset.to_arrow(metadata=False)
    assert [shape(f) for f in paimon.describe(warehouse, "t")] == [shape(f) for f in schema]
    # Made of Python values anew, for below a null struct the parts have to be empty.
    rows = pa.Table.from_pylist(some_rows(schema).to_pylist(), schema=schema)
    paimon.write(warehouse, "t", rows)
    assert paimon.read(warehouse, "t").to_pylist() == rows.to_pylist()


ORDERS = """
name: orders
description: What was ordered
extra:
  paimon.apache.org/primaryKeys: [day, id]
  paimon.apache.org/partitionKeys: [day]
  paimon.apache.org/options: {bucket: "2"}
fields:
  - {name: day, type: String, description: of the order}
  - {name: id, type: Int64}
  - {name: total, type: {kind: Option, inner: {kind: Decimal, precision: 12, scale: 2}}}
  - {name: at, type: {kind: Option, inner: Timestamp}}
  - {name: lines, type: {kind: List, itemType: {kind: Struct, fields: [{name: sku, type: String}, {name: n, type: Int32}]}}}
"""
OPTION = "{kind: Option, inner: %s}"
MOMENT = datetime.datetime(2026, 1, 31, 12, 30, tzinfo=datetime.UTC)


def order(day: str, id: int, total: str | None) -> dict[str, Any]:
    amount = None if total is None else decimal.Decimal(total)
    return {"day": day, "id": id, "total": amount, "at": MOMENT, "lines": [{"sku": "a", "n": id}]}


def by_id(table: pa.Table) -> list[dict[str, Any]]:
    return sorted(table.to_pylist(), key=lambda row: int(row["id"]))


def test_upsert_into_a_partitioned_table_with_a_primary_key(paimon: Paimon, warehouse: Path) -> None:
    dataset = only(ORDERS)
    place(warehouse, "orders", dataset)
    schema = dataset.to_arrow(metadata=False)
    first, second = order("a", 1, "1.50"), order("b", 2, None)
    paimon.write(warehouse, "orders", pa.Table.from_pylist([first, second], schema=schema))
    changed, third = order("a", 1, "2.75"), order("b", 3, "0.01")
    paimon.write(warehouse, "orders", pa.Table.from_pylist([changed, third], schema=schema))
    assert by_id(paimon.read(warehouse, "orders")) == [changed, second, third]
    assert {path.name for path in (warehouse / "db.db/orders").glob("day=*")} == {"day=a", "day=b"}


def test_append_to_a_partitioned_table_with_buckets(paimon: Paimon, warehouse: Path) -> None:
    keys = "  paimon.apache.org/primaryKeys: [day, id]\n"
    dataset = only(ORDERS.replace(keys, "").replace('bucket: "2"', 'bucket: "2", bucket-key: id'))
    place(warehouse, "orders", dataset)
    rows = [order("a", 1, "1.50"), order("a", 1, "1.50"), order("b", 2, None)]
    paimon.write(warehouse, "orders", pa.Table.from_pylist(rows, schema=dataset.to_arrow(metadata=False)))
    assert by_id(paimon.read(warehouse, "orders")) == rows


@pytest.mark.parametrize("format", ["parquet", "orc", "avro"])
def test_write_every_file_format(paimon: Paimon, warehouse: Path, format: str) -> None:
    # ORC files of pyarrow forget what may not be null.
    manifest = ORDERS.replace(
        "type: String}, {name: n, type: Int32}",
        f"type: {OPTION % 'String'}}}, {{name: n, type: {OPTION % 'Int32'}}}",
    )
    dataset = only(manifest.replace('bucket: "2"', f'bucket: "2", file.format: {format}'))
    place(warehouse, "orders", dataset)
    rows = [order("a", 1, "1.50"), order("b", 2, None)]
    paimon.write(warehouse, "orders", pa.Table.from_pylist(rows, schema=dataset.to_arrow(metadata=False)))
    assert by_id(paimon.read(warehouse, "orders")) == rows
    assert list((warehouse / "db.db/orders").rglob(f"*.{format}"))


def _by_field(dataset: Dataset, ids: dict[FieldPath, int]) -> dict[SchemaField, int]:
    return {field: ids[field.path] for field in preorder(dataset._logical.columns) if field.path in ids}


def test_read_old_rows_by_id_after_a_rename(paimon: Paimon, warehouse: Path) -> None:
    """The second version keeps the ids that the first gave, under other names and in another order."""
    before = only(ORDERS)
    place(warehouse, "orders", before)
    rows = [order("a", 1, "1.50")]
    paimon.write(warehouse, "orders", pa.Table.from_pylist(rows, schema=before.to_arrow(metadata=False)))
    after = only(ORDERS.replace("name: total,", "name: amount,").replace("name: n,", "name: count,"))
    first = read_table_schema(before.to_paimon())
    names = {"total": "amount", "n": "count"}
    ids = {
        tuple(names.get(step, step) if isinstance(step, str) else step for step in path): id
        for path, id in member_ids(first.fields)
    }
    second = to_table_schema(
        after._compilation,
        after._emit("paimon"),
        ids=_by_field(after, ids),
        highest=first.highest_field_id,
        schema_id=1,
    )
    (warehouse / "db.db/orders/schema/schema-1").write_text(second.to_text(), encoding="utf-8")
    (found,) = paimon.read(warehouse, "orders").to_pylist()
    assert (found["amount"], found["lines"]) == (decimal.Decimal("1.50"), [{"sku": "a", "count": 1}])


EVOLVING = """
extra:
  paimon.apache.org/options: {row-tracking.enabled: "true", data-evolution.enabled: "true"}
fields:
  - {name: id, type: Int64}
  - {name: blob, type: {kind: Option, inner: Binary}, extra: {paimon.apache.org/type: BLOB}}
  - {name: blobs, type: {kind: List, itemType: {kind: Binary, extra: {paimon.apache.org/type: BLOB}}}}
  - {name: char, type: String, extra: {paimon.apache.org/type: CHAR(3)}}
  - {name: binary, type: {kind: Binary, fixedLength: 3}}
  - {name: vector, type: {kind: List, itemType: Float32, fixedLength: 2}}
  - {name: local, type: {kind: Timestamp, unit: Microsecond}, extra: {paimon.apache.org/type: TIMESTAMP_LTZ(4)}}
  - name: variant
    type: {kind: Struct, fields: [{name: value, type: Binary}, {name: metadata, type: Binary}]}
    extra: {paimon.apache.org/type: VARIANT}
"""


def test_write_and_read_the_types_that_only_paimon_has(paimon: Paimon, warehouse: Path) -> None:
    place(warehouse, "t", only(EVOLVING))
    schema = paimon.describe(warehouse, "t")
    assert str(schema.field("blob").type) == "large_binary"
    row = {
        "id": 1,
        "blob": b"x" * 100,
        "blobs": [b"a", b""],
        "char": "abc",
        "binary": b"abc",
        "vector": [1.5, -2.0],
        "local": MOMENT,
        "variant": {"value": b"\x0c\x01", "metadata": b"\x01\x00\x00"},
    }
    rows = [row, {**row, "id": 2, "blob": None}]
    paimon.write(warehouse, "t", pa.Table.from_pylist(rows, schema=schema))
    assert by_id(paimon.read(warehouse, "t")) == rows


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_refuse_empty_structs_where_the_files_do(paimon: Paimon, warehouse: Path, format: str) -> None:
    manifest = f"""
extra: {{paimon.apache.org/options: {{file.format: {format}}}}}
fields: [{{name: id, type: Int64}}, {{name: s, type: {{kind: Struct, fields: [MEMBERS]}}}}]
"""
    tree = only(manifest.replace("MEMBERS", "{name: x, type: Int8}")).to_paimon()
    tree["fields"][1]["type"]["fields"] = []
    folder = warehouse / "db.db/t/schema"
    folder.mkdir(parents=True)
    (folder / "schema-0").write_text(json.dumps(tree), encoding="utf-8")
    rows = pa.Table.from_pylist([{"id": 1, "s": {}}], schema=paimon.describe(warehouse, "t"))
    empty = only(manifest.replace("MEMBERS", ""))
    if format == "parquet":
        with pytest.raises(PaimonError, match="no child field"):
            paimon.write(warehouse, "t", rows)
        with pytest.raises(schemac.SchemaError, match="SC567"):
            empty.to_paimon()
    else:
        paimon.write(warehouse, "t", rows)
        assert paimon.read(warehouse, "t").to_pylist() == rows.to_pylist()
        assert empty.to_paimon()["fields"][1]["type"]["fields"] == []


BEFORE = """
fields:
  - {name: k, type: Int32}
  - name: r
    type: {kind: Option, inner: {kind: Struct, fields: [{name: x, type: Int32}]}}
  - name: l
    type: {kind: List, itemType: {kind: Option, inner: {kind: Struct, fields: [{name: y, type: Int32}]}}}
"""
DEEP = "{kind: Option, inner: {kind: Struct, fields: [{name: q, type: {kind: Struct, fields: [{name: w, type: Int32}]}}, {name: v, type: Int32}]}}"


def test_number_what_is_added_as_pypaimon_does(paimon: Paimon, warehouse: Path) -> None:
    """A column, and members of a ROW and of a ROW in an ARRAY, each with members of their own."""
    place(warehouse, "t", only(BEFORE))
    after = only(
        BEFORE.replace(
            "{name: x, type: Int32}", f"{{name: x, type: Int32}}, {{name: n, type: {DEEP}}}"
        ).replace("{name: y, type: Int32}", f"{{name: y, type: Int32}}, {{name: n, type: {DEEP}}}")
        + f"  - {{name: n, type: {DEEP}}}\n"
    )
    type_ = after.to_paimon()["fields"][-1]["type"]
    first = read_table_schema(only(BEFORE).to_paimon())
    taken = dict(member_ids(first.fields))
    numbers, highest = number_fields(after._logical.columns, _by_field(after, taken), first.highest_field_id)
    paths = [["r", "n"], ["l", "element", "n"], ["n"]]
    paimon.ask("add_columns", warehouse=str(warehouse), table="t", columns=[[path, type_] for path in paths])
    theirs = read_table_schema(json.loads((warehouse / "db.db/t/schema/schema-1").read_bytes()))
    assert {field.path: id for field, id in numbers.items()} == dict(member_ids(theirs.fields))
    assert highest == theirs.highest_field_id


def test_read_a_table_that_pypaimon_made(paimon: Paimon, warehouse: Path) -> None:
    dataset = only(json.dumps({"fields": _columns("optional column")}))
    empty = dataset.to_arrow(metadata=False).empty_table()
    paimon.ask("create", warehouse=str(warehouse), table="t", arrow=packed(empty))
    again = schemac.from_paimon(warehouse / "db.db/t")
    assert again.name == "t"
    ours, theirs = (d.to_arrow(metadata=False) for d in (dataset, again))
    assert [(f.name, shape(f)) for f in theirs] == [(f.name, shape(f)) for f in ours]
