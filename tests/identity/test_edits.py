"""Random edits of schemas, locked after each: ids stay with their fields, numbers are given once, nothing is lost.

The same machine makes a small run always and a long one under `make test-long`. A step is one edit, locked; a merge
counts as one, the edits of its two branches as others.
"""

import dataclasses
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from schemac.arrow.to_arrow import to_arrow_fields
from schemac.engines.lance.artifact import to_message
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import SchemaField, dotted
from schemac.text.source.diagnostics import Report
from schemac.versions.identity.compilation import Locked
from schemac.versions.identity.lock import FieldState, Lock, LockedDataset
from schemac.versions.identity.lockfile import read_lock, write_lock
from schemac.versions.identity.merge import merge
from schemac.versions.identity.opening import open_version
from tests.effort import law
from tests.identity.trees import (
    ITEM,
    KEY,
    RENAMED_FROM,
    VALUE,
    Model,
    Node,
    Tree,
    fields,
    fields_by_uid,
    history,
    ids,
    locked,
    struct,
)

PLAIN: tuple[Tree, ...] = (
    {"kind": "Int32"},
    {"kind": "Int64"},
    {"kind": "Float64"},
    {"kind": "String"},
    {"kind": "Binary"},
    {"kind": "Bool"},
    {"kind": "Decimal", "precision": 10, "scale": 2},
    {"kind": "Decimal", "precision": 20, "scale": 2},
    {"kind": "Timestamp"},
    {"kind": "Timestamp", "unit": "Nanosecond", "timezone": None},
    {"kind": "Date"},
)
"""Each another word to Lance, so that going from one to another is a cast."""
NAMES = ("a", "b", "c", "d", "e", "a b", "x.y", "[item]", "item", "Ünï", 'q"~0123ab', "\u2028")
EXTRAS: tuple[tuple[str, Any], ...] = (
    ("opendatafabric.org/description", "What it is"),
    ("opendatafabric.org/description", "What it is ~0a1b2c"),
    ("example.com/owner", {"team": ["a", 1, 1.0, True, None], "?": "}"}),
    ("example.com/rank", 1),
    ("example.com/rank", True),
)
MOST_FIELDS = 24
MOST_DEPTH = 4
EDITS_APART = 6


@dataclass
class Ledger:
    """What was ever given to whom, as the test saw it."""

    ids: dict[int, int] = dataclasses.field(default_factory=dict)
    """By uid."""
    lance: dict[int, int] = dataclasses.field(default_factory=dict)
    """The id of the field that a number of Lance was given to."""
    paimon: dict[int, int] = dataclasses.field(default_factory=dict)
    schemas: dict[int, LogicalDataset] = dataclasses.field(default_factory=dict)
    """The dataset that was locked as each version; of a merge, what came out of it."""

    def copy(self) -> "Ledger":
        return Ledger(dict(self.ids), dict(self.lance), dict(self.paimon), dict(self.schemas))


