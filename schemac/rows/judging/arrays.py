"""What kind of value a field of Arrow has, and arrays in its layouts and types.

Layer: rows.
Shape: `laid_out` takes an array of any layout, and returns the same values without extensions, dictionaries, runs and views, at every
       depth. `to_field` brings an array of plain types to the field's own type. Buffers are shared where they can be. A blob counts as
       one value, whatever its storage. The nullable type of a field is its plain type, nullable at every depth, with lists for vectors and texts and bytes in their
       large layout: it also holds values which do not fit. What is stored in a form of its own, such as a blob, keeps that form where the
       source has it too.
Errors: pyarrow.ArrowInvalid for what does not fit; MissingMemberError if a struct lacks a member.
Source: arrow-java aligns buffers to 8 bytes, Rust's 128-bit integers need 16, and Lance 14 panics on the difference.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from schemac.arrow.metadata import extension_roles
from schemac.language.attributes.attribute import Role
from schemac.language.constraints.constraint import entries_of, lists_of, mask_of
from schemac.language.physical import parts_of, with_parts

_PLAIN = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
_OWN_LAYOUTS = (
    pa.types.is_dictionary,
    pa.types.is_run_end_encoded,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)


def plain_layout(array: pa.Array) -> pa.Array:
    """Return an array in a layout that can be filtered, compared and cast."""
    type_, is_ = array.type, pa.types
    if has_plain_layout(type_):
        return array
    if isinstance(type_, pa.BaseExtensionType):
        return plain_layout(array.storage)
    if is_.is_dictionary(type_):
        return plain_layout(array.dictionary).take(array.indices)
    if is_.is_run_end_encoded(type_):
        return plain_layout(pc.run_end_decode(array))
    if type_ in _PLAIN:
        return array.cast(_PLAIN[type_])
    if is_.is_struct(type_):
        children = [plain_layout(child) for child in array.flatten()]
        fields = [part.with_type(child.type) for part, child in zip(type_, children, strict=True)]
        return pa.StructArray.from_arrays(children, fields=fields, mask=mask_of(array))
    if is_.is_map(type_):
        lists = entries_of(array)
        keys, items = (plain_layout(child) for child in lists.flatten().flatten())
        return maps_of(lists, keys, items, pa.map_(keys.type, type_.item_field.with_type(items.type)))
    # Of views, Arrow's cast gives lists that lack their last offset.
    return lists_of(array, plain_layout(array.flatten()))


def has_plain_layout(type_: pa.DataType) -> bool:
    """Whether nothing in a type has a different layout."""
    if isinstance(type_, pa.BaseExtensionType) or type_ in _PLAIN:
        return False
    if any(has_layout(type_) for has_layout in _OWN_LAYOUTS):
        return False
    return all(has_plain_layout(type_.field(i).type) for i in range(type_.num_fields))


def maps_of(lists: pa.Array, keys: pa.Array, items: pa.Array, type_: pa.DataType) -> pa.Array:
    """Return maps of other entries, as many in each as there were."""
    entries = pa.StructArray.from_arrays([keys, items], fields=[type_.key_field, type_.item_field])
    entries_lists = lists_of(lists, entries)
    return pa.Array.from_buffers(
        type_, len(entries_lists), entries_lists.buffers()[:2], entries_lists.null_count, 0, [entries]
    )


def extension_name(field: pa.Field) -> str | None:
    """Return the name of a field's extension type, which is registered with pyarrow or only in the metadata; None if it has none."""
    if isinstance(field.type, pa.BaseExtensionType):
        return str(field.type.extension_name)
    name = (field.metadata or {}).get(b"ARROW:extension:name")
    return None if name is None else name.decode()


def role_of(field: pa.Field) -> Role | None:
    """Return the role of a field's extension type: JSON, a blob, bfloat16; None for any other."""
    name = extension_name(field)
    return None if name is None else extension_roles().get(name)


