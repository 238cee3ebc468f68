"""Paimon: a table's schema files, whoever wrote them.

Layer: engines.
Shape: a table's folder, the `schema` folder in it, or one file of that; the newest version is the manifest, and all of them are the
      history. Types become kinds as Paimon's own conversion to Arrow has it; where a kind says less than the type,
      `paimon.apache.org/type` says the rest, so that a build gives the same file again. What old versions left unsaid is filled in.
Errors: SC551, SC552. Parsing raises MalformedDocumentError with the place inside the file.
Source: `ArrowFieldTypeConversion`, `SchemaSerializer` and `TableSchema.fromJson` of github.com/apache/paimon, pypaimon 0.2 to 2.1,
      paimon-cpp. Java reads a null as the text "null"; pypaimon writes one where there is no comment, so that here it is an absent key.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from schemac.arrow.metadata import compact
from schemac.engines.paimon import attributes as paimon
from schemac.engines.paimon.options import is_true
from schemac.engines.paimon.table_schema import NAME, VERSION, TableSchema, data_of
from schemac.engines.paimon.types import BITS, LONGEST, DataField, PaimonType, parse_field
from schemac.importers import importer
from schemac.importers.datasets import list_of, map_of, member, optional, struct, with_attributes
from schemac.importers.sources import ForeignDocument, has_keys, is_json_with
from schemac.language.attributes.builtin import DESCRIPTION, TABLE_RECORD
from schemac.language.kinds.registry import kind_of_name
from schemac.language.logical.model import FieldPath, Part, dotted
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json, MalformedDocumentError, expect
from schemac.versions.identity.lock import EngineData, Highest, Numbers

_NEEDED = ("id", "fields", "highestFieldId", "partitionKeys", "primaryKeys", "options")
_LEGACY_OPTIONS = ((1, "bucket", "1"), (2, "file.format", "orc"))
"""What the defaults were up to a version."""
DOCUMENTS = (
    ForeignDocument(
        "a snapshot of a Paimon table", has_keys("schemaId", "baseManifestList"), "import the table's folder"
    ),
)
"""What to import in place of such a file."""


_FILE_NAME = re.compile(r"schema-([0-9]+)")
"""How Paimon names its schema files."""


def schema_files(path: Path) -> list[Path]:
    """List the schema files of a table, oldest first; of a file, itself."""
    if path.is_file():
        return [path]
    for folder in (path / "schema", path):
        if numbered := importer.numbered_files(folder, _FILE_NAME):
            return [file for _, file in numbered]
    return []


def is_source(path: Path) -> bool:
    """Return whether a path is a folder with schema files, or such a file by name and content."""
    if path.is_dir():
        return any(any(folder.glob("schema-[0-9]*")) for folder in (path / "schema", path))
    is_named = path.name.startswith("schema-") or path.suffix.lower() == ".json"
    return is_named and is_json_with(path, b'"highestFieldId":')


def read_table_schema(document: Any) -> TableSchema:
    """Return the schema in the JSON of a schema file. Raises MalformedDocumentError."""
    document = expect(document, dict, "", "it is not an object")
    missing = [key for key in _NEEDED if document.get(key) is None]
    if missing:
        raise MalformedDocumentError("", f"it has no `{missing[0]}`")
    version = _number(document.get("version", 1), "version")
    trees = expect(document["fields"], list, "fields", "the fields have to be a list")
    fields = tuple([parse_field(field, f"fields[{i}]") for i, field in enumerate(trees)])
    paths = member_ids(fields)
    paths_by_id: dict[int, FieldPath] = {}
    for path, id in paths:
        first = paths_by_id.setdefault(id, path)
        if first is not path:
            reason = (
                f"{dotted(first)} and {dotted(path)} have the same id {id}; pypaimon before 2.0 numbers the"
                " members of a ROW from 0 again, and readers cannot tell such fields apart: create a new"
                " table with pypaimon 2 or with Java, and copy the rows"
            )
            raise MalformedDocumentError("", reason)
    if (comment := document.get("comment")) is not None:
        expect(comment, str, "comment", "the comment has to be a text")
    return TableSchema(
        _number(document["id"], "id"),
        fields,
        # pypaimon up to 1.4.2 counted the columns alone.
        max([_number(document["highestFieldId"], "highestFieldId"), *(id for _, id in paths)]),
        _names(document["partitionKeys"], "partitionKeys"),
        _names(document["primaryKeys"], "primaryKeys"),
        _options(document["options"], version),
        comment,
        _number(document.get("timeMillis") or 0, "timeMillis"),
        version,
    )


def member_ids(fields: Iterable[DataField]) -> list[tuple[FieldPath, int]]:
    """Return the ids of columns and of the members of ROWs, by the paths that a manifest gives them."""
    return [(path, field.id) for path, field in members(fields)]


def members(fields: Iterable[DataField], above: FieldPath = ()) -> Iterator[tuple[FieldPath, DataField]]:
    """Yield columns and members of ROWs in pre-order, with the paths that a manifest gives them."""
    for field in fields:
        path = (*above, field.name)
        yield path, field
        yield from _members_below(field.type, path)


def _members_below(type_: PaimonType, path: FieldPath) -> Iterator[tuple[FieldPath, DataField]]:
    """Yield the members of ROWs inside a type, with their paths."""
    yield from members(type_.fields, path)
    for part, inner in parts(type_):
        yield from _members_below(inner, (*path, part))


def parts(type_: PaimonType) -> tuple[tuple[Part, PaimonType], ...]:
    """Return the nameless parts of a type, as a manifest calls them; a multiset is a map of elements to counts."""
    names = (Part.KEY, Part.VALUE) if type_.root in ("MAP", "MULTISET") else (Part.ITEM,)
    return tuple(zip(names, type_.parts, strict=False))


def _number(value: Any, location: str) -> int:
    """Return a whole number. Raises MalformedDocumentError for any other value."""
    if type(value) is not int:
        raise MalformedDocumentError(location, "it is not a whole number")
    return value


def _names(value: Any, location: str) -> tuple[str, ...]:
    """Return a list of texts as a tuple. Raises MalformedDocumentError for any other value."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise MalformedDocumentError(location, "it is not a list of names")
    return tuple(value)


