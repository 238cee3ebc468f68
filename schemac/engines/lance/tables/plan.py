"""The steps from a Lance table as it is to a locked schema.

Layer: engines.
Shape: checks first, then what is written into new files, then one commit that puts all new fields into the table at once, then one for
names and nullability, then indices. Whatever is done already is seen in the table itself, so that the plan of an interrupted run is what
remains of it. A `Merge` puts the new fields into the table; Lance refuses it if any row was written since the version that they were made
of. It can neither rename fields nor change whether they may be null, so a `Project` does that afterwards.
Source: what pylance 14.0.2 takes and refuses (`tests/tables/test_interruptions.py`); since storage version 2.1 a struct has no data of its
own: where none of its members has any in a file, all its values there are null.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, islice
from types import MappingProxyType
from typing import TypeVar

from schemac.engines.lance import LANCE_STORAGE_VERSION
from schemac.engines.lance import attributes as lance
from schemac.engines.lance import judge as engine
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.artifact import to_message
from schemac.engines.lance.fields import NAME, lance_ids, number_fields, words
from schemac.engines.lance.tables.checks import (
    checks,
    is_cast,
    pair_by_ids,
    report_pointless_rounding,
    rule_checks,
    stages,
)
from schemac.engines.lance.tables.convert import is_named
from schemac.engines.lance.tables.fields import differences, in_preorder
from schemac.engines.lance.tables.live_table import (
    LanceTable,
    can_store,
    has_rows,
    help_for_stranger,
    limits_of,
)
from schemac.engines.lance.tables.steps import MARK, REWRITE, SET_SCHEMA, SWAP_IN, Step, TableIndex, ids_text
from schemac.engines.lance.transactions import lance_schema
from schemac.language.attributes.attribute import Family
from schemac.language.attributes.builtin import CLOCK_ZONE, TABLE_IDS
from schemac.language.constraints.rows import row_constraints
from schemac.language.logical.facts import Fact
from schemac.language.logical.model import SchemaField, preorder, type_text_of
from schemac.rows.validation.stored import report_unknown_references
from schemac.text.source.catalogue import REFUSED_CHANGE, UNUSABLE_TABLE
from schemac.text.source.diagnostics import WHOLE_FILE, Report
from schemac.versions.evolution.changes import METADATA, TYPE_FACTS, Change, Judgement, Outcome
from schemac.versions.evolution.constraints import loss_of_key, rules_to_check
from schemac.versions.evolution.diff import clock_of, diff_of
from schemac.versions.evolution.judge import judge_change
from schemac.versions.evolution.table_versions import Judged
from schemac.versions.evolution.tables import digest_of_ids, has_replaced_fields
from schemac.versions.evolution.version_pair import LockedSchemaVersion, LockedVersionPair
from schemac.versions.identity.lock import Former, Numbers, Old

_S = TypeVar("_S", bound=Step)


@dataclass(frozen=True)
class Layout:
    """The fields that a table has, the schema that it gets, and what has to be written for that."""

    table: LanceTable
    pair: LockedVersionPair
    """The table's schema and the new one."""
    field_ids: Mapping[SchemaField, Numbers]
    """The ids of the fields of the new version in this table."""

    @classmethod
    def for_table(cls, table: LanceTable, pair: LockedVersionPair) -> "Layout":
        """Return the layout for a table; in files of storage version 2.0 some fields need other ids."""
        layout = cls(table, pair, field_ids_for(table, pair.new))
        if (table.storage_version or "2.1") >= "2.1":
            return layout
        # Version 2.0 lists structs and lists among the fields of each file, and Lance lets none stand in two of them.
        parts = {
            field.column
            for ids in table.ids_in_fragments
            for field in layout.roots(ids)
            if field.parent is not None
        }
        renewed = dict(layout.field_ids)
        used = (id for ids in renewed.values() for id in lance_ids(ids))
        unused = count(max([table.highest_id, *used]) + 1)
        for field in preorder([column for column in pair.new.dataset.columns if column in parts]):
            ids = tuple(islice(unused, len(lance_ids(renewed[field]))))
            renewed[field] = renewed[field].with_value(NAME, ids)
        return replace(layout, field_ids=renewed)

    @cached_property
    def target(self) -> pb.Schema:
        """What the table's schema is afterwards."""
        message = to_message(self.pair.new.lowered, self.field_ids)
        numbers = self.pair.new.numbers
        if any(lance_ids(ids) != lance_ids(numbers[field]) for field, ids in self.field_ids.items()):
            digest = digest_of_ids(field.id for field in in_preorder(message.fields))
            message.metadata[TABLE_IDS] = digest.encode()
        if self.table.dataset is not None and lance.STORAGE_VERSION.key not in self.table.metadata:
            # The files say it themselves.
            message.metadata.pop(lance.STORAGE_VERSION.key, None)
        return message

    @cached_property
    def kept_ids(self) -> frozenset[int]:
        """The ids of the present fields that hold values."""
        return frozenset(field.id for field in self.table.fields) - self.table.stale

    @cached_property
    def new(self) -> tuple[SchemaField, ...]:
        """The outermost fields that the table does not have yet, in the order of their ids."""
        fields: list[SchemaField] = []
        for field in preorder(self.pair.new.dataset.columns):
            ids = self.ids(field)
            above = self.ids(field.parent) if field.parent is not None else ()
            if ids and ids[0] not in self.kept_ids and (not above or above[0] in self.kept_ids):
                fields.append(field)
        return tuple(sorted(fields, key=lambda field: self.ids(field)[0]))

    @cached_property
    def written(self) -> tuple[SchemaField, ...]:
        """The new fields that get values of other fields; they are written with all below them."""
        return tuple(field for field in self.new if self._has_values(field))

    @cached_property
    def added(self) -> tuple[SchemaField, ...]:
        """The new fields that are null in all rows."""
        return tuple(field for field in self.new if not self._has_values(field))

    def ids(self, field: SchemaField) -> tuple[int, ...]:
        """Return Lance's ids of the nodes that a field owns."""
        return lance_ids(self.field_ids[field])

    def ids_below(self, field: SchemaField) -> tuple[int, ...]:
        """Return Lance's ids of a field and of all below it, in pre-order."""
        return tuple(id for inner in preorder([field]) for id in self.ids(inner))

    def ids_with_ancestors(self, field: SchemaField) -> tuple[int, ...]:
        """Return the ids from a field's column down to it, and of all below it, in pre-order."""
        return (*(id for above in field.chain[:-1] for id in self.ids(above)), *self.ids_below(field))

    def roots(self, data: Collection[int]) -> tuple[SchemaField, ...]:
        """Return the fields that have to be written for a fragment whose files have data of these ids."""
        chosen: list[SchemaField] = []
        for column in self.pair.new.dataset.columns:
            self._stores_nulls(column, data, chosen)
        return (*self.written, *chosen)

    @cached_property
    def interim_fields(self) -> list[pb.Field]:
        """The fields between the two commits: kept ones as they are, new ones as they will be, in their new order.

        A new field whose name is still taken has a reserved name.
        """
        now = {field.id: field for field in self.table.fields}
        remaining_names = {(f.parent_id, now[f.id].name) for f in self.target.fields if f.id in now}
        # Lance gives the name of a field that goes only to one that all files have data of.
        there = {(f.parent_id, f.name) for f in self.table.fields}
        empty = {self.ids(schema_field)[0] for schema_field in self.added}
        interim_fields = []
        for field in self.target.fields:
            taken = there if field.id in empty else remaining_names
            copy = pb.Field()
            copy.CopyFrom(now.get(field.id, field))
            if field.id in self.table.stale:
                # The values come anew, but Lance lets a field keep nothing but its name.
                copy.CopyFrom(field)
                copy.name = now[field.id].name
            elif field.id not in now and (field.parent_id, field.name) in taken:
                copy.name = f"{MARK}{field.id}"
            interim_fields.append(copy)
        return interim_fields

    def fits_files(self, report: Report) -> bool:
        """Whether data files of the table's storage version can hold the new fields; if not, that is reported."""
        if self.table.storage_version is None:
            return True
        if self.table.storage_version < "2.0" and self.new:
            message = f"the data files of {self.table.name} have storage version {self.table.storage_version}, and Lance cannot add columns to such a table"
            help = "copy the table into a new one: lance.write_dataset(lance.dataset(old), new)"
            path = self.new[0].path_text
            report.add(LANCE_STORAGE_VERSION, message, file=self.table.name, path=path, help=help)
            return False
        new = {field.path_text for root in self.new for field in preorder([root])}
        errors = [d for d in limits_of(self.pair.new, self.table.storage_version) if d.path in new]
        report.extend(errors)
        return not errors

    def field_steps(self) -> Iterator[Step]:
        """Yield one step for each field that is written, and one for all fields that are added without data."""
        roots = list(dict.fromkeys(field for ids in self.table.ids_in_fragments for field in self.roots(ids)))
        for field in sorted(roots or self.written, key=lambda field: self.ids(field)[0]):
            before = self.pair.before.get(field)
            after, ids = type_text_of(field), ids_text(self.ids_below(field))
            if field not in self.written:
                description = f"{after} is written with nulls, so that the files show in which rows its struct or list is null; id {ids}"
            else:
                was = type_text_of(before) if before is not None else "nothing"
                old_ids = lance_ids(self.pair.old.numbers[before]) if before is not None else ()
                ids = f"{ids_text(old_ids)} → {ids}" if old_ids else ids
                description = f"{was} → {after}, written into new files; id {ids}"
            yield Step(REWRITE, field.path_text, description, Outcome.REWRITE)
        added = [field for field in self.added if field not in roots]
        if added:
            titles = ", ".join(field.path_text for field in added)
            ids = ids_text([id for field in added for id in self.ids_below(field)])
            yield Step("add", titles, f"existing rows read as null; id {ids}; no data is written")

    def dropped_indices(self) -> Iterator[Step]:
        """Yield a step for each index that the commits drop together with its field."""
        for index in self.table.indices:
            if self.is_dropped(index):
                is_rebuilt = self.path_in_target(index) is not None
                again = "it is rebuilt at the end" if is_rebuilt else "its field is dropped"
                yield Step("drop index", index.path, f"{index.type} index {index.name}; {again}")

    def built_indices(self) -> Iterator[Step]:
        """Yield a step for each index that is built again, because this plan or an interrupted run dropped it."""
        for index in (*filter(self.is_dropped, self.table.indices), *self.table.dropped_indices):
            path = self.path_in_target(index)
            if path is not None:
                description, lost = f"{index.type} index {index.name}", ", ".join(index.lost)
                if lost:
                    description += f"; its settings {lost} are lost, because schemac does not know them"
                yield Step("build index", path, description, Outcome.REWRITE, replace(index, path=path))

    def commits(self, changes: Sequence[Change], *, is_data: bool) -> Iterator[Step]:
        """Yield the step that commits the new fields if there is data, and the step that commits the rest of the schema."""
        new = {field for root in self.new for field in preorder([root])}
        swapped = [c for c in changes if is_data and (c.new_field in new or c.fact is Fact.FIELD_DROPPED)]
        if is_data:
            what = "one commit, unless rows were written since they were made"
            yield Step(SWAP_IN, "the new fields", "; ".join((what, *_details(swapped, self.pair))))
        version = self.pair.new.version
        is_recorded = self.table.stated is None or version.is_recorded_as(self.table.recorded)
        fields = self.interim_fields if is_data else self.table.fields
        is_other = list(self.target.fields) != list(fields)
        if self.table.dataset is not None:
            schema, metadata = lance_schema(fields, self.table.metadata), self.target.metadata
            is_other = bool(differences(self.target.fields, schema, metadata=metadata))
        if is_other or not (is_recorded or is_data):
            rest = _details((c for c in changes if c not in swapped), self.pair)
            # In the commit of the data, others still have the names of some added fields.
            marked = {field.id for field in self.interim_fields if field.name.startswith(MARK)}
            late = [field.path_text for field in self.added if self.ids(field)[0] in marked]
            final_names = [f"gives {path} its final name" for path in late]
            recorded = [] if is_recorded else [f"sets the recorded version to {version.number}"]
            done = "; ".join((*rest, *final_names, *recorded)) or "metadata"
            yield Step(SET_SCHEMA, "the schema", f"one commit, no data is rewritten: {done}")

    def is_dropped(self, index: TableIndex) -> bool:
        """Whether an index goes with its field: Lance drops it in the commit that takes the field away."""
        gone = {field.id for field in self.table.fields} - {field.id for field in self.target.fields}
        return any(self.table.lock_ids.get(id) == index.field_id for id in gone)

    def path_in_target(self, index: TableIndex) -> str | None:
        """Return the path of the indexed field in the new schema; None if the field is dropped."""
        field = self.pair.new.by_id.get(index.field_id)
        return field.path_text if field is not None else None

    def _has_values(self, field: SchemaField) -> bool:
        return engine.has_values(field, self.pair) or not self.table.stale.isdisjoint(self.ids_below(field))

    def _stores_nulls(self, field: SchemaField, data: Collection[int], chosen: list[SchemaField]) -> bool:
        """Return whether the files will store where a field is null; add a field below it to `chosen` if nothing else does."""
        ids = self.ids(field)
        if field in self.written:
            return True
        if not self._has_no_data(field):
            return any(id in data for id in self.ids_below(field))
        carried = [self._stores_nulls(child, data, chosen) for child in field.children if self.ids(child)]
        if any(carried) or not ids or ids[0] not in self.kept_ids:
            return any(carried)
        below = {ids[0]}
        for now in self.table.fields:
            if now.parent_id in below:
                below.add(now.id)
        if not any(id in data for id in below - {ids[0]}):
            return False
        chosen.append(self._first_writable_below(field))
        return True

    def _has_no_data(self, field: SchemaField) -> bool:
        """Whether a field has no data of its own: a struct, or a list of variable length."""
        is_open = field.type.family in (Family.STRUCT, Family.LIST) and not lance.is_packed(field.extra)
        return is_open and any(map(self.ids, field.children))

    def _first_writable_below(self, field: SchemaField) -> SchemaField:
        """Return the first field below a field that can be written by itself."""
        children = [child for child in field.children if self.ids(child)]
        child = children[0]
        is_in_table = self.ids(child)[0] in self.kept_ids
        return self._first_writable_below(child) if is_in_table and self._has_no_data(child) else child


