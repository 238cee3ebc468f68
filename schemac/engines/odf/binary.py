"""The standard's form of a schema: its properties field by field, and the table SetDataSchema as FlatBuffers, written and read.

Layer: engines.
Shape: all defaults written out. Attributes belong to fields and to the schema, and a timestamp always has a zone; what the manifest says
      beyond that is lost, and said so. The builder writes from the end, so what is referred to is written before what refers to it.
      Texts, attributes and leaf types, of which a schema has a few sorts, are written once each; types with others inside are not, so
      that a buffer unfolds to no more tables than its length lets a reader expect. Numbers that a type needs and the buffer leaves out
      are zero, as FlatBuffers has it. The `flatbuffers` package follows whatever offset it finds, so each place is checked here before
      the package reads it. References lead forwards only, so none can lead in a circle.
Errors: raises `MalformedBufferError`, and nothing else, for a buffer that does not hold what it says.
Units: places and lengths in bytes.
Source: RFC-016, the standard's JSON Schemas of DataField, DataType and ExtraAttributes, and its odf.fbs for the numbers of fields and of the
      union's members; the FlatBuffers internals page, whose verifiers have the same number of tables.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from flatbuffers import Builder
from flatbuffers import number_types as numbers
from flatbuffers import table as flat

from schemac.arrow.metadata import compact
from schemac.language.attributes.arrow import BUFFER_ENCODING, DATE_ENCODING, DICTIONARY_ENCODING
from schemac.language.attributes.builtin import ARCHETYPE, TYPE
from schemac.language.kinds.registry import BY_NAME, KINDS
from schemac.language.kinds.temporal import ARROW_UNITS
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import ExtraAttributes, LogicalType, SchemaField
from schemac.text.source.json_object import Json, in_order

Lose = Callable[[SchemaField, str, str], None]
"""Enters a loss: where, what, and what there is instead."""


def ignore(_field: SchemaField, _lost: str, _becomes: str) -> None:
    """Enter nothing: losses are those of the artifact's text."""


UNITS = tuple(ARROW_UNITS)
"""Units by their number in the standard's binary form."""
TAGS = {kind.__name__: kind.standard_number for kind in KINDS if kind.standard_number is not None}
"""Numbers of kinds in the standard's union; a kind that the standard does not have has none."""
KINDS_BY_TAG = {number: kind for kind, number in TAGS.items()}
_WITH_WORDS = {
    attribute.key: attribute
    for attribute in (ARCHETYPE, BUFFER_ENCODING, DATE_ENCODING, DICTIONARY_ENCODING, TYPE)
}
"""Attributes whose values have words that may be spelled in three ways; the standard has one."""


class BinaryProperty(NamedTuple):
    """One property of a kind."""

    name: str
    alias: str
    """As manifests spell it."""
    field: int
    """Its number in the kind's binary table. A type takes two: this one for its tag, the next for its table."""


def _properties(kind: type[LogicalType]) -> Iterator[BinaryProperty]:
    """Yield the properties of a kind in the standard's order, which is that of the class."""
    field = 0
    for name, info in kind.model_fields.items():
        if name not in ("kind", "extra"):
            yield BinaryProperty(name, info.alias or name, field)
            field += 2 if info.annotation is LogicalType else 1


PROPERTIES = {name: tuple(_properties(kind)) for name, kind in BY_NAME.items()}


def standard_properties(field: SchemaField, lose: Lose = ignore) -> list[tuple[BinaryProperty, Any]]:
    """Return the properties of a field's type that have a value; types are those of its children."""
    properties: list[tuple[BinaryProperty, Any]] = []
    for item in PROPERTIES[field.type.kind]:
        value = getattr(field.type, item.name)
        if value is None and item.name == "timezone":
            lose(field, "a timestamp without zone", "the zone UTC")
            value = "UTC"
        if value is not None:
            properties.append((item, value))
    return properties


def standard_extra(field: SchemaField, lose: Lose = ignore) -> ExtraAttributes:
    """Return the attributes of a field, keys sorted; those of the nameless parts of lists and maps have no place."""
    if not field.is_member:
        for key in sorted(field.extra):
            lose(field, f"the attribute {key}", "nothing")
        return {}
    return standard_attributes(field.extra)


