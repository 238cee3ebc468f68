"""The steps from a Lance table as it is to a locked schema.

Layer: engines.
Shape: checks first, then what is written into new files, then one commit that puts all new fields into the table at
once, then one for names and nullability, then indices. Whatever is done already is seen in the table itself, so that
the plan of an interrupted run is what remains of it.
"""

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

from schemac.engines.lance import LANCE_STORAGE_VERSION
from schemac.engines.lance import judge as engine
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.artifact import to_message
from schemac.engines.lance.attributes import STORAGE_VERSION
from schemac.engines.lance.fields import NAME, lance_ids, words
from schemac.engines.lance.numbering import number_nodes
from schemac.engines.lance.tables.checks import (
    checks,
    is_cast,
    pair_by_ids,
    report_pointless_rounding,
    rule_checks,
    stages,
)
from schemac.engines.lance.tables.convert import is_named
from schemac.engines.lance.tables.field_ids import record_of
from schemac.engines.lance.tables.fields import differences, in_preorder, paths
from schemac.engines.lance.tables.layout import Layout
from schemac.engines.lance.tables.live_table import (
    LanceTable,
    can_store,
    has_rows,
    help_for_stranger,
    limits_of,
)
from schemac.engines.lance.tables.steps import (
    MARK,
    Add,
    BuildIndex,
    DropIndex,
    Index,
    Rewrite,
    SetSchema,
    Step,
    Swap,
)
from schemac.engines.lance.transactions import lance_schema
from schemac.language.attributes.builtin import CLOCK_ZONE, TABLE_IDS
from schemac.language.constraints.rows import row_constraints
from schemac.language.logical.facts import Fact
from schemac.language.logical.schema_fields import SchemaField, preorder, type_text_of
from schemac.rows.validation.stored import report_unknown_references
from schemac.text.source.catalogue import REFUSED_CHANGE, UNUSABLE_TABLE
from schemac.text.source.report import Report
from schemac.text.source.span import WHOLE_FILE
from schemac.versions.evolution.changes import METADATA, TYPE_FACTS, Change, Judgement, Outcome
from schemac.versions.evolution.constraints import RULE_BY_KEY as ROW_KEYS
from schemac.versions.evolution.constraints import loss_of_key, rules_to_check
from schemac.versions.evolution.diff import clock_of, diff_of
from schemac.versions.evolution.judge import judge_change
from schemac.versions.evolution.tables import digest_of_ids, has_replaced_fields
from schemac.versions.evolution.version_pair import LockedSchemaVersion, LockedVersionPair
from schemac.versions.identity.lock import Former, Numbers, Old

_S = TypeVar("_S", bound=Step)


@dataclass(frozen=True)
class Plan:
    """All steps for one table."""

    table: LanceTable
    layout: Layout
    stages: tuple[LockedVersionPair, ...]
    """How values get from the table's types to the new ones."""
    changes: tuple[Change, ...]
    steps: tuple[Step, ...]
    rounded: frozenset[str] = frozenset()
    """The fields whose values may be rounded."""
    references: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The tables of datasets that are referred to, as far as they are named."""

    @property
    def pair(self) -> LockedVersionPair:
        """The table's schema and the new one."""
        return self.layout.pair

    @property
    def target(self) -> pb.Schema:
        """What the table's schema is afterwards."""
        return self.layout.target

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return not self.steps

    def of(self, kind: type[_S]) -> list[_S]:
        """Return the steps of one kind."""
        return [step for step in self.steps if isinstance(step, kind)]


def plan(
    table: LanceTable,
    new: LockedSchemaVersion,
    report: Report,
    rounded: frozenset[str] = frozenset(),
    references: Mapping[str, str] = MappingProxyType({}),
) -> Plan | None:
    """Return the plan for a table; None after reporting why there is none."""
    if table.unknown:
        assert table.locked is not None
        report.add(
            UNUSABLE_TABLE,
            f"{table.name} has fields that the lock does not know: {', '.join(table.unknown)}",
            file=table.name,
            help=help_for_stranger(table.name, table.schema_version, table.locked),
        )
        return None
    if not can_store(new, report):
        return None
    pair = pair_by_ids(_with_table_rules(table), new)
    changes = diff_of(pair)
    ways = stages(pair, table.version)
    is_filled = has_rows(table, report)
    if is_filled is None:
        return None
    if is_filled and has_replaced_fields(table.name, table.schema_version, new, report):
        return None
    judged = list(_judged(pair, ways, changes)) if is_filled else []
    for change, judgement in judged:
        if judgement.outcome is Outcome.REFUSED:
            place = change.new_location
            report.add(
                REFUSED_CHANGE,
                f"{change}: {judgement.reason}",
                file=place.file if place else table.name,
                at=place.region if place else WHOLE_FILE,
                path=change.path,
                help=judgement.way_out,
            )
    key = engine.key_judgement(None, pair)
    if key.outcome is Outcome.REFUSED and not report.has_errors:
        # A table without rows has a key as well, and no change of a field may tell of it.
        report.add(REFUSED_CHANGE, f"{table.name}: {key.reason}", file=table.name, help=key.way_out)
    report_pointless_rounding(rounded, ways, report)
    everything = row_constraints(new.dataset.schema.extra, new.dataset.columns)
    report_unknown_references(everything, references, table.name, report)
    if report.has_errors:
        return None
    layout = _layout(table, pair)
    if not _fits_files(layout, table, report):
        return None
    steps: list[Step] = list(checks(pair, ways, judged, rounded))
    doubtful = [change for change, judgement in judged if judgement.outcome is Outcome.DATA]
    altered = rules_to_check(pair, doubtful, lambda field: is_filled and is_named(field, rounded))
    steps += rule_checks(altered, pair, references)
    steps += _field_steps(layout, table)
    going = [index for index in table.all_indices if is_going(index, table, layout.target)]
    steps += [
        DropIndex(index.path, index=index, is_rebuilt=path_after(index, pair) is not None)
        for index in going
        if index.name in table.standing
    ]
    steps += _commits(layout, table, changes, is_data=any(isinstance(s, Rewrite | Add) for s in steps))
    for index in table.all_indices:
        path = path_after(index, pair)
        if path is not None and (index in going or index.name not in table.standing):
            steps.append(BuildIndex(path, index=replace(index, path=path)))
    return Plan(table, layout, ways, changes, tuple(steps), rounded, references)


