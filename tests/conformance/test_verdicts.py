"""The verdicts on Arrow files, held against pyarrow's scanner for every pair of types.

A column is written with the one type and read with the other, as whole files and value by value. What the judge says
before has to be what happens then: safe is every value right, refused is none, and whatever depends on the data has values
of both sorts.
"""

import datetime
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from math import isfinite
from pathlib import Path
from struct import pack, unpack
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import schemac
from schemac.versions.evolution.changes import Outcome
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import judge
from schemac.versions.evolution.version_pair import SchemaVersion, pair_versions
from tests.conformance.manifest_types import (
    Manifest,
    buffer,
    dictionary,
    extension,
    member,
    of,
    option,
    struct,
)
from tests.effort import every_nth

ARROW = "arrow.apache.org"
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
PER_SECOND = {"Second": 1, "Millisecond": 10**3, "Microsecond": 10**6, "Nanosecond": 10**9}
LAST_SECOND = 253402300799
"""Of the year 9999."""
FAR = (datetime.date(2569, 1, 10) - EPOCH.date()).days * 86400 * 10**6
"""Out of the reach of nanoseconds."""


@dataclass(frozen=True)
class Typed:
    """A type with values: friendly ones, and those at its edges. Of a temporal type, as the numbers that are stored."""

    manifest: Manifest
    values: tuple[Any, ...]


def _integers() -> Iterator[tuple[str, Typed]]:
    for bits in (8, 16, 32, 64):
        top = 2 ** (bits - 1)
        yield f"Int{bits}", Typed(of(f"Int{bits}"), (0, 1, 7, -1, top - 1, -top))
        yield f"UInt{bits}", Typed(of(f"UInt{bits}"), (0, 1, 7, 2 * top - 1))


def _decimal(precision: int, scale: int) -> Typed:
    unit = Decimal(1).scaleb(-scale)
    most = unit * (10**precision - 1) if precision < 28 else Decimal(10) ** (precision - scale - 1)
    whole = (Decimal(1),) if scale >= 0 else ()
    return Typed(of("Decimal", precision=precision, scale=scale), (Decimal(0), *whole, unit, most, -most))


def _temporal() -> Iterator[tuple[str, Typed]]:
    for unit, n in PER_SECOND.items():
        yield f"Time {unit}", Typed(of("Time", unit=unit), (0, 3600 * n, 86400 * n - 1))
        moments = (0, 19000 * 86400 * n, 1000 * n + 1, -1, min(2**63 - 1, LAST_SECOND * n), 2**63 - 1)
        yield f"Timestamp {unit}", Typed(of("Timestamp", unit=unit), moments)
        spans = (0, n, n + 1, -1, 2**63 - 1)
        yield f"Duration {unit}", Typed(of("Duration", unit=unit), spans)


