"""Constraints that come together with any other change of a Lance table: what `apply` says is held against `verify --data`.

Shape: every change of a type that keeps values × every constraint that fits the new type, as columns of one table, with a value that
keeps the constraint and one that breaks it; at every position that a field can have, or get.
"""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main
from schemac.language.attributes.attribute import NUMBERS, Family
from schemac.language.constraints.field_constraints import CONSTRAINTS
from schemac.language.kinds.registry import BY_NAME

Tree = dict[str, Any]
OWN = "schemac.dev"


def of(kind: str, **properties: Any) -> Tree:
    return {"kind": kind, **properties}


def moment(unit: str, timezone: str | None = "UTC", **extra: Any) -> Tree:
    return of("Timestamp", unit=unit, timezone=timezone, **({"extra": extra} if extra else {}))


class Cast(NamedTuple):
    """A change of a type, with two values before, and as constraints of the new type name them; the first is less, or shorter."""

    old: Tree
    new: Tree
    before: tuple[Any, Any]
    after: tuple[Any, Any]


NUMBERS_ = (4, 70)
INTS = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
DECIMAL, WIDE = of("Decimal", precision=9, scale=2), of("Decimal", precision=20, scale=4)
T1, T2 = "2020-01-02T00:00:00", "2020-01-03T00:00:00"
SECONDS = (1_577_923_200, 1_578_009_600)
DAYS = (18263, 18264)


def _casts() -> Iterator[Cast]:
    numbers = [of(kind) for kind in (*INTS, "Float32", "Float64")]
    yield from (Cast(of("Int32"), new, NUMBERS_, NUMBERS_) for new in numbers if new["kind"] != "Int32")
    for old in (of("UInt8"), of("Float64")):
        yield from (Cast(old, of(new), NUMBERS_, NUMBERS_) for new in ("Int8", "Int64", "Float32"))
        yield Cast(old, of("String"), NUMBERS_, ("4", "70"))
    yield Cast(of("Int16"), WIDE, NUMBERS_, NUMBERS_)
    yield Cast(of("Float64"), DECIMAL, NUMBERS_, NUMBERS_)
    for new in (of("Decimal", precision=7, scale=0), WIDE, of("Int64"), of("Float64")):
        yield Cast(DECIMAL, new, NUMBERS_, NUMBERS_)
    yield Cast(DECIMAL, of("String"), NUMBERS_, ("4.00", "70.00"))
    yield Cast(of("String"), of("Binary"), ("ab", "äbc"), ("ab", "äbc"))
    yield Cast(of("Binary"), of("String"), (b"ab", "äbc".encode()), ("ab", "äbc"))
    for kind in ("Int64", "Float64"):
        yield Cast(of("String"), of(kind), ("4", "70"), NUMBERS_)
    yield Cast(of("String"), DECIMAL, ("4", "70"), NUMBERS_)
    yield Cast(of("String"), of("Date"), ("2020-01-02", "2020-01-03"), ("2020-01-02", "2020-01-03"))
    yield Cast(of("String"), moment("Second"), (f"{T1}Z", f"{T2}Z"), (f"{T1}Z", f"{T2}Z"))
    yield Cast(of("Bool"), of("Int8"), (False, True), (0, 1))
    yield Cast(of("Bool"), of("String"), (True, False), ("true", "false"))
    yield Cast(of("String"), of("Bool"), ("false", "true"), (False, True))
    yield Cast(of("Date"), moment("Second"), DAYS, (f"{T1}Z", f"{T2}Z"))
    yield Cast(of("Date"), moment("Millisecond", None), DAYS, (T1, T2))
    for unit, factor in (("Second", 1), ("Millisecond", 1000), ("Nanosecond", 10**9)):
        for other in ("Second", "Microsecond"):
            instants = tuple(second * factor for second in SECONDS)
            assert len(instants) == 2
            if unit != other:
                yield Cast(moment(unit), moment(other), instants, (f"{T1}Z", f"{T2}Z"))
    clock = {f"{OWN}/clockZone": "Asia/Tokyo"}
    yield Cast(
        moment("Second", None),
        moment("Second", **clock),
        SECONDS,
        ("2020-01-01T15:00:00Z", "2020-01-02T15:00:00Z"),
    )
    yield Cast(
        moment("Second"),
        moment("Second", None, **clock),
        SECONDS,
        ("2020-01-02T09:00:00", "2020-01-03T09:00:00"),
    )
    yield Cast(moment("Second"), moment("Second", "Asia/Tokyo"), SECONDS, (f"{T1}Z", f"{T2}Z"))
    yield Cast(moment("Second"), of("Date"), SECONDS, ("2020-01-02", "2020-01-03"))
    yield Cast(of("Time", unit="Second"), of("Time", unit="Microsecond"), (60, 120), ("00:01:00", "00:02:00"))
    yield Cast(of("Duration", unit="Second"), of("Duration", unit="Millisecond"), (4, 70), (4000, 70000))
    yield Cast(of("List", itemType="Int32"), of("List", itemType="Int64"), ([1], [1, 2, 1]), ([1], [1, 2, 1]))
    yield Cast(
        of("List", itemType="String"),
        of("List", itemType="Int32"),
        (["1"], ["1", "02", "2"]),
        ([1], [1, 2, 2]),
    )


