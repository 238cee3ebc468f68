"""A Lance table as it is.

Floor: 11 (tables).
Shape: its schema as one side of a comparison. The fields are known by Lance's ids, which the lock remembers for ever; in
a table that was not made with the ids of the lock, they are known by their places in one of its versions.
Errors: SC421 unusable-table.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from schemac.evolution.side import Side, side_of_version, words_of
from schemac.identity.freeze import open_version
from schemac.identity.lock import LockedDataset, Numbers, State
from schemac.identity.match import Ids
from schemac.lifting.lift import lift
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import Schema
from schemac.logical.origins import Origins
from schemac.logical.path import Segment, dotted
from schemac.logical.slots import Slot, columns, preorder
from schemac.lowering.lower import lower
from schemac.source.catalogue import LANCE_LOSS, UNUSABLE_TABLE
from schemac.source.diagnostic import Diagnostic, Severity
from schemac.source.report import Report
from schemac.tables.differences import differences
from schemac.tables.lance_indices import indices_of
from schemac.tables.steps import MARK, Index
from schemac.targets._generated.lance import file_pb2 as pb
from schemac.targets._lance.limits import Limits
from schemac.targets._lance.nodes import numbers_of
from schemac.targets.lance import to_message
from schemac.targets.target import Emission

INDICES_KEY = "schemac.indices"
"""Key of the table's configuration under which indices wait that are to be built again."""
IDS_KEY = "schemac.ids"
"""Key under which the ids of fields stand while a table is between two commits of a run, and is no locked version."""


@dataclass(frozen=True)
class LanceTable:
    """An open table."""

    name: str
    """How it is spoken of."""
    dataset: Any
    """pylance's, at its newest version."""
    side: Side
    """Its schema; ids where the lock knows its fields."""
    fields: tuple[pb.Field, ...]
    """All its fields, also those that are under way."""
    has_own_numbers: bool
    """Whether it numbers its fields otherwise than the lock."""
    unknown: tuple[str, ...] = ()
    """Fields that the lock does not know."""
    stale: frozenset[int] = frozenset()
    """Fields that a run has begun to fill beside the ones that they were to replace; those count."""
    locked: LockedDataset | None = None
    """The lock that it was opened with; None for one that is imagined."""

    @classmethod
    def imagined(cls, side: Side) -> "LanceTable":
        """A table of a locked version that has rows and no indices, for a plan without a table."""
        message = to_message(side.lowered, side.numbers)
        return cls(side.label, None, side, tuple(message.fields), has_own_numbers=False)

    @cached_property
    def row_count(self) -> int:
        """Its rows."""
        return 1 if self.dataset is None else int(self.dataset.count_rows())

    @cached_property
    def highest_id(self) -> int:
        """The highest id that Lance knows of: it gives the next one."""
        used = [field.id for field in self.fields]
        return max([*used, *(id for data in self.data for id in data)], default=-1)

    @cached_property
    def data(self) -> tuple[frozenset[int], ...]:
        """The fields that each fragment holds data of."""
        if self.dataset is None:
            return (frozenset(field.id for field in self.fields),)
        return tuple(data_of(fragment.metadata) for fragment in self.dataset.get_fragments())

    @cached_property
    def storage_version(self) -> str | None:
        """The version of its data files, which it keeps for ever; None for one that is imagined."""
        if self.dataset is None:
            return None
        version = str(self.dataset.data_storage_version)
        return version if version[0].isdigit() else "0.1"

    @cached_property
    def metadata(self) -> dict[str, bytes]:
        """That of its schema."""
        entries = json.loads(self.dataset.lance_schema.__reduce__()[1][0])
        return {key: bytes(value) for key, value in entries.items()}

    @cached_property
    def all_indices(self) -> tuple[Index, ...]:
        """The same indices, each with the lock's id of its field."""
        return tuple(self.with_field(index) for index in self.indices)

    def with_field(self, index: Index) -> Index:
        """One that waits has its field already."""
        if index.field_id or self.side.ids is None or self.side.numbers is None:
            return index
        lance = next((id for id, path in paths(self.fields).items() if path == index.path), None)
        found = (id for slot, id in self.side.ids.items() if lance in self.side.numbers[slot].lance)
        return replace(index, field_id=next(found, 0))

    @cached_property
    def indices(self) -> tuple[Index, ...]:
        """Its indices, with those that an interrupted run has taken away."""
        if self.dataset is None:
            return ()
        found = {index.name: index for index in indices_of(self.dataset)}
        waiting = self.dataset.config().get(INDICES_KEY)
        for index in json.loads(waiting) if waiting else ():
            found.setdefault(index["name"], Index(**index))
        return tuple(found.values())

    @cached_property
    def has_notes(self) -> bool:
        """Whether a run left notes in its configuration."""
        return self.dataset is not None and not {INDICES_KEY, IDS_KEY}.isdisjoint(self.dataset.config())

    @property
    def standing(self) -> frozenset[str]:
        """Names of the indices that are there now."""
        return (
            frozenset(d.name for d in self.dataset.describe_indices())
            if self.dataset is not None
            else frozenset()
        )


