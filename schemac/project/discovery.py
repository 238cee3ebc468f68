"""Which files a run is about.

Layer: project.
Errors: SC101 unreadable-file, SC602 nothing-to-compile.
A named file is a manifest; in a named folder every .yaml and .yml below it may be one, unless the settings exclude it. Hidden
folders, installed packages and the output folder are not entered, nor are artifacts that lie elsewhere.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from schemac.project.exclusion import Exclusion
from schemac.source.catalogue import NOTHING_TO_COMPILE, UNREADABLE_FILE
from schemac.source.report import Report
from schemac.source.suggest import shortened
from schemac.source.text import read_content, read_file, reason_of

_SUFFIXES = (".yaml", ".yml")
_USUAL = Exclusion()


class ManifestFile(NamedTuple):
    """A file to read, and how it is spoken of."""

    path: Path
    name: str
    is_named: bool
    """Whether the user named this file; of others, those that are no manifest are passed over."""
    given: bytes | None = None
    """Its content, where it was given and is not read."""

    def content(self, report: Report) -> bytes | None:
        """Return its bytes, or None after saying why it cannot be read."""
        return read_content(self.path, self.name, report) if self.given is None else self.given


def lock_path(manifest: Path) -> Path:
    """Where the lock of a manifest lies: its stem with `.lock`."""
    return manifest.with_suffix(".lock")


def has_lock(manifest: Path) -> bool:
    """Whether something lies where the lock of a manifest would, readable or not."""
    return os.path.lexists(lock_name(manifest))


def read_lock_bytes(manifest: Path) -> bytes | None:
    """Return the bytes of the lock of a manifest, None where there is none. Raises OSError where it cannot be read."""
    try:
        return read_file(lock_name(manifest))
    except FileNotFoundError:
        if has_lock(manifest):
            raise
        return None


def lock_name(manifest: str | Path) -> str:
    """Return `lock_path` as a text."""
    path = os.fspath(manifest)
    start = path.removesuffix(".yaml")
    # By far the most manifests are called so; a path object takes longer than the question.
    is_plain = start != path and not start.endswith(("/", "\\"))
    return f"{start}.lock" if is_plain else str(lock_path(Path(manifest)))


def find_manifests(
    paths: Sequence[str], base: Path, out: Path, report: Report, exclusion: Exclusion = _USUAL
) -> list[ManifestFile]:
    """Return the manifests at these paths, each once, in the order of the paths and of the names below them."""
    found: dict[str, ManifestFile] = {}
    places = _Places()
    for given in paths:
        path = Path(given) if os.path.isabs(given) else base / given
        try:
            is_folder, exists = path.is_dir(), path.exists()
        except OSError as error:
            # Python says no where there is nothing, but not where the system does not even look.
            report.add(UNREADABLE_FILE, f"cannot read {shortened(given)}: {reason_of(error)}")
            continue
        if is_folder:
            for file in walk(path, out, exclusion=exclusion):
                place = places.of(file)
                where = places.name(file, place)
                if os.path.exists(file):
                    found.setdefault(place, ManifestFile(file, where, is_named=False))
                    continue
                report.add(UNREADABLE_FILE, f"{where} is a broken link", file=where, help="remove it")
        elif exists:
            place = places.of(path)
            found.setdefault(place, ManifestFile(path, places.name(path, place), is_named=True))
        else:
            report.add(
                UNREADABLE_FILE, f"there is no file or folder {given}", file=given, help="check the path"
            )
    if not found and not report.has_errors:
        where = ", ".join(paths)
        report.add(
            NOTHING_TO_COMPILE,
            f"there is no YAML file in {where}",
            help="name a manifest, or start one with `schemac init`",
        )
    return list(found.values())


def walk(
    folder: Path, out: Path, suffixes: tuple[str, ...] = _SUFFIXES, exclusion: Exclusion = _USUAL
) -> Iterator[Path]:
    """Yield the files of these endings in a folder that may be a project's own."""
    for root, folders, files in os.walk(folder):
        here = Path(root)
        folders[:] = sorted(
            name for name in folders if not exclusion.hides_folder(root, name) and here / name != out
        )
        # The ODF artifact is YAML, and a manifest; an earlier build into another folder is no input of this one.
        if here.name == "odf" and "schema.bin" in files:
            continue
        yield from (
            here / name
            for name in sorted(files)
            if name.endswith(suffixes) and not exclusion.hides_file(root, name)
        )


def is_manifest_name(folder: Path, inside: str, exclusion: Exclusion) -> bool:
    """Whether a file of this path from a folder would be looked at there."""
    return inside.endswith(_SUFFIXES) and not exclusion.hides_below(folder, inside)


class _Places:
    """Where files lie, however their folders were named; texts, for path objects are slow in large projects."""

    def __init__(self) -> None:
        self._below = os.path.join(os.getcwd(), "")
        self._folders: dict[str, str] = {}

    def of(self, path: Path) -> str:
        """Return the place of a file or a link, with its folder without links."""
        if path.name in ("", ".."):
            return os.path.realpath(path)
        folder, name = os.path.split(path)
        found = self._folders.get(folder)
        if found is None:
            # Of a link that leads back to itself this is its own place.
            found = self._folders[folder] = os.path.realpath(folder)
        return os.path.join(found, name)

    def name(self, path: Path, place: str) -> str:
        """Return the path from the working folder where it lies below it, with `/`; a link is called by its own name."""
        return (
            place[len(self._below) :].replace(os.sep, "/")
            if place.startswith(self._below)
            else path.as_posix()
        )
