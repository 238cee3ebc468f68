"""Tables that delta-rs writes are read as it reads them itself: schema, properties, partitions, checkpoints."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main

deltalake = pytest.importorskip("deltalake")

SCHEMA = pa.schema(
    [
        pa.field("key", pa.int64(), nullable=False),
        pa.field("small", pa.int8()),
        pa.field("ratio", pa.float32()),
        pa.field("price", pa.decimal128(12, 3)),
        pa.field("name", pa.string(), metadata={"sign": "of the street"}),
        pa.field("raw", pa.binary()),
        pa.field("day", pa.date32(), nullable=False),
        pa.field("at", pa.timestamp("us", "UTC")),
        pa.field("local", pa.timestamp("us")),
        pa.field("tags", pa.list_(pa.field("element", pa.string(), nullable=False))),
        pa.field("counts", pa.map_(pa.string(), pa.int32())),
        pa.field(
            "place", pa.struct([pa.field("lat", pa.float64(), nullable=False), pa.field("x", pa.bool_())])
        ),
    ]
)
"""Every type that delta-rs writes, required and not."""


@pytest.fixture
def table(tmp_path: Path) -> Any:
    return deltalake.DeltaTable.create(
        str(tmp_path / "trips"),
        deltalake.Schema.from_arrow(SCHEMA),
        name="rides",
        description="what was ridden",
        partition_by=["day"],
        configuration={"delta.appendOnly": "false"},
    )


def schema_of(table: Any) -> Any:
    return json.loads(table.schema().to_json())


def read(table: Any) -> Any:
    return schemac.from_delta(table.table_uri.removeprefix("file://").rstrip("/")).to_spark()


def test_read_the_schema_that_was_written(table: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert read(table) == schema_of(table)
    assert main(["import", table.table_uri.removeprefix("file://").rstrip("/")]) == 0
    text = capsys.readouterr().out
    assert "name: rides\n" in text
    assert "what was ridden" in text
    assert "# not kept: PARTITIONED BY (day)\n" in text
    assert "# not kept: the table property delta.appendOnly=false\n" in text


def test_read_on_from_a_checkpoint(table: Any) -> None:
    table.create_checkpoint()
    for number in range(12):
        table.alter.add_columns(deltalake.Field(f"more_{number}", deltalake.schema.PrimitiveType("long")))
        if number == 6:
            table.create_checkpoint()
    table.alter.add_constraint({"positive": "key > 0"})
    table.cleanup_metadata()
    assert len(schema_of(table)["fields"]) == len(SCHEMA) + 12
    assert read(table) == schema_of(table)
    log = Path(table.table_uri.removeprefix("file://")) / "_delta_log"
    for commit in range(7):
        (log / f"{commit:020d}.json").unlink()
    assert read(table) == schema_of(deltalake.DeltaTable(table.table_uri))


def test_name_the_rules_of_a_table(table: Any, capsys: pytest.CaptureFixture[str]) -> None:
    table.alter.add_constraint({"positive": "key > 0"})
    configuration = deltalake.DeltaTable(table.table_uri).metadata().configuration
    assert main(["import", table.table_uri.removeprefix("file://").rstrip("/")]) == 0
    rule = configuration["delta.constraints.positive"]
    assert f"# not kept: CONSTRAINT positive CHECK ({rule})\n" in capsys.readouterr().out


def test_refuse_what_it_refuses(table: Any) -> None:
    log = Path(table.table_uri.removeprefix("file://")) / "_delta_log"
    first = log / f"{0:020d}.json"
    text = first.read_text()
    for broken in (text[: len(text) // 2], text.replace('"minReaderVersion":', '"other":')):
        first.write_text(broken)
        with pytest.raises(deltalake.exceptions.DeltaError):
            deltalake.DeltaTable(table.table_uri)
        with pytest.raises(schemac.SchemaError):
            read(table)
