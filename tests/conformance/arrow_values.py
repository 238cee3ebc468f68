"""Arrow arrays with something in every corner: values, and nulls wherever the schema allows one.

Shape: `rows(field)` gives Python values, `array(values, type)` the Arrow array of them. pyarrow's own builder does
not reach extension types below the top, so the array is put together level by level.
"""

import datetime
import decimal
from typing import Any

import pyarrow as pa

Field = Any
Type = Any

_DAY = datetime.date(2024, 2, 29)
_MOMENT = datetime.datetime(2024, 2, 29, 12, 30, 15)  # noqa: DTZ001 — the zone is the type's


def table(schema: pa.Schema) -> pa.Table:
    """Some rows of a schema; as many for every column."""
    columns = [rows(field) for field in schema]
    height = max([3, *map(len, columns)])
    filled = [[column[i % len(column)] for i in range(height)] for column in columns]
    arrays = [array(column, field) for column, field in zip(filled, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def rows(field: Field) -> list[Any]:
    """Values of a field: some that are there, and null if it may be."""
    if is_blob(field):
        found = [
            {"data": data, "uri": None, "position": None, "size": None} for data in (b"abc", b"\x00" * 200)
        ]
    else:
        found = values(field.type)
    return [*found, None, found[0]] if field.nullable and found else found or [None]


def values(type_: Type) -> list[Any]:
    """Values of a type, none of them null, whose parts take turns at being null. Null has no such value."""
    if isinstance(type_, pa.BaseExtensionType):
        return ['{"a":1}', "[1,2]"] if type_.extension_name == "arrow.json" else values(type_.storage_type)
    if pa.types.is_null(type_):
        return []
    if pa.types.is_dictionary(type_):
        return values(type_.value_type)
    if pa.types.is_struct(type_):
        members = [rows(child) for child in type_.fields]
        height = max([2, *map(len, members)])
        names = [child.name for child in type_.fields]
        return [dict(zip(names, [m[i % len(m)] for m in members], strict=True)) for i in range(height)]
    if pa.types.is_map(type_):
        keys, items = rows(type_.key_field), rows(type_.item_field)
        return [[(keys[0], item)] for item in items] + [[], [(key, items[0]) for key in _distinct(keys)]]
    if pa.types.is_fixed_size_list(type_):
        items = rows(type_.value_field)
        size = type_.list_size
        return [[items[(start + i) % len(items)] for i in range(size)] for start in range(len(items))]
    if pa.types.is_nested(type_):
        items = rows(type_.value_field)
        return [items, [], items[:1], [*items, *items]]
    return _plain_values(type_)


def _distinct(keys: list[Any]) -> list[Any]:
    return [key for i, key in enumerate(keys) if key not in keys[:i]]


def _plain_values(type_: Type) -> list[Any]:
    if pa.types.is_boolean(type_):
        return [True, False]
    if pa.types.is_integer(type_):
        bits = type_.bit_width
        return [2**bits - 1, 0, 7] if pa.types.is_unsigned_integer(type_) else [-(2 ** (bits - 1)), 0, 7]
    if pa.types.is_floating(type_):
        return [1.5, -0.25, 0.0]
    if pa.types.is_decimal(type_):
        unit = decimal.Decimal(1).scaleb(-type_.scale)
        return [unit * (10 ** min(type_.precision, 25) - 1), -unit, unit * 0]
    if pa.types.is_date(type_):
        return [_DAY, datetime.date(1969, 12, 31)]
    if pa.types.is_time(type_):
        return [_MOMENT.time(), datetime.time(0)]
    if pa.types.is_timestamp(type_):
        return [_MOMENT, datetime.datetime(1969, 12, 31, 23, 59)]  # noqa: DTZ001
    if pa.types.is_duration(type_):
        return [datetime.timedelta(days=3, seconds=5), datetime.timedelta(seconds=-1)]
    if pa.types.is_fixed_size_binary(type_):
        return [bytes(range(type_.byte_width)), b"\xff" * type_.byte_width]
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_) or pa.types.is_binary_view(type_):
        return [b"\x00\xff", b"", b"bytes that are longer than a view holds"]
    return ["ÿ ✓", "", "a text that is longer than a view holds"]


def is_blob(field: Field) -> bool:
    """Whether a field is marked as a blob of Lance's second kind."""
    return bool(field.metadata) and field.metadata.get(b"ARROW:extension:name") == b"lance.blob.v2"


def array(found: list[Any], field: Field) -> Any:
    """The Arrow array of these values, of exactly the field's type.

    Below a null, a child that may not be null gets some value: that is how producers other than this one do it too.
    """
    type_ = field.type
    if isinstance(type_, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(type_, array(found, field.with_type(type_.storage_type)))
    mask = pa.array([value is None for value in found], pa.bool_())
    if pa.types.is_dictionary(type_):
        distinct = values(type_)
        indices = pa.array([None if v is None else distinct.index(v) for v in found], type_.index_type)
        return pa.DictionaryArray.from_arrays(
            indices, array(distinct, pa.field("", type_.value_type)), ordered=type_.ordered
        )
    if pa.types.is_struct(type_):
        if not type_.num_fields:
            return pa.array(found, type_)
        columns = [array([_filler(f) if v is None else v[f.name] for v in found], f) for f in type_.fields]
        return pa.StructArray.from_arrays(columns, fields=type_.fields, mask=mask)
    if pa.types.is_map(type_):
        entries = [entry for value in found for entry in value or []]
        keys = array([key for key, _ in entries], type_.key_field)
        items = array([item for _, item in entries], type_.item_field)
        return pa.MapArray.from_arrays(_offsets(found, pa.int32()), keys, items, type=type_, mask=mask)
    if pa.types.is_fixed_size_list(type_):
        filler = [_filler(type_.value_field)] * type_.list_size
        items = [item for value in found for item in (filler if value is None else value)]
        return pa.FixedSizeListArray.from_arrays(array(items, type_.value_field), type=type_, mask=mask)
    if pa.types.is_nested(type_):
        inner = array([item for value in found for item in value or []], type_.value_field)
        offset_type = pa.int64() if str(type_).startswith("large_") else pa.int32()
        offsets = _offsets(found, offset_type)
        if "view" in str(type_).partition("<")[0]:
            sizes = pa.array([len(value or []) for value in found], offset_type)
            views: Any = pa.LargeListViewArray if offset_type == pa.int64() else pa.ListViewArray
            return views.from_arrays(offsets.slice(0, len(found)), sizes, inner, type=type_, mask=mask)
        lists: Any = pa.LargeListArray if offset_type == pa.int64() else pa.ListArray
        return lists.from_arrays(offsets, inner, type=type_, mask=mask)
    if pa.types.is_decimal(type_):
        return _decimals(found, type_)
    return pa.array(found, type_)


def _decimals(found: list[Any], type_: Type) -> Any:
    """Built of bytes: pyarrow's builder takes no scale above the precision."""
    width = type_.bit_width // 8
    unscaled = [0 if value is None else int(value.scaleb(type_.scale)) for value in found]
    content = b"".join(number.to_bytes(width, "little", signed=True) for number in unscaled)
    validity = pa.array([value is not None for value in found], pa.bool_()).buffers()[1]
    return pa.Array.from_buffers(type_, len(found), [validity, pa.py_buffer(content)])


def _filler(field: Field) -> Any:
    return None if field.nullable else rows(field)[0]


def _offsets(found: list[Any], type_: Type) -> Any:
    offsets = [0]
    for value in found:
        offsets.append(offsets[-1] + len(value or []))
    return pa.array(offsets, type_)
