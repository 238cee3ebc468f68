"""A session that somebody else has made, with settings that would change values: the run gives the same rows in it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.runner import run
from schemac.pipeline.session import RUN_SETTINGS
from schemac.rows.runs.identity import RunRequest
from tests.pipeline.conftest import another_session
from tests.spark_session import GENERATED_CODE

pytestmark = pytest.mark.spark

ODD = {
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.caseSensitive": "false",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.legacy.sizeOfNull": "true",
    "spark.sql.variable.substitute": "true",
    "spark.sql.jsonGenerator.ignoreNullFields": "false",
    "spark.sql.json.enableExactStringParsing": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.variant.allowDuplicateKeys": "true",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "false",
    "spark.sql.parquet.binaryAsString": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.optimizer.collapseProjectAlwaysInline": "true",
    "spark.sql.retainGroupColumns": "false",
    # As Spark has them; the session of the tests compiles nothing.
    **GENERATED_CODE,
}
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), False),
        pa.field("at", pa.timestamp("us", "UTC")),
        pa.field("clock", pa.timestamp("us")),
        pa.field("day", pa.date32()),
        pa.field("price", pa.decimal128(38, 10)),
        pa.field("f", pa.float32()),
        pa.field("b", pa.bool_()),
        pa.field("s", pa.string()),
        pa.field("bin", pa.binary()),
        pa.field("m", pa.map_(pa.string(), pa.int32())),
        pa.field("l", pa.list_(pa.struct([pa.field("x", pa.int8()), pa.field("X", pa.string())]))),
    ]
)
RECORDS: list[dict[str, Any]] = [
    {"id": 1, "at": "2024-07-01T12:00:00Z", "clock": "2024-07-01T12:00:00", "day": "2024-07-01", "price": 1.10, "f": 0.1,
     "b": True, "s": "a\\b'c\"d", "bin": "AAE=", "m": {"k": 1, "K": None}, "l": [{"x": 1, "X": "é"}, None]},
    {"id": 2, "at": "2024-03-10T02:30:00", "clock": "2024-03-10T02:30:00", "day": "1582-10-10"},
    {"id": 3, "day": "2023-02-29"},
    {"id": 4, "m": {"k": 1}, "l": []},
    {"id": 300000000000, "f": 1e39},
    {"id": 6, "s": None, "price": 0.00000000001},
    {"id": None},
]  # fmt: skip


@pytest.fixture
def odd_session(spark: SparkSession) -> Iterator[SparkSession]:
    with another_session(spark) as session:
        for name, text in ODD.items():
            session.conf.set(name, text)
        yield session


def outcome(folder: Path, spark: SparkSession, source: dict[str, Any]) -> tuple[Any, Any, Any]:
    target = {"path": str(folder / "t.lance"), "mode": "overwrite"}
    fields = {"clock": {"from": "clock"}}
    report = run(
        Job.model_validate({"source": source, "target": target, "fields": fields}),
        SCHEMA,
        request=RunRequest(again=True),
        spark=spark,
    )
    rows = lance.dataset(report.table_path).to_table().to_pylist()
    bad: list[Any] = []
    if report.quarantine_path:
        bad = lance.dataset(report.quarantine_path).to_table(filter=f"run = '{report.run}'").to_pylist()
    reasons = sorted((row["raw"], json.dumps(row["errors"])) for row in bad)
    return sorted(map(str, rows)), reasons, report.rows_in


def sources(folder: Path, spark: SparkSession) -> Iterator[dict[str, Any]]:
    (folder / "in.json").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    yield {"path": str(folder / "in.json"), "format": "json"}
    columns = [name for name in SCHEMA.names if name not in ("m", "l")]
    header = ",".join(SCHEMA.names) + "\n"
    body = "".join(
        ",".join(
            json.dumps(record.get(name)).replace('"', "").replace("null", "") if name in columns else ""
            for name in SCHEMA.names
        )
        + "\n"
        for record in RECORDS
        if "\\" not in str(record)
    )
    (folder / "in.csv").write_text(header + body)
    yield {"path": str(folder / "in.csv"), "format": "csv"}
    table = pa.Table.from_pylist([{"id": 1, "at": 1720000000000000, "clock": 1720000000000000, "day": 19000, "s": "x", "bin": b"\0"},
                                  {"id": 2, "at": -62135596800000001, "clock": None, "day": -800000}],
                                 schema=pa.schema([("id", pa.int64()), ("at", pa.int64()), ("clock", pa.int64()), ("day", pa.int32()),
                                                   ("s", pa.string()), ("bin", pa.binary())]))  # fmt: skip
    for name in ("at", "clock", "day", "price", "f", "b", "m", "l"):
        held = SCHEMA.field(name).type
        if name in table.schema.names:
            table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(held))
        else:
            table = table.append_column(name, pa.nulls(len(table), held))
    pq.write_table(table, folder / "in.parquet")
    yield {"path": str(folder / "in.parquet"), "format": "parquet"}


@pytest.mark.parametrize(
    "forms",
    [("json",), pytest.param(("json", "csv", "parquet"), marks=pytest.mark.long)],
    ids=["json", "all"],
)
def test_values_are_the_same_in_a_session_in_new_york(
    spark: SparkSession, odd_session: SparkSession, tmp_path: Path, forms: tuple[str, ...]
) -> None:
    before = {name: odd_session.conf.get(name, None) for name in {**ODD, **RUN_SETTINGS}}
    for source in sources(tmp_path, spark):
        if source["format"] in forms:
            assert outcome(tmp_path, odd_session, source) == outcome(tmp_path, spark, source), source
    assert {name: odd_session.conf.get(name, None) for name in before} == before


def switches(spark: SparkSession) -> dict[str, str]:
    """Every switch that Spark has for a session, and its other position."""
    entries = spark._jvm.org.apache.spark.internal.config.ConfigEntry.listAllEntries()
    known = {entry.key(): entry.defaultValueString() for entry in entries.toArray()}
    other = {"true": "false", "false": "true"}
    return {
        key: other[text]
        for key, text in sorted(known.items())
        if text in other and spark.conf.isModifiable(key)
    }


def test_spark_tells_its_switches(spark: SparkSession) -> None:
    found = switches(spark)
    assert len(found) > 300
    assert found.keys() >= {key for key, text in ODD.items() if text in ("true", "false")}


class Switched:
    """What runs give while some switches are in their other position."""

    def __init__(self, session: SparkSession, folder: Path, source: dict[str, Any], right: Any) -> None:
        self._session, self._folder, self._source, self._right = session, folder, source, right
        self._positions = switches(session)

    def wrong(self, keys: list[str]) -> list[str]:
        """The switches among these that change values. One that stops the run changes none."""
        if (is_right := self._is_right(keys)) or len(keys) == 1:
            return keys if is_right is False else []
        half = len(keys) // 2
        parts = self.wrong(keys[:half]) + self.wrong(keys[half:])
        return parts or (keys if is_right is False else [])

    def _is_right(self, keys: list[str]) -> bool | None:
        """None where the run stops."""
        for key in keys:
            self._session.conf.set(key, self._positions[key])
        try:
            return bool(outcome(self._folder, self._session, self._source) == self._right)
        except Exception as error:  # noqa: BLE001  whatever Spark raises
            if len(keys) == 1:
                print(*keys, str(error)[:100])
            return None
        finally:
            for key in keys:
                self._session.conf.unset(key)


@pytest.mark.long
def test_no_setting_of_spark_changes_values(
    spark: SparkSession, odd_session: SparkSession, tmp_path: Path
) -> None:
    """Each switch the other way round: many at once, and fewer and fewer where they stop the run or change values."""
    for key in ODD:
        odd_session.conf.unset(key)
    for source in sources(tmp_path, spark):
        switched = Switched(odd_session, tmp_path, source, outcome(tmp_path, spark, source))
        assert switched.wrong(list(switches(spark))) == [], source


VARIABLES = ("${env:HOME}", "a${env:PATH}", "${system:tmp}b", "${env:USER}")
FOLDER = "${spark.app.id}"  # of files with a colon in their names Spark knows nothing


@pytest.mark.parametrize("form", ["json", "csv", "parquet"])
def test_what_looks_like_a_variable_is_a_text(odd_session: SparkSession, tmp_path: Path, form: str) -> None:
    """Spark would put the variables of its process in the place of names and texts in SQL."""
    folder = tmp_path / "in" / f"{FOLDER}={FOLDER}"
    folder.mkdir(parents=True)
    for i, names in enumerate((VARIABLES, VARIABLES[::-1])):
        row, file = dict.fromkeys(names, f"${{env:HOME}}{i}"), folder / f"{FOLDER}{i}.{form}"
        lines = {"json": [json.dumps(row)], "csv": [",".join(row), ",".join(row.values())]}
        if form == "parquet":
            pq.write_table(pa.table({label: [text] for label, text in row.items()}), file)
        else:
            file.write_text("\n".join(lines[form]) + "\n")
    labels = [*VARIABLES, "x", "folder"]
    schema = pa.schema([pa.field(label, pa.string()) for label in labels])
    job = {
        "source": {"path": str(tmp_path / "in"), "format": form},
        "target": {"path": str(tmp_path / "${env:HOME}.lance")},
        "fields": {"x": f"`{VARIABLES[0]}`", "folder": FOLDER},
        "nullValues": ["${env:HOME}1"],
    }
    report = run(Job.model_validate(job), schema, spark=odd_session)
    assert report.differences == ()
    rows = lance.dataset(str(tmp_path / "${env:HOME}.lance")).to_table().to_pylist()
    first, second = sorted(rows, key=str)
    assert first == dict.fromkeys([*VARIABLES, "x"], "${env:HOME}0") | {"folder": FOLDER}
    assert second == dict.fromkeys([*VARIABLES, "x"], None) | {"folder": FOLDER}


def test_settings_of_the_pipeline_file_count_in_any_session(
    spark: SparkSession, odd_session: SparkSession, tmp_path: Path
) -> None:
    from schemac.pipeline.session import settings_of_a_run

    key = "spark.sql.parquet.binaryAsString"
    before = odd_session.conf.get(key)
    settings = {key: "true", "spark.driver.memory": "2g", "spark.sql.session.timeZone": "Asia/Tokyo"}
    given = {"source": {"path": "x"}, "target": {"path": "y"}, "spark": {"settings": settings}}
    with settings_of_a_run(odd_session, Job.model_validate(given)):
        assert odd_session.conf.get(key) == "true"
        assert odd_session.conf.get("spark.sql.session.timeZone") == "UTC"
    assert odd_session.conf.get(key) == before
