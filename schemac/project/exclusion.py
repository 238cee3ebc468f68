"""What is left out where a folder is looked through.

Layer: project.
Source: patterns are those of `.gitignore`, by their paths from the project's folder.
"""

import os
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

FOREIGN_FOLDERS = ("node_modules", "__pycache__", "venv", "site-packages", "target", "dist")
"""Folders that are not entered unless the settings say otherwise: packages and what other tools build."""


def is_within(path: str | Path, folder: str | Path) -> bool:
    """Whether a path leads into a folder, with all links followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def is_pattern(text: str) -> bool:
    """Whether a text is a pattern that `.gitignore` may have; also one that matches nothing, such as a comment."""
    from pathspec import GitIgnoreSpec  # for start-up time: few projects have patterns

    try:
        with warnings.catch_warnings():
            # Of `[[:alpha:]]`, which the library does not know, Python warns; it would match something else.
            warnings.simplefilter("error", FutureWarning)
            GitIgnoreSpec.from_lines([text])
    except (ValueError, re.error, FutureWarning):
        # Of ranges such as `[z-a]` Python's expressions say that they are wrong.
        return False
    return True


@dataclass(frozen=True)
class Exclusion:
    """What is left out; hidden files and folders always are."""

    base: Path = Path()
    """The folder that patterns start from."""
    patterns: tuple[str, ...] = ()
    folders: frozenset[str] = frozenset(FOREIGN_FOLDERS)
    """Names of folders that are not entered, wherever they lie."""

    def hides_folder(self, parent: str, name: str) -> bool:
        """Whether a folder is not entered."""
        if name.startswith(".") or name in self.folders:
            return True
        return bool(self.patterns) and self._matches(os.path.join(parent, name), "/")

    def hides_file(self, parent: str, name: str) -> bool:
        """Whether a file is passed over, whatever the folder that it is in."""
        # `..yaml` is an odd name, and no hidden file.
        if name.startswith(".") and not name.startswith(".."):
            return True
        return bool(self.patterns) and self._matches(os.path.join(parent, name), "")

    def hides_below(self, folder: Path, inside: str) -> bool:
        """Whether a file is passed over where a folder is looked through; `inside` is its path from there, with `/`."""
        *folders, file = inside.split("/")
        parent = str(folder)
        for name in folders:
            if name != ".." and self.hides_folder(parent, name):
                return True
            parent = os.path.join(parent, name)
        return self.hides_file(parent, file)

    def _matches(self, path: str, end: str) -> bool:
        try:
            place = os.path.relpath(os.path.abspath(path), self._root)
        except ValueError:
            # On another drive of Windows.
            return False
        inside = place.replace(os.sep, "/")
        # What lies outside of the project has no path that a pattern could match.
        return not inside.startswith("../") and self._match(f"{inside}{end}")

    @cached_property
    def _root(self) -> str:
        return os.path.abspath(self.base)

    @cached_property
    def _match(self) -> Callable[[str], bool]:
        from pathspec import GitIgnoreSpec  # for start-up time, as above

        return GitIgnoreSpec.from_lines(self.patterns).match_file
