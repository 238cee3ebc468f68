"""Two branches of one lock into one.

Layer: versions.
Shape: our versions stay as they are; what their branch did since the two parted becomes one more version on top of
ours. Of a field that both have, each side's changes are taken property by property. A field that they added keeps its
id and numbers where we have not given them to another, else it gets new ones above all that either side ever used.
Nothing that either side dropped comes back. Where the two cannot both be had, it stays as we have it, and is told.
Source: the manifest is merged by git; this settles the ids, the next `schemac lock` takes what else the manifest says.
"""

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import takewhile
from typing import Any, TypeVar

from schemac.arrow.metadata import compact
from schemac.language.logical.model import ExtraAttributes, Part, SchemaField, dotted
from schemac.versions.identity import lock as locks
from schemac.versions.identity.freeze import advance, next_version, numbers_of
from schemac.versions.identity.opening import LockedVersion, former_of, open_version

_Value = TypeVar("_Value")
Shapes = dict[int, locks.FieldShape]


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice that the merge made where both branches changed the same thing."""

    text: str
    """A sentence."""
    id: int | None = None
    """Of the field, where it goes by another name with them, or is not there any more."""
    name: str = ""
    """The field's path as they have it."""


@dataclass(frozen=True, slots=True)
class MergedLock:
    """The settled lock, and the fields that both branches changed, each in its own way."""

    lock: locks.Lock
    choices: tuple[Choice, ...] = ()
    """What was decided."""


def merge(ours: locks.Lock, theirs: locks.Lock) -> MergedLock:
    """Return one lock with what both branches did, and the choices that this took."""
    lock, choices = ours, list[Choice]()
    for dataset in theirs.datasets:
        merged, made = _merge(ours.dataset(dataset.name), dataset)
        lock = lock.with_dataset(merged)
        choices += made
    return MergedLock(lock, tuple(choices))


def _merge(
    ours: locks.LockedDataset, theirs: locks.LockedDataset
) -> tuple[locks.LockedDataset, Sequence[Choice]]:
    """Return one dataset with the versions of both branches, theirs on top of ours, and the choices that this took."""
    pairs = zip(ours.versions, theirs.versions, strict=False)
    shared = len(list(takewhile(lambda pair: pair[0].digest == pair[1].digest, pairs)))
    if len(theirs.versions) == shared:
        return ours, ()
    if len(ours.versions) == shared:
        return theirs, ()
    merge = _Merge(ours, theirs, shared)
    merge.apply_theirs()
    merge.repair()
    return _merged_lock(merge), tuple(dict.fromkeys(merge.choices))


def _three_way(base: _Value, mine: _Value, other: _Value, clash: Callable[[], None]) -> _Value:
    """Return the changed value; ours if both sides changed it differently."""
    if mine in (base, other):
        return other
    if other != base:
        clash()
    return mine


def _merged_extra(base: str, mine: str, other: str, clash: Callable[[], None]) -> str:
    """Return the attributes of both sides merged one by one, as compact JSON; empty for none."""
    if mine in (base, other) or other == base:
        return _three_way(base, mine, other, clash)
    sides: list[ExtraAttributes] = [json.loads(text) if text else {} for text in (base, mine, other)]
    merged: ExtraAttributes = {}
    for key in sorted({key for side in sides for key in side}):
        # Compared as texts, for to Python 1 is True.
        texts = [compact(side[key]) if key in side else "" for side in sides]
        text = _three_way(texts[0], texts[1], texts[2], clash)
        if text:
            merged[key] = json.loads(text)
    return compact(merged) if merged else ""


