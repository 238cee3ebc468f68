"""Two branches of a lock, in real git repositories."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from schemac.language.logical.dataset import LogicalDataset
from schemac.text.source.diagnostics import Report
from schemac.versions.identity.lock import Lock, LockedDataset, paths_of
from schemac.versions.identity.lockfile import read_lock, write_lock
from schemac.versions.identity.merge import merge
from schemac.versions.identity.opening import open_version
from tests.identity.commands import environment, schemac
from tests.identity.trees import fields, history, ids, lance, locked, struct

HEAD = "name: trips\nfields:\n"
DRIVER = f"{sys.executable} -m schemac lock --merge-driver %O %A %B"


def field(name: str, type_: str = "Int64", *extra: str) -> str:
    """A field of a manifest, and as much around it as keeps git from merging two neighbours into a conflict."""
    return f"  - name: {name}\n    type: {type_}\n{''.join(extra)}" + f"  # below {name}\n" * 3


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            env=environment(),
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def schemac(self, *arguments: str, code: int = 0) -> str:
        done = schemac(self.folder, *arguments)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def write(self, *parts: str) -> None:
        (self.folder / "trips.yaml").write_text(HEAD + "".join(parts))

    def commit(self, *parts: str, drop: str = "") -> LockedDataset:
        """The manifest, locked and committed; `drop` is a field that another of its type does not replace."""
        self.write(*parts)
        self.schemac("lock", *(("--drop", drop) if drop else ()))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "change")
        return self.lock()

    def lock(self, ref: str = "") -> LockedDataset:
        text = self.git("show", f"{ref}:trips.lock") if ref else (self.folder / "trips.lock").read_text()
        report = Report()
        lock = read_lock(text, "trips.lock", report)
        assert lock is not None, report.diagnostics
        return lock.dataset("trips")

    def use_driver(self) -> None:
        self.git("config", "merge.schemac.driver", DRIVER)
        (self.folder / ".gitattributes").write_text("*.lock merge=schemac\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "merge locks by schemac")

    def part(
        self, ours: tuple[str, ...], theirs: tuple[str, ...], drops: tuple[str, str] = ("", "")
    ) -> tuple[LockedDataset, LockedDataset]:
        """Both locks, after theirs was made on a branch and ours on main; `drops` are the fields that each dropped."""
        self.git("switch", "-q", "-c", "side")
        second = self.commit(*theirs, drop=drops[1])
        self.git("switch", "-q", "main")
        return self.commit(*ours, drop=drops[0]), second

    def settle(self, how: str) -> str:
        """Merge the branch; what schemac said of the lock."""
        if how == "driver":
            return self.git("merge", "-q", "side", "-m", "merge")
        self.git("merge", "-q", "side", code=1)
        assert "SC403" in self.schemac("check", code=1)
        assert "SC403" in self.schemac("lock", code=1)
        return self.schemac("lock", "--resolve")


A, B, C, D = field("a"), field("b"), field("c"), field("d")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def check_history(now: LockedDataset, ours: LockedDataset, theirs: LockedDataset) -> None:
    """Our versions are as they were, and nothing that either side gave was given to another."""
    for version in ours.versions:
        assert version in now.versions
        assert open_version(now, version).logical == open_version(ours, version).logical
    used = {number: state.id for state in ours.states for number in state.numbers.of("lance")}
    for state in now.states:
        for number in state.numbers.of("lance"):
            assert used.setdefault(number, state.id) == state.id
    assert now.highest_id >= max(ours.highest_id, theirs.highest_id)
    newest = now.newest
    assert newest is not None
    assert newest.highest.of("lance") >= max(s.versions[-1].highest.of("lance") for s in (ours, theirs))
    assert len(set(paths_of(now.states_of(newest.number)).values())) == len(now.states_of(newest.number))


@pytest.mark.parametrize("how", ["resolve", "driver"])
def test_merge_two_branches_that_add_different_fields(repository: Repository, how: str) -> None:
    if how == "driver":
        repository.use_driver()
    repository.commit(A, B, C)
    ours, theirs = repository.part((A, field("ours"), B, C), (A, B, field("theirs", "String"), C))
    repository.settle(how)
    merged = repository.lock()
    assert ids(ours) == {"a": 1, "b": 2, "c": 3, "ours": 4}
    assert ids(theirs) == {"a": 1, "b": 2, "c": 3, "theirs": 4}
    assert ids(merged) == {**ids(ours), "theirs": 5}
    assert lance(merged) == {**lance(ours), "theirs": (4,)}
    check_history(merged, ours, theirs)
    # The manifest was merged by git as it merges any text, and says what the lock says.
    repository.schemac("lock", "--check")
    repository.schemac("lock")
    assert repository.lock() == merged


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_settle_a_lock_of_which_git_merged_a_part(repository: Repository, style: str) -> None:
    """A changed line far from the other side's is merged without a mark, and belongs to one side alone."""
    repository.git("config", "merge.conflictStyle", style)
    many = [field(f"f{i}") for i in range(12)]
    repository.commit(*many)
    ours, theirs = repository.part((field("f0", "Int32"), *many[1:]), (*many, field("theirs")))
    repository.settle("resolve")
    merged = repository.lock()
    assert ids(merged) == ids(theirs)
    check_history(merged, ours, theirs)
    repository.schemac("lock", "--check")


