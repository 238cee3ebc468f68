"""The constraints that rows break, as columns of reasons: of values, and of rows among each other.

Layer: rows.
Shape: the columns of a batch in their nullable types in; rows, paths, rules and texts of values out. In a row the reasons have the order of
       the columns, a value's own constraints before those of its parts, item by item. Rows are compared with each other in the order and
       with the reasons of `schemac/pipeline/conforming/row_constraints.py`: rows that were found bad before are not compared, and a null
       among the fields breaks nothing.
Errors: SC697 reference, for a table that cannot be compared.
"""

import base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.language.attributes.attribute import Family
from schemac.language.constraints.evaluation import (
    Breach,
    Constrained,
    PlacedValues,
    ReferenceValues,
    all_there,
    breaches,
    duplicate_rows,
    target_keys,
    without_target,
)
from schemac.language.constraints.expressions import FieldNode
from schemac.language.constraints.rows import REFERENCE_RULE, ReferenceTo
from schemac.language.logical.model import dotted
from schemac.rows.judging.arrays import integer_limits, is_bytes, is_string, storage_type
from schemac.rows.judging.reasons import REASON, Reasons
from schemac.rows.judging.settings import LONGEST_VALUE
from schemac.rows.judging.tokens import json_string
from schemac.rows.judging.typed_values import raw_values
from schemac.rows.judging.value_texts import cast_text, json_text, key_text
from schemac.rows.validation.result import JudgedBatch
from schemac.text.source.phrases import Help

_PLAIN = r'^[^\x00-\x1f"\\]*$'
"""Texts that need no escape."""


def add_broken_values(places: Sequence[Constrained], batch: pa.RecordBatch, reasons: Reasons) -> None:
    """Add a reason for each value that breaks a constraint."""
    for place in places:
        parts, orders = [], []
        for one in breaches([place], batch):
            paths, order = _paths_and_order(one.at, one.numbers)
            rule = pa.repeat(one.constraint.rule, len(paths))
            array = pa.StructArray.from_arrays([paths, rule, _value_texts(one)], fields=list(REASON))
            parts.append((one.at.rows(one.numbers), array))
            orders.append([*order, 0, one.place.constraints.index(one.constraint)])
        if not parts:
            continue
        rows, depth = np.concatenate([rows for rows, _ in parts]), max(map(len, orders))
        keys = [
            np.concatenate(
                [np.broadcast_to(key, len(part)) for key, (part, _) in zip(column, parts, strict=True)]
            )
            for column in zip(*([*order, *[0] * (depth - len(order))] for order in orders), strict=True)
        ]
        by_place = np.lexsort([*reversed(keys), rows])
        reasons.add(rows[by_place], pa.concat_arrays([array for _, array in parts]).take(pa.array(by_place)))


def _paths_and_order(at: PlacedValues, numbers: Any) -> tuple[pa.Array, list[Any]]:
    """Return the paths of values, and keys by which they are sorted in their row, each a number or one for each value."""
    if at.parent is None:
        return pa.repeat(at.label, len(numbers)), []
    above = at.above(numbers)
    paths, order = _paths_and_order(at.parent, above)
    if at.parents is None:
        return pc.binary_join_element_wise(paths, at.label, "."), [*order, at.child, 0]
    positions = numbers - np.searchsorted(at.parents, above)
    if at.keys is None:
        steps = ("[", pa.array(positions).cast(pa.string()), "]")
    else:
        keys = at.keys.take(pa.array(numbers))
        steps = ('["', _texts_of(keys, lambda key: key_text(key, keys.type)), '"]')
    return pc.binary_join_element_wise(paths, *steps, ""), [*order, at.child, positions]


def _value_texts(breach: Breach) -> pa.Array:
    """Return the texts of the values that break a constraint, cut at 1000 characters."""
    values, family = breach.values, breach.place.field.type.family
    data_type = values.type
    if is_string(data_type):
        texts = values.cast(pa.string())
    elif family is Family.BYTES:
        texts = _texts_of(values, lambda value: base64.b64encode(value).decode())
    else:
        text_of = json_text if breach.place.field.children else cast_text
        texts = _texts_of(values, lambda value: text_of(value, data_type))
    return pc.utf8_slice_codeunits(texts, 0, LONGEST_VALUE)


def _texts_of(values: pa.Array, text_of: Callable[[Any], str]) -> pa.Array:
    """Write values, those that are equal once; null stays null."""
    data_type, is_ = values.type, pa.types
    if is_.is_integer(data_type) or is_.is_boolean(data_type) or is_.is_null(data_type):
        return values.cast(pa.string())
    if is_.is_nested(data_type):
        texts = [None if value is None else text_of(value) for value in raw_values(values)]
        return pa.array(texts, pa.string())
    if is_.is_decimal(data_type) and data_type.bit_width < 128:
        # Arrow encodes no small decimals.
        values = values.cast(pa.decimal128(data_type.precision, data_type.scale))
    encoded = values.dictionary_encode()
    return pa.array(map(text_of, raw_values(encoded.dictionary)), pa.string()).take(encoded.indices)


