"""What a schema is compared with.

Floor: 9 (project).
Shape: `lock` or `lock:N` is a version of the lock beside each manifest, `git:REF` the manifest with its lock at a commit,
anything else a path: of a manifest, of a folder of manifests, or of an output folder of a build.
Errors: SC408 unknown-reference, and whatever is wrong with what is read.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemac.artifacts.provenance import NAME
from schemac.evolution.side import Side, side_of_version, words_of
from schemac.identity.freeze import identify
from schemac.identity.lock import Lock, LockedDataset
from schemac.identity.lockfile import read_lock
from schemac.lifting.lift import lift
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import Schema
from schemac.logical.origins import Origins
from schemac.logical.slots import columns
from schemac.project.compile import CompiledFile, check_source
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile, find_manifests
from schemac.project.locking import lock_path, open_lock
from schemac.source.catalogue import UNKNOWN_REFERENCE
from schemac.source.report import Report
from schemac.source.text import SourceText, decode_text, read_text

Sides = dict[str, Side]


@dataclass(frozen=True, slots=True)
class Blobs:
    """Files of a commit, by their path on disk."""

    ref: str
    contents: Mapping[Path, bytes] = field(repr=False)


def side_of(dataset: LogicalDataset, label: str, lock: Lock | None) -> Side:
    """A side with the ids that its lock gives it."""
    locked = lock.dataset(dataset.name) if lock is not None else LockedDataset(dataset.name)
    if locked.newest is None:
        return Side(dataset, label)
    found = identify(dataset, locked, words_of)
    return Side(dataset, label, locked, found.ids, found.numbers)


def sides_of_file(file: CompiledFile, report: Report) -> Sides:
    """The datasets of a manifest as it is now."""
    held = open_lock(file.file.path, file.file.name, report)
    lock = held.lock if held is not None else None
    return {dataset.name: side_of(dataset, file.file.name, lock) for dataset in file.datasets}


def locked_sides(file: CompiledFile, number: int | None, report: Report) -> Sides:
    """One version of each dataset of a manifest, out of its lock; the newest where no number is given."""
    held = open_lock(file.file.path, file.file.name, report)
    sides: Sides = {}
    for dataset in file.datasets if held is not None else ():
        assert held is not None
        locked = held.lock.dataset(dataset.name)
        version = locked.version(number) if number is not None else locked.newest
        if version is None:
            what = f"version {number}" if number is not None else "version"
            report.add(
                UNKNOWN_REFERENCE,
                f"{held.name} has no {what} of {dataset.name}",
                file=file.file.name,
                help=f"its versions are 1 to {locked.newest.number}"
                if locked.newest
                else f"make the first one with `schemac lock {file.file.name}`",
            )
            continue
        sides[dataset.name] = side_of_version(locked, version.number)
    return sides


def read_commit(ref: str, manifests: Sequence[Path], report: Report) -> Blobs | None:
    """The manifests and their locks as they were at a commit, read by one git process."""
    here = Path.cwd()
    wanted = [path for manifest in manifests for path in (manifest, lock_path(manifest))]
    try:
        subprocess.run(
            ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"],
            check=True,
            capture_output=True,
        )
        lines = "".join(f"{ref}:./{_relative(path, here)}\n" for path in wanted)
        found = subprocess.run(
            ["git", "cat-file", "--batch"], input=lines.encode(), check=True, capture_output=True
        )
    except FileNotFoundError:
        report.add(UNKNOWN_REFERENCE, f"git:{ref} needs git, which is not installed")
        return None
    except subprocess.CalledProcessError:
        help = "name a branch, a tag or a commit of this repository"
        report.add(UNKNOWN_REFERENCE, f"git knows no commit '{ref}' here", help=help)
        return None
    return Blobs(ref, _parsed(found.stdout, wanted))


def manifests_at(ref: str, folders: Sequence[Path], known: Sequence[Path]) -> list[Path]:
    """Manifests that lay in these folders at a commit and do so no more; none where git does not answer."""
    if not folders:
        return []
    here = Path.cwd()
    command = ["git", "ls-tree", "-r", "-z", "--name-only", "--end-of-options", ref, "--"]
    try:
        listed = subprocess.run(
            [*command, *(_relative(f, here) for f in folders)], capture_output=True, check=False
        )
    except FileNotFoundError:
        return []
    paths = [here / name for name in listed.stdout.decode().split("\0") if name.endswith((".yaml", ".yml"))]
    there = {path.resolve() for path in known}
    return [path for path in paths if path.resolve() not in there]


def _relative(path: Path, here: Path) -> str:
    return Path(os.path.relpath(path.resolve(), here)).as_posix()


def _parsed(output: bytes, wanted: Sequence[Path]) -> dict[Path, bytes]:
    """What `cat-file --batch` says: a head line and the content for each name, or a line that it is missing."""
    contents: dict[Path, bytes] = {}
    at = 0
    for path in wanted:
        end = output.index(b"\n", at)
        head = output[at:end]
        at = end + 1
        if head.endswith(b" missing"):
            continue
        size = int(head.rsplit(b" ", 1)[1])
        contents[path] = output[at : at + size]
        at += size + 1
    return contents


def commit_sides(blobs: Blobs, path: Path, name: str, project: Project, report: Report) -> Sides:
    """The datasets of a manifest as it was at a commit; none where it was not there."""
    content = blobs.contents.get(path)
    if content is None:
        return {}
    label = f"{blobs.ref}:{name}"
    found = Report()
    source = decode_text(content, label, found)
    datasets = _checked(source, project, found, is_named=False) if source is not None else []
    if found.has_errors:
        report.extend(d for d in found.diagnostics if d.severity == "error")
        return {}
    lock = None
    if (text := blobs.contents.get(lock_path(path))) is not None:
        lock = read_lock(text.decode("utf-8", "replace"), f"{label} (its lock)", report)
    return {dataset.name: side_of(dataset, label, lock) for dataset in datasets}


def path_sides(given: str, project: Project, report: Report) -> Sides:
    """The datasets of a manifest, of a folder of manifests, or of a build's output folder."""
    path = Path(given)
    if not path.exists():
        report.add(
            UNKNOWN_REFERENCE,
            f"there is nothing to compare with at {given}",
            help="name a file, a folder, `lock`, `lock:N` or `git:REF`",
        )
        return {}
    if (path / NAME).is_file():
        return _artifact_sides(path, report)
    sides: Sides = {}
    for file in find_manifests([given], Path.cwd(), Path.cwd() / project.configuration.out, report):
        sides.update(_manifest_sides(file, project, report))
    return sides


