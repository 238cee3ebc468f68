"""A Paimon table as it is: the newest file in its `schema` folder.

Layer: engines.
Shape: the table is that version of the lock whose schema the file holds, ids and all; who wrote the file does not matter.
Errors: SC421 unusable-table, SC424 table-drift, SC551.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from schemac.engines.paimon.options import is_true
from schemac.engines.paimon.read import parts
from schemac.engines.paimon.reader import read_schema_file
from schemac.engines.paimon.sources import schema_files
from schemac.engines.paimon.table_schema import TableSchema
from schemac.engines.paimon.types import DataField, PaimonType, Row
from schemac.engines.paimon.view import errors_of, table_schema
from schemac.evolution.tables import report_unrepresentable
from schemac.evolution.version_pair import LockedSchemaVersion, SchemaVersion, locked_schema_version
from schemac.identity.lock import LockedDataset
from schemac.logical.path import FieldPath, dotted
from schemac.source.catalogue import TABLE_DRIFT, UNUSABLE_TABLE
from schemac.source.report import Report


@dataclass(frozen=True)
class PaimonTable:
    """An open table."""

    name: str
    """How it is spoken of."""
    folder: Path | None
    """Where its schema files are; None for a table that a plan only imagines."""
    schema: TableSchema
    schema_version: LockedSchemaVersion
    """The locked version that it is."""

    @classmethod
    def imagined(cls, schema_version: LockedSchemaVersion) -> "PaimonTable":
        """Return a table of a locked version that has rows, for a plan without a table."""
        return cls(schema_version.label, None, table_schema(schema_version), schema_version)

    @property
    def version(self) -> int:
        """The number of the locked version that it is."""
        return self.schema_version.number

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever written to it."""
        return self.folder is not None and not any((self.folder.parent / "snapshot").glob("snapshot-*"))


def newest_schema(path: str, report: Report) -> tuple[Path, TableSchema] | None:
    """Return the newest schema file of a table, and what it says; None after saying what is wrong with it."""
    files = schema_files(Path(path))
    if not files:
        message = f"cannot open {path}: there is no `schema/schema-0` in it, nor a later version"
        report.add(UNUSABLE_TABLE, message, file=path, help="give the folder of a Paimon table")
        return None
    schema = read_schema_file(files[-1], report)
    if schema is None:
        return None
    number = int(files[-1].name.removeprefix("schema-"))
    return files[-1].parent, replace(schema, schema_id=number)


def open_paimon_table(path: str, locked: LockedDataset, report: Report) -> PaimonTable | None:
    """Return the table as one of the locked versions; None after saying why it is none."""
    found = newest_schema(path, report)
    if found is None:
        return None
    folder, schema = found
    versions = [locked_schema_version(locked, version.number) for version in reversed(locked.versions)]
    likely = [
        schema_version
        for schema_version in versions
        if not errors_of(schema_version) and not any(_differences(table_schema(schema_version), schema))
    ]
    if not likely:
        nearest = versions[0]
        lines = [] if errors_of(nearest) else list(differences(table_schema(nearest), schema))
        report.add(
            UNUSABLE_TABLE,
            f"{path} matches no locked version of {locked.name}"
            + (f"; compared with {nearest.label}: {'; '.join(lines[:3])}" if lines else ""),
            file=path,
            help="start from the table as it is now: schemac import " + path,
        )
        return None

    def fits(schema_version: SchemaVersion) -> tuple[bool, bool]:
        is_exact = table_schema(schema_version).highest_field_id == schema.highest_field_id
        return (is_exact, table_schema(schema_version).schema_id == schema.schema_id)

    schema_version = max(likely, key=fits)
    if table_schema(schema_version).highest_field_id < schema.highest_field_id:
        report.add(
            UNUSABLE_TABLE,
            f"{path} has used ids up to {schema.highest_field_id}, but the lock of {locked.name} gives some"
            " of them to new fields",
            file=path,
            help="start from the table as it is now: schemac import " + path,
        )
        return None
    return PaimonTable(path, folder, schema, schema_version)


def is_same(wanted: TableSchema, found: TableSchema) -> bool:
    """Whether two schemas say the same, whoever wrote them and when."""
    return not any(differences(wanted, found))


