"""Paimon: a table's schema files.

Layer: engines.
Shape: a table's folder, the `schema` folder in it, or one file of that; the newest version is the manifest, and all of
them are the history. Types become kinds as Paimon's own conversion to Arrow has it; where a kind says less than the
type, `paimon.apache.org/type` says the rest, so that a build gives the same file again.
Errors: SC551, SC552.
Source: as in `schemac.engines.paimon.read`; `ArrowFieldTypeConversion` of github.com/apache/paimon.
"""

from collections.abc import Callable
from pathlib import Path

from schemac.arrow.lower_metadata import compact
from schemac.attributes.odf import DESCRIPTION
from schemac.attributes.own import TABLE_RECORD
from schemac.engines.paimon import attributes as paimon
from schemac.engines.paimon.numbering import NAME, data_of
from schemac.engines.paimon.read import member_ids, parts, read_table_schema
from schemac.engines.paimon.sources import schema_files
from schemac.engines.paimon.table_schema import VERSION, TableSchema
from schemac.engines.paimon.types import (
    LONGEST,
    Array,
    Atomic,
    DataField,
    Geo,
    Map,
    Multiset,
    PaimonType,
    Row,
    UnreadableError,
    Vector,
)
from schemac.identity.lock import EngineData, Highest, Numbers
from schemac.importers.importer import Imported, ImportedVersion, Importer, refuse
from schemac.importers.json_file import json_document, refuse_json
from schemac.logical.path import FieldPath, Part, dotted
from schemac.source.catalogue import UNSUPPORTED_ARROW_TYPE
from schemac.source.json_object import Json
from schemac.source.report import Report

_UNITS = ("Second", "Millisecond", "Microsecond", "Nanosecond")
"""By the groups of three digits that a unit has."""


def read(path: Path, report: Report) -> Imported | None:
    """Return the newest version of a table's schema, and all others."""
    files = schema_files(path)
    if not files:
        refuse(path, "there is no `schema/schema-0` in it, nor a later version", report)
        return None
    tables: list[TableSchema] = []
    for file in files:
        table = read_schema_file(file, report)
        if table is None:
            return None
        tables.append(table)
    lifting = _Lifting(str(path), report)
    history = [_version(table, lifting) for table in tables[:-1]]
    newest = _version(tables[-1], lifting)
    if report.has_errors:
        return None
    comments = (f"from version {tables[-1].schema_id} of a Paimon table's schema", *_notes(tables[-1]))
    return Imported(newest.schema, comments, _name(files[-1]), versions=(*history, newest))


def read_schema_file(file: Path, report: Report) -> TableSchema | None:
    """Return what one schema file says; None after saying why it cannot be read."""
    try:
        return read_table_schema(json_document(file.read_bytes()))
    except (ValueError, RecursionError) as error:
        refuse_json(file, error, report)
    except UnreadableError as error:
        refuse(file, f"it is not a Paimon schema: {error}", report)
    return None


def _name(file: Path) -> str | None:
    """Return the table's name: that of the folder which `schema` is in."""
    folder = file.resolve().parent
    return folder.parent.name or None if folder.name == "schema" else None


def _notes(table: TableSchema) -> list[str]:
    """Return what an author should know of the table besides its schema, one line each."""
    notes: list[str] = []
    if table.version < VERSION:
        notes.append(
            f"options that had other defaults in version {table.version} of Paimon's schema files are written out"
        )
    if nullable := _nullable_keys(table):
        names = ", ".join(" ".join(name.split()) for name in nullable)
        notes.append(f"columns of the primary key may not be null: {names}")
    return notes


def _nullable_keys(table: TableSchema) -> list[str]:
    """Columns that the file lets be null although they are in the primary key, where Paimon reads no nulls."""
    if table.options.get("primary-key.nullable", "").strip().lower() == "true":
        return []
    return [
        field.name for field in table.fields if field.name in table.primary_keys and field.type.is_nullable
    ]


def _version(table: TableSchema, lifting: "_Lifting") -> ImportedVersion:
    required = _nullable_keys(table)
    fields = [
        lifting.member(field, (field.name,), is_required=field.name in required) for field in table.fields
    ]
    extra: Json = {}
    if table.comment is not None:
        extra[DESCRIPTION.key] = table.comment
    if table.primary_keys:
        extra[paimon.PRIMARY_KEYS.key] = list(table.primary_keys)
    if table.partition_keys:
        extra[paimon.PARTITION_KEYS.key] = list(table.partition_keys)
    options = {key: table.options[key] for key in sorted(table.options) if key not in TABLE_RECORD}
    if options:
        extra[paimon.OPTIONS.key] = options
    schema = {"fields": [f for f in fields if f is not None], **({"extra": extra} if extra else {})}
    return ImportedVersion(
        schema,
        {path: Numbers.make({NAME: (id,)}) for path, id in member_ids(table.fields)},
        Highest.make({NAME: table.highest_field_id}),
        EngineData.make({NAME: compact(data_of(table.schema_id, table.time_millis))}),
    )


