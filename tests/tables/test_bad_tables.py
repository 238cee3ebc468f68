"""A table's folder in which something lies that Lance would wait for."""

import os
import subprocess
import sys
from pathlib import Path

import lance
import pytest

import schemac
from schemac.cli.main import main

MANIFEST = "name: t\nfields: [{name: a, type: Int8}]\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes among files")
@pytest.mark.parametrize("command", ["verify", "plan", "apply"])
def test_refuse_a_pipe_in_place_of_a_version(command: str, tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(MANIFEST)
    (dataset,) = schemac.compile_text(MANIFEST)
    lance.write_dataset(dataset.to_arrow().empty_table(), tmp_path / "t.lance")
    assert main(["lock", str(tmp_path / "t.yaml")]) == 0
    (version,) = (tmp_path / "t.lance/_versions").glob("*.manifest")
    version.unlink()
    os.mkfifo(version)
    words = [sys.executable, "-m", "schemac", command, "t.yaml", "--table", "t.lance"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert f"_versions/{version.name} is not a file" in done.stdout


@pytest.mark.parametrize("command", ["plan", "apply"])
def test_refuse_a_table_whose_rows_cannot_be_counted(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables of Lance's first versions count their rows by their data files; newer ones are told to do so here."""
    (tmp_path / "t.yaml").write_text(MANIFEST)
    monkeypatch.chdir(tmp_path)
    (dataset,) = schemac.compile_text(MANIFEST)
    lance.write_dataset(dataset.to_arrow().empty_table(), "t.lance")
    assert main(["lock"]) == 0

    def count_rows(table: lance.LanceDataset) -> int:
        raise OSError("Not found: t.lance/data/1.lance, /lance/src/local.rs:273:40")

    monkeypatch.setattr(lance.LanceDataset, "count_rows", count_rows)
    assert main([command, "t", "--table", "t.lance"]) == 1
    told = capsys.readouterr().out
    assert "error[SC421]: cannot read t.lance: Not found: t.lance/data/1.lance\n" in told
