"""Numbers of fields after a merge, for every engine that numbers fields: one field each, for ever.

Shape: short edits of one schema are locked on two branches, which are merged. `make test` does this with a part of all
pairs of edits, `make test-long` with many of all pairs of two edits each.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

import pytest

from schemac.language.logical.model import preorder
from schemac.versions.identity.freeze import adopt, numbers_of
from schemac.versions.identity.lock import EngineData, FieldState, Highest, Lock, LockedDataset, numberings
from schemac.versions.identity.merge import merge
from schemac.versions.identity.opening import open_version
from tests.identity.trees import ITEM, KEY, VALUE, Model, Node, locked

Renamed = dict[str, str]
Edit = Callable[[Model, str], Renamed]
"""Changes a model on the branch of this name, and returns the old paths of what it renamed or moved, by the new ones."""
Numbered = dict[int, tuple[int, ...]]
"""The numbers of one engine, by the ids of the lock."""


def plain(name: str, kind: str = "Int32") -> Node:
    return Node(name, {"kind": kind})


def first() -> Model:
    """Columns of each form: plain ones, a struct, a list and a map of structs."""
    inner = Node("in", {"kind": "Struct"}, [plain("z")])
    item = Node(ITEM, {"kind": "Struct"}, [plain("p"), plain("q")])
    value = Node(VALUE, {"kind": "Struct"}, [plain("v")])
    return Model(
        [
            plain("a"),
            plain("b", "String"),
            Node("s", {"kind": "Struct"}, [plain("x"), plain("y"), inner]),
            Node("l", {"kind": "List"}, [item]),
            Node("m", {"kind": "Map"}, [Node(KEY, {"kind": "String"}), value]),
        ]
    )


def members_at(model: Model, path: str) -> list[Node]:
    """The list that holds a field, by its path; the last name need not be there."""
    members = model.columns
    for name in path.split(".")[:-1]:
        node = next((one for one in members if one.segment in (name, ITEM, VALUE)), None)
        if node is None:
            return []
        members = node.children
    return members


def taken(model: Model, path: str) -> Node | None:
    """Take a field out; None where an earlier edit has done so."""
    members = members_at(model, path)
    node = next((one for one in members if one.segment == path.rsplit(".", maxsplit=1)[-1]), None)
    if node is not None:
        members.remove(node)
    return node


def adds(path: str, *, is_own: bool, is_struct: bool = False) -> Edit:
    """Adds a field, of a name of its branch's own or of one that both branches use."""

    def edit(model: Model, branch: str) -> Renamed:
        name = path.rsplit(".", maxsplit=1)[-1] + (branch if is_own else "")
        members = members_at(model, path)
        if all(one.segment != name for one in members):
            made = Node(name, {"kind": "Struct"}, [plain("i")]) if is_struct else plain(name)
            members.append(made)
        return {}

    return edit


def drops(path: str) -> Edit:
    def edit(model: Model, branch: str) -> Renamed:
        taken(model, path)
        return {}

    return edit


def moves(path: str, to: str) -> Edit:
    """Moves or renames a field."""

    def edit(model: Model, branch: str) -> Renamed:
        goal = members_at(model, to)
        name = to.rsplit(".", maxsplit=1)[-1]
        is_there = to.count(".") == 0 or bool(goal)
        if not is_there or any(one.segment == name for one in goal):
            return {}
        node = taken(model, path)
        if node is None:
            return {}
        node.segment = name
        goal.append(node)
        return {to: path}

    return edit


def nests(path: str) -> Edit:
    """Puts a column into a new struct."""

    def edit(model: Model, branch: str) -> Renamed:
        node = None if members_at(model, f"box{branch}.") else taken(model, path)
        if node is None:
            return {}
        model.columns.append(Node(f"box{branch}", {"kind": "Struct"}, [node]))
        return {f"box{branch}.{path}": path}

    return edit


def makes(path: str, kind: str, *children: str) -> Edit:
    """Gives a field another type."""

    def edit(model: Model, branch: str) -> Renamed:
        for node in members_at(model, path):
            if node.segment == path.rsplit(".", maxsplit=1)[-1]:
                node.type, node.children = {"kind": kind}, [plain(name) for name in children]
        return {}

    return edit


def then(*edits: Edit) -> Edit:
    """Several edits in one version."""

    def edit(model: Model, branch: str) -> Renamed:
        return {new: old for one in edits for new, old in one(model, branch).items()}

    return edit


EDITS: Mapping[str, Edit] = {
    "add a column": adds("c", is_own=True),
    "add a column that both add": adds("c", is_own=False),
    "add a struct that both add": adds("t", is_own=False, is_struct=True),
    "add a member": adds("s.w", is_own=True),
    "add an inner member": adds("s.in.w", is_own=True),
    "add to an item": adds("l.item.r", is_own=True),
    "add to a value": adds("m.value.w", is_own=True),
    "drop a column": drops("a"),
    "drop a struct": drops("s"),
    "drop a member": drops("s.x"),
    "rename a struct": moves("s", "r"),
    "rename a member": moves("s.x", "s.r"),
    "move out": moves("s.x", "x"),
    "move a struct out": moves("s.in", "in"),
    "move in": moves("a", "s.a"),
    "move in further": moves("a", "s.in.a"),
    "nest a column": nests("a"),
    "nest a struct": nests("s"),
    "cast a column": makes("a", "Int64"),
    "cast a member": makes("s.x", "Int64"),
    "cast in an item": makes("l.item.p", "Int64"),
    "make a struct of a column": makes("a", "Struct", "n"),
    "make a column of a struct": makes("s", "String"),
    "drop and add": then(drops("a"), adds("c", is_own=True)),
}


