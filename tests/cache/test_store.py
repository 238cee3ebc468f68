"""The folder of a cache: what is damaged, foreign, half written or written by several at once costs time and nothing else."""

import json
import os
import pickle
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import pytest

from schemac.cli.main import main
from schemac.project.cache import entries as fingerprint
from schemac.project.cache import store
from schemac.project.cache.entries import EntryKeys, UnreadableEntryError, decode, encode
from schemac.project.cache.store import FILE, FOLDER, Cache, CacheRows, remove_cache, write_entries
from tests.identity.commands import TRIPS, schemac
from tests.project.trees import tree

COMPILER = b"a compiler"
ENTRIES = {EntryKeys("test").key(number): json.dumps(["entry", number]).encode() for number in range(5)}


def filled(path: Path) -> bytes:
    write_entries(str(path), COMPILER, ENTRIES, ())
    return path.read_bytes()


def entries_in(path: Path, keys: Iterable[bytes] = ENTRIES, compiler: bytes = COMPILER) -> dict[bytes, bytes]:
    """The entries of a file that are sound."""
    rows = CacheRows(str(path), compiler)
    return {key: content for key in keys if (content := rows.get(key)) is not None}


def test_take_an_entry_that_is_damaged_for_none(tmp_path: Path) -> None:
    path = tmp_path / "entries.sqlite"
    content = filled(path)
    assert entries_in(path) == ENTRIES
    for at in range(len(content)):
        # Most bytes of the file are free; of those that are not, each is changed.
        if content[at]:
            path.write_bytes(content[:at] + bytes([content[at] ^ 0x20]) + content[at + 1 :])
            assert entries_in(path).items() <= ENTRIES.items(), at


def test_lose_an_entry_whose_bytes_are_others(tmp_path: Path) -> None:
    path = tmp_path / "entries.sqlite"
    content = filled(path)
    for key, entry in ENTRIES.items():
        path.write_bytes(content.replace(entry, entry.replace(b"entry", b"Entry")))
        assert entries_in(path) == {other: text for other, text in ENTRIES.items() if other != key}


def test_write_into_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "entries.sqlite"
    content = filled(path)
    for at in range(len(content)):
        if content[at]:
            path.write_bytes(content[:at] + bytes([content[at] ^ 0x20]) + content[at + 1 :])
            write_entries(str(path), COMPILER, ENTRIES, ())
            assert entries_in(path).items() <= ENTRIES.items(), at
    for other in (content[:100], b"", b"\0" * 9000, pickle.dumps({"a": 1}), content[:4096] + b"\xff" * 4096):
        path.write_bytes(other)
        write_entries(str(path), COMPILER, ENTRIES, ())
        assert entries_in(path) == ENTRIES


def test_take_what_was_cut_off_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "entries.sqlite"
    content = filled(path)
    for at in range(0, len(content), 13):
        path.write_bytes(content[:at])
        assert entries_in(path).items() < ENTRIES.items(), at


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 1000, pickle.dumps({"a": 1}), b"SQLite format 3\0" + b"\xff" * 100]
)
def test_take_another_file_for_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "entries.sqlite"
    path.write_bytes(content)
    assert not entries_in(path)


def test_take_what_is_no_file_for_nothing(tmp_path: Path) -> None:
    pipe = tmp_path / "entries.sqlite"
    os.mkfifo(pipe)
    assert not entries_in(pipe)
    filled(pipe)
    assert entries_in(pipe) == ENTRIES
    elsewhere, link = tmp_path / "elsewhere", tmp_path / "link.sqlite"
    before = filled(elsewhere)
    link.symlink_to(elsewhere)
    assert not entries_in(link)
    write_entries(str(link), b"another", ENTRIES, ())
    assert elsewhere.read_bytes() == before


def test_stay_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 100_000)
    path = tmp_path / "entries.sqlite"
    keys = [EntryKeys("test").key(number) for number in range(120)]
    for key in keys:
        write_entries(str(path), COMPILER, {key: bytes(1_000)}, keys[:2])
        assert path.stat().st_size <= 100_000
    # What is used stays, and then the newest.
    remaining = entries_in(path, keys)
    assert set(keys[:2]) | {keys[-1]} < remaining.keys()
    assert remaining.keys() == {*keys[:2], *keys[2 - len(remaining) :]}


