"""Geometries: points, lines and polygons in degrees of longitude and latitude, with closed rings.

Layer: rows.
Source: OGC 06-103r4, well-known binary and text; GeoArrow, "Memory layouts" and "Extension types".
"""

import struct
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from schemac.language.attributes.attribute import Family
from schemac.language.attributes.registry import ATTRIBUTES
from schemac.language.logical.schema_fields import SchemaField
from schemac.rows.judging.arrays import extension_name, is_list
from schemac.rows.samples.numbers import Draws

Point = tuple[float, float]

_BINARY_EXTENSIONS = ("geoarrow.wkb", "ogc.wkb")
_TEXT_EXTENSION = "geoarrow.wkt"
_CODES = {"POINT": 1, "LINESTRING": 2, "POLYGON": 3}
_PER_DEGREE = 100_000
_LONGITUDES, _LATITUDES = 360 * _PER_DEGREE, 180 * _PER_DEGREE
NUMBERED = _LONGITUDES * _LATITUDES
"""How many points there are that have a number."""


def is_binary_geometry(field: SchemaField, member: pa.Field) -> bool:
    """Return whether the values of a field are geometries in well-known binary."""
    if field.type.family is not Family.BYTES:
        return False
    attributes = (ATTRIBUTES[key] for key in field.extra if key in ATTRIBUTES)
    is_geometry = any(
        one.is_geometry is not None and one.is_geometry(one.read(field.extra)) for one in attributes
    )
    return is_geometry or extension_name(member) in _BINARY_EXTENSIONS


def is_text_geometry(field: SchemaField, member: pa.Field) -> bool:
    """Return whether the values of a field are geometries in well-known text."""
    return field.type.family is Family.TEXT and extension_name(member) == _TEXT_EXTENSION


def drawn_binary(draws: Draws) -> bytes:
    """Return a geometry in well-known binary."""
    word = draws.one_of(tuple(_CODES))
    return _binary(word, _SHAPES[word](draws))


def numbered_binary(number: int) -> bytes:
    """Return the point with a number in well-known binary."""
    latitude, longitude = divmod(number, _LONGITUDES)
    x, y = longitude / _PER_DEGREE - 180, latitude % _LATITUDES / _PER_DEGREE - 90
    return _binary("POINT", (x, y))


def drawn_text(draws: Draws) -> str:
    """Return a geometry in well-known text."""
    word = draws.one_of(tuple(_CODES))
    text = _text(_SHAPES[word](draws))
    return f"{word} {text}" if text.startswith("(") else f"{word} ({text})"


def drawn_native(member: pa.Field) -> Callable[[Draws], Any] | None:
    """Return what draws the values of a field whose GeoArrow type has coordinates as values; None for any other field."""
    name = (extension_name(member) or "").partition("geoarrow.")[2]
    if name not in _NATIVE:
        return None
    return lambda draws: _laid_out(_NATIVE[name](draws), member.type)


def _point(draws: Draws) -> Point:
    x, y = draws.below(_LONGITUDES), draws.below(_LATITUDES)
    return x / _PER_DEGREE - 180, y / _PER_DEGREE - 90


def _line(draws: Draws) -> list[Point]:
    return [_point(draws) for _ in range(2 + draws.below(4))]


def _ring(draws: Draws) -> list[Point]:
    """Return the corners of a rectangle, counterclockwise; the last one is the first."""
    left, low = (
        draws.below(_LONGITUDES // 2) / _PER_DEGREE - 180,
        draws.below(_LATITUDES // 2) / _PER_DEGREE - 90,
    )
    right, high = left + 1 + draws.below(90), low + 1 + draws.below(45)
    return [(left, low), (right, low), (right, high), (left, high), (left, low)]


def _polygon(draws: Draws) -> list[list[Point]]:
    return [_ring(draws)]


def _several(one: Callable[[Draws], Any]) -> Callable[[Draws], list[Any]]:
    return lambda draws: [one(draws) for _ in range(1 + draws.below(3))]


_SHAPES: dict[str, Callable[[Draws], Any]] = {"POINT": _point, "LINESTRING": _line, "POLYGON": _polygon}
_NATIVE: dict[str, Callable[[Draws], Any]] = {
    "point": _point,
    "linestring": _line,
    "polygon": _polygon,
    "multipoint": _several(_point),
    "multilinestring": _several(_line),
    "multipolygon": _several(_polygon),
}


def _binary(word: str, shape: Any) -> bytes:
    return struct.pack("<BI", 1, _CODES[word]) + _coordinates(shape)


def _coordinates(shape: Any) -> bytes:
    if isinstance(shape, tuple):
        return struct.pack("<2d", *shape)
    return struct.pack("<I", len(shape)) + b"".join(map(_coordinates, shape))


def _text(shape: Any) -> str:
    if isinstance(shape, tuple):
        return f"{shape[0]} {shape[1]}"
    return f"({', '.join(map(_text, shape))})"


def _laid_out(shape: Any, data_type: pa.DataType) -> Any:
    """Return a shape as values of an Arrow type; further dimensions of a point are 0."""
    if not isinstance(shape, tuple):
        return [_laid_out(one, data_type.value_type) for one in shape]
    if pa.types.is_struct(data_type):
        return {part.name: dict(zip("xy", shape, strict=True)).get(part.name, 0.0) for part in data_type}
    size = data_type.list_size if is_list(data_type) else len(shape)
    return [*shape, *[0.0] * (size - len(shape))]