def object_texts(members: Iterable[tuple[str, pa.Array]]) -> pa.Array:
    """Write named columns as objects of JSON; what is null is left out."""
    texts = [
        pc.fill_null(pc.binary_join_element_wise(f",{json_string(label)}:", _json_texts(column), ""), "")
        for label, column in members
    ]
    inner = pc.utf8_slice_codeunits(pc.binary_join_element_wise(*texts, ""), 1, LONGEST_VALUE)
    return pc.utf8_slice_codeunits(pc.binary_join_element_wise("{", inner, "}", ""), 0, LONGEST_VALUE)


def _json_texts(values: pa.Array) -> pa.Array:
    """Return values as texts of JSON; null stays null."""
    if is_string(values.type) and pc.all(pc.match_substring_regex(values, _PLAIN)).as_py() is not False:
        return pc.binary_join_element_wise('"', values.cast(pa.string()), '"', "")
    return _texts_of(values, lambda value: json_text(value, values.type))


class UnusableTargetError(Exception):
    """The table of a reference cannot be compared; `help` says what to do."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help


def reference_values(reference: ReferenceTo, table: Any, schema: pa.Schema) -> ReferenceValues:
    """Return the values of another table that a reference is looked up in. Raises UnusableTargetError."""
    columns, nodes, known = [], [], {dotted(steps): steps for steps in _all_paths(table.schema, ())}
    for i, (node, path) in enumerate(zip(reference.fields, reference.to, strict=True)):
        if path not in known:
            help = Help.nearest(path, known, f"its fields are {', '.join(known)}")
            raise UnusableTargetError(f"the table of `{reference.dataset}` has no field `{path}`", help)
        label, *steps = known[path]
        column = reduce(pc.struct_field, steps, table.column(label))
        data_type = schema.field(node.path[0]).type
        for name in node.path[1:]:
            data_type = data_type.field(name).type
        columns.append(_cast_column(column, storage_type(data_type), node, path, reference))
        nodes.append(FieldNode(node.type, (f"c{i}",)))
    values = pa.table(columns, [node.path[0] for node in nodes])
    return ReferenceValues(reference, target_keys(reference, values, nodes))


def _all_paths(fields: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all fields, those in structs included; `above` is where the fields are."""
    for part in fields:
        yield (*above, part.name)
        if pa.types.is_struct(part.type):
            yield from _all_paths(part.type, (*above, part.name))


def _cast_column(
    column: Any, expected_type: pa.DataType, node: FieldNode, path: str, reference: ReferenceTo
) -> Any:
    """Return the values in the type of the own field, so that they can be compared."""
    source_type, is_ = storage_type(column.type), pa.types
    if is_.is_integer(source_type) and is_.is_integer(expected_type):
        return _cast_integers(column, expected_type)
    pairs = (is_.is_integer, is_.is_floating, is_.is_decimal, is_.is_timestamp, is_.is_date, is_.is_time, is_.is_duration,
             is_string, is_bytes, is_.is_boolean)  # fmt: skip
    if any(one(source_type) and one(expected_type) for one in pairs):
        try:
            return column.cast(source_type).cast(expected_type)
        except pa.ArrowInvalid:
            pass
    message = f"`{node}` is {expected_type}, and `{path}` of `{reference.dataset}` is {source_type}"
    raise UnusableTargetError(message, "give both fields one type")


def _cast_integers(column: Any, expected_type: pa.DataType) -> Any:
    """Return integers in another type; null in place of those that it does not have, which no value of the type equals."""
    try:
        return column.cast(expected_type)
    except pa.ArrowInvalid:
        low, high = (pa.scalar(Decimal(limit), _ANY_INTEGER) for limit in integer_limits(expected_type))
        exact = column.cast(_ANY_INTEGER)
        is_there = pc.and_(pc.greater_equal(exact, low), pc.less_equal(exact, high))
        return pc.if_else(is_there, column, None).cast(expected_type)


_ANY_INTEGER = pa.decimal128(20, 0)


def add_missing_references(targets: Sequence[ReferenceValues], batch: JudgedBatch) -> None:
    """Add a reason to rows whose values are in no row of the table that they refer to."""
    for target in targets:
        rows = without_target(target.reference, batch.rows, target.keys)
        _add_reasons(batch, rows, target.reference.fields, REFERENCE_RULE)


def _add_reasons(batch: JudgedBatch, rows: Any, fields: Sequence[FieldNode], rule: str) -> None:
    """Add a reason to some rows, with the values of some fields."""
    if len(rows):
        wrong = batch.rows.take(rows)
        texts = object_texts((str(node), node.raw(wrong)) for node in fields)
        batch.reasons.add_rule(rows.to_numpy(), ",".join(map(str, fields)), rule, texts)


def add_duplicates(nodes: Sequence[FieldNode], batches: Sequence[JudgedBatch], rule: str) -> None:
    """Add a reason to good rows that have the same values as another good row of any batch."""
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
            _add_reasons(batch, pa.array(numbers[first:last] - start), nodes, rule)
            start = end
