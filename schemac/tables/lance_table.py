"""A Lance table as it is.

Floor: 11 (tables).
Shape: its schema as one side of a comparison. The fields are known by Lance's ids, which the lock remembers for ever; in
a table that was not made with the ids of the lock, they are known by their places in one of its versions.
Errors: SC421 unusable-table.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from schemac.attributes.lance import STORAGE_VERSION, STORAGE_VERSIONS
from schemac.evolution.side import Side, side_of_version, words_of
from schemac.identity.freeze import open_version
from schemac.identity.lock import LockedDataset, Numbers, State
from schemac.identity.match import Ids
from schemac.lifting.lift import lift
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import Schema
from schemac.logical.origins import Origins
from schemac.logical.path import Segment
from schemac.logical.slots import Slot, columns, preorder
from schemac.lowering.lower import lower
from schemac.source.catalogue import LANCE_LOSS, UNUSABLE_TABLE
from schemac.source.diagnostic import Severity
from schemac.source.report import Report
from schemac.tables.differences import differences
from schemac.tables.steps import MARK, Index
from schemac.targets._generated.lance import file_pb2 as pb
from schemac.targets._lance.limits import Limits
from schemac.targets._lance.nodes import numbers_of
from schemac.targets.lance import to_message
from schemac.targets.target import Emission

INDICES_KEY = "schemac.indices"
"""Key of the table's configuration under which indices wait that are to be built again."""


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
        for fragment in self.dataset.get_fragments() if self.dataset is not None else ():
            for file in fragment.metadata.files:
                used += file.fields
        return max(used, default=-1)

    @cached_property
    def indices(self) -> tuple[Index, ...]:
        """Its indices, with those that an interrupted run has taken away."""
        if self.dataset is None:
            return ()
        found = {index.name: index for index in _indices(self.dataset)}
        waiting = self.dataset.config().get(INDICES_KEY)
        for index in json.loads(waiting) if waiting else ():
            found.setdefault(index["name"], Index(**index))
        return tuple(found.values())

    @property
    def notes_its_version(self) -> bool:
        """Whether its schema repeats the version of its files."""
        return self.dataset is None or STORAGE_VERSION.key.encode() in (self.dataset.schema.metadata or {})

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
            return LanceTable(path, dataset, side, fields, has_own_numbers=False)
    found = Report()
    tree = lift(_with_version(_settled(schema), dataset.data_storage_version, locked), path, found)
    if found.has_errors:
        report.extend(found.diagnostics)
        return None
    model = Schema.model_validate(tree)
    logical = LogicalDataset(locked.name, model, columns(model), Origins(path))
    settled = [(field.name, field.id) for field in _without_marked(fields)]
    numbers = numbers_of(lower(logical), settled)
    if numbers is None:
        report.add(UNUSABLE_TABLE, f"the fields of {path} cannot be told apart", file=path)
        return None
    ids, unknown = _ids_by_number(logical, numbers, locked)
    has_own_numbers = bool(unknown)
    if unknown:
        by_place = _ids_by_place(logical, locked)
        if by_place is not None:
            ids, unknown = by_place, []
    return LanceTable(
        path, dataset, Side(logical, path, locked, ids, numbers), fields, has_own_numbers, tuple(unknown)
    )


def is_held(new: Side, report: Report) -> bool:
    """Whether Lance can hold a schema at all."""
    found = Report()
    is_held = Limits(new.compilation, Emission(new.dataset, "lance", LANCE_LOSS, found)).are_kept()
    if not is_held:
        report.extend(d for d in found.diagnostics if d.severity is Severity.ERROR)
    return is_held


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


def _settled(schema: Any) -> Any:
    """The schema without what is under way."""
    import pyarrow as pa

    def type_of(t: Any) -> Any:
        if isinstance(t, pa.BaseExtensionType):
            return t
        if pa.types.is_list(t) or pa.types.is_large_list(t):
            make = pa.list_ if pa.types.is_list(t) else pa.large_list
            return make(t.value_field.with_type(type_of(t.value_type)))
        if not pa.types.is_struct(t):
            return t
        return pa.struct([f.with_type(type_of(f.type)) for f in t if not f.name.startswith(MARK)])

    kept = [f.with_type(type_of(f.type)) for f in schema if not f.name.startswith(MARK)]
    return pa.schema(kept, schema.metadata)


def _with_version(schema: Any, version: str, locked: LockedDataset) -> Any:
    """The schema with the version that the files have, where the newest locked schema speaks of it; else without."""
    key = STORAGE_VERSION.key
    metadata = {name: value for name, value in (schema.metadata or {}).items() if name != key.encode()}
    newest = locked.newest
    is_spoken_of = newest is not None and key in open_version(locked, newest).logical.schema.extra
    if is_spoken_of and version in STORAGE_VERSIONS:
        metadata[key.encode()] = json.dumps(version).encode()
    return schema.with_metadata(metadata or None)


def _without_marked(fields: Sequence[pb.Field]) -> list[pb.Field]:
    """Fields in pre-order, without those that are under way and what is below them."""
    gone: set[int] = set()
    kept = []
    for field in in_preorder(fields):
        if field.name.startswith(MARK) or field.parent_id in gone:
            gone.add(field.id)
        else:
            kept.append(field)
    return kept


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
            id = known.get((lance, words[slot], slot.segment))
            if id is None:
                unknown.append(slot.title)
        if id is not None:
            ids[slot] = id
    return ids, unknown


def _known(locked: LockedDataset) -> dict[tuple[tuple[int, ...], tuple[str, ...], Segment], int]:
    """The id of every field by its numbers with the types that they stand for, and each name that it had."""
    names: dict[int, set[Segment]] = {}
    for state in locked.states:
        names.setdefault(state.id, set()).add(state.shape.segment)
    known: dict[tuple[tuple[int, ...], tuple[str, ...], Segment], int] = {}
    for version in locked.versions:
        opened = open_version(locked, version)
        words = words_of(opened.logical)
        for slot, state in opened.states.items():
            for name in names[state.id]:
                known[state.numbers.lance, words[slot], name] = state.id
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


def _indices(dataset: Any) -> Iterator[Index]:
    for description in dataset.describe_indices():
        details = description.details or {}
        parameters: dict[str, Any] = {}
        if "metric_type" in details:
            statistics = dataset.stats.index_stats(description.name)["indices"][0]
            parameters = {
                "metric": str(details["metric_type"]).lower(),
                "num_partitions": statistics.get("num_partitions"),
            }
            compression = details.get("compression") or {}
            if "num_sub_vectors" in compression:
                parameters["num_sub_vectors"] = compression["num_sub_vectors"]
        elif description.index_type == "Inverted":
            kept = ("base_tokenizer", "language", "with_position", "lower_case", "stem", "remove_stop_words")
            parameters = {key: details[key] for key in (*kept, "ascii_folding") if key in details}
        yield Index(description.name, description.field_names[0], description.index_type, parameters)