def _with_table_rules(table: LanceTable) -> LockedSchemaVersion:
    """Return a table's schema with the constraints of rows in its own metadata; others were not checked yet.

    The locked version that it has may be one whose fields are the same.
    """
    version = table.schema_version
    if table.dataset is None:
        return version
    schema = version.dataset.schema
    others = {key: value for key, value in schema.extra.items() if key not in ROW_KEYS}
    table_rules = {key: json.loads(value) for key, value in table.metadata.items() if key in ROW_KEYS}
    return replace(
        version,
        dataset=replace(version.dataset, schema=schema.model_copy(update={"extra": others | table_rules})),
    )


def _layout(table: LanceTable, pair: LockedVersionPair) -> Layout:
    """Return what the table gets, in files of its version."""
    field_ids = field_ids_for(table, pair.new)
    layout = Layout(pair, table.fields, table.stale, field_ids, _target(table, pair, field_ids))
    if (table.storage_version or "2.1") >= "2.1":
        return layout
    # Version 2.0 lists structs and lists among the fields of each file, and Lance lets none stand in two of them.
    parts = {field.column for data in table.data for field in layout.roots(data) if field.parent is not None}
    highest = max(
        [table.highest_id, *(id for field_numbers in field_ids.values() for id in lance_ids(field_numbers))]
    )
    renewed = dict(field_ids)
    for field in preorder([column for column in pair.new.dataset.columns if column in parts]):
        count = len(lance_ids(field_ids[field]))
        renewed[field] = field_ids[field].with_value(NAME, tuple(range(highest + 1, highest + 1 + count)))
        highest += count
    return replace(layout, field_ids=renewed, target=_target(table, pair, renewed))


def _target(
    table: LanceTable, pair: LockedVersionPair, field_ids: Mapping[SchemaField, Numbers]
) -> pb.Schema:
    """Return what the table's schema is afterwards."""
    message = to_message(pair.new.lowered, field_ids)
    if any(
        lance_ids(field_ids[schema_field]) != lance_ids(pair.new.numbers[schema_field])
        for schema_field in field_ids
    ):
        digest = digest_of_ids(field.id for field in in_preorder(message.fields))
        message.metadata[TABLE_IDS] = digest.encode()
    if not table.notes_its_version:
        # The files say it themselves.
        message.metadata.pop(STORAGE_VERSION.key, None)
    return message


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
        schema_field: Old(
            before,
            lance_ids(field_ids[before]),
            then[before] == now[schema_field] and is_cast(schema_field, ways),
        )
        for schema_field, before in pair.before.items()
    }
    former = Former(table.schema_version.dataset, old)
    node_ids, _ = number_nodes(
        new.dataset.columns, words(new), former, words(table.schema_version), table.highest_id
    )
    return {schema_field: Numbers.make({NAME: ids}) for schema_field, ids in node_ids.items()}


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
            old, new = change.old_field, change.new_field
            judgement = judge_change("lance", change, way)
            # What is said is about the field that this one becomes in the end.
            id = way.new.ids.get(new) if new is not None else None
            last = next((field for field, other in pair.new.ids.items() if other == id), None)
            if (
                old is not None
                and new is not None
                and last is not None
                and last.type.kind != new.type.kind
                and clock_of(old, new) is None
            ):
                # The field cannot have the attribute any more that would declare the clock.
                judgement = judgement._replace(
                    way_out=f"lock a version in which {last.path_text} is {new.type.type_text()} again and has the clock's zone"
                    f" as `{CLOCK_ZONE.key}` under its `extra:`; then lock this schema again"
                )
            before = pair.before.get(last) if last is not None else None
            yield replace(change, new_field=last, old_field=before), judgement


