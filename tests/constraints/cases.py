"""Every constraint for every kind that it fits, and values of the kind: drawn from the registries."""

import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, NamedTuple

import pyarrow as pa

import schemac
from schemac.arrow.constraints import constraints_of
from schemac.language.attributes.attribute import Family
from schemac.language.constraints.constraint import Constraint, limits_of, shown, step_of
from schemac.language.constraints.field_constraints import CONSTRAINTS, Enum, MultipleOf, Pattern, Size
from schemac.language.kinds.registry import KINDS
from schemac.language.kinds.sequences import List
from schemac.language.kinds.temporal import PER_SECOND
from schemac.language.logical.model import LogicalType

PATTERNS = ("^[a-z]+$", "é|[^\\n]$", "^(?:a|bc){2,3}$", "[0-9]", "^\\.", "[&#~|-]", "^[^a]*$", "\\n$")
TEXTS = (
    "", "a", "abc", "bcbc", "abca", "é", "é\n", "\n", "a\n", "a\r", "a\u2028", "1", "٣", "ab1", ".", "-", "&", "#x", "~|",
    "\U0001f600", "a\U0001f600b", "e\u0301", "A", "ß", "x" * 40, "\t", "a\x85",
)  # fmt: skip
ITEMS = ("String", "Int64", "Bool", {"kind": "Decimal", "precision": 5, "scale": 2}, "Date", "Binary")
YEARS = (-62135596800, 253402300799)
EXACT = Context(prec=100)


@dataclass(frozen=True)
class Case:
    """A constraint as an author writes it."""

    kind: type[Constraint]
    type: LogicalType
    authored: Any

    @property
    def field(self) -> dict[str, Any]:
        """The field of a manifest, but for its name."""
        written = self.type.model_dump(by_alias=True, exclude_unset=True, mode="json")
        if written.get("timezone", 0) is None or "kind" not in written:
            written = {**written, "kind": self.type.kind}
        return {
            "type": {"kind": "Option", "inner": written},
            "extra": {self.kind.attribute.key: self.authored},
        }


def cases() -> Iterator[Case]:
    """Yield all."""
    for kind in CONSTRAINTS:
        for type_ in types_for(kind):
            for authored in limits(kind, type_):
                yield Case(kind, type_, authored)


def types_for(kind: type[Constraint]) -> Iterator[LogicalType]:
    """Yield the types that a constraint fits."""
    if set(kind.attribute.fits or ()) == {Family.LIST}:
        yield from (List.model_validate({"kind": "List", "itemType": _typed(item)}) for item in ITEMS)
        return
    for logical in KINDS:
        if logical.family not in (kind.attribute.fits or ()):
            continue
        for type_ in logical.variants():
            is_wide = getattr(type_, "precision", 0) > 38
            if not is_wide and getattr(type_, "fixed_length", None) is None:
                yield type_


def _typed(item: Any) -> LogicalType:
    return LogicalType.model_validate({"kind": item} if isinstance(item, str) else item)


def limits(kind: type[Constraint], type_: LogicalType) -> Iterator[Any]:
    """Yield what an author may write."""
    if issubclass(kind, Pattern):
        yield from PATTERNS
    elif issubclass(kind, Size):
        yield from (0, 1, 3)
    elif type_.family is Family.LIST:
        yield True
    elif issubclass(kind, Enum):
        found = [value for value in values_of(type_) if _is_written(type_, value)][:12]
        yield [_written(type_, value) for value in dict.fromkeys(found)]
    else:
        found = [value for value in values_of(type_) if _is_written(type_, value)]
        if issubclass(kind, MultipleOf):
            found = [value for value in found if value > 0][:40:13]
        yield from (_written(type_, value) for value in found[:24:12])


def _is_written(type_: LogicalType, value: Any) -> bool:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return False
    if type_.family is Family.DATE:
        return bool(-719162 <= value <= 2932896)
    if type_.family is Family.TIMESTAMP:
        per = PER_SECOND[getattr(type_, "unit")]  # noqa: B009
        return bool(YEARS[0] * per <= value <= YEARS[1] * per)
    return True


def _written(type_: LogicalType, value: Any) -> Any:
    if isinstance(value, bool) or type_.family in (Family.TEXT, Family.FLOAT):
        return value
    return int(value) if type_.family in (Family.INTEGER, Family.DURATION) else shown(type_, value)


def values_of(type_: LogicalType, count: int = 0) -> tuple[Any, ...]:
    """Return the samples of a type, what is beside them, `count` random ones, and null."""
    chance = random.Random(7)
    if type_.family is Family.LIST:
        return _lists(type_, chance, count)
    if type_.family is Family.TEXT:
        drawn = ["".join(chance.choices("abcé1\n.&\U0001f600", k=chance.randrange(6))) for _ in range(count)]
        return (*TEXTS, *drawn, None)
    if type_.family is Family.BYTES:
        return (
            b"",
            b"a",
            b"abc",
            b"\x00\xff",
            *(chance.randbytes(chance.randrange(6)) for _ in range(count)),
            None,
        )
    samples = list(type_.samples())
    step = step_of(type_)
    if type_.family is Family.BOOLEAN:
        return (*samples, None)
    if step is None:
        found = [*samples, *(chance.choice(samples) for _ in range(count))]
        return (*found, None)
    beside = [_moved(value, sign * step) for value in samples for sign in (1, -1)]
    top = max(abs(value) for value in samples)
    drawn = [_drawn(type_, chance, top) for _ in range(count)]
    low, high = limits_of(type_) or (min(samples), max(samples))
    kept = dict.fromkeys(value for value in (*samples, *beside, *drawn) if low <= value <= high)
    return (*(value for value in kept if _is_held(type_, value)), None)


