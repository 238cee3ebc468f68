"""Finds the values of an Arrow array that are certainly values of a field, many at a time.

Layer: rows.
Shape: a proof is compiled for a field and the type of a column; None if there is none. It gives the values in the nullable type of the
       field, and which rows a reader of `typed_values` has to judge. Arrays are laid out by `arrays`.
Rule: whatever is not proven is in doubt; a proof says nothing about a rule of its own.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.language.constraints.constraint import compact, entries_of, lists_of
from schemac.language.kinds.temporal import ARROW_PER_SECOND
from schemac.rows.judging.arrays import (
    integer_limits,
    is_bytes,
    is_bytes_field,
    is_list,
    is_scalar,
    is_string,
    keeps_value,
    maps_of,
    nullable_type,
    role_of,
    storage_type,
)
from schemac.rows.judging.proofs import Proof, Proven, SplitValues, forbidden_nulls, nested_proof, numpy_mask
from schemac.rows.judging.scalars import clock_zone
from schemac.rows.judging.text_proofs import TextProof
from schemac.rows.judging.typed_values import binary_width, is_same_but_range, range_of

Kernel = Callable[[pa.Array], pa.Array]


def column_proof(member: pa.Field, source: pa.Field, null_texts: Sequence[str]) -> Proof | None:
    """Return what reads the values of a column with a type; None where every value is in doubt."""
    if (
        is_string(storage_type(source.type))
        and is_scalar(member)
        and (null_texts or not is_string(storage_type(member.type)))
    ):
        return TextProof.of(member, null_texts)
    # Of a text inside of a value that means null no proof knows.
    if null_texts and pa.types.is_nested(storage_type(source.type)):
        return None
    proof = _typed_proof(member, source)
    if proof is not None:
        return proof
    # Values that are read from the texts that Arrow writes for them, as far as these are those of `typed_values`.
    source_type, is_ = storage_type(source.type), pa.types
    is_known = is_.is_integer(source_type) or is_.is_boolean(source_type)
    is_number = is_.is_float32(source_type) or is_.is_float64(source_type) or is_.is_decimal(source_type)
    is_of_text = is_string(storage_type(member.type))
    text = TextProof.of(member) if is_known or (is_number and not is_of_text) else None
    return None if text is None else lambda array: text(array.cast(pa.string()))


def _typed_proof(member: pa.Field, source: pa.Field) -> Proof | None:
    """Return what takes values as they are stored, by their counts, or part by part."""
    target_type, source_type, is_ = member.type, storage_type(source.type), pa.types
    if keeps_value(member, source):
        return _proof(member, source, converted=lambda array: array)
    if is_.is_null(source_type):
        nulls = nullable_type(member, source)
        return lambda array: Proven(pa.nulls(len(array), nulls), forbidden_nulls(member, array))
    if is_scalar(member):
        return _scalar_proof(member, source)
    if is_list(target_type) and is_list(source_type):
        items = _typed_proof(target_type.value_field, source_type.value_field)
        return nested_proof(member, [items], lambda array: _split_lists(array, member), source)
    if is_.is_map(target_type) and is_.is_map(source_type):
        key = _typed_proof(target_type.key_field, source_type.key_field)
        item = _typed_proof(target_type.item_field, source_type.item_field)
        return None if key is None or item is None else _map_proof(member, source, key, item)
    if is_.is_struct(target_type) and is_.is_struct(source_type):
        places = [source_type.get_field_index(part.name) for part in target_type]
        if not places:
            return lambda array: _without_members(array, member)
        proofs = [
            _typed_proof(part, source_type.field(place)) if place >= 0 else None
            for part, place in zip(target_type, places, strict=True)
        ]
        return nested_proof(member, proofs, lambda array: _split_structs(array, member, places), source)
    return None


def _scalar_proof(member: pa.Field, source: pa.Field) -> Proof | None:
    """Return what takes the values of a field without parts; None if none is certain."""
    target_type, source_type, is_ = storage_type(member.type), storage_type(source.type), pa.types
    if is_bytes_field(member):
        return _bytes_proof(member, source) if is_bytes(source_type) else None
    if role_of(member) is not None or isinstance(member.type, pa.BaseExtensionType):
        return None
    if is_string(target_type):
        return _proof(member, source, _text_misfits(source)) if is_string(source_type) else None
    if is_.is_timestamp(target_type):
        if not is_.is_timestamp(source_type):
            return None
        # Whether the count is the same on both sides, but for its unit.
        is_same = (target_type.tz is None) == (source_type.tz is None)
        is_same = is_same or clock_zone(member) == "UTC"
        return _timestamp_proof(member, source) if is_same else None
    if is_.is_integer(target_type) and is_.is_integer(source_type):
        (low, high), (least, greatest) = integer_limits(target_type), integer_limits(source_type)
        if low <= least and greatest <= high:
            return _proof(member, source)
        low, high = max(low, least), min(high, greatest)
        return _proof(member, source, lambda array: _outside(array, low, high))
    if is_.is_decimal(target_type) and is_.is_decimal(source_type):
        has_room = (
            target_type.scale >= source_type.scale
            and target_type.precision - target_type.scale >= source_type.precision - source_type.scale
        )
        return _proof(member, source) if has_room else None
    if is_.is_null(target_type) or not is_same_but_range(target_type, source_type):
        return None
    limits = range_of(target_type)
    return _proof(member, source, None if limits is None else lambda array: _out_of_range(array, limits))


def _proof(
    member: pa.Field, source: pa.Field, misfits: Kernel | None = None, converted: Kernel | None = None
) -> Proof:
    """Return what reads all values of a column but for `misfits`, a mask of those in doubt, and forbidden nulls.

    `converted` makes the values of the field out of those that are certain; None for a cast.
    """
    type_ = nullable_type(member, source)
    convert = converted or (lambda array: array.cast(type_))

    def read(array: pa.Array) -> Proven:
        doubtful = forbidden_nulls(member, array)
        if misfits is not None:
            doubtful = doubtful | numpy_mask(misfits(array))
        if not doubtful.any():
            return Proven(convert(array), doubtful)
        is_certain = pa.array(~doubtful)
        return Proven(_at_certain_rows(convert(array.filter(is_certain)), is_certain), doubtful)

    return read


def _at_certain_rows(values: pa.Array, is_certain: pa.Array) -> pa.Array:
    """Return values where something is certain, null elsewhere."""
    places = pc.subtract(pc.cumulative_sum(is_certain.cast(pa.int64())), 1)
    return values.take(pc.if_else(is_certain, places, pa.scalar(None, pa.int64())))


class NotUnicodeError(ValueError):
    """A column of text has bytes that are not UTF-8, so that its rows cannot be shown."""


def _text_misfits(source: pa.Field) -> Kernel:
    """Return what finds no text in doubt; that it is UTF-8, not every writer of Parquet has looked at."""

    def misfits(array: pa.Array) -> pa.Array:
        try:
            array.validate(full=True)
        except pa.ArrowInvalid as error:
            message = f"`{source.name}` has text that is not UTF-8; declare the column as Binary, or write the file anew"
            raise NotUnicodeError(message) from error
        return pa.repeat(pa.scalar(False), len(array))

    return misfits


def _bytes_proof(member: pa.Field, source: pa.Field) -> Proof:
    """Return what reads bytes, of any length or of one; in doubt are those of another length."""
    width, source_type = binary_width(member), storage_type(source.type)
    if width is None or (pa.types.is_fixed_size_binary(source_type) and source_type.byte_width == width):
        return _proof(member, source)
    return _proof(member, source, lambda array: pc.not_equal(pc.binary_length(array), width))


def _out_of_range(array: pa.Array, limits: tuple[int, int]) -> pa.Array:
    """Return which dates or times of day are out of their range."""
    counts = pc.cast(_ticks(array), pa.int64())
    if pa.types.is_date64(array.type):
        # Of a day that is none of Python's the remainder decides too.
        days = pc.floor(pc.divide(counts, 86_400_000))
        is_whole = pc.equal(pc.multiply(days, 86_400_000), counts)
        return pc.or_(pc.invert(is_whole), _outside(days, *limits))
    return _outside(counts, *limits)


def _timestamp_proof(member: pa.Field, source: pa.Field) -> Proof:
    """Return what reads timestamps of any unit; in doubt are those with more digits than the field keeps, or out of its range."""
    target_type, source_type = storage_type(member.type), storage_type(source.type)
    to, of = ARROW_PER_SECOND[target_type.unit], ARROW_PER_SECOND[source_type.unit]
    limits, type_ = range_of(target_type), nullable_type(member, source)

    def misfits(array: pa.Array) -> pa.Array:
        ticks = _ticks(array)
        counts = _scaled(ticks, to, of)
        # What was cut off, or was beyond 64 bits, does not come back.
        is_changed = pc.not_equal(_scaled(counts, of, to), ticks)
        return is_changed if limits is None else pc.or_(is_changed, _outside(counts, *limits))

    return _proof(member, source, misfits, lambda array: _scaled(_ticks(array), to, of).view(type_))


def _scaled(counts: pa.Array, to: int, of: int) -> pa.Array:
    """Return counts in another unit, each with so many a second; what is smaller is cut off, and beyond 64 bits they wrap around."""
    if to == of:
        return counts
    return pc.multiply(counts, to // of) if to > of else pc.divide(counts, of // to)


def _split_lists(array: pa.Array, member: pa.Field) -> SplitValues:
    """Split lists, and vectors, into their items."""
    # With nothing below null.
    lists = lists_of(array, array.flatten()) if pa.types.is_fixed_size_list(array.type) else compact(array)
    is_there = lists.is_valid().to_numpy(zero_copy_only=False)
    lengths = pc.list_value_length(lists).drop_null().to_numpy()
    return SplitValues([lists.flatten()], is_there, forbidden_nulls(member, array), lengths)


def _split_structs(array: pa.Array, member: pa.Field, places: Sequence[int]) -> SplitValues:
    """Split structs into the members at some places."""
    members, is_there = array.flatten(), array.is_valid().to_numpy(zero_copy_only=False)
    return SplitValues([members[place] for place in places], is_there, forbidden_nulls(member, array))


def _without_members(array: pa.Array, member: pa.Field) -> Proven:
    """Read structs without members, of which Arrow makes none from arrays."""
    structs = pa.array([{} if there else None for there in array.is_valid().to_pylist()], pa.struct([]))
    return Proven(structs, forbidden_nulls(member, array))


def _map_proof(member: pa.Field, source: pa.Field, key: Proof, item: Proof) -> Proof:
    """Return what reads maps; in doubt are those with a key that is null, is there twice, or is in doubt itself."""
    type_ = nullable_type(member, source)

    def read(array: pa.Array) -> Proven:
        lists = entries_of(array)
        rows, (keys, items) = pc.list_parent_indices(lists), lists.flatten().flatten()
        # Each part is read once: what is nested twice as deep costs twice as much.
        proven_keys, doubtful_keys = key(keys)
        if pa.types.is_floating(proven_keys.type) or pa.types.is_nested(proven_keys.type):
            # Arrow does not group all of these.
            return Proven(pa.nulls(len(lists), type_), np.ones(len(lists), bool))
        proven_items, doubtful_items = item(items)
        wrong = pa.array(doubtful_keys | numpy_mask(keys.is_null()) | doubtful_items)
        keys_of_rows = pa.table({"row": rows, "key": proven_keys})
        groups = keys_of_rows.group_by(["row", "key"]).aggregate([([], "count_all")])
        twice = groups.filter(pc.greater(groups.column("count_all"), 1)).column("row").combine_chunks()
        in_doubt = pa.concat_arrays([twice, rows.filter(wrong)])
        doubtful = np.isin(np.arange(len(lists)), in_doubt) | forbidden_nulls(member, array)
        if not doubtful.any():
            return Proven(maps_of(lists, proven_keys, proven_items, type_), doubtful)
        is_certain = pa.array(~doubtful)
        is_in = is_certain.take(rows)
        maps = maps_of(lists.filter(is_certain), proven_keys.filter(is_in), proven_items.filter(is_in), type_)
        return Proven(_at_certain_rows(maps, is_certain), doubtful)

    return read


def _ticks(array: pa.Array) -> pa.Array:
    """Return the integers behind dates, times or timestamps, of the same 32 or 64 bits."""
    return array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())


def _outside(array: pa.Array, low: int, high: int) -> pa.Array:
    """Return which values are below `low` or above `high`; null for null."""
    least, greatest = (pa.scalar(limit, array.type) for limit in (low, high))
    return pc.or_(pc.less(array, least), pc.greater(array, greatest))
