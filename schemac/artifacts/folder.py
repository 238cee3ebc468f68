"""The output folder, and its provenance file `artifacts.json`.

Layer: artifacts.
Shape: paths are relative to the folder, with `/`. Links below the folder are not followed, so nothing outside is read,
written or removed. A folder belongs to schemac if it is new, empty, or has a provenance that schemac wrote. The
provenance has the compiler's version and, for each dataset, its manifest and the digests of the manifest and of every
file. It has sorted keys, no times and no absolute paths: the same input gives the same bytes.
Errors: RefusedError for what a user can mend, OSError for what the system refuses; DamagedError, for a file that
schemac did not write or that lists what cannot be an artifact.
"""

import errno
import fcntl
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from schemac.text.source.catalogue import DAMAGED_PROVENANCE, FOREIGN_FOLDER, IN_THE_WAY
from schemac.text.source.diagnostics import Code
from schemac.text.source.text import read_handle
from schemac.version import __version__

NAME = "artifacts.json"

_PART = r"\w[\w.\- ]*"
"""A folder or file of ours starts with a letter, a digit or an underscore, so that none leads upwards."""
_DATASET = re.compile(rf"(?:{_PART}/)?{_PART}")
_BELOW_DATASET = re.compile(rf"(?:{_PART}/)*{_PART}")
_OURS = b'"compiler": "schemac '
_LISTED = re.compile(r'"([^"\\]+)": "((?:sha256|blake2b)-128:[0-9a-f]{32})"')
_IN_DATASET = re.compile(r"(?:(.+)/losses\.json|(.+)/[^/]+/[^/]+)")


class DamagedError(Exception):
    """A file that is not as schemac writes it; the message says why, as the end of a sentence."""


class Built(NamedTuple):
    """One dataset of an output folder."""

    manifest: str
    manifest_digest: str
    files: dict[str, str]
    """Digest by path."""


class Provenance(NamedTuple):
    """Everything in an output folder, by dataset."""

    datasets: Mapping[str, Built]
    compiler: str = f"schemac {__version__}"

    def paths(self) -> frozenset[str]:
        """Return the paths of all files."""
        return frozenset(path for dataset in self.datasets.values() for path in dataset.files)

    def to_json(self) -> bytes:
        """Return the file's content."""
        datasets = {
            name: {"files": dict(sorted(files.items())), "manifest": manifest, "manifestDigest": digest}
            for name, (manifest, digest, files) in sorted(self.datasets.items())
        }
        document = {"compiler": self.compiler, "datasets": datasets}
        return f"{json.dumps(document, indent=1, ensure_ascii=False)}\n".encode()


def digest(content: bytes) -> str:
    """Return the first 128 bits of SHA-256 in hexadecimal digits, named so that another may follow.

    Processors have instructions for it, and an unchanged build spends most of its time here.
    """
    return f"sha256-128:{sha256(content).hexdigest()[:32]}"


def parse_provenance(content: bytes) -> Provenance:
    """Return the provenance of an output folder. Raises DamagedError.

    Every returned path is below the folder of its dataset, whatever the file contains.
    """
    try:
        document: Any = json.loads(content)
        compiler = str(document["compiler"])
        datasets = {
            name: Built(
                str(built["manifest"]),
                str(built["manifestDigest"]),
                {path: str(digest) for path, digest in built["files"].items()},
            )
            for name, built in document["datasets"].items()
        }
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return _salvaged(content)
    for name, built in datasets.items():
        if not are_inside(built.files, name):
            wrong = next((path for path in built.files if not are_inside((path,), name)), None)
            raise DamagedError(f"lists {wrong or name!a}, which cannot be the path of an artifact")
    return Provenance(datasets, compiler)


def _salvaged(content: bytes) -> Provenance:
    """Return the files that a damaged provenance lists, for a merge in git leaves its marks in one.

    What their manifests were is not known any more.
    """
    if _OURS not in content:
        raise DamagedError("was not written by schemac")
    files: dict[str, dict[str, str]] = {}
    for path, listed in _LISTED.findall(content.decode("utf-8", "replace")):
        match = _IN_DATASET.fullmatch(path)
        dataset = (match[1] or match[2]) if match is not None else ""
        if are_inside((path,), dataset):
            files.setdefault(dataset, {})[path] = listed
    return Provenance({name: Built("", "", listed) for name, listed in files.items()})


def are_inside(paths: Iterable[str], dataset: str) -> bool:
    """Whether these are paths that artifacts of a dataset may have, below the folder of the dataset."""
    start = f"{dataset}/"
    return _DATASET.fullmatch(dataset) is not None and all(
        path.startswith(start) and _is_below_dataset(path[len(start) :]) for path in paths
    )


@lru_cache(maxsize=1024)
def _is_below_dataset(path: str) -> bool:
    """Whether a path may be that of an artifact from the folder of its dataset on; mostly all datasets have the same ones."""
    return _BELOW_DATASET.fullmatch(path) is not None


STAGING = ".schemac-new"
"""Where a build makes what it is about to put in place. No dataset has such a name; no build leaves it behind."""
_HARMLESS = frozenset({STAGING, ".gitignore", ".gitkeep", ".gitattributes", ".DS_Store"})
"""What may be in a folder that counts as empty."""
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
"""Neither a link is followed nor a pipe waited for."""
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_MAX_LISTED = 3
"""Foreign files that a message names."""
_SORTS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISREG, "a file"),
    (stat.S_ISFIFO, "a named pipe"),
)


class RefusedError(Exception):
    """Nothing is written; why not, and the way out."""

    def __init__(self, code: Code, message: str, help: str) -> None:
        # All of them, for a process that hands it to another.
        super().__init__(code, message, help)
        self.code = code
        self.message = message
        self.help = help


