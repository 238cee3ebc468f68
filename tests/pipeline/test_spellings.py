"""Numbers and timestamps in every spelling: what Python's decimal, datetime and zoneinfo say that they are, is written."""

import itertools
import json
import re
from bisect import bisect_right
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import lance
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.runner import RunReport, run
from schemac.rows.runs.identity import RunRequest

pytestmark = pytest.mark.spark

NUMBERS: dict[str, pa.DataType] = {
    "i8": pa.int8(),
    "i64": pa.int64(),
    "u32": pa.uint32(),
    "u64": pa.uint64(),
    "d5_2": pa.decimal128(5, 2),
    "d38_10": pa.decimal128(38, 10),
    "d38_0": pa.decimal128(38, 0),
    "d60_5": pa.decimal256(60, 5),
}
EXACT = Context(prec=400)


def spelled_numbers() -> list[str]:
    mantissas = ["0", "1", "12", "1.5", "10", "127", "128", "100.00", "0.015", "9007199254740993", "18446744073709551615",
                 "1234567890123456789", "1.00000000000000000001", "12345678901234567890123456789012345678901"]  # fmt: skip
    exponents = ["", "e0", "e2", "E+3", "e-2", "e-10", "e-20", "e18", "e40", "e999999999", "e-999999999"]
    return [f"{sign}{m}{e}" for sign, m, e in itertools.product(("", "-"), mantissas, exponents)] + [
        "1234567890123456789e-10",
        "-0",
        "-0.0e5",
    ]


ONLY_TEXT = [
    "+5",
    "+1.5e2",
    ".5e1",
    "5.e1",
    "5.",
    "e5",
    ".",
    "+",
    "1e",
    "1e+",
    "--1",
    "1_000",
    "0x10",
    " 1",
    "1 ",
    "NaN",
    "1,5",
    "٣",
]


def number(text: str, data_type: pa.DataType) -> Decimal | None:
    """The value that a text has in a type; None where it has none."""
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
        return None
    value = Decimal(text)
    if not value:
        return Decimal(0)
    if abs(value.adjusted()) > 300:
        return None
    if pa.types.is_integer(data_type):
        lowest = 0 if pa.types.is_unsigned_integer(data_type) else -(2 ** (data_type.bit_width - 1))
        fits = value == value.to_integral_value() and lowest <= value < lowest + 2**data_type.bit_width
        return value if fits else None
    scaled = value.scaleb(data_type.scale, EXACT)
    fits = scaled == scaled.to_integral_value(context=EXACT) and abs(scaled) < 10**data_type.precision
    return value if fits else None


def go(
    spark: SparkSession,
    folder: Path,
    schema: pa.Schema,
    cells: list[tuple[str, str]],
    suffix: str,
    **job: Any,
) -> RunReport:
    """Runs records of one cell each: the field, and its text (JSON tokens in a JSON file)."""
    names = schema.names[1:]
    lines = []
    for i, (name, text) in enumerate(cells):
        if suffix == "csv":
            lines.append(
                ",".join(
                    [
                        str(i),
                        *('"' + text.replace('"', '""') + '"' if name == label else "" for label in names),
                    ]
                )
            )
        else:
            lines.append(f'{{"row": {i}, "{name}": {text}}}')
    header = ",".join(schema.names) + "\n" if suffix == "csv" else ""
    (folder / f"in.{suffix}").write_text(header + "\n".join(lines) + "\n")
    source = {"path": str(folder / f"in.{suffix}"), "format": suffix, **job.pop("source", {})}
    given = {
        "source": source,
        "target": {"path": str(folder / f"{suffix}.lance"), "mode": "overwrite"},
        **job,
    }
    return run(Job.model_validate(given), schema, request=RunRequest(again=True), spark=spark)