class _Merge:
    """Combines their changes with ours; the result need not be valid yet."""

    def __init__(self, ours: locks.LockedDataset, theirs: locks.LockedDataset, shared: int) -> None:
        self.ours, self.theirs = ours, theirs
        self.base_extra = ours.versions[shared - 1].extra if shared else ""
        self.base: Shapes = {state.id: state.shape for state in ours.states_of(shared)}
        """The fields of the last version that both branches have, by their ids."""
        self.mine: Shapes = {state.id: state.shape for state in ours.states if state.last is None}
        self.other: Shapes = {state.id: state.shape for state in theirs.states if state.last is None}
        self.head = dict(self.mine)
        """The merged fields, by their ids in ours."""
        self.choices: list[Choice] = []
        self.left_out: set[int | None] = set()
        """Ids of fields that they added and that have no place here."""
        self.new_ids: dict[int, int] = {}
        """Our ids of the fields that they added, by theirs."""
        self.highest_id = max(ours.highest_id, theirs.highest_id)
        self.used_ids = {state.id for state in ours.states}

    def apply_theirs(self) -> None:
        """Apply all changes of their branch to the merged fields."""
        ours = {(shape.parent, shape.segment): id for id, shape in self.mine.items() if id not in self.base}
        # Parents first, for a field's place needs to know how its parent is called here.
        for id in _parents_first(self.other):
            if id not in self.base:
                self.add_theirs(id, ours)
        for id, shape in self.other.items():
            if id in self.base:
                self.change(id, self.with_our_parent(shape))
        for id in self.base.keys() - self.other.keys():
            self.drop(id)

    def with_our_parent(self, shape: locks.FieldShape) -> locks.FieldShape:
        """Return a shape of theirs with the parent's id in the merged lock."""
        parent = shape.parent
        return shape if parent is None else shape._replace(parent=self.new_ids.get(parent, parent))

    def add_theirs(self, id: int, ours: Mapping[tuple[int | None, Any], int]) -> None:
        """Take a field that they added; of one that both added by the same name, ours stays."""
        shape = self.with_our_parent(self.other[id])
        duplicate = ours.get((shape.parent, shape.segment))
        if duplicate is not None:
            # Both added a field of this name: it is one field, and ours has its ids already.
            self.new_ids[id] = duplicate
            mine = self.mine[duplicate]
            if (mine.type, mine.extra) != (shape.type, shape.extra):
                self.choose(f"{_name(shape)} was added by both: our version is kept")
            return
        new = id
        if new in self.used_ids:
            self.highest_id += 1
            new = self.highest_id
        self.used_ids.add(new)
        self.new_ids[id] = new
        self.head[new] = shape

    def change(self, id: int, shape: locks.FieldShape) -> None:
        """Take their changes of a field that both branches had, property by property; ours stay where both changed the same."""
        base, mine = self.base[id], self.mine.get(id)
        if mine is None:
            if _comparable_content(shape) != _comparable_content(base):
                self.choose(f"{_name(base)} was changed by them and dropped by us: it stays dropped", id)
            return
        clash = partial(self.choose, f"{_name(mine)} was changed by both: our version is kept")
        renamings = f"to {_name(mine)} by us and to {_name(shape)} by them"
        clash_of_names = partial(
            self.choose, f"{_name(base)} was renamed {renamings}: it stays {_name(mine)}", id
        )
        parent = _three_way(base.parent, mine.parent, shape.parent, clash)
        is_theirs = parent != mine.parent or (parent == base.parent and mine.position == base.position)
        mark = _three_way(base.type[-1:] == "?", mine.type[-1:] == "?", shape.type[-1:] == "?", clash)
        before, here, there = (side.type.removesuffix("?") for side in (base, mine, shape))
        type_ = _three_way(before, here, there, clash)
        self.head[id] = locks.FieldShape(
            parent,
            _three_way(base.segment, mine.segment, shape.segment, clash_of_names),
            shape.position if is_theirs else mine.position,
            f"{type_}?" if mark else type_,
            _merged_extra(base.extra, mine.extra, shape.extra, clash),
        )

    def drop(self, id: int) -> None:
        """Drop a field that they dropped, unless we changed it."""
        mine = self.mine.get(id)
        if mine is None:
            return
        if _comparable_content(mine) != _comparable_content(self.base[id]):
            self.choose(f"{_name(mine)} was dropped by them and changed by us: it is kept")
        else:
            del self.head[id]

    def ids_with_them(self, ids: Mapping[SchemaField, int]) -> dict[SchemaField, int]:
        """Return the ids that fields of ours have with them, without those that only we have.

        An id that was assigned after the branches diverged is ignored: they may have assigned it to another field.
        """
        theirs = {id: id for id in self.base} | {new: id for id, new in self.new_ids.items()}
        return {field: theirs[id] for field, id in ids.items() if id in theirs}

    def choose(self, text: str, id: int | None = None) -> None:
        """Enter a choice; the id is that of a field which goes by another name with them, or is not there any more."""
        states = [state for state in self.theirs.states if state.last is None and id is not None]
        self.choices.append(Choice(text, id, dotted(locks.paths_of(states)[id]) if id is not None else ""))

    def repair(self) -> None:
        """Make the merged shapes a tree again: a field that cannot stay at its new place returns to its place in ours.

        Each step gives one field the shape that it has with us, which is never taken back, or leaves out one that they
        added; so it comes to an end, and ours alone would be sound.
        """
        while (wrong := self.misplaced_field()) is not None:
            self.restore(wrong)

    def misplaced_field(self) -> int | None:
        """Return a field that cannot stay as it is, if there is one; others may be right once that one is restored."""
        places: dict[tuple[int | None, Any], int] = {}
        parts: dict[int, set[Part]] = {}
        for id, shape in self.head.items():
            parent = shape.parent
            if parent is not None:
                if parent not in self.head:
                    return id if self.is_theirs(id) else parent
                expected_kind = _HOLDERS.get(shape.segment) if isinstance(shape.segment, Part) else "Struct"
                if _kind(self.head[parent]) != expected_kind:
                    return id if self.is_theirs(id) else parent
                if isinstance(shape.segment, Part):
                    parts.setdefault(parent, set()).add(shape.segment)
            duplicate = places.setdefault((parent, shape.segment), id)
            if duplicate != id:
                # Ours is sound: one of the two is not as we have it.
                return id if self.is_theirs(id) else duplicate
        for id, shape in self.head.items():
            for part in _PARTS.get(_kind(shape), ()):
                if part not in parts.get(id, ()):
                    return id if self.is_theirs(id) else self.part_of(id, part)
        return self.circular_field()

    def circular_field(self) -> int | None:
        """Return a field that was moved into one that was moved into it, if there is one."""
        sound: set[int] = set()
        for start in self.head:
            way: dict[int, None] = {}
            id: int | None = start
            while id is not None and id not in sound and id not in way:
                way[id] = None
                id = self.head[id].parent
            if id is not None and id in way:
                circle = list(way)[list(way).index(id) :]
                return next(one for one in circle if self.is_theirs(one))
            sound.update(way)
        return None

    def is_theirs(self, id: int) -> bool:
        """Whether a field is not as we have it."""
        return self.head.get(id) != self.mine.get(id)

    def part_of(self, id: int, part: Part) -> int:
        """Return the id of our item, key or value of a field."""
        return next(one for one, shape in self.mine.items() if (shape.parent, shape.segment) == (id, part))

    def restore(self, id: int) -> None:
        """Give a field the shape that it has with us; leave out one that only they have."""
        shape = self.mine.get(id)
        if shape is None:
            self.left_out.add(id)
            left = self.head.pop(id)
            if left.parent in self.left_out:
                # Told of what was around it.
                return
            self.choose(f"{_name(left)} was added by them in a place that no longer exists: it is left out")
            return
        self.choose(f"{_name(shape)} cannot be changed as they did: our version is kept")
        self.head[id] = shape

    @property
    def extra(self) -> str:
        """The attributes of the schema."""
        clash = partial(self.choose, "attributes of the schema were changed by both: our version is kept")
        ours, theirs = self.ours.versions[-1].extra, self.theirs.versions[-1].extra
        return _merged_extra(self.base_extra, ours, theirs, clash)


