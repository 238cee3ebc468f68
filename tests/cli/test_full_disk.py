"""Every command that writes, on a disk that fails at each of its writes: the command says so, every file is whole, the next run is as
the first would have been."""

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from schemac.cli.main import main
from tests.disk_faults import failing

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs the open files of a process"),
]

ORDERS = "name: orders\nfields:\n  - {name: id,   type: Int64}\n  - {name: at, type: bigint}\n"
SOUND = ORDERS.replace("bigint", "Timestamp")


def _two(folder: Path) -> None:
    (folder / "schemac.toml").write_text('targets = ["arrow"]\n')
    for name in ("orders", "people"):
        (folder / f"{name}.yaml").write_text(SOUND.replace("orders", name))


def _wrong(folder: Path) -> None:
    _two(folder)
    for path in folder.glob("*.yaml"):
        path.write_text(path.read_text().replace("Timestamp", "bigint"))


def _again(*commands: str) -> Callable[[Path], None]:
    """Two manifests after these commands, with another field."""

    def make(folder: Path) -> None:
        _two(folder)
        for command in commands:
            assert main(command.split()) == 0
        for path in folder.glob("*.yaml"):
            path.write_text(path.read_text() + "  - {name: more, type: {kind: Option, inner: String}}\n")

    return make


def _conflict(folder: Path) -> None:
    """Two locks of which both have another newest version than their base."""
    _two(folder)
    texts: dict[str, bytes] = {}
    for name in ("base", "ours", "theirs"):
        manifest = folder / "orders.yaml"
        manifest.write_text(SOUND + ("" if name == "base" else f"  - {{name: {name}, type: Int8}}\n"))
        if name == "theirs":
            (folder / "orders.lock").write_bytes(texts["base"])
        assert main(["lock", "orders.yaml"]) == 0
        texts[name] = (folder / "orders.lock").read_bytes()
    for name, text in texts.items():
        (folder / f"{name}.txt").write_bytes(text)


def _gone(*commands: str) -> Callable[[Path], None]:
    """As `_again`, without one of the manifests."""

    def make(folder: Path) -> None:
        _again(*commands)(folder)
        (folder / "people.yaml").unlink()

    return make


def _locked(folder: Path) -> None:
    _two(folder)
    assert main(["lock"]) == 0


def _paimon(folder: Path) -> None:
    """A Paimon table of a version that another one follows."""
    _two(folder)
    assert main(["lock", "orders.yaml"]) == 0
    assert main(["build", "orders.yaml", "--target", "paimon"]) == 0
    (folder / "build/orders/paimon").rename(folder / "table")
    (folder / "table/schema").mkdir()
    (folder / "table/schema-0").rename(folder / "table/schema/schema-0")
    shutil.rmtree(folder / "build")
    (folder / "orders.yaml").write_text(SOUND + "  - {name: more, type: {kind: Option, inner: String}}\n")
    assert main(["lock", "orders.yaml"]) == 0


def _rows(folder: Path) -> None:
    (folder / "rows.csv").write_text("a,b\n1,x\n")


PROTO = """syntax = "proto3";
message Stop { string name = 7; }
message Trip { string id = 17; }
"""


def _proto(folder: Path) -> None:
    (folder / "trips.proto").write_text(PROTO)


def _merged(folder: Path) -> None:
    """A lock with the marks of a conflict."""
    _conflict(folder)
    ours, theirs = (folder / f"{name}.txt" for name in ("ours", "theirs"))
    marks = f"<<<<<<< ours\n{ours.read_text()}=======\n{theirs.read_text()}>>>>>>> theirs\n"
    (folder / "orders.lock").write_text(marks)
    (folder / "people.yaml").unlink()
    for name in ("base", "ours", "theirs"):
        (folder / f"{name}.txt").unlink()


