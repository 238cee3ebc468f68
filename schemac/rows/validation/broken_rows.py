"""The constraints of rows: conditions, references to other tables, and fields that are unique together.

Layer: rows.
Shape: the same order and the same reasons as `schemac/pipeline/conforming/row_constraints.py`: rows that were found bad before are not
       compared, and a null among the fields breaks nothing.
Errors: SC697 reference, for a table that cannot be compared.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemac.constraints.expressions import FieldNode
from schemac.constraints.rows import REFERENCE_RULE, UNIQUE_RULE, Check, ReferenceTo
from schemac.constraints.survey import Target, all_there, target_keys, twins, without_target
from schemac.logical.path import dotted
from schemac.rows.judging.forms import LONGEST_VALUE
from schemac.rows.judging.parts import Reason
from schemac.rows.judging.shapes import storage_type
from schemac.rows.judging.typed_texts import json_object, raw_values
from schemac.rows.validation.judged import JudgedBatch
from schemac.source.suggest import closest

DUPLICATE = "duplicate"


class UnusableTargetError(Exception):
    """A table of a reference that cannot be compared; `help` says what to do."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help


def object_to_conditions(checks: Sequence[Check], batch: JudgedBatch) -> None:
    """Object to rows for which a condition is false."""
    for check in checks:
        names = list(dict.fromkeys(node.path[0] for node in check.condition.fields()))
        for row in pc.indices_nonzero(check.violations(batch.rows)).to_pylist():
            shown = _object(batch.rows, [(name, (name,)) for name in names], row)
            batch.object_to(row, Reason(check.path, check.rule, shown))


def _object(rows: pa.RecordBatch, fields: list[tuple[str, tuple[str, ...]]], row: int) -> str:
    members = []
    for label, path in fields:
        column = rows.column(path[0]).slice(row, 1)
        for name in path[1:]:
            column = pc.struct_field(column, name)
        value = raw_values(column)[0]
        if value is not None:
            members.append((label, value, column.type))
    return json_object(members)[:LONGEST_VALUE]


def _of_nodes(nodes: Sequence[FieldNode]) -> list[tuple[str, tuple[str, ...]]]:
    return [(str(node), node.path) for node in nodes]


def target_of(reference: ReferenceTo, table: Any, own: pa.Schema) -> Target:
    """Return the values of another table that a reference is looked up in. Raises UnusableTargetError."""
    columns, nodes = [], []
    for i, (node, path) in enumerate(zip(reference.fields, reference.to, strict=True)):
        held = _column(table, path, reference.dataset)
        wanted = _type_at(own, node.path)
        columns.append(_brought(held, wanted, node, path, reference))
        nodes.append(FieldNode(node.type, (f"c{i}",)))
    return Target(
        reference, target_keys(reference, pa.table(columns, [node.path[0] for node in nodes]), nodes)
    )


def _column(table: Any, path: str, dataset: str) -> Any:
    known = {dotted(steps): steps for steps in _paths(table.schema, ())}
    if path not in known:
        near = closest(path, known)
        help = f"did you mean `{near}`?" if near else f"its fields are {', '.join(known)}"
        raise UnusableTargetError(f"the table of `{dataset}` has no field `{path}`", help)
    column = table.column(known[path][0])
    for name in known[path][1:]:
        column = pc.struct_field(column, name)
    return column


def _paths(fields: Any, above: tuple[str, ...]) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for part in fields:
        found.append((*above, part.name))
        if pa.types.is_struct(part.type):
            found += _paths(part.type, (*above, part.name))
    return found


def _type_at(schema: pa.Schema, path: tuple[str, ...]) -> pa.DataType:
    found = schema.field(path[0]).type
    for name in path[1:]:
        found = found.field(name).type
    return storage_type(found)


def _brought(column: Any, wanted: pa.DataType, node: FieldNode, path: str, reference: ReferenceTo) -> Any:
    """Return the values in the type of the own field, so that they can be compared."""
    held, is_ = storage_type(column.type), pa.types
    if is_.is_integer(held) and is_.is_integer(wanted):
        return column
    pairs = (is_.is_integer, is_.is_floating, is_.is_decimal, is_.is_timestamp, is_.is_date, is_.is_time, is_.is_duration,
             _is_text, _is_bytes, is_.is_boolean)  # fmt: skip
    if any(one(held) and one(wanted) for one in pairs):
        try:
            return column.cast(held).cast(wanted)
        except pa.ArrowInvalid:
            pass
    message = f"`{node}` is {wanted}, and `{path}` of `{reference.dataset}` is {held}"
    raise UnusableTargetError(message, "give both fields one type")


def _is_text(type_: pa.DataType) -> bool:
    is_ = pa.types
    return bool(is_.is_string(type_) or is_.is_large_string(type_) or is_.is_string_view(type_))


def _is_bytes(type_: pa.DataType) -> bool:
    is_ = pa.types
    return bool(is_.is_binary(type_) or is_.is_large_binary(type_) or is_.is_fixed_size_binary(type_))


def object_to_references(targets: Sequence[Target], batch: JudgedBatch) -> None:
    """Object to rows whose values are in no row of another table."""
    for target in targets:
        reference = target.reference
        for row in without_target(reference, batch.rows, target.keys).to_pylist():
            shown = _object(batch.rows, _of_nodes(reference.fields), row)
            batch.object_to(row, Reason(reference.path, REFERENCE_RULE, shown))


def object_to_twins(nodes: Sequence[FieldNode], path: str, batches: Sequence[JudgedBatch], rule: str) -> None:
    """Object to good rows that have the same values as another good row of any batch."""
    parts: list[list[Any]] = [[] for _ in nodes]
    rows: list[Any] = []
    start = 0
    for batch in batches:
        values = [node.evaluate(batch.rows) for node in nodes]
        counted = all_there(values)
        if batch.reasons:
            bad = pa.array([row in batch.reasons for row in range(batch.rows.num_rows)])
            counted = pc.and_(counted, pc.invert(bad))
        for part, array in zip(parts, values, strict=True):
            # To Arrow's groups -0.0 is not 0.0.
            array = pc.add(array, pa.scalar(0, array.type)) if pa.types.is_floating(array.type) else array
            part.append(array.filter(counted))
        rows.append(pa.array(range(start, start + batch.rows.num_rows), pa.int64()).filter(counted))
        start += batch.rows.num_rows
    if (
        start
        and (found := twins([pa.concat_arrays(part) for part in parts], pa.concat_arrays(rows))).num_rows
    ):
        _tell(sorted(found.column("row").to_pylist()), nodes, path, batches, rule)


def _tell(
    rows: list[int], nodes: Sequence[FieldNode], path: str, batches: Sequence[JudgedBatch], rule: str
) -> None:
    starts = iter(batches)
    batch, start = next(starts), 0
    for row in rows:
        while row >= start + batch.rows.num_rows:
            start += batch.rows.num_rows
            batch = next(starts)
        shown = _object(batch.rows, _of_nodes(nodes), row - start)
        batch.object_to(row - start, Reason(path, rule, shown))


Targets = Mapping[str, Any]
__all__ = [
    "DUPLICATE",
    "UNIQUE_RULE",
    "Target",
    "UnusableTargetError",
    "object_to_conditions",
    "object_to_references",
    "object_to_twins",
    "target_of",
]
