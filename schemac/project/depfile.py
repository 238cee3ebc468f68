"""What a build read, as rules for Make and Ninja.

Layer: project.
Source: the syntax of GNU Make (4.2, "Rule Syntax") as far as gcc's `-MD` uses it, which Ninja reads too: blanks, `#` and `:`
are escaped with a backslash, `$` is doubled. A `%` in a target would be a pattern of Make's own.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from schemac.project.configuration import FILES, Project
from schemac.project.discovery import lock_path
from schemac.project.imported import FolderFiles
from schemac.project.manifests import CompiledFile

_SPECIAL = re.compile(r"[ \t#:]")


def depfile(target: str, files: Iterable[CompiledFile], project: Project, others: Iterable[Path]) -> str:
    """Return a rule that makes a target depend on all that a build read, and one without prerequisites for each of these.

    So a manifest that was removed ends no build. `others` are files that were named, such as an overlay.
    """
    paths = sorted({_display_path(path) for path in (*_read(files, project), *others) if path.exists()})
    names = [_escaped(path) for path in paths]
    rule = " \\\n  ".join([f"{_escaped(target)}:", *names])
    return f"{rule}\n" + "".join(f"\n{name}:\n" for name in names if "%" not in name)


def _read(files: Iterable[CompiledFile], project: Project) -> Iterator[Path]:
    for one in files:
        yield one.file.path
        yield lock_path(one.file.path)
        # A manifest that comes into a folder changes the folder, and nothing else that was read.
        if not one.file.is_named:
            yield one.file.path.parent
        around = FolderFiles(one.file.path, one.file.name)
        yield from (around.place(path) for path, _ in one.imported.files)
    yield from (project.folder / name for name in FILES)
    yield from (project.folder / file for file in project.configuration.vocabularies.values())


def _display_path(path: Path) -> str:
    """Return the path from the working folder where that is shorter: Make takes two spellings for two files."""
    inside = os.path.relpath(path)
    return (str(path.absolute()) if inside.startswith("..") else inside).replace(os.sep, "/")


def _escaped(path: str) -> str:
    return _SPECIAL.sub(lambda match: f"\\{match[0]}", path).replace("$", "$$")