def _options(value: Any, version: int) -> Mapping[str, str]:
    """Return the options as text, which is how Java reads numbers as well."""
    options: dict[str, str] = {}
    for key, item in expect(value, dict, "options", "the options have to be an object").items():
        if isinstance(item, dict | list) or item is None:
            raise MalformedDocumentError(f"options.{key}", "an option has to be a text")
        options[key] = str(item).lower() if isinstance(item, bool) else str(item)
    for last, key, default in _LEGACY_OPTIONS:
        if version <= last:
            options.setdefault(key, default)
    return options


_UNITS = ("Second", "Millisecond", "Microsecond", "Nanosecond")
"""By the groups of three digits that a unit has."""


def read(path: Path, report: Report) -> importer.ImportedSchema:
    """Return the newest version of a table's schema, and all others."""
    files = schema_files(path)
    if not files:
        raise importer.UnreadableSourceError("there is no `schema/schema-0` in it, nor a later version")
    tables = list(map(read_schema_file, files))
    conversion = _FromPaimon(str(path), report)
    versions = tuple([_version(table, conversion) for table in tables])
    latest = tables[-1]
    comments = [f"from version {latest.schema_id} of a Paimon table's schema"]
    if latest.version < VERSION:
        then = f"in version {latest.version} of Paimon's schema files"
        comments.append(f"options that had other defaults {then} are written out")
    if nullable := _nullable_keys(latest):
        names = ", ".join(" ".join(name.split()) for name in nullable)
        comments.append(f"columns of the primary key may not be null: {names}")
    folder = files[-1].resolve().parent
    name = folder.parent.name or None if folder.name == "schema" else None
    return importer.ImportedSchema(versions[-1].schema, tuple(comments), name, versions=versions)


def read_schema_file(file: Path) -> TableSchema:
    """Return the content of one schema file. Raises UnreadableSourceError."""
    try:
        return read_table_schema(importer.json_document(file.read_bytes(), file))
    except (ValueError, RecursionError) as error:
        raise importer.UnreadableSourceError(f"it is not valid JSON: {error}", file=file) from error
    except MalformedDocumentError as error:
        reason = f"it is not a Paimon schema: {error}"
        raise importer.UnreadableSourceError(reason, file=file) from error


def _nullable_keys(table: TableSchema) -> list[str]:
    """Return primary key columns that the file declares nullable, although Paimon reads no nulls in a key."""
    if is_true(table.options, "primary-key.nullable"):
        return []
    return [
        field.name for field in table.fields if field.name in table.primary_keys and field.type.is_nullable
    ]


def columns_of(table: TableSchema) -> list[DataField]:
    """Return the columns as Paimon reads them: those of the primary key as NOT NULL, unless an option says otherwise."""
    nullable = _nullable_keys(table)
    return [f._replace(type=f.type.required()) if f.name in nullable else f for f in table.fields]


