"""Values of one schema as values of another, maps included, and as people read them.

Layer: engines.
Shape: arrays, one a field, as long as the rows that they belong to. Fields follow their identity, whatever they are called and wherever
      they are; a field that was not there is null.
Rule: keys may not become equal that were not. -0.0 and 0.0 are equal but not the same, and may become neither the same nor equal to
      what was another number; a NaN is the same as every other.
Errors: what does not fit is null in the result and reported to `on_misfit`; without one, ValueError with the field and the values.
"""

import json
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.engines.lance.attributes import JSON
from schemac.engines.lance.tables.casts import (
    FIRST_SECOND,
    LAST_SECOND,
    CastTarget,
    cast,
    cast_each,
    stored_numbers,
)
from schemac.language.attributes.attribute import Family
from schemac.language.constraints.constraint import entries_of, lists_of
from schemac.language.kinds.temporal import ARROW_PER_SECOND, FRACTION_DIGITS
from schemac.language.logical.model import Castability, SchemaField, is_in_structs, preorder
from schemac.rows.judging.arrays import maps_of, plain_layout, storage_type, to_field
from schemac.text.source.phrases import counted
from schemac.versions.evolution.castability import castability
from schemac.versions.evolution.diff import clock_of
from schemac.versions.evolution.version_pair import VersionPair

_NULL = -1
"""The code of null: no value has it as its number, nor a float as its bits, since every NaN counts as the same one."""


def duplicate_keys(maps: Any, old: Any, new: Any) -> Any:
    """Return which new keys are equal to another key of their map that their old keys differed from; null keys are equal to none.

    `maps` has the index of the map of each key; the result is a numpy array of booleans.
    """
    old, new = plain_layout(old), plain_layout(new)
    duplicates = np.zeros(len(new), bool)
    there = np.flatnonzero(new.is_valid().to_numpy(zero_copy_only=False))
    # Among those that are equal, and among those that are the same.
    for zero in (0.0, None):
        keys = np.stack([maps[there], _codes(new, zero)[there]])
        _, groups, counts = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
        if counts.max(initial=1) > 1:
            groups = groups.reshape(-1)
            olds = np.unique(np.stack([groups, _codes(old, zero)[there]]), axis=1)
            duplicates[there] |= np.bincount(olds[0])[groups] > 1
    return duplicates


