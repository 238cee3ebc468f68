"""The changes that one commit makes to an Iceberg table, its properties included, so that it is as a locked schema says.

Layer: engines.
Shape: the whole schema is set at once, under the ids that the table has for fields that stay. A field that is new gets the lock's id where
      the table is numbered so and the id is free, else the next one. What Iceberg refuses is not a plan. Properties that name fields
      follow them: the default name mapping, and the properties of columns, which end with a field's full name. What a schema says of
      properties itself `schemac rename` follows.
Errors: SC411.
Source: `MappingUtil.update` and `MetricsConfig.updateProperties` of Java, `update_mapping` of pyiceberg.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from schemac.engines.iceberg import attributes
from schemac.engines.iceberg.artifact import errors_of, fields_of, requested_format, schema_of
from schemac.engines.iceberg.attributes import COLUMNS, OF_COLUMN
from schemac.engines.iceberg.judge import ROWS
from schemac.engines.iceberg.live_table import IcebergTable
from schemac.engines.iceberg.steps import STEPS, Operation, TableCommit
from schemac.engines.iceberg.types import NAME_MAPPING, IcebergSchema, NestedField, full_name, preorder
from schemac.language.attributes.builtin import DESCRIPTION, TABLE_VERSION
from schemac.language.constraints.rows import ReferenceTo
from schemac.text.source.catalogue import REFUSED_CHANGE
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import listed
from schemac.versions.evolution.changes import Change, Judgement, Outcome
from schemac.versions.evolution.constraints import ConstraintRule, rules_to_check
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import judge_change
from schemac.versions.evolution.table_versions import notes_of, report_refused
from schemac.versions.evolution.tables import Note, has_replaced_fields, report_unrepresentable
from schemac.versions.evolution.version_pair import (
    LockedSchemaVersion,
    SchemaVersion,
    VersionPair,
    pair_versions,
)


def updated_properties(
    properties: Mapping[str, str], old: IcebergSchema, new: IcebergSchema, ids: Mapping[int, int]
) -> tuple[dict[str, str], list[str]]:
    """Return the properties for a new schema, and the names of columns in files without ids that would be read as other fields.

    `ids` are those of the old schema's fields in the new one's numbering.
    """
    after = {field.id: full_name(path) for path, field in new.preorder()}
    names = {full_name(path): after.get(ids[field.id]) for path, field in old.preorder()}
    updated: dict[str, str] = {}
    reassigned: list[str] = []
    for key, value in properties.items():
        start, of_column, name = key.partition(OF_COLUMN)
        if of_column and name in names:
            name_now = names[name]
            if name_now is not None:
                updated[f"{start}{of_column}{name_now}"] = value
        elif key == COLUMNS:
            columns = [names.get(name.strip(), name.strip()) for name in value.split(",")]
            updated[key] = ",".join(name for name in columns if name is not None)
        elif key == NAME_MAPPING and (entries := _parse_name_mapping(value)) is not None:
            mapping, reassigned = _updated_name_mapping(entries, old, new, ids)
            updated[key] = json.dumps(mapping, ensure_ascii=False)
        else:
            updated[key] = value
    return updated, reassigned


def _parse_name_mapping(text: str) -> list[Json] | None:
    """Return the entries of a name mapping; None if the value is not one."""
    try:
        entries: list[Json] = json.loads(text)
    except ValueError:
        return None
    return entries if _are_entries(entries) else None


def _are_entries(value: Any) -> bool:
    """Whether a JSON value is a list of entries of a name mapping, at all levels."""
    return isinstance(value, list) and all(
        isinstance(entry, dict)
        and isinstance(entry.get("names"), list)
        and _are_entries(entry.get("fields", []))
        for entry in value
    )


def _updated_name_mapping(
    mapping: Sequence[Json], old: IcebergSchema, new: IcebergSchema, ids: Mapping[int, int]
) -> tuple[list[Json], list[str]]:
    """Return a mapping with the names of fields that were renamed or added, and those that it gave to other fields; earlier names stay."""
    names = {ids[field.id]: field.name for _, field in old.preorder()}
    reassigned: list[str] = []

    def level(entries: Sequence[Json], fields: Sequence[NestedField], at: tuple[str, ...]) -> list[Json]:
        """Return the entries of one struct and below, after the change of its fields."""
        by_id = {field.id: field for field in fields}
        ids_by_name = {field.name: field.id for field in fields if names.get(field.id) != field.name}
        updated: list[Json] = []
        for entry in entries:
            id = ids.get(entry["field-id"], entry["field-id"]) if "field-id" in entry else None
            lost = [name for name in entry["names"] if ids_by_name.get(name, id) != id]
            reassigned.extend(full_name((*at, name)) for name in lost)
            remaining = [name for name in entry["names"] if name not in lost]
            field = by_id.get(id) if id is not None else None
            if field is not None and field.name in ids_by_name and field.name not in remaining:
                remaining.append(field.name)
            below = field.type.fields if field is not None else ()
            inner = level(entry.get("fields", []), below, (*at, field.name if field is not None else "?"))
            changed = {"names": remaining, **({"fields": inner} if inner else {})}
            updated.append({**entry, **({} if id is None else {"field-id": id}), **changed})
        return [*updated, *_mapping_entries(field for field in fields if field.id not in names)]

    return level(mapping, new.columns, ()), reassigned


def _mapping_entries(fields: Iterator[NestedField]) -> list[Json]:
    """Return the entries of a name mapping for fields and all that are below them."""
    return [
        {
            "field-id": field.id,
            "names": [field.name],
            **({"fields": below} if (below := _mapping_entries(iter(field.type.fields))) else {}),
        }
        for field in fields
    ]


@dataclass(frozen=True)
class IcebergPlan:
    """The commit that brings one table to a new schema, and what it does."""

    table: IcebergTable
    new: LockedSchemaVersion
    commit: TableCommit
    operations: tuple[Operation, ...]
    notes: tuple[Note, ...]
    rules: tuple[ConstraintRule, ...] = ()
    """The constraints that existing rows may break."""

    @property
    def is_done(self) -> bool:
        """Whether there is nothing to do, nor to look at."""
        return not self.operations and not self.unlooked

    def unchecked_rules(self, references: Mapping[str, str]) -> tuple[ConstraintRule, ...]:
        """Return the constraints that refer to a dataset whose table is not named."""
        subjects = [(rule, rule.subject) for rule in self.rules if isinstance(rule.subject, ReferenceTo)]
        return tuple([rule for rule, subject in subjects if subject.dataset not in references])

    @property
    def unlooked(self) -> tuple[Note, ...]:
        """What depends on data, before anybody looks at it; nothing in an empty table."""
        if self.table.metadata.is_empty:
            return ()
        return tuple(note for note in self.notes if note.judgement.outcome is Outcome.DATA)

    def to_json(self) -> Json:
        """Return the plan for programs."""
        return {
            "notes": [note.to_json() for note in self.notes],
            "schema": self.commit.schema.to_json(),
            "steps": [operation.to_json() for operation in self.operations],
        }


def plan_iceberg(table: IcebergTable, new: LockedSchemaVersion, report: Report) -> IcebergPlan | None:
    """Return the plan for a table; None after reporting why there is none."""
    pair = pair_versions(table.schema_version, new)
    if not table.metadata.is_empty and has_replaced_fields(table.name, table.schema_version, new, report):
        return None
    changes, metadata = diff_of(pair), table.metadata
    judged = [(change, judge_change("iceberg", change, pair)) for change in changes]
    bound = [(change, _judge_source_change(table, change, pair)) for change in changes]
    judged += [(change, judgement) for change, judgement in bound if judgement is not None]
    if report_refused("Iceberg", table.name, judged, report):
        return None
    if errors := errors_of(new):
        report_unrepresentable("Iceberg", new, errors, REFUSED_CHANGE, table.name, report)
        return None
    current, requested = metadata.current, schema_of(new)
    of_current = {field.id: field.id for _, field in current.preorder()}
    renumbering: list[Operation] = []
    if metadata.is_empty and not metadata.partition_sources and not table.has_ids_of_lock:
        # No file and no partition refers to its own ids.
        renumbering.append(Operation("renumber", "", "the table is empty, and gets the ids of the lock"))
        of_current = {table_id: id for id, table_id in table.ids.items()}
        current = current.renumbered(of_current)
        ids = {field.id: field.id for _, field in requested.preorder()}
    else:
        ids = ids_in_table(table, requested)
    schema = replace(requested.renumbered(ids), schema_id=current.schema_id)
    properties, names = updated_properties(metadata.properties, metadata.current, schema, of_current)
    if not metadata.is_empty and names:
        of_names = f"the name{'s' * (len(names) > 1)} {listed(names)}"
        message = f"Iceberg: the name mapping of {table.name} gives {of_names} to other fields: files without ids would be read as these"
        help = f"use new names; or remove the property {NAME_MAPPING} if all files have ids"
        report.add(REFUSED_CHANGE, message, file=table.name, help=help)
        return None
    set_, removed = _properties(table, new, properties)
    formats = metadata.format_version, requested_format(new) or 0
    commit = TableCommit(current, schema, *formats, set_, removed)
    operations = (*renumbering, *(operation for step in STEPS for operation in step(commit)))
    notes = notes_of(judged, (Outcome.DATA, Outcome.NEW_FILES))
    doubtful = [change for change, judgement in judged if judgement.outcome is Outcome.DATA]
    rules = () if metadata.is_empty else rules_to_check(pair, doubtful)
    return IcebergPlan(table, new, commit, operations, notes, rules)


def _judge_source_change(table: IcebergTable, change: Change, pair: VersionPair) -> Judgement | None:
    """Return what a table's partitions and sort orders forbid, which are not in a manifest."""
    row = ROWS.get(change.fact)
    field = fields_of(pair.old).get(change.old_field) if change.old_field is not None else None
    if row is None or row.of_source is None or field is None:
        return None
    sources = table.metadata.partition_sources
    if not any(table.ids[inner.id] in sources for _, inner in preorder((field,))):
        return None
    return row.of_source._replace(reason=row.of_source.reason.format(path=change.path))