def open_table(path: str, locked: LockedDataset, report: Report) -> LanceTable | None:
    """The newest version of a table; None after saying what is wrong with it."""
    try:
        import lance  # an extra that may not be there

        with lance_errors():
            dataset = lance.dataset(path)
            _, *messages = dataset.lance_schema.__reduce__()[1]
            schema = dataset.schema
    except ModuleNotFoundError as error:
        help = "pip install 'schemac[lance]'"
        report.add(UNUSABLE_TABLE, f"{path} needs {error.name}, which is not installed", file=path, help=help)
        return None
    except (ValueError, OSError, RuntimeError) as error:
        reason = str(error).splitlines()[0].partition(", /")[0]
        report.add(
            UNUSABLE_TABLE, f"cannot open {path}: {reason}", file=path, help="give the path of a Lance table"
        )
        return None
    fields = tuple(pb.Field.FromString(bytes(message)) for message in messages)
    for version in reversed(locked.versions):
        # What Lance does not keep, as views or the items of vectors, the lock knows.
        side = side_of_version(locked, version.number)
        messages_then = _messages(side)
        if messages_then is not None and not differences(messages_then, dataset.lance_schema):
            return LanceTable(path, dataset, side, fields, has_own_numbers=False, locked=locked)
    return _lifted(path, dataset, schema, fields, locked, report)


def _lifted(
    path: str, dataset: Any, schema: Any, fields: tuple[pb.Field, ...], locked: LockedDataset, report: Report
) -> LanceTable | None:
    """A table that is no version of the lock as it is."""
    stale = stale_fields(fields, locked)
    names = frozenset(field.name for field in fields if field.id in stale)
    found = Report()
    tree = lift(_settled(schema, names), path, found)
    if found.has_errors:
        report.extend(found.diagnostics)
        return None
    model = Schema.model_validate(tree)
    logical = LogicalDataset(locked.name, model, columns(model), Origins(path))
    settled = [(field.name, field.id) for field in in_preorder(fields) if field.id not in stale]
    numbers = numbers_of(lower(logical), settled)
    if numbers is None:
        report.add(UNUSABLE_TABLE, f"the fields of {path} cannot be told apart", file=path)
        return None
    ids, unknown = _ids_by_number(logical, numbers, locked)
    has_own_numbers = bool(unknown)
    if unknown:
        by_place = _ids_as_noted(logical, dataset) or _ids_by_place(logical, locked)
        if by_place is not None:
            ids, unknown = by_place, []
    side = Side(logical, path, locked, ids, numbers)
    return LanceTable(path, dataset, side, fields, has_own_numbers, tuple(unknown), stale, locked)