def _codes(values: Any, zero: float | None) -> Any:
    """Return an integer for each value of a plain layout, equal for equal values; `zero` is what 0.0 and -0.0 count as, None if they differ."""
    type_ = values.type
    if pa.types.is_floating(type_):
        there = values.is_valid().to_numpy(zero_copy_only=False)
        floats = pc.fill_null(values.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False)
        floats = np.where(np.isnan(floats), np.nan, floats)
        codes = (floats if zero is None else np.where(floats == 0, zero, floats)).view(np.int64)
        return np.where(there, codes, _NULL)
    if pa.types.is_struct(type_):
        parts = [_codes(values.field(i), zero).tolist() for i in range(type_.num_fields)]
        return _numbered(zip(values.is_valid().to_pylist(), *parts, strict=True))
    if pa.types.is_map(type_):
        values = entries_of(values)
        type_ = values.type
    if pa.types.is_nested(type_):
        lengths = pc.list_value_length(values).to_pylist()
        items = iter(_codes(pc.list_flatten(values), zero).tolist())
        return _numbered((n, *(next(items) for _ in range(n or 0))) for n in lengths)
    indices = pc.fill_null(values.dictionary_encode().indices, _NULL)
    return indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _numbered(values: Any) -> Any:
    """Return an integer for each hashable value, equal for equal values, as a numpy array."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)


MisfitHandler = Callable[[SchemaField, Any, Any, str], None]
"""Is called with a field of the new schema, its old values, a numpy array of booleans that says which of them do not fit, and the
reason; the reason is empty if the value alone does not fit."""
BECOME_EQUAL = "keys of one map would become equal"


def values_of(field: SchemaField, batch: pa.RecordBatch) -> pa.Array:
    """Return the values of a field of a batch that is in no list or map; null where a struct around it is null."""
    if field.parent is None:
        return batch.column(str(field.segment))
    return pc.struct_field(values_of(field.parent, batch), str(field.segment))


class Conversion:
    """Builds the arrays of new fields out of batches with the old schema."""

    def __init__(
        self, pair: VersionPair, rounded: Collection[str] = (), on_misfit: MisfitHandler | None = None
    ) -> None:
        self._before = pair.before
        self._rounded = frozenset(rounded)
        self._on_misfit = on_misfit
        self.lowered = {field.field: field for field in pair.new.lowered.preorder()}

    def build(self, field: SchemaField, batch: pa.RecordBatch) -> pa.Array:
        """Return the values of a new field, which is in no list or map, for each row of a batch of the old table."""
        old = self._before.get(field)
        source = values_of(old, batch) if old is not None else None
        return self._array(field, old, source, len(batch), batch)

    def sources(self, field: SchemaField) -> set[str]:
        """Return the names of the old columns that the values of a new field come from."""
        olds = [self._before[inner] for inner in preorder([field]) if inner in self._before]
        return {str(old.column.segment) for old in olds}

    def _array(
        self,
        field: SchemaField,
        old: SchemaField | None,
        source: Any,
        length: int,
        batch: pa.RecordBatch | None,
    ) -> pa.Array:
        """Return `length` values of a field, converted from its source; without a source they are null."""
        arrow = self.lowered[field].arrow
        family = field.type.family
        is_alike = old is not None and source is not None and old.type.kind == field.type.kind
        is_new = source is None and not any(inner in self._before for inner in preorder([field]))
        if family is Family.STRUCT and field.children and not is_new:
            return self._struct(field, old if is_alike else None, source, length, batch)
        if source is None:
            nulls = pa.nulls(length, arrow.type)
            # Below null are zeros, for Lance would write nulls as values.
            return to_field(nulls, arrow) if pa.types.is_fixed_size_list(arrow.type) else nulls
        if family in (Family.LIST, Family.MAP) and is_alike and old is not None:
            return self._repeated(field, old, source)
        return self._cast(field, old or field, source)

    def _cast(self, field: SchemaField, old: SchemaField, source: Any) -> pa.Array:
        """Cast plain values; those that do not fit are reported, and become null."""
        arrow, values = self.lowered[field].arrow, plain_layout(source)
        if JSON.read(field.extra) and not JSON.read(old.extra) and old.type.family is Family.TEXT:
            texts = cast_each(values.cast(pa.large_string()), pa.large_string(), _valid_json)
            self._report_misfits(field, values, texts.misfits)
        zone = clock_of(old, field) or ""
        is_rounded = is_named(field, self._rounded)
        made = cast(values, CastTarget(old.type, field.type, storage_type(arrow.type), zone, is_rounded))
        self._report_misfits(field, values, made.misfits)
        return to_field(made.values, arrow)

    def _report_misfits(self, field: SchemaField, values: Any, misfits: Any, why: str = "") -> None:
        """Pass values that do not fit to the handler. Raises ValueError about the first one if there is no handler."""
        if misfits.any() and self._on_misfit is not None:
            self._on_misfit(field, values, misfits, why)
        elif misfits.any():
            first = format_values(values.filter(pa.array(misfits)).slice(0, 1))[0]
            message = f"{field.path_text}: {first} does not fit {field.type.type_text()}"
            raise ValueError(f"{message}{why and f'; {why}'}")

    def _struct(
        self,
        field: SchemaField,
        old: SchemaField | None,
        source: Any,
        length: int,
        batch: pa.RecordBatch | None,
    ) -> pa.Array:
        """Return a struct of converted members; members that move into it are read from the batch."""
        children: list[pa.Array] = []
        for child in field.children:
            before = self._before.get(child)
            values: Any = None
            if before is not None and old is not None and before.parent is old:
                values = pc.struct_field(source, str(before.segment))
            elif before is not None and batch is not None and is_in_structs(before):
                values = values_of(before, batch)
            children.append(self._array(child, before, values, length, batch))
        fields = [self.lowered[child].arrow for child in field.children]
        mask = source.is_null() if old is not None and source is not None else None
        return pa.StructArray.from_arrays(children, fields=fields, mask=mask)

    def _repeated(self, field: SchemaField, old: SchemaField, source: Any) -> pa.Array:
        """Return a list, vector or map with converted items; what does not fit is reported and becomes null."""
        lowered = self.lowered[field]
        if isinstance(lowered.arrow.type, pa.BaseExtensionType) or not lowered.children:
            return self._cast(field, old, source)
        if field.type.family is Family.MAP:
            key, value = field.children
            entries = entries_of(source)
            pairs, maps = entries.flatten(), pc.list_parent_indices(entries).to_numpy()
            keys = self._array(key, self._before.get(key), pairs.field(0), len(pairs), None)
            items = self._array(value, self._before.get(value), pairs.field(1), len(pairs), None)
            wrong = np.asarray(keys.is_null().to_numpy(zero_copy_only=False))
            # Only a cast that depends on the values can make keys equal.
            casts = [(inner, self._before[inner]) for inner in preorder([key]) if inner in self._before]
            doubtful = [f for f, was in casts if castability(was.type, f.type) is Castability.DEPENDS]
            if doubtful:
                duplicates = duplicate_keys(maps, pairs.field(0), keys)
                self._report_misfits(doubtful[0], pairs.field(0), duplicates, BECOME_EQUAL)
                wrong = wrong | duplicates
            if wrong.any():
                is_whole = np.ones(len(source), bool)
                is_whole[maps[wrong]] = False
                mask = pa.array(is_whole[maps])
                keys, items = keys.filter(mask), items.filter(mask)
                entries = pc.if_else(pa.array(is_whole), entries, pa.scalar(None, entries.type))
            return maps_of(entries, keys, items, lowered.arrow.type)
        (item,) = field.children
        size = getattr(field.type, "fixed_length", None)
        if size is not None:
            others = pc.fill_null(pc.not_equal(pc.list_value_length(source), size), fill_value=False)
            misfits = np.asarray(others.to_numpy(zero_copy_only=False))
            self._report_misfits(field, source, misfits)
            source = pc.if_else(others, pa.scalar(None, source.type), source) if misfits.any() else source
        values = source.flatten()
        items = self._array(item, self._before.get(item, old.children[0]), values, len(values), None)
        return to_field(lists_of(source, items), lowered.arrow)


def is_named(field: SchemaField, names: Collection[str]) -> bool:
    """Whether the path of a field, or of one around it, is among these."""
    return any(here.path_text in names for here in field.chain)


def _valid_json(text: str) -> str | None:
    """Return a text that is valid JSON unchanged; None for any other."""
    try:
        # NaN and the infinities are no integers.
        json.loads(text, parse_constant=int)
    except (ValueError, RecursionError):
        return None
    return text


_LONGEST = 60


def format_values(values: Any) -> list[str]:
    """Return each value as messages show it, cut if it is long; instants are in UTC."""
    type_ = values.type
    if pa.types.is_timestamp(type_):
        numbers, _ = stored_numbers(values)
        return [_timestamp_text(int(number), type_) for number in numbers]
    if pa.types.is_temporal(type_) and not pa.types.is_date(type_):
        numbers, _ = stored_numbers(values)
        return [f"{number} {type_.unit}" for number in numbers]
    return [_value(value) for value in values]


def _value(scalar: Any) -> str:
    """Return a value as messages show it, cut at a greatest length; lists as a count of items."""
    try:
        value = scalar.as_py()
    except (ValueError, OverflowError):
        # Python's calendar is narrower than Arrow's.
        return f"day {scalar.value}"
    if isinstance(value, bytes):
        text = f"0x{value[:_LONGEST].hex()}"
    elif isinstance(value, str):
        text = json.dumps(value, ensure_ascii=True)
    elif isinstance(value, list):
        text = f"a list of {counted(len(value), 'item')}"
    else:
        text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _timestamp_text(number: int, type_: Any) -> str:
    """Return a timestamp in ISO form, or as a count of units if Python's calendar does not have it."""
    seconds, rest = divmod(number, ARROW_PER_SECOND[type_.unit])
    if not FIRST_SECOND <= seconds <= LAST_SECOND:
        return f"{number} {type_.unit} since 1970"
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    fraction = f".{rest:0{FRACTION_DIGITS[type_.unit]}}" if rest else ""
    return f"{at:%Y-%m-%d %H:%M:%S}{fraction}{'Z' if type_.tz else ''}"
