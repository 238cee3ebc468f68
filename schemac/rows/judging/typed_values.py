"""Readers of values that come with an Arrow type.

Layer: rows.
Shape: `raw_values` gives what Python calculates with: counts for dates, times, timestamps and durations, in the unit of the type;
       `Decimal`; bytes; lists; dicts for structs; lists of pairs for maps. A reader takes one of them. What has the field's own type is
       taken as it is, integers are compared with limits, and everything else is read from its text (see `value_texts`).
Errors: UnreadableTypeError for a column that can never become its field; MissingMemberError.
"""

import uuid
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa

from schemac.language.constraints.constraint import EXACT, lists_of
from schemac.language.kinds.temporal import ARROW_PER_SECOND
from schemac.language.physical import with_parts
from schemac.rows.judging.arrays import (
    MissingMemberError,
    extension_name,
    is_bytes,
    is_bytes_field,
    is_list,
    is_scalar,
    is_string,
    keeps_value,
    nullable_type,
    role_of,
    storage_type,
)
from schemac.rows.judging.judge import (
    Path,
    Reader,
    RecordReasons,
    cell_reader,
    entries_reader,
    known_scalar,
    list_reader,
    scalar_reader,
    unless_absent,
)
from schemac.rows.judging.scalars import Scalar, clock_zone, nanoseconds_of_years, scalar_of, shown_in
from schemac.rows.judging.settings import FIRST_DAY, LAST_DAY, ValidationSettings
from schemac.rows.judging.tokens import is_uuid
from schemac.rows.judging.value_texts import MILLIS_A_DAY, cast_text, count_text, json_text


def raw_values(array: pa.Array) -> list[Any]:
    """Return the values of an array that is laid out by `arrays`."""
    type_, is_ = array.type, pa.types
    if is_.is_struct(type_):
        columns = [raw_values(column) for column in array.flatten()]
        names = [member.name for member in type_]
        rows = zip(*columns, strict=True) if columns else (() for _ in range(len(array)))
        pairs = zip(array.is_valid().to_pylist(), rows, strict=True)
        return [dict(zip(names, row, strict=True)) if there else None for there, row in pairs]
    if is_.is_map(type_):
        return _split_items(array, list(zip(raw_values(array.keys), raw_values(array.items), strict=True)))
    if is_.is_fixed_size_list(type_):
        return raw_values(lists_of(array, array.flatten()))
    if is_.is_list(type_) or is_.is_large_list(type_):
        return _split_items(array, raw_values(array.values))
    if is_.is_date32(type_) or is_.is_time32(type_):
        return array.view(pa.int32()).to_pylist()  # type: ignore[no-any-return]  # pyarrow has no types
    if is_.is_date64(type_):
        return [None if v is None else _days_of_millis(v) for v in array.view(pa.int64()).to_pylist()]
    if is_.is_temporal(type_) and not is_.is_interval(type_):
        return array.view(pa.int64()).to_pylist()  # type: ignore[no-any-return]  # likewise
    if _is_odd_decimal(type_):
        # pyarrow writes none of 128 bits whose scale is above 38.
        array = array.cast(pa.decimal256(76, type_.scale))
    return array.to_pylist()  # type: ignore[no-any-return]  # likewise


def _days_of_millis(millis: int) -> int | Fraction:
    """Return the days of a date of 64 bits: a fraction if it is not at midnight, which no day is."""
    return Fraction(millis, MILLIS_A_DAY) if millis % MILLIS_A_DAY else millis // MILLIS_A_DAY


def _split_items(array: pa.Array, items: list[Any]) -> list[Any]:
    """Return the items of each list of an array, None for null; `items` are those of all lists."""
    offsets = array.offsets.to_pylist()
    there = array.is_valid().to_pylist()
    return [items[offsets[i] : offsets[i + 1]] if valid else None for i, valid in enumerate(there)]


class UnreadableTypeError(Exception):
    """No value of a column's type can become one of its field."""

    def __init__(self, member: pa.Field, source_type: pa.DataType) -> None:
        super().__init__(f"`{member.name}` is {member.type}, the table has {source_type}")


def typed_reader(
    member: pa.Field,
    source: pa.Field,
    settings: ValidationSettings,
    *,
    is_column: bool = True,
    epoch: str | None = None,
) -> Reader:
    """Compile the reader of a field for values of a type; `epoch` is what a number counts. Raises UnreadableTypeError, MissingMemberError."""
    source_type = storage_type(source.type)
    if epoch is not None and is_scalar(member):
        if is_string(source_type):
            return cell_reader(member, settings, epoch)
        counts = scalar_of(member, epoch)
        if counts is None or pa.types.is_nested(source_type):
            raise UnreadableTypeError(member, source_type)
        return _text_scalar_reader(member, counts, lambda x: cast_text(x, source_type), source_type)
    if keeps_value(member, source) or pa.types.is_null(source_type):
        return unless_absent(member, lambda x, path, reasons: x)
    if is_string(source_type):
        if is_column or not is_scalar(member):
            return cell_reader(member, settings)
        return scalar_reader(member, known_scalar(member), settings.null_values)
    if is_scalar(member):
        return _scalar_reader(member, source)
    if is_list(member.type) and is_list(source_type):
        of_items = source_type.value_field
        return list_reader(member, typed_reader(member.type.value_field, of_items, settings, is_column=False))
    if pa.types.is_map(member.type) and pa.types.is_map(source_type):
        return _map_reader(member, source_type, settings)
    if pa.types.is_struct(member.type) and pa.types.is_struct(source_type):
        return _struct_reader(member, source_type, settings)
    raise UnreadableTypeError(member, source_type)