def test_say_how_to_settle_what_git_has_forgotten(repository: Repository) -> None:
    many = [field(f"f{i}") for i in range(12)]
    repository.commit(*many)
    repository.part((field("f0", "Int32"), *many[1:]), (*many, field("theirs")))
    repository.git("merge", "-q", "side", code=1)
    repository.git("add", "-A")
    before = (repository.folder / "trips.lock").read_text()
    said = repository.schemac("lock", "--resolve", code=1)
    assert "SC402" in said
    assert "git checkout --merge -- trips.lock" in said
    assert (repository.folder / "trips.lock").read_text() == before
    repository.git("checkout", "-q", "--merge", "--", "trips.lock")
    repository.schemac("lock", "--resolve")
    repository.schemac("lock", "--check")


def test_settle_nothing_where_nothing_is_open(repository: Repository) -> None:
    repository.commit(A)
    before = (repository.folder / "trips.lock").read_bytes()
    assert "no lock has merge conflict markers" in repository.schemac("lock", "--resolve")
    assert (repository.folder / "trips.lock").read_bytes() == before


def test_settle_the_lock_of_a_manifest_with_the_short_ending(repository: Repository) -> None:
    repository.commit(A)
    (repository.folder / "trips.yaml").rename(repository.folder / "trips.yml")
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "rename")
    for branch, name in (("side", "theirs"), ("main", "ours")):
        repository.git("switch", "-q", *(("-c",) if branch == "side" else ()), branch)
        (repository.folder / "trips.yml").write_text(
            HEAD + (A + field(name) if name == "ours" else field(name) + A)
        )
        repository.schemac("lock")
        repository.git("commit", "-q", "-a", "-m", "change")
    repository.settle("resolve")
    assert ids(repository.lock()) == {"a": 1, "ours": 2, "theirs": 3}


def test_merge_by_the_driver_what_both_dropped_and_added(repository: Repository) -> None:
    repository.use_driver()
    repository.commit(A, B, C, D)
    ours, theirs = repository.part((A, C, D, field("x")), (A, field("y"), B, C), ("b", "d"))
    repository.git("merge", "-q", "side", code=1)  # the manifest, where b was
    repository.write(A, field("y"), C, field("x"))
    merged = repository.lock()
    assert ids(merged) == {"a": 1, "c": 3, "x": 5, "y": 6}
    check_history(merged, ours, theirs)
    repository.schemac("lock")
    assert ids(repository.lock()) == ids(merged)


def test_leave_the_lock_to_git_where_the_driver_cannot_read_it(repository: Repository) -> None:
    repository.use_driver()
    repository.commit(A, B)
    repository.git("switch", "-q", "-c", "side")
    repository.commit(A, B, field("theirs"))
    damaged = (repository.folder / "trips.lock").read_text().replace("theirs", "hers")
    (repository.folder / "trips.lock").write_text(damaged)
    repository.git("commit", "-q", "-a", "-m", "by hand")
    repository.git("switch", "-q", "main")
    repository.commit(field("ours"), A, B)
    ours = (repository.folder / "trips.lock").read_text()
    repository.git("merge", "-q", "side", code=1)
    assert (repository.folder / "trips.lock").read_text() == ours
    assert "UU trips.lock" in repository.git("status", "--short")