def keeps_value(member: pa.Field, source: pa.Field) -> bool:
    """Whether a field takes the values of its source as they are stored: both are of one role, such as blobs, that is no text."""
    role = role_of(member)
    return role is not None and not is_string(storage_type(member.type)) and role_of(source) is role


def is_bytes_field(member: pa.Field) -> bool:
    """Whether values of a field are bytes."""
    role = role_of(member)
    return role is Role.BLOB or (role is None and is_bytes(storage_type(member.type)))


def storage_type(data_type: pa.DataType) -> pa.DataType:
    """Return the type whose values are read: the storage of an extension, the values of a dictionary, or the type itself."""
    if isinstance(data_type, pa.BaseExtensionType):
        return storage_type(data_type.storage_type)
    if pa.types.is_dictionary(data_type):
        return storage_type(data_type.value_type)
    return data_type


def integer_limits(data_type: pa.DataType) -> tuple[int, int]:
    """Return the least and the greatest integer of a type."""
    bits = data_type.bit_width
    if pa.types.is_signed_integer(data_type):
        return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return (0, 2**bits - 1)


def is_string(data_type: pa.DataType) -> bool:
    """Whether values of the type are text."""
    is_ = pa.types
    return bool(is_.is_string(data_type) or is_.is_large_string(data_type) or is_.is_string_view(data_type))


def is_binary(data_type: pa.DataType) -> bool:
    """Whether values of the type are bytes of any length."""
    is_ = pa.types
    return bool(is_.is_binary(data_type) or is_.is_large_binary(data_type) or is_.is_binary_view(data_type))


def is_bytes(data_type: pa.DataType) -> bool:
    """Whether values of a type are bytes, of any length or of one."""
    return is_binary(data_type) or bool(pa.types.is_fixed_size_binary(data_type))


def is_list(data_type: pa.DataType) -> bool:
    """Whether values of the type are lists."""
    is_ = pa.types
    return bool(is_.is_list(data_type) or is_.is_large_list(data_type) or is_.is_fixed_size_list(data_type))


def is_scalar(field: pa.Field) -> bool:
    """Whether the field is read from one token."""
    if role_of(field) is Role.BLOB:
        return True
    data_type = field.type
    return not (is_list(data_type) or pa.types.is_map(data_type) or pa.types.is_struct(data_type))


def storage_field(field: pa.Field) -> pa.Field:
    """Return a field with lists for views of lists, and with the storage of extension types that have parts and no role, such as tensors."""
    if role_of(field) is not None:
        return field
    if isinstance(field.type, pa.BaseExtensionType):
        storage = field.type.storage_type
        return storage_field(field.with_type(storage)) if pa.types.is_nested(storage) else field
    data_type = with_parts(field.type, storage_field)
    if pa.types.is_large_list_view(data_type):
        data_type = pa.large_list(data_type.value_field)
    elif pa.types.is_list_view(data_type):
        data_type = pa.list_(data_type.value_field)
    return field.with_type(data_type)