@dataclass
class Branch:
    """A manifest with its lock, and what is known of the two."""

    model: Model
    lock: LockedDataset = dataclasses.field(default_factory=lambda: LockedDataset("d"))
    ledger: Ledger = dataclasses.field(default_factory=Ledger)

    def copy(self) -> "Branch":
        return Branch(self.model.copy(), self.lock, self.ledger.copy())

    def freeze(self, touched: Iterable[Node] = (), renamed: dict[str, str] | None = None) -> None:
        """Lock the model after an edit that made, cast or moved these nodes, and no others."""
        uids = {node.uid for node in touched}
        before = {state.id: state for state in self.lock.states if state.last is None}
        dataset = self.model.dataset()
        lock, found = locked(dataset, self.lock, renamed)
        self.check_stable(dataset, found, before, uids)
        if lock is self.lock:
            assert not found.is_changed
            assert not uids
            return
        assert lock.newest is not None
        self.lock = lock
        self.ledger.schemas[lock.newest.number] = dataset
        self.check_sound()

    def check_stable(
        self, dataset: LogicalDataset, found: Locked, before: dict[int, FieldState], touched: set[int]
    ) -> None:
        """Who was there keeps the id; and the numbers, unless it was touched or is in a part that Lance writes anew."""
        fields = fields_by_uid(self.model, dataset)
        ever = {state.id for state in self.lock.states}
        for column in self.model.columns:
            inside = list(column.walk())
            is_rewritten = any(
                node.uid in touched and any(not one.is_struct for one in above) for node, above in inside
            )
            for node, above in inside:
                field = fields[node.uid]
                id, numbers = found.ids[field], found.numbers[field]
                known = self.ledger.ids.setdefault(node.uid, id)
                assert id == known, f"{field.path_text} had the id {known}, now it has {id}"
                if id not in before:
                    assert id not in ever, f"{field.path_text} has the id {id} of one that was dropped"
                    continue
                old = before[id].numbers
                is_touched = node.uid in touched or any(one.uid in touched for one in above)
                if node.uid in touched:
                    assert set(numbers.of("lance")).isdisjoint(old.of("lance")), (
                        f"{field.path_text} is new to Lance"
                    )
                elif not is_touched and not is_rewritten:
                    assert numbers == old, f"{field.path_text} was not touched"

    def check_sound(self) -> None:
        """The newest version: everything is given once, to one field for ever."""
        newest = self.lock.newest
        assert newest is not None
        states = self.lock.states_of(newest.number)
        assert all(state.last is None for state in states)
        lance = [number for state in states for number in state.numbers.of("lance")]
        paimon = [number for state in states for number in state.numbers.of("paimon")]
        assert len({state.id for state in states}) == len(states)
        assert len(set(lance)) == len(lance)
        assert len(set(paimon)) == len(paimon)
        assert max(lance, default=-1) <= newest.highest.of("lance")
        assert max(paimon, default=-1) <= newest.highest.of("paimon")
        for state in states:
            for number in state.numbers.of("lance"):
                assert self.ledger.lance.setdefault(number, state.id) == state.id
            for number in state.numbers.of("paimon"):
                assert self.ledger.paimon.setdefault(number, state.id) == state.id
            assert len(state.numbers.of("paimon")) == isinstance(state.shape.segment, str)
        assert max(self.ledger.lance, default=-1) <= newest.highest.of("lance")
        assert max(self.ledger.paimon, default=-1) <= newest.highest.of("paimon")
        self.check_rebuilt(newest.number)
        # The oldest and one between, for all of them at each step would take ever longer.
        self.check_rebuilt(1 + newest.number // 2)
        text = write_lock(Lock((self.lock,)))
        report = Report()
        read = read_lock(text, "d.lock", report)
        assert not report.diagnostics, report.diagnostics
        assert read == Lock((self.lock,))
        assert write_lock(read) == text
        dataset = self.ledger.schemas[newest.number]
        again, found = locked(dataset, self.lock)
        assert again is self.lock
        assert {id: found.numbers[schema_field] for schema_field, id in found.ids.items()} == {
            state.id: state.numbers for state in states
        }
        # What targets are given fits what they make of the schema.
        message = to_message(to_arrow_fields(dataset), found.numbers)
        assert sorted(field.id for field in message.fields) == sorted(lance)

    def check_rebuilt(self, number: int) -> None:
        """A version is what was locked: names, order, types, nullability, attributes."""
        version = self.lock.version(number)
        assert version is not None
        opened = open_version(self.lock, version)
        assert opened.logical == self.ledger.schemas[number]

    def restart(self) -> None:
        """Go on from the newest locked version, as after a merge whose manifest is what the lock says."""
        newest = self.lock.newest
        assert newest is not None
        opened = open_version(self.lock, newest)
        self.ledger.schemas[newest.number] = opened.logical
        self.ledger.ids = {}

        def node(field: SchemaField) -> Node:
            type_ = field.type.model_dump(
                by_alias=True,
                exclude={"extra", "fields", "item_type", "key_type", "value_type"},
                exclude_unset=True,
            )
            made = Node(field.segment, type_, [], field.is_nullable, dict(field.extra))
            made.children = [node(child) for child in field.children]
            self.ledger.ids[made.uid] = opened.states[field].id
            return made

        columns = [node(field) for field in opened.logical.columns]
        self.model = Model(columns, dict(opened.logical.schema.extra))


class Steps:
    """How many steps all machines have made."""

    count = 0


numbers = st.integers(0, 999)


class Edits(RuleBasedStateMachine):
    """One manifest with its lock, now and then two branches of it."""

    def __init__(self) -> None:
        super().__init__()
        self.branches = [Branch(Model([]))]
        self.apart = 0
        """Steps since the branches parted."""

    # What is picked: by numbers, for what there is changes with every step.

    @property
    def model(self) -> Model:
        return self.branches[-1].model

    def freeze(self, *touched: Node, renamed: dict[str, str] | None = None) -> None:
        Steps.count += 1
        self.branches[-1].freeze(touched, renamed)
        self.apart += 1

    def member(self, at: int) -> tuple[Node, tuple[Node, ...]]:
        members = self.model.members()
        return members[at % len(members)]

    def siblings(self, above: tuple[Node, ...]) -> list[Node]:
        return above[-1].children if above else self.model.columns

    def free_name(self, siblings: list[Node], at: int) -> str:
        taken = {node.segment for node in siblings}
        free = [name for name in NAMES if name not in taken] or [f"n{at}_{len(taken)}"]
        return free[at % len(free)]

    def has_members(self) -> bool:
        return bool(self.model.columns)

    @initialize(kinds=st.lists(numbers, min_size=1, max_size=5))
    def first(self, kinds: list[int]) -> None:
        for kind in kinds:
            columns = self.model.columns
            columns.append(new_node(self.free_name(columns, kind), kind))
        self.freeze(*(node for node, _ in self.model.walk()))
        check_first(self.branches[-1])

    @rule(place=numbers, at=numbers, kind=numbers)
    def add(self, place: int, at: int, kind: int) -> None:
        if sum(1 for _ in self.model.walk()) > MOST_FIELDS:
            self.drop(at)
            return
        lists = [(members, above) for members, above in self.model.lists() if len(above) < MOST_DEPTH]
        members, _ = lists[place % len(lists)]
        node = new_node(self.free_name(members, at), kind)
        members.insert(at % (len(members) + 1), node)
        self.freeze(*(one for one, _ in node.walk()))

    @rule(at=numbers)
    @precondition(has_members)
    def drop(self, at: int) -> None:
        node, above = self.member(at)
        self.siblings(above).remove(node)
        self.freeze()

    @rule(at=numbers, kind=numbers)
    @precondition(has_members)
    def drop_and_add_again(self, at: int, kind: int) -> None:
        node, above = self.member(at)
        siblings = self.siblings(above)
        place = siblings.index(node)
        siblings.remove(node)
        self.freeze()
        again = new_node(node.name, kind)
        siblings.insert(place, again)
        self.freeze(*(one for one, _ in again.walk()))

    @rule(at=numbers, name=numbers, is_declared=st.booleans())
    @precondition(has_members)
    def rename(self, at: int, name: int, is_declared: bool) -> None:
        node, above = self.member(at)
        before, old = title(node, above), node.name
        node.segment = self.free_name(self.siblings(above), name)
        if is_declared:
            node.extra[RENAMED_FROM] = old
            self.freeze()
        else:
            self.freeze(renamed={title(node, above): before})

    @rule(at=numbers, other=numbers)
    @precondition(has_members)
    def swap(self, at: int, other: int) -> None:
        node, above = self.member(at)
        siblings = self.siblings(above)
        twin = siblings[other % len(siblings)]
        if twin is node or any(one.extra.get(RENAMED_FROM) is not None for one in (node, twin)):
            return
        node.segment, twin.segment = twin.segment, node.segment
        node.extra[RENAMED_FROM], twin.extra[RENAMED_FROM] = twin.name, node.name
        self.freeze()

    @rule(at=numbers, place=numbers, index=numbers, name=numbers, is_declared=st.booleans())
    @precondition(has_members)
    def move(self, at: int, place: int, index: int, name: int, is_declared: bool) -> None:
        node, above = self.member(at)
        inside = {id(one) for one, _ in node.walk()}
        siblings = self.siblings(above)
        lists = [
            (members, way)
            for members, way in self.model.lists()
            if members is not siblings and len(way) < MOST_DEPTH and not any(id(one) in inside for one in way)
        ]
        if not lists:
            return
        before = title(node, above)
        members, way = lists[place % len(lists)]
        if before in {one.name for one in members}:
            # `renamedFrom` would mean the sibling of that name.
            return
        siblings.remove(node)
        node.segment = self.free_name(members, name)
        members.insert(index % (len(members) + 1), node)
        if is_declared:
            node.extra[RENAMED_FROM] = before
            self.freeze(node)
        else:
            self.freeze(node, renamed={title(node, way): before})

    @rule(at=numbers, order=st.randoms(use_true_random=False))
    @precondition(has_members)
    def reorder(self, at: int, order: Any) -> None:
        _, above = self.member(at)
        order.shuffle(self.siblings(above))
        self.freeze()

    @rule(at=numbers, name=numbers, which=st.integers(1, 7))
    @precondition(has_members)
    def nest(self, at: int, name: int, which: int) -> None:
        _, above = self.member(at)
        siblings = self.siblings(above)
        wrapped = [node for i, node in enumerate(siblings) if which >> (i % 3) & 1]
        depth = max((len(way) for node in wrapped for _, way in node.walk()), default=0)
        if not wrapped or len(above) + depth > MOST_DEPTH:
            return
        box = Node(self.free_name(siblings, name), {"kind": "Struct"}, wrapped)
        if any(title(node, above) in {one.name for one in wrapped if one is not node} for node in wrapped):
            return
        for node in wrapped:
            node.extra[RENAMED_FROM] = title(node, above)
            siblings.remove(node)
        siblings.append(box)
        self.freeze(box, *wrapped)

    @rule(at=numbers, kind=numbers)
    @precondition(has_members)
    def cast(self, at: int, kind: int) -> None:
        nodes = [node for node, _ in self.model.walk() if not node.children and not node.is_struct]
        if not nodes:
            return
        node = nodes[at % len(nodes)]
        others = [type_ for type_ in PLAIN if type_ != node.type]
        node.type = dict(others[kind % len(others)])
        self.freeze(node)

    @rule(at=numbers, kind=numbers)
    @precondition(has_members)
    def replace(self, at: int, kind: int) -> None:
        """A type of another form altogether: the field stays, what was in it goes."""
        node, _ = self.member(at)
        made = new_node("x", kind)
        if made.type["kind"] == node.type["kind"]:
            return
        node.type, node.children = made.type, made.children
        self.freeze(*(one for one, _ in node.walk()))

    @rule(at=numbers)
    @precondition(has_members)
    def let_be_null(self, at: int) -> None:
        nodes = [node for node, _ in self.model.walk() if node.segment is not KEY]
        node = nodes[at % len(nodes)]
        node.is_nullable = not node.is_nullable
        self.freeze()

    @rule(at=numbers, which=numbers)
    @precondition(has_members)
    def describe(self, at: int, which: int) -> None:
        nodes = [node for node, _ in self.model.walk()]
        node = nodes[at % len(nodes)]
        key, value = EXTRAS[which % len(EXTRAS)]
        if which % 3:
            node.extra[key] = value
        else:
            node.extra.pop(key if which % 2 else RENAMED_FROM, None)
        self.freeze()

    @rule(which=numbers)
    def describe_schema(self, which: int) -> None:
        key, value = EXTRAS[which % len(EXTRAS)]
        if which % 3:
            self.model.extra[key] = value
        else:
            self.model.extra.pop(key, None)
        self.freeze()

    @rule()
    def change_nothing(self) -> None:
        self.freeze()

    @rule()
    @precondition(lambda self: len(self.branches) < 2)
    def branch(self) -> None:
        """From here on edits go to the second branch; `other_branch` changes over."""
        self.branches.append(self.branches[-1].copy())
        self.apart = 0

    @rule()
    @precondition(lambda self: len(self.branches) == 2)
    def other_branch(self) -> None:
        self.branches.reverse()

    @invariant()
    def take_turns(self) -> None:
        """So that both branches are edited, each step or so."""
        if len(self.branches) == 2 and self.apart % 2:
            self.branches.reverse()

    @rule()
    @precondition(lambda self: len(self.branches) == 2 and self.apart >= EDITS_APART)
    def merge(self) -> None:
        Steps.count += 1
        ours, theirs = self.branches
        self.branches = [merged_branch(ours, theirs)]

    def teardown(self) -> None:
        for branch in self.branches:
            for version in branch.lock.versions:
                branch.check_rebuilt(version.number)


def merged_branch(ours: Branch, theirs: Branch) -> Branch:
    """Two branches made one, with all that has to hold of it."""
    found = merge(Lock((ours.lock,)), Lock((theirs.lock,)))
    (lock,) = found.lock.datasets
    again = merge(Lock((ours.lock,)), Lock((theirs.lock,)))
    assert again == found
    if lock in (ours.lock, theirs.lock):
        return ours if lock is ours.lock else theirs
    before, other = ours.lock, theirs.lock
    assert lock.versions[:-1] == before.versions
    merged = Branch(ours.model, lock, ours.ledger)
    was_used = {state.id for state in before.states}
    present = [state for state in lock.states if state.last is None]
    theirs_now = {state.id for state in other.states if state.last is None}
    for state in present:
        if state.id not in was_used:
            # New to us: theirs, by its id or by a new one.
            assert state.id in theirs_now or state.id > max(before.highest_id, other.highest_id)
    numbers = {number for state in other.states if state.last is None for number in state.numbers.of("lance")}
    for number in {one for state in present for one in state.numbers.of("lance")} - set(ours.ledger.lance):
        assert number in numbers or number > max(ours.ledger.lance | theirs.ledger.lance, default=-1)
    assert lock.highest_id >= max(before.highest_id, other.highest_id)
    assert lock.newest is not None
    # From now on nothing that either side used may be given to another field.
    for number, owner in theirs.ledger.lance.items():
        merged.ledger.lance.setdefault(number, -owner)
    for number, owner in theirs.ledger.paimon.items():
        merged.ledger.paimon.setdefault(number, -owner)
    for state in present:
        for number in state.numbers.of("lance"):
            if merged.ledger.lance.get(number, 0) < 0:
                merged.ledger.lance[number] = state.id
        for number in state.numbers.of("paimon"):
            if merged.ledger.paimon.get(number, 0) < 0:
                merged.ledger.paimon[number] = state.id
    merged.restart()
    merged.check_sound()
    return merged


def title(node: Node, above: tuple[Node, ...]) -> str:
    return dotted(tuple(one.segment for one in (*above, node)))


def new_node(name: str, kind: int) -> Node:
    """A field of any form; the number decides."""
    plain = dict(PLAIN[kind % len(PLAIN)])
    form = kind // len(PLAIN) % 12
    is_nullable = kind % 7 == 0
    if form == 0:
        return Node(name, {"kind": "Struct"}, [Node("a", plain), Node("b", {"kind": "String"})], is_nullable)
    if form == 1:
        return Node(name, {"kind": "Struct"}, [], is_nullable)
    if form == 2:
        return Node(name, {"kind": "List"}, [Node(ITEM, plain, is_nullable=is_nullable)])
    if form == 3:
        item = Node(ITEM, {"kind": "Struct"}, [Node("a", plain)])
        return Node(name, {"kind": "List"}, [item], is_nullable)
    if form == 4:
        value = Node(VALUE, {"kind": "Struct"}, [Node("a", plain)]) if kind % 2 else Node(VALUE, plain)
        return Node(name, {"kind": "Map"}, [Node(KEY, {"kind": "String"}), value], is_nullable)
    if form == 5:
        return Node(name, {"kind": "List", "fixedLength": 3}, [Node(ITEM, {"kind": "Float32"})], is_nullable)
    return Node(name, plain, [], is_nullable)


def check_first(branch: Branch) -> None:
    """The first version is numbered as Lance and Paimon number a new table."""
    dataset = branch.ledger.schemas[1]
    _, found = locked(dataset)
    lowered = to_arrow_fields(dataset)
    message = to_message(lowered)
    assert to_message(lowered, found.numbers) == message
    assert [field.id for field in message.fields] == list(range(len(message.fields)))
    expected: dict[SchemaField, int] = {}
    take = partial(next, iter(range(10_000)))

    def below(schema_field: SchemaField) -> None:
        for child in schema_field.children:
            below(child)
            if isinstance(child.segment, str):
                expected[child] = take()

    for schema_field in dataset.columns:
        expected[schema_field] = take()
        below(schema_field)
    assert {schema_field: n.of("paimon") for schema_field, n in found.numbers.items() if n.of("paimon")} == {
        schema_field: (id,) for schema_field, id in expected.items()
    }


SMALL = settings(law(40), stateful_step_count=60)


@pytest.mark.hypothesis
def test_keep_ids_through_random_edits() -> None:
    run_state_machine_as_test(Edits, settings=SMALL)


@pytest.mark.long
def test_keep_ids_through_very_many_random_edits() -> None:
    Steps.count = 0
    start = time.monotonic()
    more = settings(
        SMALL, max_examples=300, derandomize=False, database=None, phases=(Phase.generate, Phase.shrink)
    )
    while Steps.count < 100_000:
        run_state_machine_as_test(Edits, settings=more)
    print(f"{Steps.count} steps in {time.monotonic() - start:.0f} s")


def test_swap_members_of_two_structs() -> None:
    """Each says that it is the other: neither stands in the other's way."""
    before = history(fields(p=struct(x="Int8"), q=struct(x="Int8")))
    from_q, from_p = ({RENAMED_FROM: old} for old in ("q.x", "p.x"))
    swapped = fields(p=struct(x=("Int8", from_q)), q=struct(x=("Int8", from_p)))
    after, _ = locked(swapped, before)
    assert (ids(after)["p.x"], ids(after)["q.x"]) == (ids(before)["q.x"], ids(before)["p.x"])
    again, _ = locked(swapped, after)
    assert again is after


def test_move_a_field_twice_by_one_declaration() -> None:
    """The lock has the declaration from its first move; the field that makes it anew is not one that takes its name."""
    from_b = {RENAMED_FROM: "b"}
    nested = history(fields(b="Int8"), fields(s=struct(b=("Int8", from_b))))
    back, _ = locked(fields(b=("Int8", from_b)), nested, {"b": "s.b"})
    again, _ = locked(fields(t=struct(b=("Int8", from_b))), back)
    assert ids(again)["t.b"] == ids(back)["b"] == ids(nested)["s.b"] == 1


def test_rename_a_member_beside_a_column_of_its_old_name() -> None:
    """The column is not what has the member's name now, whatever it declares itself."""
    from_a, from_b = ({RENAMED_FROM: old} for old in "ab")
    before = history(fields(a="Int8", b="Int8", s=struct(a="Int8", b="Int8")))
    swapped = struct(b=("Int8", from_a), a=("Int8", from_b))
    both, _ = locked(fields(b=("Int8", from_a), a=("Int8", from_b), s=swapped), before)
    renamed = struct(c=("Int8", from_b), a=("Int8", from_b))
    after, _ = locked(fields(b=("Int8", from_a), a=("Int8", from_b), s=renamed), both)
    assert ids(after)["s.c"] == ids(both)["s.b"] == ids(before)["s.a"]


def test_give_one_id_to_one_field_whatever_is_declared() -> None:
    before = history(fields(a="Int8", b="Int8"))
    twice = fields(x=("Int8", {RENAMED_FROM: "a"}), y=("Int8", {RENAMED_FROM: "a"}), b="Int8")
    after, _ = locked(twice, before)
    assert ids(after) == {"x": 1, "b": 2, "y": 3}
    still_there, _ = locked(fields(a="Int8", b="Int8", s=struct(c="Int8")), before, {"s.c": "a"})
    assert ids(still_there) == {"a": 1, "b": 2, "s": 3, "s.c": 4}


def test_move_no_item_of_a_list_out_as_a_field() -> None:
    """It has no name that could be told; it was many values, and would be one."""
    before = history(fields(l={"kind": "List", "itemType": {"kind": "Int8"}}))
    after, _ = locked(fields(x=("Int8", {RENAMED_FROM: "l.item"})), before)
    assert ids(after) == {"x": 3}
