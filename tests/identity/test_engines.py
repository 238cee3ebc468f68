"""An engine that nothing of the compiler knows numbers fields: the lock keeps its numbers like those of any other."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import SchemaField, dotted, preorder
from schemac.registry.engine import Engine, EngineError, engines
from schemac.text.source.diagnostics import Report
from schemac.versions.identity import lock as numbering
from schemac.versions.identity import opening
from schemac.versions.identity.freeze import freeze, identify, restored
from schemac.versions.identity.lock import Former, Lock, LockedDataset, Numbered, Numbering, Version, paths_of
from schemac.versions.identity.lockfile import read_lock, write_lock
from schemac.versions.identity.merge import merge
from schemac.versions.identity.opening import open_version
from tests.identity.trees import fields, ids, locked, struct


def _number(dataset: LogicalDataset, former: Former | None, highest: int) -> Numbered:
    """Two numbers in descending order for each member, new ones where its type or its place is another."""
    found: dict[SchemaField, tuple[int, ...]] = {}
    for field in reversed(preorder(dataset.columns)):
        old = former.fields.get(field) if former is not None else None
        if not field.is_member:
            continue
        is_kept = old is not None and former is not None and former.is_in_its_place(field) and not old.is_back
        if old is not None and is_kept and old.numbers and old.field.type.kind == field.type.kind:
            found[field] = old.numbers
        else:
            found[field] = (highest + 2, highest + 1)
            highest += 2
    return found, highest


def _next_data(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"épreuve {": [*data.get("épreuve {", ()), "} 0123456789abcdef ~012345"]}


FAKE = Numbering(_number, next_data=_next_data)
ENGINE = Engine("fake.engine-1", "Fake", position=1, numbering=f"{__name__}:FAKE")
NAME = ENGINE.name
Switch = Callable[[bool], None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Switch:
    """Installs the engine, or takes it away."""
    own = engines()

    def switch(is_there: bool) -> None:
        monkeypatch.setattr(numbering, "engines", lambda: (*own, ENGINE) if is_there else own)

    switch(True)
    return switch


def reread(lock: LockedDataset) -> LockedDataset:
    """The lock after it was written and read."""
    report = Report()
    text = write_lock(Lock((lock,)))
    found = read_lock(text, "d.lock", report)
    assert report.diagnostics == ()
    assert found == Lock((lock,))
    assert write_lock(found) == text
    return found.datasets[0]


def grown(*datasets: LogicalDataset, lock: LockedDataset | None = None) -> LockedDataset:
    """The lock with these versions more, written and read after each."""
    for dataset in datasets:
        lock = reread(locked(dataset, lock)[0])
    assert lock is not None
    return lock


def numbers(lock: LockedDataset, number: int | None = None) -> dict[str, tuple[int, ...]]:
    """The engine's numbers in a version by path, as the compiler gets to see them."""
    version = lock.newest if number is None else lock.version(number)
    assert version is not None
    opened = open_version(lock, version)
    return {
        field.path_text: state.numbers.of(NAME)
        for field, state in opened.states.items()
        if state.numbers.of(NAME)
    }


def written(lock: LockedDataset) -> dict[str, tuple[int, ...]]:
    """The engine's numbers as they stand in the newest version's lines."""
    states = [state for state in lock.states if state.last is None and state.numbers.of(NAME)]
    paths = paths_of(state for state in lock.states if state.last is None)
    return {dotted(paths[state.id]): state.numbers.of(NAME) for state in states}


FIRST_B = {"kind": "List", "itemType": struct(z="Int8")}
FIRST = fields(a="Int8", s=struct(x="Int8", y="String"), b=FIRST_B)
WITHOUT_A = fields(s=struct(x="Int8", y="String"), b=FIRST_B)


