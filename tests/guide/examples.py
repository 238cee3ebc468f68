"""The examples of a page, run as a reader would: files are written, commands typed, in one folder for each page.

What the word behind the three backticks means:

* `yaml NAME`, `json NAME`, `toml NAME`, `python NAME`, `csv NAME`, `text NAME`: a file of that name in the folder of the page;
* `diff NAME`: an edit of that file; hunks are parted by lines of `...`;
* `console`: commands behind `$`, with their output. A line `…` stands for any lines, and `…` in a line for any text. A command without
  output below it may print anything. A comment `# exits with 1` says that the command is meant to fail;
* `python`: run in the folder, with the names of the page's earlier examples, and with a session `spark` if it mentions one;
* `yaml`, `toml` without a name: read as the manifest, pipeline or settings that they are; `sh`: commands are parsed, not run.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^( *)```(\w+)?(?: (\S+))?\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
EXITS = re.compile(r"\s+# exits with (\d)$")


@dataclass(frozen=True)
class Example:
    """A block of code of a page; `name` is the word behind the language, or empty."""

    language: str
    name: str
    text: str


def examples(page: Path) -> list[Example]:
    """Return the blocks of code of a page, in their order."""
    blocks = FENCE.findall(page.read_text(encoding="utf-8"))
    return [
        Example(language, name, re.sub(f"(?m)^{indent}", "", text)) for indent, language, name, text in blocks
    ]


@dataclass(frozen=True)
class Shell:
    """A folder in which commands are typed, with `schemac` and `python` on the path."""

    folder: Path

    @classmethod
    def of(cls, tmp_path: Path) -> "Shell":
        """Return a shell in a new folder, with programs of this checkout."""
        programs = tmp_path / "bin"
        programs.mkdir()
        for name, words in (("schemac", " -m schemac"), ("python", "")):
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
            (programs / name).chmod(0o755)
        folder = tmp_path / "project"
        folder.mkdir()
        return cls(folder)

    def run(self, command: str) -> tuple[int, str]:
        """Run one command; return its exit code, and what it printed to either stream."""
        home = self.folder.parent / "home"
        home.mkdir(exist_ok=True)
        environment = {
            "PATH": f"{self.folder.parent / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(home),
            "JAVA_HOME": os.environ.get("JAVA_HOME", ""),
            "PYTHONUNBUFFERED": "1",  # findings and summaries in the order in which a terminal shows them
            "SOURCE_DATE_EPOCH": "1767225600",
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": "user.name",
            "GIT_CONFIG_VALUE_0": "Reader",
            "GIT_CONFIG_KEY_1": "user.email",
            "GIT_CONFIG_VALUE_1": "reader@example.org",
        }
        environment = {name: value for name, value in environment.items() if value}
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def write(self, name: str, text: str) -> None:
        """Write a file of the folder."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def copy(self, example: str) -> None:
        """Copy a folder of `examples/` into the folder."""
        shutil.copytree(ROOT / "examples" / example, self.folder, dirs_exist_ok=True)


def commands(text: str) -> list[tuple[str, int, str]]:
    """Return the commands of a console with their exit codes and outputs."""
    parts = re.split(r"(?m)^\$ ", text)[1:]
    result = []
    for part in parts:
        lines = part.splitlines()
        command = lines.pop(0)
        while command.endswith("\\"):
            command += "\n" + lines.pop(0)
        code = EXITS.search(command)
        result.append((EXITS.sub("", command), int(code[1]) if code else 0, "\n".join(lines).strip("\n")))
    return result


def is_like(output: str, expected: str) -> bool:
    """Whether an output is the expected one, whose `…` stand for anything."""
    lines = [
        r"(?:.*\n)*?" if line.strip() == "…" else f"{re.escape(line.rstrip()).replace('…', '.*')}[ ]*\n"
        for line in expected.splitlines()
    ]
    return re.fullmatch(r"\n*" + "".join(lines) + r"\n*", output + "\n") is not None


def edited(text: str, diff: str) -> str:
    """Return a text after the hunks of a diff, which are parted by lines of three dots."""
    for hunk in diff.split("...\n"):
        lines = hunk.splitlines()
        before = "".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", "-"))
        after = "".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", "+"))
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text
