"""Fields whose values a source holds in their own type already: what is left to check, and why a value does not fit.

Layer: pipeline.
Shape: the tree of `Part`s for a column in plain types (see `row_groups`), whose leaves are `Held`. Reasons are found in Python
       values, of which dates and timestamps are counts.
Rule: the same as `values.typed_values`, which has it for Spark: what that does not read in its type is not held here.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import from_arrow_type

from schemac.attributes.zones import is_utc
from schemac.judging.forms import FIRST_DAY, FIRST_MICROSECOND, LAST_DAY, LAST_MICROSECOND, LONGEST_VALUE
from schemac.judging.parts import Reason
from schemac.pipeline.batch_reading.forms import form_of
from schemac.pipeline.batch_reading.parts import Entries, Found, Items, Members, Part
from schemac.pipeline.values.clocks import DAY_MICROSECONDS
from schemac.pipeline.values.inputs import Typed
from schemac.pipeline.values.nested import is_typed_alike
from schemac.pipeline.values.scalars import extension_name, scalar_of, storage_type
from schemac.pipeline.values.shapes import is_list, is_scalar
from schemac.pipeline.values.typed_values import BITS, integer_limits

DAYS_OF_400_YEARS = 146_097
Limits = tuple[int, int]


@dataclass(frozen=True)
class Held:
    """A value without parts; `limits` are the least and the greatest count or number, both allowed."""

    parsed: pa.DataType
    spark: pa.DataType
    limits: Limits | None = None
    is_nullable: bool = True
    pattern: str = ""

    def read(self, values: pa.Array) -> Found:
        """Give the column for Spark, and which values are outside the limits."""
        outside = None if self.limits is None else _outside(values, self.limits)
        if outside is not None:
            values = pc.if_else(outside, pa.scalar(None, values.type), values)
        return values if values.type.equals(self.spark) else values.cast(self.spark), outside


def _outside(values: pa.Array, limits: Limits) -> pa.Array | None:
    counts = values.view(counted(values.type))
    found = pc.min_max(counts)
    least, greatest = found["min"].as_py(), found["max"].as_py()
    if least is None or (limits[0] <= least and greatest <= limits[1]):
        return None
    inside = pc.and_(pc.greater_equal(counts, limits[0]), pc.less_equal(counts, limits[1]))
    return pc.fill_null(pc.invert(inside), False)


def counted(data_type: pa.DataType) -> pa.DataType:
    """Return the type with counts in the place of dates and timestamps."""
    is_ = pa.types
    if is_.is_date32(data_type):
        return pa.int32()
    if is_.is_timestamp(data_type):
        return pa.int64()
    if is_.is_list(data_type):
        return pa.list_(data_type.value_field.with_type(counted(data_type.value_type)))
    if is_.is_map(data_type):
        return pa.map_(counted(data_type.key_type), counted(data_type.item_type))
    if is_.is_struct(data_type):
        return pa.struct([field.with_type(counted(field.type)) for field in data_type])
    return data_type


def held_part(field: pa.Field, data_type: pa.DataType) -> Part | None:
    """How a column of a plain type is checked for a field; None where its type is not the field's, or not known to be."""
    is_ = pa.types
    if is_scalar(field):
        return _held(field, data_type)
    if is_list(field.type):
        item = held_part(field.type.value_field, data_type.value_type) if is_.is_list(data_type) else None
        size = field.type.list_size if is_.is_fixed_size_list(field.type) else None
        return None if item is None else Items(item, size, field.nullable)
    if is_.is_map(field.type):
        return _held_map(field, data_type)
    if not is_.is_struct(data_type) or [part.name for part in data_type] != [
        part.name for part in field.type
    ]:
        return None
    found = {part.name: held_part(part, data_type.field(part.name).type) for part in field.type}
    members = {label: part for label, part in found.items() if part is not None}
    return Members(members, tuple(members), field.nullable) if 0 < len(members) == len(found) else None


