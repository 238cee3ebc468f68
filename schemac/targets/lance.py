"""Lance: the `lance.file.Schema` message, as Lance itself writes it.

Floor: 7 (targets).
Shape: `lance/schema.binpb`, the message with its maps in key order, and `lance/schema.txtpb`, the same as text.
Fields in pre-order, ids from 0; lists have an item below them, maps an `entries` struct with key and value, but
a fixed-size list of plain values is one field.
Errors: SC501 to SC505; losses SC511.
Source: rust/lance-core/src/datatypes.rs and the encoding specification of github.com/lance-format/lance, both
held against what pylance 14.0.2 makes of the same Arrow schema. Storage limits were found by writing data.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from schemac.attributes import lance
from schemac.logical.slots import Slot
from schemac.lowering.lower import storage_version
from schemac.lowering.metadata import (
    CLUSTERING_KEY_POSITION,
    EXTENSION_METADATA,
    EXTENSION_NAME,
    PRIMARY_KEY,
    PRIMARY_KEY_POSITION,
)
from schemac.physical.arrow import ArrowField, ArrowType, pa
from schemac.physical.field import LoweredField, LoweredSchema
from schemac.source.catalogue import (
    LANCE_LOSS,
    LANCE_NAME,
    LANCE_NAME_RISK,
    LANCE_STORAGE_VERSION,
    LANCE_STRUCTURE,
    LANCE_TYPE,
)
from schemac.targets._generated.lance import file_pb2 as pb
from schemac.targets.target import Artifact, Compilation, Emission, Target

MAX_DEPTH = 32
"""Levels of nesting that Lance's way in, Arrow's C interface, takes with room to spare."""
RESERVED_NAMES = (
    "_rowid",
    "_rowaddr",
    "_rowoffset",
    "_row_created_at_version",
    "_row_last_updated_at_version",
)
RISKY_NAMES = ("_distance", "_score")


class _Tables:
    """Arrow type ids to Lance's words; made when pyarrow is there."""

    def __init__(self) -> None:
        types = pa.lib
        self.plain: dict[int, str] = {
            types.Type_NA: "null",
            types.Type_BOOL: "bool",
            types.Type_INT8: "int8",
            types.Type_INT16: "int16",
            types.Type_INT32: "int32",
            types.Type_INT64: "int64",
            types.Type_UINT8: "uint8",
            types.Type_UINT16: "uint16",
            types.Type_UINT32: "uint32",
            types.Type_UINT64: "uint64",
            types.Type_HALF_FLOAT: "halffloat",
            types.Type_FLOAT: "float",
            types.Type_DOUBLE: "double",
            types.Type_DATE32: "date32:day",
            types.Type_DATE64: "date64:ms",
        }
        self.variable: dict[int, str] = {
            types.Type_STRING: "string",
            types.Type_STRING_VIEW: "string",
            types.Type_LARGE_STRING: "large_string",
            types.Type_BINARY: "binary",
            types.Type_BINARY_VIEW: "binary",
            types.Type_LARGE_BINARY: "large_binary",
        }
        self.with_parameters: dict[int, Callable[[Any], str]] = {
            types.Type_TIMESTAMP: lambda t: f"timestamp:{t.unit}:{t.tz or '-'}",
            types.Type_TIME32: lambda t: f"time32:{t.unit}",
            types.Type_TIME64: lambda t: f"time64:{t.unit}",
            types.Type_DURATION: lambda t: f"duration:{t.unit}",
            types.Type_DECIMAL128: lambda t: f"decimal:128:{t.precision}:{t.scale}",
            types.Type_DECIMAL256: lambda t: f"decimal:256:{t.precision}:{t.scale}",
            types.Type_FIXED_SIZE_BINARY: lambda t: f"fixed_size_binary:{t.byte_width}",
        }
        self.views = (types.Type_STRING_VIEW, types.Type_BINARY_VIEW)
        self.null = types.Type_NA
        self.struct = types.Type_STRUCT
        self.lists = {types.Type_LIST: "list", types.Type_LARGE_LIST: "large_list"}
        self.fixed_list = types.Type_FIXED_SIZE_LIST
        self.map = types.Type_MAP
        self.dictionary = types.Type_DICTIONARY