CASTS = (*_casts(), *[Cast(c.new, c.new, c.after, c.after) for c in (Cast(of("Int32"), of("Int32"), NUMBERS_, NUMBERS_), Cast(of("String"), of("String"), ("ab", "äbc"), ("ab", "äbc")))])  # fmt: skip
"""The last ones change no type."""


def _authored(cast: Cast) -> Iterator[tuple[str, Any, int]]:
    """Every constraint that tells the two values apart: its name, its value, and which of the two breaks it."""
    family = BY_NAME[cast.new["kind"]].family
    low, high = cast.after
    is_number = family in NUMBERS or family is Family.DECIMAL
    for kind in CONSTRAINTS:
        name = kind.attribute.name
        if kind.attribute.fits is not None and family not in kind.attribute.fits:
            continue
        match name:
            case "minimum" | "exclusiveMinimum":
                yield name, high if name == "minimum" else low, 0
            case "maximum" | "exclusiveMaximum":
                yield name, low if name == "maximum" else high, 1
            case "multipleOf" if low and (is_number or family is Family.DURATION) and high % low:
                yield name, low, 1
            case "minLength" | "maxLength":
                sizes = [len(one.encode() if family is Family.BYTES else one) for one in cast.after]
                yield name, sizes[1] if name == "minLength" else sizes[0], int(name == "maxLength")
            case "pattern":
                yield name, f"^{re.escape(low)}$", 1
            case "enum":
                yield name, [low], 1
            case "minItems" | "maxItems":
                yield name, len(high if name == "minItems" else low), int(name == "maxItems")
            case "uniqueItems":
                yield name, True, 1


COLUMNS = [(cast, *one) for cast in CASTS for one in _authored(cast)]
EACH = 6
"""One column in so many at most positions, the next one at each of them; where a field stays it is one in four, or two."""


class Position(NamedTuple):
    """Where a field is before and after, and its type there."""

    name: str
    is_renamed: bool = False
    old_struct: str = ""
    new_struct: str = ""
    wrap: str = ""
    is_made_required: bool = False


POSITIONS = (
    Position("in place"),
    Position("renamed", is_renamed=True),
    Position("in a struct", old_struct="s", new_struct="s"),
    Position("moved into a struct", new_struct="s"),
    Position("moved out of a struct", old_struct="s"),
    Position("in a list", wrap="List"),
    Position("in a map", wrap="Map"),
    Position("made required", is_made_required=True),
    Position("in place, others"),
)