def outcomes(report: RunReport, cells: list[tuple[str, str]]) -> list[Any]:
    """The value of each cell, or the rules that it breaks."""
    found: list[Any] = [None] * len(cells)
    table = lance.dataset(report.table_path).to_table()
    for name in table.schema.names[1:]:
        held = table.schema.field(name).type
        if pa.types.is_timestamp(held):
            table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(pa.int64()))
    for row in table.to_pylist():
        found[row["row"]] = row[cells[row["row"]][0]]
    if report.quarantine_path:
        bad = lance.dataset(report.quarantine_path).to_table(filter=f"run = '{report.run}'").to_pylist()
        for row in bad:
            index = int(re.match(r'(?:\{"row": )?"?(\d+)', row["raw"]).group(1))  # type: ignore[union-attr]
            found[index] = [reason["rule"] for reason in row["errors"]]
    return found


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_numbers_are_what_they_say(spark: SparkSession, tmp_path: Path, suffix: str) -> None:
    schema = pa.schema([("row", pa.int32()), *NUMBERS.items()])
    texts = spelled_numbers() + (ONLY_TEXT if suffix == "csv" else [])
    cells = [(name, text) for name in NUMBERS for text in texts]
    found = outcomes(go(spark, tmp_path, schema, cells, suffix), cells)
    wrong = []
    for (name, text), value in zip(cells, found, strict=True):
        expected = number(text, NUMBERS[name])
        if (expected is None) != isinstance(value, list) or (
            expected is not None and Decimal(value) != expected
        ):
            wrong.append((name, text, expected, value))
    assert wrong == []


@pytest.mark.parametrize("form", ["[{}]", '{{"k": {}}}', '[{{"n": {}}}]'])
def test_numbers_inside_of_others_are_what_they_say(spark: SparkSession, tmp_path: Path, form: str) -> None:
    """In lists, maps and structs of lists, each digit of the record counts as it does outside of them."""
    holders: dict[str, Any] = {
        "[{}]": pa.list_,
        '{{"k": {}}}': lambda held: pa.map_(pa.string(), held),
        '[{{"n": {}}}]': lambda held: pa.list_(pa.struct([("n", held)])),
    }
    names = NUMBERS if form == "[{}]" else {name: NUMBERS[name] for name in ("i64", "d38_10")}
    schema = pa.schema([("row", pa.int32()), *((name, holders[form](held)) for name, held in names.items())])
    texts = spelled_numbers()
    cells = [(name, form.format(text)) for name in names for text in texts]
    found = outcomes(go(spark, tmp_path, schema, cells, "json"), cells)
    wrong = []
    for (name, _), text, value in zip(cells, texts * len(names), found, strict=True):
        expected = number(text, NUMBERS[name])
        read = None if isinstance(value[0], str) else _inner(value[0])
        if read != expected:
            wrong.append((name, text, expected, value))
    assert wrong == []


def _inner(item: Any) -> Decimal:
    if isinstance(item, tuple):
        item = item[1]
    return Decimal(item["n"] if isinstance(item, dict) else item)


def test_long_number_inside_of_others_is_no_text(spark: SparkSession, tmp_path: Path) -> None:
    """A number whose digits come from the record stays a number: a field of text does not take it, and reasons show it."""
    item = pa.struct([("s", pa.string()), ("n", pa.int64()), ("x", pa.float64())])
    schema = pa.schema([("row", pa.int32()), ("l", pa.list_(item))])
    cells = [
        ("l", '[{"s": 1e5, "n": 1}]'),
        ("l", '[{"s": "1e5", "n": 1e5, "x": 1e-5}]'),
        ("l", '[{"n": 1.5e0}, {"n": "1e5"}]'),
        ("l", "[1e5]"),
    ]
    report = go(spark, tmp_path, schema, cells, "json")
    assert outcomes(report, cells)[1] == [{"s": "1e5", "n": 100000, "x": 1e-5}]
    bad = lance.dataset(report.quarantine_path).to_table().to_pylist()
    told = {row["raw"]: [(e["path"], e["rule"], e["value"]) for e in row["errors"]] for row in bad}
    assert list(told.values()) == [
        [("l[0].s", "type", "1e5")],
        [("l[0].n", "cast", "1.5e0"), ("l[1].n", "type", '"1e5"')],
        [("l[0]", "type", "1e5")],
    ]


