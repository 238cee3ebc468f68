"""What `engines.lance.transactions` knows of Lance's own JSON and file names, asked of the pylance that it is for."""

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from lance.fragment import write_fragments

from schemac.engines.lance import transactions

ROWS = pa.table({"id": pa.array([1, 2, 3]), "s": pa.array([{"x": 1}, {"x": 2}, {"x": 3}])})
ENGINE = Path(transactions.__file__).parent
OF_LANCE = re.compile(
    r"FragmentMetadata\b|_from_protos|__reduce__|to_json\(\)\[|column_indices|\"_transactions\"|\.manifest|CommitConflict"
)
"""Words that only one module says."""


@pytest.fixture
def table(tmp_path: Path) -> Any:
    return lance.write_dataset(ROWS, str(tmp_path / "t.lance"), max_rows_per_file=2)


def test_name_the_pylance_that_it_is_for() -> None:
    """A minor version may change what no page of Lance describes: look at the cases below, then name it."""
    assert version("pylance").split(".")[:2] == transactions.PYLANCE.split(".")[:2]


def test_nothing_else_touches_what_is_of_lance() -> None:
    files = [path for path in ENGINE.rglob("*.py") if "_generated" not in path.parts]
    touching = {path.name for path in files if OF_LANCE.search(path.read_text(encoding="utf-8"))}
    assert touching == {"transactions.py"}


def test_fragments_are_json_of_this_form(table: Any) -> None:
    texts = [transactions.fragment_text(fragment.metadata) for fragment in table.get_fragments()]
    tree = json.loads(texts[1])
    (file,) = tree["files"]
    assert {"id", "files", "deletion_file", "physical_rows"} <= tree.keys()
    assert {"path", "fields", "column_indices", "file_major_version"} <= file.keys()
    assert file["fields"] == [0, 2], "a struct has no values of its own"
    assert [fragment.id for fragment in transactions.fragments_of(texts)] == [0, 1]
    assert transactions.field_ids_in(texts) == {0, 2}
    assert transactions.field_ids(table) == {0, 1, 2}
    names = [entry.name for entry in (Path(table.uri) / transactions.DATA).iterdir()]
    assert sorted(transactions.file_names(texts)) == sorted(names)
    assert json.loads(transactions.fragment_text(tree_of(tree), is_numbered=False))["id"] == 0


def tree_of(tree: dict[str, Any]) -> Any:
    return transactions.fragments_of([json.dumps(tree)])[0]


def test_files_take_the_ids_of_a_table(table: Any) -> None:
    (text, _) = (transactions.fragment_text(fragment.metadata) for fragment in table.get_fragments())
    numbered = transactions.with_field_ids(text, [7, 3, 5])
    assert transactions.field_ids_in([transactions.fragment_text(numbered)]) == {7, 5}


def test_new_columns_take_the_place_of_old_ones(table: Any) -> None:
    """Values under the id of another file count no more; what Lance counted gets its lasting id."""
    fragment = table.get_fragment(0)
    new = pa.schema([pa.field("n", pa.int64())])
    batch = lance.batch_udf(output_schema=new)(lambda rows: pa.record_batch([pa.array([8, 9])], schema=new))
    metadata, schema = fragment.merge_columns(batch, columns=["id"])
    file = transactions.added_file(fragment.metadata, metadata, schema, {"n": [0]})
    assert transactions.file_name(file) == json.loads(file)["path"]
    replaced = transactions.with_data_file(fragment.metadata, file, frozenset({0}))
    assert replaced.files[0].fields == [transactions.VALUES_REPLACED, 2]
    others = [other.metadata for other in table.get_fragments()[1:]]
    operation = lance.LanceOperation.Merge([replaced, *others], table.lance_schema)
    number = transactions.make_version(table.uri, operation, table.version, {"who": "a test"})
    now = lance.dataset(table.uri)
    assert now.version == number
    assert now.to_table()["id"].to_pylist() == [8, 9, 3]
    assert now.read_transaction(number).transaction_properties["who"] == "a test"


def test_schemas_come_apart_and_together(table: Any) -> None:
    metadata, fields = transactions.schema_parts(table.lance_schema)
    assert [field.name for field in fields] == ["id", "s", "x"]
    again = transactions.lance_schema(fields, {**metadata, "a": b"b"})
    assert transactions.schema_parts(again) == ({"a": b"b"}, fields)


def test_table_appears_by_one_file(table: Any, tmp_path: Path) -> None:
    """The manifest whose name is least is that of the newest version."""
    lance.write_dataset(ROWS, table.uri, mode="append")
    path = str(tmp_path / "published.lance")
    assert transactions.has_version(table.uri)
    assert not transactions.has_version(path)
    names = list(
        transactions.file_names(
            transactions.fragment_text(f.metadata) for f in lance.dataset(table.uri).get_fragments()
        )
    )
    transactions.move_data(str(Path(table.uri, "data")), str(Path(path, "data")), names)
    transactions.publish(table.uri, path)
    published = lance.dataset(path)
    assert (published.version, published.count_rows()) == (2, 6)
    transactions.remove_data(path, names)
    assert not list(Path(path, "data").iterdir())


def test_blobs_lie_beside_their_file(tmp_path: Path) -> None:
    schema = pa.schema([lance.blob_field("b")])
    rows = pa.table([lance.blob_array([b"x" * 200_000])], schema=schema)
    made = write_fragments(rows, str(tmp_path / "b.lance"), data_storage_version="2.2")
    (name,) = transactions.file_names(map(transactions.fragment_text, made))
    assert {entry.name for entry in (tmp_path / "b.lance/data").iterdir()} == {
        *transactions.data_entries(name)
    }


def test_conflict_is_told_by_its_class(table: Any) -> None:
    first = lance.LanceOperation.Overwrite(ROWS.schema, [f.metadata for f in table.get_fragments()])
    transactions.make_version(table.uri, first, 1, {})
    update = lance.LanceOperation.Update(removed_fragment_ids=[0], new_fragments=[])
    with pytest.raises(OSError, match=r"(?i)conflict") as raised:
        transactions.make_version(table.uri, update, 1, {})
    assert transactions.is_conflict(raised.value)
    assert not transactions.is_conflict(OSError("no space left on device"))
    assert not transactions.is_conflict(None)