def test_delete_entries_of_other_compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 50_000)
    path, keys = tmp_path / "entries.sqlite", [EntryKeys("other").key(number) for number in range(60)]
    write_entries(str(path), b"another", {key: bytes(1_000) for key in keys[:20]}, ())
    assert len(entries_in(path, keys, b"another")) == 20
    assert not entries_in(path, keys)
    write_entries(str(path), COMPILER, ENTRIES | {key: bytes(1_000) for key in keys[30:40]}, ())
    assert len(entries_in(path, [*keys, *ENTRIES])) == 15
    assert 0 < len(entries_in(path, keys, b"another")) < 15
    write_entries(str(path), COMPILER, {b"a key of its own": b"1"}, (), is_fresh=True)
    assert not entries_in(path, [*keys, *ENTRIES])
    assert entries_in(path, [b"a key of its own"])


def test_keys_differ_however_the_parts_are_cut() -> None:
    parts = [
        ("ab", "c"),
        ("a", "bc"),
        ("abc",),
        ("abc", None),
        ("abc", ""),
        (b"abc",),
        ("1",),
        (1,),
        (True,),
        ("True",),
        (),
    ]
    keys = {EntryKeys("test").key(*part) for part in parts}
    assert len(keys) == len(parts)
    assert EntryKeys("test", "a").key("b") == EntryKeys("test").key("a", "b")


class Colour(StrEnum):
    RED = "red"


class Leaf(NamedTuple):
    size: int
    colour: Colour = Colour.RED


@dataclass(frozen=True, slots=True)
class Tree:
    leaves: tuple[Leaf, ...]
    by_name: Mapping[str, "Tree"]
    pair: tuple[str, bool]
    sort: Literal["a", "b"]
    above: "Tree | None" = None
    anything: Any = None


def test_read_an_entry_by_its_type() -> None:
    small = Tree((), {}, ("\ud800", True), "a")
    tree = Tree((Leaf(1), Leaf(2)), MappingProxyType({"x": small}), ("b", False), "b", small, {"c": [1]})
    assert decode(encode(tree), Tree) == tree
    assert type(decode(encode(tree), Tree).leaves[0].colour) is Colour


@pytest.mark.parametrize(
    "wrong",
    [
        [[], {}, ["a", True], "a", None],
        [[], {}, ["a", True], "a", None, None, None],
        [{}, {}, ["a", True], "a", None, None],
        [[], [], ["a", True], "a", None, None],
        [[], {}, ["a", 1], "a", None, None],
        [[], {}, ["a", True, 1], "a", None, None],
        [[], {}, ["a", True], "c", None, None],
        [[], {}, ["a", True], [], None, None],
        [[], {}, ["a", True], "a", [], None],
        [[[1, "blue"]], {}, ["a", True], "a", None, None],
        [[["1", "red"]], {}, ["a", True], "a", None, None],
        [[[True, "red"]], {}, ["a", True], "a", None, None],
        [[], {"x": None}, ["a", True], "a", None, None],
        "[]",
        None,
    ],
)
def test_refuse_an_entry_of_another_type(wrong: object) -> None:
    with pytest.raises(UnreadableEntryError):
        decode(encode(wrong), Tree)


def test_take_an_entry_of_another_form_for_none(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    key = cache.keys("test", None).key("a")
    entries: tuple[object, ...] = ({}, [], ["a"], None, 7)
    for entry in entries:
        cache.put(key, entry)
        cache.save()
        assert Cache(tmp_path).get(key, tuple[str, str]) is None


def test_never_run_what_an_entry_holds(tmp_path: Path) -> None:
    """A pickle, which could run anything, is only a text that is no JSON."""
    cache = Cache(tmp_path)
    key = cache.keys("test", None).key("a")
    cache.new[key] = pickle.dumps(os.system)
    cache.save()
    assert Cache(tmp_path).get(key, tuple[str, str]) is None


def test_follow_no_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "project/.schemac").mkdir(parents=True)
    (tmp_path / "project/.schemac/cache").symlink_to(tmp_path / "elsewhere")
    cache = Cache(tmp_path / "project")
    cache.put(cache.keys("test", None).key("a"), 1)
    cache.save()
    assert remove_cache(tmp_path / "project") is None
    assert not os.listdir(tmp_path / "elsewhere")


def project(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "schemac.toml").write_text("")
    (folder / "trips.yaml").write_text(TRIPS)
    return folder


def test_work_where_nothing_can_be_kept(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / ".schemac").write_text("a file in its place")
    assert schemac(tmp_path, "build").returncode == 0
    assert schemac(tmp_path, "build", "--check").returncode == 0
    assert (tmp_path / ".schemac").read_text() == "a file in its place"


def test_ignore_itself_in_git_and_go(tmp_path: Path) -> None:
    project(tmp_path)
    assert schemac(tmp_path, "check").returncode == 0
    assert (tmp_path / ".schemac/cache/.gitignore").read_text() == "*\n"
    before = {path: content for path, content in tree(tmp_path).items() if not path.startswith(".schemac")}
    assert schemac(tmp_path, "clean").stderr == "removed the cache: 0.0 MB\n"
    assert tree(tmp_path) == before
    assert schemac(tmp_path, "clean").stderr == "there is no cache\n"


