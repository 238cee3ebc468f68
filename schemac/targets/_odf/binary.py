"""A schema in the standard's binary form: the table SetDataSchema as FlatBuffers.

Floor: 7 (targets).
Shape: what refers stands before what it refers to, for references are unsigned; the tables of leaf types, of which a
schema has a few sorts, stand once each at the end. Scalars are aligned to their size.
Units: offsets in bytes.
Source: the standard's odf.fbs, for the numbers of slots and of the union's members; the FlatBuffers internals page for the
layout of tables. Written here and not by the `flatbuffers` package, which loads numpy and takes ten times as long;
the tests read every buffer with that package.
"""

import struct
from json.encoder import encode_basestring
from typing import Any

from schemac.attributes.odf import DESCRIPTION
from schemac.logical.dataset import LogicalDataset
from schemac.logical.slots import Slot
from schemac.lowering.metadata import compact
from schemac.targets._odf.values import (
    TAGS,
    UNITS,
    Lose,
    standard_attributes,
    standard_extra,
    standard_properties,
)

REFERENCE, TAG = "I", "B"
"""Format of a reference, and of a union's member."""
FORMATS = {"precision": "I", "scale": "i", "fixedLength": "Q", "unit": "h", "keysSorted": "?"}
"""Formats of the scalar properties; the others are references."""
_SIZES = {REFERENCE: 4, TAG: 1, "i": 4, "Q": 8, "h": 2, "?": 1}


class _Layout:
    """A table with values in some of its slots: the widest first, so that each is aligned."""

    def __init__(self, *slots: tuple[int, str]) -> None:
        self.offsets: dict[int, int] = {}
        formats = "<i"
        end = 4
        for slot, format in sorted(slots, key=lambda s: -_SIZES[s[1]]):
            self.offsets[slot] = end
            formats += format
            end += _SIZES[format]
        self.order = list(self.offsets)
        # Up to the next multiple of four, where the next table or text begins.
        self.size = end + -end % 4
        self.pack = struct.Struct(f"{formats}{self.size - end}x").pack
        entries = [self.offsets.get(slot, 0) for slot in range(max(self.offsets, default=-1) + 1)]
        self.vtable = struct.pack(f"<{len(entries) + 2}H", 4 + 2 * len(entries), self.size, *entries)
        self.is_wide = any(format == "Q" for _, format in slots)


_SET_DATA_SCHEMA = _Layout((1, REFERENCE))
_SCHEMA = _Layout((0, REFERENCE))
_SCHEMA_WITH_EXTRA = _Layout((0, REFERENCE), (1, REFERENCE))
_FIELD = _Layout((0, REFERENCE), (1, TAG), (2, REFERENCE))
_FIELD_WITH_EXTRA = _Layout((0, REFERENCE), (1, TAG), (2, REFERENCE), (3, REFERENCE))
_EXTRA = _Layout((0, REFERENCE))
_OPTION = _Layout((0, TAG), (1, REFERENCE))


def write_binary(dataset: LogicalDataset, lose: Lose) -> bytes:
    """The whole buffer."""
    return _Writer(lose).buffer(dataset)


