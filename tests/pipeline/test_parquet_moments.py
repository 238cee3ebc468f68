"""Timestamps of Parquet files, in microseconds and in nanoseconds: one rule for both, held against the zone database."""

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.runner import RunReport, run
from schemac.rows.runs.identity import RunRequest
from tests.pipeline.test_spellings import instant

pytestmark = pytest.mark.spark

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  of any clock
SHOWN = [
    "2024-07-01T12:00:00.123456",
    "2024-03-10T02:30",
    "2024-11-03T01:30",
    "2024-03-31T02:30",
    "2024-10-27T02:30",
    "2024-10-06T02:15",
    "2024-04-07T01:45",
    "1969-12-31T23:59:59.999999",
    "2100-07-01T00:00",
]
NEW_YORK, BERLIN, TOKYO, LORD_HOWE = (
    "America/New_York",
    "Europe/Berlin",
    "Asia/Tokyo",
    "Australia/Lord_Howe",
)
PER_MICROSECOND = {"us": 1, "ns": 1000}
BELOW = {"us": 0, "ns": 789}


@dataclass(frozen=True)
class Case:
    """A field: the column it is read from, its own zone, what the schema and the pipeline file declare, and the zone that counts."""

    column: str
    own: str | None
    in_schema: str | None = None
    in_pipeline: str | None = None
    counts: str | None = None

    def field(self, name: str, unit: str) -> pa.Field:
        told = self.in_schema and {b"schemac.dev/clockZone": f'"{self.in_schema}"'.encode()}
        return pa.field(name, pa.timestamp(unit, self.own), metadata=told or None)

    def expected(self, shown: datetime, of_source: str | None) -> datetime | str:
        """The value, or the rule that is broken."""
        takes_instant = self.own is not None
        if takes_instant == (self.column == "instant"):
            return shown
        zone = self.counts or of_source or ("UTC" if self.own in (None, "UTC", "Etc/UTC") else None)
        if zone is None:
            return "zone"
        if not takes_instant:
            return shown.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)
        found = instant(shown, zone)
        return found if isinstance(found, str) else found.replace(tzinfo=None)


CASES = {
    "other": Case("clock", NEW_YORK),
    "utc": Case("clock", "UTC"),
    "greenwich": Case("clock", "Etc/UTC"),
    "kept": Case("clock", None),
    "in_schema": Case("clock", NEW_YORK, BERLIN, counts=BERLIN),
    "in_pipeline": Case("clock", "UTC", None, TOKYO, counts=TOKYO),
    "clock_first": Case("clock", "UTC", LORD_HOWE, BERLIN, counts=BERLIN),
    "same": Case("instant", NEW_YORK),
    "shown": Case("instant", None),
    "shown_in_schema": Case("instant", None, LORD_HOWE, counts=LORD_HOWE),
    "shown_in_pipeline": Case("instant", None, None, BERLIN, counts=BERLIN),
    "field_first": Case("instant", None, LORD_HOWE, BERLIN, counts=LORD_HOWE),
}
DEEP = ("other", "utc", "in_schema", "shown", "shown_in_schema", "same", "kept")


def count(shown: datetime, unit: str) -> int:
    return (shown - EPOCH) // timedelta(microseconds=1) * PER_MICROSECOND[unit] + BELOW[unit]


def write(path: Path, unit: str) -> list[datetime]:
    shown = [datetime.fromisoformat(text) for text in SHOWN]
    counts = [count(at, unit) for at in shown]
    clock, moment = (pa.array(counts, pa.timestamp(unit, zone)) for zone in (None, "UTC"))
    item = pa.struct([("clock", clock.type), ("instant", moment.type)])
    deep = [[{"clock": value, "instant": value}] for value in counts]
    table = {"clock": clock, "instant": moment, "deep": pa.array(deep, pa.list_(item))}
    pq.write_table(pa.table({"row": pa.array(range(len(counts)), pa.int32()), **table}), path)
    return shown


def go(
    spark: SparkSession, folder: Path, schema: pa.Schema, fields: dict[str, Any], zone: str | None = None
) -> RunReport:
    source = {"path": str(folder / "in.parquet"), "format": "parquet", "timezone": zone}
    target = {"path": str(folder / "t.lance"), "mode": "overwrite", "allowEmpty": True}
    job = {"source": source, "target": target, "fields": fields}
    return run(Job.model_validate(job), schema, request=RunRequest(again=True), spark=spark)


def outcomes(report: RunReport, name: str) -> dict[int, Any]:
    """For each row its count, or the rule that the field breaks; rows that another field breaks say nothing."""
    table = lance.dataset(report.table_path).to_table(columns=["row", name])
    found: dict[int, Any] = dict(zip(table["row"].to_pylist(), _counts(table[name]), strict=True))
    if report.quarantine_path is not None:
        wanted = f"run = '{report.run}'"
        for bad in lance.dataset(report.quarantine_path).to_table(filter=wanted).to_pylist():
            row = json.loads(bad["raw"])["row"]["row"]
            rules = [error["rule"].split(":")[0] for error in bad["errors"] if error["path"] == name]
            found[row] = rules[0] if rules else None
    return found