def is_held(new: Side, report: Report) -> bool:
    """Whether Lance can hold a schema at all."""
    errors = limits_of(new, None)
    report.extend(errors)
    return not errors


def limits_of(new: Side, version: str | None) -> list[Diagnostic]:
    """Why Lance cannot hold a schema in data files of a version; of that which the schema asks for by default."""
    found = Report()
    emission = Emission(new.dataset, "lance", LANCE_LOSS, found)
    Limits(new.compilation, emission, of_table=version).are_kept()
    return [d for d in found.diagnostics if d.severity is Severity.ERROR]


@contextmanager
def lance_errors() -> Iterator[None]:
    """Lance's panics, which no `except Exception` sees, as ordinary errors."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise RuntimeError(f"Lance stopped: {error}") from error
        raise


def _messages(side: Side) -> list[bytes] | None:
    """The messages of a version; None of one that Lance could not hold."""
    try:
        return [field.SerializeToString() for field in to_message(side.lowered, side.numbers).fields]
    except ValueError:
        return None


def _settled(schema: Any, left_out: frozenset[str]) -> Any:
    """The schema without fields of these names."""
    import pyarrow as pa

    def type_of(t: Any) -> Any:
        if isinstance(t, pa.BaseExtensionType):
            return t
        if pa.types.is_list(t) or pa.types.is_large_list(t):
            make = pa.list_ if pa.types.is_list(t) else pa.large_list
            return make(t.value_field.with_type(type_of(t.value_type)))
        if not pa.types.is_struct(t):
            return t
        return pa.struct([f.with_type(type_of(f.type)) for f in t if f.name not in left_out])

    if not left_out:
        return schema
    kept = [f.with_type(type_of(f.type)) for f in schema if f.name not in left_out]
    return pa.schema(kept, schema.metadata)


def stale_fields(fields: Sequence[pb.Field], locked: LockedDataset) -> frozenset[int]:
    """Marked fields that stand beside the field which they were to replace, or that nobody knows; with all below them."""
    of_number = {number: state.id for state in locked.states for number in state.numbers.lance}
    marked = {field.id for field in fields if field.name.startswith(MARK)}
    others = {of_number.get(field.id) for field in fields if field.id not in marked}
    stale: set[int] = set()
    for field in in_preorder(fields):
        is_unknown = of_number.get(field.id) is None or of_number[field.id] in others
        if field.parent_id in stale or (field.id in marked and is_unknown):
            stale.add(field.id)
    return frozenset(stale)


def in_preorder(fields: Sequence[pb.Field]) -> list[pb.Field]:
    """The same fields, each parent right before its children."""
    children: dict[int, list[pb.Field]] = {}
    for field in fields:
        children.setdefault(field.parent_id, []).append(field)
    found: list[pb.Field] = []
    stack = list(reversed(children.get(-1, [])))
    while stack:
        field = stack.pop()
        found.append(field)
        stack.extend(reversed(children.get(field.id, []) if field.id != field.parent_id else []))
    return found


def _ids_by_number(
    logical: LogicalDataset, numbers: Mapping[Slot, Numbers], locked: LockedDataset
) -> tuple[Ids, list[str]]:
    """The lock's ids of the fields that have numbers of the lock, and the fields that have others.

    A number alone may be a coincidence: the field has to be of the type that the number stands for, and to be called
    as that field was in some version.
    """
    known = _known(locked)
    words = words_of(logical)
    parts: dict[tuple[int, object], State] = {
        (state.shape.parent, state.shape.segment): state
        for state in locked.states
        if state.shape.parent is not None and not state.numbers.lance
    }
    ids: Ids = {}
    unknown: list[str] = []
    for slot in preorder(logical.columns):
        lance = numbers[slot].lance
        if not lance:
            state = parts.get((ids[slot.parent], slot.segment)) if slot.parent in ids else None
            id = state.id if state is not None else None
        else:
            is_marked = slot.is_member and str(slot.segment).startswith(MARK)
            id = known.get((lance, words[slot], None if is_marked else slot.segment))
            if id is None:
                unknown.append(slot.title)
        if id is not None:
            ids[slot] = id
    return ids, unknown


def _known(locked: LockedDataset) -> dict[tuple[tuple[int, ...], tuple[str, ...], Segment | None], int]:
    """The id of every field by its numbers with the types that they stand for, and each name that it had; None for any."""
    names: dict[int, set[Segment]] = {}
    for state in locked.states:
        names.setdefault(state.id, set()).add(state.shape.segment)
    known: dict[tuple[tuple[int, ...], tuple[str, ...], Segment | None], int] = {}
    for version in locked.versions:
        opened = open_version(locked, version)
        words = words_of(opened.logical)
        for slot, state in opened.states.items():
            for name in names[state.id]:
                known[state.numbers.lance, words[slot], name] = state.id
            known[state.numbers.lance, words[slot], None] = state.id
    return known


def _ids_by_place(logical: LogicalDataset, locked: LockedDataset) -> Ids | None:
    """The ids of the newest version that has exactly these fields."""
    words = words_of(logical)
    here = [(slot.path, words[slot]) for slot in preorder(logical.columns)]
    for version in reversed(locked.versions):
        opened = open_version(locked, version)
        theirs = words_of(opened.logical)
        there = [(slot.path, theirs[slot]) for slot in preorder(opened.logical.columns)]
        if here == there:
            states = [opened.states[slot] for slot in preorder(opened.logical.columns)]
            return {slot: state.id for slot, state in zip(preorder(logical.columns), states, strict=True)}
    return None


def _ids_as_noted(logical: LogicalDataset, dataset: Any) -> Ids | None:
    """The ids that a run noted in the table's configuration, where these are the fields that it noted."""
    noted: dict[str, list[Any]] = json.loads(dataset.config().get(IDS_KEY) or "{}")
    words = words_of(logical)
    slots = preorder(logical.columns)
    if not noted or {slot.title: list(words[slot]) for slot in slots} != {
        path: words for path, (_, words) in noted.items()
    }:
        return None
    return {slot: noted[slot.title][0] for slot in slots}