def _moved(value: Any, step: Decimal) -> Any:
    return EXACT.add(value, step) if isinstance(value, Decimal) else value + int(step)


def _drawn(type_: LogicalType, chance: random.Random, top: Any) -> Any:
    size = chance.choice((10, 1000, 10**6, 2**62))
    number = chance.randrange(-size, size)
    scale = getattr(type_, "scale", 0)
    return Decimal(number).scaleb(-scale, EXACT) if type_.family is Family.DECIMAL else number


def _is_held(type_: LogicalType, value: Any) -> bool:
    """Whether Spark has the value: it knows the years 1 to 9999."""
    if type_.family is Family.TIME:
        return bool(0 <= value < 86400 * PER_SECOND[getattr(type_, "unit")])  # noqa: B009
    if type_.family is Family.TIMESTAMP and getattr(type_, "unit") == "Nanosecond":  # noqa: B009
        return True
    return type_.family not in (Family.DATE, Family.TIMESTAMP) or _is_written(type_, value)


def _lists(type_: LogicalType, chance: random.Random, count: int) -> tuple[Any, ...]:
    items = [*values_of(getattr(type_, "item_type"), 0)][:6]  # noqa: B009
    drawn = [[chance.choice(items) for _ in range(chance.randrange(5))] for _ in range(count)]
    whole = [[one for one in found if one is not None] for found in drawn]
    return ([], items[:1], items[:1] * 2, items[:3], *whole, None)


def dataset_of(found: list[Case]) -> schemac.Dataset:
    """Compile the cases as one schema."""
    fields = [{"name": f"c{i}", **case.field} for i, case in enumerate(found)]
    (dataset,) = schemac.compile_text(json.dumps({"name": "cases", "fields": fields}, ensure_ascii=False))
    return dataset


class Column(NamedTuple):
    """A column with the constraints that hold there."""

    field: pa.Field
    constraints: tuple[Constraint, ...]


def columns_of(found: list[Case]) -> list[Column]:
    """Return the constraints of the cases as an Arrow schema carries them, in their order."""
    schema = dataset_of(found).to_arrow()
    held = constraints_of(schema)
    places = [held.column(f"c{i}") for i in range(len(found))]
    assert all(place is not None and len(place.constraints) == 1 for place in places)
    return [Column(schema.field(i), place.constraints) for i, place in enumerate(places) if place is not None]


def arrow_of(type_: LogicalType, arrow: pa.DataType, values: tuple[Any, ...]) -> pa.Array:
    """Return values as an Arrow array of a type."""
    is_ = pa.types
    if is_.is_date32(arrow) or is_.is_time32(arrow):
        return pa.array(values, pa.int32()).view(arrow)
    if is_.is_timestamp(arrow) or is_.is_time64(arrow) or is_.is_duration(arrow):
        return pa.array(values, pa.int64()).view(arrow)
    if is_.is_list(arrow):
        inner = getattr(type_, "item_type")  # noqa: B009
        offsets: list[int] = [0]
        flat: list[Any] = []
        for value in values:
            flat += value or []
            offsets.append(len(flat))
        mask = pa.array([value is None for value in values])
        items = arrow_of(inner, arrow.value_type, tuple(flat))
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items, arrow, mask=mask)
    return pa.array(values, arrow)


COMPARED: dict[str, Any] = {
    "a": "Int64", "b": "Int16", "u": "UInt64", "d": {"kind": "Decimal", "precision": 10, "scale": 2},
    "e": {"kind": "Decimal", "precision": 12, "scale": 4}, "f": "Float32", "g": "Float64", "s": "String", "t": "String",
    "day": "Date", "at": "Timestamp", "ns": {"kind": "Timestamp", "unit": "Nanosecond", "timezone": None}, "ok": "Bool",
    "clock": "Time", "span": "Duration",
    "p": {"kind": "Struct", "fields": [{"name": "q", "type": {"kind": "Option", "inner": "Int64"}}]},
}  # fmt: skip
"""Fields that conditions compare, and their types."""
CONDITIONS = [
    "a < b", "a <= u", "u = 18446744073709551615", "a + u > 0", "a - b < b * 2", "d = e", "d + e >= 1.25", "d * 3 <> e", "d <= a",
    "f < g", "f <> g", "f = g", "not f >= 0.5", "s = 'a'", "s < t", "s in ('a', 'é')", "length(s) > 1", "day between '1970-01-01' and '2022-01-08'",
    "at > '1970-01-01T00:00:00Z'", "ok or a > 0", "not ok and b is null", "ok is null or s is not null", "a in (0, 1, -1)",
    "d in (0.05, 1.50)", "a not in (5, 7) and (b = 0 or not ok)", "ns <= '2001-09-09T01:46:40.000000001'", "p.q >= a", "d - e < -0.5", "d = 1.5",
    "clock >= '12:34:56'", "span < 1000 or span is null", "length(s) = length(t)", "a = 1.5 or ok <> true",
]  # fmt: skip


def dataset_of_conditions() -> schemac.Dataset:
    """Compile a schema with all conditions."""
    fields = [{"name": name, "type": {"kind": "Option", "inner": kind}} for name, kind in COMPARED.items()]
    extra = {"schemac.dev/check": CONDITIONS}
    (dataset,) = schemac.compile_text(json.dumps({"name": "r", "fields": fields, "extra": extra}))
    return dataset
