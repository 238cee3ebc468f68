"""A day of somebody who writes manifests, over the real processes: what each command says leads to the next one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

pytestmark = pytest.mark.slow
VIEWS = "tables/page_views.yaml"


class _Desk:
    """A repository, and the commands that are typed in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]),
            "NO_COLOR": "1",
        }
        self.git("init", "-b", "main")

    def git(self, *words: str) -> None:
        """Run git, as somebody."""
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True)

    def schemac(self, line: str, *, code: int = 0, given: str = "") -> str:
        """Run schemac; return what it prints and says."""
        words = [sys.executable, "-m", "schemac", *line.split()]
        run = subprocess.run(
            words,
            cwd=self.folder,
            env=self._environment,
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert run.returncode == code, run.stdout
        return run.stdout

    def edit(self, old: str, new: str) -> str:
        """Return a manifest with another text in it, which is not saved."""
        text = (self.folder / VIEWS).read_text()
        assert old in text
        return text.replace(old, new, 1)


def test_go_from_an_empty_folder_to_a_reviewed_change(tmp_path: Path) -> None:
    desk = _Desk(tmp_path)
    desk.schemac("init --template events --ci github")
    desk.schemac("lock -q")
    desk.git("add", "--all")
    desk.git("commit", "-m", "one")

    # In the editor: what is typed is checked before it is saved, and the first try is a slip.
    slip = desk.edit("inner: UInt32", "inner: UInt63")
    assert "did you mean `UInt64`" in desk.schemac(f"check - --stdin-filename {VIEWS}", given=slip, code=1)
    right = desk.edit("inner: UInt32", "inner: UInt64")
    desk.schemac(f"check - --stdin-filename {VIEWS} --fail-on warning", given=right)
    (tmp_path / VIEWS).write_text(right)

    # A name that is better, without fear for the data; the change before it has to be locked.
    assert "run `schemac lock" in desk.schemac("rename page_views seconds visible_seconds", code=4)
    desk.schemac("lock -q")
    assert "seconds is now visible_seconds" in desk.schemac("rename page_views seconds visible_seconds")
    verdicts = json.loads(desk.schemac("breaking --against git:HEAD --format json", code=1))["verdicts"]
    assert {(v["field"], v["change"]) for v in verdicts} == {
        ("visible_seconds", "field-renamed"),
        ("visible_seconds", "integer-widened"),
    }

    # For those who review it, and those who look later.
    desk.schemac("docs --format markdown -o docs/tables")
    page = (tmp_path / "docs/tables/page_views.md").read_text(encoding="utf-8")
    assert "integer-widened: UInt32 → UInt64" in page.replace("\\", "")
    desk.schemac("build --depfile build.d -q")
    assert "build/artifacts.json:" in (tmp_path / "build.d").read_text()
    desk.schemac("check --format junit --output-file report.xml")
    assert Xml.parse(tmp_path / "report.xml").getroot().get("failures") == "0"
    assert "visible_seconds" in desk.schemac("list --owner web")
