"""Timestamps over several versions: which clock their readings are from where not every version says it.

The oracle is every history of a few types: what goes step by step has to end the same at once, and no history whose newest
version declares a clock may be a dead end for a table of an earlier one.
"""

import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from schemac.engines.lance.tables.live_table import LanceTable
from schemac.engines.lance.tables.new_columns import Converter
from schemac.engines.lance.tables.plan import plan
from schemac.engines.lance.tables.row_checks import RunningCheck
from schemac.engines.lance.tables.steps import CheckStep
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.version_pair import locked_schema_version
from schemac.versions.identity.lock import LockedDataset
from tests.tables.test_histories import moved_on
from tests.tables.test_oracle import locked
from tests.tables.test_rounding_and_clocks import (
    CLOCK,
    IN_BERLIN,
    IN_UTC,
    READING,
    SUMMER_2050,
    after,
    planned,
    versions,
    written,
)

TWICE = 2550704400 + 1800
"""Half past two of 2050-10-30 in Berlin, an hour that its clocks show twice."""


def by(type_: Any, zone: str) -> Any:
    """A type with a declared clock."""
    return {**type_, "extra": {CLOCK: zone}}


BY_BERLIN = by(IN_BERLIN, "Europe/Berlin")
TYPES: dict[str, Any] = {
    "reading": READING,
    "reading by Tokyo": by(READING, "Asia/Tokyo"),
    "reading in milliseconds": {**READING, "unit": "Millisecond"},
    "Berlin": IN_BERLIN,
    "Berlin by Tokyo": by(IN_BERLIN, "Asia/Tokyo"),
    "UTC": IN_UTC,
    "Date": "Date",
    "String": "String",
}


def arrow_type(type_: Any) -> pa.DataType:
    return locked_schema_version(versions(type_), 1).lowered.to_arrow().field("x").type


def values_for(type_: pa.DataType) -> pa.Array:
    if pa.types.is_date(type_):
        return pa.array([0, 18000], pa.int32()).view(type_)
    if pa.types.is_string(type_):
        return pa.array(["2050-07-02T12:00:00"])
    count = 1000 if type_.unit == "ms" else 1
    return pa.array([SUMMER_2050 * count, 0], pa.int64()).view(type_)


def carried(values: pa.Array, lock: LockedDataset, start: int, end: int) -> pa.Array | str:
    """What the values of a table at one version are at another, or why there is no way."""
    report = Report()
    made = plan(
        LanceTable.imagined(locked_schema_version(lock, start)), locked_schema_version(lock, end), report
    )
    if made is not None:
        for check in made.of(CheckStep):
            question = RunningCheck(check, made)
            rows = pa.array(range(len(values)), pa.uint64())
            question.add_batch(pa.RecordBatch.from_arrays([values, rows], names=["x", "_rowid"]))
            question.report("t", "", report)
    if made is None or report.has_errors:
        return "; ".join(d.message for d in report.diagnostics)
    recipe = Converter.of(made.stages, [[column] for column in made.pair.new.dataset.columns])
    return recipe.make(pa.RecordBatch.from_arrays([values], names=["x"])).column(0)


def hold(names: Sequence[str]) -> int:
    """All ways through one history; how many of them can be gone at once and in steps."""
    types = [TYPES[name] for name in names]
    # Versions that are equal are one.
    types = [t for i, t in enumerate(types) if not i or t != types[i - 1]]
    lock, count = versions(*types), 0
    for start, end in itertools.combinations(range(1, len(types) + 1), 2):
        values = values_for(arrow_type(types[start - 1]))
        at_once = carried(values, lock, start, end)
        is_declared = CLOCK in types[end - 1].get("extra", {}) if isinstance(types[end - 1], dict) else False
        assert not (is_declared and "nobody has said" in str(at_once)), (names, start, end)
        stepped: pa.Array | str = values
        for number in range(start, end):
            if not isinstance(stepped, str):
                stepped = carried(stepped, lock, number, number + 1)
        if not isinstance(stepped, str):
            assert not isinstance(at_once, str), (names, start, end, at_once)
            assert at_once.equals(stepped), (names, start, end, at_once, stepped)
            count += end - start > 1
    return count


def test_end_at_once_where_steps_end() -> None:
    chance = random.Random(7)
    assert sum(hold(chance.choices(list(TYPES), k=4)) for _ in range(25)) > 20


