"""A Paimon table as it is: the newest file in its `schema` folder.

Layer: engines.
Shape: the table is that version of the lock whose schema the file holds; its ids are those of the lock, or Paimon's own where the table
      was made from names.
Errors: SC421 unusable-table, SC424 table-drift, SC551.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from schemac.artifacts.targets import Emission
from schemac.engines.paimon import PAIMON_LOSS
from schemac.engines.paimon.artifact import to_table_schema
from schemac.engines.paimon.options import is_true
from schemac.engines.paimon.reader import member_ids, members, parts, read_schema_file
from schemac.engines.paimon.table_schema import (
    TableSchema,
    highest_of,
    ids_of,
    number_fields,
    schema_files,
    schema_id_of,
)
from schemac.engines.paimon.types import DataField, PaimonType, Row
from schemac.language.attributes.builtin import TABLE_IDS, TABLE_RECORD, TABLE_VERSION
from schemac.language.logical.model import dotted
from schemac.language.logical.schema_fields import SchemaField, preorder
from schemac.text.source.catalogue import TABLE_DRIFT, UNUSABLE_TABLE
from schemac.text.source.diagnostic import Diagnostic, Severity
from schemac.text.source.report import Report
from schemac.versions.evolution.tables import (
    Candidate,
    TableField,
    TableRecord,
    choose_version,
    digest_of_ids,
    field_differences,
    lock_ids,
    report_differences,
    report_unrepresentable,
    state_version,
    value_difference,
)
from schemac.versions.evolution.version_pair import (
    LockedSchemaVersion,
    SchemaVersion,
    locked_schema_version,
    narrowed,
)
from schemac.versions.identity.lock import LockedDataset


class PaimonField(NamedTuple):
    """What Paimon has at a field."""

    type: PaimonType
    field: DataField | None
    """The column or member; None for an item, key or value."""


def table_schema(schema_version: SchemaVersion) -> TableSchema:
    """Return Paimon's schema of a version; not to be used where there are errors."""
    return schema_version.view(_compiled)[0]


def errors_of(schema_version: SchemaVersion) -> tuple[Diagnostic, ...]:
    """Return the errors of Paimon for a version."""
    return schema_version.view(_compiled)[1]


def paimon_fields(schema_version: SchemaVersion) -> Mapping[SchemaField, PaimonField]:
    """Return what Paimon has at every field that it knows of: not at the counts of a multiset, nor inside a VARIANT."""
    return schema_version.view(_paimon_fields)


def _compiled(schema_version: SchemaVersion) -> tuple[TableSchema, tuple[Diagnostic, ...]]:
    report = Report()
    version = schema_version.locked.newest if isinstance(schema_version, LockedSchemaVersion) else None
    ids = ids_of(schema_version.numbers) if isinstance(schema_version, LockedSchemaVersion) else {}
    highest = max([-1 if version is None else highest_of(version), *ids.values()])
    table = to_table_schema(
        schema_version.compilation,
        Emission(schema_version.dataset, "paimon", PAIMON_LOSS, report),
        ids=ids,
        highest=highest,
        schema_id=0 if version is None else schema_id_of(version),
    )
    if version is not None:
        table = table.of_version(version.table_record)
    return table, tuple(d for d in report.diagnostics if d.severity is Severity.ERROR)


