"""The folder of a cache: what is damaged, foreign, half written or written by several at once costs time and nothing else."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from schemac.cache import fingerprint, pack, store
from schemac.cache.keys import Keys
from schemac.cache.pack import Pack, replace_pack
from schemac.cache.store import Cache, remove_cache
from tests.identity.commands import TRIPS, schemac
from tests.project.trees import tree

ENTRIES = {Keys("test").key(number): json.dumps(["entry", number]).encode() for number in range(5)}


def filled(path: Path) -> bytes:
    replace_pack(str(path), ENTRIES, ())
    return path.read_bytes()


def test_take_a_record_that_is_damaged_for_none(tmp_path: Path) -> None:
    path = tmp_path / "a.pack"
    content = filled(path)
    for at in range(len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x20]) + content[at + 1 :])
        found = dict(Pack(str(path)).items())
        assert found.items() < ENTRIES.items(), at


def test_take_what_was_cut_off_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.pack"
    content = filled(path)
    for at in range(len(content)):
        path.write_bytes(content[:at])
        assert dict(Pack(str(path)).items()).items() < ENTRIES.items(), at


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 1000, pickle.dumps({"a": 1}), b"schemac cache 1\n" + b"\xff" * 100]
)
def test_take_another_file_for_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.pack"
    path.write_bytes(content)
    assert not dict(Pack(str(path)).items())


def test_stay_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "MOST_BYTES", 10_000)
    monkeypatch.setattr(pack, "_RETAINED_BYTES", 7_500)
    path = tmp_path / "a.pack"
    keys = [Keys("test").key(number) for number in range(60)]
    for key in keys:
        replace_pack(str(path), {key: bytes(1_000)}, keys[:2])
        assert path.stat().st_size <= 10_000
    # What is used stays, and then the newest.
    found = [key for key, _ in Pack(str(path)).items()]
    assert found[:2] == keys[:2]
    assert found[-1] == keys[-1]


def test_remove_packs_of_other_compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "MOST_BYTES", 2_500)
    for number in range(5):
        (tmp_path / f"{number}.pack").write_bytes(bytes(1_000))
        os.utime(tmp_path / f"{number}.pack", (number, number))
    (tmp_path / "3.pack.77.new").write_bytes(b"left by one that died")
    os.utime(tmp_path / "3.pack.77.new", (1, 1))
    (tmp_path / "4.pack.78.new").write_bytes(b"being written")
    pack.tidy(str(tmp_path), "0.pack")
    assert sorted(os.listdir(tmp_path)) == ["0.pack", "3.pack", "4.pack", "4.pack.78.new"]


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
    keys = {Keys("test").key(*part) for part in parts}
    assert len(keys) == len(parts)
    assert Keys("test", "a").key("b") == Keys("test").key("a", "b")


def entry_of(value: object) -> list[str]:
    """The form of an entry."""
    assert isinstance(value, list)
    return [str(value[0]), str(value[1])]


def test_take_an_entry_of_another_form_for_none(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    key = cache.keys("test").key("a")
    entries: tuple[object, ...] = ({}, [], ["a"], None, 7)
    for entry in entries:
        cache.put(key, entry)
        cache.save()
        assert Cache(tmp_path).get(key, lambda value: (value[0], value[1])) is None


def test_never_run_what_an_entry_holds(tmp_path: Path) -> None:
    """A pickle, which could run anything, is only a text that is no JSON."""
    cache = Cache(tmp_path)
    key = cache.keys("test").key("a")
    cache._new[key] = pickle.dumps(os.system)
    cache.save()
    assert Cache(tmp_path).get(key, entry_of) is None


def test_follow_no_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "project/.schemac").mkdir(parents=True)
    (tmp_path / "project/.schemac/cache").symlink_to(tmp_path / "elsewhere")
    cache = Cache(tmp_path / "project")
    cache.put(cache.keys("test").key("a"), 1)
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


def test_do_it_again_where_an_entry_is_wrong(tmp_path: Path) -> None:
    """Whoever makes entries up gets no wrong artifacts: what is missing is made, and seen to be another."""
    project(tmp_path)
    assert schemac(tmp_path, "build").returncode == 0
    right = tree(tmp_path / "build")
    (path,) = (tmp_path / ".schemac/cache").glob("*.pack")
    lie = {key: content.replace(b"sha256-128:", b"sha256-128:0") for key, content in Pack(str(path)).items()}
    replace_pack(str(path), lie, (), is_fresh=True)
    assert schemac(tmp_path, "build").returncode == 0
    assert tree(tmp_path / "build") == right
    assert not any(
        b"sha256-128:0" in content for _, content in Pack(str(path)).items() if content in lie.values()
    )


def test_know_the_compiler_by_its_code(tmp_path: Path) -> None:
    before = fingerprint._code(str(tmp_path / "__init__.py"))
    (tmp_path / "__init__.py").write_text("a = 1\n")
    first = fingerprint._code(str(tmp_path / "__init__.py"))
    (tmp_path / "__init__.py").write_text("a = 2\n")
    assert len({before, first, fingerprint._code(str(tmp_path / "__init__.py"))}) == 3


KILLED = """\
import os, signal, sys
from schemac.cache.store import Cache
from pathlib import Path
point, folder = int(sys.argv[1]), Path(sys.argv[2])
seen = 0
def watch(event, arguments):
    global seen
    if event in ("open", "os.mkdir", "os.rename", "os.remove") and folder.name in str(arguments[0]):
        seen += 1
        if seen == point:
            os.kill(os.getpid(), signal.SIGKILL)
cache = Cache(folder)
key = cache.keys("test").key(b"a")
cache.put(key, ["entry", point])
sys.addaudithook(watch)
cache.save()
"""


def test_lose_no_entry_when_a_process_is_killed(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    other = cache.keys("test").key("b")
    cache.put(other, ["kept", "b"])
    cache.save()
    codes = []
    for point in range(1, 12):
        done = subprocess.run([sys.executable, "-c", KILLED, str(point), str(tmp_path)], check=False)
        codes.append(done.returncode)
        assert Cache(tmp_path).get(other, entry_of) == ["kept", "b"], point
        if done.returncode == 0:
            break
    assert codes[-1] == 0
    assert len(codes) > 3


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
    assert not list((tmp_path / ".schemac/cache").glob("*.new"))


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