ZONES = {"utc": "UTC", "ny": "America/New_York", "lh": "Australia/Lord_Howe", "fixed": "+05:30"}
MOMENTS: dict[str, pa.DataType] = {
    "date": pa.date32(),
    "clock": pa.timestamp("us"),
    "clock_ms": pa.timestamp("ms"),
    "utc": pa.timestamp("us", "UTC"),
    "utc_ns": pa.timestamp("ns", "UTC"),
    "ny": pa.timestamp("us", "America/New_York"),
    "lh": pa.timestamp("s", "Australia/Lord_Howe"),
    "undeclared": pa.timestamp("us", "Europe/Berlin"),
}
DECLARED = {"ny": "America/New_York", "lh": "Australia/Lord_Howe"}
DATES = ["2024-01-01", "2024-02-29", "2023-02-29", "0000-01-01", "0001-01-01", "9999-12-31", "2024-13-01", "1883-11-18",
         "2024-03-10", "2024-11-03", "2024-04-07", "2024-10-06", "1969-12-31"]  # fmt: skip
CLOCKS = ["00:00", "02:30", "01:30:00", "01:45:15.5", "23:59:59.999999", "12:00:00,25", "12:00:00.123456789", "02:15:00",
          "12:00:00.1234567", "24:00", "12:60", "12:00:60", "1:00"]  # fmt: skip
OFFSETS = [
    "",
    "Z",
    "z",
    "+00:00",
    "-05:00",
    "+05:30",
    "+0200",
    "+02",
    "-0930",
    "+14:00",
    "+2",
    "+25:00",
    " UTC",
]
CLOCK_FORM = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?(?:[.,](\d+))?([Zz]|[+-]\d\d(?::?\d\d)?)?")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def instant(shown: datetime, zone: str) -> datetime | str:
    """The instant of a clock, or why it is none."""
    read = [shown.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC) for fold in (0, 1)]
    if read[0] == read[1]:
        return read[0]
    return "zone-overlap" if all(_shows(one, zone, shown) for one in read) else "zone-gap"


def _shows(moment: datetime, zone: str, shown: datetime) -> bool:
    return moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0) == shown


