"""Manifests at an earlier commit, and events that have no schema but `rawArrowSchema`.

Layer: project.
Shape: a text with such events is read as if its last events had the schema of these bytes. Optionality was inferred
there, so it is not compared with the first declared schema.
Errors: SC552 unreadable-source, and those of reading a manifest.
Source: RFC-016, "Field optionality during schema upgrades".
"""

import dataclasses
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from schemac.arrow.from_arrow import MalformedArrowError, decode_raw_arrow, read_raw_arrow
from schemac.importers.importer import UnreadableSourceError
from schemac.language.logical.dataset import Findings, LogicalDataset
from schemac.language.manifest.bind import Binder
from schemac.language.manifest.library import Library, Reuse, imports_of
from schemac.project.configuration import Project
from schemac.project.discovery import lock_name, lock_path
from schemac.project.imported import FolderFiles
from schemac.project.manifests import CompiledFile
from schemac.project.options import CompileOptions
from schemac.project.stages import check_documents
from schemac.text.source.diagnostics import Report, SourceText
from schemac.text.source.files import Files
from schemac.text.source.json_object import TreePath
from schemac.text.source.text import decode_text
from schemac.text.syntax.document import parse
from schemac.versions.evolution.version_pair import InferredSchemaVersion, LockedSchemaVersion, SchemaVersion
from schemac.versions.identity.freeze import identify
from schemac.versions.identity.lock import Lock, LockedDataset
from schemac.versions.identity.lockfile import read_lock

RAW_ARROW_SCHEMA = "rawArrowSchema"


def with_inferred(
    source: SourceText, stem: str, project: Project, report: Report, reuse: Reuse, *, is_first: bool = False
) -> tuple[list[LogicalDataset], list[InferredSchemaVersion]]:
    """Return the declared datasets of a text, and the inferred ones.

    With `is_first`, events from the one declared schema on do not count if one with the bytes alone is before it.
    """
    places: set[tuple[int, TreePath]] = set()
    parsed = Report()
    documents = parse(source, parsed)
    for document in documents if RAW_ARROW_SCHEMA in source.content else ():
        if is_first:
            _drop_first_declared(document.value)
        for at in _last_events(document.value, ()):
            places.add((document.index, at))
            event: Any = document.part(at)
            try:
                event["schema"] = read_raw_arrow(
                    decode_raw_arrow(event[RAW_ARROW_SCHEMA]), source.name, report
                )
            except MalformedArrowError as error:
                place = document.location((*at, RAW_ARROW_SCHEMA))
                UnreadableSourceError(str(error), place).add_to(report, source.name)
    options = replace(CompileOptions.of(project), strict=False)
    binder = Binder(source, is_named=False, stem=stem, reuse=reuse)
    datasets = check_documents(binder, documents, parsed, project, report, options)
    declared: list[LogicalDataset] = []
    inferred: list[InferredSchemaVersion] = []
    for dataset in datasets:
        written, base = dataset.origins.document, dataset.origins.base
        if written is not None and (written.index, base[:-1]) in places:
            inferred.append(InferredSchemaVersion(dataset, source.name))
        else:
            declared.append(dataset)
    return declared, inferred


def _last_events(value: Any, at: TreePath) -> Iterator[TreePath]:
    """Yield the places of events with the bytes alone, after which their dataset gets no other schema."""
    if isinstance(value, list):
        last = max((i for i, event in enumerate(value) if _has_schema(event)), default=None)
        if last is not None:
            yield from _last_events(value[last], (*at, last))
    elif isinstance(value, dict) and RAW_ARROW_SCHEMA in value:
        if "schema" not in value:
            yield at
    elif isinstance(value, dict):
        for key in ("content", "spec", "metadata"):
            yield from _last_events(value.get(key), (*at, key))


def _drop_first_declared(value: Any) -> None:
    """Take the events from the one declared schema on out of a document, if one with the bytes alone is before it."""
    if isinstance(value, list):
        declared = [i for i, event in enumerate(value) if isinstance(event, dict) and "schema" in event]
        if len(declared) == 1 and any(map(_has_schema, value[: declared[0]])):
            del value[declared[0] :]
    elif isinstance(value, dict):
        for key in ("content", "spec", "metadata"):
            _drop_first_declared(value.get(key))


def _has_schema(event: Any) -> bool:
    """Whether an event has a schema, declared or as bytes."""
    return isinstance(event, dict) and bool({RAW_ARROW_SCHEMA, "schema"} & event.keys())


