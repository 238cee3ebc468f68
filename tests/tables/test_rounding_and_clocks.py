"""What an author says about values that do not fit: which clock readings are from, and which fields may be rounded."""

import json
import pickle
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from schemac.engines.lance.tables.apply import apply_plan
from schemac.engines.lance.tables.new_columns import Converter
from schemac.engines.lance.tables.plan import LancePlan, plan
from schemac.engines.lance.tables.steps import CheckStep
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.version_pair import locked_schema_version
from schemac.versions.identity.lock import LockedDataset
from tests.tables.test_oracle import QUIET, locked, opened

READING = {"kind": "Timestamp", "unit": "Second", "timezone": None}
IN_BERLIN = {"kind": "Timestamp", "unit": "Second", "timezone": "Europe/Berlin"}
IN_UTC = {"kind": "Timestamp", "unit": "Second"}
CLOCK = "schemac.dev/clockZone"
SUMMER_2050 = 2540376000
"""Noon of 2050-07-02 in UTC, two hours more in Berlin, where Arrow's own clocks see one."""


def versions(*types: Any) -> LockedDataset:
    return locked([{"fields": [{"name": "x", "type": {"kind": "Option", "inner": t}}]} for t in types])


def written(folder: Path, lock: LockedDataset, values: list[Any]) -> str:
    schema = locked_schema_version(lock, 1).lowered.to_arrow()
    type_ = schema.field("x").type
    is_count = pa.types.is_timestamp(type_) or pa.types.is_date(type_)
    width = pa.int32() if is_count and type_.bit_width == 32 else pa.int64()
    array = pa.array(values, width).view(type_) if is_count else pa.array(values, type_)
    path = str(folder / "t.lance")
    lance.write_dataset(pa.Table.from_arrays([array], schema=schema), path)
    return path


def planned(path: str, lock: LockedDataset, *rounded: str) -> tuple[LancePlan | None, Report]:
    report = Report()
    newest = locked_schema_version(lock, lock.versions[-1].number)
    return plan(opened(path, lock), newest, report, frozenset(rounded)), report


def after(path: str, lock: LockedDataset, *rounded: str) -> list[Any]:
    """What the values are once the plan is carried out; counts of a temporal type."""
    made, report = planned(path, lock, *rounded)
    assert made is not None, report.diagnostics
    assert apply_plan(made, report, QUIET), report.diagnostics
    array = lance.dataset(path).to_table()["x"].combine_chunks()
    if pa.types.is_temporal(array.type):
        array = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
    return list(array.to_pylist())


@pytest.mark.parametrize(("old", "new"), [(READING, IN_BERLIN), (IN_BERLIN, READING)])
def test_refuse_to_guess_a_clock(tmp_path: Path, old: Any, new: Any) -> None:
    lock = versions(old, new)
    path = written(tmp_path, lock, [SUMMER_2050])
    made, report = planned(path, lock)
    assert made is None
    (found,) = report.diagnostics
    way_out = re.search(r"`(schemac.dev/clockZone): (\S+)`", found.help)
    assert way_out is not None
    declared = {**new, "extra": {way_out[1]: way_out[2]}}
    shift = 7200 if old is IN_BERLIN else -7200
    assert after(path, versions(old, declared)) == [SUMMER_2050 + shift]


def test_know_the_clock_from_the_field_without_a_zone(tmp_path: Path) -> None:
    lock = versions(
        {**READING, "extra": {CLOCK: "Asia/Tokyo"}}, {**IN_BERLIN, "extra": {CLOCK: "Europe/Berlin"}}
    )
    path = written(tmp_path, lock, [SUMMER_2050])
    assert after(path, lock) == [SUMMER_2050 - 9 * 3600]


def test_take_readings_as_utc_where_the_instants_are(tmp_path: Path) -> None:
    lock = versions(READING, IN_UTC)
    path = written(tmp_path, lock, [SUMMER_2050])
    made, _ = planned(path, lock)
    assert made is not None
    assert "by a clock in UTC" in made.steps[0].describe()
    assert after(path, lock) == [SUMMER_2050]


def test_come_back_from_a_reading(tmp_path: Path) -> None:
    reading = {**READING, "extra": {CLOCK: "Europe/Berlin"}}
    path = written(tmp_path, versions(IN_BERLIN), [SUMMER_2050, 0])
    assert after(path, versions(IN_BERLIN, reading)) == [SUMMER_2050 + 7200, 3600]
    assert after(path, versions(IN_BERLIN, reading, IN_BERLIN)) == [SUMMER_2050, 0]