def storage_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema with the `storage_field` of each of its fields, and with its metadata."""
    return pa.schema(map(storage_field, schema), schema.metadata)


_BITS_OF_DECIMAL = 128


class MissingMemberError(Exception):
    """A struct lacks a member that its field has; the message is its name."""


def to_batches(rows: pa.RecordBatch, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield rows in the types of a schema, in as many batches as it takes: a dictionary has only so many values. Raises pa.ArrowInvalid."""
    try:
        arrays = [to_field(column, member) for column, member in zip(rows.columns, schema, strict=True)]
    except pa.ArrowInvalid:
        if rows.num_rows < 2:
            raise
        half = rows.num_rows // 2
        for some in (range(half), range(half, rows.num_rows)):
            # A slice keeps the items of all lists.
            yield from to_batches(rows.take(pa.array(some, pa.int64())), schema)
    else:
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def to_field(array: pa.Array, field: pa.Field) -> pa.Array:
    """Return an array in the type of a field. Raises pa.ArrowInvalid for a value that does not fit, and MissingMemberError."""
    target = field.type
    if role_of(field) is Role.BRAIN_FLOATS and pa.types.is_float32(array.type):
        array = _bfloat16(array)
    is_blob = role_of(field) is Role.BLOB and not pa.types.is_struct(array.type)
    if isinstance(target, pa.BaseExtensionType):
        if array.type == target:
            return array
        stored = pa.field(field.name, target.storage_type)
        storage = _blob(array, stored) if is_blob else to_field(array, stored)
        return pa.ExtensionArray.from_storage(target, storage)
    if is_blob and pa.types.is_struct(target):
        return _blob(array, field)
    if pa.types.is_struct(target):
        return _struct(array, target)
    if pa.types.is_fixed_size_list(target):
        return _fixed_size_list(array, target, field.name)
    if pa.types.is_map(target):
        lists = entries_of(array)
        keys, items = lists.flatten().flatten()
        return maps_of(lists, to_field(keys, target.key_field), to_field(items, target.item_field), target)
    if target.id in _LISTS:
        return _lists(array, to_field(array.flatten(), target.value_field), target)
    if pa.types.is_dictionary(target):
        return _dictionary(array, target)
    return _cast_values(array, target)


