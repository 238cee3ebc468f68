"""Lance: the `lance.file.Schema` message of a schema, and such a message back as Arrow fields.

Layer: engines.
Shape: `lance/schema.binpb`, the message with its maps in key order, and on request `lance/schema.txtpb`, the same as text. Fields in
      pre-order, ids from 0; lists have an item below them, maps an `entries` struct with key and value, but a fixed-size list of plain
      values is one field. Equal to Lance's own as a message: Lance's bytes have the entries of maps in random order, and leave an empty
      text out of them. A message that is read may have its fields in any order, each with the id of its parent.
Errors: SC501 to SC507; losses SC511. Raises UnreadableMessageError for what Lance could not read either.
Source: rust/lance-core/src/datatypes.rs and the encoding specification of github.com/lance-format/lance, both held against what pylance
      14.0.2 makes of the same Arrow schema.
"""

import base64
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet

from schemac.arrow.metadata import EXTENSION_METADATA, EXTENSION_NAME
from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.engines.lance import LANCE_LOSS
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.attributes import BLOB_MARK, BRAIN_FLOAT
from schemac.engines.lance.fields import LISTS, encoded, lance_ids, nodes_of, type_word
from schemac.engines.lance.limits import LanceLimits
from schemac.language.logical.model import FieldPath, SchemaField
from schemac.language.physical import ArrowField, ArrowSchema, ArrowType, LoweredSchema, pa
from schemac.text.source.phrases import counted, shortened
from schemac.versions.identity.compilation import Compilation
from schemac.versions.identity.lock import Numbers

BINARY, TEXT = "lance/schema.binpb", "lance/schema.txtpb"


def to_message(lowered: LoweredSchema, field_ids: Mapping[SchemaField, Numbers] | None = None) -> "pb.Schema":
    """Return the schema as Lance writes it. Raises ValueError for a type that Lance has no word for."""
    nodes, owned = nodes_of(lowered)
    if field_ids is not None:
        ids = [-1] * len(nodes)
        for field, indices in owned.items():
            for index, id in zip(indices, lance_ids(field_ids[field]), strict=True):
                ids[index] = id
        for node, id in zip(nodes, ids, strict=True):
            node.id, node.parent_id = id, ids[node.parent_id] if node.parent_id >= 0 else -1
    return pb.Schema(fields=nodes, metadata=encoded(lowered.metadata))


def to_bytes(message: "pb.Schema") -> bytes:
    """Return the content of `lance/schema.binpb`: the same bytes for the same message in every process."""
    return message.SerializeToString(deterministic=True)


def encode(message: "pb.Schema") -> str:
    """Return a message as text for `decode`."""
    return base64.b64encode(to_bytes(message)).decode()


def decode(text: str) -> "pb.Schema":
    """Read a message of `encode`."""
    return pb.Schema.FromString(base64.b64decode(text))


def to_text(message: "pb.Schema") -> str:
    """Return the content of `lance/schema.txtpb`."""
    from google.protobuf import text_format  # for start-up time: seldom asked for

    return text_format.MessageToString(message, as_utf8=True)


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the message in binary, and as text where that is asked for, unless Lance could not hold the schema."""
    if not LanceLimits(compilation, emission).is_supported():
        return []
    message = to_message(compilation.lowered, compilation.numbers)
    artifacts = [Artifact(BINARY, to_bytes(message))]
    # The printer takes longer than all the rest of a build.
    if TEXT in compilation.optional_artifacts:
        artifacts.append(Artifact(TEXT, to_text(message).encode()))
    return artifacts


def types(compilation: Compilation, emission: Emission) -> dict[SchemaField, str]:
    """Return Lance's logical types; a field with several nodes has theirs, parents first."""
    words_by_field = nodes_of(compilation.lowered, is_tolerant=True).words()
    return {field: " > ".join(words) for field, words in words_by_field.items() if words}


TARGET = ArtifactTarget(
    "lance",
    LANCE_LOSS,
    emit,
    # A storage version that is not for production gets a warning.
    of_storage=lambda compilation, emission: LanceLimits(compilation, emission).unstable_version(),
    types=types,
)