def _merged_lock(merge: _Merge) -> locks.LockedDataset:
    """Return our lock with one more version, of the merged fields."""
    ours, theirs = (open_version(side, side.versions[-1]) for side in (merge.ours, merge.theirs))
    highest = ours.version.highest
    for engine, number in theirs.version.highest.entries:
        highest = highest.with_value(engine, max(number, highest.of(engine)))
    version = next_version(ours.version, highest, merge.extra)
    # Both sides may have added a field at the same position.
    members: dict[int | None, list[int]] = {}
    for id, shape in merge.head.items():
        if not isinstance(shape.segment, Part):
            members.setdefault(shape.parent, []).append(id)
    shapes = dict(merge.head)
    for siblings in members.values():
        siblings.sort(key=lambda id: (shapes[id].position or Decimal(0), id))
        places = locks.positions([shapes[id].position for id in siblings])
        for id, position in zip(siblings, places, strict=True):
            shapes[id] = shapes[id]._replace(position=position)
    draft = advance(merge.ours, version, {id: (shape, locks.Numbers()) for id, shape in shapes.items()})
    merged = open_version(draft, draft.versions[-1])
    numbers, highest = _numbers(merge, ours, theirs, merged)
    # Of fields that came and went on their branch alone no line is left; their ids are not given again.
    has_line = merge.highest_id in {*shapes, *(state.id for state in merge.ours.states)}
    version = version._replace(highest=highest, highest_id=0 if has_line else merge.highest_id)
    return advance(merge.ours, version, {id: (shape, numbers[id]) for id, shape in shapes.items()})