TYPES: dict[str, Typed] = {
    **dict(_integers()),
    "Float16": Typed(of("Float16"), (0.0, 1.0, 1.5, 65504.0, -2.0, float("nan"), float("inf"))),
    "Float32": Typed(of("Float32"), (0.0, 1.0, 1.5, 3e38, 2.0**24, float("nan"), float("inf"))),
    "Float64": Typed(of("Float64"), (0.0, 1.0, 1.5, 0.1, 1e300, 2.0**53, float("nan"), float("-inf"))),
    **{
        f"Decimal({p}, {s})": _decimal(p, s)
        for p, s in ((9, 0), (9, 2), (12, 2), (12, 4), (20, 0), (23, 3), (50, 5), (5, -3))
    },
    "Bool": Typed(of("Bool"), (True, False)),
    "Date": Typed(of("Date"), (0, 19000, -1, LAST_SECOND // 86400, -719162, 2**31 - 1)),
    **dict(_temporal()),
    "Timestamp of a clock": Typed(
        of("Timestamp", unit="Microsecond", timezone=None),
        (0, 19000 * 86400 * 10**6, 1, -1, FAR, 2**63 - 1),
    ),
    "Timestamp in Kyiv": Typed(
        of("Timestamp", unit="Microsecond", timezone="Europe/Kyiv"),
        (0, (19000 * 86400 - 7200) * 10**6, 1, -1, FAR, 2**63 - 1),
    ),
    "String": Typed(
        of("String"),
        ("", "a", "1", "1.5", "true", "2020-01-01", "2020-01-01 00:00:00Z", "12:00:00", "ab", "\u00ff" * 2),
    ),
    "Binary": Typed(of("Binary"), (b"", b"a", b"1", b"\xff\xfe", b"abcd")),
    "Binary of 4": Typed(of("Binary", fixedLength=4), (b"abcd", b"\xff\xfe\xfd\xfc")),
    "Binary of 2": Typed(of("Binary", fixedLength=2), (b"ab", b"\xff\xfe")),
    "List": Typed(of("List", itemType=of("Int32")), ([1, 2], [], [1], [1, 2, 3])),
    "List of 2": Typed(of("List", itemType=of("Int32"), fixedLength=2), ([1, 2], [3, 4])),
    "List of 3": Typed(of("List", itemType=of("Int32"), fixedLength=3), ([1, 2, 3],)),
    "Struct": Typed(struct(member("a", of("Int32"))), ({"a": 1},)),
    "Map": Typed(of("Map", keyType=of("String"), valueType=of("Int32")), ([("a", 1)], [("b", 1), ("a", 2)])),
    "sorted Map": Typed(
        of("Map", keyType=of("String"), valueType=of("Int32"), keysSorted=True),
        ([("a", 1)], [("a", 1), ("b", 2)]),
    ),
}


def compiled(type_: Manifest) -> Any:
    return _compiled(json.dumps({"fields": [member("c", type_)]}))


@cache
def _compiled(text: str) -> Any:
    """Each type meets each other one, in both formats."""
    (dataset,) = schemac.compile_text(text)
    return dataset


def stored(values: tuple[Any, ...], type_: Any) -> Any:
    """An array; temporal values are given as numbers, which reach further than Python's."""
    if pa.types.is_temporal(type_):
        return pa.array(values, pa.int32() if type_.bit_width == 32 else pa.int64()).view(type_)
    return pa.array(values, type_)


def write(path: Path, array: Any) -> Path:
    """Write a column, in the format that the name ends with."""
    table = pa.table({"c": array})
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


def read(path: Path, schema: Any) -> Any:
    """The column as somebody with this schema reads it; None where pyarrow refuses."""
    try:
        table = pyarrow.dataset.dataset(path, schema=schema, format=path.suffix[1:]).to_table()
    except (pa.ArrowException, ValueError, OSError):
        return None
    return table["c"].combine_chunks()


def meanings(array: Any) -> list[Any]:
    """What the values of an array stand for, in words that all types share."""
    type_ = array.type
    if pa.types.is_temporal(type_):
        numbers = array.view(pa.int32() if type_.bit_width == 32 else pa.int64()).to_pylist()
        return [_moment(number, type_) for number in numbers]
    return [_meaning(value) for value in array.to_pylist()]


def _moment(number: int, type_: Any) -> Any:
    if pa.types.is_date32(type_):
        return ("date", number)
    if pa.types.is_date64(type_):
        return ("date", Fraction(number, 86400 * 10**3))
    seconds = Fraction(number, {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[type_.unit])
    if pa.types.is_time(type_):
        return ("time", seconds)
    if pa.types.is_duration(type_):
        return ("span", seconds)
    if type_.tz in (None, "UTC"):
        return ("clock" if type_.tz is None else "instant", seconds, seconds)
    local = (
        EPOCH + datetime.timedelta(seconds=max(-(10**10), min(int(seconds), LAST_SECOND - 86400)))
    ).astimezone(ZoneInfo(type_.tz))
    offset = local.utcoffset()
    assert offset is not None
    return ("instant", seconds, seconds + int(offset.total_seconds()))


def _meaning(value: Any) -> Any:
    if isinstance(value, bool | int | Decimal):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(value) if isfinite(value) else str(value)
    return value


def agree(old: Any, new: Any) -> bool:
    """Whether two values mean the same, be it that one is written out."""
    if old == new:
        return True
    if isinstance(old, bytes) and isinstance(new, str):
        return old == new.encode()
    if isinstance(new, bytes) and isinstance(old, str):
        return new == old.encode()
    if isinstance(new, str):
        return _is_written(old, new)
    if isinstance(old, str):
        return _is_written(new, old)
    if isinstance(old, tuple) and isinstance(new, tuple):
        match old, new:
            case ("date", day), ("instant" | "clock", moment, _):
                return bool(moment == day * 86400)
            case ("instant" | "clock", _, local), ("date", day):
                return bool(local == day * 86400)
            case ("instant" | "clock", _, local), ("time", time):
                return bool(local == time)
            case ("instant" | "clock", moment, _), ("instant" | "clock", other, _):
                # A reading of a clock is an instant if that was the clock, which only people know.
                return bool(moment == other)
    return False


def _is_written(value: Any, text: str) -> bool:
    if isinstance(value, Fraction):
        if text in ("true", "false"):
            return value == (text == "true")
        try:
            return value in (Fraction(text), Fraction(float(text)), _as_float32(float(text)))
        except ValueError:
            return False
    if isinstance(value, tuple):
        return _is_written_moment(value, text)
    return False


def _as_float32(number: float) -> Fraction | None:
    try:
        return Fraction(unpack("f", pack("f", number))[0])
    except (OverflowError, ValueError):
        return None


def _is_written_moment(value: Any, text: str) -> bool:
    sort, *numbers = value
    if sort == "span":
        # A count, whose unit is lost.
        return Fraction(text) in {numbers[0] * n for n in PER_SECOND.values()}
    seconds = Fraction(0)
    try:
        for word in re.sub(r"Z|[+-]\d{4}$", "", text).split(" "):
            if ":" in word:
                hours, minutes, rest = word.split(":")
                seconds += int(hours) * 3600 + int(minutes) * 60 + Fraction(rest)
            else:
                seconds += (datetime.date.fromisoformat(word) - EPOCH.date()).days * 86400
    except ValueError:
        return False
    if sort == "date":
        return bool(seconds == numbers[0] * 86400)
    return bool(seconds == (numbers[0] if text.endswith("Z") else numbers[-1]))


def outcomes(before: Any, after: Any) -> set[Outcome]:
    """Of all changes between two schemas, as the judge sees them."""
    pair = pair_versions(SchemaVersion(before, "old"), SchemaVersion(after, "new"))
    return {verdict.old_data.outcome for verdict in judge(diff_of(pair), pair, ["arrow"])}


def judged(before: Any, after: Any) -> Outcome:
    """The gravest outcome."""
    return max(outcomes(before, after), key=lambda outcome: outcome.rank, default=Outcome.SAFE)


def observed(folder: Path, array: Any, schema: Any, form: str) -> tuple[Outcome, bool]:
    """What pyarrow makes of it, and whether any value came out wrong without a word; the folder is this column's alone."""
    wanted = meanings(array)
    is_sorted = pa.types.is_map(schema.field(0).type) and schema.field(0).type.keys_sorted

    def file_of(part: slice) -> Path:
        path = folder / f"{part.start}-{part.stop}.{form}"
        return path if path.exists() else write(path, array[part])

    parts = [slice(0, len(wanted))]
    if read(file_of(parts[0]), schema) is None:
        parts = [slice(i, i + 1) for i in range(len(wanted))]
    right: list[bool] = []
    is_silent = False
    for part in parts:
        found = read(file_of(part), schema)
        if found is None:
            right.append(False)
            continue
        here = [
            agree(a, b) and not (is_sorted and b != sorted(b))
            for a, b in zip(wanted[part], meanings(found), strict=True)
        ]
        is_silent |= not all(here)
        right += here
    if all(right):
        return Outcome.SAFE, is_silent
    return (Outcome.DATA if any(right) else Outcome.REFUSED), is_silent


@pytest.mark.parametrize("form", every_nth(["parquet", "arrow"], 2))
@pytest.mark.parametrize("old", TYPES)
def test_read_types_as_judged(old: str, form: str, tmp_path: Path) -> None:
    before = compiled(TYPES[old].manifest)
    array = stored(TYPES[old].values, before.to_arrow().field(0).type)
    if form == "parquet" and old == "Decimal(5, -3)":
        pytest.skip("Parquet has no decimals with a negative scale")
    if form == "parquet" and old == "Timestamp Second":
        pytest.skip("Parquet keeps them as milliseconds, which do not reach as far")
    wrong = []
    for new, typed in TYPES.items():
        after = compiled(typed.manifest)
        said = judged(before._logical, after._logical)
        if _is_change_of_clock(old, new):
            assert said is Outcome.DATA, "whether the clock was that of the zone, only people know"
            continue
        seen, _ = observed(tmp_path, array, after.to_arrow(), form)
        if said is not seen:
            wrong.append(f"{old} to {new}: judged {said}, but is {seen}")
    assert wrong == []


def _is_change_of_clock(old: str, new: str) -> bool:
    zones = {"of a clock" in name for name in (old, new)}
    return len(zones) == 2 and old.startswith("Timestamp") and new.startswith("Timestamp")


_INTS = of("Int32")
_DECIMAL = {"precision": 9, "scale": 2}
LAYOUTS: dict[str, tuple[tuple[Any, ...], tuple[Manifest, ...]]] = {
    "texts": (
        ("x", "a text that is longer than a view holds"),
        (
            of("String"),
            of("String", buffer("Contiguous", 64)),
            of("String", buffer("View")),
            of("String", dictionary()),
            of("String", dictionary(indexType="UInt8")),
            of("String", dictionary(ordered=True)),
            of("String", {**dictionary(), **buffer("Contiguous", 64)}),
            of("String", {**dictionary(), **buffer("View")}),
            of("String", {"lance.org/json": True}),
            of("String", extension("arrow.json")),
            of("String", extension("arrow.opaque", '{"type_name":"a","vendor_name":"b"}')),
            of("String", extension("arrow.opaque", '{"type_name":"c","vendor_name":"b"}')),
            of("String", extension("example.text")),
        ),
    ),
    "bytes": (
        (b"x", b"y"),
        (
            of("Binary"),
            of("Binary", buffer("Contiguous", 64)),
            of("Binary", buffer("View")),
            of("Binary", dictionary()),
        ),
    ),
    "lists": (
        ([1, 2], [], [3]),
        (
            of("List", itemType=_INTS),
            of("List", itemType=of("Int64")),
            of("List", buffer("Contiguous", 64), itemType=_INTS),
            of("List", buffer("View"), itemType=_INTS),
            of("List", buffer("View"), itemType=of("Int64")),
            of("List", buffer("View"), itemType=option(_INTS)),
            of("List", buffer("View", 64), itemType=_INTS),
            of("List", {f"{ARROW}/childNames": {"item": "element"}}, itemType=_INTS),
        ),
    ),
    "integers": ((1, 2), (_INTS, of("Int32", dictionary()), of("Int64"), of("Int64", dictionary()))),
    "dates": (
        (19000, 1),
        (
            of("Date"),
            of("Date", {f"{ARROW}/dateEncoding": {"unit": "Millisecond"}}),
            of("Date", dictionary()),
        ),
    ),
    "decimals": (
        (Decimal("1.25"), Decimal("-9999999.99")),
        tuple(
            of("Decimal", {f"{ARROW}/decimalEncoding": {"bitWidth": bits}}, **_DECIMAL)
            for bits in (32, 64, 128, 256)
        ),
    ),
    "uuids": (
        (b"0" * 16,),
        (of("Binary", fixedLength=16), of("Binary", extension("arrow.uuid"), fixedLength=16)),
    ),
    "small integers": ((1, 0), (of("Int8"), of("Int8", extension("arrow.bool8")))),
}


def _laid_out(values: tuple[Any, ...], type_: Any) -> Any:
    if isinstance(type_, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(type_, _laid_out(values, type_.storage_type))
    if pa.types.is_dictionary(type_):
        indices = pa.array(range(len(values)), type_.index_type)
        return pa.DictionaryArray.from_arrays(
            indices, stored(values, type_.value_type), ordered=type_.ordered
        )
    if pa.types.is_date64(type_):
        return pa.array([86400000 * day for day in values], pa.int64()).view(type_)
    return stored(values, type_)


@pytest.mark.parametrize("group", LAYOUTS)
def test_read_layouts_as_judged(group: str, tmp_path: Path) -> None:
    values, types = LAYOUTS[group]
    wrong = []
    for old, new in product(types, types):
        before, after = compiled(old), compiled(new)
        array = _laid_out(values, before.to_arrow().field(0).type)
        forms = [form for form in ("arrow", "parquet") if _can_hold(tmp_path, array, before.to_arrow(), form)]
        seen = max(
            (observed_alike(tmp_path, array, after.to_arrow(), form) for form in forms), key=lambda o: o.rank
        )
        said = outcomes(before._logical, after._logical)
        if bool(said & {Outcome.REFUSED, Outcome.REWRITE}) != (seen is Outcome.REFUSED):
            wrong.append(f"{old} to {new}: judged {said}, but is {seen}")
    assert wrong == []


def _can_hold(folder: Path, array: Any, schema: Any, form: str) -> bool:
    """Whether the column comes back with its own schema: Parquet forgets dictionaries of anything but texts."""
    try:
        return observed_alike(folder, array, schema, form) is Outcome.SAFE
    except (pa.ArrowException, OSError):
        return False


def observed_alike(folder: Path, array: Any, schema: Any, form: str) -> Outcome:
    """Safe where the values are read right, else refused; a layout makes no difference between values."""
    found = read(write(folder / f"column.{form}", array), schema)
    is_same = found is not None and _plain(array) == _plain(found)
    return Outcome.SAFE if is_same else Outcome.REFUSED


def _plain(array: Any) -> Any:
    return (array.storage if isinstance(array.type, pa.BaseExtensionType) else array).to_pylist()


_STRUCT = (member("a", of("Int32")), member("b", of("String")))
_MORE = member("n", option(of("Int32")))
_FULL = {"a": 1, "b": "x"}
NESTED: dict[str, tuple[tuple[Manifest, ...], tuple[Manifest, ...], Any, Outcome]] = {
    "optional member added": (_STRUCT, (_STRUCT[0], _MORE, _STRUCT[1]), {**_FULL, "n": None}, Outcome.SAFE),
    "required member added": (_STRUCT, (*_STRUCT, member("n", of("Int32"))), None, Outcome.REFUSED),
    "member dropped": (_STRUCT, _STRUCT[1:], {"b": "x"}, Outcome.SAFE),
    "members reordered": (_STRUCT, _STRUCT[::-1], _FULL, Outcome.SAFE),
    "member widened": (_STRUCT, (member("a", of("Int64")), _STRUCT[1]), _FULL, Outcome.SAFE),
    "member made optional": (_STRUCT, (member("a", option(of("Int32"))), _STRUCT[1]), _FULL, Outcome.SAFE),
    "member renamed": (
        _STRUCT,
        ({**member("z", option(of("Int32"))), "extra": {"schemac.dev/renamedFrom": "a"}}, _STRUCT[1]),
        {"z": None, "b": "x"},
        Outcome.REFUSED,
    ),
}
AROUND: dict[str, tuple[Any, Any]] = {
    "in a struct": (lambda *m: struct(*m), lambda v: v),
    "in a list": (lambda *m: of("List", itemType=struct(*m)), lambda v: [v]),
    "in a vector": (lambda *m: of("List", itemType=struct(*m), fixedLength=1), lambda v: [v]),
    "in a map": (lambda *m: of("Map", keyType=of("String"), valueType=struct(*m)), lambda v: [("k", v)]),
    "in a list of views": (lambda *m: of("List", buffer("View"), itemType=struct(*m)), lambda v: [v]),
}


@pytest.mark.parametrize("change", NESTED)
@pytest.mark.parametrize("around", AROUND)
def test_read_members_as_judged(around: str, change: str, tmp_path: Path) -> None:
    (build, wrap), (old, new, expected, outcome) = AROUND[around], NESTED[change]
    before, after = compiled(build(*old)), compiled(build(*new))
    array = pa.array([wrap(_FULL)], before.to_arrow().field(0).type)
    found = read(write(tmp_path / "column.arrow", array), after.to_arrow())
    if around == "in a list of views":
        expected, outcome = None, max(outcome, Outcome.REWRITE, key=lambda o: o.rank)
    assert judged(before._logical, after._logical) is outcome
    assert (None if found is None else found.to_pylist()) == (None if expected is None else [wrap(expected)])


@pytest.mark.parametrize("values", [[1, 2], [1, None]])
def test_look_for_nulls_as_judged(values: list[Any], tmp_path: Path) -> None:
    before, after = compiled(option(of("Int32"))), compiled(of("Int32"))
    array = pa.array(values, pa.int32())
    assert judged(before._logical, after._logical) is Outcome.DATA
    found = read(write(tmp_path / "column.arrow", array), after.to_arrow())
    assert found.to_pylist() == values, "pyarrow does not look, so a null comes out where none may be"


@pytest.mark.parametrize("value", [1, None])
def test_look_for_nulls_in_members_as_judged(value: int | None, tmp_path: Path) -> None:
    before, after = compiled(struct(_MORE)), compiled(struct(member("n", of("Int32"))))
    array = pa.array([{"n": value}], before.to_arrow().field(0).type)
    assert judged(before._logical, after._logical) is Outcome.DATA
    assert (read(write(tmp_path / "column.arrow", array), after.to_arrow()) is None) is (value is None)
