"""A vector that may be null gets the note exactly where Lance refuses a row that pyarrow builds."""

import itertools
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import schemac
from tests.compiling import compile_bytes

VECTOR = "{kind: List, itemType: ITEM, fixedLength: 4}"
CASES = list(
    itertools.product(("2.0", "2.1", "2.2"), ("Float32", "Float16", "Int8"), (False, True), (False, True))
)


@pytest.mark.parametrize(("version", "item", "has_null_items", "may_be_null"), CASES)
def test_note_what_lance_refuses(
    tmp_path: Path, version: str, item: str, has_null_items: bool, may_be_null: bool
) -> None:
    type_ = VECTOR.replace("ITEM", f"{{kind: Option, inner: {item}}}" if has_null_items else item)
    type_ = f"{{kind: Option, inner: {type_}}}" if may_be_null else type_
    text = f"extra: {{lance.org/storageVersion: '{version}'}}\nfields:\n  - {{name: v, type: {type_}}}\n"
    (dataset,) = schemac.compile_text(text)
    rows = [{"v": [1, 2, 3, 4]}, *([{"v": None}] if may_be_null else [])]
    table = pa.Table.from_pylist(rows, schema=dataset.to_arrow())
    try:
        lance.write_dataset(table, tmp_path / "t.lance", data_storage_version=version)
        is_refused = False
    except (OSError, ValueError, RuntimeError):
        is_refused = True
    assert ("SC554" in compile_bytes(text.encode(), "t.yaml").codes) == is_refused
