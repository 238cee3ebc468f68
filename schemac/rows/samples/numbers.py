"""Numbers and geometries drawn from a seed.

Layer: rows.
Shape: a `Grid` numbers the values that bounds and `multipleOf` leave, from `first` to `last`, `step` units apart; `home` is where usual
      values are.
Units: as `schemac.language.constraints.constraint`: a decimal is counted in its last digit, the others in the unit of their type.
Source: SHAKE128 (FIPS 202) of a text that names what is drawn, which is the same everywhere; the outputs of Python's own generator may
      change with its version.
      Geometries are in degrees of longitude and latitude, with closed rings: OGC 06-103r4, well-known binary and text; GeoArrow,
      "Memory layouts" and "Extension types".
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from hashlib import shake_128
from math import gcd
from typing import Any, TypeVar

import pyarrow as pa

from schemac.language.attributes.attribute import TEMPORAL, Family
from schemac.language.attributes.registry import ATTRIBUTES
from schemac.language.constraints.constraint import EXACT, Constraint, limits_of, scale_of, whole
from schemac.language.constraints.field_constraints import Bound, MultipleOf
from schemac.language.kinds.temporal import PER_SECOND
from schemac.language.logical.model import LogicalType, SchemaField
from schemac.rows.judging.arrays import extension_name, is_list
from schemac.rows.judging.settings import FIRST_DAY, FIRST_MICROSECOND, LAST_DAY, LAST_MICROSECOND

_BLOCK = 4096
"""Bytes that are drawn at a time."""

T = TypeVar("T")


class Draws:
    """A stream of pseudo-random numbers, which its purpose determines."""

    def __init__(self, *purpose: object) -> None:
        self._purpose = "/".join(map(repr, purpose))
        self._blocks = 0
        self._bytes, self._at = b"", 0

    def below(self, count: int) -> int:
        """Return a number from 0 to `count` - 1, each as likely as the others but for less than 2⁻³²."""
        size, at = (count.bit_length() + 39) // 8, self._at
        if at + size > len(self._bytes):
            self._bytes, at = self.bytes(max(_BLOCK, size)), 0
        self._at = at + size
        return int.from_bytes(self._bytes[at : at + size], "little") % count

    def chance(self, percent: int) -> bool:
        """Return whether something happens in so many of 100 cases."""
        return self.below(100) < percent

    def one_of(self, values: Sequence[T]) -> T:
        """Return one of some values."""
        return values[self.below(len(values))]

    def bytes(self, count: int) -> bytes:
        """Return bytes."""
        self._blocks += 1
        return shake_128(f"{self._purpose}#{self._blocks}".encode()).digest(count)


def draw_indices(draws: Draws, count: int, size: int) -> Any:
    """Return an Arrow array of `count` numbers below `size`, at most 2³¹."""
    import pyarrow.compute as pc  # for start-up time: whoever draws single numbers needs no functions of Arrow

    words = pa.Array.from_buffers(pa.uint32(), count, [None, pa.py_buffer(draws.bytes(count * 4))])
    scaled = pc.multiply(words.cast(pa.uint64()), pa.scalar(size, pa.uint64()))
    return pc.shift_right(scaled, pa.scalar(32, pa.uint64())).cast(pa.int64())


COUNTED = TEMPORAL | {Family.INTEGER, Family.DECIMAL}
"""Families whose values are counts of a unit."""
_DAY = 86_400
_MARGIN = 2 * _DAY * 10**6
"""At the ends of the calendar, what is shown in another zone may lie beyond."""
_USUAL_DAYS = (10_957, 21_915)
"""From 2000 to 2029."""
_NEAR = 1000


@dataclass(frozen=True)
class Grid:
    """The counts that bounds and `multipleOf` allow."""

    first: int
    last: int
    step: int
    usual: tuple[int, int] | None = None
    """The counts that are drawn as a rule; None where small ones are."""
    apart: int = 1
    """How far those are from each other that are numbered."""

    @cached_property
    def count(self) -> int:
        """How many there are."""
        return max(self.last // self.step - self._low + 1, 0)

    def nth(self, number: int) -> int:
        """Return a count; numbers begin with those that are usual, and go on from the first one behind the last."""
        usual = self.usual[0] if self.usual is not None else 1
        # How far the first numbered one is from the least.
        start = -(-min(max(usual, self.first), self.last) // self.step) - self._low
        return (self._low + (start + number * self._stride) % self.count) * self.step

    @cached_property
    def _low(self) -> int:
        """Return the least allowed count in steps, rounded up."""
        return -(-self.first // self.step)

    @cached_property
    def _stride(self) -> int:
        """Return the distance from one numbered count to the next, which has no divisor in common with how many there are."""
        stride = self.apart if self.count > self.apart * _NEAR else 1
        while gcd(stride, self.count) != 1:
            stride += 1
        return stride

    def draw(self, draws: Draws) -> int:
        """Return a count: nearly always a usual one, sometimes one at an end."""
        low, high = self._low, self.last // self.step
        if high - low < _NEAR:
            return (low + draws.below(high - low + 1)) * self.step
        case = draws.below(100)
        if case < 4:
            return (low if case % 2 else high) * self.step
        if self.usual is not None:
            near = max(low, -(-self.usual[0] // self.step)), min(high, self.usual[1] // self.step)
            if near[0] > near[1] or case < 8:
                near = low, high
            return (near[0] + draws.below(near[1] - near[0] + 1)) * self.step
        # As many small numbers as large ones, in digits.
        size = draws.below(max((high - low).bit_length() - 1, 1)) + 1
        away = draws.below(2**size)
        home = min(max(0, low), high)
        number = home - away if draws.chance(25) else home + away
        return min(max(number, low), high) * self.step


def grid_of(type_: LogicalType, constraints: tuple[Constraint, ...]) -> Grid:
    """Return the counts that constraints leave of a type."""
    first, last, usual = _range(type_)
    step, scale = 1, scale_of(type_)

    def counted(value: Any) -> int:
        return whole(Decimal(value), scale)

    for one in constraints:
        if isinstance(one, MultipleOf):
            step = one.whole_divisor
        elif isinstance(one, Bound) and one.is_lower:
            first = max(first, counted(one.limit) + one.is_exclusive)
        elif isinstance(one, Bound):
            last = min(last, counted(one.limit) - one.is_exclusive)
    apart = 61 * PER_SECOND[type_.unit] if type_.family is Family.TIMESTAMP else 1  # type: ignore[attr-defined]  # of the family
    return Grid(first, last, step, usual, apart)


def value_of(type_: LogicalType, count: int) -> Any:
    """Return the value that is counted."""
    return Decimal(count).scaleb(-scale_of(type_), EXACT) if type_.family is Family.DECIMAL else count


def _range(type_: LogicalType) -> tuple[int, int, tuple[int, int] | None]:
    """Return the first and the last count of a type, and the usual ones."""
    per_second = PER_SECOND.get(getattr(type_, "unit", ""), 1)
    match type_.family:
        case Family.DATE:
            return FIRST_DAY, LAST_DAY, _USUAL_DAYS
        case Family.TIME:
            last = _DAY * per_second - 1
            return 0, last, (0, last)
        case Family.TIMESTAMP:
            usual = _USUAL_DAYS[0] * _DAY * per_second, _USUAL_DAYS[1] * _DAY * per_second
            if per_second == 10**9:
                return -(2**63) + 10**9, 2**63 - 10**9, usual
            step = 10**6 // per_second
            return -(-(FIRST_MICROSECOND + _MARGIN) // step), (LAST_MICROSECOND - _MARGIN) // step, usual
    limits = limits_of(type_)
    assert limits is not None, type_
    scale = scale_of(type_)
    return whole(Decimal(limits[0]), scale), whole(Decimal(limits[1]), scale), None


_EDGES = (0.0, 1.0, -1.0, 0.5, 100.0, -0.0, 1e-3)


@dataclass(frozen=True)
class Floats:
    """The floats of a type within bounds."""

    type: LogicalType
    bounds: tuple[Bound, ...]

    def draw(self, draws: Draws) -> float:
        """Return a float of the type: usual ones have two digits after the point."""
        low, high = self._ends()
        for _ in range(40):
            case = draws.below(100)
            if case < 6:
                number = draws.one_of((low, high))
            elif case < 14:
                number = draws.one_of(_EDGES)
            elif high - low <= 2 * _NEAR:
                number = low + (high - low) * draws.below(2**32) / 2**32
            else:
                size = draws.below(20) + 1
                away = draws.below(100 * 2**size) / 100
                home = min(max(0.0, low), high)
                number = home - away if draws.chance(25) else home + away
            rounded: float = self.type.nearest(number)  # type: ignore[attr-defined]  # of the family
            if self.allows(rounded):
                return rounded
        return float(next((one.limit for one in self.bounds if not one.is_exclusive), 0.0))

    def allows(self, value: float) -> bool:
        """Whether a value keeps all bounds, and is finite."""
        return abs(value) != float("inf") and all(bound.allows(value) for bound in self.bounds)

    def _ends(self) -> tuple[float, float]:
        """Return the least and the greatest float of the type within the bounds, as if all bounds were inclusive."""
        top = 2 ** (self.type.bits - self.type.mantissa - 1) - 1  # type: ignore[attr-defined]  # of the family
        largest = float((2**self.type.mantissa - 1) * 2 ** (top - self.type.mantissa + 1))  # type: ignore[attr-defined]  # likewise
        low = max([-largest, *(float(one.limit) for one in self.bounds if one.is_lower)])
        high = min([largest, *(float(one.limit) for one in self.bounds if not one.is_lower)])
        return low, high

    @property
    def count(self) -> int:
        """How many whole numbers there are from the least one on."""
        low, high = self._ends()
        start = max(low, 0.0) if high >= 0 else low
        return max(int(min(high - start, 2.0**self.type.mantissa)), 0)  # type: ignore[attr-defined]  # of the family

    def nth(self, number: int) -> float:
        """Return a whole number."""
        low, high = self._ends()
        return float(int(max(low, 0.0) if high >= 0 else low) + number + 1) if self.count else low


Point = tuple[float, float]

_BINARY_EXTENSIONS = ("geoarrow.wkb", "ogc.wkb")
TEXT_EXTENSION = "geoarrow.wkt"
_CODES = {"POINT": 1, "LINESTRING": 2, "POLYGON": 3}
_PER_DEGREE = 100_000
_LONGITUDES, _LATITUDES = 360 * _PER_DEGREE, 180 * _PER_DEGREE
NUMBERED = _LONGITUDES * _LATITUDES
"""How many points there are that have a number."""


def is_binary_geometry(field: SchemaField, member: pa.Field) -> bool:
    """Return whether the values of a field of bytes are geometries in well-known binary."""
    attributes = (ATTRIBUTES[key] for key in field.extra if key in ATTRIBUTES)
    is_geometry = any(
        one.is_geometry is not None and one.is_geometry(one.read(field.extra)) for one in attributes
    )
    return is_geometry or extension_name(member) in _BINARY_EXTENSIONS


def draw_wkb(draws: Draws) -> bytes:
    """Return a geometry in well-known binary."""
    word = draws.one_of(tuple(_CODES))
    return _wkb(word, _SHAPES[word](draws))


def numbered_wkb_point(number: int) -> bytes:
    """Return the point with a number in well-known binary."""
    latitude, longitude = divmod(number, _LONGITUDES)
    x, y = longitude / _PER_DEGREE - 180, latitude % _LATITUDES / _PER_DEGREE - 90
    return _wkb("POINT", (x, y))


def draw_wkt(draws: Draws) -> str:
    """Return a geometry in well-known text."""
    word = draws.one_of(tuple(_CODES))
    text = _wkt(_SHAPES[word](draws))
    return f"{word} {text}" if text.startswith("(") else f"{word} ({text})"


def native_geometry_drawer(member: pa.Field) -> Callable[[Draws], Any] | None:
    """Return what draws the values of a field whose GeoArrow type has coordinates as values; None for any other field."""
    name = (extension_name(member) or "").partition("geoarrow.")[2]
    if name not in _NATIVE:
        return None
    return lambda draws: _native_value(_NATIVE[name](draws), member.type)


def _point(draws: Draws) -> Point:
    """Return a longitude and a latitude in degrees."""
    x, y = draws.below(_LONGITUDES), draws.below(_LATITUDES)
    return x / _PER_DEGREE - 180, y / _PER_DEGREE - 90


def _line(draws: Draws) -> list[Point]:
    """Return two to five points."""
    return [_point(draws) for _ in range(2 + draws.below(4))]


def _polygon(draws: Draws) -> list[list[Point]]:
    """Return one closed ring: a rectangle at most 90 degrees wide and 45 high."""
    left = draws.below(_LONGITUDES // 2) / _PER_DEGREE - 180
    low = draws.below(_LATITUDES // 2) / _PER_DEGREE - 90
    right, high = left + 1 + draws.below(90), low + 1 + draws.below(45)
    return [[(left, low), (right, low), (right, high), (left, high), (left, low)]]


def _several_of(one: Callable[[Draws], Any]) -> Callable[[Draws], list[Any]]:
    """Return what draws one to three shapes."""
    return lambda draws: [one(draws) for _ in range(1 + draws.below(3))]


_SHAPES: dict[str, Callable[[Draws], Any]] = {"POINT": _point, "LINESTRING": _line, "POLYGON": _polygon}
_NATIVE: dict[str, Callable[[Draws], Any]] = {
    "point": _point,
    "linestring": _line,
    "polygon": _polygon,
    "multipoint": _several_of(_point),
    "multilinestring": _several_of(_line),
    "multipolygon": _several_of(_polygon),
}


def _wkb(word: str, shape: Any) -> bytes:
    """Return a shape in WKB, little-endian."""
    return struct.pack("<BI", 1, _CODES[word]) + _coordinates(shape)


def _coordinates(shape: Any) -> bytes:
    """Return the coordinates of a shape in WKB, each list after its length."""
    if isinstance(shape, tuple):
        return struct.pack("<2d", *shape)
    return struct.pack("<I", len(shape)) + b"".join(map(_coordinates, shape))


def _wkt(shape: Any) -> str:
    """Return the coordinates of a shape in WKT, lists in parentheses."""
    if isinstance(shape, tuple):
        return f"{shape[0]} {shape[1]}"
    return f"({', '.join(map(_wkt, shape))})"


def _native_value(shape: Any, data_type: pa.DataType) -> Any:
    """Return a shape as values of an Arrow type; further dimensions of a point are 0."""
    if not isinstance(shape, tuple):
        return [_native_value(one, data_type.value_type) for one in shape]
    if pa.types.is_struct(data_type):
        return {part.name: dict(zip("xy", shape, strict=True)).get(part.name, 0.0) for part in data_type}
    size = data_type.list_size if is_list(data_type) else len(shape)
    return [*shape, *[0.0] * (size - len(shape))]
