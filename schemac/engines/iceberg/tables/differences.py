"""How the schema of a table differs from what it should be.

Layer: engines.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from schemac.engines.iceberg.names import full_name
from schemac.engines.iceberg.numbering import fresh_ids
from schemac.engines.iceberg.types import IcebergSchema, NestedField

_Placed = tuple[tuple[str, ...], NestedField]


def shape_of(schema: IcebergSchema) -> IcebergSchema:
    """Return a schema without what changes no identity: its ids, docs and write defaults, and which fields identify a row."""
    plain = schema.renumbered(fresh_ids(schema))
    return replace(plain, columns=_bare(plain.columns), identifier_ids=(), schema_id=0)


def differences(expected: IcebergSchema, actual: IcebergSchema, *, by_name: bool = False) -> Iterator[str]:
    """How a schema differs from what is expected, by ids or by names; nothing where they mean the same."""
    ours, theirs = (_fields(schema, by_name=by_name) for schema in (expected, actual))
    for key, placed in ours.items():
        if key not in theirs:
            yield f"{_subject(placed, by_name=by_name)} is missing"
    for key, placed in theirs.items():
        if key not in ours:
            yield f"{_subject(placed, by_name=by_name)} is not expected"
        else:
            yield from _of_field(placed, ours[key], by_name=by_name)
    if ours.keys() == theirs.keys() and list(ours) != list(theirs):
        yield f"fields are in a different order: {', '.join(full_name(path) for path, _ in theirs.values())}"
    names = [
        [full_name(path) for path, field in schema.preorder() if field.id in schema.identifier_ids]
        for schema in (actual, expected)
    ]
    yield from _value_difference("the identifier fields are", *names)


def _of_field(actual: _Placed, expected: _Placed, *, by_name: bool) -> Iterator[str]:
    (path, is_), (expected_path, field) = actual, expected
    subject = _subject(expected, by_name=by_name)
    if path != expected_path:
        yield f"{subject} is called `{full_name(path)}`"
    yield from _value_difference(f"{subject}: the type is", is_.type.word, field.type.word)
    yield from _value_difference(
        f"{subject}: it is", *("required" if f.required else "optional" for f in (is_, field))
    )
    yield from _value_difference(f"{subject}: the doc is", is_.doc, field.doc)
    yield from _value_difference(
        f"{subject}: the initial default is", is_.initial_default, field.initial_default
    )
    yield from _value_difference(f"{subject}: the write default is", is_.write_default, field.write_default)


def _value_difference(what: str, actual: Any, expected: Any) -> Iterator[str]:
    if actual != expected:
        yield f"{what} {_formatted(actual)}, expected {_formatted(expected)}"


def _formatted(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(f"`{name}`" for name in value) or "none"
    return "not set" if value is None else f"`{value}`"


def _subject(placed: _Placed, *, by_name: bool) -> str:
    path, field = placed
    return f"`{full_name(path)}`" if by_name else f"`{full_name(path)}` (id {field.id})"


def _fields(schema: IcebergSchema, *, by_name: bool) -> dict[Any, _Placed]:
    return {path if by_name else field.id: (path, field) for path, field in schema.preorder()}


def _bare(fields: tuple[NestedField, ...]) -> tuple[NestedField, ...]:
    return tuple(
        [
            replace(f, doc=None, write_default=None, type=f.type.with_fields(_bare(f.type.fields)))
            for f in fields
        ]
    )