def binary_width(member: pa.Field) -> int | None:
    """Return the bytes that every value of a field must have; None if there may be any."""
    if extension_name(member) == "arrow.uuid":
        return 16
    source_type = storage_type(member.type)
    return int(source_type.byte_width) if pa.types.is_fixed_size_binary(source_type) else None


def _scalar_reader(member: pa.Field, source: pa.Field) -> Reader:
    """Compile the reader of a field without parts. Raises UnreadableTypeError."""
    is_, target_type, source_type = pa.types, storage_type(member.type), storage_type(source.type)
    if is_.is_nested(source_type):
        raise UnreadableTypeError(member, source_type)
    if is_bytes_field(member):
        if not is_bytes(source_type):
            # The text of a number or a day may be base64, and means no bytes.
            raise UnreadableTypeError(member, source_type)
        return _bytes_reader(member)
    if role_of(member) is None and is_same_but_range(target_type, source_type):
        return _same_type_reader(member, source_type)
    if is_.is_duration(target_type) and is_.is_duration(source_type):
        return _duration_reader(member, target_type, source_type)
    text, epoch = _text_writer(member, target_type, source)
    scalar = scalar_of(member, epoch)
    if scalar is None:
        raise UnreadableTypeError(member, source_type)
    return _text_scalar_reader(member, scalar, text, source_type)


def is_same_but_range(target_type: pa.DataType, source_type: pa.DataType) -> bool:
    """Whether values of a type are values of a field, but for their range."""
    is_ = pa.types
    if is_.is_timestamp(target_type):
        if not is_.is_timestamp(source_type) or source_type.unit != target_type.unit:
            return False
        return (source_type.tz is None) == (target_type.tz is None)
    if is_.is_date(target_type):
        return bool(is_.is_date(source_type))
    if is_.is_decimal(target_type):
        digits = target_type.precision, target_type.scale
        return is_.is_decimal(source_type) and (source_type.precision, source_type.scale) == digits
    return bool(target_type == source_type)


Text = Callable[[Any], str]


