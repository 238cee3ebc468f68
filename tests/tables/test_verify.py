"""What `verify` says of tables that somebody else made or changed."""

import json
import re
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.artifacts.targets import Emission
from schemac.cli.main import main
from schemac.engines.lance.dataset import open_dataset
from schemac.engines.spark import SPARK_LOSS
from schemac.engines.spark.artifact import key_columns, schema_properties, to_fields
from schemac.engines.spark.columns import BYTE_WIDTH, FLOAT16, LARGE_STRING, VECTOR_SIZE
from schemac.engines.spark.connector import made_table
from schemac.engines.spark.versions import KNOWN
from schemac.text.source.diagnostics import Report
from tests.conformance.manifest_types import POSITIONS, TYPES, Manifest, member, of, option, struct

DESCRIBED = {"opendatafabric.org/description": "what it's worth"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(*fields: Manifest, **extra: Any) -> schemac.Dataset:
    text = json.dumps({"name": "t", "fields": list(fields), "extra": extra})
    Path("t.yaml").write_text(text)
    (dataset,) = schemac.compile_text(text)
    return dataset


def verified(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The sentences, without the table's name."""
    capsys.readouterr()
    code = main(["verify", "t", "--table", "t.lance"])
    lines = [
        line.partition("t.lance: ")[2] for line in capsys.readouterr().out.splitlines() if "SC424" in line
    ]
    assert code == (1 if lines else 0)
    return lines


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
def test_know_the_version_of_the_files(version: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An imported table is as its manifest says, and apply writes no note of the version into it."""
    lance.write_dataset(pa.table({"a": [1]}), "t.lance", data_storage_version=version)
    assert main(["import", "t.lance", "--out", "t.yaml"]) == 0
    assert verified(capsys) == []
    if version != "2.2":
        Path("t.yaml").write_text(
            Path("t.yaml").read_text().replace(f'"{version}"', '"2.2"').replace(f"'{version}'", "'2.2'")
        )
        Path("t.lock").unlink(missing_ok=True)
        assert verified(capsys) == [f"its files have storage version {version}, but the schema specifies 2.2"]


def test_apply_writes_no_version_into_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    lance.write_dataset(pa.table({"a": pa.array([1], pa.int32())}), "t.lance", data_storage_version="2.1")
    assert main(["import", "t.lance", "--out", "t.yaml"]) == 0
    before = Path("t.yaml").read_text()
    Path("t.yaml").write_text(before.replace("Int32", "Int64"))
    assert main(["lock"]) == 0
    assert main(["apply", "t", "--table", "t.lance"]) == 0, capsys.readouterr()
    assert verified(capsys) == []
    table = lance.dataset("t.lance")
    assert table.schema.field("a").type == pa.int64()
    assert b"lance.org/storageVersion" not in (table.schema.metadata or {})


def test_a_note_of_another_version_does_not_hide_the_files(capsys: pytest.CaptureFixture[str]) -> None:
    dataset = write(member("a", of("Int32")), **{"lance.org/storageVersion": "2.1"})
    lance.write_dataset(dataset.to_arrow().empty_table(), "t.lance", data_storage_version="2.2")
    assert verified(capsys) == ["its files have storage version 2.2, but the schema specifies 2.1"]


def test_speak_in_the_words_of_the_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    write(
        member("id", of("Int64", {"lance.org/primaryKey": {"position": 1}})),
        member("when", of("Timestamp", unit="Microsecond")),
        member("fare", option(of("Decimal", DESCRIBED, precision=9, scale=2))),
        member("name", of("String")),
    )
    columns = [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("when", pa.timestamp("ms", "UTC"), nullable=True),
        pa.field("price", pa.decimal128(9, 2)),
        pa.field("name", pa.large_string(), nullable=False),
    ]
    lance.write_dataset(pa.schema(columns).empty_table(), "t.lance")
    assert verified(capsys) == [
        "`id`: primary key is missing in the table, and `true` in the schema",
        "`id`: position in the primary key is missing in the table, and `1` in the schema",
        "`when` is Timestamp(Millisecond, UTC) in the table, and Timestamp(Microsecond, UTC) in the schema",
        "`when` may be null in the table, and may not in the schema",
        "`fare` has the name `price` in the table",
        "`fare`: description is missing in the table, and `what it's worth` in the schema",
        "`name` is String (large_string) in the table, and String (string) in the schema",
    ]


MARKS: dict[str, tuple[Manifest, dict[str, str]]] = {
    "vector": (TYPES["vector"], {VECTOR_SIZE: "4"}),
    "halves": (of("List", itemType=of("Float16"), fixedLength=2), {VECTOR_SIZE: "2", FLOAT16: "true"}),
    "bytes": (TYPES["Binary of 16 bytes"], {BYTE_WIDTH: "16"}),
    "text": (TYPES["large String"], {LARGE_STRING: "true"}),
    "described": (of("Int8", DESCRIBED), {"comment": "what it's worth"}),
}


@pytest.mark.parametrize("name", MARKS)
def test_take_the_marks_of_lance_spark_for_what_the_type_says(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    type_, marks = MARKS[name]
    dataset = write(member("a", type_), **{"schemac.dev/targets": ["lance", "spark"]})
    (field,) = dataset.to_arrow()
    lance.write_dataset(pa.schema([field.with_metadata(marks)]).empty_table(), "t.lance")
    assert verified(capsys) == []
    assert main(["lock"]) == 0
    assert main(["plan", "t", "--table", "t.lance"]) == 0
    assert "nothing to do" in capsys.readouterr().out


def made(dataset: schemac.Dataset) -> pa.Schema:
    """The table that lance-spark makes of a dataset's statements."""
    compilation = dataset._compilation
    columns = to_fields(compilation.lowered, Emission(compilation.dataset, "spark", SPARK_LOSS, Report()))
    properties = schema_properties(compilation, columns)
    key = key_columns(compilation)
    return pa.schema(made_table(KNOWN, columns, properties, key))


KEPT_IN_TABLES = "view|time in ns"
"""Lance has no views, and tables have Spark's times of six digits in nanoseconds."""


def test_find_drift_where_the_losses_name_it_and_nowhere_else(capsys: pytest.CaptureFixture[str]) -> None:
    """The two are found in two ways: one beside the statement, the other in a table."""
    stood_for = 0
    for name, type_ in TYPES.items():
        for place in ("column", "optional member of an optional Struct", "item"):
            try:
                dataset = write(
                    member("id", of("Int64", {"lance.org/primaryKey": {"position": 1}})),
                    POSITIONS[place](type_),
                )
                dataset.to_lance()
                lost = [loss for loss in dataset.losses("spark") if not re.search(KEPT_IN_TABLES, loss.lost)]
            except schemac.SchemaError:
                continue
            try:
                lance.write_dataset(made(dataset).empty_table(), "t.lance", mode="overwrite")
            except (ValueError, OSError, TypeError):
                continue
            assert bool(verified(capsys)) == bool(lost), (name, place, lost)
            stood_for += 1
    assert stood_for > 120


def test_keep_the_version_where_nobody_asks_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    dataset = write(member("s", struct(member("a", of("Int8")))))
    lance.write_dataset(dataset.to_arrow().empty_table(), "t.lance", data_storage_version="2.1")
    assert verified(capsys) == []


def test_open_a_table_once_before_and_once_after_its_steps(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`apply` states the version of the very table that it has verified."""
    lance.write_dataset(pa.table({"a": pa.array([1], pa.int32())}), "t.lance")
    assert main(["import", "t.lance", "--out", "t.yaml"]) == 0
    Path("t.yaml").write_text(Path("t.yaml").read_text().replace("Int32", "Int64"))
    assert main(["lock"]) == 0
    opened = []

    def open_and_count(path: str) -> Any:
        dataset = open_dataset(path)
        opened.append(dataset.version)
        return dataset

    monkeypatch.setattr("schemac.engines.lance.tables.live_table.open_dataset", open_and_count)
    capsys.readouterr()
    assert main(["apply", "t", "--table", "t.lance"]) == 0
    newest = lance.dataset("t.lance").version
    assert opened == [1, newest]
    assert f"done: t.lance is at version {newest}, and verified" in "".join(capsys.readouterr())


def test_names_of_keys_and_values_mean_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    map_ = pa.map_(pa.field("k", pa.string(), nullable=False), pa.field("v", pa.int32()))
    lance.write_dataset(pa.table({"m": pa.array([[("a", 1)]], map_)}), "t.lance")
    assert main(["import", "t.lance", "--out", "t.yaml"]) == 0
    Path("t.yaml").write_text(Path("t.yaml").read_text().replace("Int32", "Int64"))
    Path("t.lock").unlink(missing_ok=True)
    capsys.readouterr()
    main(["verify", "t", "--table", "t.lance"])
    assert "cannot be told apart" not in capsys.readouterr().out
