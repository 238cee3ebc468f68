"""Arrow types as kinds with hints.

Layer: arrow.
Shape: a type in the standard's long form, as plain values, and the attributes that its slot needs; hints only where
the layout is not what lowering would choose by itself.
Source: the inverse of `schemac.kinds` and `schemac.arrow.lower`.
"""

import json
from collections.abc import Callable
from typing import Any

from schemac.attributes import arrow, lance
from schemac.kinds.decimal import MOST_DIGITS
from schemac.kinds.foreign import ARROW_BUFFERS, ARROW_NAMES
from schemac.kinds.units import ARROW_UNITS
from schemac.physical.arrow import ArrowType, pa

Tree = dict[str, Any]

_UNITS = {abbreviation: unit for unit, abbreviation in ARROW_UNITS.items()}


class UnsupportedTypeError(Exception):
    """An Arrow type that no kind stands for."""


def leaf(type_: Any) -> tuple[Tree, Tree] | None:
    """Kind and hints of a type without children; None for the others. Raises UnsupportedTypeError."""
    name = str(type_)
    if name in ARROW_NAMES:
        return {"kind": ARROW_NAMES[name]}, {}
    if name in ARROW_BUFFERS:
        kind, encoding = ARROW_BUFFERS[name]
        return {"kind": kind}, {arrow.BUFFER_ENCODING.key: dict(encoding)} if encoding else {}
    for is_one, lift in _PARAMETRIC:
        if is_one(type_):
            return lift(type_)
    if pa.types.is_nested(type_) and not pa.types.is_union(type_):
        return None
    raise UnsupportedTypeError(name)


def _decimal(type_: Any) -> tuple[Tree, Tree]:
    tree = {"kind": "Decimal", "precision": type_.precision, "scale": type_.scale}
    default = 128 if type_.precision <= MOST_DIGITS[128] else 256
    hint = {arrow.DECIMAL_ENCODING.key: {"bitWidth": type_.bit_width}}
    return tree, hint if type_.bit_width != default else {}


def _date(type_: Any) -> tuple[Tree, Tree]:
    in_milliseconds = {arrow.DATE_ENCODING.key: {"unit": "Millisecond"}}
    return {"kind": "Date"}, in_milliseconds if pa.types.is_date64(type_) else {}


def _with_unit(kind: str) -> Callable[[Any], tuple[Tree, Tree]]:
    return lambda type_: ({"kind": kind, "unit": _UNITS[type_.unit]}, {})


def _timestamp(type_: Any) -> tuple[Tree, Tree]:
    return {"kind": "Timestamp", "unit": _UNITS[type_.unit], "timezone": type_.tz}, {}


def _fixed_size_binary(type_: Any) -> tuple[Tree, Tree]:
    if type_.byte_width == 0:
        raise UnsupportedTypeError("fixed_size_binary of no bytes")
    return {"kind": "Binary", "fixedLength": type_.byte_width}, {}


_PARAMETRIC: tuple[tuple[Callable[[Any], bool], Callable[[Any], tuple[Tree, Tree]]], ...] = (
    (lambda t: pa.types.is_decimal(t), _decimal),
    (lambda t: pa.types.is_date(t), _date),
    (lambda t: pa.types.is_timestamp(t), _timestamp),
    (lambda t: pa.types.is_time(t), _with_unit("Time")),
    (lambda t: pa.types.is_duration(t), _with_unit("Duration")),
    (lambda t: pa.types.is_fixed_size_binary(t), _fixed_size_binary),
)


def list_layout(type_: Any) -> tuple[Tree, Tree]:
    """Properties and hints of a list, apart from its item."""
    if pa.types.is_fixed_size_list(type_):
        if type_.list_size == 0:
            raise UnsupportedTypeError("fixed_size_list of no items")
        return {"fixedLength": type_.list_size}, {}
    is_view = type_.id in (pa.lib.Type_LIST_VIEW, pa.lib.Type_LARGE_LIST_VIEW)
    is_large = type_.id in (pa.lib.Type_LARGE_LIST, pa.lib.Type_LARGE_LIST_VIEW)
    if not is_view and not is_large:
        return {}, {}
    hint = {"kind": "View" if is_view else "Contiguous", "offsetBitWidth": 64 if is_large else 32}
    return {}, {arrow.BUFFER_ENCODING.key: hint}


def is_list(type_: Any) -> bool:
    """Whether a type is one of Arrow's five lists."""
    return type_.id in (
        pa.lib.Type_LIST,
        pa.lib.Type_LARGE_LIST,
        pa.lib.Type_LIST_VIEW,
        pa.lib.Type_LARGE_LIST_VIEW,
        pa.lib.Type_FIXED_SIZE_LIST,
    )


def dictionary_hint(type_: Any) -> Tree:
    """The hint of a dictionary."""
    index = ARROW_NAMES[str(type_.index_type)]
    return {
        arrow.DICTIONARY_ENCODING.key: {"indexType": index, **({"ordered": True} if type_.ordered else {})}
    }


def extension_hint(type_: Any) -> Tree:
    """The attribute of an extension type that pyarrow has registered."""
    name = type_.extension_name
    if name == "arrow.json" and str(type_.storage_type) in ARROW_BUFFERS:
        return {lance.JSON.key: True}
    if name == "arrow.fixed_shape_tensor":
        metadata: Tree = {"shape": list(type_.shape)}
        if type_.dim_names is not None:
            metadata["dim_names"] = list(type_.dim_names)
        if type_.permutation is not None:
            metadata["permutation"] = list(type_.permutation)
        return {
            arrow.EXTENSION_TYPE.key: {"name": name, "metadata": json.dumps(metadata, separators=(",", ":"))}
        }
    if name == "arrow.opaque":
        opaque = {"type_name": type_.type_name, "vendor_name": type_.vendor_name}
        return {
            arrow.EXTENSION_TYPE.key: {"name": name, "metadata": json.dumps(opaque, separators=(",", ":"))}
        }
    return {arrow.EXTENSION_TYPE.key: {"name": name}}


def storage_of(type_: ArrowType) -> Any:
    """The storage type of an extension type, any other type itself."""
    return type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_
