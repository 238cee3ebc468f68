"""What git has at a commit: every file of its tree.

Layer: project.
Shape: paths are relative to the top of the repository, with `/`. The tree is listed once, and contents are asked for by
object id, so that no path is ever a line of git's input or output. Links are followed inside the tree. Submodules are
listed from their own object store, wherever this clone keeps it.
"""

import dataclasses
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from schemac.project.discovery import real_path

_LINK, _SUBMODULE = "120000", "160000"
_MOST_LINKS = 40
"""Links on the way to one file, as many as Linux follows."""


class GitError(Exception):
    """Git ended with an error; has what it printed."""


class NoCommitError(Exception):
    """A reference that is not a commit of this repository; the message says what to do."""


@dataclass(frozen=True, slots=True)
class GitObjects:
    """Where git looks for objects: in the repository of the working folder, or in a submodule, as these options say."""

    options: tuple[str, ...] = ()

    def git(self, *words: str, input: bytes = b"") -> bytes:
        """Return what a git command prints."""
        environment = {**os.environ}
        # Hooks get variables that bind git to their own repository.
        for name in _local_variables() if self.options else ():
            environment.pop(name, None)
        return git_output(*self.options, *words, input=input, environment=environment)

    def read(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Return contents by object id; objects that the store does not have are left out."""
        object_ids = list(dict.fromkeys(ids))
        if not object_ids:
            return {}
        output = self.git("cat-file", "--batch", input="".join(f"{id}\n" for id in object_ids).encode())
        contents: dict[str, bytes] = {}
        at = 0
        for id in object_ids:
            end = output.index(b"\n", at)
            head = output[at:end]
            at = end + 1
            if head.endswith(b" missing"):
                continue
            size = int(head.rsplit(b" ", 1)[1])
            contents[id] = output[at : at + size]
            at += size + 1
        return contents


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file of the tree, or a link in it."""

    path: str
    id: str
    store: GitObjects = dataclasses.field(default_factory=GitObjects)
    is_link: bool = False
    unreadable: str = ""
    """Why git cannot say what the file was; empty if it can."""


@dataclass(frozen=True, slots=True)
class Submodule:
    """A submodule whose commit is not in this clone."""

    path: str
    commit: str
    is_changed: bool
    """Whether it is at another commit today, or is a submodule no more."""

    @property
    def reason(self) -> str:
        """Why its files cannot be read, as the end of a sentence."""
        return f"commit {self.commit[:12]} of the submodule {self.path} is not in this clone"


@dataclass(frozen=True)
class CommitTree:
    """All files at a commit."""

    ref: str
    """How the commit is spoken of."""
    top: Path
    """The top of the working tree, without links."""
    commit: str
    listed: Mapping[str, TreeEntry] = dataclasses.field(repr=False)
    unread: tuple[Submodule, ...] = ()

    def find(self, path: str) -> TreeEntry | None:
        """Return the file at a path, after all links; None if there was none."""
        path, link = self._resolved(path)
        if (listed := self.listed.get(path)) is not None:
            return None if listed.is_link else listed
        if link and (path.startswith(("/", "../")) or path == ".."):
            return TreeEntry(link, "", unreadable=f"{link} was a link to a place outside the repository")
        submodule = next((s for s in self.unread if f"{path}/".startswith(f"{s.path}/")), None)
        return TreeEntry(path, "", unreadable=submodule.reason) if submodule is not None else None

    def readable(self, path: str) -> TreeEntry | None:
        """Return the file at a path; None if there was none, or git cannot say what it was."""
        entry = self.find(path)
        return entry if entry is not None and not entry.unreadable else None

    def _resolved(self, path: str) -> tuple[str, str]:
        """Return a path with all links followed, and the last of these links, empty if there was none."""
        last_link = ""
        for _ in range(_MOST_LINKS):
            ends = (*(i for i, character in enumerate(path) if character == "/"), len(path))
            link = next((path[:end] for end in ends if path[:end] in self._links), None)
            if link is None:
                break
            # A link whose target git does not have leads out of the repository.
            target = os.fsdecode(self._links[link]) or "/"
            path = posixpath.normpath(posixpath.join(posixpath.dirname(link), target, path[len(link) + 1 :]))
            last_link = link
        return path, last_link

    def below(self, folder: str) -> Iterator[tuple[str, str]]:
        """Yield all paths in a folder, each with what it is from there; for a file, the path itself with its name."""
        folder, _ = self._resolved(folder)
        start = "" if folder == "." else f"{folder}/"
        for path in self.listed:
            if path == folder:
                yield path, posixpath.basename(path)
            elif path.startswith(start):
                yield path, path[len(start) :]

    def read(self, entries: Sequence[TreeEntry]) -> dict[str, bytes]:
        """Return contents by object id; objects that this clone does not have are left out."""
        by_store: dict[GitObjects, list[str]] = {}
        for entry in entries:
            if not entry.unreadable:
                by_store.setdefault(entry.store, []).append(entry.id)
        contents: dict[str, bytes] = {}
        for store, ids in by_store.items():
            contents |= store.read(ids)
        return contents

    def path_of(self, path: Path) -> str | None:
        """Return the path in the tree of a present path; None outside of the repository. A link keeps its own name."""
        real = Path(real_path(path, self._real_folder))
        return real.relative_to(self.top).as_posix() if real.is_relative_to(self.top) else None

    def places_of(self, folder: Path) -> list[str]:
        """Return the paths in the tree of a present folder: that of its name, and that of its target if it is a link."""
        paths = (self.path_of(Path(os.path.abspath(folder))), self.path_of(folder.resolve()))
        return list(dict.fromkeys(path for path in paths if path is not None))

    def entry(self, path: Path) -> TreeEntry | None:
        """Return the file at a present path as it was; the links on the way may have had other targets then."""
        tree_path = self.path_of(path)
        entry = self.find(tree_path) if tree_path is not None else None
        if entry is not None:
            return entry
        return self.find(os.path.relpath(path.absolute(), self.top))

    def name(self, path: str) -> str:
        """Return how a file of the tree is spoken of: by its path from the working folder."""
        return f"{self.ref}:{os.path.relpath(self.top / path)}"

    @cached_property
    def _real_folder(self) -> Callable[[str], str]:
        """Returns a folder of today without links; most folders have many files."""
        return cache(os.path.realpath)

    @cached_property
    def _links(self) -> dict[str, bytes]:
        """The targets of all links by their paths; empty bytes for one whose target git does not have."""
        links = [entry for entry in self.listed.values() if entry.is_link]
        contents = self.read(links)
        return {entry.path: contents.get(entry.id, b"") for entry in links}


def open_tree(ref: str) -> CommitTree:
    """Return the tree of a commit of the repository that the working folder is in.

    Raises NoCommitError, and FileNotFoundError if there is no git.
    """
    store = GitObjects()
    try:
        output = store.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        commit = output.strip().decode()
        top = Path(os.fsdecode(store.git("rev-parse", "--show-toplevel")[:-1])).resolve()
        listed, unread = _list(store, commit, top)
    except GitError as error:
        messages = str(error).strip().splitlines()
        way_out = messages[0] if messages else "name a branch, a tag or a commit of this repository"
        with suppress(GitError):
            if store.git("rev-parse", "--is-shallow-repository").strip() == b"true":
                way_out = (
                    "this clone is shallow; fetch the rest with `git fetch --unshallow origin"
                    " '+refs/heads/*:refs/remotes/origin/*'`, or let CI clone the whole history"
                    " (`fetch-depth: 0` of actions/checkout)"
                )
        raise NoCommitError(way_out) from error
    return CommitTree(ref, top, commit, listed, tuple(unread))


def _list(store: GitObjects, commit: str, top: Path) -> tuple[dict[str, TreeEntry], list[Submodule]]:
    """Return the files and links of a commit and of its submodules, whose paths begin with that of the submodule."""
    listed: dict[str, TreeEntry] = {}
    submodules: dict[str, str] = {}
    for line in os.fsdecode(store.git("ls-tree", "-r", "-z", "--full-tree", commit)).split("\0")[:-1]:
        head, _, path = line.partition("\t")
        mode, _sort, id = head.split(" ")
        if mode == _SUBMODULE:
            submodules[path] = id
        else:
            listed[path] = TreeEntry(path, id, store, is_link=mode == _LINK)
    unread: list[Submodule] = []
    names = _names_of_submodules(store, listed.get(".gitmodules")) if submodules else {}
    for path, id in submodules.items():
        folder = top / path
        try:
            if (folder / ".git").exists():
                git_folder = os.fsdecode(
                    GitObjects(("-C", str(folder))).git("rev-parse", "--absolute-git-dir")[:-1]
                )
            else:
                common = os.fsdecode(store.git("rev-parse", "--git-common-dir")[:-1])
                git_folder = os.path.abspath(posixpath.join(common, "modules", names.get(path, path)))
            files, deeper = _list(GitObjects((f"--git-dir={git_folder}",)), id, folder)
        except GitError:
            unread.append(Submodule(path, id, _commit_today(store, top, path) != id))
            continue
        inside = [replace(file, path=f"{path}/{file.path}") for file in files.values()]
        listed |= {file.path: file for file in inside}
        unread += [Submodule(f"{path}/{s.path}", s.commit, s.is_changed) for s in deeper]
    return listed, unread


def _names_of_submodules(store: GitObjects, file: TreeEntry | None) -> dict[str, str]:
    """Return the names of submodules by their paths, for their git folders are called so."""
    if file is None:
        return {}
    text = store.read([file.id]).get(file.id, b"")
    try:
        output = store.git(
            "config", "--file", "-", "--null", "--get-regexp", r"^submodule\..*\.path$", input=text
        )
    except GitError:
        return {}
    names: dict[str, str] = {}
    for pair in os.fsdecode(output).split("\0")[:-1]:
        key, _, path = pair.partition("\n")
        names[path] = key.removeprefix("submodule.").removesuffix(".path")
    return names


def _commit_today(store: GitObjects, top: Path, path: str) -> str:
    """Return the commit that a submodule is at now: that of its own folder, else that of the index."""
    try:
        if (top / path / ".git").exists():
            return GitObjects(("-C", str(top / path))).git("rev-parse", "HEAD").strip().decode()
        output = store.git("-C", str(top), "ls-files", "--stage", "-z", "--", path)
        return os.fsdecode(output).split(" ")[1] if output.startswith(_SUBMODULE.encode()) else ""
    except GitError:
        return ""


def git_output(*words: str, input: bytes = b"", environment: Mapping[str, str] | None = None) -> bytes:
    """Return what a git command prints. Raises GitError, and FileNotFoundError if there is no git."""
    import subprocess  # most runs ask git nothing, and to load it takes a while

    done = subprocess.run(["git", *words], input=input, check=False, capture_output=True, env=environment)
    if done.returncode:
        raise GitError(done.stderr.decode("utf-8", "replace"))
    return done.stdout


@cache
def _local_variables() -> frozenset[str]:
    """Return the variables that bind git to one repository; asked once, for each answer is a process."""
    return frozenset(git_output("rev-parse", "--local-env-vars").decode().split())
