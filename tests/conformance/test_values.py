"""No value changes: every pair of plain types with the values at their bounds, held against exact arithmetic.

A table has one column a new type, all with the values of one old type. What the judge calls a misfit has to be refused, by
name, number and a filter that finds just these rows, and nothing may be changed; what fits has to be the judged value; and
where rounding is allowed, it is the nearest value.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import lance
import numpy as np
import pyarrow as pa
import pytest

from schemac.engines.lance.tables.apply import apply_plan
from schemac.engines.lance.tables.live_table import LanceTable
from schemac.engines.lance.tables.plan import plan
from schemac.language.logical.model import Castability
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.castability import can_be_rounded, castability
from schemac.versions.evolution.version_pair import locked_schema_version
from schemac.versions.identity.lock import LockedDataset
from tests.conformance.boundaries import BERLIN, MISFIT, PER_SECOND, Bounded, all_types, judged
from tests.conformance.manifest_types import of, option
from tests.tables.test_oracle import QUIET, locked, opened

TYPES = all_types()
FEW = ("Int64", "Float64", "Decimal(20, 2)", "Timestamp(Millisecond, Europe/Berlin)", "String")
"""One of each family for the run in short; from these to all."""


@dataclass
class Column:
    """One pair of types."""

    name: str
    new: Bounded
    clock: str | None
    wanted: list[Any]
    """What the judge says, a value each."""

    @property
    def misfits(self) -> int:
        return sum(value is MISFIT for value in self.wanted)


Wrap = Callable[[Any], Any]
"""Puts a type into another."""


def plain(type_: Any) -> Any:
    return type_


def in_list(type_: Any) -> Any:
    return of("List", itemType=type_)


def in_vector(type_: Any) -> Any:
    return of("List", itemType=type_, fixedLength=1)


def clock_for(old: Bounded, new: Bounded) -> str | None:
    """The clock that has to be declared, for an instant elsewhere than in UTC."""
    zones = {t.timezone for t in (old, new) if t.kind == "Timestamp"}
    kinds = (old.kind, new.kind)
    if kinds == ("Timestamp", "Timestamp"):
        return BERLIN if zones == {None, BERLIN} else None
    return BERLIN if kinds == ("String", "Timestamp") and zones != {"UTC"} else None


def stored(values: list[Any], type_: Any) -> pa.Array:
    """An array; temporal values are counts, of days for dates of any width."""
    if pa.types.is_date64(type_):
        values = [None if v is None else v * 86400000 for v in values]
    if pa.types.is_temporal(type_):
        return pa.array(values, pa.int32() if type_.bit_width == 32 else pa.int64()).view(type_)
    if pa.types.is_float16(type_):
        values = [None if v is None else np.float16(v) for v in values]
    return pa.array(values, type_)


def numbers(array: Any) -> list[Any]:
    type_ = array.type
    if pa.types.is_temporal(type_):
        array = array.view(pa.int32() if type_.bit_width == 32 else pa.int64())
    if pa.types.is_date64(type_):
        return [None if n is None else Fraction(n, 86400000) for n in array.to_pylist()]
    return list(array.to_pylist())


def is_same(old: Bounded, new: Bounded, wanted: Any, found: Any) -> bool:
    if found is None or wanted is MISFIT:
        return False
    if new.kind == "String" and old.kind not in ("String", "Binary"):
        return is_written(old, wanted, found)
    if isinstance(wanted, float) and math.isnan(wanted):
        return isinstance(found, float) and math.isnan(found)
    return bool(found == wanted)


def is_written(old: Bounded, value: Any, text: str) -> bool:
    """Whether a text, read by exact arithmetic, is the value that was written."""
    if old.kind == "Duration":
        return bool(int(text) == value)
    if old.kind == "Time":
        hours, minutes, seconds = text.split(":")
        seconds_in_all = int(hours) * 3600 + int(minutes) * 60 + Fraction(seconds)
        return bool(seconds_in_all * PER_SECOND[old.unit] == value)
    if old.kind == "Timestamp":
        text = re.sub(r"([+-]\d\d)(\d\d)$", r"\1:\2", text)
    back = judged(TYPES["String"], old, text.lower() if old.kind != "Timestamp" else text, None)
    if isinstance(value, float) and math.isnan(value):
        return isinstance(back, float) and math.isnan(back)
    return bool(back == value)


def columns_of(old: Bounded, news: list[str], *, is_rounded: bool = False) -> list[Column]:
    found = []
    before = locked([{"fields": [{"name": "x", "type": option(old.manifest)}]}])
    (field,) = locked_schema_version(before, 1).dataset.columns
    for i, name in enumerate(news):
        new = TYPES[name]
        after = locked([{"fields": [{"name": "x", "type": option(new.manifest)}]}])
        (other,) = locked_schema_version(after, 1).dataset.columns
        if new is old or castability(field.type, other.type) is Castability.NEVER:
            continue
        if is_rounded and (not can_be_rounded(field.type, other.type) or old.kind == "String"):
            continue
        clock = clock_for(old, new)
        wanted = [judged(old, new, v, clock, is_rounded=is_rounded) for v in old.values]
        found.append(Column(f"c{i}", new, clock, wanted))
        if castability(field.type, other.type) <= Castability.LOSSLESS:
            assert MISFIT not in wanted, f"{old.manifest} to {name} is called lossless"
    return found


def lock_of(old: Bounded, columns: list[Column], wrap: Wrap = plain) -> LockedDataset:
    def version(which: Callable[[Column], Bounded], *, has_clock: bool) -> Iterator[dict[str, Any]]:
        for column in columns:
            type_ = which(column).manifest
            extra = {"schemac.dev/clockZone": column.clock} if has_clock and column.clock else {}
            yield {
                "name": column.name,
                "type": wrap(option({**type_, "extra": {**type_.get("extra", {}), **extra}})),
            }

    return locked(
        [
            {"fields": list(version(lambda _: old, has_clock=False))},
            {"fields": list(version(lambda c: c.new, has_clock=True))},
        ]
    )


def written(path: str, lock: LockedDataset, old: Bounded, columns: list[Column], *, is_whole: bool) -> None:
    schema = locked_schema_version(lock, 1).lowered.to_arrow()
    arrays = []
    for column in columns:
        kept = [
            value if is_whole or wanted is not MISFIT else None
            for value, wanted in zip(old.values, column.wanted, strict=True)
        ]
        arrays.append(listed(kept, schema.field(column.name).type))
    lance.write_dataset(pa.Table.from_arrays(arrays, schema=schema), path, data_storage_version="2.2")


def listed(values: list[Any], type_: Any) -> pa.Array:
    """The values, each in a list of its own where the type is one of lists."""
    if not pa.types.is_list(type_) and not pa.types.is_fixed_size_list(type_):
        return stored(values, type_)
    items = stored(values, type_.value_type)
    if pa.types.is_fixed_size_list(type_):
        return pa.FixedSizeListArray.from_arrays(items, type=type_)
    return pa.ListArray.from_arrays(pa.array(range(len(values) + 1), pa.int32()), items, type=type_)


def refused(folder: Path, old: Bounded, columns: list[Column], wrap: Wrap = plain) -> list[str]:
    """What is wrong with how the misfits are refused."""
    lock, path = lock_of(old, columns, wrap), str(folder / "refused.lance")
    written(path, lock, old, columns, is_whole=True)
    report = Report()
    made = plan(opened(path, lock), locked_schema_version(lock, 2), report)
    assert made is not None, report.diagnostics
    is_clean = not any(column.misfits for column in columns)
    if is_clean:
        return []
    assert not apply_plan(made, report, QUIET)
    assert lance.dataset(path).version == 1
    told = {str(re.split(r"\W", d.path)[0]): d for d in report.diagnostics}
    wrong = []
    for column in columns:
        found = told.get(column.name)
        count = int(re.search(r"but ([\d,]+) do", found.message)[1].replace(",", "")) if found else 0  # type: ignore[index]
        if count != column.misfits:
            off = [v for v, w in zip(old.values, column.wanted, strict=True) if w is MISFIT]
            wrong.append(f"{column.new.manifest}: {count} told, {column.misfits} judged {off}: {found}")
        elif found and wrap is plain:
            wrong += filtered(path, old, column, found.help)
    return wrong


def filtered(path: str, old: Bounded, column: Column, help: str) -> list[str]:
    """Whether the filter of a message finds just the rows in question."""
    text = re.search(r"filter=(\".*\")\) shows", help)
    assert text is not None, help
    query = json.loads(text[1])
    rows = lance.dataset(path).to_table(columns=[], filter=query, with_row_id=True)["_rowid"].to_pylist()
    wanted = [i for i, value in enumerate(column.wanted) if value is MISFIT]
    if "_rowid" in query:
        wanted = wanted[:20]
    if rows == wanted:
        return []
    differ = [old.values[i] for i in sorted(set(rows) ^ set(wanted))]
    return [f"{column.new.manifest}: {query} differs on {differ}"]


def carried_out(
    folder: Path, old: Bounded, columns: list[Column], rounded: frozenset[str], wrap: Wrap = plain
) -> list[str]:
    """Which values are not as judged, after a plan that nothing stands in the way of."""
    lock, path = lock_of(old, columns, wrap), str(folder / "done.lance")
    written(path, lock, old, columns, is_whole=False)
    report = Report()
    made = plan(opened(path, lock), locked_schema_version(lock, 2), report, rounded)
    assert made is not None, report.diagnostics
    if not apply_plan(made, report, QUIET):
        return [d.message for d in report.diagnostics]
    table = lance.dataset(path).to_table()
    wrong = []
    for column in columns:
        array = table[column.name].combine_chunks()
        array = array if wrap is plain else array.flatten()
        for value, wanted, found in zip(old.values, column.wanted, numbers(array), strict=True):
            if (found is not None) if wanted is MISFIT else not is_same(old, column.new, wanted, found):
                wrong.append(f"{column.new.manifest}: {value!r} is {found!r}, not {wanted!r}")
    return wrong


def impossible(old: Bounded, news: list[str]) -> list[str]:
    """Pairs without any way, which are to be refused before anything is looked at."""
    possible = {id(column.new) for column in columns_of(old, news)}
    never = [TYPES[name] for name in news if id(TYPES[name]) not in possible and TYPES[name] is not old]
    columns = [Column(f"c{i}", new, None, [MISFIT for _ in old.values]) for i, new in enumerate(never)]
    lock, report = lock_of(old, columns), Report()
    if not columns:
        return []
    made = plan(LanceTable.imagined(locked_schema_version(lock, 1)), locked_schema_version(lock, 2), report)
    told = {d.path for d in report.diagnostics if d.code == "SC411"}
    missing = [str(column.new.manifest) for column in columns if column.name not in told]
    return missing if made is None else ["nothing is refused"]


def hold(old_name: str, news: list[str], folder: Path) -> tuple[int, list[str]]:
    """How many pairs there were, and what went wrong."""
    old = TYPES[old_name]
    columns = columns_of(old, news)
    if not columns:
        return 0, []
    wrong = [f"{old_name} refused: {w}" for w in refused(folder, old, columns)]
    wrong += [f"{old_name} possible: {w}" for w in impossible(old, news)]
    nearest = columns_of(old, news, is_rounded=True)
    wrong += [f"{old_name}: {w}" for w in carried_out(folder / "exact", old, columns, frozenset())]
    if nearest:
        names = frozenset(column.name for column in nearest)
        wrong += [f"{old_name} rounded: {w}" for w in carried_out(folder / "rounded", old, nearest, names)]
    return len(columns), wrong


def test_have_samples_of_every_kind() -> None:
    assert len(TYPES) > 40
    assert {t.kind for t in TYPES.values()} >= {
        "Bool",
        "Date",
        "Time",
        "Timestamp",
        "Duration",
        "String",
        "Binary",
    }


def hold_inside(wrap: Wrap, old_name: str, news: list[str], folder: Path) -> list[str]:
    """What goes wrong inside lists."""
    old = TYPES[old_name]
    columns = columns_of(old, news)
    is_vector = wrap is in_vector
    columns = [c for c in columns if not is_vector or _is_of_vectors(old, c.new)]
    return (
        refused(folder, old, columns, wrap) + carried_out(folder, old, columns, frozenset(), wrap)
        if columns
        else []
    )


def _is_of_vectors(*types: Bounded) -> bool:
    return all(t.kind not in ("String", "Binary", "Bool") for t in types)


@pytest.mark.parametrize("wrap", [in_list, in_vector])
@pytest.mark.parametrize("old", FEW)
def test_change_no_value_inside_lists(old: str, wrap: Wrap, tmp_path: Path) -> None:
    assert hold_inside(wrap, old, list(TYPES)[::5], tmp_path) == []


@pytest.mark.parametrize("old", FEW)
def test_change_no_value_of_a_few_types(old: str, tmp_path: Path) -> None:
    _, wrong = hold(old, list(TYPES)[::3], tmp_path)
    assert wrong == []


@pytest.mark.long
@pytest.mark.parametrize("old", TYPES)
def test_change_no_value(old: str, tmp_path: Path) -> None:
    _, wrong = hold(old, list(TYPES), tmp_path)
    assert wrong == []


@pytest.mark.long
@pytest.mark.parametrize("wrap", [in_list, in_vector])
@pytest.mark.parametrize("old", TYPES)
def test_change_no_value_inside_any_list(old: str, wrap: Wrap, tmp_path: Path) -> None:
    assert hold_inside(wrap, old, list(TYPES), tmp_path) == []