def test_see_the_day_that_the_zone_shows(tmp_path: Path) -> None:
    lock = versions(IN_BERLIN, "Date")
    path = written(tmp_path, lock, [SUMMER_2050 - 14 * 3600])
    assert after(path, lock) == [SUMMER_2050 // 86400]


def test_see_the_day_of_a_declared_clock(tmp_path: Path) -> None:
    lock = versions("Date", {**IN_UTC, "extra": {CLOCK: "Europe/Berlin"}})
    path = written(tmp_path, lock, [0])
    assert after(path, lock) == [-3600]


def test_name_the_values_and_how_to_find_them(tmp_path: Path) -> None:
    lock = versions("Float64", "Float32")
    path = written(tmp_path, lock, [1e300, 1.5, 0.1, float("nan"), -0.0])
    made, report = planned(path, lock)
    assert made is not None
    assert not apply_plan(made, report, QUIET)
    (found,) = report.diagnostics
    assert found.code == "SC422"
    assert "2 do not: 1e+300, 0.1" in found.message
    assert "--allow-rounding x" in found.help
    query = re.search(r"filter=(\".*\")\)", found.help)
    assert query is not None
    assert lance.dataset(path).to_table(filter=json.loads(query[1]))["x"].to_pylist() == [1e300, 0.1]
    assert lance.dataset(path).version == 1


def test_round_where_the_author_says_so_and_say_it_in_the_plan(tmp_path: Path) -> None:
    lock = versions("Float64", "Int32")
    path = written(tmp_path, lock, [0.5, 1.5, 2.5, -0.4])
    made, _ = planned(path, lock, "x")
    assert made is not None
    assert "rounded to the nearest Int32, as --allow-rounding x allows" in made.steps[0].describe()
    assert after(path, lock, "x") == [0, 2, 2, 0]


def test_refuse_what_no_rounding_brings_into_range(tmp_path: Path) -> None:
    lock = versions("Float64", "Float32")
    path = written(tmp_path, lock, [0.1, 1e300])
    made, report = planned(path, lock, "x")
    assert made is not None
    assert not apply_plan(made, report, QUIET)
    assert "1 does not: 1e+300" in report.diagnostics[0].message


@pytest.mark.parametrize("name", ["y", "x"])
def test_refuse_leave_that_does_nothing(tmp_path: Path, name: str) -> None:
    lock = versions("Int32", "Int64")
    path = written(tmp_path, lock, [1])
    made, report = planned(path, lock, name)
    assert made is None
    assert {d.code for d in report.diagnostics} == {"SC430"}


def test_round_inside_lists(tmp_path: Path) -> None:
    def many(scale: int) -> Any:
        return {"kind": "List", "itemType": {"kind": "Decimal", "precision": 9, "scale": scale}}

    lock = versions(many(2), many(0))
    path = written(tmp_path, lock, [[Decimal("1.50"), Decimal("2.50")]])
    made, report = planned(path, lock, "x")
    assert made is not None, report.diagnostics
    assert apply_plan(made, report, QUIET), report.diagnostics
    assert lance.dataset(path).to_table().column("x").to_pylist() == [[Decimal(2), Decimal(2)]]


def test_tell_other_processes_the_same(tmp_path: Path) -> None:
    """Spark's tasks get the recipe by pickle."""
    lock = versions({**READING, "extra": {CLOCK: "Europe/Berlin"}}, {**IN_BERLIN, "unit": "Millisecond"})
    path = written(tmp_path, lock, [SUMMER_2050])
    made, _ = planned(path, lock)
    assert made is not None
    assert isinstance(made.steps[0], CheckStep)
    (field,) = made.pair.new.dataset.columns
    recipe = pickle.loads(pickle.dumps(Converter.of(made.stages, [[field]])))
    (batch,) = lance.dataset(path).to_batches()
    assert recipe.make(batch).column(0).view(pa.int64()).to_pylist() == [(SUMMER_2050 - 7200) * 1000]


def test_round_on_the_way_through_several_versions(tmp_path: Path) -> None:
    lock = versions("Float64", "Float32", "String")
    path = written(tmp_path, lock, [0.1])
    made, report = planned(path, lock)
    assert made is not None
    assert not apply_plan(made, report, QUIET)
    (found,) = report.diagnostics
    assert "1 does not fit Float32: 0.1" in found.message
    assert "--allow-rounding x" in found.help
    assert after(path, lock, "x") == ["0.1"]


@pytest.mark.parametrize(
    ("old", "new", "value", "reason"),
    [
        (IN_BERLIN, "Date", SUMMER_2050, "only timestamps at midnight fit, read by a clock in Europe/Berlin"),
        ("String", READING, "2050-07-02T12:00:00Z", "a text with an offset is an instant"),
        ("String", IN_BERLIN, "2050-07-02T12:00:00", "a text without an offset is the reading of a clock"),
    ],
)
def test_say_what_is_wrong_with_moments(tmp_path: Path, old: Any, new: Any, value: Any, reason: str) -> None:
    lock = versions(old, new)
    path = written(tmp_path, lock, [value])
    made, report = planned(path, lock)
    assert made is not None
    assert not apply_plan(made, report, QUIET)
    assert reason in report.diagnostics[0].message