def _cast_values(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return an array without parts in another type. Raises pa.ArrowInvalid if a value does not fit."""
    if pa.types.is_null(target):
        if array.null_count < len(array):
            raise pa.ArrowInvalid("a field of type null holds a value")
        return pa.nulls(len(array))
    if pa.types.is_decimal(array.type):
        if is_string(target):
            return decimal_texts(array, target)
        validity, values = array.buffers()
        if values is not None and values.address % 16:
            aligned = pa.allocate_buffer(values.size)
            pa.FixedSizeBufferWriter(aligned).write(values)
            buffers = [validity, aligned]
            array = pa.Array.from_buffers(array.type, len(array), buffers, array.null_count, array.offset)
    if array.type.equals(target):
        return array
    if pa.types.is_time32(target) and pa.types.is_int64(array.type):
        array = array.cast(pa.int32())
    if pa.types.is_fixed_size_binary(target) and is_binary(array.type):
        binary = array.cast(pa.binary())
        lengths = pc.binary_length(binary)
        if not pc.all(pc.equal(lengths, target.byte_width)).as_py() and binary.null_count < len(binary):
            raise pa.ArrowInvalid(f"a value is not {target.byte_width} bytes long")
        return binary.cast(target)
    return array.cast(target)


def decimal_texts(decimals: pa.Array, target: pa.DataType) -> pa.Array:
    """Return decimals as texts with all of their digits; Arrow's cast writes some with an exponent."""
    texts = [None if value is None else format(value, "f") for value in decimals.to_pylist()]
    return pa.array(texts, target)


def _struct(array: pa.Array, target: pa.StructType) -> pa.Array:
    """Return structs with the target's members in its order, null below null. Raises MissingMemberError."""
    if not target.num_fields:
        return array.cast(target)
    # What lies below null is null: it may be a list of no items, which is not what the vector of a struct may be.
    members = array.flatten()
    children = []
    for field in target:
        index = array.type.get_field_index(field.name)
        if index < 0:
            raise MissingMemberError(field.name)
        member = members[index]
        if array.null_count:
            member = _with_zeros_below_null(member, field, array.is_valid())
        children.append(to_field(member, field))
    return pa.StructArray.from_arrays(children, fields=list(target), mask=mask_of(array))


_LISTS = {
    pa.lib.Type_LIST: pa.ListArray,
    pa.lib.Type_LARGE_LIST: pa.LargeListArray,
    pa.lib.Type_LIST_VIEW: pa.ListViewArray,
    pa.lib.Type_LARGE_LIST_VIEW: pa.LargeListViewArray,
}


def _lists(lists: pa.Array, items: pa.Array, target: pa.DataType) -> pa.Array:
    """Return lists of other items, as many in each as there were, in a type of lists or of views of lists."""
    offsets, is_ = lists_of(lists, items).offsets, pa.types
    if is_.is_large_list(target) or is_.is_large_list_view(target):
        offsets = offsets.cast(pa.int64())
    parts = [offsets, items]
    if is_.is_list_view(target) or is_.is_large_list_view(target):
        starts = offsets.slice(0, len(lists))
        parts = [starts, pc.subtract(offsets.slice(1), starts), items]
    return _LISTS[target.id].from_arrays(*parts, type=target, mask=mask_of(lists))


def _fixed_size_list(array: pa.Array, target: pa.DataType, label: str) -> pa.Array:
    """Return lists as vectors. Raises pa.ArrowInvalid, with the field's name, for a list of another length."""
    length_items = target.list_size
    if pa.types.is_fixed_size_list(array.type):
        # `flatten` leaves out what is sliced off, and what lies below null.
        lengths_fit = array.type.list_size == length_items
    else:
        lengths_fit = pc.all(pc.equal(pc.list_value_length(array), length_items)).as_py() is not False
    if not lengths_fit:
        raise pa.ArrowInvalid(f"`{label}`: a list does not have {length_items} items")
    items = array.flatten()
    if not array.null_count:
        return pa.FixedSizeListArray.from_arrays(to_field(items, target.value_field), type=target)
    import numpy as np  # for those without numpy: only vectors that may be null need it

    is_valid = array.is_valid().to_numpy(zero_copy_only=False)
    starts = (np.cumsum(is_valid) - 1) * length_items
    places = starts[:, np.newaxis] + np.arange(length_items)
    # Blanks below null: Lance counts nulls there as nulls of items that are required.
    places[~is_valid] = len(items)
    # Taken before they have their type: Arrow takes nothing of views.
    values = to_field(
        _with_zero_value(items, target.value_field).take(pa.array(places.ravel())), target.value_field
    )
    return pa.FixedSizeListArray.from_arrays(values, type=target, mask=array.is_null())


def _with_zeros_below_null(array: pa.Array, field: pa.Field, is_valid: pa.Array) -> pa.Array:
    """Return values of a field with a blank in each place that is not valid: what is below null is not a null of a required field."""
    if isinstance(array, pa.ExtensionArray):
        return pa.ExtensionArray.from_storage(
            array.type, _with_zeros_below_null(array.storage, field, is_valid)
        )
    type_, is_ = array.type, pa.types
    is_short = is_.is_decimal(type_) and type_.bit_width < _BITS_OF_DECIMAL
    # Arrow has no `if_else` of short decimals and of views.
    if not array.null_count or is_short or is_.is_string_view(type_) or is_.is_binary_view(type_):
        return array
    zero = _zero_value(type_, field.type)[0]
    if is_.is_decimal(type_) and type_.scale < 0:
        # `if_else` would give it a scale of 0, for which there may not be enough digits.
        return pc.replace_with_mask(array, pc.invert(is_valid), zero)
    return pc.if_else(is_valid, array, zero)


def _with_zero_value(values: pa.Array, field: pa.Field) -> pa.Array:
    """Return values with one more at the end, which is a zero or empty."""
    if isinstance(values, pa.ExtensionArray):
        return pa.ExtensionArray.from_storage(values.type, _with_zero_value(values.storage, field))
    return pa.concat_arrays([values, _zero_value(values.type, field.type)])


def _zero_value(source: pa.DataType, target: pa.DataType) -> pa.Array:
    """Return one value that can be brought to a type and is not null, nor is any part of it: of zeros, or empty."""
    is_, target = pa.types, storage_type(target)
    if is_.is_struct(source) and source.num_fields:
        members = {part.name: part.type for part in target} if is_.is_struct(target) else {}
        parts = [_zero_value(part.type, members.get(part.name, part.type)) for part in source]
        return pa.StructArray.from_arrays(parts, fields=list(source))
    if is_.is_fixed_size_list(target) and is_.is_nested(source):
        items = pa.concat_arrays([_zero_value(source.value_type, target.value_type)] * target.list_size)
        return pa.ListArray.from_arrays(pa.array([0, target.list_size], pa.int32()), items).cast(source)
    if is_.is_nested(source):
        return pa.array([{} if is_.is_struct(source) else []], source)
    if is_string(source) and is_.is_decimal(target):
        return pa.array(["0"], source)
    if is_.is_dictionary(source):
        index = pa.array([0], source.index_type)
        values = _zero_value(source.value_type, target)
        return pa.DictionaryArray.from_arrays(index, values, ordered=source.ordered)
    if is_.is_null(source):
        return pa.nulls(1)
    try:
        zeros = pa.py_buffer(bytes(max(1, source.bit_width // 8)))
    except ValueError:
        return pa.array([bytes(target.byte_width if is_.is_fixed_size_binary(target) else 0)], source)
    return pa.Array.from_buffers(source, 1, [None, zeros])


def _dictionary(array: pa.Array, target: pa.DictionaryType) -> pa.Array:
    """Return values encoded as a dictionary; what is a dictionary already is cast."""
    if pa.types.is_dictionary(array.type):
        return array.cast(target)
    encoded = to_field(array, pa.field("value", target.value_type)).dictionary_encode()
    indices = encoded.indices.cast(target.index_type)
    return pa.DictionaryArray.from_arrays(indices, encoded.dictionary, ordered=target.ordered)


def _bfloat16(array: pa.Array) -> pa.Array:
    """Return floats as bfloat16 in two bytes: the upper half, rounded to the nearest, ties to even."""
    bits = pc.cast(array.view(pa.int32()), pa.int64())
    odd = pc.bit_wise_and(pc.shift_right(bits, 16), 1)
    rounded = pc.bit_wise_and(pc.shift_right(pc.add(bits, pc.add(odd, 0x7FFF)), 16), 0xFFFF)
    is_nan = pc.is_nan(array)
    halves = pc.if_else(is_nan, pa.scalar(0x7FC0, pa.int64()), rounded).cast(pa.uint16())
    buffers = halves.buffers()
    return pa.Array.from_buffers(pa.binary(2), len(halves), buffers, halves.null_count, halves.offset)


def _blob(array: pa.Array, field: pa.Field) -> pa.Array:
    """Return blobs in the type that they are stored in: the bytes under `data`, and null in all other members."""
    bytes_of = array.cast(pa.large_binary())
    children = [
        bytes_of if member.name == "data" else pa.nulls(len(array), member.type) for member in field.type
    ]
    return pa.StructArray.from_arrays(children, fields=list(field.type), mask=mask_of(array))


def nullable_type(member: pa.Field, source: pa.Field | None = None) -> pa.DataType:
    """Return the nullable type of a field; `source` is the field that its values come from, where they have a type."""
    target_type, is_ = member.type, pa.types
    if source is not None and keeps_value(member, source):
        return storage_type(source.type)
    if is_scalar(member):
        result = storage_type(target_type)
        if is_string(result):
            return pa.large_string()
        # Bytes of another length than the field's are kept, too.
        return pa.large_binary() if is_bytes(result) or role_of(member) is Role.BLOB else result
    source_type = pa.null() if source is None else storage_type(source.type)
    if is_.is_struct(target_type):
        members = {part.name: part for part in source_type} if is_.is_struct(source_type) else {}
        types = ((part.name, nullable_type(part, members.get(part.name))) for part in target_type)
        return pa.struct(list(types))
    if is_.is_map(target_type):
        parts = parts_of(source_type) if is_.is_map(source_type) else (None, None)
        key, item = map(nullable_type, parts_of(target_type), parts)
        return pa.map_(pa.field("key", key, nullable=False), pa.field("value", item))
    assert is_list(target_type)
    item_field = source_type.value_field if is_list(source_type) else None
    return pa.list_(pa.field("item", nullable_type(target_type.value_field, item_field)))