# What the two sides did to one field; without git, whose part is done.


def merged(
    base: LogicalDataset, ours: LogicalDataset, theirs: LogicalDataset
) -> tuple[LockedDataset, tuple[str, ...]]:
    first, second = history(base, ours), history(base, theirs)
    found = merge(Lock((first,)), Lock((second,)))
    (lock,) = found.lock.datasets
    text = write_lock(found.lock)
    report = Report()
    assert read_lock(text, "d.lock", report) == found.lock, report.diagnostics
    check_history(lock, first, second)
    assert lock.newest is not None
    again, _ = locked(open_version(lock, lock.newest).logical, lock)
    assert again is lock
    return lock, tuple(choice.text for choice in found.choices)


BASE = fields(a="Int32", b="Int64", s=struct(x="Int8", y="Int8"))
RENAMED = {"schemac.dev/renamedFrom": "a"}


def test_keep_one_field_that_both_added() -> None:
    added = fields(a="Int32", b="Int64", s=struct(x="Int8", y="Int8"), n="String")
    lock, choices = merged(
        BASE, added, fields(a="Int32", n="String", b="Int64", s=struct(x="Int8", y="Int8"))
    )
    assert choices == ()
    assert list(ids(lock)) == ["a", "b", "s", "s.x", "s.y", "n"]
    _, (choice,) = merged(BASE, added, fields(a="Int32", n="Int8", b="Int64", s=struct(x="Int8", y="Int8")))
    assert choice == "n was added by both: our version is kept"


def test_keep_one_struct_that_both_added_with_what_is_in_it() -> None:
    ours = fields(a="Int32", b="Int64", s=struct(x="Int8", y="Int8"), n=struct(p="Int8"))
    theirs = fields(a="Int32", b="Int64", s=struct(x="Int8", y="Int8"), n=struct(q="Int8"))
    lock, choices = merged(BASE, ours, theirs)
    assert choices == ()
    assert {"n", "n.p", "n.q"} < set(ids(lock))


def test_take_a_rename_of_one_side_and_a_cast_of_the_other() -> None:
    renamed = fields(z=("Int32", RENAMED), b="Int64", s=struct(x="Int8", y="Int8"))
    cast = fields(a="Int64", b="Int64", s=struct(x="Int8", y="Int8"))
    for ours, theirs in ((renamed, cast), (cast, renamed)):
        lock, choices = merged(BASE, ours, theirs)
        assert choices == ()
        assert ids(lock)["z"] == 1
        assert lance(lock)["z"] == (5,)
        (state,) = [state for state in lock.states if state.id == 1 and state.last is None]
        assert (state.shape.type, state.numbers.of("paimon")) == ("Int64", (0,))


def test_take_attributes_and_nullability_of_both() -> None:
    described = {"opendatafabric.org/description": "A"}
    ours = fields(a=("Int32", {**described, "example.com/x": 1}), b="Int64", s=struct(x="Int8", y="Int8"))
    nullable = {"kind": "Option", "inner": {"kind": "Int32"}}
    theirs = fields(a=(nullable, {"example.com/y": 2}), b="Int64", s=struct(x="Int8", y="Int8"))
    lock, choices = merged(BASE, ours, theirs)
    assert choices == ()
    (state,) = [state for state in lock.states if state.id == 1 and state.last is None]
    assert state.shape.type == "Int32?"
    assert state.shape.extra == '{"example.com/x":1,"example.com/y":2,"opendatafabric.org/description":"A"}'