_ROOT = -1
_DEEPEST = 100
"""Levels of nesting that are read; Lance itself reads 32."""
_OWN_WORDS = {"blob": "large_binary", "json": "string"}
"""Words for values that are stored as those of another word, which the metadata of their field tells apart."""
_TIMESTAMP = re.compile(r"timestamp:(s|ms|us|ns):(.*)", re.DOTALL)
_DECIMAL = re.compile(r"decimal:(128|256):([0-9]{1,2}):(-?[0-9]{1,3})")
_BYTES = re.compile(r"fixed_size_binary:([0-9]{1,10})")
_VECTOR = re.compile(r"fixed_size_list:(.+):([0-9]{1,10})")
_DICTIONARY = re.compile(r"dict:([^:]+):([^:]+):(true|false)")


class UnreadableMessageError(Exception):
    """A message that is not a schema of Lance's."""


def to_arrow(message: pb.Schema) -> ArrowSchema:
    """Return the Arrow schema that Lance makes of a message. Raises UnreadableMessageError."""
    reader = _Reader(message)
    fields = [reader.field(column, 1) for column in reader.children[_ROOT]]
    if reader.unread:
        # A field hangs below nothing, or below one that has no room for it.
        raise UnreadableMessageError(f"field {min(reader.unread)} belongs to no column")
    schema = pa.schema(fields, _metadata("the schema", message.metadata))
    try:
        # Through a message of Arrow's own, which makes extension types of their names in the metadata.
        return pa.ipc.read_schema(schema.serialize())
    except (pa.ArrowException, ValueError) as error:
        raise UnreadableMessageError(str(error)) from error


def unknown_fields(message: pb.Schema) -> Iterator[tuple[FieldPath, str]]:
    """Yield what a newer Lance wrote and these classes do not know, with the path of the named field that has it; () for the schema.

    Parents are before their children, as Lance requires.
    """
    paths: dict[int, FieldPath] = {_ROOT: ()}
    structs, maps = {_ROOT}, set[int]()
    yield from (((), text) for text in _unknown(message))
    for field in message.fields:
        path = paths.get(field.parent_id, ())
        if field.parent_id in structs:
            path = (*path, field.name)
        paths[field.id] = path
        if field.logical_type == "map":
            maps.add(field.id)
        elif field.logical_type == "struct" and field.parent_id not in maps:
            structs.add(field.id)
        yield from ((path, text) for text in _unknown(field))


def _unknown(message: pb.Schema | pb.Field) -> Iterator[str]:
    """Yield one line for each field of protobuf that the message's definition does not have."""
    unknown: Any = UnknownFieldSet(message)  # which its type hints do not iterate over
    for field in unknown:
        yield f"not kept: {field.field_number}: {shortened(repr(field.data))} in Lance's message, a field that schemac does not know"