@dataclass(frozen=True)
class LancePlan(Layout):
    """The steps that bring one table to a new schema."""

    stages: tuple[LockedVersionPair, ...]
    """The version pairs that the values go through, from the table's types to the new ones."""
    changes: tuple[Change, ...]
    steps: tuple[Step, ...]
    rounded: frozenset[str]
    """The fields whose values may be rounded."""
    references: Mapping[str, str]
    """The tables of datasets that are referred to, as far as they are named."""

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return not self.steps

    def of(self, kind: type[_S]) -> list[_S]:
        """Return the steps of one kind."""
        return [step for step in self.steps if isinstance(step, kind)]

    def titles(self, verb: str) -> list[str]:
        """Return what the steps with a verb are about."""
        return [step.title for step in self.steps if step.verb == verb]


def plan(
    table: LanceTable,
    new: LockedSchemaVersion,
    report: Report,
    rounded: frozenset[str] = frozenset(),
    references: Mapping[str, str] = MappingProxyType({}),
) -> LancePlan | None:
    """Return the plan for a table; None after reporting why there is none."""
    if table.unknown:
        assert table.locked is not None
        message = f"{table.name} has fields that the lock does not know: {', '.join(table.unknown)}"
        help = help_for_stranger(table.name, table.schema_version, table.locked)
        report.add(UNUSABLE_TABLE, message, file=table.name, help=help)
        return None
    is_filled = has_rows(table, report) if can_store(new, report) else None
    if is_filled is None or (
        is_filled and has_replaced_fields(table.name, table.schema_version, new, report)
    ):
        return None
    pair = pair_by_ids(table.with_recorded_constraints, new)
    ways, changes = stages(pair, table.version), diff_of(pair)
    judged = list(_judged(pair, ways, changes)) if is_filled else []
    _report_refused(table, pair, judged, report)
    report_pointless_rounding(rounded, ways, report)
    constraints = row_constraints(new.dataset.schema.extra, new.dataset.columns)
    report_unknown_references(constraints, references, table.name, report)
    if report.has_errors:
        return None
    layout = Layout.for_table(table, pair)
    if not layout.fits_files(report):
        return None
    doubtful = [change for change, judgement in judged if judgement.outcome is Outcome.DATA]
    altered = rules_to_check(pair, doubtful, lambda field: is_filled and is_named(field, rounded))
    fields = list(layout.field_steps())
    steps = (
        *checks(pair, ways, judged, rounded),
        *rule_checks(altered, pair, references),
        *fields,
        *layout.dropped_indices(),
        *layout.commits(changes, is_data=bool(fields)),
        *layout.built_indices(),
    )
    return LancePlan(table, pair, layout.field_ids, ways, changes, steps, rounded, references)