def standard_attributes(extra: Mapping[str, Any]) -> ExtraAttributes:
    """Return attributes with sorted keys, and words in the standard's spelling."""
    attributes: ExtraAttributes = {}
    for key in sorted(extra):
        value = extra[key]
        attribute = _WITH_WORDS.get(key)
        if attribute is not None:
            value = attribute.as_standard(value)
        attributes[key] = value if value.__class__ is str else in_order(value)
    return attributes


class MalformedBufferError(Exception):
    """The bytes are not what they should be; the message completes "it is no …: "."""


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
_OFFSET_FLAGS = numbers.UOffsetTFlags


def write_binary(dataset: LogicalDataset) -> bytes:
    """Return the SetDataSchema event as FlatBuffers."""
    return _Writer().buffer(dataset)


class _Writer:
    """Writes the event of one dataset as a FlatBuffer."""

    def __init__(self) -> None:
        self._builder = Builder()
        self._leaves: dict[tuple[Any, ...], int] = {}
        self._extras: dict[str, int] = {}

    def buffer(self, dataset: LogicalDataset) -> bytes:
        """Return the bytes of the event."""
        extra = standard_attributes(dataset.schema.extra)
        below = [(1, _OFFSET_FLAGS, self._extra(extra))] if extra else []
        schema = self._table((0, _OFFSET_FLAGS, self._fields(dataset.columns)), *below)
        self._builder.Finish(self._table((1, _OFFSET_FLAGS, schema)))
        return bytes(self._builder.Output())

    def _fields(self, fields: tuple[SchemaField, ...]) -> int:
        """Write the vector of the tables of fields, and return its offset in the buffer."""
        tables = [self._field(field) for field in fields]
        builder = self._builder
        builder.StartVector(_OFFSET_FLAGS.bytewidth, len(tables), _OFFSET_FLAGS.bytewidth)
        for table in reversed(tables):
            builder.PrependUOffsetTRelative(table)
        return int(builder.EndVector())

    def _field(self, field: SchemaField) -> int:
        """Write the table of a field, and return its offset in the buffer."""
        builder = self._builder
        type_ = self._type(field)
        extra = standard_extra(field) if field.extra else {}
        attributes = self._extra(extra) if extra else 0
        name = builder.CreateSharedString(str(field.segment))
        builder.StartObject(4)
        builder.PrependUOffsetTRelativeSlot(3, attributes, 0)
        builder.PrependUOffsetTRelativeSlot(2, type_, 0)
        builder.PrependUOffsetTRelativeSlot(0, name, 0)
        builder.PrependSlot(TAG, 1, _tag(field), None)
        return int(builder.EndObject())

    def _extra(self, extra: ExtraAttributes) -> int:
        """Write attributes as a table, once for equal ones, and return its offset in the buffer."""
        text = compact(extra)
        table = self._extras.get(text)
        if table is None:
            table = self._extras[text] = self._table((0, _OFFSET_FLAGS, self._builder.CreateString(text)))
        return table

    def _type(self, field: SchemaField) -> int:
        """Return the offset of the table of a field's type; equal leaf types are written once."""
        properties = standard_properties(field)
        if field.children:
            return self._new_type(field, properties)
        # By what is written: types that the standard does not tell apart are one table, as they are once read back.
        content_key = (len(field.options), field.type.kind, *(value for _, value in properties))
        table = self._leaves.get(content_key)
        if table is None:
            table = self._leaves[content_key] = self._new_type(field, properties)
        return table

    def _new_type(self, field: SchemaField, properties: list[tuple[BinaryProperty, Any]]) -> int:
        """Write the table of a type with these properties, and return its offset in the buffer."""
        values: list[tuple[int, Any, Any]] = []
        children = iter(field.children)
        for item, value in properties:
            if item.name.endswith("_type"):
                child = next(children)
                values += [(item.field, TAG, _tag(child)), (item.field + 1, _OFFSET_FLAGS, self._type(child))]
            elif item.name == "fields":
                values.append((item.field, _OFFSET_FLAGS, self._fields(field.children)))
            elif item.alias in FLAGS:
                number = UNITS.index(value) if item.name == "unit" else value
                values.append((item.field, FLAGS[item.alias], number))
            else:
                values.append((item.field, _OFFSET_FLAGS, self._builder.CreateSharedString(value)))
        table = self._table(*values)
        if not field.options:
            return table
        return self._table((0, TAG, TAGS[field.type.kind]), (1, _OFFSET_FLAGS, table))

    def _table(self, *values: tuple[int, Any, Any]) -> int:
        """Write a table with these values (number of the field, type, value), and return its offset."""
        builder = self._builder
        builder.StartObject(values[-1][0] + 1 if values else 0)
        for field, flags, value in reversed(values):
            if flags is _OFFSET_FLAGS:
                builder.PrependUOffsetTRelativeSlot(field, value, 0)
            else:
                # Without a default, so zero too is written out.
                builder.PrependSlot(flags, field, value, None)
        return int(builder.EndObject())


