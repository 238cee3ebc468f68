"""The fields of a Lance table as messages.

Layer: engines.
"""

from collections.abc import Sequence
from typing import Any

from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.nodes import lance_ids
from schemac.engines.lance.tables.steps import MARK
from schemac.identity.lock import LockedDataset


def schema_without(schema: Any, left_out: frozenset[str]) -> Any:
    """Return the schema without fields of these names."""
    import pyarrow as pa

    def type_of(t: Any) -> Any:
        if isinstance(t, pa.BaseExtensionType):
            return t
        if pa.types.is_list(t) or pa.types.is_large_list(t):
            make = pa.list_ if pa.types.is_list(t) else pa.large_list
            return make(t.value_field.with_type(type_of(t.value_type)))
        if not pa.types.is_struct(t):
            return t
        return pa.struct([f.with_type(type_of(f.type)) for f in t if f.name not in left_out])

    if not left_out:
        return schema
    remaining = [f.with_type(type_of(f.type)) for f in schema if f.name not in left_out]
    return pa.schema(remaining, schema.metadata)


def stale_fields(fields: Sequence[pb.Field], locked: LockedDataset) -> frozenset[int]:
    """Return marked fields that are next to the field which they were to replace, or that nobody knows; with all below them."""
    of_number = {number: state.id for state in locked.states for number in lance_ids(state.numbers)}
    marked = {field.id for field in fields if field.name.startswith(MARK)}
    others = {of_number.get(field.id) for field in fields if field.id not in marked}
    stale: set[int] = set()
    for field in in_preorder(fields):
        is_unknown = of_number.get(field.id) is None or of_number[field.id] in others
        if field.parent_id in stale or (field.id in marked and is_unknown):
            stale.add(field.id)
    return frozenset(stale)


def in_preorder(fields: Sequence[pb.Field]) -> list[pb.Field]:
    """Return the same fields, each parent right before its children."""
    children: dict[int, list[pb.Field]] = {}
    for field in fields:
        children.setdefault(field.parent_id, []).append(field)
    ordered: list[pb.Field] = []
    stack = list(reversed(children.get(-1, [])))
    while stack:
        field = stack.pop()
        ordered.append(field)
        stack.extend(reversed(children.get(field.id, []) if field.id != field.parent_id else []))
    return ordered


def paths(fields: Sequence[pb.Field]) -> dict[int, str]:
    """Every field's path as Lance writes it, by id."""
    paths_by_id: dict[int, str] = {-1: ""}
    for field in fields:
        name = field.name if field.name.replace("_", "a").isalnum() else f"`{field.name}`"
        above = paths_by_id.get(field.parent_id, "")
        paths_by_id[field.id] = f"{above}.{name}" if above else name
    return paths_by_id


def data_of(fragment: Any) -> frozenset[int]:
    """Return the fields that a fragment's files hold data of; negative numbers are of data that does not count any more."""
    return frozenset(id for file in fragment.files for id in file.fields if id >= 0)