class _Reader:
    """Makes Arrow fields of the messages of a schema, and notes which ones it has read."""

    def __init__(self, message: pb.Schema) -> None:
        self.children: defaultdict[int, list[pb.Field]] = defaultdict(list)
        """The fields below each one, by its id."""
        self.unread = {field.id for field in message.fields}
        if len(self.unread) != len(message.fields):
            raise UnreadableMessageError("two fields have the same id")
        for field in message.fields:
            self.children[field.parent_id].append(field)

    def field(self, field: "pb.Field", depth: int) -> ArrowField:
        """Return the Arrow field of a message, with all fields below it."""
        if depth > _DEEPEST:
            raise UnreadableMessageError(f"fields are nested deeper than {_DEEPEST} levels")
        self.unread.discard(field.id)
        metadata = _metadata(f"field {field.id}", field.metadata)
        if field.logical_type == "json":
            metadata = {**metadata, EXTENSION_NAME: "arrow.json"}
        elif field.logical_type == "blob":
            metadata = {**metadata, BLOB_MARK: "true"}
        type_ = self._type(field, depth)
        if pa.types.is_null(type_) and not field.nullable:
            raise self._wrong(field, "is null, and may not be null")
        return pa.field(field.name, type_, field.nullable, metadata or None)

    def _type(self, field: "pb.Field", depth: int) -> ArrowType:
        """Return the Arrow type of a field's logical type. Raises UnreadableMessageError for one that Lance lacks."""
        word = field.logical_type
        if word == "struct":
            return pa.struct([self.field(child, depth + 1) for child in self.children[field.id]])
        if word in LISTS:
            item = self._only(field, depth)
            return pa.large_list(item) if word.startswith("large") else pa.list_(item)
        if word == "map":
            entries = self._only(field, depth)
            members = list(entries.type) if pa.types.is_struct(entries.type) else []
            if len(members) != 2 or members[0].nullable:
                raise self._wrong(field, "is a map whose entries do not have a key and a value")
            return pa.map_(*members)
        vector = _VECTOR.fullmatch(word)
        if vector is not None and vector[1] == "struct":
            item = self._only(field, depth)
            return pa.list_(item, self._length(field, vector[2]))
        type_ = self._leaf(field, word, depth)
        if type_ is None:
            raise self._wrong(field, f"has the logical type '{word}', which Lance does not have")
        return type_

    def _only(self, field: "pb.Field", depth: int) -> ArrowField:
        """Return the one field below another."""
        children = self.children[field.id]
        if len(children) != 1:
            raise self._wrong(field, f"has {counted(len(children), 'field')} below it, not 1")
        return self.field(children[0], depth + 1)

    def _leaf(self, field: "pb.Field", word: str, depth: int) -> ArrowType | None:
        """Return the Arrow type of a word that needs no child fields; None for a word that Lance lacks."""
        if (plain := _plain_type(_OWN_WORDS.get(word, word))) is not None:
            return plain
        if match := _TIMESTAMP.fullmatch(word):
            return pa.timestamp(match[1], match[2] if match[2] not in ("", "-") else None)
        if match := _BYTES.fullmatch(word):
            return pa.binary(self._length(field, match[1]))
        if match := _DICTIONARY.fullmatch(word):
            value, index = self._leaf(field, match[1], depth), _plain_type(match[2])
            is_sound = value is not None and index is not None and pa.types.is_integer(index)
            return pa.dictionary(index, value, match[3] == "true") if is_sound else None
        if match := _VECTOR.fullmatch(word):
            length = self._length(field, match[2])
            if match[1] == BRAIN_FLOAT:
                mark = {EXTENSION_NAME: BRAIN_FLOAT, EXTENSION_METADATA: ""}
                return pa.list_(pa.field("item", pa.binary(2), metadata=mark), length)
            if depth > _DEEPEST:
                raise UnreadableMessageError(f"fields are nested deeper than {_DEEPEST} levels")
            # The item has no message, so it is called `item` and may be null.
            item = self._leaf(field, match[1], depth + 1)
            return None if item is None else pa.list_(item, length)
        if match := _DECIMAL.fullmatch(word):
            make = pa.decimal128 if match[1] == "128" else pa.decimal256
            try:
                return make(int(match[2]), int(match[3]))
            except ValueError as error:
                raise self._wrong(field, f"has a decimal type that Arrow does not have: {error}") from error
        return None

    def _length(self, field: "pb.Field", digits: str) -> int:
        """Return a length as a number. Raises UnreadableMessageError if it is 2**31 or more."""
        length = int(digits)
        if length >= 2**31:
            raise self._wrong(field, f"has the length {length}, which is too large")
        return length

    @staticmethod
    def _wrong(field: "pb.Field", reason: str) -> UnreadableMessageError:
        """Return the error about a field, with its id and name in front of the reason."""
        return UnreadableMessageError(f"field {field.id} ({field.name}) {reason}")


def _plain_type(word: str) -> ArrowType | None:
    """Return the Arrow type without parameters, but for a unit, whose word this is; None if there is none."""
    name, _, unit = word.partition(":")
    try:
        type_ = pa.type_for_alias(f"{name}[{unit}]" if unit else name)
        # Arrow has more names for a type than one.
        return type_ if type_word(type_) == word else None
    except ValueError:
        return None


def _metadata(holder: str, entries: Any) -> dict[str, str]:
    """Return metadata as texts. Raises UnreadableMessageError if a value is not UTF-8."""
    try:
        return {key: value.decode() for key, value in entries.items()}
    except UnicodeDecodeError as error:
        raise UnreadableMessageError(f"the metadata of {holder} is not UTF-8") from error