@pytest.mark.usefixtures("install")
def test_keep_the_numbers_of_any_engine() -> None:
    lock = grown(FIRST)
    assert written(lock) == {
        "b.item.z": (1, 0),
        "b": (3, 2),
        "s.y": (5, 4),
        "s.x": (7, 6),
        "s": (9, 8),
        "a": (11, 10),
    }
    assert lock.versions[0].highest.of(NAME) == 11
    assert len(lock.versions[0].data.of(NAME)["épreuve {"]) == 1
    # What is renamed keeps them, what is dropped takes them away, what is new or of another kind gets new ones.
    after = fields(s=struct(renamed="Int8", y="Int8"), b=FIRST_B, new="Int8")
    lock = reread(locked(after, lock, renamed={"s.renamed": "s.x"})[0])
    assert written(lock) == {
        "b.item.z": (1, 0),
        "b": (3, 2),
        "s.renamed": (7, 6),
        "s": (9, 8),
        "new": (13, 12),
        "s.y": (15, 14),
    }
    assert lock.versions[1].highest.of(NAME) == 15
    assert len(lock.versions[1].data.of(NAME)["épreuve {"]) == 2
    assert numbers(lock, 1)["a"] == (11, 10)


@pytest.mark.usefixtures("install")
def test_number_a_field_that_is_back() -> None:
    lock = grown(FIRST, WITHOUT_A)
    found = restored(FIRST, lock, {"a": 1})
    lock = reread(freeze(found))
    assert ids(lock)["a"] == 1
    assert written(lock)["a"] == (13, 12)
    assert numbers(lock, 1)["a"] == (11, 10)


@pytest.mark.usefixtures("install")
def test_merge_the_numbers_of_any_engine() -> None:
    base = grown(fields(a="Int8"))
    ours = grown(fields(a="Int8", b="Int8"), lock=base)
    theirs = grown(fields(a="Int8", b="Int16", c="Int8"), fields(a="Int8", c="Int8"), lock=base)
    assert written(theirs) == {"a": (1, 0), "c": (3, 2)}
    (merged,) = merge(Lock((ours,)), Lock((theirs,))).lock.datasets
    merged = reread(merged)
    # Ours has given 2 and 3 to b: c gets numbers above all that either branch ever gave.
    assert written(merged) == {"a": (1, 0), "b": (3, 2), "c": (7, 6)}
    # Where ours gave none of them to a field, those of theirs stay.
    quiet = grown(fields(a=("Int8", {"opendatafabric.org/description": "A"})), lock=base)
    (merged,) = merge(Lock((quiet,)), Lock((theirs,))).lock.datasets
    assert written(reread(merged)) == {"a": (1, 0), "c": (3, 2)}


def test_carry_the_numbers_of_an_engine_that_is_not_installed(install: Switch) -> None:
    lock = grown(FIRST)
    install(False)
    before = written(lock)
    assert not locked(FIRST, lock)[1].is_changed
    after = grown(fields(a="Int8", s=struct(x="Int8", new="Int8"), b=FIRST_B), lock=lock)
    assert written(after) == {path: own for path, own in before.items() if path != "s.y"}
    newest = after.versions[-1]
    assert newest.carried == (NAME,)
    assert newest.highest.of(NAME) == 11
    assert newest.data.of(NAME) == lock.versions[0].data.of(NAME)
    # Where it is there again, it numbers what came in between, always the same, without a new version.
    install(True)
    found = locked(fields(a="Int8", s=struct(x="Int8", new="Int8"), b=FIRST_B), reread(after))[1]
    assert not found.is_changed
    assert {field.path_text: own.of(NAME) for field, own in found.numbers.items() if own.of(NAME)} == {
        **written(after),
        "s.new": (13, 12),
    }
    assert len(found.version.data.of(NAME)["épreuve {"]) == 2
    # With the next version they stand in the lock.
    last = grown(fields(s=struct(x="Int8", new="Int8"), b=FIRST_B), lock=after)
    assert last.versions[-1].carried == ()
    assert written(last)["s.new"] == (13, 12)
    assert last.versions[-1].highest.of(NAME) == 13


def test_number_the_versions_that_were_locked_before_an_engine_came(install: Switch) -> None:
    install(False)
    lock = grown(FIRST, WITHOUT_A)
    plain = write_lock(Lock((lock,)))
    install(True)
    always = grown(FIRST, WITHOUT_A)
    lock = reread(lock)
    assert not locked(WITHOUT_A, lock)[1].is_changed
    assert [numbers(lock, number) for number in (1, 2)] == [numbers(always, number) for number in (1, 2)]
    after, there = (grown(FIRST, lock=one) for one in (lock, always))
    assert numbers(after) == numbers(there) == written(after)
    assert after.versions[-1].data == there.versions[-1].data
    # Nothing of what was locked before is another now.
    assert [version.digest for version in after.versions[:2]] == [v.digest for v in lock.versions]
    assert plain.split("\n")[4:6] == write_lock(Lock((after,))).split("\n")[4:6]
    assert [numbers(after, number) for number in (1, 2)] == [numbers(always, number) for number in (1, 2)]


