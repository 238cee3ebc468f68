"""A repository with two manifests, their locks and a build, in which time goes on."""

import subprocess
from pathlib import Path

import pytest

from schemac.cli.main import main

RIDES = """\
name: rides
fields:
  - name: id
    type: Int32
  - name: note
    type: {kind: Option, inner: String}
"""
STOPS = """\
name: stops
fields:
  - name: place
    type:
      kind: Struct
      fields:
        - {name: lat, type: Float64}
        - {name: lon, type: Float64}
"""


class Repository:
    """A folder under git, with what one does there."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a part of a file, which has to be there."""
        text = (self.folder / path).read_text(encoding="utf-8")
        assert old in text
        self.write(path, text.replace(old, new))

    def git(self, *words: str) -> None:
        """Run git, as somebody."""
        who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
        subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True)

    def commit(self, message: str, *drop: str) -> None:
        """Lock and commit everything as it is, without the fields that are said to be dropped."""
        assert main(["lock", "tables", *(word for path in drop for word in ("--drop", path))]) == 0
        self.git("add", "--all")
        self.git("commit", "--allow-empty", "-m", message)
        self._capsys.readouterr()

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run schemac: its exit code, what it prints, and what it says beside that."""
        code = main(words)
        return (code, *self._capsys.readouterr())


@pytest.fixture
def repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Repository:
    """Two commits: the first one, tagged `v1`, has a shorter id."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    found = Repository(tmp_path, capsys)
    found.git("init")
    found.write("tables/rides.yaml", RIDES)
    found.write("tables/stops.yaml", STOPS)
    assert main(["build", "tables"]) == 0
    found.write(".gitignore", "build\n")
    found.commit("one")
    found.git("tag", "v1")
    found.edit("tables/rides.yaml", "Int32", "Int64")
    found.commit("two")
    return found