def _version(table: TableSchema, conversion: "_FromPaimon") -> importer.ImportedVersion:
    """Return one schema file as a version, with the ids of its fields and its schema id."""
    fields = [conversion.member(column, (column.name,)) for column in columns_of(table)]
    options = {key: table.options[key] for key in sorted(table.options) if key not in TABLE_RECORD}
    entries = {
        DESCRIPTION.key: table.comment,
        paimon.PRIMARY_KEYS.key: list(table.primary_keys) or None,
        paimon.PARTITION_KEYS.key: list(table.partition_keys) or None,
        paimon.OPTIONS.key: options or None,
    }
    extra = {key: value for key, value in entries.items() if value is not None}
    return importer.ImportedVersion(
        with_attributes({"fields": fields}, extra),
        {path: Numbers.make({NAME: (id,)}) for path, id in member_ids(table.fields)},
        Highest.make({NAME: table.highest_field_id}),
        EngineData.make({NAME: compact(data_of(table.schema_id, table.time_millis))}),
    )


class _FromPaimon:
    """Converts types of Paimon to the trees of kinds, with attributes."""

    def __init__(self, file: str, report: Report) -> None:
        self._file = file
        self._report = report

    def member(self, field: DataField, path: FieldPath) -> Json:
        """Return a column, or a member of a struct."""
        type_, extra = self._field(field.type, path)
        extra = {DESCRIPTION.key: field.description, **extra, paimon.DEFAULT_VALUE.key: field.default_value}
        return member(field.name, type_, {key: value for key, value in extra.items() if value is not None})

    def _field(self, type_: PaimonType, path: FieldPath) -> tuple[Json, Json]:
        """Return a type's tree and attributes, in an Option if nullable; of a type without a kind, which is reported, any tree."""
        if type_.root in ("GEOMETRY", "GEOGRAPHY"):
            message = f"{dotted(path)}: there is no kind for Paimon's {type_.type_text()}"
            importer.refuse_column(path, message, self._file, self._report)
            return {"kind": "Binary"}, {}
        tree, extra = _leaf(type_) or self._nested(type_, path)
        return optional(tree, is_required=not type_.is_nullable), extra

    def _nested(self, type_: PaimonType, path: FieldPath) -> tuple[Json, Json]:
        """Return the tree and attributes of a type with parts."""
        if type_.root == "ROW":
            return struct([self.member(field, (*path, field.name)) for field in type_.fields]), {}
        # A key is not an Option; an attribute of its map says if it may be null.
        trees = {
            part: with_attributes(
                *self._field(child.required() if part is Part.KEY else child, (*path, part))
            )
            for part, child in parts(type_)
        }
        if Part.KEY in trees:
            extra: Json = {paimon.TYPE.key: "MULTISET"} if type_.root == "MULTISET" else {}
            if type_.parts[0].is_nullable:
                extra[paimon.NULLABLE_KEY.key] = True
            return map_of(trees[Part.KEY], trees.get(Part.VALUE, {"kind": "Int32"})), extra
        length = {"fixedLength": type_.parameters[0]} if type_.root == "VECTOR" else {}
        return {**list_of(trees[Part.ITEM]), **length}, {}


_KINDS = {root: kind_of_name(root) for root in ("BOOLEAN", *BITS, "FLOAT", "DOUBLE", "DATE")}
"""The kind of each type that has no parameters and needs no attribute."""


def _leaf(type_: PaimonType) -> tuple[Json, Json] | None:
    """Return the tree of a type without parts, and the attribute that says what its kind does not; None for a type with parts."""
    root, word = type_.root, f"{type_.root}({', '.join(map(str, type_.parameters))})"
    match root, type_.parameters:
        case "CHAR" | "VARCHAR" | "BINARY" | "VARBINARY", (length,):
            is_plain = root.startswith("VAR") and length == LONGEST
            kind = "String" if root.endswith("CHAR") else "Binary"
            return {"kind": kind}, {} if is_plain else {paimon.TYPE.key: word}
        case "DECIMAL", (precision, scale):
            return {"kind": "Decimal", "precision": precision, "scale": scale}, {}
        case "TIME", (digits,):
            # Whatever its precision says, a TIME is stored in milliseconds.
            tree: Json = {"kind": "Time", "unit": "Millisecond"}
            return tree, {} if digits == 3 else {paimon.TYPE.key: word}
        case "TIMESTAMP" | "TIMESTAMP_LTZ", (digits,):
            zone = "UTC" if root == "TIMESTAMP_LTZ" else None
            tree = {"kind": "Timestamp", "unit": _UNITS[-(-digits // 3)], "timezone": zone}
            # A precision between two units is that of the finer one.
            return tree, {} if digits % 3 == 0 else {paimon.TYPE.key: word}
        case "BLOB", ():
            return {"kind": "Binary"}, {paimon.TYPE.key: root}
        case "VARIANT", ():
            members = [member(name, {"kind": "Binary"}, {}) for name in ("value", "metadata")]
            return struct(members), {paimon.TYPE.key: root}
    return ({"kind": _KINDS[root]}, {}) if root in _KINDS else None


IMPORTER = importer.Importer("paimon", "Paimon table, or one of its schema files", read)
