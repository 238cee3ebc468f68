"""A schema in the standard's binary form: the table SetDataSchema as FlatBuffers.

Layer: engines.
Shape: the builder writes from the end, so what is referred to is written before what refers to it. Texts, attributes and leaf
types, of which a schema has a few sorts, stand once each; types with others inside do not, so that a buffer unfolds
to no more tables than its length lets a reader expect.
Source: the standard's odf.fbs, for the numbers of fields and of the union's members.
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
from schemac.logical.schema_fields import SchemaField

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

    def _fields(self, fields: tuple[SchemaField, ...]) -> int:
        """Return the vector of fields."""
        tables = [self._field(field) for field in fields]
        builder = self._builder
        builder.StartVector(_REFERENCE.bytewidth, len(tables), _REFERENCE.bytewidth)
        for table in reversed(tables):
            builder.PrependUOffsetTRelative(table)
        return int(builder.EndVector())

    def _field(self, field: SchemaField) -> int:
        builder = self._builder
        type_ = self._type(field)
        extra = standard_extra(field, self._lose) if field.extra else {}
        attributes = self._extra(extra) if extra else 0
        name = builder.CreateSharedString(str(field.segment))
        builder.StartObject(4)
        builder.PrependUOffsetTRelativeSlot(3, attributes, 0)
        builder.PrependUOffsetTRelativeSlot(2, type_, 0)
        builder.PrependUOffsetTRelativeSlot(0, name, 0)
        builder.PrependSlot(TAG, 1, _tag(field), None)
        return int(builder.EndObject())

    def _extra(self, extra: ExtraAttributes) -> int:
        text = _entries(extra)
        table = self._extras.get(text)
        if table is None:
            table = self._extras[text] = self._table((0, _REFERENCE, self._builder.CreateString(text)))
        return table

    def _type(self, field: SchemaField) -> int:
        """Return the table of a field's type."""
        properties = standard_properties(field, self._lose)
        if field.children:
            return self._new_type(field, properties)
        # By what is written: types that the standard does not tell apart are one table, as they are once read back.
        content_key = (len(field.options), field.type.kind, *(value for _, value in properties))
        table = self._leaves.get(content_key)
        if table is None:
            table = self._leaves[content_key] = self._new_type(field, properties)
        return table

    def _new_type(self, field: SchemaField, properties: list[tuple[Property, Any]]) -> int:
        values: list[tuple[int, Any, Any]] = []
        children = iter(field.children)
        for item, value in properties:
            if item.name.endswith("_type"):
                child = next(children)
                values += [(item.field, TAG, _tag(child)), (item.field + 1, _REFERENCE, self._type(child))]
            elif item.name == "fields":
                values.append((item.field, _REFERENCE, self._fields(field.children)))
            elif item.alias in FLAGS:
                number = UNITS.index(value) if item.name == "unit" else value
                values.append((item.field, FLAGS[item.alias], number))
            else:
                values.append((item.field, _REFERENCE, self._builder.CreateSharedString(value)))
        table = self._table(*values)
        return (
            self._table((0, TAG, TAGS[field.type.kind]), (1, _REFERENCE, table)) if field.options else table
        )

    def _table(self, *values: tuple[int, Any, Any]) -> int:
        """Write a table with these values (number of the field, type, value), and return its offset."""
        builder = self._builder
        builder.StartObject(values[-1][0] + 1 if values else 0)
        for field, flags, value in reversed(values):
            if flags is _REFERENCE:
                builder.PrependUOffsetTRelativeSlot(field, value, 0)
            else:
                # Without a default, so zero too is written out.
                builder.PrependSlot(flags, field, value, None)
        return int(builder.EndObject())


def _tag(field: SchemaField) -> int:
    return TAGS["Option" if field.options else field.type.kind]


def _entries(extra: ExtraAttributes) -> str:
    """Attributes as JSON; most fields have a description and nothing else."""
    if len(extra) == 1 and (text := extra.get(DESCRIPTION.key)) is not None:
        return f'{{"{DESCRIPTION.key}":{encode_basestring(text)}}}'
    return compact(extra)
