"""The steps from a Lance table as it is to a locked schema.

Floor: 11 (tables).
Shape: checks first, then indices that stand in the way, then new nodes in the order of their ids (Lance gives ids in the
order of the steps), then one commit that sets everything else, then indices. What is done already is left out, so
that the plan of an interrupted run is what remains of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from schemac.attributes.lance import STORAGE_VERSION
from schemac.evolution.changes import Change, Fact
from schemac.evolution.diff import diff_of, slot_title
from schemac.evolution.engines import lance as engine
from schemac.evolution.fit import Fit, fit
from schemac.evolution.side import Pair, Side
from schemac.evolution.verdict import Outcome
from schemac.identity.casts import is_cast
from schemac.identity.lock import Numbers
from schemac.identity.numbering import Highest, Old, number
from schemac.logical.slots import Slot, preorder
from schemac.source.catalogue import REFUSED_CHANGE, UNUSABLE_TABLE
from schemac.source.report import Report
from schemac.tables.differences import differences
from schemac.tables.lance_table import LanceTable, is_held
from schemac.tables.steps import Add, BuildIndex, Cast, Check, DropIndex, Index, Rewrite, SetSchema, Step
from schemac.targets._generated.lance import file_pb2 as pb
from schemac.targets.lance import to_message

_ENTRIES_OF_SET_SCHEMA = {
    Fact.FIELD_DROPPED: "drops {path}",
    Fact.FIELD_RENAMED: "renames {old} to {new}",
    Fact.FIELDS_REORDERED: "puts the fields in their new order",
    Fact.BECAME_OPTIONAL: "lets {path} be null",
    Fact.BECAME_REQUIRED: "makes {path} required",
}


@dataclass(frozen=True)
class Plan:
    """All steps for one table."""

    table: LanceTable
    sides: Pair
    changes: tuple[Change, ...]
    steps: tuple[Step, ...]
    target: pb.Schema
    """What the table's schema is afterwards."""

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return not self.steps


def plan(table: LanceTable, new: Side, report: Report) -> Plan | None:
    """The plan for a table; None after saying why there is none."""
    if table.unknown:
        report.add(
            UNUSABLE_TABLE,
            f"{table.name} has fields that the lock does not know: {', '.join(table.unknown)}",
            file=table.name,
            help="start from the table as it is: schemac import " + table.name,
        )
        return None
    if not is_held(new, report):
        return None
    sides = _pair(table, new)
    changes = diff_of(sides)
    is_empty = table.row_count == 0
    for change in changes if not is_empty else ():
        judgement = engine.judge(change, sides)
        if judgement.outcome is Outcome.REFUSED:
            place = change.new_place
            report.add(
                REFUSED_CHANGE,
                f"{change}: {judgement.reason}",
                file=place.file if place else table.name,
                at=(place.line, place.column, place.line, place.column) if place else (0, 0, 0, 0),
                path=change.path,
                help=judgement.way_out,
            )
    if report.has_errors:
        return None
    numbers = _numbers(table, sides)
    target = to_message(new.lowered, numbers)
    if not table.notes_its_version:
        # The files say it themselves.
        target.metadata.pop(STORAGE_VERSION.key, None)
    nodes = list(_nodes(table, sides, numbers))
    going = _going(table, target)
    all_indices = [_with_field(index, table) for index in table.indices]
    indices = [index for index in all_indices if _is_in_the_way(index, table, going)]
    steps: list[Step] = []
    if not is_empty:
        steps += _checks(sides, changes)
    steps += [
        DropIndex(index.path, index=index, is_rebuilt=_path_after(index, sides) is not None)
        for index in indices
        if index.name in table.standing
    ]
    steps += _batched(nodes)
    if steps or _differs(table, target):
        steps.append(SetSchema("the schema", details=tuple(_details(changes))))
    for index in all_indices:
        path = _path_after(index, sides)
        if path is not None and (index in indices or index.name not in table.standing):
            steps.append(BuildIndex(path, index=replace(index, path=path)))
    return Plan(table, sides, changes, tuple(steps), target)


def _pair(table: LanceTable, new: Side) -> Pair:
    assert table.side.ids is not None
    assert new.ids is not None
    by_id = {id: slot for slot, id in table.side.ids.items()}
    return Pair(table.side, new, {slot: by_id[id] for slot, id in new.ids.items() if id in by_id})


def _numbers(table: LanceTable, sides: Pair) -> Mapping[Slot, Numbers]:
    """The numbers that the table's fields are to have: those of the lock, unless the table has its own."""
    assert sides.new.numbers is not None
    if not table.has_own_numbers:
        return sides.new.numbers
    assert sides.old.numbers is not None
    old = {
        slot: Old(before, sides.old.words[before], sides.old.numbers[before])
        for slot, before in sides.before.items()
    }
    found, _ = number(sides.new.dataset.columns, sides.new.words, old, Highest(table.highest_id))
    return found