def _counts(column: Any) -> list[Any]:
    """Counts of a column; of each row the one inside, where the column is a list."""
    held = column.combine_chunks()
    while pa.types.is_nested(held.type):
        held = held.flatten()[0] if pa.types.is_struct(held.type) else held.flatten()
    counts: list[Any] = held.cast(pa.int64()).to_pylist()
    return counts


def check(report: RunReport, label: str, case: Case, unit: str, zone: str | None) -> int:
    """How many rows told something of the field."""
    told = 0
    for row, found in outcomes(report, label).items():
        expected = case.expected(datetime.fromisoformat(SHOWN[row]), zone)
        wanted = expected if isinstance(expected, str) else count(expected, unit)
        if found is None:
            assert not isinstance(expected, str), (label, SHOWN[row])
            continue
        assert found == wanted, (label, unit, zone, SHOWN[row])
        told += 1
    return told


@pytest.mark.parametrize(
    ("unit", "zone"),
    [
        ("us", NEW_YORK),
        ("ns", None),
        pytest.param("us", None, marks=pytest.mark.long),
        pytest.param("ns", NEW_YORK, marks=pytest.mark.long),
    ],
)
def test_clocks_become_instants_by_what_is_declared(
    spark: SparkSession, tmp_path: Path, unit: str, zone: str | None
) -> None:
    write(tmp_path / "in.parquet", unit)
    cases = {name: case for name, case in CASES.items() if name != "other" or zone is not None}
    schema = pa.schema([pa.field("row", pa.int32()), *(c.field(name, unit) for name, c in cases.items())])
    fields = {name: {"from": c.column, "zone": c.in_pipeline} for name, c in cases.items()}
    report = go(spark, tmp_path, schema, fields, zone)
    assert report.rows_written > 1
    for name, case in cases.items():
        assert check(report, name, case, unit, zone) > 1


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_the_same_inside_of_values(spark: SparkSession, tmp_path: Path, unit: str) -> None:
    write(tmp_path / "in.parquet", unit)
    names = {name: CASES[name] for name in DEEP}
    members = {name: pa.list_(pa.struct([c.field(c.column, unit)])) for name, c in names.items()}
    schema = pa.schema(
        [pa.field("row", pa.int32()), *(pa.field(name, held) for name, held in members.items())]
    )
    report = go(spark, tmp_path, schema, {name: {"from": "deep"} for name in names}, NEW_YORK)
    written = lance.dataset(report.table_path).to_table()
    rows = written["row"].to_pylist()
    assert len(rows) > 1
    for name, case in names.items():
        expected = [case.expected(datetime.fromisoformat(SHOWN[row]), NEW_YORK) for row in rows]
        assert _counts(written[name]) == [count(at, unit) for at in expected if not isinstance(at, str)]
    broken = {
        (row, f"{name}[0].{case.column}", rule)
        for row, text in enumerate(SHOWN)
        for name, case in names.items()
        if isinstance(rule := case.expected(datetime.fromisoformat(text), NEW_YORK), str)
    }
    bad = lance.dataset(report.quarantine_path).to_table().to_pylist()
    assert {
        (json.loads(one["raw"])["row"]["row"], error["path"], error["rule"].split(":")[0])
        for one in bad
        for error in one["errors"]
    } == broken


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_undeclared_clock_is_set_aside(spark: SparkSession, tmp_path: Path, unit: str) -> None:
    write(tmp_path / "in.parquet", unit)
    schema = pa.schema([pa.field("row", pa.int32()), CASES["other"].field("other", unit)])
    report = go(spark, tmp_path, schema, {"other": "clock"})
    assert report.rows_written == 0
    assert set(outcomes(report, "other").values()) == {"zone"}
    bad = lance.dataset(report.quarantine_path).to_table().to_pylist()
    assert all("`timezone`" in error["rule"] for one in bad for error in one["errors"])


@pytest.mark.usefixtures("generated_code")
@pytest.mark.parametrize("unit", ["us", "ns"])
@pytest.mark.parametrize("column", ["clock", "instant"])
def test_midnight_is_a_day(spark: SparkSession, tmp_path: Path, unit: str, column: str) -> None:
    """As pandas writes days; what is no midnight is none."""
    days = [date(2024, 7, 1), date(1969, 12, 31), date(2023, 2, 1)]
    counts = [(day - EPOCH.date()) // timedelta(microseconds=1) * PER_MICROSECOND[unit] for day in days]
    counts.append(counts[0] + 1)
    held = pa.timestamp(unit, None if column == "clock" else "UTC")
    table = pa.table({"row": pa.array(range(4), pa.int32()), column: pa.array(counts, held)})
    pq.write_table(table, tmp_path / "in.parquet")
    schema = pa.schema([("row", pa.int32()), ("day", pa.date32())])
    report = go(spark, tmp_path, schema, {"day": column})
    written = lance.dataset(report.table_path).to_table().to_pylist()
    assert {row["row"]: row["day"] for row in written} == dict(enumerate(days))
    assert [(reason.path, reason.rule, reason.count) for reason in report.reasons] == [
        ("day", "precision", 1)
    ]
