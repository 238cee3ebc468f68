"""What is proven of many values at a time, and how lists, maps and structs are read by the proofs of their parts.

Layer: rows.
Shape: a proof takes the values of one field, one for each row, and gives what `Proven` has. A field with parts is split into one column
       for each of them (`SplitValues`), in the way of its source: tokens of JSON, objects of Python, or columns of Arrow.
Rule: whatever is not proven is in doubt; a proof says nothing about a rule of its own.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.rows.judging.arrays import is_scalar, is_string, maps_of, nullable_type, role_of, storage_type


class Proven(NamedTuple):
    """The values of a column in the nullable type of their field, null where they are in doubt, and which are in doubt, as an array of numpy."""

    values: pa.Array
    doubtful: Any


Proof = Callable[[Any], Proven]


class SplitValues(NamedTuple):
    """Lists, maps or structs that were split into columns of their parts."""

    columns: Sequence[Any]
    """The items of all lists or maps; or the members of structs, for all rows or only for those where a struct is."""
    is_there: Any
    """Which rows have a value, as an array of numpy."""
    doubtful: Any
    """Which rows are in doubt, as an array of numpy."""
    lengths: Any = None
    """How many items each list or map has."""
    keys: pa.Array | None = None
    """The keys of all maps."""


def nested_proof(
    member: pa.Field,
    proofs: Sequence[Proof | None],
    split: Callable[[Any], SplitValues],
    source: pa.Field | None = None,
) -> Proof | None:
    """Return what reads a field by the proofs of its items or members; None if there is none for one of them."""
    known = [proof for proof in proofs if proof is not None]
    if not known or len(known) < len(proofs):
        return None
    type_ = nullable_type(member, source)

    def read(values: Any) -> Proven:
        parts = split(values)
        proven = [proof(column) for proof, column in zip(known, parts.columns, strict=True)]
        return (
            _structs(type_, parts, proven)
            if pa.types.is_struct(type_)
            else _lists(type_, member, parts, *proven)
        )

    return read


def has_text_keys(member: pa.Field) -> bool:
    """Whether the keys of a map are texts, as those of JSON are."""
    key = member.type.key_field
    return is_scalar(key) and is_string(storage_type(key.type)) and role_of(key) is None


def _lists(type_: pa.DataType, member: pa.Field, parts: SplitValues, items: Proven) -> Proven:
    """Join items to lists or maps; in doubt is also one with a doubtful item, or a vector of a wrong length."""
    offsets = np.zeros(len(parts.is_there) + 1, np.int32)
    offsets[1:][parts.is_there] = parts.lengths
    offsets = np.cumsum(offsets, dtype=np.int32)
    doubtful, mask = parts.doubtful, _null_mask(parts.is_there)
    if items.doubtful.any():
        counts = np.concatenate(([0], np.cumsum(items.doubtful)))
        doubtful = doubtful | (counts[offsets[1:]] > counts[offsets[:-1]])
    if pa.types.is_fixed_size_list(member.type):
        doubtful = doubtful | (parts.is_there & (np.diff(offsets) != member.type.list_size))
    if parts.keys is None:
        return Proven(pa.ListArray.from_arrays(pa.array(offsets), items.values, type_, mask=mask), doubtful)
    lists = pa.ListArray.from_arrays(pa.array(offsets), items.values, mask=mask)
    return Proven(maps_of(lists, parts.keys.cast(type_.key_type), items.values, type_), doubtful)


def _structs(type_: pa.DataType, parts: SplitValues, members: Sequence[Proven]) -> Proven:
    """Join members to structs; in doubt is also one with a doubtful member."""
    is_there, fields = parts.is_there, list(type_)
    is_odd = np.logical_or.reduce([one.doubtful for one in members])
    values = [one.values for one in members]
    if len(values[0]) == len(is_there):
        structs = pa.StructArray.from_arrays(values, fields=fields, mask=_null_mask(is_there))
        return Proven(structs, parts.doubtful | (is_there & is_odd))
    places = pa.array(np.cumsum(is_there) - 1, mask=~is_there)
    structs = pa.StructArray.from_arrays(values, fields=fields).take(places)
    return Proven(structs, parts.doubtful | scattered_mask(is_odd, is_there))


def _null_mask(is_there: Any) -> pa.Array | None:
    """Return which values are null; None if none is."""
    return None if is_there.all() else pa.array(~is_there)


def scattered_mask(mask: Any, is_there: Any) -> Any:
    """Return a mask of all rows, out of one of those rows where something is there."""
    scattered = np.zeros(len(is_there), bool)
    scattered[is_there] = mask
    return scattered


def forbidden_nulls(member: pa.Field, array: pa.Array) -> Any:
    """Return which values are null though they must not be."""
    return np.zeros(len(array), bool) if member.nullable else numpy_mask(array.is_null())


def with_nulls_at(values: pa.Array, mask: Any) -> pa.Array:
    """Return values with null where a mask is true."""
    return pc.if_else(pa.array(mask), pa.scalar(None, values.type), values) if mask.any() else values


def numpy_mask(mask: pa.Array) -> Any:
    """Return a mask as an array of numpy, False for null."""
    return pc.fill_null(mask, False).to_numpy(zero_copy_only=False)