def note_ids(side: Side, names: Mapping[int, str], numbers: Mapping[Slot, Numbers]) -> str:
    """The lock's ids of fields and their types, to be noted in a table in which they have these names for a while."""
    assert side.ids is not None
    found = {}
    for slot, id in side.ids.items():
        path = tuple(_name_now(inner, names, numbers) for inner in _chain(slot))
        found[dotted(path)] = [id, list(side.words[slot])]
    return json.dumps(found)


def _name_now(slot: Slot, names: Mapping[int, str], numbers: Mapping[Slot, Numbers]) -> Segment:
    return names[numbers[slot].lance[0]] if slot.is_member and numbers[slot].lance else slot.segment


def _chain(slot: Slot) -> list[Slot]:
    return [*(_chain(slot.parent) if slot.parent is not None else ()), slot]


def paths(fields: Sequence[pb.Field]) -> dict[int, str]:
    """Every field's path as Lance writes it, by id."""
    found: dict[int, str] = {-1: ""}
    for field in fields:
        name = field.name if field.name.replace("_", "a").isalnum() else f"`{field.name}`"
        above = found.get(field.parent_id, "")
        found[field.id] = f"{above}.{name}" if above else name
    return found


def lance_schema(fields: Sequence[pb.Field], metadata: Mapping[str, bytes]) -> Any:
    """Lance's own schema of these messages."""
    from lance.schema import LanceSchema

    entries = json.dumps({key: list(bytes(metadata[key])) for key in metadata})
    return LanceSchema._from_protos(entries, *[field.SerializeToString() for field in fields])


def data_of(fragment: Any) -> frozenset[int]:
    """The fields that a fragment's files hold data of; negative numbers are of data that does not count any more."""
    return frozenset(id for file in fragment.files for id in file.fields if id >= 0)
