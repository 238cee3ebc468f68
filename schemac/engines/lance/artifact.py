"""Lance: the `lance.file.Schema` message.

Layer: engines.
Shape: `lance/schema.binpb`, the message with its maps in key order, and on request `lance/schema.txtpb`, the same as text.
Fields in pre-order, ids from 0; lists have an item below them, maps an `entries` struct with key and value, but
a fixed-size list of plain values is one field. Equal to Lance's own as a message: Lance's bytes have the entries of maps in
random order, and leave an empty text out of them.
Errors: SC501 to SC507; losses SC511.
Source: rust/lance-core/src/datatypes.rs and the encoding specification of github.com/lance-format/lance, both
held against what pylance 14.0.2 makes of the same Arrow schema.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from schemac.arrow.metadata import EXTENSION_NAME
from schemac.artifacts.targets import Artifact, Emission, Target
from schemac.engines.lance import LANCE_LOSS
from schemac.engines.lance.fields import Node, nodes_of, numbered, words_by_field
from schemac.engines.lance.limits import Limits
from schemac.language.logical.schema_fields import SchemaField
from schemac.language.physical.field import LoweredSchema
from schemac.versions.identity.compilation import Compilation
from schemac.versions.identity.lock import Numbers

if TYPE_CHECKING:
    from schemac.engines.lance._generated.lance import file_pb2 as pb

BINARY, TEXT = "lance/schema.binpb", "lance/schema.txtpb"


def to_message(lowered: LoweredSchema, field_ids: Mapping[SchemaField, Numbers] | None = None) -> "pb.Schema":
    """Return the schema as Lance writes it. Raises ValueError for a type that Lance has no word for."""
    return _message(numbered(lowered, nodes_of(lowered), field_ids), lowered.metadata)


def _message(nodes: Iterable[tuple[int, Node]], metadata: Mapping[str, str]) -> "pb.Schema":
    """Return the message with these fields, each with its id, and the schema's own metadata."""
    # Imported here for start-up time: commands that emit nothing for Lance import this module too.
    from schemac.engines.lance._generated.lance import file_pb2 as pb

    message = pb.Schema(metadata=_encoded(metadata))
    add = message.fields.add
    for id, (name, parent_id, logical_type, is_nullable, encoding, entries, marks) in nodes:
        field = add(
            name=name,
            id=id,
            parent_id=parent_id,
            logical_type=logical_type,
            nullable=is_nullable,
            encoding=pb.Field.Encoding.ValueType(encoding),
        )
        if entries:
            field.extension_name = entries.get(EXTENSION_NAME, "")
            field.metadata.update(_encoded(entries))
            field.unenforced_primary_key = marks.is_primary
            field.unenforced_primary_key_position = marks.primary_position
            field.unenforced_clustering_key_position = marks.clustering_position
    return message


def _encoded(entries: Mapping[str, str]) -> dict[str, bytes]:
    return {key: value.encode() for key, value in entries.items()}


def to_bytes(message: "pb.Schema") -> bytes:
    """Return the content of `lance/schema.binpb`: the same bytes for the same message in every process."""
    return message.SerializeToString(deterministic=True)


def to_text(message: "pb.Schema") -> str:
    """Return the content of `lance/schema.txtpb`."""
    from google.protobuf import text_format  # for start-up time: seldom asked for

    return text_format.MessageToString(message, as_utf8=True)


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the message in binary, and as text where that is asked for, unless Lance could not hold the schema."""
    if not Limits(compilation, emission).is_supported():
        return []
    message = to_message(compilation.lowered, compilation.numbers)
    artifacts = [Artifact(BINARY, to_bytes(message))]
    # The printer takes longer than all the rest of a build.
    if TEXT in compilation.optional_artifacts:
        artifacts.append(Artifact(TEXT, to_text(message).encode()))
    return artifacts


def types(compilation: Compilation, emission: Emission) -> dict[SchemaField, str]:
    """Return Lance's logical types; a field with several nodes has theirs, parents first."""
    return {field: " > ".join(words) for field, words in words_by_field(compilation.lowered).items() if words}


def _of_storage(compilation: Compilation, emission: Emission) -> None:
    """Warn of a storage version that is not for production."""
    Limits(compilation, emission).unstable_version()


TARGET = Target("lance", LANCE_LOSS, emit, of_storage=_of_storage, types=types)