def moment(text: str, name: str) -> int | date | str:
    """The count in the unit of the field since 1970, or the rule that is broken, or just `refused`."""
    held = MOMENTS[name]
    if name == "date":
        try:
            return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else "refused"
        except ValueError:
            return "refused"
    parts = CLOCK_FORM.fullmatch(text)
    if parts is None or (held.tz is None and parts[5]):
        return "refused"
    try:
        shown = datetime.fromisoformat(f"{parts[1]}T{parts[2]}{parts[3] or ':00'}")
        found: datetime | str
        if parts[5]:
            offset = parts[5].upper().replace(":", "")
            found = shown.replace(tzinfo=UTC) - timedelta(
                minutes=0
                if offset == "Z"
                else int(offset[0] + "1") * (int(offset[1:3]) * 60 + int(offset[3:5] or 0))
            )
        elif held.tz in (None, "UTC"):
            found = shown.replace(tzinfo=UTC)
        elif name in DECLARED:
            found = instant(shown, DECLARED[name])
        else:
            found = "zone"
        if isinstance(found, datetime) and held.tz not in (None, "UTC"):
            # What Lance's readers show in the field's zone.
            found.astimezone(ZoneInfo(held.tz))
            if not datetime(1, 1, 2, tzinfo=UTC) <= found <= datetime(9999, 12, 30, 23, 59, 59, tzinfo=UTC):
                return "refused"
    except (ValueError, OverflowError):
        return "refused"
    if isinstance(found, str):
        return found
    if parts[5] and abs(found - shown.replace(tzinfo=UTC)) > timedelta(hours=18):
        return "refused"
    fraction = Decimal(f"0.{parts[4] or 0}") * PER_SECOND[held.unit]
    count = ((found - EPOCH) // timedelta(seconds=1)) * PER_SECOND[held.unit] + int(fraction)
    return count if fraction == int(fraction) and abs(count) < 2**63 else "refused"


def test_moments_are_what_they_say(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("row", pa.int32()), *MOMENTS.items()])
    texts = [
        f"{day}{sep}{clock}{offset}"
        for day, clock, offset, sep in itertools.product(DATES, CLOCKS, OFFSETS, "T")
    ]
    texts += [f"2024-01-01{sep}10:00:00Z" for sep in ("t", " ", "  ", "_", "")] + [
        "2024-01-01",
        "20240101T000000Z",
    ]
    cells = [(name, text) for name in MOMENTS if name != "date" for text in texts]
    cells += [
        ("date", day)
        for day in [*DATES, "2024", "2024-1-1", " 2024-01-01", "2024-01-01 ", "12024-01-01", "-0001-01-01"]
    ]
    fields = {name: {"zone": zone} for name, zone in DECLARED.items()}
    report = go(spark, tmp_path, schema, cells, "csv", fields=fields)
    found = outcomes(report, cells)
    wrong = [
        (name, text, expected, value)
        for (name, text), value in zip(cells, found, strict=True)
        if not _is_as(value, expected := moment(text, name))
    ]
    assert wrong[:20] == []


def _is_as(value: Any, expected: Any) -> bool:
    if not isinstance(expected, str):
        return bool(value == expected)
    return (
        isinstance(value, list)
        and len(value) == 1
        and (expected == "refused" or value[0].split(":")[0] == expected)
    )


def test_undeclared_clock_says_what_to_declare(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("row", pa.int32()), ("at", pa.timestamp("us", "America/New_York"))])
    cells = [("at", "2024-07-01T12:00:00"), ("at", "2024-07-01T12:00:00Z")]
    report = go(spark, tmp_path, schema, cells, "csv")
    refused, accepted = outcomes(report, cells)
    assert accepted == int(datetime(2024, 7, 1, 12, tzinfo=UTC).timestamp()) * 10**6
    assert "`timezone`" in refused[0]
    assert "`zone`" in refused[0]
    told = go(spark, tmp_path, schema, cells, "csv", source={"timezone": "America/New_York"})
    first, _ = outcomes(told, cells)
    assert first == int(datetime(2024, 7, 1, 16, tzinfo=UTC).timestamp()) * 10**6


def test_zone_of_the_schema_counts_at_every_depth(spark: SparkSession, tmp_path: Path) -> None:
    told = {b"schemac.dev/clockZone": b'"Europe/Berlin"'}
    inner = pa.struct(
        [pa.field("at", pa.timestamp("us", "UTC"), metadata=told), pa.field("by", pa.timestamp("us", "UTC"))]
    )
    schema = pa.schema([("row", pa.int32()), ("l", pa.list_(inner)), ("m", pa.map_(pa.string(), inner))])
    value = {"at": "2024-07-01T12:00:00", "by": "2024-07-01T12:00:00"}
    cells = [("l", json.dumps([value])), ("m", json.dumps({"k": value}))]
    report = go(spark, tmp_path, schema, cells, "json", source={"timezone": "America/New_York"})
    expected = {"at": datetime(2024, 7, 1, 10, tzinfo=UTC), "by": datetime(2024, 7, 1, 16, tzinfo=UTC)}
    assert outcomes(report, cells) == [[expected], [("k", expected)]]


