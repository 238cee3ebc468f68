"""Two branches of one lock into one.

Layer: identity.
Shape: our versions stay as they are; what their branch did since the two parted becomes one more version on top of
ours. Of a field that both have, each side's changes are taken property by property. A field that they added keeps its
id and numbers where we have not given them to another, else it gets new ones above all that either side ever used.
Nothing that either side dropped comes back. Where the two cannot both be had, it stays as we have it, and is told.
Source: the manifest is merged by git; this settles the ids, the next `schemac lock` takes what else the manifest says.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar

from schemac.arrow.lower_metadata import compact
from schemac.identity.freeze import LockedVersion, WordsOf, advance, open_version
from schemac.identity.lock import Lock, LockedDataset, Numbers, Shape, State, Version, order_of, paths_of
from schemac.identity.numbering import Highest, Old, Words, number
from schemac.identity.positions import positions
from schemac.logical.path import Part, dotted
from schemac.logical.slots import Slot, preorder

_Value = TypeVar("_Value")
Shapes = dict[int, Shape]


@dataclass(frozen=True, slots=True)
class Choice:
    """What was decided where both branches had a say."""

    text: str
    """A sentence."""
    id: int | None = None
    """Of the field, where it goes by another name with them, or is not there any more."""
    name: str = ""
    """The field's path as they have it."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The settled lock, and the fields that both branches changed, each in its own way."""

    lock: Lock
    choices: tuple[Choice, ...] = ()
    """What was decided."""


def merge(ours: Lock, theirs: Lock, words_of: WordsOf) -> Merged:
    """One lock with what both branches did."""
    lock, choices = ours, list[Choice]()
    for dataset in theirs.datasets:
        merged, made = _merge(ours.dataset(dataset.name), dataset, words_of)
        lock = lock.with_dataset(merged)
        choices += made
    return Merged(lock, tuple(choices))


def _merge(
    ours: LockedDataset, theirs: LockedDataset, words_of: WordsOf
) -> tuple[LockedDataset, Sequence[Choice]]:
    shared = _shared(ours, theirs)
    if len(theirs.versions) == shared:
        return ours, ()
    if len(ours.versions) == shared:
        return theirs, ()
    merge = _Merge(ours, theirs, shared)
    merge.take_theirs()
    _Settlement(merge.mine, merge.head, merge.choices).settle()
    return _on_top(merge, words_of), tuple(dict.fromkeys(merge.choices))


def _shared(ours: LockedDataset, theirs: LockedDataset) -> int:
    """How many versions the two have in common."""
    count = 0
    for mine, other in zip(ours.versions, theirs.versions, strict=False):
        if mine.digest != other.digest:
            break
        count += 1
    return count


def _three_way(base: _Value, mine: _Value, other: _Value, clash: Callable[[], None]) -> _Value:
    """What was changed by one side; ours where both changed it, each in its own way."""
    if mine in (base, other):
        return other
    if other != base:
        clash()
    return mine


def _merged_extra(base: str, mine: str, other: str, clash: Callable[[], None]) -> str:
    """Attributes, each by itself."""
    if mine in (base, other) or other == base:
        return _three_way(base, mine, other, clash)
    sides: list[dict[str, Any]] = [json.loads(text) if text else {} for text in (base, mine, other)]
    merged: dict[str, Any] = {}
    for key in sorted({key for side in sides for key in side}):
        # Compared as texts, for to Python 1 is True.
        texts = [compact(side[key]) if key in side else "" for side in sides]
        text = _three_way(texts[0], texts[1], texts[2], clash)
        if text:
            merged[key] = json.loads(text)
    return compact(merged) if merged else ""