class _KeyMarks(NamedTuple):
    """What metadata says about a field's place in the table's keys."""

    is_primary: bool = False
    primary_position: int = 0
    clustering_position: int = 0


class _Node(NamedTuple):
    """One field as Lance numbers them; its id is its index."""

    name: str
    parent_id: int
    logical_type: str
    is_nullable: bool
    encoding: "pb.Field.Encoding"
    metadata: dict[bytes, bytes]
    """Keys in order."""
    marks: _KeyMarks


_NO_METADATA: dict[bytes, bytes] = {}
_NO_MARKS = _KeyMarks()


def to_message(lowered: LoweredSchema) -> pb.Schema:
    """The schema as Lance writes it. Raises ValueError for a type that Lance has no word for."""
    return _message(_nodes(lowered), lowered.metadata)


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """The message in binary and as text, unless Lance could not hold the schema."""
    if not _Judge(compilation, emission).is_sound():
        return []
    metadata = compilation.lowered.metadata
    nodes = _nodes(compilation.lowered)
    return [
        Artifact("lance/schema.binpb", _bytes(nodes, metadata)),
        Artifact("lance/schema.txtpb", _text(nodes, metadata).encode()),
    ]


def _nodes(lowered: LoweredSchema) -> list[_Node]:
    """All fields in pre-order."""
    writer = _Writer()
    for top in lowered.fields:
        writer.field(top.arrow, -1)
    return writer.nodes


class _Writer:
    """Numbers fields and finds Lance's words for each. Needs nothing but Arrow fields, wherever they are from."""

    def __init__(self) -> None:
        self.nodes: list[_Node] = []
        self.tables = _Tables()

    def field(self, arrow: ArrowField, parent_id: int) -> None:
        nodes, tables = self.nodes, self.tables
        id = len(nodes)
        type_: Any = arrow.type
        metadata: dict[bytes, bytes] = arrow.metadata or _NO_METADATA
        if isinstance(type_, pa.BaseExtensionType):
            metadata = {**_extension_metadata(type_), **metadata}
            type_ = type_.storage_type
        marks = _NO_MARKS
        if metadata:
            metadata = _canonical(metadata)
            marks = _key_marks(metadata)
        logical_type, encoding = self.words(type_, metadata)
        nodes.append(_Node(arrow.name, parent_id, logical_type, arrow.nullable, encoding, metadata, marks))
        if logical_type in _PARENTS:
            self.children(type_, id)
        elif type_.id == tables.fixed_list and type_.value_type.id == tables.struct:
            self.field(type_.value_field, id)

    def children(self, type_: Any, id: int) -> None:
        if type_.id == self.tables.struct:
            for child in type_.fields:
                self.field(child, id)
        elif type_.id == self.tables.map:
            entries = len(self.nodes)
            self.nodes.append(
                _Node("entries", id, "struct", False, pb.Field.NONE, _NO_METADATA, _NO_MARKS)
            )
            self.field(type_.key_field, entries)
            self.field(type_.item_field, entries)
        else:
            self.field(type_.value_field, id)

    def words(self, type_: Any, metadata: Mapping[bytes, bytes]) -> tuple[str, "pb.Field.Encoding"]:
        """Logical type and (deprecated, still compared) encoding of a storage type."""
        tables, id = self.tables, type_.id
        if (plain := tables.plain.get(id)) is not None:
            return plain, pb.Field.NONE if id == tables.null else pb.Field.PLAIN
        if metadata and metadata.get(_NAME) == b"lance.json":
            return "json", pb.Field.VAR_BINARY
        if (variable := tables.variable.get(id)) is not None:
            return variable, pb.Field.VAR_BINARY
        if (spelled := tables.with_parameters.get(id)) is not None:
            return spelled(type_), pb.Field.PLAIN
        if id == tables.struct:
            return "struct", pb.Field.NONE
        if id in tables.lists:
            of_structs = ".struct" if type_.value_type.id == tables.struct else ""
            return tables.lists[id] + of_structs, pb.Field.PLAIN
        if id == tables.fixed_list:
            return f"fixed_size_list:{self.item_words(type_.value_field)}:{type_.list_size}", pb.Field.PLAIN
        if id == tables.map:
            return "map", pb.Field.PLAIN
        if id == tables.dictionary:
            value, _ = self.words(type_.value_type, {})
            index, _ = self.words(type_.index_type, {})
            return f"dict:{value}:{index}:false", pb.Field.DICTIONARY
        raise ValueError(f"Lance has no type for {type_}")

    def item_words(self, item: ArrowField) -> str:
        """The item of a fixed-size list, which has no message of its own unless it is a struct."""
        if (item.metadata or _NO_METADATA).get(_NAME) == b"lance.bfloat16":
            return "lance.bfloat16"
        type_: Any = item.type
        return self.words(type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_, {})[0]