def _field(name: str, type_: Tree, extra: Tree, position: Position, *, is_new: bool) -> Tree:
    extra = {**type_.get("extra", {}), **extra}
    bare = {key: value for key, value in type_.items() if key != "extra"}
    inner, own = ({**bare, "extra": extra}, {}) if position.wrap else (bare, extra)
    if position.wrap == "List":
        inner = of("List", itemType=inner)
    elif position.wrap == "Map":
        inner = of("Map", keyType="String", valueType=inner)
    elif position.is_made_required and not is_new:
        inner = of("Option", inner=inner)
    path = f"{position.old_struct}.{name}" if position.old_struct else name
    is_elsewhere = position.old_struct != position.new_struct
    if is_new and (is_elsewhere or position.is_renamed):
        own = {**own, f"{OWN}/renamedFrom": path if is_elsewhere else name}
    return {"name": f"{name}_" if is_new and position.is_renamed else name, "type": inner, "extra": own}


UNCHANGED = Position("in place, with the same constraint before")


def _fits_before(column: tuple[Cast, str, Any, int]) -> bool:
    """Whether the old type can have the constraint, as it is written."""
    cast, rule, authored, _ = column
    field = _field("c", cast.old, {f"{OWN}/{rule}": authored}, UNCHANGED, is_new=False)
    try:
        schemac.compile_text(json.dumps({"name": "t", "fields": [field]}))
    except schemac.SchemaError:
        return False
    return True


def _columns(position: Position) -> dict[int, tuple[Cast, str, Any, int]]:
    """Return the columns that are tried at a position, by their numbers."""
    if position is UNCHANGED:
        return {n: one for n, one in enumerate(COLUMNS) if _fits_before(one)}
    place = POSITIONS.index(position)
    step, start = {POSITIONS[0]: (4, 0), POSITIONS[-1]: (4, 2)}.get(position, (EACH, place % EACH))
    return {n: one for n, one in enumerate(COLUMNS) if n % step == start}


def _manifest(position: Position, *, is_new: bool, is_ruled: bool = False) -> Tree:
    fields = []
    for number, (cast, rule, authored, _) in _columns(position).items():
        extra = {f"{OWN}/{rule}": authored} if is_ruled else {}
        type_ = cast.new if is_new else cast.old
        fields.append(_field(f"c{number}", type_, extra, position, is_new=is_new))
    struct = position.new_struct if is_new else position.old_struct
    anchor = {"name": "anchor", "type": "Int8"}
    if not struct:
        others = (
            [{"name": "s", "type": of("Struct", fields=[anchor])}]
            if position.new_struct or position.old_struct
            else []
        )
        return {"name": "t", "fields": [anchor, *others, *fields]}
    return {"name": "t", "fields": [anchor, {"name": struct, "type": of("Struct", fields=[anchor, *fields])}]}


def _path(number: int, position: Position) -> str:
    name = f"c{number}_" if position.is_renamed else f"c{number}"
    steps = {"List": ".item", "Map": ".value"}.get(position.wrap, "")
    return f"{position.new_struct}.{name}{steps}" if position.new_struct else f"{name}{steps}"


def _beside(found: set[str], position: Position) -> list[Any]:
    """Return the columns that were not found, and paths that are none."""
    columns = _columns(position)
    missing = [one for n, one in columns.items() if _path(n, position) not in found]
    return [*missing, *sorted(found - {_path(n, position) for n in columns})]


def _lock(manifest: Tree) -> Any:
    Path("t.yaml").write_text(json.dumps(manifest))
    assert main(["lock", "t.yaml", "-q"]) == 0
    (dataset,) = schemac.compile_file("t.yaml")
    return dataset.to_arrow()


def _array(values: list[Any], type_: Any) -> Any:
    if pa.types.is_list(type_):
        return pa.array(values, type_)
    is_temporal = pa.types.is_temporal(type_)
    if pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return pa.array(list(map(Decimal, values)), pa.decimal128(20, 4)).cast(type_)
    if is_temporal:
        width = pa.int32() if type_.bit_width == 32 else pa.int64()
        return pa.array(values, width).view(type_)
    return pa.array(values, type_)