def _tag(field: SchemaField) -> int:
    """Return the number of a field's type in the union, that of Option if it has one."""
    return TAGS["Option" if field.options else field.type.kind]


MAX_BYTES = 2**31 - 1
"""The longest buffer that FlatBuffers know."""
MAX_DEPTH = 200
"""Tables inside tables, as many as levels in a manifest; FlatBuffers' own verifiers stop at 64."""
MAX_TABLES = 1_000_000
_DISTANCE, _SHORT = numbers.SOffsetTFlags, numbers.VOffsetTFlags
_WIDTH = _OFFSET_FLAGS.bytewidth


class Buffer:
    """The bytes, and how many tables may still be visited: tables can share others, so a few bytes can unfold to many."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._length = len(content)
        if self._length > MAX_BYTES:
            raise MalformedBufferError(f"it is longer than {MAX_BYTES} bytes")
        # An honest table is not much smaller than eight bytes; leaf types are shared by their fields.
        self._left = min(MAX_TABLES, self._length + 64)

    def table(self, offset: int, depth: int) -> "FlatTable":
        """Return the table that the reference at an offset leads to."""
        self._left -= 1
        if self._left < 0:
            raise MalformedBufferError("its tables refer to each other endlessly")
        if depth > MAX_DEPTH:
            raise MalformedBufferError(f"its tables are nested more than {MAX_DEPTH} levels deep")
        return FlatTable(self, self.follow(offset), depth)

    def follow(self, offset: int) -> int:
        """Return the offset that the reference at an offset leads to. Raises MalformedBufferError."""
        self.check(offset, _WIDTH)
        target = int(flat.Table(self.content, 0).Indirect(offset))
        if target == offset:
            raise MalformedBufferError(f"the reference at byte {offset} leads nowhere")
        return target

    def check(self, offset: int, size: int) -> None:
        """Raise MalformedBufferError for bytes that are not inside the buffer."""
        if offset < 0 or offset + size > self._length:
            outside = offset if offset < 0 else max(offset, self._length)
            raise MalformedBufferError(f"byte {outside} is outside its {self._length} bytes")


class FlatTable:
    """One table: values by the number of their field, None if a field is empty."""

    def __init__(self, buffer: Buffer, start: int, depth: int) -> None:
        self._buffer = buffer
        self._depth = depth
        buffer.check(start, _DISTANCE.bytewidth)
        self._flat = flat.Table(buffer.content, start)
        vtable = start - self._flat.Get(_DISTANCE, start)
        buffer.check(vtable, 4)
        vtable_size = self._flat.Get(_SHORT, vtable)
        self._size = int(self._flat.Get(_SHORT, vtable + 2))
        if vtable_size < 4 or vtable_size % 2 or self._size < 4:
            raise MalformedBufferError(f"the table at byte {start} has no vtable at byte {vtable}")
        buffer.check(vtable, vtable_size)
        buffer.check(start, self._size)

    def scalar(self, field: int, flags: Any) -> Any:
        """Return the number or truth value of a field; None if it is empty."""
        offset = self._offset(field, flags.bytewidth)
        return None if offset is None else self._flat.Get(flags, self._flat.Pos + offset)

    def text(self, field: int) -> str | None:
        """Return the text of a field; None if it is empty."""
        content = self.bytes(field)
        try:
            return None if content is None else content.decode()
        except UnicodeDecodeError as error:
            message = f"the text in slot {field} at byte {self._flat.Pos} is not UTF-8"
            raise MalformedBufferError(message) from error

    def bytes(self, field: int) -> bytes | None:
        """Return the bytes of a field, which are laid out as a text is; None if it is empty."""
        offset = self._vector(field)
        return None if offset is None else bytes(self._flat.String(self._flat.Pos + offset))

    def table(self, field: int) -> "FlatTable | None":
        """Return the table of a field; None if it is empty."""
        offset = self._offset(field, _WIDTH)
        return None if offset is None else self._buffer.table(self._flat.Pos + offset, self._depth + 1)

    def tables(self, field: int) -> "Iterator[FlatTable] | None":
        """Return the tables in the vector of a field; None if it is empty."""
        offset = self._vector(field, _WIDTH)
        if offset is None:
            return None
        start = self._flat.Vector(offset)
        offsets = range(start, start + _WIDTH * self._flat.VectorLen(offset), _WIDTH)
        return (self._buffer.table(offset, self._depth + 1) for offset in offsets)

    def _offset(self, field: int, size: int) -> int | None:
        """Return where in the table the value of a field is; None if it is empty."""
        offset = int(self._flat.Offset(4 + 2 * field))
        if offset == 0:
            return None
        if offset < 4 or offset + size > self._size:
            raise MalformedBufferError(f"slot {field} of the table at byte {self._flat.Pos} is outside of it")
        return offset

    def _vector(self, field: int, width: int = 1) -> int | None:
        """Return the same for a vector or text, all of whose items are inside of the buffer."""
        offset = self._offset(field, _WIDTH)
        if offset is not None:
            start = self._buffer.follow(self._flat.Pos + offset)
            self._buffer.check(start, _WIDTH)
            self._buffer.check(start + _WIDTH, self._flat.VectorLen(offset) * width)
        return offset


def read_binary(content: bytes) -> Json | bytes:
    """Return the schema of a SetDataSchema event; of an older event, the bytes of its Arrow schema. Raises MalformedError."""
    # The first four bytes refer to the outermost table.
    event = Buffer(content).table(0, 0)
    schema = event.table(1)
    if schema is not None:
        return {"fields": _fields(schema, 0, "the schema"), **_extra(schema.table(1))}
    arrow = event.bytes(0)
    if arrow is None:
        raise MalformedBufferError("it contains no schema")
    return arrow


def _fields(table: FlatTable, field: int, owner: str) -> list[Json]:
    """Return the trees of a list of fields. Raises MalformedBufferError if the list is missing."""
    members = table.tables(field)
    if members is None:
        raise MalformedBufferError(f"{owner} has no fields")
    return [_field(member) for member in members]


def _field(table: FlatTable) -> Json:
    """Return a field's tree. Raises MalformedBufferError if it has no name."""
    name = table.text(0)
    if name is None:
        raise MalformedBufferError("a field has no name")
    return {"name": name, "type": _type(table, 1, repr(name)), **_extra(table.table(3))}