def make_folder(path: str) -> None:
    """Make a folder and those above it, where they are missing. Raises OSError if the system makes none."""
    try:
        os.makedirs(path, exist_ok=True)
    except RecursionError:
        # It calls itself once for each folder of the path.
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path) from None


def write_new(path: str, content: bytes) -> None:
    """Make a file that is not there yet. Raises OSError."""
    handle = os.open(path, _WRITING, 0o666)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(handle, left) :]
    finally:
        os.close(handle)


class OutputFolder:
    """A folder of artifacts, spoken of by its name."""

    def __init__(self, path: Path, name: str, project: Path | None = None) -> None:
        # Where the folder itself is a link, the folder is where that leads.
        self.root = os.path.realpath(path)
        self.name = name.rstrip("/") or name
        self._project = project
        self._reachable: dict[str, bool] = {}

    def at(self, path: str) -> str:
        """Return the absolute path of a relative one."""
        return f"{self.root}/{path}"

    def provenance(self) -> Provenance:
        """Return the provenance of the folder, empty for a new one; refuses a folder that is not schemac's."""
        content = self.read(NAME)
        if content is None:
            if foreign := [ascii(name)[1:-1] for name in sorted(set(os.listdir(self.root)) - _HARMLESS)]:
                more = f" and {len(foreign) - _MAX_LISTED} more" if len(foreign) > _MAX_LISTED else ""
                listed = ", ".join(foreign[:_MAX_LISTED]) + more
                message = f"{self.name} has no {NAME} but has files that schemac did not write: {listed}"
                self._refuse_as_foreign(message, f"{self.name}/schemas")
            return Provenance({})
        try:
            return parse_provenance(content)
        except DamagedError as error:
            raise RefusedError(
                DAMAGED_PROVENANCE,
                f"{self.name}/{NAME} {error}",
                f"if {self.name} has no files of your own, remove the folder and run `schemac build` again;"
                " otherwise name a new folder with `--out`",
            ) from None

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None if there is none; refuses anything but a plain file in plain folders."""
        if not self.is_reachable(path.rpartition("/")[0]):
            return None
        try:
            handle = os.open(f"{self.root}/{path}", _READING)
        except FileNotFoundError:
            return None
        except OSError:
            self._is_there(path, stat.S_ISREG)
            raise
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                self._is_there(path, stat.S_ISREG)
            return read_handle(handle, status.st_size)
        finally:
            os.close(handle)

    def is_folder(self, path: str) -> bool:
        """Whether a folder exists; refuses anything else, including a link to a folder."""
        return self._is_there(path, stat.S_ISDIR)

    def _is_there(self, path: str, is_of_sort: Callable[[int], bool]) -> bool:
        """Whether something is at a path; refuses what is not of a sort, by a function of its mode. Links are not followed."""
        try:
            status = os.lstat(self.at(path))
        except FileNotFoundError:
            return False
        if not is_of_sort(status.st_mode):
            self.refuse_in_the_way(path, status)
        return True

    def is_reachable(self, path: str) -> bool:
        """Whether a folder exists, with all folders above it; refuses anything else, as `is_folder` does."""
        if not path:
            return True
        # A build asks for each of a dataset's files; whoever holds the lock changes no folder before all were asked for.
        if path not in self._reachable:
            self._reachable[path] = self.is_reachable(path.rpartition("/")[0]) and self.is_folder(path)
        return self._reachable[path]

    def refuse_in_the_way(self, path: str, status: os.stat_result | None = None) -> NoReturn:
        """Refuse a file or folder that is at the path of an artifact."""
        sort = "a file that schemac did not write"
        if status is not None:
            sort = next((words for is_sort, words in _SORTS if is_sort(status.st_mode)), "a device")
        raise RefusedError(
            IN_THE_WAY,
            f"{self.name}/{path} is {sort} in the place of an artifact",
            f"move it elsewhere, or build into another folder: `schemac build --out {self.name}-schemas`",
        )

    def _refuse_bad_place(self) -> None:
        """Raise RefusedError for a folder that is, or contains, the project or the home folder."""
        try:
            home = Path.home()
        except RuntimeError:
            home = None
        for what, place in (("the project", self._project), ("your home folder", home)):
            where = Path(os.path.realpath(place)) if place is not None else None
            if where is not None and where.is_relative_to(self.root):
                sort = "is" if where == Path(self.root) else "contains"
                self._refuse_as_foreign(f"{self.name} {sort} {what} itself", "build")

    def _refuse_as_foreign(self, message: str, instead: str) -> NoReturn:
        """Raise RefusedError for a folder that is not schemac's, with another folder to build into."""
        raise RefusedError(FOREIGN_FOLDER, message, f"use a separate folder: `schemac build --out {instead}`")

    @contextmanager
    def lock(self, notify: Callable[[str], None], *, is_exclusive: bool) -> Iterator[None]:
        """Lock the folder against changes; alone, to change it, and it is made where it is missing.

        The system frees it when a process dies, however it dies. `notify` is told if there is something to wait for.
        """
        self._refuse_bad_place()
        if is_exclusive:
            make_folder(self.root)
        kind = fcntl.LOCK_EX if is_exclusive else fcntl.LOCK_SH
        while True:
            handle = os.open(self.root, os.O_RDONLY)
            try:
                try:
                    fcntl.flock(handle, kind | fcntl.LOCK_NB)
                except BlockingIOError:
                    notify(f"another build is writing into {self.name}; waiting for it to finish")
                    fcntl.flock(handle, kind)
                if is_exclusive:
                    make_folder(self.root)
                # The locked folder may have been removed in the meantime, and another has its name.
                if os.path.samestat(os.fstat(handle), os.stat(self.root)):
                    self._reachable.clear()
                    yield
                    return
            finally:
                os.close(handle)