def _write(path: str, schema: Any, position: Position, rows: list[bool]) -> None:
    """Write rows that keep all constraints, or break them all."""
    arrays = {"anchor": pa.array([1] * len(rows), pa.int8())}
    where = schema.field("s").type if position.old_struct else schema
    for number, (cast, _, _, broken) in _columns(position).items():
        type_ = where.field(f"c{number}").type
        below = [cast.before[broken if is_broken else 1 - broken] for is_broken in rows]
        if position.wrap == "List":
            array = pa.ListArray.from_arrays(
                pa.array(range(len(rows) + 1), pa.int32()), _array(below, type_.value_type), type=type_
            )
        elif position.wrap == "Map":
            keys = pa.array(["k"] * len(rows))
            array = pa.MapArray.from_arrays(
                pa.array(range(len(rows) + 1), pa.int32()), keys, _array(below, type_.item_type), type=type_
            )
        else:
            array = _array(below, type_)
        arrays[f"c{number}"] = array
    if position.old_struct:
        members = [arrays[field.name] for field in where]
        arrays = {"anchor": arrays["anchor"], "s": pa.StructArray.from_arrays(members, fields=list(where))}
    elif position.new_struct:
        arrays["s"] = pa.StructArray.from_arrays([arrays["anchor"]], fields=list(schema.field("s").type))
    table = pa.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)
    lance.write_dataset(table, path)