def _report_refused(table: LanceTable, pair: LockedVersionPair, judged: Judged, report: Report) -> None:
    """Report each change that Lance refuses, and that of a key."""
    for change, judgement in judged:
        if judgement.outcome is Outcome.REFUSED:
            place, message = change.new_location, f"{change}: {judgement.reason}"
            file, region = (place.file, place.region) if place else (table.name, WHOLE_FILE)
            report.add(
                REFUSED_CHANGE, message, file=file, at=region, path=change.path, help=judgement.way_out
            )
    key = engine.key_judgement(None, pair)
    if key.outcome is Outcome.REFUSED and not report.has_errors:
        # A table without rows has a key as well, and no change of a field may tell of it.
        report.add(REFUSED_CHANGE, f"{table.name}: {key.reason}", file=table.name, help=key.way_out)


def _judged(
    pair: LockedVersionPair, ways: Sequence[LockedVersionPair], changes: Sequence[Change]
) -> Iterator[tuple[Change, Judgement]]:
    """Yield Lance's verdict on each change; if a type changed more than once, on each of these changes."""
    for change in changes:
        if len(ways) == 1 or change.fact not in TYPE_FACTS:
            yield change, judge_change("lance", change, pair)
    for way in ways if len(ways) > 1 else ():
        for change in diff_of(way):
            if change.fact not in TYPE_FACTS:
                continue
            old, new = change.fields
            judgement = judge_change("lance", change, way)
            # What is said is about the field that this one becomes in the end.
            last = pair.new.by_id.get(way.new.ids[new])
            if last is not None and last.type.kind != new.type.kind and clock_of(old, new) is None:
                # The field cannot have the attribute any more that would declare the clock.
                judgement = judgement._replace(
                    way_out=f"lock a version in which {last.path_text} is {new.type.type_text()} again and has the clock's zone"
                    f" as `{CLOCK_ZONE.key}` under its `extra:`; then lock this schema again"
                )
            before = pair.before.get(last) if last is not None else None
            yield replace(change, new_field=last, old_field=before), judgement