def transitions(zone: str, first: int, last: int) -> list[datetime]:
    """Clocks around each change of a zone's offset."""
    info = ZoneInfo(zone)
    day, end = datetime(first, 1, 1, tzinfo=UTC), datetime(last, 1, 1, tzinfo=UTC)
    found = []
    while day < end:
        after = day + timedelta(days=1)
        if day.astimezone(info).utcoffset() != after.astimezone(info).utcoffset():
            low, high = day, after
            while high - low > timedelta(minutes=1):
                middle = low + (high - low) / 2
                same = middle.astimezone(info).utcoffset() == low.astimezone(info).utcoffset()
                low, high = (middle, high) if same else (low, middle)
            shown = (
                (high + timedelta(seconds=30))
                .replace(second=0, microsecond=0)
                .astimezone(info)
                .replace(tzinfo=None, fold=0)
            )
            found += [
                shown + timedelta(minutes=minutes)
                for minutes in (-150, -90, -45, -20, -1, 0, 1, 20, 45, 90, 150)
            ]
        day = after
    return found


def _zones_agree(spark: SparkSession, folder: Path, zones: list[str], first: int, last: int) -> None:
    names = {f"z{i}": zone for i, zone in enumerate(zones)}
    schema = pa.schema([("row", pa.int32()), *((name, pa.timestamp("us", "UTC")) for name in names)])
    shown = [(name, at) for name, zone in names.items() for at in transitions(zone, first, last)]
    cells = [(name, at.isoformat()) for name, at in shown]
    found = outcomes(
        go(spark, folder, schema, cells, "csv", fields={n: {"zone": z} for n, z in names.items()}), cells
    )
    wrong = []
    for (name, at), value in zip(shown, found, strict=True):
        expected = instant(at, names[name])
        counted = expected if isinstance(expected, str) else (expected - EPOCH) // timedelta(microseconds=1)
        if not _is_as(value, counted):
            wrong.append((names[name], at, counted, value))
    assert wrong == []


def test_clocks_of_a_few_zones(spark: SparkSession, tmp_path: Path) -> None:
    _zones_agree(
        spark,
        tmp_path,
        ["America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Europe/Dublin"],
        2007,
        2013,
    )


def _is_known_alike(spark: SparkSession, zone: str, first: int, last: int) -> bool:
    """Whether Java and Python have the same offsets on all days, and around each change that Java has."""
    start, end = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (first, last))
    rules, at = spark._jvm.java.time.ZoneId.of(zone).getRules(), spark._jvm.java.time.Instant.ofEpochSecond
    changes, offsets = [start], [rules.getOffset(at(start)).getTotalSeconds()]
    while (change := rules.nextTransition(at(changes[-1]))) is not None and change.toEpochSecond() < end:
        changes.append(change.toEpochSecond())
        offsets.append(change.getOffsetAfter().getTotalSeconds())

    def is_same(second: int) -> bool:
        theirs = datetime.fromtimestamp(second, ZoneInfo(zone)).utcoffset()
        return theirs == timedelta(seconds=offsets[bisect_right(changes, second) - 1])

    around = [second for change in changes[1:] for second in (change - 1, change)]
    return all(map(is_same, [*range(start, end, 86_400), *around]))


@pytest.mark.long
def test_clocks_of_all_zones(spark: SparkSession, tmp_path: Path) -> None:
    """All that both know alike: Java's time zone data may be older than Python's, or newer."""
    of_java = set(spark._jvm.java.time.ZoneId.getAvailableZoneIds().toArray())
    zones = sorted(
        zone
        for zone in available_timezones() & of_java
        if "/" in zone and not zone.startswith(("Etc/", "posix", "right"))
    )
    assert len(zones) > 400
    others = [zone for zone in zones if not _is_known_alike(spark, zone, 1972, 2024)]
    assert len(others) < 40, others
    zones = [zone for zone in zones if zone not in others]
    for start in range(0, len(zones), 25):
        folder = tmp_path / str(start)
        folder.mkdir()
        _zones_agree(spark, folder, zones[start : start + 25], 1972, 2024)
