"""Finds the values of an Arrow array that are certainly values of a field, many at a time.

Layer: rows.
Shape: `ColumnProof.doubts` gives a mask of the rows that a reader of `typed_values` has to judge, `taken` the values of the other rows in
       the loose type of the field. Arrays are laid out by `layouts`. A proof is compiled for a field and a type; None if there is none.
Rule: whatever is not proven is in doubt; a proof says nothing about a rule of its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from schemac.language.kinds.answers import ARROW_PER_SECOND
from schemac.rows.judging.arrays import (
    compact,
    entries_of,
    integer_limits,
    is_list,
    is_scalar,
    is_string,
    lists_of,
    maps_of,
    mask_of,
    role_of,
    storage_type,
)
from schemac.rows.judging.loose import nullable_type
from schemac.rows.judging.text_proofs import Proof, Proven, TextProof, some
from schemac.rows.judging.timestamps import zone_of, zone_of_clock
from schemac.rows.judging.typed_values import binary_width, is_alike, is_bytes, is_kept, range_of, takes_bytes


@dataclass(frozen=True)
class ColumnProof(ABC):
    """What is certain of the values of a field."""

    member: pa.Field
    source: pa.Field

    def __call__(self, array: pa.Array) -> Proven:
        """Read values."""
        doubts = some(self.doubts(array))
        if doubts is None:
            return Proven(self.taken(array), None)
        is_certain = pc.invert(doubts)
        places = pc.subtract(pc.cumulative_sum(is_certain.cast(pa.int64())), 1)
        places = pc.if_else(is_certain, places, pa.scalar(None, pa.int64()))
        return Proven(self.taken(array.filter(is_certain)).take(places), doubts)

    @property
    def type(self) -> pa.DataType:
        """The type of the values that it gives."""
        return nullable_type(self.member, self.source)

    def doubts(self, array: pa.Array) -> pa.Array:
        """Return which values are in doubt."""
        found = pc.fill_null(self._doubts_of_valid(array), False)
        if not self.member.nullable and array.null_count:
            found = pc.or_(found, array.is_null())
        return found

    @abstractmethod
    def _doubts_of_valid(self, array: pa.Array) -> pa.Array:
        """Return which values are in doubt; what it says of null does not count."""

    @abstractmethod
    def taken(self, array: pa.Array) -> pa.Array:
        """Return values that are not in doubt."""


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
    return _proof_of(member, source) or _by_text(member, storage_type(source.type))


def _by_text(member: pa.Field, held: pa.DataType) -> Proof | None:
    """Return the proof of values that are read from the texts that Arrow writes for them, as far as these are those of `typed_texts`."""
    is_ = pa.types
    is_of_text = is_string(storage_type(member.type))
    is_known = is_.is_integer(held) or is_.is_boolean(held)
    is_number = is_.is_float32(held) or is_.is_float64(held) or is_.is_decimal(held)
    proof = TextProof.of(member) if is_known or (is_number and not is_of_text) else None
    return None if proof is None else lambda array: proof(array.cast(pa.string()))


def _proof_of(member: pa.Field, source: pa.Field) -> ColumnProof | None:
    held = storage_type(source.type)
    if is_kept(member, source):
        return _AsItIs(member, source)
    if is_scalar(member):
        return _scalar_proof(member, source)
    own, is_ = member.type, pa.types
    if is_list(own) and is_list(held):
        items = _proof_of(own.value_field, held.value_field)
        return None if items is None else _ListProof(member, source, items)
    if is_.is_map(own) and is_.is_map(held):
        key, item = _proof_of(own.key_field, held.key_field), _proof_of(own.item_field, held.item_field)
        return None if key is None or item is None else _MapProof(member, source, key, item)
    if is_.is_struct(own) and is_.is_struct(held):
        return _struct_proof(member, source)
    return None


def _struct_proof(member: pa.Field, source: pa.Field) -> ColumnProof | None:
    held = storage_type(source.type)
    parts: list[tuple[int, ColumnProof]] = []
    for part in member.type:
        place = held.get_field_index(part.name)
        proof = _proof_of(part, held.field(place)) if place >= 0 else None
        if proof is None:
            return None
        parts.append((place, proof))
    return _StructProof(member, source, tuple(parts))


def _scalar_proof(member: pa.Field, source: pa.Field) -> ColumnProof | None:
    own, is_, role = storage_type(member.type), pa.types, role_of(member)
    held = storage_type(source.type)
    if takes_bytes(member):
        return _BytesProof(member, source) if is_bytes(held) else None
    if role is not None or isinstance(member.type, pa.BaseExtensionType):
        return None
    if is_string(own):
        return _TextProof(member, source) if is_string(held) else None
    if is_.is_timestamp(own):
        return (
            _TimestampProof(member, source)
            if is_.is_timestamp(held) and _is_shown_alike(member, held)
            else None
        )
    if is_.is_integer(own) and is_.is_integer(held):
        return _IntegerProof(member, source)
    if is_.is_decimal(own) and is_.is_decimal(held):
        has_room = own.scale >= held.scale and own.precision - own.scale >= held.precision - held.scale
        return _PlainProof(member, source) if has_room else None
    if is_.is_null(own) or not is_alike(own, held):
        return None
    return _CountProof(member, source) if range_of(own) is not None else _PlainProof(member, source)


def _is_shown_alike(member: pa.Field, held: pa.DataType) -> bool:
    """Whether the count of a timestamp is the same on both sides, but for its unit."""
    own = storage_type(member.type)
    if (own.tz is None) == (held.tz is None):
        return True
    return zone_of_clock(own.tz or "UTC", zone_of(member)) == "UTC"


@dataclass(frozen=True)
class _AsItIs(ColumnProof):
    """Stored in a form of its own on both sides."""

    def _doubts_of_valid(self, array: pa.Array) -> pa.Array:
        return _none(array)

    def taken(self, array: pa.Array) -> pa.Array:
        return array


@dataclass(frozen=True)
class _PlainProof(ColumnProof):
    """Every value of the type is one of the field."""

    def _doubts_of_valid(self, array: pa.Array) -> pa.Array:
        return _none(array)

    def taken(self, array: pa.Array) -> pa.Array:
        return array.cast(self.type)


class NotUnicodeError(ValueError):
    """A column of text has bytes that are no text: its reader cannot even show the rows."""


@dataclass(frozen=True)
class _TextProof(_PlainProof):
    """Every text is one of the field; that it is UTF-8, not every writer of Parquet has looked at."""

    def _doubts_of_valid(self, array: pa.Array) -> pa.Array:
        try:
            array.validate(full=True)
        except pa.ArrowInvalid as error:
            message = f"`{self.source.name}` has text that is not UTF-8; declare the column as Binary, or write the file anew"
            raise NotUnicodeError(message) from error
        return _none(array)


@dataclass(frozen=True)
class _BytesProof(ColumnProof):
    """Bytes of any length, or of one."""

    def _doubts_of_valid(self, array: pa.Array) -> pa.Array:
        width = binary_width(self.member)
        held = storage_type(array.type)
        if width is None or (pa.types.is_fixed_size_binary(held) and held.byte_width == width):
            return _none(array)
        return pc.not_equal(pc.binary_length(array), width)

    def taken(self, array: pa.Array) -> pa.Array:
        plain, target = array, self.type
        if pa.types.is_fixed_size_binary(plain.type) and plain.type != target:
            plain = plain.cast(pa.binary())
        return plain.cast(target)


@dataclass(frozen=True)
class _CountProof(ColumnProof):
    """Dates and times of day, within their range."""

    def _doubts_of_valid(self, array: pa.Array) -> pa.Array:
        limits = range_of(storage_type(self.member.type))
        assert limits is not None
        plain = array
        counts = pc.cast(_counts(plain), pa.int64())
        if pa.types.is_date64(plain.type):
            # Of a day that is none of Python's the remainder decides too.
            days = pc.floor(pc.divide(counts, 86_400_000))
            is_whole = pc.equal(pc.multiply(days, 86_400_000), counts)
            return pc.or_(pc.invert(is_whole), _outside(days, *limits))
        return _outside(counts, *limits)

    def taken(self, array: pa.Array) -> pa.Array:
        return array.cast(self.type)


@dataclass(frozen=True)
class _TimestampProof(ColumnProof):
    """Timestamps of any unit whose counts have as many digits as the field keeps."""

    @property
    def held(self) -> pa.DataType:
        """The type that the values come with."""
        return storage_type(self.source.type)

    def _doubts_of_valid(self, array: pa.Array) -> pa.Array:
        own = storage_type(self.member.type)
        counts, per_own, per_held = _counts(array), *self._rates()
        if per_held <= per_own:
            factor = per_own // per_held
            low, high = -(2**63) // factor + 1, (2**63 - 1) // factor
            found = _outside(counts, low, high)
            limits = range_of(own)
            if limits is not None:
                found = pc.or_(found, _outside(counts, -(-limits[0] // factor), limits[1] // factor))
            return pc.or_(found, self._beyond_calendar(counts))
        step = per_held // per_own
        shorter = pc.divide(counts, step)
        found = pc.not_equal(pc.multiply(shorter, step), counts)
        limits = range_of(own)
        return found if limits is None else pc.or_(found, _outside(shorter, *limits))

    def _rates(self) -> tuple[int, int]:
        own = storage_type(self.member.type)
        return ARROW_PER_SECOND[own.unit], ARROW_PER_SECOND[self.held.unit]

    def _beyond_calendar(self, counts: pa.Array) -> pa.Array:
        """Return what is outside of the years 1 to 9999, where coarser counts become nanoseconds."""
        if self.held.unit == "ns":
            return _none(counts)
        limits = range_of(pa.timestamp(self.held.unit))
        assert limits is not None
        return _outside(counts, *limits)

    def taken(self, array: pa.Array) -> pa.Array:
        counts, per_own, per_held = _counts(array), *self._rates()
        if per_held < per_own:
            counts = pc.multiply(counts, per_own // per_held)
        elif per_held > per_own:
            counts = pc.divide(counts, per_held // per_own)
        return counts.view(self.type)


@dataclass(frozen=True)
class _IntegerProof(ColumnProof):
    """Integers of any width within the limits of the field."""

    @property
    def held(self) -> pa.DataType:
        """The type that the values come with."""
        return storage_type(self.source.type)

    def _doubts_of_valid(self, array: pa.Array) -> pa.Array:
        low, high = integer_limits(storage_type(self.member.type))
        least, greatest = integer_limits(self.held)
        if low <= least and greatest <= high:
            return _none(array)
        return _outside(array, max(low, least), min(high, greatest))

    def taken(self, array: pa.Array) -> pa.Array:
        return array.cast(self.type)


@dataclass(frozen=True)
class _ListProof(ColumnProof):
    """Lists, and vectors of one length."""

    items: ColumnProof

    def _doubts_of_valid(self, array: pa.Array) -> pa.Array:
        lists = _lists(array)
        found = _rows_with(self.items.doubts(lists.flatten()), pc.list_parent_indices(lists), len(lists))
        if pa.types.is_fixed_size_list(self.member.type):
            found = pc.or_(found, pc.not_equal(pc.list_value_length(lists), self.member.type.list_size))
        return found

    def taken(self, array: pa.Array) -> pa.Array:
        lists = _lists(array)
        return lists_of(lists, self.items.taken(lists.flatten()), self.type)


@dataclass(frozen=True)
class _MapProof(ColumnProof):
    """Maps whose keys differ."""

    key: ColumnProof
    item: ColumnProof

    def _doubts_of_valid(self, array: pa.Array) -> pa.Array:
        lists = entries_of(array)
        entries, rows = lists.flatten(), pc.list_parent_indices(lists)
        keys, items = entries.flatten()
        wrong = pc.or_(pc.or_(self.key.doubts(keys), self.item.doubts(items)), keys.is_null())
        found = _rows_with(wrong, rows, len(lists))
        return pc.or_(
            found,
            _with_twins(
                self.key.taken(keys.filter(pc.invert(wrong))), rows.filter(pc.invert(wrong)), len(lists)
            ),
        )

    def taken(self, array: pa.Array) -> pa.Array:
        lists = entries_of(array)
        keys, items = lists.flatten().flatten()
        return maps_of(lists, self.key.taken(keys), self.item.taken(items), self.type)


@dataclass(frozen=True)
class _StructProof(ColumnProof):
    """Structs, by the names of their members."""

    parts: tuple[tuple[int, ColumnProof], ...]

    def _doubts_of_valid(self, array: pa.Array) -> pa.Array:
        plain = array
        members, found = plain.flatten(), _none(plain)
        for place, proof in self.parts:
            found = pc.or_(found, proof.doubts(members[place]))
        return pc.and_(found, plain.is_valid())

    def taken(self, array: pa.Array) -> pa.Array:
        plain, target = array, self.type
        members = plain.flatten()
        if not self.parts:
            return pa.array([{} if there else None for there in plain.is_valid().to_pylist()], target)
        children = [proof.taken(members[place]) for place, proof in self.parts]
        return pa.StructArray.from_arrays(children, fields=list(target), mask=mask_of(plain))


def _lists(array: pa.Array) -> pa.Array:
    """Return lists, also for vectors, with nothing below null."""
    return lists_of(array, array.flatten()) if pa.types.is_fixed_size_list(array.type) else compact(array)


def _none(array: pa.Array) -> pa.Array:
    return pa.repeat(pa.scalar(False), len(array))


def _counts(array: pa.Array) -> pa.Array:
    return array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())


def _outside(array: pa.Array, low: int, high: int) -> pa.Array:
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


def _with_twins(keys: pa.Array, rows: pa.Array, count: int) -> pa.Array:
    """Return which of so many rows have a key twice."""
    if pa.types.is_floating(keys.type) or pa.types.is_nested(keys.type):
        return pa.repeat(True, count)
    groups = pa.table({"row": rows, "key": keys}).group_by(["row", "key"]).aggregate([([], "count_all")])
    twice = groups.filter(pc.greater(groups.column("count_all"), 1)).column("row").combine_chunks()
    return _rows_with(pa.repeat(True, len(twice)), twice, count)