_PARENTS = frozenset({"struct", "map", "list", "list.struct", "large_list", "large_list.struct"})
"""Logical types with messages below them; so is a fixed-size list of structs."""


def _canonical(metadata: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Metadata as Lance keeps it, keys in order."""
    if metadata.get(_NAME) == b"arrow.json":
        metadata = {**metadata, _NAME: b"lance.json"}
    return dict(sorted(metadata.items())) if len(metadata) > 1 else metadata


def _extension_metadata(type_: Any) -> dict[bytes, bytes]:
    """What Arrow's C interface says of a registered extension type."""
    name = type_.extension_name
    if name == "arrow.fixed_shape_tensor":
        serialized: dict[str, Any] = {"shape": type_.shape}
        if type_.permutation is not None:
            serialized["permutation"] = type_.permutation
        if type_.dim_names is not None:
            serialized["dim_names"] = type_.dim_names
        text = json.dumps(serialized, separators=(",", ":"), ensure_ascii=False)
    elif name == "arrow.opaque":
        names = {"type_name": type_.type_name, "vendor_name": type_.vendor_name}
        text = json.dumps(names, separators=(",", ":"), ensure_ascii=False)
    else:
        text = ""
    return {_NAME: name.encode(), EXTENSION_METADATA.encode(): text.encode()}


def _key_marks(metadata: Mapping[bytes, bytes]) -> _KeyMarks:
    """A position alone makes a primary key, whatever the flag says; one that is no number counts for nothing."""
    if _MARKS.isdisjoint(metadata):
        return _NO_MARKS
    flag, primary, clustering = (metadata.get(key.encode()) for key in _MARK_KEYS)
    position = _position(primary)
    is_primary = position is not None or (flag or b"").lower() in _TRUE
    return _KeyMarks(is_primary, position or 0, _position(clustering) or 0)


_MARK_KEYS = (PRIMARY_KEY, PRIMARY_KEY_POSITION, CLUSTERING_KEY_POSITION)
_MARKS = frozenset(key.encode() for key in _MARK_KEYS)


_TRUE = (b"true", b"1", b"yes", b"y", b"on")
_NUMBER = re.compile(rb"\+?[0-9]+")


def _position(text: bytes | None) -> int | None:
    if text is None or not _NUMBER.fullmatch(text):
        return None
    position = int(text)
    return position if position < 2**32 else None


def _message(nodes: Sequence[_Node], metadata: Mapping[str, str]) -> pb.Schema:
    message = pb.Schema()
    add = message.fields.add
    for id, node in enumerate(nodes):
        # Set one by one: the constructor with all values as arguments takes three times as long.
        field = add()
        field.name, field.parent_id, field.logical_type, field.nullable, field.encoding, entries, marks = node
        field.id = id
        if entries:
            target: Any = field.metadata
            for key, value in entries.items():
                target[key] = value
            field.extension_name = entries.get(_NAME, b"").decode()
            field.unenforced_primary_key = marks.is_primary
            field.unenforced_primary_key_position = marks.primary_position
            field.unenforced_clustering_key_position = marks.clustering_position
    for text_key, text in metadata.items():
        message.metadata[text_key] = text.encode()
    return message


def _bytes(nodes: Sequence[_Node], metadata: Mapping[str, str]) -> bytes:
    """The message as Lance writes it, maps in key order.

    Lance leaves an empty value out of a map's entry, where this library writes its length of zero.
    """
    message = _message(nodes, metadata)
    if all(map(all, [node.metadata.values() for node in nodes])) and all(metadata.values()):
        return message.SerializeToString(deterministic=True)
    fields = (_record(1, _field_bytes(field)) for field in message.fields)
    return b"".join(fields) + _map_bytes(5, message.metadata)


def _field_bytes(field: pb.Field) -> bytes:
    before, after = pb.Field(), pb.Field()
    before.CopyFrom(field)
    before.ClearField("metadata")
    after.unenforced_primary_key = field.unenforced_primary_key
    after.unenforced_primary_key_position = field.unenforced_primary_key_position
    after.unenforced_clustering_key_position = field.unenforced_clustering_key_position
    for name, _ in after.ListFields():
        before.ClearField(name.name)
    return before.SerializeToString() + _map_bytes(10, field.metadata) + after.SerializeToString()


def _map_bytes(number: int, entries: Mapping[str, bytes]) -> bytes:
    return b"".join(
        _record(number, _record(1, key.encode()) + (_record(2, entries[key]) if entries[key] else b""))
        for key in sorted(entries)
    )


def _record(number: int, content: bytes) -> bytes:
    """A length-delimited field of protobuf's wire format."""
    length = len(content)
    head = bytearray([number << 3 | 2])
    while length > 127:
        head.append(length & 127 | 128)
        length >>= 7
    head.append(length)
    return bytes(head) + content


def _text(nodes: Sequence[_Node], metadata: Mapping[str, str]) -> str:
    """The message in protobuf's text format, maps in key order.

    Written here because the library's own printer takes longer than all the rest of a build; the tests hold the
    two against each other.
    """
    texts: list[str] = []
    types: dict[tuple[str, bool, int], str] = {}
    keys: dict[bytes, str] = {}
    for id, (name, parent_id, logical_type, is_nullable, encoding, entries, marks) in enumerate(nodes):
        type_ = types.get((logical_type, is_nullable, encoding))
        if type_ is None:
            type_ = types[logical_type, is_nullable, encoding] = (
                f"  logical_type: {_quoted(logical_type)}\n"
                f"{'  nullable: true' + _LINE if is_nullable else ''}"
                f"{'  encoding: ' + _ENCODING_NAMES[encoding] + _LINE if encoding else ''}"
            )
        place = f"{f'  id: {id}{_LINE}' if id else ''}{f'  parent_id: {parent_id}{_LINE}' if parent_id else ''}"
        texts.append(f"fields {{\n  name: {_quoted(name)}\n{place}{type_}")
        if entries:
            if extension := entries.get(_NAME):
                texts.append(f"  extension_name: {_quoted(extension.decode())}\n")
            for key, value in entries.items():
                quoted = keys.get(key)
                if quoted is None:
                    quoted = keys[key] = _quoted(key.decode())
                texts.append(f"  metadata {{\n    key: {quoted}\n    value: {_quoted(value.decode())}\n  }}\n")
            if marks is not _NO_MARKS:
                texts.append(_marks_text(marks))
        texts.append("}\n")
    texts += [
        f"metadata {{\n  key: {_quoted(key)}\n  value: {_quoted(metadata[key])}\n}}\n" for key in sorted(metadata)
    ]
    return "".join(texts)


def _marks_text(marks: _KeyMarks) -> str:
    is_primary, primary, clustering = marks
    return (
        f"{'  unenforced_primary_key: true' + _LINE if is_primary else ''}"
        f"{f'  unenforced_primary_key_position: {primary}{_LINE}' if primary else ''}"
        f"{f'  unenforced_clustering_key_position: {clustering}{_LINE}' if clustering else ''}"
    )


_NAME = EXTENSION_NAME.encode()
_LINE = "\n"
_ENCODING_NAMES = {number: name for name, number in pb.Field.Encoding.items()}
_ESCAPES = str.maketrans(
    {
        "\\": "\\\\",
        '"': '\\"',
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        **{chr(i): f"\\{i:03o}" for i in (*range(9), 11, 12, *range(14, 32), 127)},
    }
)
_SPECIAL = re.compile(r'[\x00-\x1f\x7f"\\]')


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES) if _SPECIAL.search(text) else text}"'


