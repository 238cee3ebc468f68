"""The constraints of rows: conditions, references to other tables, and fields that are unique together.

Layer: rows.
Shape: the same order and the same reasons as `schemac/pipeline/conforming/row_constraints.py`: rows that were found bad before are not
       compared, and a null among the fields breaks nothing.
Errors: SC697 reference, for a table that cannot be compared.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.language.constraints.evaluation import (
    Target,
    all_there,
    duplicate_rows,
    target_keys,
    without_target,
)
from schemac.language.constraints.expressions import FieldNode
from schemac.language.constraints.rows import REFERENCE_RULE, ReferenceTo
from schemac.language.logical.model import dotted
from schemac.rows.judging.arrays import is_string, storage_type
from schemac.rows.judging.typed_values import is_bytes
from schemac.rows.validation.broken_values import object_texts
from schemac.rows.validation.result import JudgedBatch
from schemac.text.source.phrases import closest


class UnusableTargetError(Exception):
    """A table of a reference that cannot be compared; `help` says what to do."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help


def target_of(reference: ReferenceTo, table: Any, schema: pa.Schema) -> Target:
    """Return the values of another table that a reference is looked up in. Raises UnusableTargetError."""
    columns, nodes = [], []
    for i, (node, path) in enumerate(zip(reference.fields, reference.to, strict=True)):
        column = _target_column(table, path, reference.dataset)
        expected_type = _type_at(schema, node.path)
        columns.append(_cast_column(column, expected_type, node, path, reference))
        nodes.append(FieldNode(node.type, (f"c{i}",)))
    return Target(
        reference, target_keys(reference, pa.table(columns, [node.path[0] for node in nodes]), nodes)
    )


def _target_column(table: Any, path: str, dataset: str) -> Any:
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
    paths: list[tuple[str, ...]] = []
    for part in fields:
        paths.append((*above, part.name))
        if pa.types.is_struct(part.type):
            paths += _paths(part.type, (*above, part.name))
    return paths


def _type_at(schema: pa.Schema, path: tuple[str, ...]) -> pa.DataType:
    data_type = schema.field(path[0]).type
    for name in path[1:]:
        data_type = data_type.field(name).type
    return storage_type(data_type)


def _cast_column(
    column: Any, expected_type: pa.DataType, node: FieldNode, path: str, reference: ReferenceTo
) -> Any:
    """Return the values in the type of the own field, so that they can be compared."""
    source_type, is_ = storage_type(column.type), pa.types
    if is_.is_integer(source_type) and is_.is_integer(expected_type):
        return column
    pairs = (is_.is_integer, is_.is_floating, is_.is_decimal, is_.is_timestamp, is_.is_date, is_.is_time, is_.is_duration,
             is_string, is_bytes, is_.is_boolean)  # fmt: skip
    if any(one(source_type) and one(expected_type) for one in pairs):
        try:
            return column.cast(source_type).cast(expected_type)
        except pa.ArrowInvalid:
            pass
    message = f"`{node}` is {expected_type}, and `{path}` of `{reference.dataset}` is {source_type}"
    raise UnusableTargetError(message, "give both fields one type")


def object_to_references(targets: Sequence[Target], batch: JudgedBatch) -> None:
    """Object to rows whose values are in no row of another table."""
    for target in targets:
        reference = target.reference
        _object_to(
            batch, without_target(reference, batch.rows, target.keys), reference.fields, REFERENCE_RULE
        )


def _object_to(batch: JudgedBatch, rows: Any, fields: Sequence[FieldNode], rule: str) -> None:
    """Object to the values of some fields in some rows."""
    if len(rows):
        wrong = batch.rows.take(rows)
        texts = object_texts((str(node), node.raw(wrong)) for node in fields)
        batch.reasons.add_rule(rows.to_numpy(), ",".join(map(str, fields)), rule, texts)


def report_duplicates(nodes: Sequence[FieldNode], batches: Sequence[JudgedBatch], rule: str) -> None:
    """Object to good rows that have the same values as another good row of any batch."""
    parts: list[list[Any]] = [[] for _ in nodes]
    rows: list[Any] = []
    start = 0
    for batch in batches:
        values = [node.evaluate(batch.rows) for node in nodes]
        counted = all_there(values)
        if batch.reasons:
            counted = pc.and_(counted, pc.invert(batch.is_bad))
        for part, array in zip(parts, values, strict=True):
            # To Arrow's groups -0.0 is not 0.0.
            array = pc.add(array, pa.scalar(0, array.type)) if pa.types.is_floating(array.type) else array
            part.append(array.filter(counted))
        rows.append(pa.array(range(start, start + batch.rows.num_rows), pa.int64()).filter(counted))
        start += batch.rows.num_rows
    if any(map(len, rows)):
        duplicates = duplicate_rows([pa.concat_arrays(part) for part in parts], pa.concat_arrays(rows))
        numbers, start = np.sort(duplicates.column("row").to_numpy()), 0
        for batch in batches:
            end = start + batch.rows.num_rows
            first, last = np.searchsorted(numbers, (start, end))
            _object_to(batch, pa.array(numbers[first:last] - start), nodes, rule)
            start = end