def _manifest_sides(file: ManifestFile, project: Project, report: Report) -> Sides:
    source = read_text(file.path, file.name, report)
    if source is None:
        return {}
    datasets = _checked(source, project, report, is_named=file.is_named)
    return {} if report.has_errors else sides_of_file(CompiledFile(file, b"", datasets), report)


def _checked(source: SourceText, project: Project, report: Report, *, is_named: bool) -> list[LogicalDataset]:
    """The datasets of a text, with the system columns that the project wants."""
    columns = project.configuration.system_columns
    return check_source(source, project, report, is_named=is_named, system_columns=columns)


def _artifact_sides(folder: Path, report: Report) -> Sides:
    # Imported here for start-up time: artifacts are rarely compared with.
    import pyarrow as pa

    sides: Sides = {}
    for path in sorted(folder.rglob("arrow/schema.arrow")):
        name = path.parent.parent.relative_to(folder).as_posix()
        try:
            schema: Any = pa.ipc.read_schema(pa.py_buffer(path.read_bytes()))
        except (pa.ArrowException, OSError) as error:
            report.add(
                UNKNOWN_REFERENCE, f"{path} cannot be read: {str(error).splitlines()[0]}", file=str(path)
            )
            continue
        model = Schema.model_validate(lift(schema, str(path), report))
        sides[name] = Side(LogicalDataset(name, model, columns(model), Origins(path.as_posix())), str(folder))
    return sides