def _text_writer(member: pa.Field, target_type: pa.DataType, source: pa.Field) -> tuple[Text, str | None]:
    """Return how a value is written for its field, and what a number counts where it is one of a timestamp.

    The text of bytes that are not UTF-8 raises UnicodeDecodeError, that of an instant beyond all clocks OverflowError.
    """
    is_, source_type = pa.types, storage_type(source.type)
    if is_uuid(source):
        return (lambda x: str(uuid.UUID(bytes=x))), None
    if is_bytes(source_type):
        return bytes.decode, None
    if not is_.is_timestamp(source_type):
        return (lambda x: cast_text(x, source_type)), None
    is_fine, is_instant = source_type.unit == "ns", source_type.tz is not None
    if is_.is_date(target_type) or (is_fine and is_instant and is_.is_timestamp(target_type)):
        factor = 1 if is_fine else 10**6 // ARROW_PER_SECOND[source_type.unit]
        return (lambda x: str(x * factor)), "Nanosecond" if is_fine else "Microsecond"
    if is_fine:
        return (lambda x: count_text(x, source_type)), None
    if is_instant and is_.is_timestamp(target_type) and target_type.tz is None:
        zone = clock_zone(member)
        factor = 10**9 // ARROW_PER_SECOND[source_type.unit]
        return (lambda x: cast_text(shown_in(zone, x * factor) // 1000, pa.timestamp("us"))), None
    return (lambda x: cast_text(x, source_type) + ("Z" if is_instant else "")), None


def _text_scalar_reader(member: pa.Field, scalar: Scalar, text: Text, source_type: pa.DataType) -> Reader:
    """Compile the reader of values that are read from their texts, which `text` writes."""
    read = scalar_reader(member, scalar, () if scalar.is_identity else ("",))

    def read_value(x: Any, path: Path, reasons: RecordReasons) -> Any:
        if isinstance(x, Fraction):
            # A date that is not at midnight is none, and no timestamp either.
            return reasons.add(path, "cast", cast_text(x, source_type))
        try:
            value_text = None if x is None else text(x)
        except UnicodeDecodeError:
            return reasons.add(path, "cast", cast_text(x, source_type))
        except OverflowError:
            return reasons.add(path, "range", cast_text(x, source_type))
        return read(value_text, path, reasons)

    return read_value


def _bytes_reader(member: pa.Field) -> Reader:
    """Compile the reader of bytes, whose length may be fixed."""
    width = binary_width(member)

    def read(x: Any, path: Path, reasons: RecordReasons) -> Any:
        if width is not None and len(x) != width:
            reasons.add(path, "length", str(len(x)))
        return x

    return unless_absent(member, read)


def range_of(target_type: pa.DataType) -> tuple[int, int] | None:
    """Return the first and the last count of a date or a timestamp that all readers take, and of a time of day; None for others."""
    is_ = pa.types
    if is_.is_date(target_type):
        return FIRST_DAY, LAST_DAY
    if is_.is_time(target_type):
        return 0, 86_400 * ARROW_PER_SECOND[target_type.unit] - 1
    if not is_.is_timestamp(target_type) or target_type.unit == "ns":
        return None
    first, last = nanoseconds_of_years(target_type)
    step = 10**9 // ARROW_PER_SECOND[target_type.unit]
    return -(-first // step), last // step


def _same_type_reader(member: pa.Field, source_type: pa.DataType) -> Reader:
    """Compile the reader of values of the field's own type, which are taken as they are within its range."""
    target_type = storage_type(member.type)
    limits = range_of(target_type)
    per_day = 86_400_000 if pa.types.is_date64(target_type) else 1

    def read(x: Any, path: Path, reasons: RecordReasons) -> Any:
        if limits is not None and not limits[0] <= x <= limits[1]:
            return reasons.add(path, "range", cast_text(x, source_type))
        if isinstance(x, Fraction):
            return reasons.add(path, "precision", cast_text(x, source_type))
        return x * per_day if per_day != 1 else x

    return unless_absent(member, read)


def _duration_reader(member: pa.Field, target_type: pa.DataType, source_type: pa.DataType) -> Reader:
    """Compile the reader of durations of another unit."""
    to, of = ARROW_PER_SECOND[target_type.unit], ARROW_PER_SECOND[source_type.unit]

    def read(x: Any, path: Path, reasons: RecordReasons) -> Any:
        count, rest = divmod(x * to, of)
        if rest:
            return reasons.add(path, "precision", str(x))
        return count if -(2**63) <= count < 2**63 else reasons.add(path, "range", str(x))

    return unless_absent(member, read)


def _map_reader(member: pa.Field, source_type: pa.DataType, settings: ValidationSettings) -> Reader:
    """Compile the reader of maps; keys are no values, so that none means null."""
    keys_settings, key_type = ValidationSettings(timezone=settings.timezone), source_type.key_type
    key = typed_reader(member.type.key_field, source_type.key_field, keys_settings, is_column=False)
    item = typed_reader(member.type.item_field, source_type.item_field, settings, is_column=False)
    write = json_text if pa.types.is_nested(storage_type(key_type)) else cast_text
    read = entries_reader(key, item, lambda label: write(label, key_type), is_checked=True)
    return unless_absent(member, read)


def _struct_reader(member: pa.Field, source_type: pa.DataType, settings: ValidationSettings) -> Reader:
    """Compile the reader of structs. Raises MissingMemberError if the source lacks a member."""
    members = []
    for part in member.type:
        place = source_type.get_field_index(part.name)
        if place < 0:
            raise MissingMemberError(part.name)
        read = typed_reader(part, source_type.field(place), settings, is_column=False)
        members.append((part.name, "." + part.name, read))

    def read_struct(x: Any, path: Path, reasons: RecordReasons) -> Any:
        return {label: read(x[label], (path, step), reasons) for label, step, read in members}

    return unless_absent(member, read_struct)


def nullable_array(values: Sequence[Any], member: pa.Field, source: pa.Field | None = None) -> pa.Array:
    """Make an array of values that were read, also of those that do not fit."""
    type_ = nullable_type(member, source)
    count_type = _with_odd_decimals(type_, lambda _: pa.decimal256(76, 0))
    if count_type == type_:
        return pa.array(values, type_)
    # A decimal is stored as a count of its last digit; pyarrow counts the digits of these wrong, or takes none of that many.
    counts = pa.array([_counts(value, type_) for value in values], count_type)
    return counts.view(_with_odd_decimals(type_, lambda odd: pa.decimal256(76, odd.scale))).cast(type_)


def _is_odd_decimal(type_: pa.DataType) -> bool:
    """Whether a decimal has zeros between its digits and its point: its scale is negative, or above its precision."""
    return pa.types.is_decimal(type_) and not 0 <= type_.scale <= type_.precision


def _with_odd_decimals(type_: pa.DataType, other: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """Return a type with other types in place of odd decimals."""
    if _is_odd_decimal(type_):
        return other(type_)
    return with_parts(type_, lambda part: part.with_type(_with_odd_decimals(part.type, other)))


def _counts(value: Any, type_: pa.DataType) -> Any:
    """Return a value with the counts of odd decimals in their place."""
    if value is None:
        return None
    if _is_odd_decimal(type_):
        return value.scaleb(type_.scale, EXACT)
    if pa.types.is_struct(type_):
        return {part.name: _counts(value[part.name], part.type) for part in type_}
    if pa.types.is_map(type_):
        return [(_counts(key, type_.key_type), _counts(item, type_.item_type)) for key, item in value]
    return [_counts(item, type_.value_type) for item in value] if is_list(type_) else value