def _dropped(folder: Path) -> None:
    """A field that was dropped, and is there again."""
    _two(folder)
    for text in (SOUND, SOUND.replace("at", "since"), SOUND):
        (folder / "orders.yaml").write_text(text)
        assert (
            main(["lock", "orders.yaml", "--drop", "at"] if "since" in text else ["lock", "people.yaml"]) == 0
        )
        assert main(["lock", "people.yaml"]) == 0
        if text is SOUND and not (folder / "orders.lock").exists():
            assert main(["lock", "orders.yaml"]) == 0


def _grouped(folder: Path) -> None:
    """Two manifests that take fields from a group."""
    _two(folder)
    (folder / "groups.yaml").write_text(
        "groups:\n  stamps:\n    fields:\n      - {name: made, type: Timestamp}\n"
    )
    for name in ("orders", "people"):
        text = SOUND.replace("orders", name) + "  - {use: stamps}\n"
        (folder / f"{name}.yaml").write_text(f"imports: [groups.yaml]\n{text}")
    assert main(["lock"]) == 0


def _nested(folder: Path) -> None:
    """A struct to move a field into."""
    _two(folder)
    more = "  - name: more\n    type:\n      kind: Struct\n      fields:\n        - {name: a, type: Int8}\n"
    (folder / "orders.yaml").write_text(SOUND + more)
    assert main(["lock"]) == 0


def _settings(folder: Path) -> None:
    _two(folder)
    (folder / "schemac.toml").write_text('targets = ["ARROW"]\n')


def _empty(_: Path) -> None:
    """Nothing is there yet."""


class Case(NamedTuple):
    make: Callable[[Path], None]
    command: str
    code: int = 0


CASES = {
    "fmt": Case(_two, "fmt"),
    "fmt for a program": Case(_two, "fmt --format json"),
    "fix": Case(_wrong, "check --fix"),
    "first build": Case(_two, "build"),
    "next build": Case(_again("build"), "build"),
    "build with a depfile": Case(_two, "build --depfile build.d"),
    "build of what is gone": Case(_gone("build"), "build"),
    "first lock": Case(_two, "lock"),
    "next lock": Case(_again("lock"), "lock"),
    "merge": Case(_conflict, "lock --merge-driver base.txt ours.txt theirs.txt"),
    "rename": Case(_locked, "rename orders id ident"),
    "docs": Case(_two, "docs"),
    "docs as Markdown": Case(_two, "docs --format markdown -o pages"),
    "next docs": Case(_again("docs"), "docs"),
    "docs of what is gone": Case(_gone("docs"), "docs"),
    "expand": Case(_two, "expand orders.yaml --out expanded.yaml"),
    "schema": Case(_empty, "schema manifest --out manifest.json"),
    "init": Case(_empty, "init"),
    "init with a pipeline": Case(_empty, "init --template pipeline --ci github"),
    "import": Case(_rows, "import rows.csv --out rows.yaml"),
    "apply": Case(_paimon, "apply orders --table table"),
    "diff": Case(_again("lock"), "diff lock --html diff.html"),
    "report": Case(_two, "check --format junit --output-file report.xml"),
    "build of every target": Case(
        _two,
        "build orders.yaml --target lance --target spark --target paimon --target iceberg --target avro --target python",
    ),
    "fix of settings": Case(_settings, "check --fix"),
    "resolve": Case(_merged, "lock --resolve"),
    "restore": Case(_dropped, "lock orders.yaml --restore at=2"),
    "drop": Case(_dropped, "lock orders.yaml --drop since"),
    "rename of a group's field": Case(_grouped, "rename orders made created"),
    "move": Case(_nested, "rename orders at more.at"),
    "import with ids": Case(_proto, "import trips.proto --out tables/"),
    "wrong samples": Case(_two, "sample orders --wrong -n 20 --output wrong.jsonl"),
    "sample as Arrow": Case(_two, "sample orders --output rows.arrow"),
    **{
        f"output of {command}": Case(_again("lock"), f"{command} --output-file out.txt", code)
        for command, code in {
            "build --format json": 0,
            "fmt --check": 1,
            "lock --check --format json": 4,
            "diff lock --format json": 0,
            "breaking --against lock": 0,
            "list --format json": 0,
            "expand orders.yaml --out expanded.yaml": 0,
            "docs": 0,
        }.items()
    },
    "sample": Case(_two, "sample orders --output rows.jsonl"),
}


