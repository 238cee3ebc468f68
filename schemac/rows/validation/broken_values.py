"""The constraints that rows break, as columns of reasons; and texts of values, many at a time.

Layer: rows.
Shape: the columns of a batch in their loose types in; rows, paths, rules and texts of values out. In a row the reasons have the order of
       the columns, a value's own constraints before those of its parts, item by item.
"""

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.language.attributes.attribute import Family
from schemac.language.constraints.evaluation import Breach, Constrained, PlacedValues, breaches
from schemac.rows.judging.arrays import is_string
from schemac.rows.judging.settings import LONGEST_VALUE
from schemac.rows.judging.tokens import quoted
from schemac.rows.judging.typed_values import cast_text, count_text, json_text, key_text, raw_values
from schemac.rows.validation.result import REASON, Reasons, repeated

_PLAIN = r'^[^\x00-\x1f"\\]*$'
"""Texts that need no escape."""


def add_broken_values(places: Sequence[Constrained], batch: pa.RecordBatch, reasons: Reasons) -> None:
    """Add a reason for each value that breaks a constraint."""
    for place in places:
        parts, orders = [], []
        for one in breaches([place], batch):
            paths, order = _located(one.at, one.numbers)
            rule = repeated(one.constraint.rule, len(paths))
            array = pa.StructArray.from_arrays([paths, rule, _value_texts(one)], fields=list(REASON))
            parts.append((one.at.rows(one.numbers), array))
            orders.append([*order, 0, one.place.constraints.index(one.constraint)])
        if len(parts) < 2:
            for part in parts:
                reasons.add(*part)
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


def _located(at: PlacedValues, numbers: Any) -> tuple[pa.Array, list[Any]]:
    """Return the paths of values, and keys by which they are sorted in their row, each a number or one for each value."""
    if at.parent is None:
        return repeated(at.label, len(numbers)), []
    above = at.above(numbers)
    paths, order = _located(at.parent, above)
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
    values, family = breach.values, breach.place.field.type.family
    data_type, is_ = values.type, pa.types
    if is_string(data_type):
        texts = values.cast(pa.string())
    elif family is Family.BYTES:
        texts = _texts_of(values, lambda value: base64.b64encode(value).decode())
    elif is_.is_time(data_type) or (is_.is_timestamp(data_type) and data_type.unit == "ns"):
        texts = _texts_of(values, lambda value: count_text(value, data_type))
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
        return pa.array(
            [None if value is None else text_of(value) for value in raw_values(values)], pa.string()
        )
    if is_.is_decimal(data_type) and data_type.bit_width < 128:
        # Arrow encodes no small decimals.
        values = values.cast(pa.decimal128(data_type.precision, data_type.scale))
    encoded = values.dictionary_encode()
    return pa.array(map(text_of, raw_values(encoded.dictionary)), pa.string()).take(encoded.indices)


def object_texts(members: Iterable[tuple[str, pa.Array]]) -> pa.Array:
    """Write named columns as objects of JSON; what is null is left out."""
    texts = [
        pc.fill_null(pc.binary_join_element_wise(f",{quoted(label)}:", _json_texts(column), ""), "")
        for label, column in members
    ]
    inner = pc.utf8_slice_codeunits(pc.binary_join_element_wise(*texts, ""), 1, LONGEST_VALUE)
    return pc.utf8_slice_codeunits(pc.binary_join_element_wise("{", inner, "}", ""), 0, LONGEST_VALUE)


def _json_texts(values: pa.Array) -> pa.Array:
    if is_string(values.type) and pc.all(pc.match_substring_regex(values, _PLAIN)).as_py() is not False:
        return pc.binary_join_element_wise('"', values.cast(pa.string()), '"', "")
    return _texts_of(values, lambda value: json_text(value, values.type))
