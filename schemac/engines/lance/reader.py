"""Lance: the schema of a table's newest version, or a schema message in a file of its own.

Layer: engines.
Shape: a table's folder; or `lance.file.Schema` in binary (`.binpb`) or as text (`.txtpb`), as `schemac build` writes it.
Errors: SC552 unreadable-source, in a text at its place.
Source: `LanceDataset.schema`, `LanceDataset.data_storage_version`.
"""

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from schemac.engines.lance import attributes as words
from schemac.engines.lance.fields import NAME
from schemac.engines.lance.transactions import preorder_ids, schema_parts
from schemac.importers.datasets import from_arrow_schema
from schemac.importers.importer import Imported, ImportedVersion, Importer, Notes, first_line, refuse
from schemac.language.logical.model import FieldPath, Part
from schemac.language.physical import pa
from schemac.text.source.json_object import Json
from schemac.text.source.report import Report
from schemac.text.source.span import Span
from schemac.text.source.text import SourceText
from schemac.versions.identity.lock import Highest, Numbers

_KEYS, _PARTS = ("keyType", "valueType"), (Part.KEY, Part.VALUE)
_KIND_OF_ERROR = re.compile(r"^lanceError\([^)]*\): ")


def read(path: Path, report: Report) -> Imported | None:
    """Return the schema with keys, encodings and, of a table, the storage version."""
    if not path.is_dir():
        return _message(path, report)
    table = _opened(path, report)
    if table is None:
        return None
    from schemac.engines.lance._generated.lance import file_pb2 as pb  # for start-up time
    from schemac.engines.lance.artifact import unknown_fields

    # The storage version is kept where it is an older one, and the older blobs with it.
    notes = Notes()
    fields = [pb.Field.FromString(content) for content in table.messages]
    for field_path, text in unknown_fields(pb.Schema(fields=fields)):
        notes.add(field_path, text)
    tree = from_arrow_schema(table.schema, str(path), report, notes.add)
    if (
        table.storage_version in words.STORAGE_VERSIONS
        and table.storage_version != words.DEFAULT_STORAGE_VERSION
    ):
        extra = {**tree.get("extra", {}), words.STORAGE_VERSION.key: table.storage_version}
        tree = {**tree, "extra": extra}
    comment = f"from version {table.number} of a Lance table"
    numbered = ImportedVersion(tree, table.numbers(tree), Highest.make({NAME: table.highest}))
    return Imported(tree, (comment,), path.name.removesuffix(".lance"), notes, (numbered,))


class _OpenedTable(NamedTuple):
    schema: Any
    storage_version: str
    number: int
    """That of the newest version."""
    fields: tuple[Any, ...]
    """Its columns, as pylance has them."""
    highest: int
    """The highest id that its schema or its data files know."""
    messages: tuple[bytes, ...]
    """The `lance.file.Field` messages of all its fields, in pre-order."""

    def numbers(self, tree: Json) -> dict[FieldPath, Numbers]:
        """Return the ids by path, for a schema in the standard's long form."""
        ids_by_path: dict[FieldPath, Numbers] = {}

        def members(trees: Sequence[Json], fields: Sequence[Any], path: FieldPath) -> None:
            by_name = {field.name(): field for field in fields}
            for member in trees:
                enter(member["type"], by_name[member["name"]], (*path, member["name"]))

        def enter(tree: Json, field: Any, path: FieldPath) -> None:
            tree = tree.get("inner", tree)
            below = field.children()
            if not below or tree["kind"] not in ("Struct", "List", "Map"):
                # What is below a vector of plain values, or inside a type of one kind, is a part of it.
                ids_by_path[path] = Numbers.make({NAME: tuple(preorder_ids(field))})
            elif tree["kind"] == "Map":
                (entries,) = below
                ids_by_path[path] = Numbers.make({NAME: (field.id(), entries.id())})
                for key, part, inner in zip(_KEYS, _PARTS, entries.children(), strict=True):
                    enter(tree[key], inner, (*path, part))
            else:
                ids_by_path[path] = Numbers.make({NAME: (field.id(),)})
                if tree["kind"] == "Struct":
                    members(tree["fields"], below, path)
                else:
                    enter(tree["itemType"], below[0], (*path, Part.ITEM))

        members(tree["fields"], self.fields, ())
        return ids_by_path


