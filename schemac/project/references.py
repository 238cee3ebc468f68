"""What a schema is compared with.

Layer: project.
Shape: `lock` or `lock:N` is a version of the lock next to each manifest, `git:REF` the manifests with their locks at a
commit (`project.commits`), anything else a path: of a manifest, of a folder of manifests, or of an output folder of a
build. Commits and folders are held as bytes until it is known which of them differ.
Errors: SC408 unknown-reference, and whatever is wrong with what is read.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemac.arrow.from_arrow import from_arrow
from schemac.artifacts.folder import NAME
from schemac.language.logical.dataset import LogicalDataset, Origins
from schemac.language.logical.model import Schema, columns
from schemac.project import past_manifests
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile, content_of, lock_path
from schemac.project.imported import FolderFiles
from schemac.project.locking import open_lock
from schemac.project.manifests import CompiledFile, read_manifests
from schemac.text.source.catalogue import UNKNOWN_REFERENCE
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import Help
from schemac.text.source.text import read_file
from schemac.versions.evolution.version_pair import SchemaVersion, locked_schema_version


def versions_in_file(file: CompiledFile, report: Report) -> past_manifests.SchemaVersions:
    """Return the present datasets of a manifest."""
    lock_file = open_lock(file.file.path, file.file.name, report)
    lock = lock_file.lock if lock_file is not None else None
    return {
        dataset.name: past_manifests.schema_version_of(dataset, file.file.name, lock, report)
        for dataset in file.datasets
    }


def locked_versions(file: CompiledFile, number: int | None, report: Report) -> past_manifests.SchemaVersions:
    """Return one version of each dataset of a manifest from its lock; the newest without a number."""
    lock_file = open_lock(file.file.path, file.file.name, report)
    versions: past_manifests.SchemaVersions = {}
    for dataset in file.datasets if lock_file is not None else ():
        assert lock_file is not None
        locked = lock_file.lock.dataset(dataset.name)
        version = locked.version(number) if number is not None else locked.newest
        if version is None:
            what = f"version {number}" if number is not None else "version"
            help = f"create the first one with `schemac lock {file.file.name}`"
            if locked.newest is not None:
                last = locked.newest.number
                help = "its only version is 1" if last == 1 else f"its versions are 1 to {last}"
            message = f"{lock_file.name} has no {what} of {dataset.name}"
            report.add(UNKNOWN_REFERENCE, message, file=file.file.name, help=help)
            continue
        versions[dataset.name] = locked_schema_version(locked, version.number)
    return versions


def lock_number(against: str, report: Report) -> int | None:
    """Return the N of `lock:N`; None for `lock`, and after reporting what is wrong."""
    _, colon, text = against.partition(":")
    if not colon:
        return None
    if not (text.isascii() and text.isdigit()):
        message = f"'{text}' is not a version number"
        report.add(UNKNOWN_REFERENCE, message, help="write `lock:3` for version 3, or `lock` for the newest")
        return None
    return int(text)


def read_folder(
    folder: str, files: Sequence[ManifestFile], folders: Sequence[Path], project: Project, report: Report
) -> past_manifests.Before:
    """Return the manifests of another folder; those at the same place below it are compared first."""
    present = project.manifests_at([folder], Path.cwd(), report)
    others = {os.path.realpath(file.path): file for file in present}
    bases = [os.path.join(os.path.realpath(base), "") for base in folders]
    contents: dict[Path, bytes] = {}
    names: dict[Path, str] = {}
    places: dict[Path, Path] = {}
    for file in files:
        real = os.path.realpath(file.path)
        inside = [real[len(base) :] for base in bases if real.startswith(base)] or [os.path.basename(real)]
        candidates = (os.path.realpath(os.path.join(folder, place)) for place in inside)
        counterpart = next((other for place in candidates if (other := others.pop(place, None))), None)
        if counterpart is not None:
            _add_contents(counterpart, file.path, contents, names)
            places[file.path] = counterpart.path
    for other in others.values():
        _add_contents(other, other.path, contents, names)
    left = tuple(other.path for other in others.values())

    def files_of(path: Path) -> FolderFiles:
        return FolderFiles(places.get(path, path), names.get(path, path.as_posix()))

    return past_manifests.Before(contents, names, gone=left if folders else (), others=left, files=files_of)


def _add_contents(
    file: ManifestFile, path: Path, contents: dict[Path, bytes], names: dict[Path, str]
) -> None:
    """Add the bytes of a manifest and of its lock, as far as they exist, under another path for both."""
    names[path] = file.name
    for key, source in ((path, file.path), (lock_path(path), lock_path(file.path))):
        content = content_of(source)
        if content is not None:
            contents[key] = content


def find_path(reference: str, report: Report) -> Path | None:
    """Return the path in a reference; None after reporting that it does not exist."""
    path = Path(reference)
    if reference and os.path.exists(path):
        return path
    message = f"there is nothing at '{reference}' to compare with"
    otherwise = "name a manifest, a folder of manifests or artifacts, `lock`, `lock:N` or `git:REF`"
    help = Help.nearest(reference.partition(":")[0], ("lock", "git"), otherwise)
    report.add(UNKNOWN_REFERENCE, message, help=help)
    return None


def manifest_versions(reference: str, project: Project, report: Report) -> past_manifests.SchemaVersions:
    """Return the datasets of another manifest."""
    versions: past_manifests.SchemaVersions = {}
    for file in project.manifests_at([reference], Path.cwd(), report):
        contents: dict[Path, bytes] = {}
        names: dict[Path, str] = {}
        _add_contents(file, file.path, contents, names)
        if past_manifests.RAW_ARROW_SCHEMA.encode() in contents.get(file.path, b""):
            versions |= past_manifests.versions_before(
                past_manifests.Before(contents, names), file.path, project, report
            )
            continue
        compiled = read_manifests([file], project, report)
        if compiled and not report.has_errors:
            versions |= versions_in_file(compiled[0], report)
    return versions


def is_output(path: Path) -> bool:
    """Whether a build has written here."""
    return (path / NAME).is_file()


def artifact_versions(folder: Path, report: Report) -> past_manifests.SchemaVersions:
    """Return the datasets of a build, read from its Arrow artifacts."""
    # Imported here for start-up time: artifacts are rarely compared with.
    import pyarrow as pa

    versions: past_manifests.SchemaVersions = {}
    for path in sorted(folder.rglob("arrow/schema.arrow")):
        name = path.parent.parent.relative_to(folder).as_posix()
        try:
            schema: Any = pa.ipc.read_schema(pa.py_buffer(read_file(path)))
        except (pa.ArrowException, OSError) as error:
            report.add(
                UNKNOWN_REFERENCE, f"{path} cannot be read: {str(error).splitlines()[0]}", file=str(path)
            )
            continue
        model = Schema.model_validate(from_arrow(schema, str(path), report))
        versions[name] = SchemaVersion(
            LogicalDataset(name, model, columns(model), Origins(path.as_posix())), str(folder)
        )
    return versions