def ids_in_table(table: IcebergTable, schema: IcebergSchema) -> dict[int, int]:
    """Return ids of all fields, by the lock's, where those that the table has keep theirs."""
    last = table.metadata.last_column_id
    requested = [field.id for _, field in schema.preorder()]
    # An id above the last one was never given, so that no file knows it.
    free = {id for id in requested if id > last and id not in table.ids} if table.has_ids_of_lock else set()
    next_ids = count(max(last, *free) + 1 if free else last + 1)
    return {
        id: table.ids[id] if id in table.ids else id if id in free else next(next_ids) for id in requested
    }


def _properties(
    table: IcebergTable, new: LockedSchemaVersion, after: Mapping[str, str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the properties to set, and the names of those to remove.

    `after` are the table's properties under the names that its fields get. The version is set too where only the user knew it.
    """
    spoken, requested = (requested_properties(version) for version in (table.schema_version, new))
    current = table.metadata.properties
    target = {key: value for key, value in after.items() if key not in spoken} | requested
    if table.is_stated:
        target[TABLE_VERSION] = new.version.table_record
    changed = {key: value for key, value in target.items() if current.get(key) != value}
    return changed, tuple(sorted(key for key in current if key not in target))


def requested_properties(version: SchemaVersion) -> dict[str, str]:
    """Return the table properties of a schema; its description is the comment."""
    extra = version.dataset.schema.extra
    properties = dict(attributes.TABLE_PROPERTIES.read(extra) or {})
    comment = DESCRIPTION.read(extra)
    return properties if comment is None else {**properties, "comment": comment}