def _held_map(field: pa.Field, data_type: pa.DataType) -> Part | None:
    key = field.type.key_field
    if not pa.types.is_map(data_type) or not pa.types.is_string(data_type.key_type):
        return None
    if not is_scalar(key) or extension_name(key) is not None or not scalar_of(key).is_identity:
        return None
    value = held_part(field.type.item_field, data_type.item_type)
    if value is None:
        return None
    parts: dict[str, Part] = {"key": Held(pa.string(), pa.string(), is_nullable=False), "value": value}
    return Entries(Members(parts, ("key", "value"), is_nullable=False), field.nullable)


def _held(field: pa.Field, data_type: pa.DataType) -> Held | None:
    seen, storage = from_arrow_type(data_type, prefer_timestamp_ntz=True), storage_type(field.type)
    form = form_of(field)
    if integer_limits(field, seen) is not None:
        assert form is not None
        limits, bits = integer_limits(field, seen), BITS[type(seen)]
        assert limits is not None
        fits_all = limits[0] <= -(2 ** (bits - 1)) and 2 ** (bits - 1) - 1 <= limits[1]
        return Held(data_type, form.spark, None if fits_all else limits, field.nullable)
    is_text = pa.types.is_string(data_type) and scalar_of(field).is_identity and extension_name(field) is None
    if not is_text and not is_typed_alike(field, Typed("", seen)):
        return None
    return Held(data_type, data_type, _limits(storage), field.nullable)


def _limits(data_type: pa.DataType) -> Limits | None:
    if pa.types.is_date(data_type):
        return FIRST_DAY, LAST_DAY
    if not pa.types.is_timestamp(data_type):
        return None
    # What is shown in another zone has to have a year of four digits there too.
    margin = 0 if data_type.tz is None or is_utc(data_type.tz) else DAY_MICROSECONDS
    return FIRST_MICROSECOND + margin, LAST_MICROSECOND - margin


def reasons(part: Part, value: Any, path: str) -> Iterator[Reason]:
    """Tell why a value does not fit."""
    if value is None:
        if not part.is_nullable:
            yield Reason(path, "required", None)
    elif isinstance(part, Items):
        for i, item in enumerate(value):
            yield from reasons(part.item, item, f"{path}[{i}]")
        if part.size is not None and len(value) != part.size:
            yield Reason(path, "length", str(len(value)))
    elif isinstance(part, Entries):
        for key, item in value:
            yield from reasons(part.entry.members["value"], item, f'{path}["{key}"]')
        keys = [key for key, _ in value]
        if len(set(keys)) < len(keys):
            yield Reason(
                path, "key", json.dumps(keys, ensure_ascii=False, separators=(",", ":"))[:LONGEST_VALUE]
            )
    elif isinstance(part, Members):
        for label, member in part.members.items():
            yield from reasons(member, value[label], f"{path}.{label}")
    elif isinstance(part, Held) and part.limits is not None and not part.limits[0] <= value <= part.limits[1]:
        yield Reason(path, "range", _shown(part.parsed, value))


def _shown(data_type: pa.DataType, count: int) -> str:
    """Write a number, a date or a timestamp as Spark does, also of a year that Python does not know.

    >>> _shown(pa.date32(), 2932897), _shown(pa.timestamp("us"), -62135596800000001)
    ('+10000-01-01', '0000-12-31 23:59:59.999999')
    """
    is_date = pa.types.is_date(data_type)
    if not is_date and not pa.types.is_timestamp(data_type):
        return str(count)
    days, micros = (count, 0) if is_date else divmod(count, DAY_MICROSECONDS)
    cycles, days = divmod(days, DAYS_OF_400_YEARS)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=days, microseconds=micros)
    year = moment.year + 400 * cycles
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    date = f"{sign}{abs(year):04}-{moment:%m-%d}"
    if is_date:
        return date
    fraction = f".{moment.microsecond:06}".rstrip("0") if moment.microsecond else ""
    return f"{date} {moment:%H:%M:%S}{fraction}"