def _opened(path: Path, report: Report) -> _OpenedTable | None:
    """Return the table's schema, version and highest id; None after reporting why Lance cannot read it."""
    # Imported here for start-up time, and because Lance is an extra that may not be there.
    import lance

    try:
        table = lance.dataset(str(path))
        schema = table.lance_schema
        fields = tuple(schema.fields())
        used = [id for field in fields for id in preorder_ids(field)]
        for fragment in table.get_fragments():
            used += [id for file in fragment.metadata.files for id in file.fields]
        opened = _OpenedTable(
            table.schema,
            table.data_storage_version,
            table.version,
            fields,
            max(used, default=-1),
            tuple(schema_parts(schema)[1]),
        )
    except (ValueError, pa.ArrowException) as error:
        # Lance adds the places in its own source where the error passed.
        reason = _KIND_OF_ERROR.sub("", first_line(error)).partition(", /")[0].partition(": Not found")[0]
        refuse(path, f"it is not a Lance table: {reason}", report)
    except BaseException as error:
        # A failure inside of Lance itself is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        refuse(path, f"it is not a Lance table; Lance failed to read it: {first_line(error)}", report)
    else:
        return opened
    return None


def _message(path: Path, report: Report) -> Imported | None:
    """Return the schema of a message, binary or as text; None after reporting why it is refused."""
    # Imported here for start-up time: protobuf is for those who have a message.
    from google.protobuf.message import DecodeError

    from schemac.engines.lance._generated.lance import file_pb2 as pb
    from schemac.engines.lance.artifact import UnreadableMessageError, to_arrow, unknown_fields

    if path.suffix.lower() == ".lance":
        refuse(
            path, "it is only one file of a Lance table", report, help="give the path of the table's folder"
        )
        return None
    content = path.read_bytes()
    message: pb.Schema | None = pb.Schema()
    assert message is not None
    try:
        if path.suffix.lower() == ".txtpb":
            message = _parsed(content, path, report)
        else:
            message.ParseFromString(content)
        if message is None:
            return None
        if not message.fields:
            refuse(path, "it is not a Lance schema: it has no fields", report)
            return None
        notes = Notes()
        for field_path, text in unknown_fields(message):
            notes.add(field_path, text)
        return Imported(from_arrow_schema(to_arrow(message), str(path), report, notes.add), notes=notes)
    except (DecodeError, UnreadableMessageError) as error:
        refuse(path, f"it is not a Lance schema: {first_line(error)}", report)
        return None


def _parsed(content: bytes, path: Path, report: Report) -> Any:
    """Return the message of a text; None after reporting where it is wrong."""
    from google.protobuf import text_format  # for start-up time, as above

    from schemac.engines.lance._generated.lance import file_pb2 as pb

    try:
        with warnings.catch_warnings():
            # Unknown escapes in a text are the text's own fault, and are kept as they stand.
            warnings.simplefilter("ignore", DeprecationWarning)
            return text_format.Parse(content.decode(), pb.Schema())
    except UnicodeDecodeError as error:
        refuse(path, f"it is not UTF-8: byte 0x{content[error.start]:02x} at {error.start}", report)
    except text_format.ParseError as error:
        source = SourceText(content.decode(), str(path))
        line, column = error.GetLine() or 1, error.GetColumn() or 1
        start = sum(len(text) + 1 for text in source.content.split("\n")[: line - 1]) + column - 1
        reason = first_line(error).partition(" : ")[2] or first_line(error)
        refuse(path, f"it is not a Lance schema: {reason}", report, source=source, span=Span(start, start))
    return None


IMPORTER = Importer("lance", "Lance table, or a Lance schema message", read)
