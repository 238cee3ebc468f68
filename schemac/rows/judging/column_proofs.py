"""Finds the values of an Arrow array that are certainly values of a field, many at a time.

Layer: rows.
Shape: `ColumnProof.doubts` gives a mask of the rows that a reader of `typed_values` has to judge, `taken` the values of the other rows in
       the nullable type of the field. Arrays are laid out by `arrays`. A proof is compiled for a field and a type; None if there is none.
Rule: whatever is not proven is in doubt; a proof says nothing about a rule of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from schemac.language.constraints.constraint import compact, entries_of, lists_of, mask_of
from schemac.language.kinds.answers import ARROW_PER_SECOND
from schemac.rows.judging.arrays import (
    integer_limits,
    is_list,
    is_scalar,
    is_string,
    maps_of,
    role_of,
    storage_type,
)
from schemac.rows.judging.nullable_arrays import nullable_type
from schemac.rows.judging.text_proofs import Proof, Proven, TextProof, some
from schemac.rows.judging.timestamps import zone_of, zone_of_clock
from schemac.rows.judging.typed_values import (
    binary_width,
    is_alike,
    is_bytes,
    keeps_value,
    range_of,
    takes_bytes,
)


@dataclass(frozen=True)
class ColumnProof:
    """What is certain of the values of a field; by itself, that every value of the type is one of the field."""

    member: pa.Field
    source: pa.Field

    def __call__(self, array: pa.Array) -> Proven:
        """Read values."""
        doubtful = some(self.doubtful(array))
        if doubtful is None:
            return Proven(self.convert(array), None)
        is_certain = pc.invert(doubtful)
        places = pc.subtract(pc.cumulative_sum(is_certain.cast(pa.int64())), 1)
        places = pc.if_else(is_certain, places, pa.scalar(None, pa.int64()))
        return Proven(self.convert(array.filter(is_certain)).take(places), doubtful)

    @property
    def type(self) -> pa.DataType:
        """The type of the values that it gives."""
        return nullable_type(self.member, self.source)

    @property
    def source_type(self) -> pa.DataType:
        """The type that the values come with."""
        return storage_type(self.source.type)

    def doubtful(self, array: pa.Array) -> pa.Array:
        """Return which values are in doubt."""
        found = pc.fill_null(self._doubtful_if_valid(array), False)
        if not self.member.nullable and array.null_count:
            found = pc.or_(found, array.is_null())
        return found

    def _doubtful_if_valid(self, array: pa.Array) -> pa.Array:
        """Return which values are in doubt, without nulls."""
        return _none(array)

    def convert(self, array: pa.Array) -> pa.Array:
        """Return values that are not in doubt."""
        return array.cast(self.type)


def proof_of(member: pa.Field, source: pa.Field, null_texts: Sequence[str]) -> Proof | None:
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
    proof = _proof_of(member, source)
    if proof is not None:
        return proof
    # Values that are read from the texts that Arrow writes for them, as far as these are those of `typed_values`.
    source_type, is_ = storage_type(source.type), pa.types
    is_known = is_.is_integer(source_type) or is_.is_boolean(source_type)
    is_number = is_.is_float32(source_type) or is_.is_float64(source_type) or is_.is_decimal(source_type)
    is_of_text = is_string(storage_type(member.type))
    text = TextProof.of(member) if is_known or (is_number and not is_of_text) else None
    return None if text is None else lambda array: text(array.cast(pa.string()))


def _proof_of(member: pa.Field, source: pa.Field) -> ColumnProof | None:
    source_type = storage_type(source.type)
    if keeps_value(member, source):
        return _AsItIs(member, source)
    if is_scalar(member):
        return _scalar_proof(member, source)
    target_type, is_ = member.type, pa.types
    if is_list(target_type) and is_list(source_type):
        items = _proof_of(target_type.value_field, source_type.value_field)
        return None if items is None else _ListProof(member, source, items)
    if is_.is_map(target_type) and is_.is_map(source_type):
        key, item = (
            _proof_of(target_type.key_field, source_type.key_field),
            _proof_of(target_type.item_field, source_type.item_field),
        )
        return None if key is None or item is None else _MapProof(member, source, key, item)
    if is_.is_struct(target_type) and is_.is_struct(source_type):
        parts: list[tuple[int, ColumnProof]] = []
        for part in target_type:
            place = source_type.get_field_index(part.name)
            proof = _proof_of(part, source_type.field(place)) if place >= 0 else None
            if proof is None:
                return None
            parts.append((place, proof))
        return _StructProof(member, source, tuple(parts))
    return None


def _scalar_proof(member: pa.Field, source: pa.Field) -> ColumnProof | None:
    target_type, is_, role = storage_type(member.type), pa.types, role_of(member)
    source_type = storage_type(source.type)
    if takes_bytes(member):
        return _BytesProof(member, source) if is_bytes(source_type) else None
    if role is not None or isinstance(member.type, pa.BaseExtensionType):
        return None
    if is_string(target_type):
        return _TextProof(member, source) if is_string(source_type) else None
    if is_.is_timestamp(target_type):
        if not is_.is_timestamp(source_type):
            return None
        # Whether the count is the same on both sides, but for its unit.
        is_same = (target_type.tz is None) == (source_type.tz is None)
        is_same = is_same or zone_of_clock(target_type.tz or "UTC", zone_of(member)) == "UTC"
        return _TimestampProof(member, source) if is_same else None
    if is_.is_integer(target_type) and is_.is_integer(source_type):
        return _IntegerProof(member, source)
    if is_.is_decimal(target_type) and is_.is_decimal(source_type):
        has_room = (
            target_type.scale >= source_type.scale
            and target_type.precision - target_type.scale >= source_type.precision - source_type.scale
        )
        return ColumnProof(member, source) if has_room else None
    if is_.is_null(target_type) or not is_alike(target_type, source_type):
        return None
    return _CountProof(member, source) if range_of(target_type) is not None else ColumnProof(member, source)


@dataclass(frozen=True)
class _AsItIs(ColumnProof):
    """Stored in a form of its own on both sides."""

    def convert(self, array: pa.Array) -> pa.Array:
        return array


class NotUnicodeError(ValueError):
    """A column of text has bytes that are not UTF-8, so its rows cannot be shown."""


@dataclass(frozen=True)
class _TextProof(ColumnProof):
    """Every text is one of the field; that it is UTF-8, not every writer of Parquet has looked at."""

    def _doubtful_if_valid(self, array: pa.Array) -> pa.Array:
        try:
            array.validate(full=True)
        except pa.ArrowInvalid as error:
            message = f"`{self.source.name}` has text that is not UTF-8; declare the column as Binary, or write the file anew"
            raise NotUnicodeError(message) from error
        return _none(array)


@dataclass(frozen=True)
class _BytesProof(ColumnProof):
    """Bytes of any length, or of one."""

    def _doubtful_if_valid(self, array: pa.Array) -> pa.Array:
        width = binary_width(self.member)
        source_type = storage_type(array.type)
        if width is None or (pa.types.is_fixed_size_binary(source_type) and source_type.byte_width == width):
            return _none(array)
        return pc.not_equal(pc.binary_length(array), width)

    def convert(self, array: pa.Array) -> pa.Array:
        target = self.type
        if pa.types.is_fixed_size_binary(array.type) and array.type != target:
            array = array.cast(pa.binary())
        return array.cast(target)


@dataclass(frozen=True)
class _CountProof(ColumnProof):
    """Dates and times of day, within their range."""

    def _doubtful_if_valid(self, array: pa.Array) -> pa.Array:
        limits = range_of(storage_type(self.member.type))
        assert limits is not None
        counts = pc.cast(_counts(array), pa.int64())
        if pa.types.is_date64(array.type):
            # Of a day that is none of Python's the remainder decides too.
            days = pc.floor(pc.divide(counts, 86_400_000))
            is_whole = pc.equal(pc.multiply(days, 86_400_000), counts)
            return pc.or_(pc.invert(is_whole), _outside(days, *limits))
        return _outside(counts, *limits)


@dataclass(frozen=True)
class _TimestampProof(ColumnProof):
    """Timestamps of any unit whose counts have as many digits as the field keeps."""

    def _doubtful_if_valid(self, array: pa.Array) -> pa.Array:
        target_type = storage_type(self.member.type)
        counts, target_per_second, source_per_second = _counts(array), *self._rates()
        if source_per_second <= target_per_second:
            factor = target_per_second // source_per_second
            low, high = -(2**63) // factor + 1, (2**63 - 1) // factor
            found = _outside(counts, low, high)
            limits = range_of(target_type)
            if limits is not None:
                found = pc.or_(found, _outside(counts, -(-limits[0] // factor), limits[1] // factor))
            if self.source_type.unit != "ns":
                # Coarser counts become nanoseconds only in the years 1 to 9999.
                calendar = range_of(pa.timestamp(self.source_type.unit))
                assert calendar is not None
                found = pc.or_(found, _outside(counts, *calendar))
            return found
        step = source_per_second // target_per_second
        shorter = pc.divide(counts, step)
        found = pc.not_equal(pc.multiply(shorter, step), counts)
        limits = range_of(target_type)
        return found if limits is None else pc.or_(found, _outside(shorter, *limits))

    def _rates(self) -> tuple[int, int]:
        """Return how many counts a second has in the type of the field, and in that of the column."""
        target_type = storage_type(self.member.type)
        return ARROW_PER_SECOND[target_type.unit], ARROW_PER_SECOND[self.source_type.unit]

    def convert(self, array: pa.Array) -> pa.Array:
        counts, target_per_second, source_per_second = _counts(array), *self._rates()
        if source_per_second < target_per_second:
            counts = pc.multiply(counts, target_per_second // source_per_second)
        elif source_per_second > target_per_second:
            counts = pc.divide(counts, source_per_second // target_per_second)
        return counts.view(self.type)


@dataclass(frozen=True)
class _IntegerProof(ColumnProof):
    """Integers of any width within the limits of the field."""

    def _doubtful_if_valid(self, array: pa.Array) -> pa.Array:
        low, high = integer_limits(storage_type(self.member.type))
        least, greatest = integer_limits(self.source_type)
        if low <= least and greatest <= high:
            return _none(array)
        return _outside(array, max(low, least), min(high, greatest))


@dataclass(frozen=True)
class _ListProof(ColumnProof):
    """Lists, and vectors of one length."""

    items: ColumnProof

    def _doubtful_if_valid(self, array: pa.Array) -> pa.Array:
        lists = _lists(array)
        found = _rows_with(self.items.doubtful(lists.flatten()), pc.list_parent_indices(lists), len(lists))
        if pa.types.is_fixed_size_list(self.member.type):
            found = pc.or_(found, pc.not_equal(pc.list_value_length(lists), self.member.type.list_size))
        return found

    def convert(self, array: pa.Array) -> pa.Array:
        lists = _lists(array)
        return lists_of(lists, self.items.convert(lists.flatten()), self.type)


@dataclass(frozen=True)
class _MapProof(ColumnProof):
    """Maps whose keys differ."""

    key: ColumnProof
    item: ColumnProof

    def _doubtful_if_valid(self, array: pa.Array) -> pa.Array:
        lists = entries_of(array)
        entries, rows = lists.flatten(), pc.list_parent_indices(lists)
        keys, items = entries.flatten()
        wrong = pc.or_(pc.or_(self.key.doubtful(keys), self.item.doubtful(items)), keys.is_null())
        found, is_sure = _rows_with(wrong, rows, len(lists)), pc.invert(wrong)
        keys, rows = self.key.convert(keys.filter(is_sure)), rows.filter(is_sure)
        if pa.types.is_floating(keys.type) or pa.types.is_nested(keys.type):
            # Arrow does not group all of these.
            return pa.repeat(True, len(lists))
        groups = pa.table({"row": rows, "key": keys}).group_by(["row", "key"]).aggregate([([], "count_all")])
        twice = groups.filter(pc.greater(groups.column("count_all"), 1)).column("row").combine_chunks()
        return pc.or_(found, _rows_with(pa.repeat(True, len(twice)), twice, len(lists)))

    def convert(self, array: pa.Array) -> pa.Array:
        lists = entries_of(array)
        keys, items = lists.flatten().flatten()
        return maps_of(lists, self.key.convert(keys), self.item.convert(items), self.type)


@dataclass(frozen=True)
class _StructProof(ColumnProof):
    """Structs, by the names of their members."""

    parts: tuple[tuple[int, ColumnProof], ...]

    def _doubtful_if_valid(self, array: pa.Array) -> pa.Array:
        members, found = array.flatten(), _none(array)
        for place, proof in self.parts:
            found = pc.or_(found, proof.doubtful(members[place]))
        return pc.and_(found, array.is_valid())

    def convert(self, array: pa.Array) -> pa.Array:
        members, target = array.flatten(), self.type
        if not self.parts:
            return pa.array([{} if there else None for there in array.is_valid().to_pylist()], target)
        children = [proof.convert(members[place]) for place, proof in self.parts]
        return pa.StructArray.from_arrays(children, fields=list(target), mask=mask_of(array))


def _lists(array: pa.Array) -> pa.Array:
    """Return lists, also for vectors, with nothing below null."""
    return lists_of(array, array.flatten()) if pa.types.is_fixed_size_list(array.type) else compact(array)


def _none(array: pa.Array) -> pa.Array:
    """Return a mask as long as the array that is False throughout."""
    return pa.repeat(pa.scalar(False), len(array))


def _counts(array: pa.Array) -> pa.Array:
    """Return the integers behind dates, times or timestamps, of the same 32 or 64 bits."""
    return array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())


def _outside(array: pa.Array, low: int, high: int) -> pa.Array:
    """Return which values are below `low` or above `high`; null for null."""
    least, greatest = (pa.scalar(limit, array.type) for limit in (low, high))
    return pc.or_(pc.less(array, least), pc.greater(array, greatest))


def _rows_with(wrong: pa.Array, rows: pa.Array, count: int) -> pa.Array:
    """Return which of so many rows have an item that is wrong."""
    found = rows.filter(wrong)
    return (
        pc.is_in(pa.array(range(count), rows.type), value_set=found)
        if len(found)
        else pa.repeat(False, count)
    )
