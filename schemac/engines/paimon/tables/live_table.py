"""A Paimon table as it is: the newest file in its `schema` folder.

Layer: engines.
Shape: the table is that version of the lock whose schema the file holds; its ids are those of the lock, or Paimon's own where the
       table was made from names.
Errors: SC421 unusable-table, SC424 table-drift, SC551.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from schemac.attributes.own import TABLE_IDS, TABLE_RECORD, TABLE_VERSION
from schemac.engines.paimon.numbering import number_fields
from schemac.engines.paimon.options import is_true
from schemac.engines.paimon.read import member_ids, parts
from schemac.engines.paimon.reader import read_schema_file
from schemac.engines.paimon.sources import schema_files
from schemac.engines.paimon.table_schema import TableSchema
from schemac.engines.paimon.types import DataField, PaimonType, Row
from schemac.engines.paimon.view import errors_of, table_schema
from schemac.evolution.table_version import (
    Candidate,
    TableRecord,
    choose_version,
    digest_of_ids,
    lock_ids,
    state_version,
)
from schemac.evolution.tables import report_unrepresentable
from schemac.evolution.version_pair import LockedSchemaVersion, locked_schema_version, narrowed
from schemac.identity.lock import LockedDataset
from schemac.logical.path import FieldPath, dotted
from schemac.logical.slots import preorder
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
        return all(own == locked for locked, own in self.ids.items())

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


def open_paimon_table(
    path: str, locked: LockedDataset, report: Report, stated: int | None = None
) -> PaimonTable | None:
    """Return the table as one of the locked versions; None after saying why it is none.

    `stated` is the locked version that it has, or that its fields are of, as the user says.
    """
    found = newest_schema(path, report)
    if found is None:
        return None
    folder, schema = found
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
    wanted = table_schema(chosen.version)
    if chosen.has_ids and wanted.highest_field_id < schema.highest_field_id:
        report.add(
            UNUSABLE_TABLE,
            f"{path} has used ids up to {schema.highest_field_id}, but the lock of {locked.name} gives some"
            " of them to new fields",
            file=path,
            help="start from the table as it is now: schemac import " + path,
        )
        return None
    ids = _ids_between(wanted, schema)
    return PaimonTable(path, folder, schema, chosen.version, ids, is_stated=stated is not None)


def candidates_of(schema: TableSchema, locked: LockedDataset) -> list[Candidate]:
    """Return the versions that have exactly the fields, keys and options of a table, the newest first."""
    found = []
    here = _by_place(schema)
    for number in [version.number for version in reversed(locked.versions)]:
        version = locked_schema_version(locked, number)
        wanted = table_schema(version)
        if not errors_of(version) and not any(_differences(_by_place(wanted), here)):
            has_ids = member_ids(wanted.fields) == member_ids(schema.fields)
            found.append(Candidate(version, has_ids, lock_ids(version)))
    return found


def _chosen(
    path: str, schema: TableSchema, candidates: Sequence[Candidate], report: Report, stated: int | None = None
) -> Candidate | None:
    """Return the candidate that a table is at; of several in which its fields are the same, the one that has its highest id and its number."""
    columns = candidates[0].version.dataset.columns
    fresh = number_fields(columns)[0]
    own = [id for _, id in member_ids(schema.fields)]
    is_fresh = own == [fresh[slot] for slot in preorder(columns) if slot in fresh]
    recorded, digest = (schema.options.get(key) for key in (TABLE_VERSION, TABLE_IDS))
    record = TableRecord(path, recorded, tuple(own), is_fresh, digest, stated)
    chosen = choose_version(record, candidates, report)
    if chosen is None or chosen.version.number == stated or str(chosen.version.number) == recorded:
        return chosen

    def fits(candidate: Candidate) -> tuple[bool, bool]:
        wanted = table_schema(candidate.version)
        is_exact = wanted.highest_field_id == schema.highest_field_id
        return (is_exact, wanted.schema_id == schema.schema_id)

    return max([c for c in candidates if c.identity == chosen.identity], key=fits)


def _by_place(schema: TableSchema) -> TableSchema:
    """Return a schema with its fields counted, whatever their ids are."""
    return schema.renumbered({id: place for place, (_, id) in enumerate(member_ids(schema.fields))})


def _ids_between(wanted: TableSchema, found: TableSchema) -> dict[int, int]:
    """Return the table's ids by those of the lock; both schemas have to have the same fields."""
    pairs = zip(member_ids(wanted.fields), member_ids(found.fields), strict=True)
    return {ours: theirs for (_, ours), (_, theirs) in pairs}


def _part_of(version: LockedSchemaVersion, schema: TableSchema) -> LockedSchemaVersion | None:
    """Return a version with the fields of a table alone; None where it does not have one of them as it is in the table."""
    if errors_of(version):
        return None
    paths = [path for path, _ in member_ids(schema.fields)]
    there = {path for path, _ in member_ids(table_schema(version).fields)}
    if not there.issuperset(paths):
        return None
    found = narrowed(version, paths)
    is_same = not errors_of(found) and not any(
        _differences(_by_place(table_schema(found)), _by_place(schema))
    )
    return found if is_same else None


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
        help = f"if all of its fields are those of {whole.label}, say it: {state_version(path, whole)}"
    lines = [] if errors_of(nearest) else list(differences(table_schema(nearest), schema))
    report.add(
        UNUSABLE_TABLE,
        f"{path} {doubt}" + (f"; compared with {nearest.label}: {'; '.join(lines[:3])}" if lines else ""),
        file=path,
        help=help,
    )


def schema_in_table(wanted: TableSchema, ids: Mapping[int, int], highest: int) -> TableSchema:
    """Return a schema under the ids that a table has for its fields; new ones get the next ids, in the order of those of the lock."""
    found = dict(ids)
    for _, id in sorted(member_ids(wanted.fields), key=lambda member: member[1]):
        if id not in found:
            highest += 1
            found[id] = highest
    own = wanted.renumbered(found)
    options = {**own.options, TABLE_IDS: digest_of_ids(id for _, id in member_ids(own.fields))}
    return replace(own, highest_field_id=highest, options=options)


def is_same(wanted: TableSchema, found: TableSchema) -> bool:
    """Whether two schemas say the same, whoever wrote them and when."""
    return not any(differences(wanted, found))


def report_paimon_drift(
    path: str, wanted: LockedSchemaVersion, report: Report, locked: LockedDataset | None = None
) -> bool:
    """Report how a table differs from a locked schema; false where the two could not be compared.

    `locked` has all the versions that the table may have; without it, those up to the one that is compared.
    """
    if errors := errors_of(wanted):
        report_unrepresentable("Paimon", wanted, errors, TABLE_DRIFT, path, report)
        return False
    found = newest_schema(path, report)
    if found is None:
        return False
    schema, expected = found[1], table_schema(wanted)
    candidates = candidates_of(schema, locked or wanted.locked)
    chosen = _chosen(path, schema, candidates, report) if candidates else None
    if candidates and chosen is None:
        return False
    if chosen is not None and not chosen.has_ids:
        ids = _ids_between(table_schema(chosen.version), schema)
        expected = schema_in_table(expected, ids, schema.highest_field_id)
    if chosen is not None and lock_ids(chosen.version) == lock_ids(wanted):
        # A table that was made at this version never had the fields that were dropped before.
        highest = min(expected.highest_field_id, schema.highest_field_id)
        expected = replace(expected, highest_field_id=highest)
    for line in differences(expected, schema):
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
    for key in sorted({*wanted.options, *found.options} - TABLE_RECORD):
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