def test_say_which_side_a_field_follows() -> None:
    without = fields(b="Int64", s=struct(x="Int8", y="Int8"))
    cast = fields(a="Int64", b="Int64", s=struct(x="Int8", y="Int8"))
    other = fields(a="String", b="Int64", s=struct(x="Int8", y="Int8"))
    lock, choices = merged(BASE, without, cast)
    assert choices == ("a was changed by them and dropped by us: it stays dropped",)
    assert "a" not in ids(lock)
    lock, choices = merged(BASE, cast, without)
    assert choices == ("a was dropped by them and changed by us: it is kept",)
    assert ids(lock)["a"] == 1
    lock, choices = merged(BASE, cast, other)
    assert choices == ("a was changed by both: our version is kept",)
    assert lance(lock)["a"] == (5,)


def test_keep_a_struct_that_one_side_dropped_and_the_other_put_something_in() -> None:
    ours = fields(a="Int32", b="Int64", s=struct(x="Int8", y="Int8", z="Int8"))
    lock, choices = merged(BASE, ours, fields(a="Int32", b="Int64"))
    assert set(ids(lock)) == {"a", "b", "s", "s.z"}
    assert choices == ("s cannot be changed as they did: our version is kept",)
    lock, choices = merged(BASE, fields(a="Int32", b="Int64"), ours)
    assert set(ids(lock)) == {"a", "b"}
    assert choices == ("z was added by them in a place that no longer exists: it is left out",)


def test_keep_a_tree_where_two_moves_make_a_circle() -> None:
    base = fields(p=struct(x="Int8"), q=struct(y="Int8"))
    p, q = struct(x="Int8"), struct(y="Int8")
    into_q = fields(q=struct(y="Int8", p=(p, {"schemac.dev/renamedFrom": "p"})))
    into_p = fields(p=struct(x="Int8", q=(q, {"schemac.dev/renamedFrom": "q"})))
    lock, choices = merged(base, into_q, into_p)
    assert set(ids(lock)) == {"q", "q.y", "q.p", "q.p.x"}
    assert choices


def test_keep_names_apart_that_two_renames_brought_together() -> None:
    ours = fields(z=("Int32", RENAMED), b="Int64", s=struct(x="Int8", y="Int8"))
    theirs = fields(a="Int32", z=("Int64", {"schemac.dev/renamedFrom": "b"}), s=struct(x="Int8", y="Int8"))
    lock, choices = merged(BASE, ours, theirs)
    assert {"z": ids(lock)["z"], "b": ids(lock)["b"]} == {"z": 1, "b": 2}
    assert choices == ("b cannot be changed as they did: our version is kept",)


def test_keep_the_form_that_one_side_gave_a_field_the_other_changed_inside() -> None:
    listed = {"kind": "List", "itemType": {"kind": "Int8"}}
    ours = fields(a="Int32", b="Int64", s=struct(x="Int16", y="Int8"))
    lock, choices = merged(BASE, ours, fields(a="Int32", b="Int64", s=listed))
    assert {"s", "s.x"} <= set(ids(lock))
    assert "s.item" not in ids(lock)
    assert choices


def test_give_an_id_again_to_nobody_that_a_branch_gave_and_dropped() -> None:
    ours = history(BASE, fields(a="Int64", b="Int64", s=struct(x="Int8", y="Int8")))
    theirs = history(BASE, fields(n="Int8", a="Int32", b="Int64", s=struct(x="Int8", y="Int8")), BASE)
    (lock,) = merge(Lock((ours,)), Lock((theirs,))).lock.datasets
    text = write_lock(Lock((lock,)))
    assert " id<=6 " in text
    assert read_lock(text, "d.lock", Report()) == Lock((lock,))
    added, _ = locked(fields(a="Int64", b="Int64", s=struct(x="Int8", y="Int8"), m="Int8"), lock)
    assert ids(added)["m"] == 7
    assert lance(added)["m"] == (6,)


def test_merge_only_datasets_that_parted() -> None:
    one, other = fields(a="Int8"), fields(b="Int8")
    first = Lock((history(one),))
    ours = first.with_dataset(replace(history(other), name="e"))
    theirs = Lock((history(one, fields(a="Int8", c="Int8")),))
    merged_lock = merge(ours, theirs).lock
    assert merged_lock == Lock((theirs.datasets[0], ours.datasets[1]))