def test_leave_folders_alone_that_are_no_project(tmp_path: Path) -> None:
    (tmp_path / "trips.yaml").write_text(TRIPS)
    assert schemac(tmp_path, "check").returncode == 0
    assert os.listdir(tmp_path) == ["trips.yaml"]
    assert schemac(tmp_path, "build", "--no-cache").returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["build", "trips.yaml"]


def test_do_it_again_where_an_entry_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever makes entries up gets no wrong artifacts: what is missing is made, and seen to be another."""
    project(tmp_path)
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patches:
        patches.setattr(store, "encode", lambda entry: encode(entry).replace(b"sha256-128:", b"sha256-128:0"))
        assert main(["build"]) == 0
    right = tree(tmp_path / "build")
    lies = {content for content in contents(tmp_path) if b"sha256-128:0" in content}
    assert lies
    assert schemac(tmp_path, "build").returncode == 0
    assert tree(tmp_path / "build") == right
    assert not lies & {*contents(tmp_path)}


def contents(project: Path) -> list[bytes]:
    with closing(sqlite3.connect(project / FOLDER / "cache" / FILE)) as connection:
        return [content for (content,) in connection.execute("SELECT content FROM entries")]


def test_know_the_compiler_by_its_code(tmp_path: Path) -> None:
    before = fingerprint._code(str(tmp_path / "__init__.py"))
    (tmp_path / "__init__.py").write_text("a = 1\n")
    first = fingerprint._code(str(tmp_path / "__init__.py"))
    (tmp_path / "__init__.py").write_text("a = 2\n")
    assert len({before, first, fingerprint._code(str(tmp_path / "__init__.py"))}) == 3


KILLED = """\
import os, signal, sys
from schemac.project.cache import store as database
from schemac.project.cache.store import Cache
from pathlib import Path
point, folder = int(sys.argv[1]), Path(sys.argv[2])
seen = 0
def step():
    global seen
    seen += 1
    if seen == point:
        os.kill(os.getpid(), signal.SIGKILL)
def watch(event, arguments):
    if event in ("open", "os.mkdir", "os.rename", "os.remove") and folder.name in str(arguments[0]):
        step()
def connect(path, mode):
    connection = real(path, mode)
    connection.set_progress_handler(step, 1)  # also between two instructions of SQLite's machine
    return connection
real, database._connect = database._connect, connect
cache = Cache(folder)
key = cache.keys("test", None).key(b"a")
for number in range(40):
    cache.put(cache.keys("test", number).key(b"a"), ["entry" * 200, point])
sys.addaudithook(watch)
cache.save()
"""


def test_lose_no_entry_when_a_process_is_killed(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    other = cache.keys("test", None).key("b")
    cache.put(other, ["kept", "b"])
    cache.save()
    codes = []
    for point in (1, 2, 3, *range(4, 2000, 37)):
        done = subprocess.run([sys.executable, "-c", KILLED, str(point), str(tmp_path)], check=False)
        codes.append(done.returncode)
        assert Cache(tmp_path).get(other, tuple[str, str]) == ("kept", "b"), point
        if done.returncode == 0:
            break
    assert codes[-1] == 0
    assert len(codes) > 10


def test_work_at_once(tmp_path: Path) -> None:
    project(tmp_path)
    for number in range(20):
        (tmp_path / f"t{number}.yaml").write_text(TRIPS.replace("name: trips", f"name: t{number}"))
    words = [sys.executable, "-m", "schemac"]
    commands = [
        [*words, "check"],
        [*words, "build"],
        [*words, "check", "t1.yaml"],
        [*words, "build", "t2.yaml"],
    ]
    running = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) for command in commands]
    for process in running:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    assert schemac(tmp_path, "build", "--check").returncode == 0
    assert schemac(tmp_path, "build", "--check", "--no-cache").returncode == 0
    assert not list((tmp_path / ".schemac/cache").glob("*-journal"))


def test_hold_no_place_of_the_machine(tmp_path: Path) -> None:
    for name in ("one", "another"):
        project(tmp_path / name)
        assert schemac(tmp_path / name, "build").returncode == 0
    one, another = ((tmp_path / name / ".schemac/cache") for name in ("one", "another"))
    assert tree(one) == tree(another)
    assert not any(str(tmp_path).encode() in content for content in tree(one).values())


def test_store_is_the_only_reader() -> None:
    """Nothing that an entry holds can be run: no module of the cache, nor of what uses it, unpickles one."""
    folder = Path(store.__file__).parent
    assert not any("pickle" in path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
