"""What kind of value a field of Arrow has.

Layer: rows.
Shape: pyarrow fields in; a blob counts as one value, whatever its storage.
"""

import pyarrow as pa

from schemac.arrow.form import extension_roles
from schemac.attributes.attribute import Role


def extension_name(field: pa.Field) -> str | None:
    """Name of the field's extension type, registered with pyarrow or only written in the metadata."""
    if isinstance(field.type, pa.BaseExtensionType):
        return str(field.type.extension_name)
    name = (field.metadata or {}).get(b"ARROW:extension:name")
    return None if name is None else name.decode()


def role_of(field: pa.Field) -> Role | None:
    """Return what its extension type makes of a field: JSON, a blob, brain floats; None for any other."""
    name = extension_name(field)
    return None if name is None else extension_roles().get(name)


def storage_type(data_type: pa.DataType) -> pa.DataType:
    """Give the type whose values are read: storage of an extension, values of a dictionary."""
    if isinstance(data_type, pa.BaseExtensionType):
        return storage_type(data_type.storage_type)
    if pa.types.is_dictionary(data_type):
        return storage_type(data_type.value_type)
    return data_type


def integer_limits(data_type: pa.DataType) -> tuple[int, int]:
    """Return the least and the greatest integer of a type."""
    bits = data_type.bit_width
    return (
        (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if pa.types.is_signed_integer(data_type)
        else (0, 2**bits - 1)
    )


def is_string(data_type: pa.DataType) -> bool:
    """Whether values of the type are text."""
    is_ = pa.types
    return bool(is_.is_string(data_type) or is_.is_large_string(data_type) or is_.is_string_view(data_type))


def is_binary(data_type: pa.DataType) -> bool:
    """Whether values of the type are bytes of any length."""
    is_ = pa.types
    return bool(is_.is_binary(data_type) or is_.is_large_binary(data_type) or is_.is_binary_view(data_type))


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


def opened(field: pa.Field) -> pa.Field:
    """Return a field with lists for views of lists, and with the storage of extension types that have parts and no role, such as tensors."""
    data_type = field.type
    if role_of(field) is not None:
        return field
    if isinstance(data_type, pa.BaseExtensionType):
        storage = data_type.storage_type
        return opened(field.with_type(storage)) if pa.types.is_nested(storage) else field
    if pa.types.is_struct(data_type):
        return field.with_type(pa.struct([opened(part) for part in data_type]))
    if pa.types.is_map(data_type):
        return field.with_type(
            pa.map_(opened(data_type.key_field), opened(data_type.item_field), data_type.keys_sorted)
        )
    if pa.types.is_fixed_size_list(data_type):
        return field.with_type(pa.list_(opened(data_type.value_field), data_type.list_size))
    if pa.types.is_large_list(data_type) or pa.types.is_large_list_view(data_type):
        return field.with_type(pa.large_list(opened(data_type.value_field)))
    if pa.types.is_list(data_type) or pa.types.is_list_view(data_type):
        return field.with_type(pa.list_(opened(data_type.value_field)))
    return field
