"""Lance: the `lance.file.Schema` message, as Lance itself writes it.

Layer: engines.
Shape: `lance/schema.binpb`, the message with its maps in key order, and `lance/schema.txtpb`, the same as text.
Fields in pre-order, ids from 0; lists have an item below them, maps an `entries` struct with key and value, but
a fixed-size list of plain values is one field.
Errors: SC501 to SC506; losses SC511.
Source: rust/lance-core/src/datatypes.rs and the encoding specification of github.com/lance-format/lance, both
held against what pylance 14.0.2 makes of the same Arrow schema. What Lance cannot hold is in `_lance.limits`.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from schemac.arrow.lower_metadata import EXTENSION_NAME
from schemac.artifacts.emission import Artifact, Compilation, Emission, Target
from schemac.engines.lance.codes import LANCE_LOSS
from schemac.engines.lance.limits import Limits
from schemac.engines.lance.nodes import NO_MARKS, KeyMarks, Node, nodes_of, numbered, words_by_slot
from schemac.engines.lance.types import Encoding
from schemac.engines.lance.wire import REMEMBERED, schema_bytes
from schemac.identity.lock import Numbers
from schemac.logical.slots import Slot
from schemac.physical.field import LoweredSchema

if TYPE_CHECKING:
    from schemac.engines.lance._generated.lance import file_pb2 as pb

_Numbered = Iterable[tuple[int, Node]]


def to_message(lowered: LoweredSchema, numbers: Mapping[Slot, Numbers] | None = None) -> "pb.Schema":
    """Return the schema as Lance writes it. Raises ValueError for a type that Lance has no word for."""
    from schemac.engines.lance._generated.lance import file_pb2 as pb  # for start-up time: no build needs it

    return pb.Schema.FromString(to_bytes(lowered, numbers))


def to_bytes(lowered: LoweredSchema, numbers: Mapping[Slot, Numbers] | None = None) -> bytes:
    """Return the same message in the bytes of `lance/schema.binpb`."""
    return schema_bytes(numbered(lowered, nodes_of(lowered), numbers), lowered.metadata)


def to_text(lowered: LoweredSchema, numbers: Mapping[Slot, Numbers] | None = None) -> str:
    """Return the same message in the text of `lance/schema.txtpb`."""
    return _text(numbered(lowered, nodes_of(lowered), numbers), lowered.metadata)


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the message in binary and as text, unless Lance could not hold the schema."""
    if not Limits(compilation, emission).are_kept():
        return []
    lowered, numbers = compilation.lowered, compilation.numbers
    nodes = nodes_of(lowered)
    return [
        Artifact("lance/schema.binpb", schema_bytes(numbered(lowered, nodes, numbers), lowered.metadata)),
        Artifact("lance/schema.txtpb", _text(numbered(lowered, nodes, numbers), lowered.metadata).encode()),
    ]


def _text(nodes: _Numbered, metadata: Mapping[str, str]) -> str:
    """Return the message in protobuf's text format, maps in key order.

    Written here because the library's own printer takes longer than all the rest of a build; the tests hold the
    two against each other.
    """
    texts: list[str] = []
    types: dict[tuple[str, bool, int], str] = {}
    keys: dict[str, str] = {}
    for id, (name, parent_id, logical_type, is_nullable, encoding, entries, marks) in nodes:
        type_ = types.get((logical_type, is_nullable, encoding))
        if type_ is None:
            type_ = types[logical_type, is_nullable, encoding] = (
                f"  logical_type: {_quoted(logical_type)}\n"
                f"{'  nullable: true' + _LINE if is_nullable else ''}"
                f"{'  encoding: ' + _ENCODING_NAMES[encoding] + _LINE if encoding else ''}"
            )
        own = f"  id: {id}\n" if id else ""
        above = f"  parent_id: {parent_id}\n" if parent_id else ""
        texts.append(f"fields {{\n  name: {_quoted(name)}\n{own}{above}{type_}")
        if entries:
            if extension := entries.get(EXTENSION_NAME):
                texts.append(f"  extension_name: {_quoted(extension)}\n")
            for key, value in entries.items():
                start = keys.get(key)
                if start is None:
                    start = f"  metadata {{\n    key: {_quoted(key)}\n    value: "
                    if len(keys) < REMEMBERED:
                        keys[key] = start
                texts.append(f"{start}{_quoted(value)}\n  }}\n")
            if marks is not NO_MARKS:
                texts.append(_marks_text(marks))
        texts.append("}\n")
    texts += [
        f"metadata {{\n  key: {_quoted(key)}\n  value: {_quoted(metadata[key])}\n}}\n"
        for key in sorted(metadata)
    ]
    return "".join(texts)


def _marks_text(marks: KeyMarks) -> str:
    is_primary, primary, clustering = marks
    return (
        f"{'  unenforced_primary_key: true' + _LINE if is_primary else ''}"
        f"{f'  unenforced_primary_key_position: {primary}{_LINE}' if primary else ''}"
        f"{f'  unenforced_clustering_key_position: {clustering}{_LINE}' if clustering else ''}"
    )


_LINE = "\n"
_ENCODING_NAMES = {number: name for name, number in vars(Encoding).items() if name.isupper()}
_CONTROLS = str.maketrans(
    {
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        **{chr(i): f"\\{i:03o}" for i in (*range(9), 11, 12, *range(14, 32), 127)},
    }
)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    # Hardly any text has a character of control, and to ask is quicker than to look each of them up.
    return f'"{escaped if text.isprintable() else escaped.translate(_CONTROLS)}"'


def types(compilation: Compilation, emission: Emission) -> dict[Slot, str]:
    """Return Lance's logical types; a slot with several nodes has theirs, parents first."""
    return {slot: " > ".join(words) for slot, words in words_by_slot(compilation.lowered).items() if words}


TARGET = Target("lance", LANCE_LOSS, emit, types=types)
