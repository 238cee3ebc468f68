"""Arrow schemas as Lance gives them back, and its own message of a schema as text.

Layer: engines.
Source: pylance 14 compares the items of vectors letter by letter when it writes.
"""

import base64

import pyarrow as pa

from schemac.engines.lance._generated.lance import file_pb2 as pb


def as_lance_reads(schema: pa.Schema) -> pa.Schema:
    """Spell the vector items of a schema as Lance gives them back: its writer compares them letter by letter."""
    return pa.schema([_as_lance_reads(field) for field in schema], metadata=schema.metadata)


def _as_lance_reads(field: pa.Field) -> pa.Field:
    data_type = field.type
    if pa.types.is_fixed_size_list(data_type):
        item = data_type.value_field
        if _is_bfloat16(item):
            item = pa.field("item", item.type, metadata={**item.metadata, b"ARROW:extension:metadata": b""})
            return field.with_type(pa.list_(item, data_type.list_size))
    elif pa.types.is_struct(data_type):
        return field.with_type(pa.struct([_as_lance_reads(member) for member in data_type]))
    elif pa.types.is_large_list(data_type):
        return field.with_type(pa.large_list(_as_lance_reads(data_type.value_field)))
    elif pa.types.is_list(data_type):
        return field.with_type(pa.list_(_as_lance_reads(data_type.value_field)))
    return field


def _is_bfloat16(item: pa.Field) -> bool:
    """Whether an item is a brain float by its metadata alone."""
    named = (item.metadata or {}).get(b"ARROW:extension:name") == b"lance.bfloat16"
    return named and not isinstance(item.type, pa.BaseExtensionType)


def encode(message: pb.Schema) -> str:
    """Write a message as text."""
    return base64.b64encode(message.SerializeToString(deterministic=True)).decode()


def decode(text: str) -> pb.Schema:
    """Read a message of `encode`."""
    return pb.Schema.FromString(base64.b64decode(text))
