"""A Paimon table as it is: the newest file in its `schema` folder.

Layer: engines.
Shape: the table is that version of the lock whose schema the file holds; its ids are those of the lock, or Paimon's own where the table
      was made from names.
Errors: SC421 unusable-table, SC551.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from schemac.artifacts.targets import Emission
from schemac.engines.paimon import PAIMON_LOSS
from schemac.engines.paimon.artifact import compiled_table_schema
from schemac.engines.paimon.reader import (
    columns_of,
    member_ids,
    members,
    parts,
    read_schema_file,
    schema_files,
)
from schemac.engines.paimon.table_schema import TableSchema, ids_of, number_fields
from schemac.engines.paimon.types import PaimonType, nested_types
from schemac.importers.importer import read_or_report
from schemac.language.attributes.builtin import TABLE_IDS, TABLE_RECORD, TABLE_VERSION
from schemac.language.logical.model import SchemaField, dotted, preorder
from schemac.text.source.catalogue import UNUSABLE_TABLE
from schemac.text.source.diagnostics import Diagnostic, Report
from schemac.versions.evolution.table_versions import LockedTable, TableSchemas
from schemac.versions.evolution.tables import (
    Candidate,
    TableField,
    TableRecord,
    choose_version,
    digest_of_ids,
    field_differences,
    value_difference,
)
from schemac.versions.evolution.version_pair import LockedSchemaVersion, SchemaVersion
from schemac.versions.identity.lock import LockedDataset


def table_schema(schema_version: SchemaVersion) -> TableSchema:
    """Return Paimon's schema of a version; not to be used where there are errors."""
    return schema_version.view(_compiled)[0]


def errors_of(schema_version: SchemaVersion) -> tuple[Diagnostic, ...]:
    """Return the errors of Paimon for a version."""
    return schema_version.view(_compiled)[1]


def paimon_types(schema_version: SchemaVersion) -> Mapping[SchemaField, PaimonType]:
    """Return the type that Paimon has at every field that it knows of: not at the counts of a multiset, nor inside a VARIANT."""
    return schema_version.view(_paimon_types)


def _compiled(schema_version: SchemaVersion) -> tuple[TableSchema, tuple[Diagnostic, ...]]:
    """Return the table schema of a version, and the errors that the conversion reported."""
    report = Report()
    emission = Emission(schema_version.dataset, "paimon", PAIMON_LOSS, report)
    return compiled_table_schema(schema_version.compilation, emission), report.errors


def _paimon_types(schema_version: SchemaVersion) -> Mapping[SchemaField, PaimonType]:
    columns = [column.type for column in table_schema(schema_version).fields]
    return dict(nested_types(schema_version.dataset.columns, columns))


SCHEMAS = TableSchemas(
    schema_of=table_schema,
    errors_of=errors_of,
    ids_of=lambda version: ids_of(version.numbers),
    members=lambda schema: member_ids(schema.fields),
    is_alike=lambda expected, actual: not any(differences(_by_place(expected), _by_place(actual))),
    differences=lambda expected, actual: differences(expected, actual),
    doubt="is not at {}",
    comparison="compared with",
    import_help="start from the table as it is now: schemac import {}",
)


@dataclass(frozen=True)
class PaimonTable(LockedTable):
    """A Paimon table at a locked version; or an imagined one, for a plan without a table."""

    schema: TableSchema
    folder: Path | None
    """Where its schema files are; None for a table that a plan only imagines."""
    is_part: bool = False
    """Whether it has only some fields of that version."""

    @classmethod
    def imagined(cls, schema_version: LockedSchemaVersion) -> "PaimonTable":
        """Return a table of a locked version that has rows, for a plan without a table."""
        schema = table_schema(schema_version)
        return cls(schema_version.label, schema_version, SCHEMAS.ids_between(schema, schema), schema, None)

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
    schema = read_or_report(partial(read_schema_file, files[-1]), path, report)
    if schema is None:
        return None
    number = int(files[-1].name.removeprefix("schema-"))
    return files[-1].parent, schema._replace(schema_id=number)


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
    choose = partial(version_of_table, path, schema, report=report, stated=stated)
    chosen = SCHEMAS.version_in(path, schema, locked, stated, choose, report)
    if chosen is None:
        return None
    expected = table_schema(chosen.version)
    if chosen.has_ids and expected.highest_field_id < schema.highest_field_id:
        used = f"{path} has used ids up to {schema.highest_field_id}"
        message = f"{used}, but the lock of {locked.name} gives some of them to new fields"
        help = SCHEMAS.import_help.format(path)
        report.add(UNUSABLE_TABLE, message, file=path, help=help)
        return None
    ids = SCHEMAS.ids_between(expected, schema)
    is_stated = stated is not None
    return PaimonTable(path, chosen.version, ids, schema, folder, chosen.is_part, is_stated=is_stated)


def version_of_table(
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
        """Return whether a candidate has the table's highest id, and then its number."""
        expected = table_schema(candidate.version)
        is_exact = expected.highest_field_id == schema.highest_field_id
        return (is_exact, expected.schema_id == schema.schema_id)

    same = [c for c in candidates if c.identity == chosen.identity and c.is_part == chosen.is_part]
    return max(same, key=fits)


def _by_place(schema: TableSchema) -> TableSchema:
    """Return a schema with its fields counted, whatever their ids are."""
    return schema.renumbered({id: place for place, (_, id) in enumerate(member_ids(schema.fields))})


def schema_in_table(expected: TableSchema, ids: Mapping[int, int], highest: int) -> TableSchema:
    """Return a schema under the ids that a table has for its fields; new ones get the next ids, in the order of those of the lock."""
    table_ids = dict(ids)
    for _, id in sorted(member_ids(expected.fields), key=lambda member: member[1]):
        if id not in table_ids:
            highest += 1
            table_ids[id] = highest
    renumbered = expected.renumbered(table_ids)
    options = {**renumbered.options, TABLE_IDS: digest_of_ids(id for _, id in member_ids(renumbered.fields))}
    return renumbered._replace(highest_field_id=highest, options=options)


def differences(expected: TableSchema, actual: TableSchema) -> Iterator[str]:
    """Yield how a table's schema differs from what is expected, by ids; nothing if they mean the same."""
    yield from field_differences(_fields(expected), _fields(actual))
    yield from value_difference("the primary key is", actual.primary_keys, expected.primary_keys)
    yield from value_difference("the partition keys are", actual.partition_keys, expected.partition_keys)
    for key in sorted({*expected.options, *actual.options} - TABLE_RECORD):
        values = (table.options.get(key) for table in (actual, expected))
        yield from value_difference(f"the option `{key}` is", *values)
    yield from value_difference("the comment is", actual.comment, expected.comment)
    if expected.highest_field_id != actual.highest_field_id:
        yield f"the highest id is {actual.highest_field_id}, expected {expected.highest_field_id}"


def _fields(schema: TableSchema) -> dict[int, TableField]:
    """Return columns and members by id, as Paimon reads them, with what is compared of each."""
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
        for path, field in members(columns_of(schema))
    }


def _type_text(type_: PaimonType) -> str:
    """Return a type with its parts, but for the members of ROWs, which are fields of their own."""
    inner = [_type_text(child) for _, child in parts(type_)]
    if inner:
        return f"{type_.root}<{', '.join([*inner, *map(str, type_.parameters)])}>{type_.suffix}"
    return f"{type_.root if type_.root == 'ROW' else type_.type_text()}{type_.suffix}"
