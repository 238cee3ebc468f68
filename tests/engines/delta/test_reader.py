"""Logs of Delta tables: commits and checkpoints, ids of mapped columns and their history, and logs that are broken."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import schemac
from schemac.cli.main import main

Json = dict[str, Any]
LOG = "_delta_log"


def field(name: str, type_: Any, metadata: Json | None = None, *, required: bool = False) -> Json:
    return {"name": name, "type": type_, "nullable": not required, "metadata": metadata or {}}


def mapped(name: str, type_: Any, id: int, physical: str, more: Json | None = None) -> Json:
    keys = {"delta.columnMapping.id": id, "delta.columnMapping.physicalName": physical, **(more or {})}
    return {"name": name, "type": type_, "nullable": True, "metadata": keys}


def struct(*fields: Json) -> Json:
    return {"type": "struct", "fields": list(fields)}


def protocol(reader: int = 1, *features: str) -> Json:
    more = {"readerFeatures": list(features)} if features else {}
    return {"protocol": {"minReaderVersion": reader, "minWriterVersion": 2, **more}}


def metadata(
    schema: Json, configuration: dict[str, str] | None = None, *, partitions: tuple[str, ...] = ()
) -> Json:
    return {
        "metaData": {
            "id": "x",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps(schema),
            "partitionColumns": list(partitions),
            "configuration": configuration or {},
        }
    }


def add(path: str = "part-0.parquet") -> Json:
    stats = '{"numRecords":1,"text":"\\"metaData\\""}'
    return {"add": {"path": path, "partitionValues": {}, "size": 1, "modificationTime": 0, "stats": stats}}


def commit(table: Path, version: int, *actions: Json) -> Path:
    folder = table / LOG
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{version:020d}.json"
    file.write_text("".join(f"{json.dumps(action)}\n" for action in actions))
    return file


def checkpoint(table: Path, name: str, *actions: Json) -> None:
    """As writers have it: a row an action, with maps as pairs."""
    types = {
        "metaData": pa.struct(
            [
                ("schemaString", pa.string()),
                ("partitionColumns", pa.list_(pa.string())),
                ("configuration", pa.map_(pa.string(), pa.string())),
            ]
        ),
        "protocol": pa.struct([("minReaderVersion", pa.int32()), ("readerFeatures", pa.list_(pa.string()))]),
        "add": pa.struct([("path", pa.string())]),
    }
    rows = []
    for action in actions:
        ((key, value),) = action.items()
        kept = {name: value.get(name) for name in types[key].names}
        if "configuration" in kept:
            kept["configuration"] = list(kept["configuration"].items())
        rows.append({key: kept})
    columns = {key: pa.array([row.get(key) for row in rows], type_) for key, type_ in types.items()}
    (table / LOG).mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), table / LOG / name)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("trips")


SIMPLE = struct(field("id", "long", required=True), field("at", "timestamp_ntz"), field("day", "date"))


def text_of(source: str, *arguments: str) -> str:
    Path("m.yaml").unlink(missing_ok=True)
    assert main(["import", source, "--out", "m.yaml", *arguments]) == 0
    assert main(["check", "m.yaml"]) == 0
    return Path("m.yaml").read_text()


def refusal(source: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["import", source, "--out", "m.yaml", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert found["code"] == "SC552"
    assert not Path("m.yaml").exists()
    return str(found["message"])


def test_read_the_newest_schema(table: Path) -> None:
    commit(table, 0, protocol(), metadata(struct(field("old", "string"))), add())
    commit(table, 1, add())
    commit(table, 2, metadata(SIMPLE, {"delta.constraints.c": "id > 0"}, partitions=("day",)), add())
    for source in ("trips", f"trips/{LOG}"):
        assert text_of(source) == (
            "# from version 2 of a Delta table\n"
            "# not kept: PARTITIONED BY (day)\n"
            "# not kept: CONSTRAINT c CHECK (id > 0)\n"
            "name: trips\n"
            "fields:\n"
            "  - {name: id, type: Int64}\n"
            "  - name: at\n"
            "    type:\n"
            "      kind: Option\n"
            "      inner: {kind: Timestamp, unit: Microsecond, timezone: null}\n"
            "  - {name: day, type: {kind: Option, inner: Date}}\n"
        )
    assert schemac.from_source("trips").to_spark() == schemac.from_delta("trips").to_spark() == SIMPLE


NAMES = {
    "classic": ("00000000000000000003.checkpoint.parquet",),
    "of version 2": ("00000000000000000003.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet",),
    "in parts": tuple(f"00000000000000000003.checkpoint.000000000{n}.0000000002.parquet" for n in (1, 2)),
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("has_commit", [True, False])
def test_begin_with_a_checkpoint(names: tuple[str, ...], has_commit: bool, table: Path) -> None:
    actions = [add(), protocol(), metadata(SIMPLE)]
    for part, name in enumerate(names):
        checkpoint(table, name, *actions[part :: len(names)])
    if has_commit:
        commit(table, 3, add())
        commit(table, 4, add())
    assert schemac.from_source("trips").to_spark() == SIMPLE


def test_begin_with_a_checkpoint_as_json(table: Path) -> None:
    file = commit(table, 3, protocol(), metadata(SIMPLE))
    file.rename(file.with_name("00000000000000000003.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"))
    assert schemac.from_source("trips").to_spark() == SIMPLE


def test_keep_what_columns_have_as_comments(table: Path) -> None:
    rules = struct(
        field("id", "long", {"delta.identity.start": 5, "delta.identity.step": 2, "delta.identity.highWaterMark": 9}),
        field("day", "date", {"delta.generationExpression": "CAST(at AS DATE)", "comment": "of the trip"}),
        field("low", "integer", {"delta.invariants": '{"expression": {"expression": "low > 3"}}'}),
        field("d", "integer", {"CURRENT_DEFAULT": "7", "EXISTS_DEFAULT": "6"}),
        field("w", "long", {"delta.typeChanges": [{"fromType": "integer", "toType": "long"}]}),
        field("c", "string", {"__CHAR_VARCHAR_TYPE_STRING": "varchar(5)"}),
        field("own", "long", {"note": "mine"}),
    )  # fmt: skip
    commit(table, 0, protocol(), metadata(rules))
    text = text_of("trips")
    for line, name in (
        ("not kept: GENERATED ALWAYS AS IDENTITY (START WITH 5 INCREMENT BY 2), reached 9", "id"),
        ("not kept: GENERATED ALWAYS AS (CAST(at AS DATE))", "day"),
        ("not kept: CHECK (low > 3)", "low"),
        ("not kept: DEFAULT 7\n  # not kept: existing rows without it have 6", "d"),
        ("not kept: files written earlier may have integer in place of long", "w"),
    ):
        before, _, after = text.partition(f"  # {line}\n")
        assert after.startswith((f"  - {{name: {name},", f"  - name: {name}\n")), (line, before)
    (dataset,) = schemac.compile_file("m.yaml")
    fields = {f["name"]: f for f in dataset.to_spark()["fields"]}
    assert fields["c"]["type"] == "varchar(5)"
    assert fields["own"]["metadata"] == {"note": "mine"}
    assert fields["day"]["metadata"]["comment"] == "of the trip"


ITEMS = {"type": "array", "elementType": struct(mapped("x", "long", 3, "col-x")), "containsNull": True}
MAPPING = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "9"}


def test_take_the_ids_of_mapped_columns_and_their_history(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(table, 0, protocol(2), metadata(struct(field("a", "long"))))
    commit(table, 1, metadata(struct(mapped("a", "long", 4, "a"), mapped("l", ITEMS, 2, "col-l")), MAPPING))
    commit(table, 2, metadata(struct(mapped("b", "long", 4, "a"), mapped("l", ITEMS, 2, "col-l")), MAPPING))
    commit(
        table, 3, metadata(struct(mapped("l", ITEMS, 2, "col-l"), mapped("n", "long", 9, "col-n")), MAPPING)
    )
    text = text_of("trips")
    assert "  # not kept: its name in data files, col-n\n" in text
    lock = Path("m.lock").read_text()
    assert [line.split()[1] for line in lock.splitlines() if line.startswith("version")] == ["1", "2", "3"]
    ids = {line.split()[1]: line for line in lock.splitlines() if line.startswith("field")}
    assert set(ids) == {"2", "3", "4", "9", "10"}, lock  # the item of the list has none in Delta
    capsys.readouterr()
    assert main(["lock", "--check", "m.yaml"]) == 0
    assert main(["diff", "lock:1", "m.yaml"]) == 0
    shown = capsys.readouterr().out
    assert "field-dropped" in shown
    assert "field-added" in shown
    assert "renamed" not in shown


def test_take_the_ids_of_items(table: Path) -> None:
    nested = {"delta.columnMapping.nested.ids": {"col-m.key": 7, "col-m.value": 8, "col-m.value.element": 9}}
    inner = {"type": "array", "elementType": "long", "containsNull": True}
    map_ = {"type": "map", "keyType": "string", "valueType": inner, "valueContainsNull": True}
    commit(table, 0, protocol(2), metadata(struct(mapped("m", map_, 2, "col-m", nested)), MAPPING))
    text_of("trips")
    lines = [line.split() for line in Path("m.lock").read_text().splitlines() if line.startswith("field")]
    assert sorted(int(line[1]) for line in lines) == [2, 7, 8, 9]


def test_number_nothing_where_an_id_is_missing(table: Path) -> None:
    commit(table, 0, protocol(2), metadata(struct(mapped("a", "long", 1, "a"), field("b", "long")), MAPPING))
    text_of("trips")
    assert not Path("m.lock").exists()


BROKEN: dict[str, tuple[str, str]] = {
    "cut off": ('{"metaData":{"id":"x","sch', "line 1 is not a complete JSON object"),
    "no JSON": ('{"metaData": nothing}', "line 1 is not valid JSON"),
    "half a character": ('{"metaData":{"name":"\\ud800"}}', "line 1 is not valid JSON"),
    "no object": ('{"metaData": 3}', "`metaData` is not an object"),
    "a wrong configuration": (
        '{"metaData":{"schemaString":"{}","configuration":3}}',
        "`configuration` or `partitionColumns` is malformed",
    ),
    "no schema": ('{"metaData":{}}', "it has no `metaData` with a `schemaString`"),
    "no metadata": ('{"commitInfo":{}}', "it has no `metaData` with a `schemaString`"),
    "a wrong protocol": ('{"protocol":{"minReaderVersion":"1"}}', "no number `minReaderVersion`"),
    "a schema that is none": ('{"metaData":{"schemaString":"[]"}}', "it is not a StructType"),
    "a schema cut off": (
        '{"metaData":{"schemaString":"{"}}',
        "the schema of its version 0 is not valid JSON",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_refuse_a_broken_log(case: str, table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line, reason = BROKEN[case]
    commit(table, 0, protocol()).write_text(f"{line}\n{json.dumps(protocol())}\n")
    assert reason in refusal("trips", capsys)


def test_refuse_what_readers_have_to_know(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(table, 0, protocol(4), metadata(SIMPLE))
    assert "the table needs reader version 4" in refusal("trips", capsys)
    commit(table, 0, protocol(3, "columnMapping", "frobnication"), metadata(SIMPLE))
    assert "features of its readers that are not known: frobnication" in refusal("trips", capsys)
    commit(table, 1, protocol(3, "columnMapping"))
    assert schemac.from_source("trips").to_spark() == SIMPLE


def test_refuse_a_log_with_gaps(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(table, 0, protocol(), metadata(SIMPLE))
    commit(table, 2, add())
    assert "the commit 00000000000000000001.json is missing" in refusal("trips", capsys)
    (table / LOG / "00000000000000000001.checkpoint.parquet").write_bytes(b"PAR1 and no more")
    assert "00000000000000000001.checkpoint.parquet: it is no checkpoint" in refusal("trips", capsys)
    (table / LOG / "00000000000000000001.checkpoint.parquet").unlink()
    checkpoint(table, "00000000000000000001.checkpoint.0000000001.0000000002.parquet", protocol())
    assert "is missing" in refusal("trips", capsys)


def test_refuse_an_empty_log(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (table / LOG).mkdir(parents=True)
    assert "it has neither a commit nor a checkpoint" in refusal("trips", capsys)


def test_point_from_a_commit_to_its_table(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(table, 0, protocol(), metadata(SIMPLE))
    assert main(["import", f"trips/{LOG}/00000000000000000000.json", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert found["code"] == "SC553"
    assert "import the table's folder" in found["help"]