class _Writer:
    def __init__(self, lose: Lose) -> None:
        self._lose = lose
        # The first four bytes refer to the root.
        self._content = bytearray(4)
        self._vtables: dict[bytes, int] = {}
        self._layouts: dict[tuple[tuple[int, str], ...], _Layout] = {}
        self._shared: dict[str, tuple[Slot, list[int]]] = {}

    def buffer(self, dataset: LogicalDataset) -> bytes:
        root = self._table(_SET_DATA_SCHEMA, 0)
        self._refer(0, root)
        extra = standard_attributes(dataset.schema.extra)
        layout = _SCHEMA_WITH_EXTRA if extra else _SCHEMA
        schema = self._table(layout, *[0 for _ in layout.order])
        self._refer(root + _SET_DATA_SCHEMA.offsets[1], schema)
        if extra:
            self._extra(schema + layout.offsets[1], extra)
        self._fields(schema + layout.offsets[0], dataset.columns)
        # Writing these asks for no others: they are leaves.
        for slot, places in self._shared.values():
            table = self._type_table(slot, is_optional=bool(slot.options))
            for place in places:
                self._refer(place, table)
        return bytes(self._content)

    def _fields(self, place: int, slots: tuple[Slot, ...]) -> None:
        """The vector of fields that a place refers to."""
        start = len(self._content)
        self._refer(place, start)
        self._content += struct.pack("<I", len(slots)) + bytes(4 * len(slots))
        first = start + 4
        distances = [self._field(slot) - first - 4 * i for i, slot in enumerate(slots)]
        struct.pack_into(f"<{len(slots)}I", self._content, first, *distances)

    def _field(self, slot: Slot) -> int:
        extra = standard_extra(slot, self._lose) if slot.extra else {}
        tag = TAGS["Option" if slot.options else slot.type.kind]
        # The name stands right behind the table. References that come later are written over the zeros.
        if extra:
            table = self._table(_FIELD_WITH_EXTRA, _FIELD_WITH_EXTRA.size - 4, 0, 0, tag)
            self._text(str(slot.segment))
            self._extra(table + _FIELD_WITH_EXTRA.offsets[3], extra)
        else:
            table = self._table(_FIELD, _FIELD.size - 4, 0, tag)
            self._text(str(slot.segment))
        self._type(table + _FIELD.offsets[2], slot)
        return table

    def _extra(self, place: int, extra: dict[str, Any]) -> None:
        self._refer(place, self._table(_EXTRA, _EXTRA.size - 4))
        self._text(_entries(extra))

    def _type(self, place: int, slot: Slot) -> None:
        """The table of a slot's type, to which a place refers."""
        if slot.children:
            self._refer(place, self._type_table(slot, is_optional=bool(slot.options)))
        else:
            name = f"{len(slot.options)} {slot.type.title()}"
            self._shared.setdefault(name, (slot, []))[1].append(place)

    def _type_table(self, slot: Slot, *, is_optional: bool) -> int:
        if is_optional:
            option = self._table(_OPTION, 0, TAGS[slot.type.kind])
            self._refer(option + _OPTION.offsets[1], self._type_table(slot, is_optional=False))
            return option
        properties = standard_properties(slot, self._lose)
        children = iter(slot.children)
        formats: list[tuple[int, str]] = []
        values: dict[int, Any] = {}
        later: list[tuple[int, Any]] = []
        for item, value in properties:
            if item.name.endswith("_type"):
                child = next(children)
                formats += [(item.slot, TAG), (item.slot + 1, REFERENCE)]
                values[item.slot] = TAGS["Option" if child.options else child.type.kind]
                later.append((item.slot + 1, child))
            elif item.alias in FORMATS:
                formats.append((item.slot, FORMATS[item.alias]))
                values[item.slot] = UNITS.index(value) if item.name == "unit" else value
            else:
                formats.append((item.slot, REFERENCE))
                later.append((item.slot, value))
        layout = self._layout(tuple(formats))
        table = self._table(layout, *[values.get(number, 0) for number in layout.order])
        for number, value in later:
            place = table + layout.offsets[number]
            if isinstance(value, Slot):
                self._type(place, value)
            elif isinstance(value, str):
                self._refer(place, len(self._content))
                self._text(value)
            else:
                self._fields(place, slot.children)
        return table

    def _layout(self, slots: tuple[tuple[int, str], ...]) -> _Layout:
        layout = self._layouts.get(slots)
        if layout is None:
            layout = self._layouts[slots] = _Layout(*slots)
        return layout

    def _table(self, layout: _Layout, *values: Any) -> int:
        """Where a table starts; the values are in the order of the layout."""
        content = self._content
        vtable = self._vtables.get(layout.vtable)
        if vtable is None:
            vtable = self._vtables[layout.vtable] = len(content)
            content += layout.vtable
            content += bytes(-len(content) % 4)
        if layout.is_wide and len(content) % 8 != 4:
            # Values of eight bytes stand right behind the table's first four.
            content += bytes(4)
        start = len(content)
        content += layout.pack(start - vtable, *values)
        return start

    def _text(self, text: str) -> None:
        encoded = text.encode()
        size = len(encoded)
        # The NUL behind the text, then up to the next multiple of four.
        self._content += struct.pack("<I", size) + encoded + bytes(4 - size % 4)

    def _refer(self, place: int, target: int) -> None:
        struct.pack_into("<I", self._content, place, target - place)


def _entries(extra: dict[str, Any]) -> str:
    """Attributes as JSON; most fields have a description and nothing else."""
    if len(extra) == 1 and (text := extra.get(DESCRIPTION.key)) is not None:
        return f'{{"{DESCRIPTION.key}":{encode_basestring(text)}}}'
    return compact(extra)
