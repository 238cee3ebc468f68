"""Which field of a new schema is which of the old one.

Floor: 8 (identity).
Shape: the id of each slot that stood in the old version. A field keeps its id under its name, or under the name that
its `schemac.dev/renamedFrom` gives, be it that of a sibling or a path from the top; nothing is guessed.
Errors: SC404 unknown-old-name.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from schemac.attributes.own import RENAMED_FROM
from schemac.identity.lock import State, paths_of
from schemac.logical.findings import Findings
from schemac.logical.path import Segment, dotted
from schemac.logical.slots import Slot, preorder
from schemac.lowering.metadata import compact
from schemac.source.catalogue import UNKNOWN_OLD_NAME
from schemac.source.suggest import closest

Ids = dict[Slot, int]


class Matcher:
    """Finds the fields of one old version among new slots."""

    def __init__(
        self, states: Iterable[State], columns: Sequence[Slot], renamed: Mapping[str, str] | None = None
    ) -> None:
        """`renamed` gives old titles by new ones, beside what the attributes say."""
        self._states = tuple(states)
        self._columns = columns
        self._renamed = renamed or {}
        self._children: dict[int | None, dict[Segment, State]] = {}
        for state in self._states:
            self._children.setdefault(state.shape.parent, {})[state.shape.segment] = state
        self._ids: Ids = {}
        self._taken: set[int] = set()

    def match(self, findings: Findings | None = None) -> Ids:
        """The ids of all slots that were there; old names that nothing had are found fault with."""
        self._siblings(self._columns, None, findings)
        return self._ids

    def _siblings(self, slots: Sequence[Slot], parent: int | None, findings: Findings | None) -> None:
        """Match the children of one parent; a parent that is new has no old children."""
        old = self._children.get(parent, {}) if parent is not None or slots is self._columns else {}
        for slot in slots:
            if slot.is_member and (self._renamed or RENAMED_FROM.key in slot.extra):
                id = self._old_id(slot, slots, old, findings)
                if id is not None:
                    self._take(slot, id)
        for slot in slots:
            same = old.get(slot.segment)
            if slot not in self._ids and same is not None and same.id not in self._taken:
                self._take(slot, same.id)
        for slot in slots:
            if slot.children:
                self._siblings(slot.children, self._ids.get(slot, -1), findings)

    def _take(self, slot: Slot, id: int) -> None:
        self._ids[slot] = id
        self._taken.add(id)

    def _old_id(
        self, slot: Slot, siblings: Sequence[Slot], old: Mapping[Segment, State], findings: Findings | None
    ) -> int | None:
        """The id that a declaration gives a slot."""
        before = self._renamed.get(slot.title)
        if before is not None:
            id = self._titles.get(before)
            return id if id not in self._taken else None
        name = RENAMED_FROM.read(slot.extra)
        same = old.get(slot.segment)
        if name is None or (same is not None and _says(same, name)):
            return None
        sibling = old.get(name)
        if sibling is not None and sibling.id not in self._taken:
            heir = next((s for s in siblings if s.segment == name), None)
            if heir is None or _leaves(heir, sibling):
                return sibling.id
        moved = self._titles.get(name)
        if moved is not None and moved not in self._taken:
            heir = self._new_titles.get(name)
            if heir is None or _leaves(heir, self._by_id[moved]):
                return moved
        if same is None and findings is not None:
            near = closest(name, [str(segment) for segment in old]) or closest(name, self._titles)
            findings.at_extra(
                slot,
                RENAMED_FROM.key,
                UNKNOWN_OLD_NAME,
                f"no field was called '{name}' in the version before; {slot.title} is a new field",
                help=f"did you mean '{near}'?" if near else "remove the attribute",
            )
        return None

    @cached_property
    def _titles(self) -> dict[str, int]:
        """The old fields by their paths; the items of lists are none."""
        paths = paths_of(self._states)
        return {dotted(path): id for id, path in paths.items() if isinstance(path[-1], str)}

    @cached_property
    def _new_titles(self) -> dict[str, Slot]:
        return {slot.title: slot for slot in preorder(self._columns) if slot.is_member}

    @cached_property
    def _by_id(self) -> dict[int, State]:
        return {state.id: state for state in self._states}


def _says(state: State, name: str) -> bool:
    """Whether a state already had this old name: then the renaming is done."""
    return f"{compact(RENAMED_FROM.key)}:{compact(name)}" in state.shape.extra


def _leaves(heir: Slot, state: State) -> bool:
    """Whether the field that now has the name of an old one says that it is another."""
    name = RENAMED_FROM.read(heir.extra)
    return name is not None and not _says(state, name)
