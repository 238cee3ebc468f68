"""Maps as keys and values side by side, and keys that a change of their type makes equal.

Layer: engines.
Shape: entries in the order of their maps; a null map has none.
Rule: keys may not become equal that were not. -0.0 and 0.0 are equal but not the same, and may become neither the same nor
equal to what was another number; a NaN is the same as every other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.evolution.castability import castability
from schemac.evolution.version_pair import VersionPair
from schemac.logical.castability import Castability
from schemac.logical.schema_fields import SchemaField, preorder

_NULL = -1
"""The bits of a NaN that no value has, since all of them count as one."""


@dataclass(frozen=True)
class Entries:
    """What some maps hold."""

    valid: Any
    """A numpy array of booleans, one a map: whether it is not null."""
    lengths: Any
    """How many entries each map has; a numpy array."""
    keys: Any
    items: Any

    @classmethod
    def of(cls, maps: Any) -> "Entries":
        """Return the entries of maps, without what is under null ones."""
        whole = pa.concat_arrays([maps]) if maps.null_count or maps.offset else maps
        offsets = whole.offsets.to_numpy()
        start, end = int(offsets[0]), int(offsets[-1])
        valid = np.asarray(maps.is_valid().to_numpy(zero_copy_only=False))
        keys, items = whole.keys.slice(start, end - start), whole.items.slice(start, end - start)
        return cls(np.ones(len(maps), bool), np.diff(offsets), keys, items).where(valid)

    def where(self, valid: Any) -> "Entries":
        """Return the same with only these maps left, and the others null."""
        if valid.all():
            return self
        mask = pa.array(np.repeat(valid, self.lengths))
        lengths = np.where(valid, self.lengths, 0)
        return Entries(self.valid & valid, lengths, self.keys.filter(mask), self.items.filter(mask))

    @property
    def maps(self) -> Any:
        """The number of its map for each entry."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def to_array(self, type_: Any) -> pa.Array:
        """Return the maps again."""
        offsets = np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int32)
        bits = None if self.valid.all() else pa.array(self.valid, pa.bool_()).buffers()[1]
        child = pa.StructArray.from_arrays(
            [self.keys, self.items], fields=[type_.key_field, type_.item_field]
        )
        return pa.Array.from_buffers(
            type_, len(self.lengths), [bits, pa.py_buffer(offsets)], children=[child]
        )


def joining_cast(key: SchemaField, pair: VersionPair) -> SchemaField | None:
    """Return the first part of a key, or the key itself, whose values may become equal by the change of its type."""
    for field in preorder([key]):
        before = pair.before.get(field)
        if before is not None and castability(before.type, field.type) is Castability.DEPENDS:
            return field
    return None


def made_equal(maps: Any, old: Any, new: Any) -> Any:
    """Return a numpy array of booleans: which new keys are equal to others of their map, and were not before; null ones are not."""
    duplicates = np.zeros(len(new), bool)
    there = np.flatnonzero(new.is_valid().to_numpy(zero_copy_only=False))
    for codes in (_equal, _same):
        for group in _groups(maps[there], codes(new)[there]):
            places = there[group]
            if len(np.unique(codes(old.take(pa.array(places))))) > 1:
                duplicates[places] = True
    return duplicates


def _groups(maps: Any, codes: Any) -> Iterator[Any]:
    """Yield the places in one map that have the same code; there are two of each at least."""
    order = np.lexsort((codes, maps))
    is_next = (np.diff(maps[order]) == 0) & (np.diff(codes[order]) == 0)
    for start in np.flatnonzero(is_next & ~np.concatenate([[False], is_next[:-1]])):
        end = start + 1
        while end <= len(is_next) and is_next[end - 1]:
            end += 1
        yield order[start:end]


def _same(values: Any) -> Any:
    """Return a number for each value, alike only where the values are the same."""
    return _codes(values, zero=None)


def _equal(values: Any) -> Any:
    """Return a number for each value, alike where the values are equal."""
    return _codes(values, zero=0.0)


def _codes(values: Any, zero: float | None) -> Any:
    """Numbers of values; `zero` is what both zeros count as, None where each counts as itself."""
    if isinstance(values.type, pa.BaseExtensionType):
        return _codes(values.storage, zero)
    type_ = values.type
    if pa.types.is_floating(type_):
        there = values.is_valid().to_numpy(zero_copy_only=False)
        floats = pc.fill_null(values.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False)
        floats = np.where(np.isnan(floats), np.nan, floats)
        codes = (floats if zero is None else np.where(floats == 0, zero, floats)).view(np.int64)
        return np.where(there, codes, _NULL)
    if pa.types.is_dictionary(type_):
        return _codes(values.dictionary_decode(), zero)
    if pa.types.is_struct(type_):
        parts = [_codes(values.field(i), zero).tolist() for i in range(type_.num_fields)]
        return _numbered(zip(values.is_valid().to_pylist(), *parts, strict=True))
    if pa.types.is_map(type_):
        entries = pa.StructArray.from_arrays([values.keys, values.items], ["key", "value"])
        values = pa.ListArray.from_arrays(values.offsets, entries, mask=values.is_null())
        type_ = values.type
    if pa.types.is_nested(type_):
        lengths = pc.list_value_length(values).to_pylist()
        items = iter(_codes(pc.list_flatten(values), zero).tolist())
        return _numbered((n, *(next(items) for _ in range(n or 0))) for n in lengths)
    return (
        pc.fill_null(values.dictionary_encode().indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    )


def _numbered(values: Any) -> Any:
    """One number for each different value."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)