def test_rebuild_only_the_versions_that_are_needed(install: Switch, monkeypatch: pytest.MonkeyPatch) -> None:
    rebuilt: list[int] = []
    rebuild = opening._locked_version

    def counted(lock: LockedDataset, version: Version) -> opening.LockedVersion:
        rebuilt.append(version.number)
        return rebuild(lock, version)

    monkeypatch.setattr(opening, "_locked_version", counted)
    install(False)
    lock = grown(FIRST, WITHOUT_A, FIRST)
    install(True)
    lock = grown(*[WITHOUT_A, FIRST] * 5, lock=lock)
    # An engine that numbers only what it has numbers of, as that of protobuf, needs no history.
    rebuilt.clear()
    assert not locked(FIRST, reread(lock))[1].is_changed
    assert rebuilt == [13]
    # An engine that came late needs the versions before it, each once, and they are not rebuilt for the next question.
    rebuilt.clear()
    late = reread(lock)
    assert numbers(late, 3)
    assert sorted(rebuilt) == [1, 2, 3, 3]
    assert numbers(late, 2)
    assert sorted(rebuilt) == [1, 2, 2, 3, 3]
    # One that was away for a while needs only what came since.
    install(False)
    lock = grown(WITHOUT_A, lock=lock)
    install(True)
    rebuilt.clear()
    assert not locked(WITHOUT_A, reread(lock))[1].is_changed
    assert sorted(rebuilt) == [13, 14, 14]


def test_restore_with_numbers_that_are_not_in_the_lock(install: Switch) -> None:
    install(False)
    lock = grown(FIRST, WITHOUT_A)
    install(True)
    found = restored(FIRST, lock, {"a": 1})
    assert {field.path_text: own.of(NAME) for field, own in found.numbers.items() if own.of(NAME)} == {
        **numbers(lock, 2),
        "a": (13, 12),
    }


def test_merge_the_numbers_of_an_engine_that_is_not_installed(install: Switch) -> None:
    base = grown(fields(a="Int8"))
    ours = grown(fields(a="Int8", b="Int8"), lock=base)
    theirs = grown(fields(a="Int8", c="Int8", d="Int8"), lock=base)
    install(False)
    (merged,) = merge(Lock((ours,)), Lock((theirs,))).lock.datasets
    merged = reread(merged)
    # Theirs are c (5, 4) and d (3, 2), of which ours has given one pair to b.
    assert written(theirs) == {"a": (1, 0), "d": (3, 2), "c": (5, 4)}
    assert written(merged) == {"a": (1, 0), "b": (3, 2), "c": (5, 4)}
    assert merged.versions[-1].carried == (NAME,)
    assert merged.versions[-1].highest.of(NAME) == 5
    install(True)
    assert len(set(numbers(merged).values())) == 4


@pytest.mark.usefixtures("install")
def test_leave_the_numbers_of_the_other_engines_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = (FIRST, WITHOUT_A, FIRST)
    with_it = grown(*datasets)
    monkeypatch.undo()
    without = grown(*datasets)
    for engine in ("lance", "paimon"):
        for number in (1, 2, 3):
            found = [
                {state.id: state.numbers.of(engine) for state in lock.states_of(number)}
                for lock in (with_it, without)
            ]
            assert found[0] == found[1]
            highest = [lock.versions[number - 1].highest.of(engine) for lock in (with_it, without)]
            assert highest[0] == highest[1]


def test_need_nothing_for_an_engine_without_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    lock = grown(FIRST)
    monkeypatch.setattr(numbering, "engines", lambda: (*engines(), ENGINE._replace(numbering="")))
    assert grown(FIRST) == lock
    assert not identify(FIRST, lock).is_changed


@pytest.mark.parametrize("name", ["a b", "a=b", "", "a,b", "é", "a\n"])
def test_refuse_the_name_of_an_engine_that_no_lock_can_hold(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbering, "engines", lambda: (ENGINE._replace(name=name),))
    with pytest.raises(EngineError, match="no lock can name"):
        locked(FIRST)