class _Merge:
    """Puts what they did beside what we did; what comes out need not be sound yet."""

    def __init__(self, ours: LockedDataset, theirs: LockedDataset, shared: int) -> None:
        self.ours, self.theirs = ours, theirs
        self.base_extra = ours.versions[shared - 1].extra if shared else ""
        self.base: Shapes = {state.id: state.shape for state in ours.states_of(shared)}
        self.mine: Shapes = {state.id: state.shape for state in ours.states if state.last is None}
        self.other: Shapes = {state.id: state.shape for state in theirs.states if state.last is None}
        self.head = dict(self.mine)
        self.choices: list[Choice] = []
        self.new_ids: dict[int, int] = {}
        """Our ids of the fields that they added, by theirs."""
        self.highest_id = max(ours.highest_id, theirs.highest_id)
        self.used_ids = {state.id for state in ours.states}

    def take_theirs(self) -> None:
        """All that they did."""
        ours = {(shape.parent, shape.segment): id for id, shape in self.mine.items() if id not in self.base}
        # Parents first, for a field's place needs to know how its parent is called here.
        for id in _parents_first(self.other):
            if id not in self.base:
                self.added(id, ours)
        for id, shape in self.other.items():
            if id in self.base:
                self.changed(id, self.here(shape))
        for id in self.base.keys() - self.other.keys():
            self.dropped(id)

    def here(self, shape: Shape) -> Shape:
        """A shape of theirs below the parent as it is called here."""
        parent = shape.parent
        return shape if parent is None else replace(shape, parent=self.new_ids.get(parent, parent))

    def added(self, id: int, ours: Mapping[tuple[int | None, Any], int]) -> None:
        shape = self.here(self.other[id])
        twin = ours.get((shape.parent, shape.segment))
        if twin is not None:
            # Both added a field of this name: it is one field, and ours has its ids already.
            self.new_ids[id] = twin
            mine = self.mine[twin]
            if (mine.type, mine.extra) != (shape.type, shape.extra):
                self.choices.append(Choice(f"{_name(shape)} was added by both: our version is kept"))
            return
        new = id
        if new in self.used_ids:
            self.highest_id += 1
            new = self.highest_id
        self.used_ids.add(new)
        self.new_ids[id] = new
        self.head[new] = shape

    def changed(self, id: int, shape: Shape) -> None:
        base, mine = self.base[id], self.mine.get(id)
        if mine is None:
            if _said(shape) != _said(base):
                self.choices.append(
                    Choice(
                        f"{_name(base)} was changed by them and dropped by us: it stays dropped",
                        id,
                        self.title_with_them(id),
                    )
                )
            return

        def clash() -> None:
            self.choices.append(Choice(f"{_name(mine)} was changed by both: our version is kept"))

        def clash_of_names() -> None:
            self.choices.append(
                Choice(
                    f"{_name(base)} was renamed to {_name(mine)} by us and to {_name(shape)} by them: it"
                    f" stays {_name(mine)}",
                    id,
                    self.title_with_them(id),
                )
            )

        parent = _three_way(base.parent, mine.parent, shape.parent, clash)
        is_theirs = parent != mine.parent or (parent == base.parent and mine.position == base.position)
        mark = _three_way(base.type[-1:] == "?", mine.type[-1:] == "?", shape.type[-1:] == "?", clash)
        before, here, there = (side.type.removesuffix("?") for side in (base, mine, shape))
        type_ = _three_way(before, here, there, clash)
        self.head[id] = Shape(
            parent,
            _three_way(base.segment, mine.segment, shape.segment, clash_of_names),
            shape.position if is_theirs else mine.position,
            f"{type_}?" if mark else type_,
            _merged_extra(base.extra, mine.extra, shape.extra, clash),
        )

    def dropped(self, id: int) -> None:
        mine = self.mine.get(id)
        if mine is None:
            return
        if _said(mine) != _said(self.base[id]):
            self.choices.append(Choice(f"{_name(mine)} was dropped by them and changed by us: it is kept"))
        else:
            del self.head[id]

    def title_with_them(self, id: int) -> str:
        """The path of a field as they have it."""
        return dotted(paths_of(state for state in self.theirs.states if state.last is None)[id])

    @property
    def extra(self) -> str:
        """The attributes of the schema."""

        def clash() -> None:
            text = "attributes of the schema were changed by both: our version is kept"
            self.choices.append(Choice(text))

        ours, theirs = self.ours.versions[-1].extra, self.theirs.versions[-1].extra
        return _merged_extra(self.base_extra, ours, theirs, clash)