def _nodes(table: LanceTable, sides: Pair, numbers: Mapping[Slot, Numbers]) -> Iterator[Add | Cast | Rewrite]:
    """A step for every node that the table does not have yet, and whose parent it has."""
    assert sides.old.numbers is not None
    there = {field.id for field in table.fields}
    for slot in preorder(sides.new.dataset.columns):
        ids = numbers[slot].lance
        above = numbers[slot.parent].lance if slot.parent is not None else ()
        if not ids or ids[0] in there or (above and above[0] not in there):
            continue
        before = sides.before.get(slot)
        subtree = tuple(id for inner in preorder([slot]) for id in numbers[inner].lance)
        if before is None and not any(inner in sides.before for inner in preorder([slot])):
            yield Add(slot.title, slots=(slot,), ids=subtree)
        elif before is not None and _is_castable(sides, before, slot):
            yield Cast(
                slot.title,
                slot=slot,
                before=slot_title(before),
                after=slot_title(slot),
                ids=subtree,
                old_ids=sides.old.numbers[before].lance,
            )
        else:
            yield Rewrite(
                slot.title,
                slot=slot,
                before=slot_title(before) if before is not None else "nothing",
                after=slot_title(slot),
                ids=subtree,
            )


def _is_castable(sides: Pair, before: Slot, slot: Slot) -> bool:
    """Whether Lance casts the field where it stands; a vector counts as a plain value."""
    old, new = sides.old.words[before], sides.new.words[slot]
    parent = sides.before.get(slot.parent) if slot.parent is not None else None
    if len(old) != 1 or len(new) != 1 or before.parent is not parent:
        return False
    is_plain = not any(sides.new.words[child] for child in slot.children)
    return is_plain and len(before.children) == len(slot.children) and is_cast(old[0], new[0])


def _batched(nodes: Sequence[Add | Cast | Rewrite]) -> list[Step]:
    """The steps by their ids; additions that follow each other are one commit."""
    steps: list[Step] = []
    for step in sorted(nodes, key=lambda step: step.ids[0]):
        last = steps[-1] if steps else None
        if isinstance(step, Add) and isinstance(last, Add):
            steps[-1] = Add(
                f"{last.title}, {step.title}", slots=(*last.slots, *step.slots), ids=(*last.ids, *step.ids)
            )
        else:
            steps.append(step)
    return steps


def _checks(sides: Pair, changes: Sequence[Change]) -> Iterator[Check]:
    seen: set[tuple[str, bool]] = set()
    for change in changes:
        slot, before = change.new_slot, change.old_slot
        if slot is None or before is None or engine.judge(change, sides).outcome is not Outcome.DATA:
            continue
        is_about_nulls = change.fact is Fact.BECAME_REQUIRED
        if is_about_nulls and not sides.new.words[slot]:
            # Lance does not know whether the items of a vector may be null.
            continue
        if (slot.title, is_about_nulls) in seen:
            continue
        seen.add((slot.title, is_about_nulls))
        if is_about_nulls:
            question = "no null may be there"
            query = f"select count(*) where {before.title} is null"
        elif fit(before.type, slot.type) is Fit.DEPENDS or change.fact is Fact.JSON_CHANGED:
            question = f"every value has to fit {slot.type.title()}"
            query = f"select count(*) where {before.title} is not null and try_cast({before.title} as {slot.type.title()}) is null"
        else:
            continue
        yield Check(slot.title, question=question, query=query, slot=slot, is_about_nulls=is_about_nulls)


def _going(table: LanceTable, target: pb.Schema) -> frozenset[int]:
    """Ids that the table has and the target does not."""
    return frozenset(field.id for field in table.fields) - {field.id for field in target.fields}


def _is_in_the_way(index: Index, table: LanceTable, going: frozenset[int]) -> bool:
    return _id_of(index, table) in going


def _id_of(index: Index, table: LanceTable) -> int | None:
    by_path = paths(table.fields)
    return next((id for id, path in by_path.items() if path == index.path), None)


def paths(fields: Sequence[pb.Field]) -> dict[int, str]:
    """Every field's path as Lance writes it, by id."""
    found: dict[int, str] = {-1: ""}
    for field in fields:
        name = field.name if field.name.replace("_", "a").isalnum() else f"`{field.name}`"
        above = found.get(field.parent_id, "")
        found[field.id] = f"{above}.{name}" if above else name
    return found


def _path_after(index: Index, sides: Pair) -> str | None:
    """Where the indexed field is once the plan is carried out; None where it goes."""
    assert sides.new.ids is not None
    return next((slot.title for slot, id in sides.new.ids.items() if id == index.field_id), None)


def _with_field(index: Index, table: LanceTable) -> Index:
    """The index with the id of its field; one that waits has it already."""
    if index.field_id or table.side.ids is None or table.side.numbers is None:
        return index
    lance = _id_of(index, table)
    found = (id for slot, id in table.side.ids.items() if lance in table.side.numbers[slot].lance)
    return replace(index, field_id=next(found, 0))


def _details(changes: Sequence[Change]) -> Iterator[str]:
    is_told = False
    for change in changes:
        text = _ENTRIES_OF_SET_SCHEMA.get(change.fact)
        if text is not None:
            yield text.format(path=change.path, old=change.old, new=change.new)
        elif change.fact is not Fact.FIELD_ADDED:
            is_told = True
    if is_told:
        yield "sets metadata, keys and encodings"


def _differs(table: LanceTable, target: pb.Schema) -> bool:
    metadata = {key: bytes(value) for key, value in target.metadata.items()}
    fields = [field.SerializeToString(deterministic=True) for field in target.fields]
    if table.dataset is None:
        return fields != [field.SerializeToString(deterministic=True) for field in table.fields]
    return bool(differences(fields, table.dataset.lance_schema, metadata=metadata))