def _told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[Tree]]:
    capsys.readouterr()
    code = main([*words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)["diagnostics"]


@pytest.mark.parametrize(
    "position",
    [*POSITIONS[:-1], pytest.param(POSITIONS[-1], marks=pytest.mark.long)],
    ids=lambda position: position.name,
)
def test_look_at_every_constraint_beside_every_change(
    position: Position, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    schema = _lock(_manifest(position, is_new=False))
    _write("good.lance", schema, position, [False, False])
    for name in ("bad.lance", "stepwise.lance"):
        _write(name, schema, position, [False, True])
    _lock(_manifest(position, is_new=True))
    _lock(_manifest(position, is_new=True, is_ruled=True))
    expected = {_path(number, position): rule for number, (_, rule, *_) in _columns(position).items()}

    code = main(
        [
            "breaking",
            "t.yaml",
            "--against",
            "lock:1",
            "--engine",
            "lance",
            "--format",
            "json",
            "--ignore-readers",
        ]
    )
    doubtful = {
        verdict["field"]
        for verdict in json.loads(capsys.readouterr().out)["verdicts"]
        if verdict["change"] == "constraint-added" and verdict["oldData"]["outcome"] == "depends on data"
    }
    assert code == 0
    assert _beside(doubtful, position) == []

    assert main(["plan", "t", "--table", "bad.lance", "--format", "json"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert {s["field"] for s in steps if s["step"] == "check"} >= expected.keys()

    version = lance.dataset("bad.lance").version
    code, found = _told(capsys, "apply", "t", "--table", "bad.lance")
    assert code == 1
    assert {one["code"] for one in found} == {"SC422"}
    assert _beside({one["path"] for one in found}, position) == []
    assert lance.dataset("bad.lance").version == version

    code, found = _told(capsys, "verify", "t", "--table", "bad.lance", "--data")
    assert code == 1
    broken = {one["path"]: one["message"].rpartition("(")[2][:-1] for one in found if one["code"] == "SC425"}
    assert broken == expected

    assert main(["apply", "t", "--table", "stepwise.lance", "--to", "2"]) == 0
    code, found = _told(capsys, "verify", "t", "--table", "stepwise.lance", "--data")
    broken = {one["path"]: one["message"].rpartition("(")[2][:-1] for one in found if one["code"] == "SC425"}
    assert (code, broken) == (1, expected)

    assert main(["apply", "t", "--table", "good.lance"]) == 0
    assert "and verified" in capsys.readouterr().err
    assert main(["verify", "t", "--table", "good.lance", "--data"]) == 0


def _broken(found: list[Tree]) -> set[str]:
    return {one["path"] for one in found if one["code"] == "SC425"}


def test_look_at_every_constraint_that_stays_beside_every_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows that broke it before may stay as they are; whatever breaks it only now is found."""
    monkeypatch.chdir(tmp_path)
    schema = _lock(_manifest(UNCHANGED, is_new=False, is_ruled=True))
    _write("bad.lance", schema, UNCHANGED, [False, True])
    _, found = _told(capsys, "verify", "t", "--table", "bad.lance", "--data")
    before = _broken(found)
    _lock(_manifest(UNCHANGED, is_new=True, is_ruled=True))

    columns = _columns(UNCHANGED)
    expected = {_path(number, UNCHANGED) for number in columns}
    assert len(expected - before) >= FEWEST_NEWLY_BROKEN
    code, found = _told(capsys, "apply", "t", "--table", "bad.lance")
    assert (code, {one["code"] for one in found}) == (1, {"SC422"})
    missing = expected - before - {one["path"] for one in found}
    assert {path: columns[int(path[1:])] for path in missing} == {}


FEWEST_NEWLY_BROKEN = 3
"""Else the columns would show nothing: those of durations, at least."""

ROWS = [
    {"a": "1", "b": 1, "s": {"m": Decimal("2.00")}},
    {"a": "01", "b": 2, "s": {"m": Decimal("2.40")}},
    {"a": "3", "b": 2, "s": {"m": Decimal("9.00")}},
]
BEFORE: list[Tree] = [
    {"name": "a", "type": "String"},
    {"name": "b", "type": of("Option", inner="Int32")},
    {"name": "s", "type": of("Struct", fields=[{"name": "m", "type": DECIMAL}])},
]


class Change(NamedTuple):
    """The fields afterwards, by other names than `BEFORE`, and what else is said of the change."""

    name: str
    fields: list[Tree]
    names: dict[str, str]
    """What a, b and s.m are called."""
    options: tuple[str, ...] = ()


def _was(field: Tree, path: str) -> Tree:
    return {**field, "extra": {f"{OWN}/renamedFrom": path}}


SAME = {"a": "a", "b": "b", "m": "s.m"}
CHANGES = (
    Change("nothing", BEFORE, SAME),
    Change("another type", [{"name": "a", "type": "Int64"}, *BEFORE[1:]], SAME),
    Change(
        "another name and type",
        [_was({"name": "key", "type": "Int64"}, "a"), *BEFORE[1:]],
        {**SAME, "a": "key"},
    ),
    Change(
        "moved out",
        [*BEFORE[:2], {"name": "s", "type": of("Struct", fields=[{"name": "n", "type": of("Option", inner="Int8")}])}, _was({"name": "m", "type": DECIMAL}, "s.m")],
        {**SAME, "m": "m"},
    ),
    Change("moved in", [BEFORE[0], {"name": "s", "type": of("Struct", fields=[{"name": "m", "type": DECIMAL}, _was(BEFORE[1], "b")])}], {**SAME, "b": "s.b"}),
    Change("made required", [BEFORE[0], {"name": "b", "type": "Int64"}, BEFORE[2]], SAME),
    Change(
        "rounded",
        [*BEFORE[:2], {"name": "s", "type": of("Struct", fields=[{"name": "m", "type": "Int32"}])}],
        SAME,
        ("--allow-rounding", "s.m"),
    ),
    Change("a name that another had", [_was({"name": "c", "type": "String"}, "a"), *BEFORE[1:], {"name": "a", "type": of("Option", inner="String")}], {**SAME, "a": "c"}),
)  # fmt: skip


def _rules(names: dict[str, str]) -> dict[str, tuple[str, Any, bool | None]]:
    """Constraints of rows by names of their own, and whether the rows keep them; None where a's values decide."""
    a, b, m = (names[one] for one in "abm")
    return {
        "unique of one": ("unique", [[a]], None),
        "unique of two": ("unique", [[b, m]], None),
        "not unique": ("unique", [[b]], False),
        "check kept": ("check", [f"{m} >= {b}"], True),
        "check broken": ("check", [f"{m} > {b}", f"{b} is not null"], True),
        "check broken by one": ("check", [f"{m} < 9"], False),
        "reference kept": ("references", [{"fields": [b], "dataset": "other", "to": ["id"]}], True),
        "reference broken": ("references", [{"fields": [m], "dataset": "numbers", "to": ["x"]}], False),
        "two references": (
            "references",
            [
                {"fields": [b], "dataset": "other", "to": ["id"]},
                {"fields": [b], "dataset": "other", "to": ["no"]},
            ],
            False,
        ),
    }


@pytest.mark.parametrize("rule", _rules(SAME), ids=lambda rule: rule)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_look_at_constraints_of_rows(
    change: Change,
    rule: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever `apply` calls verified, `verify --data` has nothing against; and it is refused where that has."""
    monkeypatch.chdir(tmp_path)
    lance.write_dataset(
        pa.table({"id": pa.array([1, 2], pa.int32()), "no": pa.array([5, 6], pa.int32())}), "other.lance"
    )
    schema = _lock({"name": "t", "fields": BEFORE})
    lance.write_dataset(pa.Table.from_pylist(ROWS, schema), "t.lance")
    lance.write_dataset(pa.Table.from_pylist(ROWS, schema), "stepwise.lance")
    key, value, _ = _rules(change.names)[rule]
    fields = [*change.fields]
    new = _lock({"name": "t", "fields": fields})
    numbers = new.field("m").type if "m" in new.names else new.field("s").type.field("m").type
    lance.write_dataset(pa.table({"x": pa.array([Decimal(3)]).cast(numbers)}), "numbers.lance")
    _lock({"name": "t", "fields": fields, "extra": {f"{OWN}/{key}": value}})
    tables = ("--reference", "other=other.lance") if "other" in json.dumps(value) else ()
    if rule == "reference broken":
        capsys.readouterr()
        assert main(["plan", "t", "--table", "t.lance", *change.options]) == 0
        assert "--reference numbers=PATH" in " ".join(capsys.readouterr().out.split())
        tables = ("--reference", "numbers=numbers.lance")
    main(["apply", "t", "--table", "stepwise.lance", "--to", "2", *change.options])
    _, found = _told(capsys, "verify", "t", "--table", "stepwise.lance", "--data", *tables)
    is_kept = not any(one["code"] == "SC425" for one in found)
    version = lance.dataset("t.lance").version
    code, found = _told(capsys, "apply", "t", "--table", "t.lance", *change.options, *tables)
    assert code == (0 if is_kept else 1), found
    if is_kept:
        assert main(["verify", "t", "--table", "t.lance", "--data", *tables]) == 0
    else:
        assert {one["code"] for one in found} == {"SC422"}
        assert lance.dataset("t.lance").version == version
    _, _, expected = _rules(change.names)[rule]
    assert expected is None or is_kept is expected or change.options


def test_say_that_nobody_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the other table is not named, neither the plan nor the result calls the rows verified."""
    monkeypatch.chdir(tmp_path)
    schema = _lock({"name": "t", "fields": BEFORE})
    lance.write_dataset(pa.Table.from_pylist(ROWS, schema), "t.lance")
    reference = {"fields": ["b"], "dataset": "other", "to": ["id"]}
    _lock({"name": "t", "fields": BEFORE, "extra": {f"{OWN}/references": [reference]}})
    told = "b: every value has to be the id of a row of other"
    assert main(["plan", "t", "--table", "t.lance"]) == 0
    assert f"not checked {told}, and this is not checked" in " ".join(capsys.readouterr().out.split())
    assert main(["apply", "t", "--table", "t.lance", "--reference", "others=x.lance"]) == 1
    assert "did you mean `--reference other=…`?" in capsys.readouterr().out
    assert main(["apply", "t", "--table", "t.lance"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "and verified" not in said
    assert f"the rows were not checked for: {told}" in said
    assert main(["verify", "t", "--table", "t.lance", "--data"]) == 0
    assert "except for references to tables that are not named" in " ".join(capsys.readouterr().err.split())


def test_find_the_rows_before_anything_is_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What `breaking` names as the way out works as it is copied, but for the path, as soon as the schema is locked."""
    monkeypatch.chdir(tmp_path)
    schema = _lock({"name": "t", "fields": BEFORE})
    lance.write_dataset(pa.Table.from_pylist(ROWS, schema), "t.lance")
    fields = [_was({"name": "c", "type": "Int64"}, "a"), *BEFORE[1:]]
    fields[0]["extra"][f"{OWN}/maximum"] = 2
    Path("t.yaml").write_text(json.dumps({"name": "t", "fields": fields}))
    main(["breaking", "t.yaml", "--against", "lock", "--engine", "lance", "--format", "json"])
    verdicts = json.loads(capsys.readouterr().out)["verdicts"]
    (way_out,) = [v["oldData"]["wayOut"] for v in verdicts if v["change"] == "constraint-added"]
    assert way_out.startswith(
        "lock the schema, and find the rows with `schemac verify t --table PATH --data`"
    )
    assert main(["lock", "t.yaml", "-q"]) == 0
    command = way_out.split("`")[1].replace("PATH", "t.lance").split()[1:]
    code, found = _told(capsys, *command)
    assert code == 1
    (broken,) = [one for one in found if one["code"] == "SC425"]
    assert broken["message"].endswith("c: 1 is not at most 2: 3 (maximum)")
    shown = eval(broken["help"].partition(" shows")[0])
    assert shown.column("a").to_pylist() == ["3"]
    lance.dataset("t.lance").delete("a = '3'")
    code, found = _told(capsys, *command)
    assert {one["code"] for one in found} == {"SC424"}
    assert main(["apply", "t", "--table", "t.lance"]) == 0
    assert main(command) == 0


def _ruled(type_: Any, extra: Tree | None = None, **rules: Any) -> Tree:
    field = {
        "name": "x",
        "type": type_,
        "extra": {f"{OWN}/{rule}": value for rule, value in rules.items()},
    }
    return {"name": "t", "fields": [{"name": "id", "type": "Int32"}, field], "extra": extra or {}}


def _of_rows(rule: str, value: Any) -> Tree:
    return {f"{OWN}/{rule}": value}


NARROWED = {
    "maximum": (_ruled("Int32", maximum=10), _ruled("Int32", maximum=5), 6),
    "maximum and type": (_ruled("Int32", maximum=10), _ruled("Int64", maximum=5), 6),
    "enum": (_ruled("Int32", enum=[1, 2]), _ruled("Int32", enum=[1]), 2),
    "enum and type": (_ruled("Int32", enum=[1, 2]), _ruled("Int64", enum=[1]), 2),
    "pattern": (_ruled("String", pattern="^a"), _ruled("String", pattern="^b"), "a"),
    "length and type": (_ruled("String", maxLength=9), _ruled("Binary", maxLength=3), "äöü"),
    "check": (_ruled("Int32", _of_rows("check", ["x > 1"])), _ruled("Int32", _of_rows("check", ["x > 10"])), 6),
    "one check more, and type": (
        _ruled("Int32", _of_rows("check", ["x > 1"])),
        _ruled("Int64", _of_rows("check", ["x > 1", "x > 10"])),
        6,
    ),
    "unique": (
        _ruled("Int32", _of_rows("unique", [["id", "x"]])),
        _ruled("Int32", _of_rows("unique", [["x"]])),
        6,
    ),
}  # fmt: skip
QUESTIONS = {"check": "no row may break `x > 10`", "unique": "no two rows may have the same value"}


@pytest.mark.parametrize("case", NARROWED)
def test_look_at_narrower_constraints(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two rows keep the first version and break the second: the plan asks, and apply refuses without a change."""
    monkeypatch.chdir(tmp_path)
    old, new, value = NARROWED[case]
    rows = [{"id": 1, "x": value}, {"id": 2, "x": value}]
    lance.write_dataset(pa.Table.from_pylist(rows, schema=_lock(old)), "t.lance")
    assert main(["verify", "t", "--table", "t.lance", "--data"]) == 0
    _lock(new)
    capsys.readouterr()
    assert main(["plan", "t", "--table", "t.lance"]) == 0
    plan = " ".join(capsys.readouterr().out.split())
    assert QUESTIONS.get(case, "check") in plan
    version = lance.dataset("t.lance").version
    code, found = _told(capsys, "apply", "t", "--table", "t.lance")
    assert (code, {one["code"] for one in found}) == (1, {"SC422"})
    assert lance.dataset("t.lance").version == version