SchemaVersions = dict[str, SchemaVersion]


@dataclass(frozen=True, slots=True)
class Before:
    """Manifests as they were, each under the path of the manifest that it is compared with."""

    contents: dict[Path, bytes] = dataclasses.field(repr=False)
    """Of manifests and their locks."""
    names: Mapping[Path, str] = dataclasses.field(repr=False)
    """How each manifest is spoken of."""
    gone: tuple[Path, ...] = ()
    """Manifests of the folders that are compared, which nothing of today is in place of."""
    others: tuple[Path, ...] = ()
    """All manifests that nothing of today is in place of, wherever they were."""
    load: Callable[[Sequence[Path]], None] = dataclasses.field(default=lambda _: None, repr=False)
    """Reads the contents of some of the others."""
    is_of_places: bool = False
    """Whether each of the others would be under its path today, so that one can see what became of it."""
    moved: Mapping[Path, Path] = dataclasses.field(default_factory=dict, repr=False)
    """Manifests of today that were elsewhere, with that place."""
    files: "Callable[[Path], Files]" = dataclasses.field(
        default=lambda path: FolderFiles(path, path.as_posix()), repr=False
    )
    """The files around a manifest as they were, for its imports."""
    library: Library = dataclasses.field(default_factory=Library, repr=False)
    """The imported files as they were."""
    unreadable_reasons: tuple[str, ...] = ()
    """What else there was and cannot be read, so that nobody knows which datasets it had."""

    def imports(self, path: Path) -> dict[str, str]:
        """Return the digests of what a manifest imported."""
        return imports_of(self.contents.get(path, b""), self.files(path), self.library)


def schema_version_of(
    dataset: LogicalDataset, label: str, lock: Lock | None, report: Report
) -> SchemaVersion:
    """Return a version with the ids that its lock gives it; old names that no field has are reported."""
    locked = lock.dataset(dataset.name) if lock is not None else LockedDataset(dataset.name)
    if locked.newest is None:
        return SchemaVersion(dataset, label)
    return LockedSchemaVersion.of(identify(dataset, locked, Findings(report, dataset.origins)), label)


def versions_before(before: Before, path: Path, project: Project, report: Report) -> SchemaVersions:
    """Return the datasets of a manifest as it was; none where it was not there."""
    content = before.contents.get(path)
    if content is None:
        return {}
    name = before.names[path]
    local_report = Report()
    source = decode_text(content, name, local_report)
    if source is None:
        report.extend(local_report.diagnostics)
        return {}
    # The text is called after its commit too, which is no part of the name of a dataset.
    reuse = Reuse(before.files(path), before.library)
    declared, inferred = with_inferred(source, path.stem, project, local_report, reuse)
    if local_report.has_errors:
        report.extend(local_report.errors)
        return {}
    lock = lock_before(before, path, report)
    # What its declarations of old names were worth then is no matter now.
    versions = {dataset.name: schema_version_of(dataset, name, lock, Report()) for dataset in declared}
    return {**versions, **{version.dataset.name: version for version in inferred}}


def first_versions(file: CompiledFile, project: Project) -> SchemaVersions:
    """Return the inferred versions that datasets of a manifest had before their first declared schema."""
    path, name = file.file.path, file.file.name
    source, reuse = SourceText(file.content.decode(), name), Reuse(FolderFiles(path, name))
    _, inferred = with_inferred(source, path.stem, project, Report(), reuse, is_first=True)
    label = f"{RAW_ARROW_SCHEMA} in {name}"
    return {version.dataset.name: replace(version, label=label) for version in inferred}


def lock_before(before: Before, path: Path, report: Report) -> Lock | None:
    """Return the lock of a manifest as it was; None if there was none."""
    text = before.contents.get(lock_path(path))
    if text is None:
        return None
    name = lock_name(before.names[path])
    local_report = Report()
    lock = read_lock(text.decode("utf-8", "replace"), name, local_report)
    rev, is_in_git, place = name.partition(":")
    if before.is_of_places and is_in_git:
        commits = shlex.join(["git", "log", "--oneline", rev, "--", place])
        help = f"compare with a commit in which it is sound; these have changed it: {commits}"
        report.extend(replace(finding, help=help) for finding in local_report.diagnostics)
    else:
        report.extend(local_report.diagnostics)
    return lock
