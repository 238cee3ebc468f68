"""The artifacts held against pyiceberg: it reads every schema as it is meant, and makes tables of it."""

import json
from functools import cache
from typing import Any

import pytest

import schemac
from schemac.engines.iceberg.reader import parse_schema
from schemac.engines.iceberg.types import fresh_ids
from tests.conformance.manifest_types import POSITIONS, TYPES

FORMATS = (2, 3)
PLACES = (
    *("column", "optional column", "optional member of an optional Struct"),
    *("optional item of an optional List", "key", "value"),
)


@cache
def compiled(format_version: int) -> dict[str, dict[str, Any]]:
    """Iceberg's schema of every type at every place that it can hold."""
    found: dict[str, dict[str, Any]] = {}
    extra = {"iceberg.apache.org/formatVersion": format_version}
    for name, type_ in TYPES.items():
        for place in PLACES:
            field = POSITIONS[place](type_)
            try:
                (dataset,) = schemac.compile_text(json.dumps({"fields": [field], "extra": extra}))
                found[f"{name}, {place}"] = dataset.to_iceberg()
            except schemac.SchemaError:
                continue
    return found


@pytest.mark.parametrize("format_version", FORMATS)
def test_be_read_by_pyiceberg_as_it_is_meant(format_version: int) -> None:
    pytest.importorskip("pyiceberg", reason="pyiceberg is not installed: pip install 'schemac[iceberg]'")
    from pyiceberg.schema import Schema, assign_fresh_schema_ids

    schemas = compiled(format_version)
    assert len(schemas) > 350
    for name, tree in schemas.items():
        ours = parse_schema(tree)
        assert ours.to_json() == tree, name
        theirs = Schema.model_validate(tree)
        theirs.check_format_version_compatibility(format_version)
        assert theirs.model_dump(mode="json", by_alias=True)["fields"] == tree["fields"], name
        fresh = assign_fresh_schema_ids(theirs).model_dump(mode="json", by_alias=True)["fields"]
        assert ours.renumbered(fresh_ids(ours)).to_json()["fields"] == fresh, name


def test_make_tables_that_hold_rows(catalog: Any) -> None:
    """Every type in one table, with a row of nulls; pyarrow writes and reads it."""
    import pyarrow as pa
    from pyiceberg.schema import Schema

    from schemac.engines.iceberg.types import IcebergSchema

    trees = [tree for name, tree in compiled(2).items() if name.endswith(", optional column")]
    columns, highest = [], 0
    for number, tree in enumerate(trees):
        schema = parse_schema(tree)
        schema = schema.renumbered({i: i + highest for i in fresh_ids(schema)})
        highest = schema.highest_id
        (column,) = schema.to_json()["fields"]
        columns.append({**column, "name": f"c{number}"})
    whole = {"type": "struct", "schema-id": 0, "fields": columns}
    assert isinstance(parse_schema(whole), IcebergSchema)
    table = catalog.create_table("n.all", Schema.model_validate(whole))
    rows = pa.Table.from_pylist([{}], schema=table.schema().as_arrow())
    table.append(rows)
    (read,) = table.scan().to_arrow().to_pylist()
    # pyiceberg 0.12 reads null maps, and null lists of structs, as empty ones.
    for column in columns:
        is_nested = isinstance(column["type"], dict) and column["type"]["type"] in ("list", "map")
        assert read[column["name"]] in ((None, []) if is_nested else (None,)), column


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"name": "a.b", "type": "String"}, {"name": "a", "type": {"kind": "Struct", "fields": [{"name": "b", "type": "String"}]}}),
        ({"name": "a.element", "type": "String"}, {"name": "a", "type": {"kind": "List", "itemType": "String"}}),
        ({"name": "a.key", "type": "String"}, {"name": "a", "type": {"kind": "Map", "keyType": "String", "valueType": "String"}}),
        ({"name": "a.x", "type": "String"}, {"name": "a", "type": {"kind": "List", "itemType": {"kind": "Struct", "fields": [{"name": "x", "type": "String"}]}}}),
        ({"name": "element", "type": "String"}, {"name": "a", "type": {"kind": "List", "itemType": "String"}}),
    ],
)  # fmt: skip
def test_refuse_the_names_that_pyiceberg_refuses(first: Any, second: Any) -> None:
    pytest.importorskip("pyiceberg", reason="pyiceberg is not installed: pip install 'schemac[iceberg]'")
    from pyiceberg.schema import Schema, index_by_name

    from schemac.engines.iceberg.types import collisions

    trees = []
    for field in (first, second):
        (dataset,) = schemac.compile_text(json.dumps({"fields": [field]}))
        trees.append(parse_schema(dataset.to_iceberg()))
    shifted = trees[1].renumbered({i: i + trees[0].highest_id for i in fresh_ids(trees[1])})
    whole = {"type": "struct", "fields": [*trees[0].to_json()["fields"], *shifted.to_json()["fields"]]}
    try:
        index_by_name(Schema.model_validate(whole))
        is_refused = False
    except ValueError:
        is_refused = True
    assert is_refused == any(collisions(parse_schema(whole)))
    try:
        schemac.compile_text(json.dumps({"fields": [first, second]}))[0].to_iceberg()
        codes = set()
    except schemac.SchemaError as error:
        codes = {d.code for d in error.diagnostics}
    assert codes == ({"SC582"} if is_refused else set())