def tree(folder: Path) -> dict[str, bytes]:
    """The files of a folder, without what is kept to save time, and without the time in a Paimon schema."""
    return {
        path.relative_to(folder).as_posix(): re.sub(rb'"timeMillis" : \d+', b"", path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".schemac" not in path.relative_to(folder).parts
    }


def _is_whole(path: str, content: bytes, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> bool:
    # The list of an output folder may name the files of both times.
    return content in (before.get(path), after.get(path)) or path == "build/artifacts.json"


Fail = Callable[[str, bool, Callable[[int, int], bool]], None]


@pytest.fixture
def fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fail:
    """Lets a command fail at each write that is chosen by its number and by how many there are, once or from there on."""

    def failing_at(case: str, stays_full: bool, is_chosen: Callable[[int, int], bool]) -> None:
        _fail(case, stays_full, is_chosen, tmp_path, capsys)

    (tmp_path / "disk").mkdir()
    monkeypatch.chdir(tmp_path / "disk")
    return failing_at


IN_BOTH_WAYS = pytest.mark.parametrize("stays_full", [False, True], ids=["once", "full"])


@IN_BOTH_WAYS
@pytest.mark.parametrize("case", CASES)
def test_fail_at_every_write(case: str, stays_full: bool, fail: Fail) -> None:
    """The disk fails once at the first, the third, …, and stays full from the second, the fourth, … or the last write on.

    Of many writes only every sixth one is tried.
    """

    def is_chosen(n: int, of: int) -> bool:
        step = 2 if of <= 12 else 6
        return n % step == 0 or n == of if stays_full else n % step == 1

    fail(case, stays_full, is_chosen)


@pytest.mark.long
@IN_BOTH_WAYS
@pytest.mark.parametrize("case", CASES)
def test_fail_at_every_write_in_both_ways(case: str, stays_full: bool, fail: Fail) -> None:
    fail(case, stays_full, lambda _n, _of: True)


def _fail(
    case: str,
    stays_full: bool,
    is_chosen: Callable[[int, int], bool],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make, command, code = CASES[case]
    folder, start = tmp_path / "disk", tmp_path / "start"
    make(folder)
    shutil.copytree(folder, start)

    def again() -> None:
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(start, folder, dirs_exist_ok=True)

    before = tree(folder)
    capsys.readouterr()
    with failing(folder) as disk:
        assert main(command.split()) == code, capsys.readouterr()
    after = tree(folder)
    assert before != after
    assert disk.writes
    felt = 0
    for n in filter(lambda n: is_chosen(n, disk.writes), range(1, disk.writes + 1)):
        again()
        capsys.readouterr()
        with failing(folder, n, stays_full=stays_full):
            ended = main(command.split())
        said = "".join(capsys.readouterr())
        left = tree(folder)
        if ended != code:
            # The output of a command says what it could not do, also where that is a file.
            said += left.pop("out.txt", b"").decode()
        if ended == code:
            assert left == after, (n, said)
            continue
        felt += 1
        assert ended in {1, 2}, (n, said)
        assert "no space left" in said, (n, said)
        for path, content in left.items():
            assert _is_whole(path, content, before, after), (n, path, said)
        done = re.search(r"(?:formatted|fixed) (\d+)", said)
        changed = sum(content != before.get(path) for path, content in left.items())
        assert done is None or int(done[1]) == changed, (n, said)
        assert main(command.split()) == code, (n, said, capsys.readouterr())
        assert tree(folder) == after, (n, said)
    assert felt, "a command that writes feels that it cannot"
