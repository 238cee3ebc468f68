"""Lance: the schema of a table's newest version, or a schema message in a file of its own.

Layer: engines.
Shape: a table's folder; or `lance.file.Schema` in binary (`.binpb`) or as text (`.txtpb`), as `schemac build` writes it.
Errors: SC552 unreadable-source, in a text at its place.
Source: `LanceDataset.schema`, `LanceDataset.data_storage_version`.
"""

import re
import warnings
from pathlib import Path

from schemac.arrow.to_arrow import to_arrow_fields
from schemac.engines.lance import attributes as words
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.dataset import lance_errors
from schemac.engines.lance.fields import NAME, lance_ids, numbers_of
from schemac.engines.lance.transactions import schema_parts
from schemac.importers.datasets import from_arrow_schema
from schemac.importers.importer import (
    ImportedSchema,
    ImportedVersion,
    Importer,
    ImportNotes,
    UnreadableSourceError,
    first_line,
)
from schemac.language.logical.dataset import LogicalDataset, Origins
from schemac.language.logical.model import Schema, columns
from schemac.language.physical import ArrowField, ArrowSchema, pa, with_parts
from schemac.text.source.diagnostics import Located, Report, SourceText, Span
from schemac.versions.identity.lock import Highest

_KIND_OF_ERROR = re.compile(r"^lanceError\([^)]*\): ")


def read(path: Path, report: Report) -> ImportedSchema:
    """Return the schema with keys, encodings and, of a table, the storage version."""
    if not path.is_dir():
        return _message(path, report)
    # Imported here for start-up time, and because Lance is an extra that may not be there.
    import lance

    from schemac.engines.lance.artifact import unknown_fields

    try:
        with lance_errors():
            table = lance.dataset(str(path))
            files = [file for fragment in table.get_fragments() for file in fragment.metadata.files]
            ids_in_files = [id for file in files for id in file.fields]
            fields = schema_parts(table.lance_schema)[1]
            arrow_schema, version = table.schema, table.data_storage_version
    except (ValueError, pa.ArrowException) as error:
        # Lance adds the places in its own source where the error passed.
        reason = _KIND_OF_ERROR.sub("", first_line(error)).partition(", /")[0].partition(": Not found")[0]
        raise UnreadableSourceError(f"it is not a Lance table: {reason}") from error
    except RuntimeError as error:
        reason = f"it is not a Lance table; Lance failed to read it: {first_line(error.__cause__ or error)}"
        raise UnreadableSourceError(reason) from error
    notes = ImportNotes()
    for field_path, text in unknown_fields(pb.Schema(fields=fields)):
        notes.add(field_path, text)
    tree = from_arrow_schema(_in_order(arrow_schema), str(path), report, notes.add)
    is_known = version in words.STORAGE_VERSIONS
    extra = {**tree.get("extra", {}), words.STORAGE_VERSION.key: version if is_known else "2.0"}
    schema = Schema.model_validate({**tree, "extra": extra})
    if is_known and version != words.DEFAULT_STORAGE_VERSION:
        # The storage version is kept where it is an older one, and the older blobs with it.
        tree = {**tree, "extra": extra}
    lowered = to_arrow_fields(LogicalDataset("", schema, columns(schema), Origins("")))
    field_ids = numbers_of(lowered, fields) or {}
    numbers = {field.path: ids for field, ids in field_ids.items() if lance_ids(ids)}
    highest = max([*ids_in_files, *(field.id for field in fields)], default=-1)
    comment = f"from version {table.version} of a Lance table"
    numbered = ImportedVersion(tree, numbers, Highest.make({NAME: highest}))
    return ImportedSchema(tree, (comment,), path.name.removesuffix(".lance"), notes, (numbered,))


def _message(path: Path, report: Report) -> ImportedSchema:
    """Return the schema of a message, binary or as text."""
    # Imported here for start-up time: protobuf is for those who have a message.
    from google.protobuf.message import DecodeError

    from schemac.engines.lance.artifact import UnreadableMessageError, to_arrow, unknown_fields

    if path.suffix.lower() == ".lance":
        help = "give the path of the table's folder"
        raise UnreadableSourceError("it is only one file of a Lance table", help=help)
    content, is_text = path.read_bytes(), path.suffix.lower() == ".txtpb"
    try:
        message = _parsed(content, path) if is_text else pb.Schema.FromString(content)
        if not message.fields:
            raise UnreadableSourceError("it is not a Lance schema: it has no fields")
        notes = ImportNotes()
        for field_path, text in unknown_fields(message):
            notes.add(field_path, text)
        tree = from_arrow_schema(_in_order(to_arrow(message)), str(path), report, notes.add)
        return ImportedSchema(tree, notes=notes)
    except (DecodeError, UnreadableMessageError) as error:
        raise UnreadableSourceError(f"it is not a Lance schema: {first_line(error)}") from error


def _in_order(schema: ArrowSchema) -> ArrowSchema:
    """Return a schema with its metadata in the order of the keys, since Lance gives it in another one each time."""

    def ordered(field: ArrowField) -> ArrowField:
        whole = field.with_type(with_parts(field.type, ordered))
        return whole.with_metadata(dict(sorted((field.metadata or {}).items())))

    return pa.schema(map(ordered, schema), dict(sorted((schema.metadata or {}).items())))


def _parsed(content: bytes, path: Path) -> pb.Schema:
    """Return the message of a text. Raises UnreadableSourceError at the place that is wrong."""
    from google.protobuf import text_format  # for start-up time, as above

    try:
        with warnings.catch_warnings():
            # Unknown escapes in a text are the text's own fault, and are kept as they stand.
            warnings.simplefilter("ignore", DeprecationWarning)
            return text_format.Parse(content.decode(), pb.Schema())
    except UnicodeDecodeError as error:
        reason = f"it is not UTF-8: byte 0x{content[error.start]:02x} at {error.start}"
        raise UnreadableSourceError(reason) from error
    except text_format.ParseError as error:
        source = SourceText(content.decode(), str(path))
        line, column = error.GetLine() or 1, error.GetColumn() or 1
        start = sum(len(text) + 1 for text in source.content.split("\n")[: line - 1]) + column - 1
        reason = first_line(error).partition(" : ")[2] or first_line(error)
        place = Located(source, Span(start, start))
        raise UnreadableSourceError(f"it is not a Lance schema: {reason}", place) from error


IMPORTER = Importer("lance", "Lance table, or a Lance schema message", read)