def _type(table: FlatTable, field: int, owner: str) -> Json:
    """Return the type whose tag is in a field and whose table in the next one."""
    tag = table.scalar(field, TAG) or 0
    kind = KINDS_BY_TAG.get(tag)
    if kind is None:
        raise MalformedBufferError(f"{owner} has a type with the unknown number {tag}")
    properties = table.table(field + 1)
    if properties is None:
        raise MalformedBufferError(f"{owner} has a {kind} without its properties")
    tree: Json = {"kind": kind}
    for item in PROPERTIES[kind]:
        value = _property(properties, kind, item.alias, item.field, owner)
        if value is not None:
            tree[item.alias] = value
    return tree


def _property(table: FlatTable, kind: str, alias: str, field: int, owner: str) -> Any:
    """Return a property by its alias; None if it is left out."""
    if alias in FLAGS:
        value = table.scalar(field, FLAGS[alias])
        if value is None:
            return 0 if alias in ("precision", "scale") else None
        if alias != "unit":
            return value
        if not 0 <= value < len(UNITS):
            raise MalformedBufferError(f"{owner} has a unit with the unknown number {value}")
        return UNITS[value]
    if alias == "timezone":
        return table.text(field)
    if alias == "fields":
        return _fields(table, field, owner)
    return _type(table, field, f"the {BY_NAME[kind].__name__} of {owner}" if owner[0] == "'" else owner)


def _extra(table: FlatTable | None) -> Json:
    """Return attributes under the key `extra`, empty if there are none. Raises MalformedBufferError for malformed JSON."""
    text = table.text(0) if table is not None else None
    if text is None:
        return {}
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise MalformedBufferError(f"attributes are not valid JSON: {str(error)[:80]}") from error
    if not isinstance(value, dict):
        raise MalformedBufferError("attributes are not a JSON object")
    return {"extra": value} if value else {}


def _refuse(word: str) -> NoReturn:
    """Raise ValueError for NaN and the infinities, which Python would read from JSON."""
    raise ValueError(f"{word} is not a number")