def _numbers(
    merge: _Merge, ours: LockedVersion, theirs: LockedVersion, merged: LockedVersion
) -> tuple[dict[int, locks.Numbers], locks.Highest]:
    """Return our numbers where an engine keeps them; else theirs, if no field of ours has them; else new ones."""
    here = merged.ids
    there = merge.ids_with_them(here)
    highest, made = merged.version.highest, dict[str, locks.FieldNumbers]()
    for engine in highest.engines:
        mine, other = former_of(ours, here, engine), former_of(theirs, there, engine)
        used = {one for state in merge.ours.states for one in state.numbers.of(engine)}
        used |= {one for state in ours.states.values() for one in state.numbers.of(engine)}
        numbering = locks.numberings().get(engine)
        if numbering is None:
            # Whoever has the engine may number what has nothing yet.
            numbers: locks.FieldNumbers = {field: old.numbers for field, old in mine.fields.items()}
            adoptable: Container[SchemaField] = here.keys() - numbers.keys()
        else:
            numbers, most = numbering.number(merged.logical, mine, highest.of(engine))
            highest = highest.with_value(engine, most)
            adoptable = numbering.takes(merged.logical, other) if numbering.takes is not None else numbers
        merged_numbers = dict(numbers)
        for field, old in other.fields.items():
            present = numbers.get(field, ())
            if field not in adoptable or (present and len(present) != len(old.numbers)):
                continue
            if used.isdisjoint((*present, *old.numbers)):
                merged_numbers[field] = old.numbers or present
        made[engine] = merged_numbers
    return {here[field]: field_numbers for field, field_numbers in numbers_of(here, made).items()}, highest


def _parents_first(shapes: Mapping[int, locks.FieldShape]) -> Iterator[int]:
    """Yield the ids of fields, each after that of the field around it."""
    done: set[int] = set()
    for start in sorted(shapes):
        way: list[int] = []
        id: int | None = start
        while id is not None and id not in done:
            done.add(id)
            way.append(id)
            id = shapes[id].parent
        yield from reversed(way)


def _comparable_content(shape: locks.FieldShape) -> tuple[Any, ...]:
    """Return the changes that a person would list; a position among siblings is not one."""
    return (shape.parent, shape.segment, shape.type, shape.extra)


def _name(shape: locks.FieldShape) -> str:
    """Return the name of a field for a message, a part of a list or map in brackets."""
    return f"[{shape.segment.value}]" if isinstance(shape.segment, Part) else shape.segment


def _kind(shape: locks.FieldShape) -> str:
    """Return the kind of a field, whether it may be null or not."""
    text = shape.type.removesuffix("?")
    return str(json.loads(text)["kind"]) if text.startswith("{") else text


_HOLDERS = {Part.ITEM: "List", Part.KEY: "Map", Part.VALUE: "Map"}
_PARTS = {"List": (Part.ITEM,), "Map": (Part.KEY, Part.VALUE)}
