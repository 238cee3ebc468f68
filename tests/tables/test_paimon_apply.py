"""Schema files of Paimon on disk: whole or not at all, and each name once."""

import errno
import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from schemac.cli.main import main
from schemac.engines.paimon.tables import create

V1 = "name: t\nfields:\n  - {name: a, type: Int32}\n"
V2 = "name: t\nfields:\n  - {name: a, type: Int64}\n"
V3 = "name: t\nfields:\n  - {name: a, type: Int64}\n  - {name: b, type: {kind: Option, inner: String}}\n"


def lock(folder: Path, *versions: str) -> None:
    for version in versions:
        (folder / "t.yaml").write_text(version)
        assert main(["lock", "t.yaml"]) == 0


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The table of the first of three locked versions."""
    monkeypatch.chdir(tmp_path)
    lock(tmp_path, V1, V2, V3)
    assert main(["build", "t.yaml"]) == 0
    (tmp_path / "table/schema").mkdir(parents=True)
    built = (tmp_path / "build/t/paimon/schema-0").read_bytes()
    (tmp_path / "table/schema/schema-0").write_bytes(built)
    return tmp_path / "table"


def names(table: Path) -> list[str]:
    return sorted(os.listdir(table / "schema"))


def without_time(file: Path) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(file.read_bytes())
    del tree["timeMillis"]
    return tree


def test_write_what_a_build_writes(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "t", "--table", "table"]) == 1
    assert "SC424" in capsys.readouterr().out
    assert main(["apply", "t", "--table", "table", "--dry-run"]) == 0
    assert names(table) == ["schema-0"]
    assert main(["apply", "t", "--table", "table"]) == 0
    assert names(table) == ["schema-0", "schema-1", "schema-2"]
    for name in names(table):
        assert without_time(table / "schema" / name) == without_time(Path("build/t/paimon") / name)
    assert json.loads((table / "schema/schema-2").read_bytes())["timeMillis"] > 1_700_000_000_000
    assert main(["verify", "t", "--table", "table"]) == 0
    assert main(["apply", "t", "--table", "table"]) == 0
    assert len(names(table)) == 3


def test_go_on_from_where_the_table_is(table: Path) -> None:
    assert main(["apply", "t", "--table", "table", "--to", "2"]) == 0
    assert names(table) == ["schema-0", "schema-1"]
    assert main(["verify", "t", "--table", "table", "--version", "2"]) == 0
    assert main(["apply", "t", "--table", "table"]) == 0
    assert main(["verify", "t", "--table", "table"]) == 0


def test_count_on_from_the_newest_file(table: Path) -> None:
    (table / "schema/schema-0").rename(table / "schema/schema-7")
    assert main(["apply", "t", "--table", "table"]) == 0
    assert names(table) == ["schema-7", "schema-8", "schema-9"]
    assert json.loads((table / "schema/schema-9").read_bytes())["id"] == 9
    assert main(["verify", "t", "--table", "table"]) == 0


def test_refuse_to_go_back(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["apply", "t", "--table", "table"]) == 0
    assert main(["plan", "t", "--table", "table", "--to", "1"]) == 1
    assert "cannot go back" in capsys.readouterr().out


def test_refuse_a_table_that_somebody_else_changed(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (table / "schema/schema-0").read_text()
    (table / "schema/schema-1").write_text(text.replace('"a"', '"z"'))
    assert main(["apply", "t", "--table", "table"]) == 1
    assert "SC421" in capsys.readouterr().out
    assert names(table) == ["schema-0", "schema-1"]


def test_refuse_ids_that_were_used_already(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = table / "schema/schema-0"
    file.write_text(file.read_text().replace('"highestFieldId" : 0', '"highestFieldId" : 9'))
    assert main(["apply", "t", "--table", "table"]) == 1
    assert "has used ids up to 9" in capsys.readouterr().out


def test_look_before_values_may_not_fit(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["apply", "t", "--table", "table", "--to", "2"]) == 0
    lock(Path(), V2.replace("Int64", "Int8"))
    assert main(["apply", "t", "--table", "table"]) == 0, "an empty table has no values"
    (table / "schema/schema-3").unlink()
    (table / "schema/schema-2").unlink()
    (table / "snapshot").mkdir()
    (table / "snapshot/snapshot-1").write_text("{}")
    capsys.readouterr()
    assert main(["apply", "t", "--table", "table"]) == 1
    assert "TRY_CAST(a AS TINYINT) IS NULL" in capsys.readouterr().out
    assert names(table) == ["schema-0", "schema-1"]
    assert main(["apply", "t", "--table", "table", "--unchecked"]) == 0
    assert main(["verify", "t", "--table", "table"]) == 0


@pytest.mark.parametrize(
    "change",
    [
        ("{name: a, type: Int32}", "{name: a, type: Int32, extra: {schemac.dev/maximum: 5}}"),
        ("name: t\n", "name: t\nextra: {schemac.dev/check: [a < 5]}\n"),
        ("name: t\n", "name: t\nextra: {schemac.dev/unique: [[a]]}\n"),
    ],
)
def test_look_at_no_rows_only_where_it_is_confirmed(
    change: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The rows of Paimon are not read: a constraint that they may break is refused, or the result says that they were not checked."""
    monkeypatch.chdir(tmp_path)
    lock(tmp_path, V1)
    assert main(["build", "t.yaml"]) == 0
    for folder in ("schema", "snapshot"):
        (tmp_path / "table" / folder).mkdir(parents=True)
    (tmp_path / "table/schema/schema-0").write_bytes((tmp_path / "build/t/paimon/schema-0").read_bytes())
    (tmp_path / "table/snapshot/snapshot-1").write_text("{}")
    lock(tmp_path, V1.replace(*change))
    capsys.readouterr()
    assert main(["apply", "t", "--table", "table"]) == 1
    assert "SC422" in capsys.readouterr().out
    assert names(tmp_path / "table") == ["schema-0"]
    assert main(["apply", "t", "--table", "table", "--unchecked"]) == 0
    assert "the rows were not checked for: " in capsys.readouterr().err


