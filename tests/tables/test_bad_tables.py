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
