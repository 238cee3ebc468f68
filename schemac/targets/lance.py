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
from collections.abc import Callable
from typing import Any

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
        self.struct = types.Type_STRUCT
        self.lists = {types.Type_LIST: "list", types.Type_LARGE_LIST: "large_list"}
        self.fixed_list = types.Type_FIXED_SIZE_LIST
        self.map = types.Type_MAP
        self.dictionary = types.Type_DICTIONARY


def to_message(lowered: LoweredSchema) -> pb.Schema:
    """The schema as Lance writes it. The schema has passed `emit`'s checks; anything else raises ValueError."""
    writer = _Writer()
    for top in lowered.fields:
        writer.field(top.arrow, -1)
    message = pb.Schema(fields=writer.fields)
    for key, value in lowered.metadata.items():
        message.metadata[key] = value.encode()
    return message


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """The message in binary and as text, unless Lance could not hold the schema."""
    if not _Judge(compilation, emission).is_sound():
        return []
    message = to_message(compilation.lowered)
    return [
        Artifact("lance/schema.binpb", message.SerializeToString(deterministic=True)),
        Artifact("lance/schema.txtpb", to_text(message).encode()),
    ]


class _Writer:
    """Numbers nodes and turns each into a message."""

    def __init__(self) -> None:
        self.fields: list[pb.Field] = []
        self.tables = _Tables()

    def field(self, arrow: ArrowField, parent_id: int) -> None:
        node = len(self.fields)
        metadata = _metadata_of(arrow)
        type_: Any = arrow.type
        if isinstance(type_, pa.BaseExtensionType):
            metadata = {**_extension_metadata(type_), **metadata}
            storage = type_.storage_type
        else:
            storage = type_
        logical_type, encoding = self.words(storage, metadata)
        message = pb.Field(
            name=arrow.name,
            id=node,
            parent_id=parent_id,
            logical_type=logical_type,
            nullable=arrow.nullable,
            encoding=encoding,
        )
        if metadata:
            _add_metadata(message, metadata)
        self.fields.append(message)
        self.children(storage, node)

    def children(self, type_: Any, node: int) -> None:
        if type_.id == self.tables.struct:
            for child in type_:
                self.field(child, node)
        elif type_.id in self.tables.lists or (type_.id == self.tables.fixed_list and type_.value_type.id == self.tables.struct):
            self.field(type_.value_field, node)
        elif type_.id == self.tables.map:
            entries = len(self.fields)
            self.fields.append(pb.Field(name="entries", id=entries, parent_id=node, logical_type="struct"))
            self.field(type_.key_field, entries)
            self.field(type_.item_field, entries)

    def words(self, type_: Any, metadata: dict[str, str]) -> tuple[str, "pb.Field.Encoding"]:
        """Logical type and (deprecated, still compared) encoding of a storage type."""
        tables, id = self.tables, type_.id
        if id in tables.plain:
            return tables.plain[id], pb.Field.PLAIN if id != pa.lib.Type_NA else pb.Field.NONE
        if metadata.get(EXTENSION_NAME) == "lance.json":
            return "json", pb.Field.VAR_BINARY
        if id in tables.variable:
            return tables.variable[id], pb.Field.VAR_BINARY
        if id in tables.with_parameters:
            return tables.with_parameters[id](type_), pb.Field.PLAIN
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
        if _metadata_of(item).get(EXTENSION_NAME) == "lance.bfloat16":
            return "lance.bfloat16"
        type_: Any = item.type
        return self.words(type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_, {})[0]


def _metadata_of(arrow: ArrowField) -> dict[str, str]:
    metadata = arrow.metadata
    return {key.decode(): value.decode() for key, value in metadata.items()} if metadata else {}


def _extension_metadata(type_: Any) -> dict[str, str]:
    """What Arrow's C interface says of a registered extension type."""
    name = type_.extension_name
    if name == "arrow.fixed_shape_tensor":
        serialized: dict[str, Any] = {"shape": type_.shape}
        if type_.permutation is not None:
            serialized["permutation"] = type_.permutation
        if type_.dim_names is not None:
            serialized["dim_names"] = type_.dim_names
        text = json.dumps(serialized, separators=(",", ":"))
    elif name == "arrow.opaque":
        text = json.dumps(
            {"type_name": type_.type_name, "vendor_name": type_.vendor_name}, separators=(",", ":")
        )
    else:
        text = ""
    return {EXTENSION_NAME: "lance.json" if name == "arrow.json" else name, EXTENSION_METADATA: text}


def _add_metadata(message: pb.Field, metadata: dict[str, str]) -> None:
    entries = message.metadata
    for key, value in metadata.items():
        entries[key] = value.encode()
    if EXTENSION_NAME in metadata:
        message.extension_name = metadata[EXTENSION_NAME]
    if PRIMARY_KEY in metadata:
        message.unenforced_primary_key = True
        message.unenforced_primary_key_position = int(metadata.get(PRIMARY_KEY_POSITION, "0"))
    if CLUSTERING_KEY_POSITION in metadata:
        message.unenforced_clustering_key_position = int(metadata[CLUSTERING_KEY_POSITION])


def to_text(message: pb.Schema) -> str:
    """The message in protobuf's text format, maps in key order.

    Written here because the library's own printer takes longer than all the rest of a build; the tests hold the
    two against each other.
    """
    lines: list[str] = []
    for field in message.fields:
        lines.append("fields {")
        lines.append(f"  name: {_quoted(field.name)}")
        if field.id:
            lines.append(f"  id: {field.id}")
        if field.parent_id:
            lines.append(f"  parent_id: {field.parent_id}")
        lines.append(f"  logical_type: {_quoted(field.logical_type)}")
        if field.nullable:
            lines.append("  nullable: true")
        if field.encoding:
            lines.append(f"  encoding: {_ENCODING_NAMES[field.encoding]}")
        if field.extension_name:
            lines.append(f"  extension_name: {_quoted(field.extension_name)}")
        metadata = field.metadata
        lines += _entries(metadata, "  ") if metadata else ()
        if field.unenforced_primary_key:
            lines.append("  unenforced_primary_key: true")
        if field.unenforced_primary_key_position:
            lines.append(f"  unenforced_primary_key_position: {field.unenforced_primary_key_position}")
        if field.unenforced_clustering_key_position:
            lines.append(f"  unenforced_clustering_key_position: {field.unenforced_clustering_key_position}")
        lines.append("}")
    lines += _entries(message.metadata, "")
    return "\n".join([*lines, ""])


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


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _entries(metadata: Any, indent: str) -> list[str]:
    return [
        f"{indent}metadata {{\n{indent}  key: {_quoted(key)}\n{indent}  value: {_quoted(metadata[key].decode())}\n{indent}}}"
        for key in sorted(metadata)
    ]


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
