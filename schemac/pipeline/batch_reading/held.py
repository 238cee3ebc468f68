"""Fields whose values a source holds in their own type already: what is left to check.

Layer: pipeline.
Shape: the tree of `Part`s for a column in plain types (see `row_groups`), whose leaves are `Held`.
Rule: the same as `values.typed_values`, which has it for Spark: what that does not read in its type is not held here.
"""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import from_arrow_type

from schemac.attributes.zones import is_utc
from schemac.judging.forms import FIRST_DAY, FIRST_MICROSECOND, LAST_DAY, LAST_MICROSECOND
from schemac.pipeline.batch_reading.forms import form_of
from schemac.pipeline.batch_reading.parts import Entries, Found, Items, Members, Part
from schemac.pipeline.values.clocks import DAY_MICROSECONDS
from schemac.pipeline.values.inputs import Typed
from schemac.pipeline.values.nested import is_typed_alike
from schemac.pipeline.values.scalars import extension_name, scalar_of, storage_type
from schemac.pipeline.values.shapes import is_list, is_scalar
from schemac.pipeline.values.typed_values import BITS, integer_limits

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
    counts = (
        values.view(pa.int32() if values.type.bit_width == 32 else pa.int64())
        if pa.types.is_temporal(values.type)
        else values
    )
    found = pc.min_max(counts)
    least, greatest = found["min"].as_py(), found["max"].as_py()
    if least is None or (limits[0] <= least and greatest <= limits[1]):
        return None
    inside = pc.and_(pc.greater_equal(counts, limits[0]), pc.less_equal(counts, limits[1]))
    return pc.fill_null(pc.invert(inside), False)


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
    limits = integer_limits(field, seen)
    if limits is not None:
        assert form is not None
        bits = BITS[type(seen)]
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