def _paimon_fields(schema_version: SchemaVersion) -> Mapping[SchemaField, PaimonField]:
    fields_by_schema_field: dict[SchemaField, PaimonField] = {}

    def enter(schema_field: SchemaField, type_: PaimonType, field: DataField | None) -> None:
        fields_by_schema_field[schema_field] = PaimonField(type_, field)
        fields = type_.fields if isinstance(type_, Row) else (None,) * len(type_.children)
        for child, inner, member in zip(schema_field.children, type_.children, fields, strict=False):
            enter(child, inner, member)

    for schema_field, field in zip(
        schema_version.dataset.columns, table_schema(schema_version).fields, strict=True
    ):
        enter(schema_field, field.type, field)
    return fields_by_schema_field


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
    ids: Mapping[int, int]
    """The table's id of each column and member by the lock's."""
    is_stated: bool = False
    """Whether the user has said which version it is."""
    is_part: bool = False
    """Whether it has only some fields of that version."""

    @classmethod
    def imagined(cls, schema_version: LockedSchemaVersion) -> "PaimonTable":
        """Return a table of a locked version that has rows, for a plan without a table."""
        schema = table_schema(schema_version)
        return cls(schema_version.label, None, schema, schema_version, _ids_between(schema, schema))

    @property
    def version(self) -> int:
        """The number of the locked version that it is."""
        return self.schema_version.number

    @property
    def has_ids_of_lock(self) -> bool:
        """Whether its fields have the ids that the lock gives them."""
        return all(table_id == locked for locked, table_id in self.ids.items())

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever written to it."""
        return self.folder is not None and not any((self.folder.parent / "snapshot").glob("snapshot-*"))


def newest_schema(path: str, report: Report) -> tuple[Path, TableSchema] | None:
    """Return the newest schema file of a table, and its content; None after reporting what is wrong with it."""
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


def open_paimon_table(
    path: str, locked: LockedDataset, report: Report, stated: int | None = None
) -> PaimonTable | None:
    """Return the table as one of the locked versions; None after reporting why it is not one.

    `stated` is the locked version of the table, or of its fields, as given by the user.
    """
    newest = newest_schema(path, report)
    if newest is None:
        return None
    folder, schema = newest
    candidates = candidates_of(schema, locked)
    if stated is not None and not any(c.version.number == stated for c in candidates):
        version = locked_schema_version(locked, stated)
        part = _part_of(version, schema)
        if part is None:
            _report_stranger(path, f"is not at {version.label}", version, schema, locked, report)
            return None
        ids = _ids_between(table_schema(part), schema)
        return PaimonTable(path, folder, schema, part, ids, is_stated=True, is_part=True)
    if not candidates:
        nearest = locked_schema_version(locked, locked.versions[-1].number)
        doubt = f"matches no locked version of {locked.name}"
        _report_stranger(path, doubt, nearest, schema, locked, report)
        return None
    chosen = _chosen(path, schema, candidates, report, stated)
    if chosen is None:
        return None
    expected = table_schema(chosen.version)
    if chosen.has_ids and expected.highest_field_id < schema.highest_field_id:
        report.add(
            UNUSABLE_TABLE,
            f"{path} has used ids up to {schema.highest_field_id}, but the lock of {locked.name} gives some"
            " of them to new fields",
            file=path,
            help="start from the table as it is now: schemac import " + path,
        )
        return None
    ids = _ids_between(expected, schema)
    return PaimonTable(path, folder, schema, chosen.version, ids, is_stated=stated is not None)


def candidates_of(schema: TableSchema, locked: LockedDataset) -> list[Candidate]:
    """Return the versions that have exactly the fields, keys and options of a table, the newest first."""
    ids = member_ids(schema.fields)
    versions = [locked_schema_version(locked, version.number) for version in reversed(locked.versions)]
    return [
        Candidate(version, member_ids(table_schema(version).fields) == ids, lock_ids(version))
        for version in versions
        if _is_like(version, schema)
    ]


def _is_like(version: LockedSchemaVersion, schema: TableSchema) -> bool:
    """Whether a version has exactly the fields, keys and options of a table, whatever their ids are."""
    return not errors_of(version) and not any(
        _differences(_by_place(table_schema(version)), _by_place(schema))
    )


def _chosen(
    path: str, schema: TableSchema, candidates: Sequence[Candidate], report: Report, stated: int | None = None
) -> Candidate | None:
    """Return the candidate that a table is at; of several in which its fields are the same, the one that has its highest id and its number."""
    columns = candidates[0].version.dataset.columns
    fresh = number_fields(columns)[0]
    table_ids = [id for _, id in member_ids(schema.fields)]
    is_fresh = table_ids == [fresh[field] for field in preorder(columns) if field in fresh]
    recorded, digest = (schema.options.get(key) for key in (TABLE_VERSION, TABLE_IDS))
    record = TableRecord(path, recorded, tuple(table_ids), is_fresh, digest, stated=stated)
    chosen = choose_version(record, candidates, report)
    if chosen is None or chosen.version.number == stated or chosen.version.version.is_recorded_as(recorded):
        return chosen

    def fits(candidate: Candidate) -> tuple[bool, bool]:
        expected = table_schema(candidate.version)
        is_exact = expected.highest_field_id == schema.highest_field_id
        return (is_exact, expected.schema_id == schema.schema_id)

    return max([c for c in candidates if c.identity == chosen.identity], key=fits)


def _by_place(schema: TableSchema) -> TableSchema:
    """Return a schema with its fields counted, whatever their ids are."""
    return schema.renumbered({id: place for place, (_, id) in enumerate(member_ids(schema.fields))})


def _ids_between(expected: TableSchema, actual: TableSchema) -> dict[int, int]:
    """Return the table's ids by those of the lock; both schemas have to have the same fields."""
    pairs = zip(member_ids(expected.fields), member_ids(actual.fields), strict=True)
    return {ours: theirs for (_, ours), (_, theirs) in pairs}


def _part_of(version: LockedSchemaVersion, schema: TableSchema) -> LockedSchemaVersion | None:
    """Return a version with the table's fields alone; None if it lacks one of them or has it with another type."""
    if errors_of(version):
        return None
    paths = [path for path, _ in member_ids(schema.fields)]
    there = {path for path, _ in member_ids(table_schema(version).fields)}
    if not there.issuperset(paths):
        return None
    narrowed_version = narrowed(version, paths)
    return narrowed_version if _is_like(narrowed_version, schema) else None


