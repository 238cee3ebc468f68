"""A schema in the standard's binary form: the table SetDataSchema as FlatBuffers.

Layer: engines.
Shape: the builder writes from the end, so what is referred to is written before what refers to it. Texts, attributes and leaf
types, of which a schema has a few sorts, stand once each; types with others inside do not, so that a buffer unfolds
to no more tables than its length lets a reader expect.
Source: the standard's odf.fbs, for the numbers of slots and of the union's members.
"""

from json.encoder import encode_basestring
from typing import Any

from flatbuffers import Builder
from flatbuffers import number_types as numbers

from schemac.arrow.lower_metadata import compact
from schemac.attributes.odf import DESCRIPTION
from schemac.engines.odf.values import (
    TAGS,
    UNITS,
    Lose,
    Property,
    standard_attributes,
    standard_extra,
    standard_properties,
)
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import ExtraAttributes
from schemac.logical.slots import Slot

FLAGS = {
    "precision": numbers.Uint32Flags,
    "scale": numbers.Int32Flags,
    "fixedLength": numbers.Uint64Flags,
    "unit": numbers.Int16Flags,
    "keysSorted": numbers.BoolFlags,
}
"""Types of the scalar properties; the others are references."""
TAG = numbers.Uint8Flags
"""Type of a union's member."""
_REFERENCE = numbers.UOffsetTFlags


def write_binary(dataset: LogicalDataset, lose: Lose) -> bytes:
    """Return the whole buffer."""
    return _Writer(lose).buffer(dataset)


class _Writer:
    def __init__(self, lose: Lose) -> None:
        self._lose = lose
        self._builder = Builder()
        self._leaves: dict[tuple[Any, ...], int] = {}
        self._extras: dict[str, int] = {}

    def buffer(self, dataset: LogicalDataset) -> bytes:
        extra = standard_attributes(dataset.schema.extra)
        below = [(1, _REFERENCE, self._extra(extra))] if extra else []
        schema = self._table((0, _REFERENCE, self._fields(dataset.columns)), *below)
        self._builder.Finish(self._table((1, _REFERENCE, schema)))
        return bytes(self._builder.Output())

    def _fields(self, slots: tuple[Slot, ...]) -> int:
        """Return the vector of fields."""
        tables = [self._field(slot) for slot in slots]
        builder = self._builder
        builder.StartVector(_REFERENCE.bytewidth, len(tables), _REFERENCE.bytewidth)
        for table in reversed(tables):
            builder.PrependUOffsetTRelative(table)
        return int(builder.EndVector())

    def _field(self, slot: Slot) -> int:
        builder = self._builder
        type_ = self._type(slot)
        extra = standard_extra(slot, self._lose) if slot.extra else {}
        attributes = self._extra(extra) if extra else 0
        name = builder.CreateSharedString(str(slot.segment))
        builder.StartObject(4)
        builder.PrependUOffsetTRelativeSlot(3, attributes, 0)
        builder.PrependUOffsetTRelativeSlot(2, type_, 0)
        builder.PrependUOffsetTRelativeSlot(0, name, 0)
        builder.PrependSlot(TAG, 1, _tag(slot), None)
        return int(builder.EndObject())

    def _extra(self, extra: ExtraAttributes) -> int:
        text = _entries(extra)
        table = self._extras.get(text)
        if table is None:
            table = self._extras[text] = self._table((0, _REFERENCE, self._builder.CreateString(text)))
        return table

    def _type(self, slot: Slot) -> int:
        """Return the table of a slot's type."""
        properties = standard_properties(slot, self._lose)
        if slot.children:
            return self._new_type(slot, properties)
        # By what is written: types that the standard does not tell apart are one table, as they are once read back.
        said = (len(slot.options), slot.type.kind, *(value for _, value in properties))
        table = self._leaves.get(said)
        if table is None:
            table = self._leaves[said] = self._new_type(slot, properties)
        return table

    def _new_type(self, slot: Slot, properties: list[tuple[Property, Any]]) -> int:
        values: list[tuple[int, Any, Any]] = []
        children = iter(slot.children)
        for item, value in properties:
            if item.name.endswith("_type"):
                child = next(children)
                values += [(item.slot, TAG, _tag(child)), (item.slot + 1, _REFERENCE, self._type(child))]
            elif item.name == "fields":
                values.append((item.slot, _REFERENCE, self._fields(slot.children)))
            elif item.alias in FLAGS:
                number = UNITS.index(value) if item.name == "unit" else value
                values.append((item.slot, FLAGS[item.alias], number))
            else:
                values.append((item.slot, _REFERENCE, self._builder.CreateSharedString(value)))
        table = self._table(*values)
        return self._table((0, TAG, TAGS[slot.type.kind]), (1, _REFERENCE, table)) if slot.options else table

    def _table(self, *values: tuple[int, Any, Any]) -> int:
        """Where a table stands that has these values: number of the slot, type, value."""
        builder = self._builder
        builder.StartObject(values[-1][0] + 1 if values else 0)
        for slot, flags, value in reversed(values):
            if flags is _REFERENCE:
                builder.PrependUOffsetTRelativeSlot(slot, value, 0)
            else:
                # Without a default, so zero too is written out.
                builder.PrependSlot(flags, slot, value, None)
        return int(builder.EndObject())


def _tag(slot: Slot) -> int:
    return TAGS["Option" if slot.options else slot.type.kind]


def _entries(extra: ExtraAttributes) -> str:
    """Attributes as JSON; most fields have a description and nothing else."""
    if len(extra) == 1 and (text := extra.get(DESCRIPTION.key)) is not None:
        return f'{{"{DESCRIPTION.key}":{encode_basestring(text)}}}'
    return compact(extra)
