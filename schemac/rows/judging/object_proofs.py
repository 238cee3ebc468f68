"""Reads columns of Python objects by Arrow, as far as an object is certainly a value of its field.

Layer: rows.
Shape: a proof takes the objects of one field, one for each row. `members_of` takes dicts apart,
       one column of objects for each name.
Rule: pyarrow makes integers of booleans, texts of their subclasses and instants of clocks, so an object counts only if its class is
      one of those that the field names. Whatever else there is stays in doubt, and so does a column of which pyarrow makes no array.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from schemac.language.attributes.attribute import Role
from schemac.rows.judging.arrays import (
    is_bytes_field,
    is_list,
    is_scalar,
    is_string,
    nullable_type,
    role_of,
    storage_type,
)
from schemac.rows.judging.column_proofs import column_proof
from schemac.rows.judging.proofs import (
    Proof,
    Proven,
    SplitValues,
    has_text_keys,
    nested_proof,
    scattered_mask,
)
from schemac.rows.judging.scalars import clock_zone
from schemac.rows.judging.settings import Unexpected, ValidationSettings
from schemac.rows.judging.text_proofs import TextProof
from schemac.rows.judging.tokens import is_uuid

Objects = Sequence[Any]

_NONE = type(None)
_NOT_ARROW = (ValueError, TypeError, ArithmeticError)
"""What pyarrow raises for objects that do not fit a type: its own errors are among them."""
_POWERS = 38
"""Powers of ten, at most, by which pyarrow brings a decimal of 128 bits to another scale."""
PLAIN = frozenset((_NONE, str, int, float, bool, Decimal, bytes, date, datetime, time, timedelta, UUID))
"""Classes of objects without parts."""


class MemberValues(NamedTuple):
    """The values of dicts by name, None where a dict lacks one, and the dicts that have more than these."""

    columns: list[Objects]
    others: list[int]
    """Numbers of the dicts with further keys."""
    odd: list[int]
    """Numbers of the dicts that have something that has to be looked at, such as a key that is no text."""


def members_of(dicts: Sequence[dict[Any, Any]], names: Sequence[str]) -> MemberValues:
    """Split dicts into a column of objects for each name."""
    if names and set(map(len, dicts)) == {len(names)}:
        try:
            if len(names) == 1:
                return MemberValues([[*map(itemgetter(names[0]), dicts)]], [], [])
            return MemberValues([*zip(*map(itemgetter(*names), dicts), strict=True)], [], [])
        except KeyError:
            pass
    columns: list[Objects] = [[one.get(name) for one in dicts] for name in names]
    known, others, odd = frozenset(names), [], []
    for row, one in enumerate(dicts):
        if not known.issuperset(one):
            rest = one.keys() - known
            others.append(row)
            if any(not isinstance(key, str) or type(one[key]) not in PLAIN for key in rest):
                odd.append(row)
    return MemberValues(columns, others, odd)


def object_proof(member: pa.Field, settings: ValidationSettings) -> Proof | None:
    """Compile the proof for a field; None where every object is in doubt."""
    data_type = member.type
    if settings.null_values or settings.fields:
        return None
    if is_scalar(member):
        return _scalar_proof(member)
    if is_list(data_type):
        items = object_proof(data_type.value_field, settings)
        return nested_proof(member, [items], lambda values: _split_lists(values, member))
    if pa.types.is_map(data_type):
        items = object_proof(data_type.item_field, settings) if has_text_keys(member) else None
        return nested_proof(member, [items], lambda values: _split_maps(values, member))
    takes_others = settings.unexpected is not Unexpected.REJECT
    proofs = [object_proof(part, settings) for part in data_type]
    return nested_proof(
        member, proofs, lambda values: _split_structs(values, member, takes_others=takes_others)
    )


def _certain_objects(values: Objects, is_certain: Callable[[Any], bool]) -> tuple[Objects, Any]:
    """Return the objects that are certain, None in place of the others, and a mask of these others."""
    certain = list(map(is_certain, values))
    known = [value if sure else None for value, sure in zip(values, certain, strict=True)]
    return known, ~np.array(certain, bool)


def _objects_of(values: Objects, *classes: type) -> tuple[Objects, Any]:
    """Return the objects of some classes, None in place of the others, and a mask of these others."""
    allowed = {_NONE, *classes}
    if allowed.issuperset(map(type, values)):
        return values, np.zeros(len(values), bool)
    return _certain_objects(values, lambda value: type(value) in allowed)


def _scalar_proof(member: pa.Field) -> Proof | None:
    """Return what reads objects without parts, by the classes that the type of their field takes; None if none is certain."""
    is_, data_type, role = pa.types, storage_type(member.type), role_of(member)
    if is_.is_floating(data_type) or role is Role.BRAIN_FLOATS:
        text = TextProof.of(member)
        # Integers beyond those that a double has pyarrow refuses.
        return (
            None if text is None else _class_proof(member, (float, int), pa.float64(), proof=text.of_doubles)
        )
    if role not in (None, Role.BLOB):
        return None
    if is_uuid(member):
        return _class_proof(
            member, (UUID,), pa.binary(),
            lambda values: pa.array([None if value is None else value.bytes for value in values], pa.binary()),
        )  # fmt: skip
    if is_bytes_field(member):
        return _class_proof(member, (bytes,), pa.large_binary())
    if isinstance(member.type, pa.BaseExtensionType):
        return None
    if is_string(data_type):
        return _class_proof(member, (str,), pa.large_string())
    if is_.is_boolean(data_type):
        return _class_proof(member, (bool,), pa.bool_())
    if is_.is_integer(data_type):
        return _class_proof(member, (int,), pa.uint64() if data_type.equals(pa.uint64()) else pa.int64())
    if is_.is_decimal(data_type) and 0 <= data_type.scale <= data_type.precision:
        return _class_proof(member, (Decimal,), data_type, None, _exponent, _is_rescaled)
    if is_.is_date(data_type):
        return _class_proof(member, (date,), pa.date32())
    if is_.is_duration(data_type):
        return _class_proof(member, (timedelta,), data_type, _cast_from(pa.duration("us"), data_type))
    if is_.is_time(data_type):
        cast_times = _cast_from(pa.time64("us"), data_type)
        return _class_proof(member, (time,), data_type, cast_times, _zone, lambda zone: zone is None)
    if is_.is_timestamp(data_type):
        is_clock, tz = data_type.tz is None, None if data_type.tz is None else "UTC"
        takes_clocks = is_clock or clock_zone(member) == "UTC"
        is_known = lambda zone: takes_clocks if zone is None else not is_clock and _is_exact(zone)  # noqa: E731
        return _class_proof(member, (datetime,), pa.timestamp("us", tz), None, _zone, is_known)
    return None


_zone = attrgetter("tzinfo")


def _exponent(value: Decimal) -> Any:
    """Return the exponent of a decimal; a letter for what is not finite."""
    return value.as_tuple().exponent


def _is_rescaled(exponent: Any) -> bool:
    """Whether pyarrow has a table for the powers of ten of decimals with such an exponent: beyond it, it reads other memory."""
    return isinstance(exponent, int) and abs(exponent) <= _POWERS


def _is_exact(zone: Any) -> bool:
    """Whether pyarrow moves clocks of a zone as Python does: of an offset it reads the seconds."""
    if zone is UTC or type(zone) is ZoneInfo:
        return True
    is_fixed = type(zone) is timezone or type(zone).__module__.startswith("pydantic_core")
    return is_fixed and not zone.utcoffset(None).microseconds


def _class_proof(
    member: pa.Field,
    classes: tuple[type, ...],
    source_type: pa.DataType,
    array_of: Callable[[Objects], pa.Array] | None = None,
    looked_at: Callable[[Any], Any] | None = None,
    is_known: Callable[[Any], bool] = bool,
    proof: Proof | None = None,
) -> Proof | None:
    """Return what reads objects of some classes: pyarrow makes an array of them, which `proof` reads; None where no value of such a type can be proven.

    Of an object something may be looked at, such as the `tzinfo` of a time: it is in doubt unless that is known.
    """
    read_array = proof or column_proof(member, pa.field(member.name, source_type), ())
    if read_array is None:
        return None
    make_array = array_of or (lambda values: pa.array(values, source_type))

    def read(values: Objects) -> Proven:
        values, others = _objects_of(values, *classes)
        try:
            if looked_at is not None:
                values, unknown = _known_objects(values, looked_at, is_known)
                others |= unknown
            array = make_array(values)
        except _NOT_ARROW:
            return Proven(pa.nulls(len(values), nullable_type(member)), np.ones(len(values), bool))
        proven, doubtful = read_array(array)
        return Proven(proven, doubtful | others)

    return read


def _known_objects(
    values: Objects, looked_at: Callable[[Any], Any], is_known: Callable[[Any], bool]
) -> tuple[Objects, Any]:
    """Return the objects that pyarrow reads as they are, None in place of the others, and a mask of these others."""
    looks = {looked_at(value) for value in values if value is not None}
    known = {look for look in looks if is_known(look)}
    if looks == known:
        return values, np.zeros(len(values), bool)
    return _certain_objects(values, lambda value: value is None or looked_at(value) in known)


def _cast_from(source_type: pa.DataType, target_type: pa.DataType) -> Callable[[Objects], pa.Array]:
    """Return what makes an array of one type of objects, and casts it to another one."""
    return lambda values: pa.array(values, source_type).cast(target_type)


def _objects_of_class(member: pa.Field, values: Objects, *classes: type) -> tuple[list[Any], Any, Any]:
    """Return the objects of some classes, a mask of the rows that have one, and a mask of those in doubt."""
    values, others = _objects_of(values, *classes)
    is_there = np.fromiter((value is not None for value in values), bool, len(values))
    doubtful = others if member.nullable else others | ~is_there
    return [value for value in values if value is not None], is_there, doubtful


def _split_lists(values: Objects, member: pa.Field) -> SplitValues:
    """Split lists and tuples into their items."""
    lists, is_there, doubtful = _objects_of_class(member, values, list, tuple)
    return SplitValues([list(chain.from_iterable(lists))], is_there, doubtful, list(map(len, lists)))


def _split_maps(values: Objects, member: pa.Field) -> SplitValues:
    """Split dicts into keys and items; all are in doubt if a key is no text."""
    dicts, is_there, doubtful = _objects_of_class(member, values, dict)
    labels = list(chain.from_iterable(dicts))
    try:
        keys = pa.array(labels, pa.large_string()) if {str}.issuperset(map(type, labels)) else None
    except _NOT_ARROW:
        keys = None
    if keys is None:
        nothing = np.zeros(len(values), bool)
        return SplitValues([[]], nothing, ~nothing, [], pa.array([], pa.large_string()))
    items = list(chain.from_iterable(map(dict.values, dicts)))
    return SplitValues([items], is_there, doubtful, list(map(len, dicts)), keys)


def _split_structs(values: Objects, member: pa.Field, *, takes_others: bool) -> SplitValues:
    """Split dicts into their members; in doubt is one with further keys, unless it `takes_others` that are plain."""
    dicts, is_there, doubtful = _objects_of_class(member, values, dict)
    columns, others, odd = members_of(dicts, [part.name for part in member.type])
    is_odd = np.zeros(len(dicts), bool)
    is_odd[odd if takes_others else others] = True
    return SplitValues(columns, is_there, doubtful | scattered_mask(is_odd, is_there))
