"""Readable dumps of logical and Arrow schemas for golden files."""

import json
from collections.abc import Mapping
from typing import Any

from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import Part, SchemaField, quoted

_PARTS = ("fields", "item_type", "key_type", "value_type", "inner")


def logical_text(dataset: LogicalDataset) -> str:
    """One line a field, indented by depth: name, type, whether it may be null, attributes below it."""
    lines = [f"dataset {dataset.name}", *_extra(dataset.schema.extra, 1)]
    for column in dataset.columns:
        lines += _schema_field(column, 1)
    return "\n".join(lines) + "\n"


def _schema_field(field: SchemaField, depth: int) -> list[str]:
    name = f"<{field.segment.value}>" if isinstance(field.segment, Part) else quoted(field.segment)
    optional = " or null" if field.is_nullable else ""
    lines = [f"{'  ' * depth}{name}: {_type(field)}{optional}", *_extra(field.extra, depth + 2)]
    for child in field.children:
        lines += _schema_field(child, depth + 1)
    return lines


def _type(field: SchemaField) -> str:
    given = field.type.model_dump(exclude={"kind", "extra", *_PARTS})
    if given.get("fixed_length", 0) is None:
        del given["fixed_length"]
    properties = ", ".join(f"{name}={value}" for name, value in given.items())
    return f"{field.type.kind}({properties})" if properties else str(field.type.kind)


def _extra(extra: Mapping[str, Any], depth: int) -> list[str]:
    return [f"{'  ' * depth}@{key} {json.dumps(value, ensure_ascii=False)}" for key, value in extra.items()]


def arrow_text(schema: Any) -> str:
    """One line a field with its type, nullability and metadata; children below it."""
    lines = _metadata(schema.metadata, 0)
    for field in schema:
        lines += _field(field, 0)
    return "\n".join(lines) + "\n"


def _field(field: Any, depth: int) -> list[str]:
    type_ = field.type
    storage = getattr(type_, "storage_type", type_)
    children = [storage.field(i) for i in range(storage.num_fields)]
    # The text of a nested type repeats its children, and lists of pyarrow leave out the item's nullability.
    shown = _head(type_, storage) if children else str(type_)
    null = "" if field.nullable else " not null"
    lines = [f"{'  ' * depth}{field.name!r}: {shown}{null}", *_metadata(field.metadata, depth + 1)]
    for child in children:
        lines += _field(child, depth + 1)
    return lines


def _head(type_: Any, storage: Any) -> str:
    word = str(storage).partition("<")[0]
    size = f"[{storage.list_size}]" if hasattr(storage, "list_size") else ""
    is_sorted = " keys_sorted" if getattr(storage, "keys_sorted", False) else ""
    name = f"{type_.extension_name} of " if storage is not type_ else ""
    return f"{name}{word}{size}{is_sorted}"


def _metadata(metadata: Mapping[bytes, bytes] | None, depth: int) -> list[str]:
    return [f"{'  ' * depth}@{key.decode()} = {value.decode()}" for key, value in (metadata or {}).items()]
