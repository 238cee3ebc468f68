"""No change of type makes keys of one map equal: every pair of plain types with the values at their bounds, two keys a map.

The judge is exact arithmetic, as for values outside of maps. A map is in the way where one of its keys does not fit, or where both
become equal and were not before; it has to be counted and found, and nothing may be changed.
"""

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from schemac.engines.lance.tables.apply import apply_plan
from schemac.engines.lance.tables.plan import plan
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.version_pair import locked_schema_version
from tests.conformance.boundaries import FLOATS, MISFIT, Bounded
from tests.conformance.manifest_types import member, of, option, struct
from tests.conformance.test_values import FEW, TYPES, Column, columns_of, is_same, lock_of, numbers, stored
from tests.tables.test_oracle import QUIET, locked, opened


def as_key(type_: Any) -> Any:
    return of("Map", keyType=type_["inner"], valueType=of("Int8"))


def are_equal(a: Any, b: Any) -> bool:
    return bool(a == b) or {repr(a), repr(b)} == {"nan"}


def become_equal(old: Bounded, new: Bounded, pair: tuple[Any, Any], made: tuple[Any, Any]) -> bool:
    if not are_equal(*made):
        return False
    # Of equal values only 0.0 and -0.0 are two, and floats and texts tell them apart.
    is_signed = (
        old.kind in FLOATS and pair == (0, 0) and math.copysign(1, pair[0]) != math.copysign(1, pair[1])
    )
    return not are_equal(*pair) or (is_signed and new.kind not in (*FLOATS, "String"))


def wrong_keys(old: Bounded, column: Column) -> list[int]:
    """How many keys of each map, of two, are in the way."""
    made = dict(enumerate(column.wanted))
    found = []
    for i, j in itertools.combinations(range(len(old.values)), 2):
        misfits = sum(made[k] is MISFIT for k in (i, j))
        is_twin = not misfits and become_equal(
            old, column.new, (old.values[i], old.values[j]), (made[i], made[j])
        )
        found.append(2 if is_twin else misfits)
    return found


def maps_of(old: Bounded, type_: pa.MapType, kept: list[bool]) -> pa.Array:
    """Maps of two keys each; those that are not kept are empty."""
    keys: list[Any] = []
    lengths: list[int] = []
    for pair, is_kept in zip(itertools.combinations(old.values, 2), kept, strict=True):
        keys += pair if is_kept else ()
        lengths.append(2 if is_kept else 0)
    offsets = pa.array([0, *itertools.accumulate(lengths)], pa.int32())
    items = pa.array([0] * len(keys), pa.int8())
    return pa.MapArray.from_arrays(offsets, stored(keys, type_.key_type), items, type=type_)


def write(path: str, lock: Any, old: Bounded, columns: list[Column], *, is_whole: bool) -> None:
    schema = locked_schema_version(lock, 1).lowered.to_arrow()
    arrays = [
        maps_of(old, schema.field(c.name).type, [is_whole or not n for n in wrong_keys(old, c)])
        for c in columns
    ]
    lance.write_dataset(pa.Table.from_arrays(arrays, schema=schema), path, data_storage_version="2.2")


def refused(folder: Path, old: Bounded, columns: list[Column], rounded: frozenset[str]) -> list[str]:
    """What is wrong with how keys that are in the way are refused."""
    lock, path = lock_of(old, columns, as_key), str(folder / "refused.lance")
    write(path, lock, old, columns, is_whole=True)
    report, wrong = Report(), []
    made = plan(opened(path, lock), locked_schema_version(lock, 2), report, rounded)
    assert made is not None, report.diagnostics
    is_done = apply_plan(made, report, QUIET)
    told = {d.path.partition(".")[0]: d for d in report.diagnostics}
    for column in columns:
        wanted, found = wrong_keys(old, column), told.get(column.name)
        count = int(re.search(r"but ([\d,]+) do", found.message)[1].replace(",", "")) if found else 0  # type: ignore[index]
        if count != sum(wanted):
            wrong.append(f"{column.new.manifest}: {count} told, {sum(wanted)} judged: {found}")
        elif found:
            text = re.search(r"filter=(\".*\")\) shows", found.help)
            rows = json.loads(text[1]) if text else ""
            places = [i for i, n in enumerate(wanted) if n][:20]
            if rows != f"_rowid IN ({', '.join(map(str, places))})":
                wrong.append(f"{column.new.manifest}: {rows} in place of {places}")
    assert not (is_done and told)
    return wrong