@pytest.mark.long
def test_end_at_once_where_steps_end_in_every_history() -> None:
    assert sum(hold(names) for names in itertools.product(TYPES, repeat=3)) == 241
    chance = random.Random()
    assert sum(hold(chance.choices(list(TYPES), k=5)) for _ in range(1500)) > 1000


DEAD_ENDS: dict[str, tuple[list[Any], list[int], list[int]]] = {
    "there and back": ([IN_BERLIN, READING, BY_BERLIN], [SUMMER_2050, TWICE], [SUMMER_2050, TWICE]),
    "there and back, and nobody says it": (
        [IN_BERLIN, READING, IN_BERLIN],
        [SUMMER_2050, TWICE],
        [SUMMER_2050, TWICE],
    ),
    "said in the end": ([IN_BERLIN, READING, by(READING, "Asia/Tokyo")], [0], [9 * 3600]),
    "said in the end, of another unit on the way": (
        [by(READING, "Asia/Tokyo"), READING, {**IN_BERLIN, "unit": "Millisecond"}, by(IN_BERLIN, "UTC")],
        [0],
        [0],
    ),
    "corrected": ([IN_BERLIN, READING, by(READING, "Asia/Tokyo"), by(READING, "UTC")], [0], [9 * 3600]),
    "declared, then taken out of the clock": ([READING, by(READING, "Asia/Tokyo"), IN_UTC], [0], [-9 * 3600]),
    "no more declared": ([by(READING, "Asia/Tokyo"), READING, IN_BERLIN], [0], [-9 * 3600]),
    "no more declared, and UTC": ([by(READING, "Asia/Tokyo"), READING, IN_UTC], [0], [0]),
    "a day of readings": (
        [IN_BERLIN, READING, "Date", by(READING, "Europe/Berlin"), "Date"],
        [SUMMER_2050 - 14 * 3600],
        [SUMMER_2050 // 86400],
    ),
}


@pytest.mark.parametrize("name", DEAD_ENDS)
def test_lead_a_table_to_the_newest_version(name: str, tmp_path: Path) -> None:
    types, values, wanted = DEAD_ENDS[name]
    lock = versions(*types)
    assert after(written(tmp_path, lock, values), lock) == wanted


def test_lead_through_versions_that_another_field_stops_at(tmp_path: Path) -> None:
    """Deep in a list of structs, beside a field that goes from type to type."""

    def version(moment: Any, other: str) -> dict[str, Any]:
        bare = {key: value for key, value in moment.items() if key != "extra"}
        at = {"name": "at", "type": bare, "extra": moment.get("extra", {})}
        members = [at, {"name": "n", "type": other}]
        items = {"kind": "List", "itemType": {"kind": "Struct", "fields": members}}
        return {"fields": [{"name": "x", "type": items}]}

    lock = locked([version(IN_BERLIN, "Bool"), version(READING, "Int8"), version(BY_BERLIN, "String")])
    item = pa.struct(
        [
            pa.field("at", pa.timestamp("s", "Europe/Berlin"), nullable=False),
            pa.field("n", pa.bool_(), nullable=False),
        ]
    )
    path = str(tmp_path / "t.lance")
    column = pa.field("x", pa.list_(pa.field("item", item, nullable=False)), nullable=False)
    lance.write_dataset(pa.Table.from_pylist([{"x": [{"at": TWICE, "n": True}]}], pa.schema([column])), path)
    assert moved_on(path, lock, 3) == ()
    (found,) = lance.dataset(path).to_table()["x"].to_pylist()[0]
    assert (found["at"].timestamp(), found["n"]) == (TWICE, "1")


def test_say_how_to_declare_a_clock_that_the_field_has_no_more(tmp_path: Path) -> None:
    types = [IN_BERLIN, READING, "Date"]
    path = written(tmp_path, versions(*types), [SUMMER_2050 - 14 * 3600])
    made, report = planned(path, versions(*types))
    assert made is None
    (found,) = report.diagnostics
    assert "lock a version in which x is Timestamp(Second, no zone) again" in found.help
    types += [by(READING, "Europe/Berlin"), "Date"]
    assert after(path, versions(*types)) == [SUMMER_2050 // 86400]
