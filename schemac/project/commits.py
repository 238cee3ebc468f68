"""The manifests of a commit.

Layer: project.
Shape: each present manifest is paired with the file at its path in the commit, or with one of the same content that was moved
since. All other manifests of the tree are listed, and read only to look for a dataset.
Errors: SC101 unreadable-file, SC408 unknown-reference, SC416 unknown-past, SC602 nothing-to-compare.
"""

import errno
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from schemac.project import discovery
from schemac.project.configuration import SETTINGS_FILES, Project, settings_table
from schemac.project.git_tree import CommitTree, NoCommitError, TreeEntry, open_tree
from schemac.project.imported import FolderFiles, file_at
from schemac.project.past_manifests import Before
from schemac.project.settings_file import Configuration, SettingsFile
from schemac.text.source.catalogue import NOTHING_TO_COMPILE, UNKNOWN_PAST, UNKNOWN_REFERENCE, UNREADABLE_FILE
from schemac.text.source.diagnostics import Report
from schemac.text.source.files import Files
from schemac.text.source.json_object import Json


def read_commit(
    ref: str,
    files: Sequence[discovery.ManifestFile],
    folders: Sequence[Path],
    project: Project,
    report: Report,
    *,
    is_project: bool,
) -> Before | None:
    """Return the manifests as they were at a commit; `folders` are compared with all that they held then.

    With `is_project` the folders are those of the project now; the folders that it had at the commit are compared as well.
    None after reporting what is wrong.
    """
    try:
        tree = open_tree(ref)
    except FileNotFoundError:
        report.add(UNKNOWN_REFERENCE, f"`git:{ref}` needs git, which is not installed")
        return None
    except NoCommitError as error:
        report.add(UNKNOWN_REFERENCE, f"git finds no commit '{ref}' in this repository", help=str(error))
        return None
    settings = _settings_then(tree, project)
    whole = [*folders]
    if is_project and settings is not None:
        named = settings.get("manifests")
        whole += [
            project.folder / str(one) for one in (named if isinstance(named, list) and named else ["."])
        ]
    exclusion = _exclusion_then(settings, project)
    before = _CommitReader(tree, report).before(files, whole, exclusion)
    for folder in folders:
        if not folder.exists() and not any(any(tree.below(place)) for place in tree.places_of(folder)):
            message = f"there is no file or folder {folder}, neither now nor in the version to compare with"
            report.add(UNREADABLE_FILE, message, file=str(folder), help="check the path")
    if not files and not before.gone and not report.has_errors:
        message = "there is no YAML file to compare, neither now nor in the version to compare with"
        report.add(NOTHING_TO_COMPILE, message, help="name a manifest, or start one with `schemac init`")
    return before


@dataclass(frozen=True)
class _TreeFiles:
    """The files around a manifest of a tree."""

    tree: CommitTree
    manifest: str

    def read(self, path: str) -> bytes:
        """Return the content of a file. Raises OSError."""
        entry = self.tree.find(self.key(path))
        if entry is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        content = self.tree.read([entry]).get(entry.id)
        if content is None:
            raise OSError(errno.EIO, entry.unreadable or "git cannot read its content")
        return content

    def name(self, path: str) -> str:
        """Return the name of a file in findings."""
        return self.tree.name(self.key(path))

    def key(self, path: str) -> str:
        """Return the path in the tree of a file that the manifest names; that of the manifest for the path ``."""
        return file_at(self.manifest, path)