class _Judge:
    """What Lance refuses, accepts and then cannot read, or does not keep."""

    def __init__(self, compilation: Compilation, emission: Emission) -> None:
        self.fields = compilation.lowered.fields
        self.version = storage_version(compilation.dataset.schema.extra)
        self.emission = emission
        self.findings = emission.findings
        self.is_ok = True
        self.tables = _Tables()

    def is_sound(self) -> bool:
        for top in self.fields:
            self.name(top.slot, is_top=True)
            self.field(top, 1, None)
        return self.is_ok

    def refuse(self, slot: Slot, code: Any, message: str, *steps: str, help: str = "") -> None:
        self.is_ok = False
        self.findings.at_type(slot, code, message, *steps, help=help)

    def name(self, slot: Slot, *, is_top: bool) -> None:
        name = str(slot.segment)
        if is_top and "." in name:
            self.is_ok = False
            self.findings.at_name(
                slot,
                LANCE_NAME,
                f"Lance takes no dot in the column name '{name}'",
                help=f"rename it to '{name.replace('.', '_')}'",
            )
        elif "`" in name:
            self.is_ok = False
            self.findings.at_name(
                slot,
                LANCE_NAME,
                f"Lance writes the name '{name}' but cannot read it: it holds a backtick",
                help="rename it",
            )
        elif is_top and name in RESERVED_NAMES:
            self.is_ok = False
            self.findings.at_name(
                slot, LANCE_NAME, f"Lance keeps the name '{name}' for itself", help="rename it"
            )
        elif is_top and name in RISKY_NAMES:
            self.findings.at_name(
                slot,
                LANCE_NAME_RISK,
                f"searches of Lance return a column '{name}' of their own",
                help="rename it",
            )

    def field(self, field: LoweredField, depth: int, holder: Slot | None) -> None:
        """One field and all below it; `holder` is the list or map around it, if any."""
        slot, type_ = field.slot, field.arrow.type
        if depth > MAX_DEPTH:
            self.refuse(
                slot,
                LANCE_STRUCTURE,
                f"{slot.title} lies more than {MAX_DEPTH} levels deep",
                help="flatten the schema",
            )
            return
        self.type(slot, type_, field)
        if slot.extra:
            self.attributes(slot, type_)
        if not field.children:
            return
        inner_holder = slot if slot.type.kind in ("List", "Map") else holder
        for child in field.children:
            if child.slot.is_member:
                self.name(child.slot, is_top=False)
            self.field(child, depth + 1 + (slot.type.kind == "Map"), inner_holder)

    def type(self, slot: Slot, type_: Any, field: LoweredField) -> None:
        id, tables = type_.id, self.tables
        if id in tables.plain or id in tables.with_parameters:
            return
        if id in tables.views:
            plain = tables.variable[id]
            self.emission.lose(slot, f"{type_}", plain)
        elif id == tables.struct:
            self.struct(slot, type_)
        elif id == tables.fixed_list:
            self.vector(slot, type_)
        elif id == tables.map:
            self.map(slot, type_)
        elif id == tables.dictionary:
            self.dictionary(slot, type_)
        elif (
            id not in tables.variable
            and id not in tables.lists
            and not isinstance(type_, pa.BaseExtensionType)
        ):
            bits = getattr(slot.type, "precision", None)
            help = "remove the decimal hint: 128 bits hold it" if bits else "remove the `View` hint"
            self.refuse(slot, LANCE_TYPE, f"Lance has no {type_}", help=help)

    def struct(self, slot: Slot, type_: Any) -> None:
        if slot.type.kind != "Struct":
            return
        above: Slot | None = slot
        while above is not None and not above.is_nullable and above.is_member:
            above = above.parent
        if type_.num_fields == 0 and above is not None:
            self.refuse(
                slot,
                LANCE_STRUCTURE,
                f"{slot.title} has no members, and Lance cannot write nulls or lists of such structs",
                "fields",
                help="give it a member, or make it a required column",
            )
        if slot.is_nullable and self.version == "2.0":
            self.needs("2.1", slot, f"a struct that may be null ({slot.title})")

    def vector(self, slot: Slot, type_: Any) -> None:
        item: Any = type_.value_type
        kind = slot.children[0].type.kind if slot.children else ""
        is_extension = isinstance(item, pa.BaseExtensionType)
        is_bad_list = item.id == self.tables.fixed_list and item.value_type.id == self.tables.struct
        if (
            kind in ("String", "Map")
            or (
                kind in ("Binary", "List")
                and item.id not in (self.tables.fixed_list, pa.lib.Type_FIXED_SIZE_BINARY)
            )
            or is_bad_list
            or is_extension
            or item.id == self.tables.dictionary
        ):
            self.refuse(
                slot,
                LANCE_TYPE,
                f"Lance has no fixed-size list of {item}",
                "itemType",
                help="remove `fixedLength`, or make the items numbers",
            )
            return
        if item.id == self.tables.struct:
            if self.version < "2.2":
                self.needs("2.2", slot, f"a fixed-size list of structs ({slot.title})")
            return
        if not type_.value_field.nullable:
            self.emission.lose(slot, "items that may not be null", "items that may be null")
        if slot.children and slot.children[0].extra:
            self.emission.lose(
                slot, "attributes of the items", "nothing: items of a fixed-size list have no metadata"
            )

    def map(self, slot: Slot, type_: Any) -> None:
        if type_.keys_sorted:
            self.refuse(
                slot,
                LANCE_TYPE,
                "Lance has no map with sorted keys",
                "keysSorted",
                help="remove `keysSorted`",
            )
        if self.version < "2.2":
            self.needs("2.2", slot, f"a map ({slot.title})")

    def dictionary(self, slot: Slot, type_: Any) -> None:
        value = type_.value_type
        if value.id in self.tables.with_parameters or value.id in (pa.lib.Type_DATE32, pa.lib.Type_DATE64):
            self.is_ok = False
            self.findings.at_type(
                slot,
                LANCE_TYPE,
                f"Lance has no dictionary of {value}",
                help="remove the dictionary hint: Lance finds repeated values by itself",
            )
        elif value.id in self.tables.views:
            self.emission.lose(
                slot, f"a dictionary of {value}", f"a dictionary of {self.tables.variable[value.id]}"
            )
        if type_.ordered:
            self.emission.lose(slot, "an ordered dictionary", "a dictionary without order")

    def attributes(self, slot: Slot, type_: ArrowType) -> None:
        encoding = lance.ENCODING.read(slot.extra)
        if encoding is not None and encoding.structural_encoding == "sparse" and self.version < "2.3":
            self.needs("2.3", slot, "sparse structural encoding")
        if encoding is not None and encoding.packed and slot.children:
            self.packed(slot)
        if lance.BLOB.key in slot.extra:
            parent = slot.parent
            while (
                parent is not None
                and parent.type.kind in ("Struct", "List")
                and getattr(parent.type, "fixed_length", None) is None
            ):
                parent = parent.parent
            if parent is not None:
                self.refuse(
                    slot,
                    LANCE_TYPE,
                    f"Lance takes no blob inside {parent.type.title()}",
                    help="move it into a struct or a list of variable length",
                )

    def packed(self, slot: Slot) -> None:
        for child in slot.children:
            if child.children and getattr(child.type, "fixed_length", None) is None:
                self.refuse(
                    child,
                    LANCE_TYPE,
                    f"Lance cannot pack a struct with the nested {child.type.kind} {child.title}",
                    help="remove `packed`",
                )
            elif (
                child.type.kind in ("String", "Binary")
                and getattr(child.type, "fixed_length", None) is None
                and self.version < "2.2"
            ):
                self.needs("2.2", slot, f"a packed struct with values of variable length ({child.title})")

    def needs(self, version: str, slot: Slot, what: str) -> None:
        self.refuse(
            slot,
            LANCE_STORAGE_VERSION,
            f"{what} needs Lance's storage version {version}, but the schema asks for {self.version}",
            help=f'write `{lance.STORAGE_VERSION.key}: "{version}"` under the schema\'s `extra:`',
        )


TARGET = Target("lance", LANCE_LOSS, emit)
