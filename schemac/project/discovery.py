"""Finds the files of a run, and leaves out those that the settings exclude.

Layer: project.
Shape: a named file is a manifest; in a named folder every .yaml and .yml file below it may be one. Hidden folders,
installed packages, the output folder and other artifacts are skipped. Patterns are those of `.gitignore`, relative to
the project's folder.
Errors: SC101 unreadable-file, SC602 nothing-to-compile.
"""

import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from schemac.text.source.catalogue import NOTHING_TO_COMPILE, UNREADABLE_FILE
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import shortened
from schemac.text.source.text import read_content, read_file, reason_of

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
        return name.startswith(".") or name in self.folders or self._matches(parent, name, "/")

    def hides_file(self, parent: str, name: str) -> bool:
        """Whether a file is passed over, whatever the folder that it is in."""
        # `..yaml` is an odd name, and no hidden file.
        return (name.startswith(".") and not name.startswith("..")) or self._matches(parent, name, "")

    def hides_below(self, folder: Path, inside: str) -> bool:
        """Whether a file is passed over where a folder is looked through; `inside` is its path from there, with `/`."""
        *folders, file = inside.split("/")
        parent = str(folder)
        for name in folders:
            if name != ".." and self.hides_folder(parent, name):
                return True
            parent = os.path.join(parent, name)
        return self.hides_file(parent, file)

    def _matches(self, parent: str, name: str, end: str) -> bool:
        """Whether a pattern excludes a path; `end` is `/` for a folder, and never does what is outside of the project match."""
        if not self.patterns:
            return False
        inside = os.path.relpath(os.path.join(parent, name), self.base)
        # What lies outside of the project has no path that a pattern could match.
        return not inside.startswith("../") and self._match(f"{inside}{end}")

    @cached_property
    def _match(self) -> Callable[[str], bool]:
        """The patterns as a function, which takes paths from the project's folder with `/`."""
        from pathspec import GitIgnoreSpec  # for start-up time, as above

        return GitIgnoreSpec.from_lines(self.patterns).match_file


SUFFIXES = (".yaml", ".yml")
"""Of manifests."""
_USUAL = Exclusion()


class ManifestFile(NamedTuple):
    """A file to read, and how it is spoken of."""

    path: Path
    name: str
    is_named: bool
    """Whether the user named this file; of others, those that are no manifest are passed over."""
    provided_content: bytes | None = None
    """Its content, where it was given and is not read."""

    def content(self, report: Report) -> bytes | None:
        """Return its bytes, or None after reporting why it cannot be read."""
        if self.provided_content is not None:
            return self.provided_content
        return read_content(self.path, self.name, report)


def content_of(path: str | Path) -> bytes | None:
    """Return the bytes of a file; None if it is not there, or cannot be read."""
    try:
        return read_file(path)
    except OSError:
        return None


def lock_path(manifest: Path) -> Path:
    """Return the path of the lock of a manifest: its stem with `.lock`."""
    return manifest.with_suffix(".lock")


def manifests_of_lock(lock: Path) -> list[Path]:
    """Return the manifests that a lock is next to."""
    return [path for suffix in SUFFIXES if (path := lock.with_suffix(suffix)).exists()]


def has_lock(manifest: Path) -> bool:
    """Whether the path of the lock of a manifest exists, readable or not."""
    return os.path.lexists(lock_path(manifest))


def lock_name(manifest_name: str) -> str:
    """Return how the lock of a manifest is spoken of."""
    return lock_path(Path(manifest_name)).as_posix()


def find_manifests(
    paths: Sequence[str], base: Path, out: Path, report: Report, exclusion: Exclusion = _USUAL
) -> list[ManifestFile]:
    """Return the manifests at these paths, each once, in the order of the paths and of the names below them."""
    manifests: dict[str, ManifestFile] = {}
    # Of folders, most of which have many files.
    real_folder = cache(os.path.realpath)
    below = os.path.join(os.getcwd(), "")
    for path_text in paths:
        path = Path(path_text) if os.path.isabs(path_text) else base / path_text
        try:
            is_folder, exists = path.is_dir(), path.exists()
        except OSError as error:
            # Python says no where there is nothing, but not where the system does not even look.
            report.add(UNREADABLE_FILE, f"cannot read {shortened(path_text)}: {reason_of(error)}")
            continue
        if is_folder:
            for file in walk(path, out, exclusion=exclusion):
                real = real_path(file, real_folder)
                where = _display_path(file, real, below)
                if not file.is_symlink() or os.path.exists(file):
                    manifests.setdefault(real, ManifestFile(file, where, is_named=False))
                    continue
                report.add(UNREADABLE_FILE, f"{where} is a broken link", file=where, help="remove it")
        elif exists:
            real = real_path(path, real_folder)
            manifests.setdefault(real, ManifestFile(path, _display_path(path, real, below), is_named=True))
        else:
            message = f"there is no file or folder {path_text}"
            report.add(UNREADABLE_FILE, message, file=path_text, help="check the path")
    if not manifests and not report.has_errors:
        where = ", ".join(paths)
        # The settings may hide all that there is.
        if exclusion != _USUAL and any(next(walk(base / path_text, out), None) for path_text in paths):
            message = f"all YAML files in {where} are excluded"
            help = "look at `exclude` and `extendExclude` in the settings, or name a manifest"
        else:
            message = f"there is no YAML file in {where}"
            help = "name a manifest, or start one with `schemac init`"
        report.add(NOTHING_TO_COMPILE, message, help=help)
    return list(manifests.values())


def walk(
    folder: Path, out: Path, suffixes: tuple[str, ...] = SUFFIXES, exclusion: Exclusion = _USUAL
) -> Iterator[Path]:
    """Yield the files of these endings in a folder that may be a project's own, folder by folder, by name."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if not exclusion.hides_folder(here, name) and Path(here, name) != out
        )
        # The ODF artifact is YAML, and a manifest; an earlier build into another folder is no input of this one.
        if os.path.basename(here) != "odf" or "schema.bin" not in files:
            names = (name for name in sorted(files) if name.endswith(suffixes))
            yield from (Path(here, name) for name in names if not exclusion.hides_file(here, name))


def real_path(path: Path, real_folder: Callable[[str], str] = os.path.realpath) -> str:
    """Return the absolute path of a file whose folder has no links; a file that is a link itself keeps its name."""
    folder, name = os.path.split(path)
    return os.path.join(real_folder(folder), name) if name not in ("", ".", "..") else os.path.realpath(path)


def _display_path(path: Path, real: str, below: str) -> str:
    """Return a path from the working folder where it is `below` that, with `/`; a link is called by its own name."""
    return real.removeprefix(below) if real.startswith(below) else path.as_posix()
