"""Whatever lies in the place of a lock, no command takes it for no lock, for then all fields would get new ids."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import schemac
from schemac.cli.main import main

MANIFEST = "name: t\nfields: [{name: a, type: Int8}]\n"
WAYS: dict[str, Callable[[Path], object]] = {
    "a folder": lambda lock: lock.mkdir(),
    "a link to itself": lambda lock: lock.symlink_to(lock.name),
    "a link to nothing": lambda lock: lock.symlink_to("nothing"),
    "a link to a device": lambda lock: lock.symlink_to("/dev/zero"),
    "a pipe": lambda lock: os.mkfifo(lock),
    "no text": lambda lock: lock.write_bytes(b"\xff\xfe"),
    "an empty file": lambda lock: lock.touch(),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
@pytest.mark.parametrize("way", WAYS)
def test_refuse_what_is_no_lock(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.yaml").write_text(MANIFEST)
    # A lock of the same dataset beside it: what is wrong is the own one.
    Path("u.yaml").write_text(MANIFEST)
    assert main(["lock", "u.yaml"]) == 0
    Path("u.yaml").unlink()
    WAYS[way](Path("t.lock"))
    capsys.readouterr()
    for command in (
        ["build", "--out", "b"],
        ["lock"],
        ["lock", "--check"],
        ["breaking", "--against", "lock"],
    ):
        assert main([*command]) == 1, command
        said = capsys.readouterr().err + capsys.readouterr().out
        assert "Errno" not in said, said
    with pytest.raises(schemac.SchemaError) as refused:
        schemac.compile_file("t.yaml")
    assert [d.code for d in refused.value.diagnostics] == ["SC402"]
    assert not Path("b").exists()


def test_count_a_file_once_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("t.yaml").write_text(MANIFEST)
    names = ["t.yaml", "./t.yaml", "../here/t.yaml", str(folder / "t.yaml"), ".", "../here"]
    assert main(["check", *names]) == 0
    assert "checked 1 dataset" in capsys.readouterr().err
    Path("link.yaml").symlink_to("t.yaml")
    assert main(["check"]) == 1
    said = capsys.readouterr().out
    assert "t.yaml:1:7" in said
    assert "link.yaml:1:7" in said, "a link is called by its own name"


def test_show_the_line_that_is_not_utf_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.yaml").write_text(MANIFEST)
    assert main(["lock", "t.yaml"]) == 0
    lines = Path("t.lock").read_bytes().splitlines(keepends=True)
    Path("base.lock").write_bytes(b"".join(lines))
    for number, line in enumerate(lines, 1):
        damaged = [*lines[: number - 1], line[:2] + b"\xff" + line[2:], *lines[number:]]
        for name in ("t.lock", "theirs.lock"):
            Path(name).write_bytes(b"".join(damaged))
        capsys.readouterr()
        for command, name in (
            (["lock"], "t.lock"),
            (["build"], "t.lock"),
            (["breaking", "--against", "lock"], "t.lock"),
            (["lock", "--resolve"], "t.lock"),
            (["lock", "--merge-driver", "base.lock", "base.lock", "theirs.lock"], "theirs.lock"),
        ):
            assert main(command) == 1, command
            said = capsys.readouterr().out
            assert f"{name}: byte 0xff in this line is not UTF-8" in said, command
            assert f"--> {name}:{number}:1" in said, command
