"""How the schema of a table differs from what it should be.

Layer: engines.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from schemac.engines.iceberg.names import full_name
from schemac.engines.iceberg.numbering import fresh_ids
from schemac.engines.iceberg.types import IcebergSchema, NestedField
from schemac.evolution.tables import TableField, field_differences, value_difference


def shape_of(schema: IcebergSchema) -> IcebergSchema:
    """Return a schema without what changes no identity: its ids, docs and write defaults, and which fields identify a row."""
    plain = schema.renumbered(fresh_ids(schema))
    return replace(plain, columns=_bare(plain.columns), identifier_ids=(), schema_id=0)


def differences(expected: IcebergSchema, actual: IcebergSchema, *, by_name: bool = False) -> Iterator[str]:
    """How a schema differs from what is expected, by ids or by names; nothing where they mean the same."""
    yield from field_differences(*(_fields(schema, by_name=by_name) for schema in (expected, actual)))
    names = [
        tuple([full_name(path) for path, field in schema.preorder() if field.id in schema.identifier_ids])
        for schema in (actual, expected)
    ]
    yield from value_difference("the identifier fields are", *names)


def _fields(schema: IcebergSchema, *, by_name: bool) -> dict[Any, TableField]:
    fields: dict[Any, TableField] = {}
    for path, field in schema.preorder():
        name = full_name(path)
        fields[path if by_name else field.id] = TableField(
            name,
            f"`{name}`" if by_name else f"`{name}` (id {field.id})",
            {
                "the type is": field.type.word,
                "it is": "required" if field.required else "optional",
                "the doc is": field.doc,
                "the initial default is": field.initial_default,
                "the write default is": field.write_default,
            },
        )
    return fields


def _bare(fields: tuple[NestedField, ...]) -> tuple[NestedField, ...]:
    return tuple(
        [
            replace(f, doc=None, write_default=None, type=f.type.with_fields(_bare(f.type.fields)))
            for f in fields
        ]
    )
