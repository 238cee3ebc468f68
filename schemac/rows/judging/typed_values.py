"""Readers of values that came with a type of Arrow, as a column of a table.

Layer: rows.
Shape: a reader takes a value as `typed_texts.raw_values` gives it. What has the field's own type is taken as it is; integers are compared
       with limits; everything else is read from the text that Spark shows for it.
Errors: UnreadableTypeError for a column that can never become its field; MissingMemberError.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from schemac.attributes.attribute import Role
from schemac.kinds.units import ARROW_PER_SECOND
from schemac.rows.judging.clocks import Clock, zone_of, zone_of_clock
from schemac.rows.judging.exact_types import MissingMemberError
from schemac.rows.judging.forms import FIRST_DAY, LAST_DAY
from schemac.rows.judging.parts import (
    Path,
    Reader,
    Run,
    absent_reader,
    cell_reader,
    check_duplicate_keys,
    scalar_reader,
    text_reader,
)
from schemac.rows.judging.scalars import Scalar, scalar_of
from schemac.rows.judging.settings import Settings
from schemac.rows.judging.shapes import extension_name, is_list, is_scalar, is_string, role_of, storage_type
from schemac.rows.judging.timestamps import nanoseconds_of_years
from schemac.rows.judging.typed_texts import cast_text, count_text, raw_values

__all__ = ["UnreadableTypeError", "raw_values", "typed_reader"]


class UnreadableTypeError(Exception):
    """A column that can never become its field."""

    def __init__(self, member: pa.Field, held: pa.DataType) -> None:
        super().__init__(f"`{member.name}` is {member.type}, the table has {held}")


def typed_reader(
    member: pa.Field,
    source: pa.Field,
    settings: Settings,
    *,
    is_column: bool = True,
    epoch: str | None = None,
) -> Reader:
    """Compile the reader of a field for values of a type; `epoch` is what a number counts. Raises UnreadableTypeError, MissingMemberError."""
    held = storage_type(source.type)
    if epoch is not None and is_scalar(member):
        if is_string(held):
            return cell_reader(member, settings, epoch)
        counts = scalar_of(member, epoch)
        if counts is None or pa.types.is_nested(held):
            raise UnreadableTypeError(member, held)
        return _of_text(member, counts, lambda x: cast_text(x, held))
    if is_kept(member, source):
        return _as_it_is(member)
    if is_string(held):
        if is_column or not is_scalar(member):
            return cell_reader(member, settings)
        return text_reader(member, settings.null_values)
    if pa.types.is_null(held):
        return lambda x, path, run: absent_reader(member)(path, run)
    if is_scalar(member):
        return _scalar_reader(member, held)
    if is_list(member.type) and is_list(held):
        return _list_reader(member, held, settings)
    if pa.types.is_map(member.type) and pa.types.is_map(held):
        return _map_reader(member, held, settings)
    if pa.types.is_struct(member.type) and pa.types.is_struct(held):
        return _struct_reader(member, held, settings)
    raise UnreadableTypeError(member, held)


def is_kept(member: pa.Field, source: pa.Field) -> bool:
    """Whether a value is stored in a form of its own, which the source has as well."""
    role = role_of(member)
    return role is not None and not is_string(storage_type(member.type)) and role_of(source) is role


def _as_it_is(member: pa.Field) -> Reader:
    absent = absent_reader(member)
    return lambda x, path, run: absent(path, run) if x is None else x


def binary_width(member: pa.Field) -> int | None:
    """Return the bytes that every value of a field must have; None if there may be any."""
    if extension_name(member) == "arrow.uuid":
        return 16
    held = storage_type(member.type)
    return int(held.byte_width) if pa.types.is_fixed_size_binary(held) else None


def is_bytes(data_type: pa.DataType) -> bool:
    """Whether values of a type are bytes, of any length or of one."""
    is_ = pa.types
    found = is_.is_binary(data_type) or is_.is_large_binary(data_type) or is_.is_fixed_size_binary(data_type)
    return bool(found or is_.is_binary_view(data_type))


def takes_bytes(member: pa.Field) -> bool:
    """Whether values of a field are bytes."""
    role = role_of(member)
    return role is Role.BLOB or (role is None and is_bytes(storage_type(member.type)))


def _scalar_reader(member: pa.Field, held: pa.DataType) -> Reader:
    is_, own = pa.types, storage_type(member.type)
    if is_.is_nested(held):
        raise UnreadableTypeError(member, held)
    if takes_bytes(member) and is_bytes(held):
        return _bytes_reader(member)
    if role_of(member) is None and is_alike(own, held):
        return _alike_reader(member, held)
    if is_.is_duration(own) and is_.is_duration(held):
        return _duration_reader(member, own, held)
    text, epoch = _texts_of(member, own, held)
    scalar = scalar_of(member, epoch)
    if scalar is None:
        raise UnreadableTypeError(member, held)
    return _of_text(member, scalar, text)


def is_alike(own: pa.DataType, held: pa.DataType) -> bool:
    """Whether values of a type are values of a field, but for their range."""
    is_ = pa.types
    if is_.is_timestamp(own):
        return is_.is_timestamp(held) and held.unit == own.unit and (held.tz is None) == (own.tz is None)
    if is_.is_date(own):
        return bool(is_.is_date(held))
    if is_.is_decimal(own):
        return is_.is_decimal(held) and (held.precision, held.scale) == (own.precision, own.scale)
    return bool(own == held)


Text = Callable[[Any], str]


def _texts_of(member: pa.Field, own: pa.DataType, held: pa.DataType) -> tuple[Text, str | None]:
    """Return how a value is written for its field, and what a number counts where it is one of a timestamp."""
    is_ = pa.types
    if not is_.is_timestamp(held):
        return (lambda x: cast_text(x, held)), None
    is_fine, is_instant = held.unit == "ns", held.tz is not None
    if is_.is_date(own) or (is_fine and is_instant and is_.is_timestamp(own)):
        factor = 1 if is_fine else 10**6 // ARROW_PER_SECOND[held.unit]
        return (lambda x: str(x * factor)), "Nanosecond" if is_fine else "Microsecond"
    if is_fine:
        return (lambda x: count_text(x, held)), None
    if is_instant and is_.is_timestamp(own) and own.tz is None:
        clock, factor = Clock(zone_of_clock("UTC", zone_of(member))), 10**9 // ARROW_PER_SECOND[held.unit]
        return (lambda x: cast_text(clock.shown(x * factor) // 1000, pa.timestamp("us"))), None
    return (lambda x: cast_text(x, held) + ("Z" if is_instant else "")), None


def _of_text(member: pa.Field, scalar: Scalar, text: Text) -> Reader:
    read = scalar_reader(member, scalar, () if scalar.is_identity else ("",))
    return lambda x, path, run: read(None if x is None else text(x), path, run)


def _bytes_reader(member: pa.Field) -> Reader:
    absent, width = absent_reader(member), binary_width(member)

    def read(x: Any, path: Path, run: Run) -> Any:
        if x is None:
            return absent(path, run)
        if width is not None and len(x) != width:
            run.object_to(path, "length", str(len(x)))
        return x

    return read


def range_of(own: pa.DataType) -> tuple[int, int] | None:
    """Return the first and the last count of a date or a timestamp that all readers take, and of a time of day; None for others."""
    is_ = pa.types
    if is_.is_date(own):
        return FIRST_DAY, LAST_DAY
    if is_.is_time(own):
        return 0, 86_400 * ARROW_PER_SECOND[own.unit] - 1
    if not is_.is_timestamp(own) or own.unit == "ns":
        return None
    first, last = nanoseconds_of_years(own)
    step = 10**9 // ARROW_PER_SECOND[own.unit]
    return -(-first // step), last // step


def _alike_reader(member: pa.Field, held: pa.DataType) -> Reader:
    absent, own = absent_reader(member), storage_type(member.type)
    limits = range_of(own)
    per_day = 86_400_000 if pa.types.is_date64(own) else 1

    def read(x: Any, path: Path, run: Run) -> Any:
        if x is None:
            return absent(path, run)
        if limits is not None and not limits[0] <= x <= limits[1]:
            return run.object_to(path, "range", cast_text(x, held))
        return x * per_day if per_day != 1 else x

    return read


def _duration_reader(member: pa.Field, own: pa.DataType, held: pa.DataType) -> Reader:
    absent = absent_reader(member)
    to, of = ARROW_PER_SECOND[own.unit], ARROW_PER_SECOND[held.unit]

    def read(x: Any, path: Path, run: Run) -> Any:
        if x is None:
            return absent(path, run)
        count, rest = divmod(x * to, of)
        if rest:
            return run.object_to(path, "precision", str(x))
        return count if -(2**63) <= count < 2**63 else run.object_to(path, "range", str(x))

    return read


def _list_reader(member: pa.Field, held: pa.DataType, settings: Settings) -> Reader:
    item = typed_reader(member.type.value_field, held.value_field, settings, is_column=False)
    absent = absent_reader(member)
    size = member.type.list_size if pa.types.is_fixed_size_list(member.type) else None

    def read(x: Any, path: Path, run: Run) -> Any:
        if x is None:
            return absent(path, run)
        found = [item(part, (path, i), run) for i, part in enumerate(x)]
        if size is not None and len(x) != size:
            run.object_to(path, "length", str(len(x)))
        return found

    return read


def _map_reader(member: pa.Field, held: pa.DataType, settings: Settings) -> Reader:
    keys_settings = Settings(timezone=settings.timezone)
    key = typed_reader(member.type.key_field, held.key_field, keys_settings, is_column=False)
    item = typed_reader(member.type.item_field, held.item_field, settings, is_column=False)
    absent, key_type = absent_reader(member), held.key_type
    is_hashed = is_scalar(member.type.key_field) and not pa.types.is_nested(storage_type(key_type))

    def read(x: Any, path: Path, run: Run) -> Any:
        if x is None:
            return absent(path, run)
        found = []
        for label, value in x:
            at = (path, f'["{cast_text(label, key_type)}"]')
            found.append((key(label, at, run), item(value, at, run)))
        if is_hashed:
            check_duplicate_keys([pair[0] for pair in found], path, run)
        return found

    return read


def _struct_reader(member: pa.Field, held: pa.DataType, settings: Settings) -> Reader:
    members = []
    for part in member.type:
        place = held.get_field_index(part.name)
        if place < 0:
            raise MissingMemberError(part.name)
        read = typed_reader(part, held.field(place), settings, is_column=False)
        members.append((part.name, "." + part.name, read))
    absent = absent_reader(member)

    def read_struct(x: Any, path: Path, run: Run) -> Any:
        if x is None:
            return absent(path, run)
        return {label: read(x[label], (path, step), run) for label, step, read in members}

    return read_struct