def carried_out(folder: Path, old: Bounded, columns: list[Column], rounded: frozenset[str]) -> list[str]:
    """Which keys are not as judged, after a plan that nothing stands in the way of."""
    lock, path = lock_of(old, columns, as_key), str(folder / "done.lance")
    write(path, lock, old, columns, is_whole=False)
    report, wrong = Report(), []
    made = plan(opened(path, lock), locked_schema_version(lock, 2), report, rounded)
    assert made is not None, report.diagnostics
    if not apply_plan(made, report, QUIET):
        return [d.message for d in report.diagnostics]
    table = lance.dataset(path).to_table()
    for column in columns:
        pairs = zip(itertools.combinations(column.wanted, 2), wrong_keys(old, column), strict=True)
        wanted = [key for pair, count in pairs if not count for key in pair]
        found = numbers(table[column.name].combine_chunks().keys)
        if len(found) != len(wanted):
            wrong.append(f"{column.new.manifest}: {len(found)} keys, not {len(wanted)}")
        else:
            pairs_of_keys = zip(wanted, found, strict=True)
            wrong += [str((column.new, w, f)) for w, f in pairs_of_keys if not is_same(old, column.new, w, f)]
    return wrong


def hold(old_name: str, news: list[str], folder: Path) -> list[str]:
    old, wrong = TYPES[old_name], []
    for is_rounded in (False, True):
        columns = columns_of(old, news, is_rounded=is_rounded)
        if columns:
            names = frozenset(f"{c.name}.key" for c in columns) if is_rounded else frozenset()
            wrong += refused(folder / f"{is_rounded}", old, columns, names)
            wrong += carried_out(folder / f"{is_rounded}", old, columns, names)
    return wrong


KEYS: dict[str, tuple[list[Any], list[Any], str]] = {
    "a member of a struct": (
        [struct(member("a", of(kind)), member("b", of("Int8"))) for kind in ("Float64", "Int64")],
        [
            [({"a": 0.0, "b": 1}, 0), ({"a": -0.0, "b": 2}, 0)],
            None,
            [({"a": 0.0, "b": 1}, 0), ({"a": -0.0, "b": 1}, 0)],
        ],
        "x.key.a",
    ),
    "items of lists": (
        [of("List", itemType=of("Float64")), of("List", itemType=of("Int64"))],
        [[([0.0], 0), ([1.0, 0.0], 0)], None, [([0.0, 1.0], 0), ([-0.0, 1.0], 0)]],
        "x.key.item",
    ),
    "on the way through versions": (
        [of("String"), of("Float32"), of("Int8")],
        [[("0", 0), ("1", 0)], None, [("-0", 0), ("0.0", 0)]],
        "x.key",
    ),
}


@pytest.mark.parametrize("name", KEYS)
def test_find_keys_that_become_equal_at_any_depth(name: str, tmp_path: Path) -> None:
    types, rows, path = KEYS[name]
    maps = [option(of("Map", keyType=type_, valueType=of("Int8"))) for type_ in types]
    lock, table = locked([{"fields": [member("x", type_)]} for type_ in maps]), str(tmp_path / "t.lance")
    schema = locked_schema_version(lock, 1).lowered.to_arrow()
    written = pa.Table.from_pylist([{"x": row} for row in rows], schema=schema)
    lance.write_dataset(written, table, data_storage_version="2.2")
    report, last = Report(), lock.versions[-1].number
    made = plan(opened(table, lock), locked_schema_version(lock, last), report)
    assert made is not None, report.diagnostics
    assert not apply_plan(made, report, QUIET)
    (found,) = report.diagnostics
    assert found.path == path
    assert "2 do not" in found.message
    assert "keys of one map would become equal" in found.message
    assert "_rowid IN (2)" in found.help
    lance.dataset(table).delete("_rowid = 2")
    made = plan(opened(table, lock), locked_schema_version(lock, last), Report())
    assert made is not None
    assert apply_plan(made, Report(), QUIET)
    assert [row and len(row) for row in lance.dataset(table).to_table()["x"].to_pylist()] == [2, None]


@pytest.mark.parametrize("old", FEW)
def test_make_no_keys_equal_of_a_few_types(old: str, tmp_path: Path) -> None:
    assert hold(old, list(TYPES)[::7], tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("old", TYPES)
def test_make_no_keys_equal(old: str, tmp_path: Path) -> None:
    assert hold(old, list(TYPES), tmp_path) == []
