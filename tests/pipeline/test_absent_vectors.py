"""Vectors that may be absent although their items may not."""

import pyarrow as pa
import pytest

from tests.pipeline.conftest import Runner

pytestmark = pytest.mark.spark


def test_write_an_absent_vector_whose_items_are_required(ingest: Runner) -> None:
    def vector(name: str, item: pa.DataType, size: int, *, nullable: bool) -> pa.Field:
        return pa.field(name, pa.list_(pa.field("item", item, nullable=False), size), nullable)

    inner = pa.struct([vector("v", pa.float16(), 2, nullable=False)])
    columns = [
        pa.field("id", pa.int32(), False),
        vector("v", pa.float32(), 3, nullable=True),
        pa.field("s", inner),
    ]
    records = [
        {"id": 1, "v": [1, 2, 3], "s": {"v": [1, 2]}},
        {"id": 2, "v": None, "s": None},
        {"id": 3, "v": [1, None, 3], "s": None},
    ]
    report, rows, bad = ingest(pa.schema(columns), records)
    assert (report.rows_written, len(bad)) == (2, 1)
    assert [row["v"] for row in rows] == [[1.0, 2.0, 3.0], None]
    assert [row["s"] for row in rows] == [{"v": [1.0, 2.0]}, None]