class _Lifting:
    """Turns types into kinds with attributes."""

    def __init__(self, file: str, report: Report) -> None:
        self._file = file
        self._report = report

    def member(self, field: DataField, path: FieldPath, *, is_required: bool = False) -> Json | None:
        """Return a column, or a member of a struct; None if no kind stands for its type."""
        converted = self._field(field.type.required() if is_required else field.type, path)
        if converted is None:
            return None
        type_, extra = converted
        if field.description is not None:
            extra = {DESCRIPTION.key: field.description, **extra}
        if field.default_value is not None:
            extra = {**extra, paimon.DEFAULT_VALUE.key: field.default_value}
        return {"name": field.name, "type": type_, **({"extra": extra} if extra else {})}

    def _part(self, type_: PaimonType, path: FieldPath, *, is_key: bool = False) -> Json | None:
        """Return an item, key or value: attributes go next to `kind`. A key is not an Option; its map says if it may be null."""
        converted = self._field(type_.required() if is_key else type_, path)
        if converted is None:
            return None
        tree, extra = converted
        return {**tree, "extra": extra} if extra else tree

    def _field(self, type_: PaimonType, path: FieldPath) -> tuple[Json, Json] | None:
        if isinstance(type_, Geo):
            message = f"{dotted(path)}: there is no kind for Paimon's {type_.type_text()}"
            help = f"cast it first, or leave the column out with `--skip '{path[0]}'`"
            self._report.add(UNSUPPORTED_ARROW_TYPE, message, file=self._file, path=dotted(path), help=help)
            return None
        converted = _leaf(type_) if isinstance(type_, Atomic) else self._nested(type_, path)
        if converted is None:
            return None
        tree, extra = converted
        return ({"kind": "Option", "inner": tree} if type_.is_nullable else tree), extra

    def _nested(self, type_: PaimonType, path: FieldPath) -> tuple[Json, Json] | None:
        if isinstance(type_, Row):
            members = [self.member(field, (*path, field.name)) for field in type_.fields]
            return {"kind": "Struct", "fields": [m for m in members if m is not None]}, {}
        inner = {
            part: self._part(child, (*path, part), is_key=part is Part.KEY) for part, child in parts(type_)
        }
        trees = {part: tree for part, tree in inner.items() if tree is not None}
        if len(trees) < len(inner):
            return None
        if isinstance(type_, Multiset | Map):
            key = type_.element if isinstance(type_, Multiset) else type_.key
            extra: Json = {paimon.TYPE.key: "MULTISET"} if isinstance(type_, Multiset) else {}
            if key.is_nullable:
                extra[paimon.NULLABLE_KEY.key] = True
            value = trees.get(Part.VALUE, {"kind": "Int32"})
            return {"kind": "Map", "keyType": trees[Part.KEY], "valueType": value}, extra
        assert isinstance(type_, Array | Vector)
        length = {"fixedLength": type_.length} if isinstance(type_, Vector) else {}
        return {"kind": "List", "itemType": trees[Part.ITEM], **length}, {}


def _leaf(type_: Atomic) -> tuple[Json, Json]:
    """Kind and attributes of a type without parts."""
    return _LEAVES[type_.root](*type_.parameters)


def _plain(kind: str) -> Callable[..., tuple[Json, Json]]:
    return lambda: ({"kind": kind}, {})


def _limited(kind: str, root: str) -> Callable[..., tuple[Json, Json]]:
    """Return a text or bytes; only STRING and BYTES are what a kind says by itself."""

    def convert(length: int) -> tuple[Json, Json]:
        is_plain = root.startswith("VAR") and length == LONGEST
        return {"kind": kind}, {} if is_plain else {paimon.TYPE.key: f"{root}({length})"}

    return convert


def _time(digits: int) -> tuple[Json, Json]:
    # Whatever its precision says, a TIME is stored in milliseconds.
    extra = {} if digits == 3 else {paimon.TYPE.key: f"TIME({digits})"}
    return {"kind": "Time", "unit": "Millisecond"}, extra


def _timestamp(root: str, timezone: str | None) -> Callable[..., tuple[Json, Json]]:
    def convert(digits: int) -> tuple[Json, Json]:
        tree = {"kind": "Timestamp", "unit": _UNITS[-(-digits // 3)], "timezone": timezone}
        return tree, {} if digits % 3 == 0 else {paimon.TYPE.key: f"{root}({digits})"}

    return convert


_LEAVES: dict[str, Callable[..., tuple[Json, Json]]] = {
    "BOOLEAN": _plain("Bool"),
    "TINYINT": _plain("Int8"),
    "SMALLINT": _plain("Int16"),
    "INT": _plain("Int32"),
    "BIGINT": _plain("Int64"),
    "FLOAT": _plain("Float32"),
    "DOUBLE": _plain("Float64"),
    "DATE": _plain("Date"),
    "DECIMAL": lambda precision, scale: ({"kind": "Decimal", "precision": precision, "scale": scale}, {}),
    "CHAR": _limited("String", "CHAR"),
    "VARCHAR": _limited("String", "VARCHAR"),
    "BINARY": _limited("Binary", "BINARY"),
    "VARBINARY": _limited("Binary", "VARBINARY"),
    "TIME": _time,
    "TIMESTAMP": _timestamp("TIMESTAMP", None),
    "TIMESTAMP_LTZ": _timestamp("TIMESTAMP_LTZ", "UTC"),
    "BLOB": lambda: ({"kind": "Binary"}, {paimon.TYPE.key: "BLOB"}),
    "VARIANT": lambda: (
        {
            "kind": "Struct",
            "fields": [{"name": name, "type": {"kind": "Binary"}} for name in ("value", "metadata")],
        },
        {paimon.TYPE.key: "VARIANT"},
    ),
}
"""Kind and attributes by root, given the parameters."""


IMPORTER = Importer("paimon", "Paimon table, or one of its schema files", read)
