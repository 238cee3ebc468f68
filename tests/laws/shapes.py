"""All that Arrow says of a schema, to be compared; and what of a dataset has to come back."""

from typing import Any

import pyarrow as pa

from schemac import Dataset
from schemac.language.logical.model import quoted


def shape(field: pa.Field) -> Any:
    """A field with all that Arrow says of it, metadata in any order; pyarrow's equality passes over child names."""
    storage = field.type.storage_type if isinstance(field.type, pa.BaseExtensionType) else field.type
    children: list[Any] = []
    if pa.types.is_map(storage):
        children = [shape(storage.key_field), shape(storage.item_field)]
    elif pa.types.is_nested(storage):
        children = [shape(storage.field(i)) for i in range(storage.num_fields)]
    return (field.name, field.nullable, str(field.type), sorted((field.metadata or {}).items()), children)


def shapes(schema: pa.Schema) -> Any:
    """All fields, and the schema's own metadata."""
    return [shape(field) for field in schema], sorted((schema.metadata or {}).items())


def kept(dataset: Dataset, target: str, again: Dataset) -> list[Any]:
    """Columns that came back changed though the target names no loss in them: before, and after.

    An extension type with empty metadata is one without metadata: Arrow's specification makes no difference.
    """
    losses = [f"{loss.path}." for loss in dataset.losses(target)]
    pairs = zip(dataset.to_arrow(), again.to_arrow(), strict=True)
    return [
        (before, after)
        for before, after in ((_plain(shape(b)), _plain(shape(a))) for b, a in pairs)
        if before != after and not any(p.startswith(f"{quoted(before[0])}.") for p in losses)
    ]


def _plain(shaped: Any) -> Any:
    name, nullable, type_, metadata, children = shaped
    entries = [entry for entry in metadata if entry != (b"ARROW:extension:metadata", b"")]
    return name, nullable, type_, entries, [_plain(child) for child in children]