def _report_stranger(
    path: str,
    doubt: str,
    nearest: LockedSchemaVersion,
    schema: TableSchema,
    locked: LockedDataset,
    report: Report,
) -> None:
    versions = [locked_schema_version(locked, version.number) for version in reversed(locked.versions)]
    whole = next((version for version in versions if _part_of(version, schema) is not None), None)
    help = f"start from the table as it is now: schemac import {path}"
    if whole is not None:
        help = f"if all of its fields are those of {whole.label}, confirm it: {state_version(path, whole)}"
    lines = [] if errors_of(nearest) else list(differences(table_schema(nearest), schema))
    report.add(
        UNUSABLE_TABLE,
        f"{path} {doubt}" + (f"; compared with {nearest.label}: {'; '.join(lines[:3])}" if lines else ""),
        file=path,
        help=help,
    )


def schema_in_table(expected: TableSchema, ids: Mapping[int, int], highest: int) -> TableSchema:
    """Return a schema under the ids that a table has for its fields; new ones get the next ids, in the order of those of the lock."""
    table_ids = dict(ids)
    for _, id in sorted(member_ids(expected.fields), key=lambda member: member[1]):
        if id not in table_ids:
            highest += 1
            table_ids[id] = highest
    renumbered = expected.renumbered(table_ids)
    options = {**renumbered.options, TABLE_IDS: digest_of_ids(id for _, id in member_ids(renumbered.fields))}
    return replace(renumbered, highest_field_id=highest, options=options)


def is_same(expected: TableSchema, actual: TableSchema) -> bool:
    """Whether two schemas are equal, apart from their time and writer."""
    return not any(differences(expected, actual))


def report_paimon_drift(
    path: str, version: LockedSchemaVersion, report: Report, locked: LockedDataset | None = None
) -> bool:
    """Report how a table differs from a locked schema; false if the two could not be compared.

    `locked` has all the versions that the table may have; without it, those up to the one that is compared.
    """
    if errors := errors_of(version):
        report_unrepresentable("Paimon", version, errors, TABLE_DRIFT, path, report)
        return False
    newest = newest_schema(path, report)
    if newest is None:
        return False
    schema, expected = newest[1], table_schema(version)
    candidates = candidates_of(schema, locked or version.locked)
    chosen = _chosen(path, schema, candidates, report) if candidates else None
    if candidates and chosen is None:
        return False
    if chosen is not None and not chosen.has_ids:
        ids = _ids_between(table_schema(chosen.version), schema)
        expected = schema_in_table(expected, ids, schema.highest_field_id)
    if chosen is not None and lock_ids(chosen.version) == lock_ids(version):
        # A table that was made at this version never had the fields that were dropped before.
        highest = min(expected.highest_field_id, schema.highest_field_id)
        expected = replace(expected, highest_field_id=highest)
    report_differences(path, differences(expected, schema), report)
    return True


def differences(expected: TableSchema, actual: TableSchema) -> Iterator[str]:
    """How a table's schema differs from what is expected, by ids; nothing where they mean the same."""
    yield from _differences(expected, actual)
    if expected.highest_field_id != actual.highest_field_id:
        yield f"the highest id is {actual.highest_field_id}, expected {expected.highest_field_id}"


def _differences(expected: TableSchema, actual: TableSchema) -> Iterator[str]:
    yield from field_differences(_fields(expected), _fields(actual))
    yield from value_difference("the primary key is", actual.primary_keys, expected.primary_keys)
    yield from value_difference("the partition keys are", actual.partition_keys, expected.partition_keys)
    for key in sorted({*expected.options, *actual.options} - TABLE_RECORD):
        values = (table.options.get(key) for table in (actual, expected))
        yield from value_difference(f"the option `{key}` is", *values)
    yield from value_difference("the comment is", actual.comment, expected.comment)


def _fields(schema: TableSchema) -> dict[int, TableField]:
    return {
        field.id: TableField(
            dotted(path),
            f"`{dotted(path)}` (id {field.id})",
            {
                "the type is": _type_text(field.type),
                "the description is": field.description,
                "the default value is": field.default_value,
            },
        )
        for path, field in members(_with_required_key(schema).fields)
    }


def _type_text(type_: PaimonType) -> str:
    """Return a type with its parts, but for the members of ROWs, which are fields of their own."""
    suffix = "" if type_.is_nullable else " NOT NULL"
    inner = [_type_text(child) for _, child in parts(type_)]
    length = getattr(type_, "length", None)
    word = type_.root if isinstance(type_, Row) or inner else type_.type_text()
    within = ", ".join([*inner, *([] if length is None else [str(length)])])
    return f"{word}<{within}>{suffix}" if inner else f"{word}{suffix}"


def _with_required_key(table: TableSchema) -> TableSchema:
    """Return the schema as Paimon reads it: primary key columns are NOT NULL unless an option says otherwise."""
    if is_true(table.options, "primary-key.nullable"):
        return table
    fields = [
        replace(field, type=field.type.required()) if field.name in table.primary_keys else field
        for field in table.fields
    ]
    return replace(table, fields=tuple(fields))