class _Settlement:
    """Makes merged shapes a tree again: what cannot stand where it was put goes back to where we have it.

    Each step gives one field the shape that it has with us, which is never taken back, or leaves out one that they
    added; so it comes to an end, and ours alone would be sound.
    """

    def __init__(self, mine: Mapping[int, Shape], head: Shapes, choices: list[Choice]) -> None:
        self.mine, self.head, self.choices = mine, head, choices
        self.left_out: set[int | None] = set()

    def settle(self) -> None:
        while (wrong := next(self.misplaced(), None)) is not None:
            self.put_back(wrong)

    def misplaced(self) -> Iterator[int]:
        """Fields that cannot stay as they are; the first one is right only until it is put back."""
        places: dict[tuple[int | None, Any], int] = {}
        parts: dict[int, set[Part]] = {}
        for id, shape in self.head.items():
            parent = shape.parent
            if parent is not None:
                if parent not in self.head:
                    yield id if self.is_theirs(id) else parent
                    return
                wanted = _HOLDERS.get(shape.segment) if isinstance(shape.segment, Part) else "Struct"
                if _kind(self.head[parent]) != wanted:
                    yield id if self.is_theirs(id) else parent
                    return
                if isinstance(shape.segment, Part):
                    parts.setdefault(parent, set()).add(shape.segment)
            twin = places.setdefault((parent, shape.segment), id)
            if twin != id:
                # Ours is sound: one of the two is not as we have it.
                yield id if self.is_theirs(id) else twin
                return
        for id, shape in self.head.items():
            for part in _PARTS.get(_kind(shape), ()):
                if part not in parts.get(id, ()):
                    yield id if self.is_theirs(id) else self.part_of(id, part)
                    return
        yield from self.in_circles()

    def in_circles(self) -> Iterator[int]:
        """A field that was moved into one that was moved into it."""
        sound: set[int] = set()
        for start in self.head:
            way: dict[int, None] = {}
            id: int | None = start
            while id is not None and id not in sound and id not in way:
                way[id] = None
                id = self.head[id].parent
            if id is not None and id in way:
                circle = list(way)[list(way).index(id) :]
                yield next(one for one in circle if self.is_theirs(one))
                return
            sound.update(way)

    def is_theirs(self, id: int) -> bool:
        """Whether a field is not as we have it."""
        return self.head.get(id) != self.mine.get(id)

    def part_of(self, id: int, part: Part) -> int:
        """Our item, key or value of a field."""
        return next(one for one, shape in self.mine.items() if (shape.parent, shape.segment) == (id, part))

    def put_back(self, id: int) -> None:
        shape = self.mine.get(id)
        if shape is None:
            self.left_out.add(id)
            left = self.head.pop(id)
            if left.parent in self.left_out:
                # Told of what was around it.
                return
            text = f"{_name(left)} was added by them in a place that no longer exists: it is left out"
            self.choices.append(Choice(text))
            return
        self.choices.append(Choice(f"{_name(shape)} cannot be taken as they changed it: our version is kept"))
        self.head[id] = shape


def _on_top(merge: _Merge, words_of: WordsOf) -> LockedDataset:
    """Ours with one more version, of the merged shapes."""
    ours, theirs = merge.ours, merge.theirs
    newest, other = ours.versions[-1], theirs.versions[-1]
    version = Version(
        newest.number + 1,
        newest.schema_id + 1,
        max(newest.highest_lance, other.highest_lance),
        max(newest.highest_paimon, other.highest_paimon),
        extra=merge.extra,
    )
    shapes = _placed(merge.head)
    draft = advance(ours, version, {id: (shape, Numbers()) for id, shape in shapes.items()})
    numbers, highest = _numbers(merge, open_version(draft, draft.versions[-1]), words_of)
    highest_id = max(merge.highest_id, theirs.highest_id)
    version = replace(
        version,
        highest_lance=highest.lance,
        highest_paimon=highest.paimon,
        # Of fields that came and went on their branch alone no line is left; their ids are not given again.
        highest_id=highest_id
        if highest_id > max((*shapes, *(state.id for state in ours.states)), default=0)
        else 0,
    )
    return advance(ours, version, {id: (shape, numbers[id]) for id, shape in shapes.items()})


def _placed(shapes: Shapes) -> Shapes:
    """The shapes with siblings at places of their own, for both sides may have added at the same one."""
    members: dict[int | None, list[State]] = {}
    for id, shape in shapes.items():
        if not isinstance(shape.segment, Part):
            members.setdefault(shape.parent, []).append(State(id, 0, None, shape, Numbers()))
    placed = dict(shapes)
    for siblings in members.values():
        siblings.sort(key=order_of)
        known: list[Decimal | None] = [state.shape.position for state in siblings]
        for state, position in zip(siblings, positions(known), strict=True):
            placed[state.id] = replace(state.shape, position=position)
    return placed


