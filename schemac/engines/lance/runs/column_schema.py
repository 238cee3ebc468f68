"""The columns of a Lance table that a run fills, and the schema of the table afterwards.

Layer: engines.
Rule: the table has to be of its form in all columns but those that are filled: these may be missing, and may still be null where the form
      says that they are required, because Lance makes a column required only in a commit of its own (`schemac apply`).
      A table whose schema has no lock is compared by path, and new columns get the next free ids.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schemac.attributes.own import TABLE_IDS, TABLE_VERSION
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.runs.spelling import decode
from schemac.engines.lance.tables.differences import differences, lance_fields_of
from schemac.engines.lance.tables.fields import in_preorder
from schemac.engines.lance.transactions import schema_parts
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.tables import TableForm
from schemac.source.catalogue import SCHEMA_MISMATCH


@dataclass(frozen=True)
class Columns:
    """The columns that are filled, and the table with them."""

    new: tuple[str, ...]
    ids: tuple[tuple[int, ...], ...]
    """Of each column, and of what is below it, in pre-order."""
    fields: list[pb.Field]
    """All fields of the table after the commit."""
    metadata: dict[str, bytes]


def checked_columns(path: str, table: Any, form: TableForm, columns: tuple[str, ...]) -> Columns:
    """Compare a version with its form. Raises PipelineError if they differ."""
    metadata, there = _fields_of(table)
    if form.version is not None:
        metadata[TABLE_VERSION] = form.version.encode()
        metadata.pop(TABLE_IDS, None)
    expected = _expected(form)
    tops = {field.name for field in there if field.parent_id < 0}
    new = tuple(name for name in columns if name not in tops)
    known = [field for field in expected if _column(field, expected) not in new]
    may_be_null = {f.name for f in there if f.parent_id < 0 and f.nullable and f.name in columns}
    for field in known:
        if field.parent_id < 0 and field.name in may_be_null:
            field.nullable = True
    used = {field.id for field in there} | _ids_in_files(table)
    messages = [field.SerializeToString(deterministic=True) for field in known]
    added = [field for field in expected if _column(field, expected) in new]
    has_ids = form.version is not None or (
        used.isdisjoint(field.id for field in added) and not differences(messages, table.lance_schema)
    )
    mismatches = differences(messages, table.lance_schema, ids=has_ids)
    mismatches += tuple(
        f"the id {field.id} of `{field.name}` is taken" for field in added if has_ids and field.id in used
    )
    if mismatches:
        raise PipelineError(
            SCHEMA_MISMATCH,
            f"the table `{path}` has a different schema: {'; '.join(mismatches[:5])}",
            "update the table with `schemac apply` first, or name the missing columns under `fields`",
            place=("target", "path"),
        )
    if not has_ids:
        added = _numbered(added, max(used, default=-1) + 1)
    fields = _in_order(there, added, [field.name for field in expected if field.parent_id < 0])
    ids = tuple(tuple(_below(fields, name)) for name in columns)
    return Columns(new, ids, fields, metadata)


def _fields_of(table: Any) -> tuple[dict[str, bytes], list[pb.Field]]:
    metadata, messages = schema_parts(table.lance_schema)
    return metadata, [pb.Field.FromString(message) for message in messages]


def _ids_in_files(table: Any) -> set[int]:
    """Return the ids that some data file has values of: of a column that was dropped they would be read again."""
    files = (file for fragment in table.get_fragments() for file in fragment.data_files())
    return {id for file in files for id in file.fields if id >= 0}


def _expected(form: TableForm) -> list[pb.Field]:
    if form.native:
        return list(decode(form.native).fields)
    return [pb.Field.FromString(message) for message in lance_fields_of(form.schema)]


def _column(field: pb.Field, fields: list[pb.Field]) -> str:
    """Name the column that a field is in."""
    by_id = {one.id: one for one in fields}
    while field.parent_id >= 0:
        field = by_id[field.parent_id]
    return str(field.name)


def _numbered(fields: list[pb.Field], first: int) -> list[pb.Field]:
    """Give fields the next ids of a table."""
    ids = {field.id: first + number for number, field in enumerate(fields)}
    for field in fields:
        field.id, field.parent_id = ids[field.id], ids.get(field.parent_id, -1)
    return fields


def _in_order(there: list[pb.Field], added: list[pb.Field], names: list[str]) -> list[pb.Field]:
    """Put columns into the order of the form, each with what is below it."""
    fields = in_preorder([*there, *added])
    tops = [field for field in fields if field.parent_id < 0]
    place = {name: number for number, name in enumerate(names)}
    ordered = sorted(tops, key=lambda field: place.get(field.name, len(place)))
    return [field for top in ordered for field in _tree(fields, top)]


def _tree(fields: list[pb.Field], top: pb.Field) -> Iterator[pb.Field]:
    inside = {top.id}
    for field in fields:
        if field is top or field.parent_id in inside:
            inside.add(field.id)
            yield field


def _below(fields: list[pb.Field], name: str) -> Iterator[int]:
    (top,) = [field for field in fields if field.parent_id < 0 and field.name == name]
    return (field.id for field in _tree(fields, top))