def _details(changes: Iterable[Change], pair: LockedVersionPair) -> Iterator[str]:
    """Yield one line for each change that has a text, and at the end one for all others together."""
    other = engine.VerdictRow(METADATA)
    details = [(change, engine.ROWS.get(change.fact, other).detail) for change in changes]
    for change, detail in details:
        if detail not in ("", other.detail):
            yield detail.format(path=change.path, old=change.old, new=change.new)
        if change.fact is Fact.FIELD_DROPPED and change.old_field is not None:
            yield from filter(None, [loss_of_key(change.old_field, pair)])
    if any(detail == other.detail for _, detail in details):
        yield other.detail


def field_ids_for(table: LanceTable, new: LockedSchemaVersion) -> Mapping[SchemaField, Numbers]:
    """Return the numbers that the table's fields are to have: those of the lock, unless the table has others already."""
    if table.unknown:
        # No plan is made for such a table; by the lock's numbers one sees which fields are called otherwise.
        return new.numbers
    pair = pair_by_ids(table.schema_version, new)
    there = {field.id for field in table.fields}
    fresh = {id for ids in new.numbers.values() for id in lance_ids(ids)} - there
    if not table.has_different_ids and all(id > table.highest_id for id in fresh):
        return new.numbers
    field_ids = table.schema_version.numbers
    ways, then, now = stages(pair, table.version), words(table.schema_version), words(new)
    # A field whose type changes on the way and changes back is written again as well.
    old = {
        field: Old(before, lance_ids(field_ids[before]), then[before] == now[field] and is_cast(field, ways))
        for field, before in pair.before.items()
    }
    former = Former(table.schema_version.dataset, old)
    node_ids, _ = number_fields(new.dataset, former, table.highest_id)
    return {field: Numbers.make({NAME: ids}) for field, ids in node_ids.items()}