class _CommitReader:
    """Collects the manifests of a commit."""

    def __init__(self, tree: CommitTree, report: Report) -> None:
        self._tree = tree
        self._report = report
        self._contents: dict[Path, bytes] = {}
        self._names: dict[Path, str] = {}
        self._moved: dict[Path, Path] = {}
        self._pending: dict[Path, TreeEntry] = {}
        """What is still to be read of manifests and locks of today, by their paths."""
        self._paired: set[str] = set()

    def before(
        self, files: Sequence[discovery.ManifestFile], folders: Sequence[Path], exclusion: discovery.Exclusion
    ) -> Before:
        """Return the past of manifests and of folders; all other manifests of the commit by their paths."""
        for file in files:
            self._pair(file)
        others = {
            path
            for path in self._tree.listed
            if path.endswith(discovery.SUFFIXES)
            and path not in self._paired
            # An artifact in the standard's own form is a manifest too, but lies beside its binary form.
            and f"{path.rpartition('/')[0]}/schema.bin" not in self._tree.listed
        }
        self._pair_moved(files, others)
        keys = {self._tree.top / path: path for path in sorted(others)}
        self._names |= {key: self._tree.name(path) for key, path in keys.items()}
        self._load_pending()
        # Of what may have had one of the datasets.
        unreadable_reasons = [submodule.reason for submodule in self._tree.unread if submodule.is_changed]
        for key, path in keys.items():
            entry = self._tree.find(path) if not os.path.lexists(key) else None
            if entry is not None and entry.unreadable:
                unreadable_reasons.append(entry.unreadable)
        gone: set[Path] = set()
        paths = {path: key for key, path in keys.items()}
        for folder in folders:
            for place in self._tree.places_of(folder):
                for path, inside in self._tree.below(place):
                    if path in paths and (path == place or not exclusion.hides_below(folder, inside)):
                        gone.add(paths[path])
        return Before(
            self._contents,
            self._names,
            tuple(sorted(gone)),
            tuple(keys),
            self._load_others,
            is_of_places=True,
            moved=self._moved,
            files=self._files_of,
            unreadable_reasons=tuple(unreadable_reasons),
        )

    def _files_of(self, path: Path) -> Files:
        """Return the files around a manifest at the commit."""
        place = self._tree.path_of(self._moved.get(path, path))
        return FolderFiles(path, path.name) if place is None else _TreeFiles(self._tree, place)

    def _report_unknown(self, name: str, message: str, help: str) -> None:
        """Report that it is unknown what a manifest was."""
        self._report.add(UNKNOWN_PAST, message, file=name, help=help)

    def _pair(self, file: discovery.ManifestFile) -> None:
        """Pair a manifest with the file that was at its path."""
        if self._tree.path_of(file.path) is None:
            message = f"{file.name} is outside the repository of `git:{self._tree.ref}`"
            self._report_unknown(file.name, message, "run the command inside the repository of the manifest")
        entry = self._tree.entry(file.path)
        self._names[file.path] = f"{self._tree.ref}:{file.name}"
        if entry is None:
            return
        if entry.unreadable:
            message = f"git cannot show {file.name} as it was at {self._tree.ref}: {entry.unreadable}"
            fetch = "fetch it with `git submodule update --init --recursive`, or "
            help = f"{fetch if 'submodule' in entry.unreadable else ''}compare with a folder or a manifest"
            self._report_unknown(file.name, message, help)
            return
        # The lock lies beside the manifest as it is called, also where that is a link.
        path = self._tree.path_of(file.path) or entry.path
        self._add_pending(file.path, entry, path)
        self._paired |= {entry.path, path}

    def _add_pending(self, key: Path, entry: TreeEntry, path: str) -> None:
        """Enter a manifest, and its lock if it had one, to be read under the path `key` of today."""
        self._pending[key] = entry
        lock = self._tree.readable(discovery.lock_name(path)) or self._tree.readable(
            discovery.lock_name(entry.path)
        )
        if lock is not None:
            self._pending[discovery.lock_path(key)] = lock

    def _pair_moved(self, files: Sequence[discovery.ManifestFile], others: set[str]) -> None:
        """Pair manifests that were moved without a change with what they were; take that out of the others."""
        missing = [f for f in files if f.path not in self._pending]
        left: dict[tuple[str, str], list[str]] = {}
        for path in others if missing else ():
            if not os.path.lexists(self._tree.top / path):
                entry = self._tree.readable(path)
                if entry is not None:
                    left.setdefault((PurePosixPath(path).name, entry.id), []).append(path)
        algorithm = "sha256" if len(self._tree.commit) == 64 else "sha1"
        for file in missing:
            content = discovery.content_of(file.path)
            if content is None:
                continue
            # What git calls the content of a file.
            id_ = hashlib.new(
                algorithm, b"blob %d\0" % len(content) + content, usedforsecurity=False
            ).hexdigest()
            places = left.get((file.path.name, id_), [])
            if len(places) == 1:
                entry = self._tree.find(places[0])
                assert entry is not None
                self._add_pending(file.path, entry, places[0])
                self._names[file.path] = self._tree.name(places[0])
                self._moved[file.path] = self._tree.top / places[0]
                others.remove(places.pop())

    def _load_pending(self) -> None:
        """Read the contents that are still to be read from git; report those of manifests that it cannot read."""
        pending, self._pending = self._pending, {}
        contents = self._tree.read(list(pending.values()))
        for key, entry in pending.items():
            if entry.id in contents:
                self._contents[key] = contents[entry.id]
            elif key in self._names:
                message = f"git cannot read the content of {self._names[key]}"
                self._report_unknown(self._names[key], message, "run `git fsck` to find out what is wrong")

    def _load_others(self, keys: Sequence[Path]) -> None:
        """Read manifests of the commit, and their locks, by their paths in the working tree."""
        for key in keys:
            path = key.relative_to(self._tree.top).as_posix()
            entry = self._tree.readable(path)
            if entry is not None and key not in self._contents:
                self._add_pending(key, entry, path)
        self._load_pending()


def _settings_then(tree: CommitTree, project: Project) -> Json | None:
    """Return the project's settings at the commit; None if it had none, or if they cannot be read."""
    for name in SETTINGS_FILES:
        path = tree.path_of(project.folder / name)
        entry = tree.readable(path) if path is not None else None
        content = tree.read([entry]).get(entry.id) if entry is not None else None
        if content is not None:
            # What was wrong with it then is no matter now.
            table = settings_table(SettingsFile(project.folder / name, name, content), Report())
            if table is not None:
                return table
    return None


def _exclusion_then(settings: Json | None, project: Project) -> discovery.Exclusion:
    """Return the exclusion at the commit: manifests that are excluded only since then count as removed."""
    if settings is None:
        return project.exclusion
    patterns = {key: settings.get(key) for key in ("exclude", "extendExclude")}
    texts = {
        key: tuple([text for text in values if isinstance(text, str) and discovery.is_pattern(text)])
        for key, values in patterns.items()
        if isinstance(values, list)
    }
    configuration = Configuration(exclude=texts.get("exclude"), extend_exclude=texts.get("extendExclude", ()))
    return replace(project, configuration=configuration).exclusion