def numbered(lock: LockedDataset, engine: str, number: int) -> Numbered:
    return {state.id: state.numbers.of(engine) for state in lock.states_of(number)}


def base_lock() -> LockedDataset:
    """The first version, numbered by every engine: also by those that number only what came with numbers."""
    dataset = first().dataset()
    made = {engine: own.number(dataset, None, -1) for engine, own in numberings().items()}
    given = numbers_of(preorder(dataset.columns), {engine: numbers for engine, (numbers, _) in made.items()})
    highest = Highest(tuple((engine, most) for engine, (_, most) in sorted(made.items())))
    lock = adopt(dataset, LockedDataset("d"), given, highest, EngineData())
    assert lock is not None
    for engine in numberings():
        assert any(numbered(lock, engine, 1).values()), engine
    return lock


def branch(base: LockedDataset, name: str, edits: Sequence[Edit]) -> LockedDataset:
    """The lock with a version for each edit."""
    model, lock = first(), base
    for edit in edits:
        renamed = edit(model, name)
        lock, _ = locked(model.dataset(), lock, renamed)
    return lock


def check_kept_for_ever(lock: LockedDataset, engine: str) -> dict[int, int]:
    """Each number has been of one field only, and never came back; the fields, by the numbers."""
    owners: dict[int, int] = {}
    before: set[int] = set()
    for version in lock.versions:
        found = numbered(lock, engine, version.number)
        given = [number for own in found.values() for number in own]
        assert len(set(given)) == len(given), f"{engine}: version {version.number} gives a number twice"
        assert before | (set(given) - owners.keys()) >= set(given), f"{engine}: a dropped number came back"
        for id, own in found.items():
            for number in own:
                assert owners.setdefault(number, id) == id, f"{engine}: {number} was of another field"
        assert max(owners, default=-1) <= version.highest.of(engine)
        before = set(given)
    return owners


def newest(lock: LockedDataset) -> dict[int, FieldState]:
    return {state.id: state for state in lock.states if state.last is None}


def check_merge(base: LockedDataset, ours: LockedDataset, theirs: LockedDataset) -> None:
    (merged,) = merge(Lock((ours,)), Lock((theirs,))).lock.datasets
    shared = {state.id for state in base.states}
    # What comes next has numbers that neither branch ever gave.
    model = Model([*_nodes(merged), plain("later")])
    later, _ = locked(model.dataset(), merged)
    for engine in numberings():
        mine, other = (check_kept_for_ever(lock, engine) for lock in (ours, theirs))
        check_kept_for_ever(later, engine)
        ever = max((*mine, *other))
        now = numbered(merged, engine, len(merged.versions))
        there = numbered(theirs, engine, len(theirs.versions))
        at_first = numbered(base, engine, 1)
        here = numbered(ours, engine, len(ours.versions))
        for id, own in now.items():
            if id in shared and at_first[id] == here.get(id) == there.get(id):
                assert own == at_first[id], f"{engine}: a field that nobody touched has other numbers"
            for number in set(own) - mine.keys():
                check_new(engine, number, newest(merged)[id], newest(theirs), other, ever)
        for state in newest(later).values():
            if state.shape.segment == "later":
                assert all(number > ever for number in state.numbers.of(engine))


def check_new(
    engine: str,
    number: int,
    state: FieldState,
    there: Mapping[int, FieldState],
    other: Mapping[int, int],
    ever: int,
) -> None:
    """A number that we never gave is of the same field with them, or nobody's."""
    if number > ever:
        return
    owner = there.get(other.get(number, 0))
    assert owner is not None, f"{engine}: {number} was dropped by them"
    assert number in owner.numbers.of(engine), f"{engine}: {number} is of no field of theirs any more"
    is_same = owner.id == state.id or owner.shape.segment == state.shape.segment
    assert is_same, f"{engine}: {number} is of another field with them"


def _nodes(lock: LockedDataset) -> Iterator[Node]:
    """The columns of the newest version, to edit."""
    states = newest(lock)

    def node(id: int) -> Node:
        field, _ = by_id[id]
        type_ = field.type.model_dump(
            by_alias=True,
            exclude={"extra", "fields", "item_type", "key_type", "value_type"},
            exclude_unset=True,
        )
        below = [node(by_field[child]) for child in field.children]
        return Node(field.segment, type_, below, field.is_nullable, dict(field.extra))

    opened = open_version(lock, lock.versions[-1])
    by_id = {state.id: (field, state) for field, state in opened.states.items()}
    by_field = {field: state.id for field, state in opened.states.items()}
    assert by_id.keys() == states.keys()
    for column in opened.logical.columns:
        yield node(by_field[column])


def check_all(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> None:
    base = base_lock()

    @cache
    def lock_of(name: str, edits: Sequence[str]) -> LockedDataset:
        return branch(base, name, [EDITS[edit] for edit in edits])

    for ours, theirs in pairs:
        try:
            check_merge(base, lock_of("_o", ours), lock_of("_t", theirs))
        except AssertionError as error:
            error.add_note(f"ours: {', '.join(ours)}; theirs: {', '.join(theirs)}")
            raise


def test_number_what_two_branches_edit() -> None:
    """Each edit of ours with some of theirs, and a field added after each: the same ids are given for different numbers."""
    pairs = [(i, k) for i in range(len(EDITS)) for k in range(len(EDITS)) if (i + k) % 4 == 0]
    names = list(EDITS)
    check_all(((names[i], "add a member"), (names[k], "add a column")) for i, k in pairs)


@pytest.mark.long
def test_number_what_two_branches_edit_in_any_way() -> None:
    chance, names = random.Random(0), list(EDITS)
    check_all((tuple(chance.choices(names, k=2)), tuple(chance.choices(names, k=2))) for _ in range(20_000))