def test_refuse_as_a_whole(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock(Path(), V3.replace("Int64", "Date"))
    assert main(["apply", "t", "--table", "table"]) == 1
    assert "SC411" in capsys.readouterr().out
    assert names(table) == ["schema-0"]


def test_leave_out_a_version_that_paimon_refuses(table: Path) -> None:
    lock(
        Path(),
        V3 + "  - {name: c, type: String}\n",
        V3 + "  - {name: c, type: {kind: Option, inner: String}}\n",
    )
    assert main(["apply", "t", "--table", "table"]) == 0
    assert names(table) == ["schema-0", "schema-1", "schema-2", "schema-3"]
    assert main(["verify", "t", "--table", "table"]) == 0


def test_let_one_of_several_processes_write(table: Path) -> None:
    command = [sys.executable, "-m", "schemac", "apply", "t", "--table", "table"]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(4)]
    said = [process.communicate(timeout=60)[1] for process in running]
    assert [process.returncode for process in running] == [0] * 4, said
    assert names(table) == ["schema-0", "schema-1", "schema-2"]
    assert main(["verify", "t", "--table", "table"]) == 0


def test_take_what_was_wanted_from_whoever_did_it(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else is quicker after the plan was made."""

    def late(path: Path, content: bytes) -> bool:
        if not path.exists():
            path.write_bytes(content)
        return create(path, content)

    monkeypatch.setattr("schemac.engines.paimon.tables.create", late)
    assert main(["apply", "t", "--table", "table"]) == 0
    assert names(table) == ["schema-0", "schema-1", "schema-2"]


def test_write_nothing_over_what_was_not_wanted(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = (table / "schema/schema-0").read_text().replace('"a"', '"z"')

    def late(path: Path, content: bytes) -> bool:
        path.write_text(other)
        return create(path, content)

    monkeypatch.setattr("schemac.engines.paimon.tables.create", late)
    assert main(["apply", "t", "--table", "table"]) == 1
    assert "SC423" in capsys.readouterr().out
    assert names(table) == ["schema-0", "schema-1"]
    assert (table / "schema/schema-1").read_text() == other


def test_leave_no_part_of_a_file_when_killed(table: Path) -> None:
    """A process that dies between the file and its name leaves a hidden file, which nobody takes for a schema."""
    dying = (
        "import os, sys; os.link = lambda *_: os._exit(9); "
        "from schemac.cli.main import main; main(['apply', 't', '--table', 'table'])"
    )
    assert subprocess.run([sys.executable, "-c", dying], check=False, capture_output=True).returncode == 9
    (hidden,) = [name for name in names(table) if name != "schema-0"]
    assert hidden.startswith(".schema-1.")
    assert main(["apply", "t", "--table", "table"]) == 0
    assert main(["verify", "t", "--table", "table"]) == 0


def _create(folder: str, number: int) -> bool:
    return create(Path(folder) / "schema-1", str(number).encode() * 100_000)


def test_give_a_name_to_one_of_many(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        made = pool.starmap(_create, [(str(tmp_path), number) for number in range(8)])
    assert made.count(True) == 1
    assert (tmp_path / "schema-1").read_bytes() == str(made.index(True)).encode() * 100_000
    assert os.listdir(tmp_path) == ["schema-1"]


def test_do_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    assert create(tmp_path / "schema-1", b"one")
    assert not create(tmp_path / "schema-1", b"other")
    assert (tmp_path / "schema-1").read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["schema-1"]
