"""Two branches of one lock into one.

Floor: 7 (identity).
Shape: our versions stay as they are; what their branch did since the two parted becomes one more version on top of
ours. A field that they added keeps its ids where we have not given them to another, else it gets new ones above all
that either side ever used. Nothing that either side dropped comes back.
Source: the manifest is merged by git; this settles the ids, the next `schemac lock` takes what else the manifest says.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from schemac.identity.freeze import advance
from schemac.identity.lock import Lock, LockedDataset, Numbers, Shape, State, Version


@dataclass(frozen=True, slots=True)
class Merged:
    """The settled lock, and the fields that both branches changed, each in its own way."""

    lock: Lock
    choices: tuple[str, ...] = ()
    """What was decided, a sentence each."""


def merge(ours: Lock, theirs: Lock) -> Merged:
    """One lock with what both branches did."""
    lock, choices = ours, []
    for dataset in theirs.datasets:
        merged, made = _merge(ours.dataset(dataset.name), dataset)
        lock = lock.with_dataset(merged)
        choices += made
    return Merged(lock, tuple(choices))


def _merge(ours: LockedDataset, theirs: LockedDataset) -> tuple[LockedDataset, list[str]]:
    shared = _shared(ours, theirs)
    if len(theirs.versions) == shared:
        return ours, []
    if len(ours.versions) == shared:
        return theirs, []
    assert ours.newest is not None
    assert theirs.newest is not None
    return _Merge(ours, theirs, shared).result()


def _shared(ours: LockedDataset, theirs: LockedDataset) -> int:
    """How many versions the two have in common."""
    count = 0
    for mine, other in zip(ours.versions, theirs.versions, strict=False):
        if mine.digest != other.digest:
            break
        count += 1
    return count


class _Merge:
    """Puts what they did on top of what we did."""

    def __init__(self, ours: LockedDataset, theirs: LockedDataset, shared: int) -> None:
        self.ours, self.theirs, self.shared = ours, theirs, shared
        self.base = {state.id: state for state in ours.states_of(shared)}
        self.mine = {state.id: state for state in ours.states if state.last is None}
        self.other = {state.id: state for state in theirs.states if state.last is None}
        self.choices: list[str] = []
        ours_newest, theirs_newest = ours.versions[-1], theirs.versions[-1]
        self.highest_id = max(ours.highest_id, theirs.highest_id)
        self.highest_lance = max(ours_newest.highest_lance, theirs_newest.highest_lance)
        self.highest_paimon = max(ours_newest.highest_paimon, theirs_newest.highest_paimon)
        self.used_ids = {state.id for state in ours.states}
        self.used_lance = {id for state in ours.states for id in state.numbers.lance}
        self.used_paimon = {state.numbers.paimon for state in ours.states}
        self.new_ids: dict[int, int] = {}

    def result(self) -> tuple[LockedDataset, list[str]]:
        """The merged dataset."""
        for id in sorted(self.other):
            if id not in self.base:
                self.new_ids[id] = self.new_id(id)
        head = dict(self.mine)
        for id, state in sorted(self.other.items()):
            if id not in self.base:
                self.added_by_them(state, head)
        for id, state in self.other.items():
            if id in self.base and self.base[id] != state:
                self.changed_by_them(id, state, head)
        for id in self.base.keys() - self.other.keys():
            self.dropped_by_them(id, head)
        self.drop_orphans(head)
        return self.on_top(head), self.choices

    def new_id(self, id: int) -> int:
        """Their id of a field that they added, unless we have given it to another."""
        if id in self.used_ids:
            self.highest_id += 1
            id = self.highest_id
        self.used_ids.add(id)
        return id

    def shape(self, state: State) -> Shape:
        """Their shape of a field, below the parent as it is called here."""
        parent = state.shape.parent
        return (
            state.shape if parent is None else replace(state.shape, parent=self.new_ids.get(parent, parent))
        )

    def added_by_them(self, state: State, head: dict[int, State]) -> None:
        shape = self.shape(state)
        place = (shape.parent, shape.segment)
        twin = next((s for s in head.values() if (s.shape.parent, s.shape.segment) == place), None)
        if twin is not None:
            # Both added a field of this name: it is one field, and ours has its ids already.
            self.new_ids[state.id] = twin.id
            if twin.shape.type != shape.type:
                self.choices.append(f"{shape.segment} was added by both: it is as we have it")
            return
        id = self.new_ids[state.id]
        head[id] = State(id, state.first, None, shape, self.fresh(state.numbers, Numbers()))

    def changed_by_them(self, id: int, state: State, head: dict[int, State]) -> None:
        mine, shape = head.get(id), self.shape(state)
        if mine is None:
            self.choices.append(f"{shape.segment} was changed by them and dropped by us: it stays dropped")
        elif mine == self.base[id]:
            head[id] = replace(state, shape=shape, numbers=self.fresh(state.numbers, self.base[id].numbers))
        elif (mine.shape, mine.numbers) != (shape, state.numbers):
            self.choices.append(f"{mine.shape.segment} was changed by both: it stays as we have it")

    def dropped_by_them(self, id: int, head: dict[int, State]) -> None:
        mine = head.get(id)
        if mine is not None and mine != self.base[id]:
            self.choices.append(f"{mine.shape.segment} was dropped by them and changed by us: it stays")
        else:
            head.pop(id, None)

    def fresh(self, numbers: Numbers, before: Numbers) -> Numbers:
        """Their numbers, with new ones for those that we have given to another field."""
        lance = []
        for number in numbers.lance:
            if number not in before.lance and number in self.used_lance:
                self.highest_lance += 1
                number = self.highest_lance
            self.used_lance.add(number)
            lance.append(number)
        paimon = numbers.paimon
        if paimon is not None and paimon != before.paimon and paimon in self.used_paimon:
            self.highest_paimon += 1
            paimon = self.highest_paimon
        self.used_paimon.add(paimon)
        return Numbers(tuple(lance), paimon)

    def drop_orphans(self, head: dict[int, State]) -> None:
        """What is inside something that one side dropped goes with it."""
        while True:
            orphans = [
                id for id, s in head.items() if s.shape.parent is not None and s.shape.parent not in head
            ]
            if not orphans:
                return
            for id in orphans:
                del head[id]

    def on_top(self, head: Mapping[int, State]) -> LockedDataset:
        newest, theirs = self.ours.versions[-1], self.theirs.versions[-1]
        base = self.ours.versions[self.shared - 1].extra if self.shared else ""
        version = Version(
            newest.number + 1,
            newest.schema_id + 1,
            self.highest_lance,
            self.highest_paimon,
            extra=theirs.extra if newest.extra == base else newest.extra,
        )
        return advance(self.ours, version, {id: (s.shape, s.numbers) for id, s in head.items()})