def _fits_files(layout: Layout, table: LanceTable, report: Report) -> bool:
    """Whether the version of the table's data files can hold what is new; it is for ever."""
    if table.storage_version is None:
        return True
    if table.storage_version < "2.0" and layout.new:
        report.add(
            LANCE_STORAGE_VERSION,
            f"the data files of {table.name} have storage version {table.storage_version}, and Lance cannot"
            " add columns to such a table",
            file=table.name,
            path=layout.new[0].path_text,
            help="copy the table into a new one: lance.write_dataset(lance.dataset(old), new)",
        )
        return False
    new = {field.path_text for root in layout.new for field in preorder([root])}
    errors = [d for d in limits_of(layout.pair.new, table.storage_version) if d.path in new]
    report.extend(errors)
    return not errors


def _field_steps(layout: Layout, table: LanceTable) -> Iterator[Rewrite | Add]:
    """Yield a step for every field that is written, and one for all that are added."""
    roots = list(dict.fromkeys(field for data in table.data for field in layout.roots(data)))
    for field in sorted(roots or layout.written, key=lambda field: layout.ids(field)[0]):
        before = layout.pair.before.get(field)
        is_carrier = field not in layout.written
        was = type_text_of(before) if before is not None else "nothing"
        field_ids = layout.pair.old.numbers
        yield Rewrite(
            field.path_text,
            field=field,
            before="" if is_carrier else was,
            after=type_text_of(field),
            ids=layout.ids_below(field),
            old_ids=lance_ids(field_ids[before]) if before is not None and not is_carrier else (),
        )
    added = [field for field in layout.added if field not in roots]
    if added:
        titles = ", ".join(field.path_text for field in added)
        yield Add(
            titles, fields=tuple(added), ids=tuple(id for field in added for id in layout.ids_below(field))
        )


def _commits(
    layout: Layout, table: LanceTable, changes: Sequence[Change], *, is_data: bool
) -> Iterator[Swap | SetSchema]:
    """Yield the commit that brings the data, and the one that does the rest."""
    new = {field for root in layout.new for field in preorder([root])}
    swapped = [c for c in changes if is_data and (c.new_field in new or c.fact is Fact.FIELD_DROPPED)]
    if is_data:
        yield Swap("the new fields", details=tuple(_details(swapped, layout.pair)))
    version = layout.pair.new.version
    is_recorded = table.stated is None or version.is_recorded_as(
        record_of(table.name, table.dataset, ()).recorded
    )
    if schema_differs(layout, table, is_data=is_data) or not (is_recorded or is_data):
        rest = _details((c for c in changes if c not in swapped), layout.pair)
        # In the commit of the data, others still have the names of some added fields.
        marked = {field.id for field in layout.middle if field.name.startswith(MARK)} if is_data else set()
        late = [field.path_text for field in layout.added if layout.ids(field)[0] in marked]
        recorded = [] if is_recorded else [f"sets the recorded version to {version.number}"]
        yield SetSchema(
            "the schema", details=(*rest, *(f"gives {path} its final name" for path in late), *recorded)
        )


def schema_differs(layout: Layout, table: LanceTable, *, is_data: bool) -> bool:
    """Whether a commit of the schema alone is needed, after that of the data where there is one."""
    fields = layout.middle if is_data else table.fields
    if table.dataset is None:
        return _bytes(layout.target.fields) != _bytes(fields)
    metadata = {key: bytes(value) for key, value in layout.target.metadata.items()}
    schema = lance_schema(fields, table.metadata)
    return bool(differences(_bytes(layout.target.fields), schema, metadata=metadata))


def _bytes(fields: Iterable[pb.Field]) -> list[bytes]:
    """Return each field as deterministic bytes, which can be compared."""
    return [field.SerializeToString(deterministic=True) for field in fields]


def is_going(index: Index, table: LanceTable, target: pb.Schema) -> bool:
    """Whether an index goes with its field: Lance drops it in the commit that takes the field away."""
    id = next((id for id, path in paths(table.fields).items() if path == index.path), None)
    return id in {field.id for field in table.fields} - {field.id for field in target.fields}


def path_after(index: Index, pair: LockedVersionPair) -> str | None:
    """Where the indexed field is once the plan is carried out; None if it goes."""
    return next((field.path_text for field, id in pair.new.ids.items() if id == index.field_id), None)


def _details(changes: Iterable[Change], pair: LockedVersionPair) -> Iterator[str]:
    """Yield one line for each change that has a text, and at the end one for all others together."""
    unnamed = engine.Row(METADATA).detail
    details = [(change, engine.ROWS.get(change.fact, engine.Row(METADATA)).detail) for change in changes]
    for change, detail in details:
        if detail not in ("", unnamed):
            yield detail.format(path=change.path, old=change.old, new=change.new)
        if change.fact is Fact.FIELD_DROPPED and change.old_field is not None:
            lost = loss_of_key(change.old_field, pair)
            yield from [lost] if lost else []
    if any(detail == unnamed for _, detail in details):
        yield unnamed
