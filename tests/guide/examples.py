"""The examples of a page, run as a reader would: files are written, commands typed, in one folder for each page.

What the word behind the three backticks means:

* `yaml NAME`, `json NAME`, `toml NAME`, `python NAME`, `csv NAME`, `text NAME`: a file of that name in the folder of the page;
* `diff NAME`: an edit of that file; hunks are parted by lines of `...`;
* `console`: commands behind `$`, with their output. A line `…` stands for any lines, and `…` in a line for any text. A command without
  output below it may print anything. A comment `# exits with 1` says that the command is meant to fail;
* `python`: run in the folder, with the names of the page's earlier examples, and with a session `spark` if it mentions one;
* `yaml`, `toml` without a name: read as the manifest, pipeline or settings that they are; `sh`: commands are parsed, not run.
"""

import re
from dataclasses import dataclass
from pathlib import Path

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