def _numbers(merge: _Merge, merged: LockedVersion, words_of: WordsOf) -> tuple[dict[int, Numbers], Highest]:
    """Ours where an engine keeps them; else theirs, where we have not given them to another; else new ones."""
    ours, theirs = (open_version(side, side.versions[-1]) for side in (merge.ours, merge.theirs))
    words = words_of(merged.logical)
    mine = _olds(ours, words_of(ours.logical), {})
    other = _olds(theirs, words_of(theirs.logical), merge.new_ids)
    here = {state.id: slot for slot, state in merged.states.items()}
    highest = merge.ours.versions[-1], merge.theirs.versions[-1]
    made, most = number(
        merged.logical.columns,
        words,
        {slot: mine[id] for id, slot in here.items() if id in mine},
        Highest(max(v.highest_lance for v in highest), max(v.highest_paimon for v in highest)),
    )
    used_lance = {one for state in merge.ours.states for one in state.numbers.lance}
    used_paimon = {state.numbers.paimon for state in merge.ours.states}
    whole = _same_columns(merged, words, other)
    found: dict[int, Numbers] = {}
    for id, slot in here.items():
        numbers, old = made[slot], other.get(id)
        if old is not None:
            is_free = used_lance.isdisjoint((*numbers.lance, *old.numbers.lance))
            if is_free and old.words == words[slot] and (_column(slot) in whole or _is_in_structs(slot)):
                numbers = replace(numbers, lance=old.numbers.lance)
            paimon = old.numbers.paimon
            if numbers.paimon not in used_paimon and paimon is not None and paimon not in used_paimon:
                numbers = replace(numbers, paimon=paimon if slot.is_member else None)
        found[id] = numbers
    return found, most


def _olds(opened: LockedVersion, words: Words, ids: Mapping[int, int]) -> dict[int, Old]:
    return {
        ids.get(state.id, state.id): Old(slot, words[slot], state.numbers)
        for slot, state in opened.states.items()
    }


def _same_columns(merged: LockedVersion, words: Words, other: Mapping[int, Old]) -> frozenset[Slot]:
    """Columns that are as they have them: only such a one may take their numbers inside lists and maps."""

    def is_same(slot: Slot) -> bool:
        old = other.get(merged.states[slot].id)
        if old is None or old.words != words[slot] or len(old.slot.children) != len(slot.children):
            return False
        above = other.get(merged.states[slot.parent].id) if slot.parent is not None else None
        return (above.slot if above is not None else None) is old.slot.parent

    return frozenset(
        column for column in merged.logical.columns if all(is_same(slot) for slot in preorder([column]))
    )


def _column(slot: Slot) -> Slot:
    while slot.parent is not None:
        slot = slot.parent
    return slot


def _is_in_structs(slot: Slot) -> bool:
    """Whether Lance can add the slot by itself."""
    while slot.parent is not None:
        slot = slot.parent
        if slot.type.kind != "Struct":
            return False
    return True


def _parents_first(shapes: Mapping[int, Shape]) -> Iterator[int]:
    done: set[int] = set()
    for start in sorted(shapes):
        way: list[int] = []
        id: int | None = start
        while id is not None and id not in done:
            done.add(id)
            way.append(id)
            id = shapes[id].parent
        yield from reversed(way)


def _said(shape: Shape) -> tuple[Any, ...]:
    """What a person would call a change; a place among siblings is none."""
    return (shape.parent, shape.segment, shape.type, shape.extra)


def _name(shape: Shape) -> str:
    return f"[{shape.segment.value}]" if isinstance(shape.segment, Part) else shape.segment


def _kind(shape: Shape) -> str:
    text = shape.type.removesuffix("?")
    return str(json.loads(text)["kind"]) if text.startswith("{") else text


_HOLDERS = {Part.ITEM: "List", Part.KEY: "Map", Part.VALUE: "Map"}
_PARTS = {"List": (Part.ITEM,), "Map": (Part.KEY, Part.VALUE)}