def report_paimon_drift(path: str, wanted: LockedSchemaVersion, report: Report) -> bool:
    """Report how a table differs from a locked schema; false where the two could not be compared."""
    if errors := errors_of(wanted):
        report_unrepresentable("Paimon", wanted, errors, TABLE_DRIFT, path, report)
        return False
    found = newest_schema(path, report)
    if found is None:
        return False
    for line in differences(table_schema(wanted), found[1]):
        report.add(
            TABLE_DRIFT,
            f"{path}: {line}",
            file=path,
            help="see the steps with `schemac plan --table`, then run `schemac apply`",
        )
    return True


def differences(wanted: TableSchema, found: TableSchema) -> Iterator[str]:
    """How a table's schema differs from what is expected, by ids; nothing where they mean the same."""
    yield from _differences(wanted, found)
    if wanted.highest_field_id != found.highest_field_id:
        yield f"the highest id is {found.highest_field_id}, expected {wanted.highest_field_id}"


def _differences(wanted: TableSchema, found: TableSchema) -> Iterator[str]:
    ours, theirs = (dict(_fields(_with_required_key(table).fields)) for table in (wanted, found))
    for id, (path, _) in ours.items():
        if id not in theirs:
            yield f"`{dotted(path)}` (id {id}) is missing"
    for id, (path, field) in theirs.items():
        if id not in ours:
            yield f"`{dotted(path)}` (id {id}) is not expected"
        else:
            yield from _field_differences(path, field, *ours[id])
    if ours.keys() == theirs.keys() and list(ours) != list(theirs):
        yield f"fields are in another order: {', '.join(dotted(path) for path, _ in theirs.values())}"
    yield from _told("the primary key", found.primary_keys, wanted.primary_keys)
    yield from _told("the partition keys", found.partition_keys, wanted.partition_keys)
    for key in sorted({*wanted.options, *found.options}):
        yield from _told(f"the option `{key}`", found.options.get(key), wanted.options.get(key))
    yield from _told("the comment", found.comment, wanted.comment)


def _field_differences(
    path: FieldPath, found: DataField, wanted_path: FieldPath, wanted: DataField
) -> Iterator[str]:
    name = f"`{dotted(wanted_path)}` (id {wanted.id})"
    if path != wanted_path:
        yield f"{name} has the name `{dotted(path)}`"
    yield from _told(f"{name}: the type", _own(found.type), _own(wanted.type))
    yield from _told(f"{name}: the description", found.description, wanted.description)
    yield from _told(f"{name}: the default value", found.default_value, wanted.default_value)


def _told(what: str, found: Any, wanted: Any) -> Iterator[str]:
    if found != wanted:
        yield f"{what} is {_shown(found)}, expected {_shown(wanted)}"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return "not set" if value is None else f"`{value}`"


def _own(type_: PaimonType) -> str:
    """Return a type with its parts, but for the members of ROWs, which are fields of their own."""
    suffix = "" if type_.is_nullable else " NOT NULL"
    inner = [_own(child) for _, child in parts(type_)]
    length = getattr(type_, "length", None)
    word = type_.root if isinstance(type_, Row) or inner else type_.type_text()
    within = ", ".join([*inner, *([] if length is None else [str(length)])])
    return f"{word}<{within}>{suffix}" if inner else f"{word}{suffix}"


def _with_required_key(table: TableSchema) -> TableSchema:
    """Return the schema as Paimon reads it: columns of the primary key are NOT NULL unless an option says otherwise."""
    if is_true(table.options, "primary-key.nullable"):
        return table
    fields = [
        replace(field, type=field.type.required()) if field.name in table.primary_keys else field
        for field in table.fields
    ]
    return replace(table, fields=tuple(fields))


def _fields(
    fields: tuple[DataField, ...], above: FieldPath = ()
) -> Iterator[tuple[int, tuple[FieldPath, DataField]]]:
    """Columns and members by their ids."""
    for field in fields:
        path = (*above, field.name)
        yield field.id, (path, field)
        yield from _members(field.type, path)


def _members(type_: PaimonType, path: FieldPath) -> Iterator[tuple[int, tuple[FieldPath, DataField]]]:
    if isinstance(type_, Row):
        yield from _fields(type_.fields, path)
    for part, inner in parts(type_):
        yield from _members(inner, (*path, part))
