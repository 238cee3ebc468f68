"""Builds manifests into artifacts, one or many, and caches the results.

Layer: project.
Shape: the cache has the findings and the digests of the artifacts. Their bytes are in the output folder, and are built again if they
      are missing there.
"""

import dataclasses
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

from schemac.artifacts.folder import Built, are_inside
from schemac.artifacts.store import built
from schemac.language.logical.names import DatasetName
from schemac.project.cache import WrongEntryError
from schemac.project.cache.entries import digest
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile, content_of, has_lock, lock_path
from schemac.project.imported import FolderFiles
from schemac.project.lock_index import LostLocks
from schemac.project.manifests import CompiledFile, ManifestChecks, with_distinct_datasets
from schemac.project.options import CompileOptions
from schemac.project.project_checks import check_across
from schemac.project.shared_work import LARGE_FROM, SharedWork, collector_paused
from schemac.text.source.diagnostics import Diagnostic, Report
from schemac.text.source.files import Contents
from schemac.text.source.text import decode_text
from schemac.versions.identity.compilation import Locked


class BuiltFile(NamedTuple):
    """The artifacts of one manifest; a process hands it to another."""

    of_locks: tuple[Diagnostic, ...] = ()
    """Findings about its lock, and about locks of other manifests that may belong to it."""
    of_targets: tuple[Diagnostic, ...] = ()
    """Findings of targets; they are reported only if no manifest of the run has an error."""
    datasets: Mapping[str, Built] = {}
    losses: int = 0
    """How many losses the targets have in all."""
    contents: Mapping[str, bytes] = {}
    """The artifacts by path, unless they were kept as digests alone."""
    searched_locks: str | None = None
    """The digest of the locks that a lost one was looked for in; None if none was looked for."""


class Builds:
    """Builds manifests one by one."""

    def __init__(self, project: Project, options: CompileOptions) -> None:
        self._project = project
        self._options = options
        self._keys = project.cache.keys("build", options)
        self._lost_locks = LostLocks(project)
        # Of folders, most of which have many manifests.
        self._from_project = cache(partial(os.path.relpath, start=project.folder))

    def cached(self, file: CompiledFile) -> BuiltFile | None:
        """Return the cached build of a manifest; None if there is none for its present content."""
        key = self._key(file)
        made = self._project.cache.get(key, BuiltFile) if key is not None else None
        if made is None:
            return None
        datasets = made.datasets
        is_of_manifest = [*datasets] == [self._options.name(named.name) for named in file.named]
        if not is_of_manifest or not all(are_inside(one.files, name) for name, one in datasets.items()):
            return None
        locks = made.searched_locks
        return made if locks is None or locks == self._lost_locks.digest_for(file.file.path) else None

    def fresh(self, file: CompiledFile) -> BuiltFile:
        """Build a manifest, and add the result to the cache."""
        key = self._key(file)
        made = self._build(file)
        # Where a lock was written meanwhile, nobody knows which of the two was read.
        if key is not None and self._key(file) == key:
            self._project.cache.put(key, made._replace(contents={}))
        return made

    def prepare(self) -> None:
        """Import the modules that make Arrow fields and emit, before processes are forked: that takes longer than one manifest."""
        import schemac.project.stages  # noqa: F401 — for start-up time, as above

    def _build(self, file: CompiledFile) -> BuiltFile:
        """Return the build of a manifest, made without the cache."""
        from schemac.project.stages import emit  # for start-up time, as above
        from schemac.versions.identity.lock import Lock

        locks, targets = Report(), Report()
        locked: Mapping[str, Locked] = {}
        opened_lock: Lock | None = Lock()
        is_locked = self._options.locked
        if is_locked or has_lock(file.file.path):
            # For start-up time: many have no locks.
            from schemac.project.locking import datasets_in, open_lock

            lock_file = open_lock(file.file.path, file.file.name, locks)
            opened_lock = None if lock_file is None else lock_file.lock
            if opened_lock is not None:
                locked = datasets_in(opened_lock, file.datasets, locks, is_error=is_locked)
        searched_locks = self._lost_locks.report(file, opened_lock, locks)
        if locks.has_errors:
            return BuiltFile(locks.diagnostics, searched_locks=searched_locks)
        datasets: dict[str, Built] = {}
        contents: dict[str, bytes] = {}
        losses = 0
        overlay = self._options.overlay
        inputs = file.content
        if file.imported.files or overlay is not None:
            inputs += digest(file.imported.files, overlay)
        for dataset in file.datasets:
            is_large = len(file.content) >= LARGE_FROM
            lock = locked.get(dataset.name)
            if overlay is not None:
                dataset, lock = overlay.over(dataset, lock, self._project, targets)
                if targets.has_errors:
                    continue
            made = emit(dataset, self._options, targets, lock, is_large=is_large)
            files = {f"{dataset.name}/{artifact.path}": artifact.content for artifact in made.artifacts}
            contents |= files
            datasets[dataset.name] = built(self._manifest(file), inputs, files)
            losses += len(made.losses)
        diagnostics = self._not_ignored(file, targets.diagnostics)
        return BuiltFile(locks.diagnostics, diagnostics, datasets, losses, contents, searched_locks)

    def _not_ignored(self, file: CompiledFile, findings: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        """Return the findings of targets, without those that a comment in the manifest ignores."""
        source = decode_text(file.content, file.file.name, Report()) if findings else None
        if source is None:
            return findings
        from schemac.project.fixing import not_ignored, without_ignored  # for start-up time, as above

        files = FolderFiles(file.file.path, file.file.name, self._options.edited, self._project)
        texts = [source, *file.imported.texts(Contents(), files)]
        remaining = not_ignored(findings, texts, self._project, None)
        overlay = self._options.overlay
        if overlay is None:
            return tuple(remaining)
        # Findings about attributes that the overlay brings are told at it.
        overlay_contents = {overlay.overlay.document.source.name: overlay.content}
        return tuple(without_ignored(remaining, overlay_contents.get, self._project))

    def _key(self, file: CompiledFile) -> bytes | None:
        """Return the cache key of a manifest with its lock; None if nothing is kept, or the lock cannot be read."""
        if not self._project.cache.is_persistent:
            return None
        lock = content_of(lock_path(file.file.path))
        if lock is None and has_lock(file.file.path):
            return None
        return self._keys.key(file.key, self._manifest(file), lock, [named.name for named in file.named])

    def _manifest(self, file: CompiledFile) -> str:
        """Return a manifest's path from the project's folder, wherever the command was run."""
        folder, name = os.path.split(file.file.path)
        return os.path.normpath(os.path.join(self._from_project(folder or "."), name))


def report_builds(made: Sequence[BuiltFile], report: Report) -> None:
    """Add the findings of a build to the report; those of targets only if no lock has an error."""
    for one in made:
        report.extend(one.of_locks)
    for one in () if report.has_errors else made:
        report.extend(one.of_targets)


@dataclass(slots=True)
class Output:
    """What a run makes: files by path, and their provenance by dataset."""

    files: list[CompiledFile] = dataclasses.field(default_factory=list)
    """The manifests that could be read."""
    contents: dict[str, bytes] = dataclasses.field(default_factory=dict)
    """The artifacts that this run emitted; of cached ones only the digests are known."""
    built: "dict[str, Built]" = dataclasses.field(default_factory=dict)
    losses: int = 0
    """How many losses the targets have in all."""
    make: "Callable[[Sequence[CompiledFile]], list[BuiltFile]]" = lambda _: []
    name: Callable[[str], str] = lambda dataset: dataset
    """What a dataset is called in the output."""

    @property
    def datasets(self) -> list[DatasetName]:
        """All datasets that were checked."""
        return [named for file in self.files for named in file.named]

    def missing(self, datasets: Collection[str]) -> Mapping[str, bytes]:
        """Return the artifacts of datasets that are known by their digests alone.

        Raises WrongEntryError if they turn out to be others.
        """
        files = [file for file in self.files if any(self.name(n.name) in datasets for n in file.named)]
        contents: dict[str, bytes] = {}
        for made in self.make(files):
            if any(self.built.get(name) != dataset for name, dataset in made.datasets.items()):
                raise WrongEntryError(", ".join(made.datasets))
            contents |= made.contents
        return contents


def compile_files(
    files: Sequence[ManifestFile],
    project: Project,
    options: CompileOptions,
    report: Report,
    *,
    is_whole: bool = False,
) -> Output:
    """Check all manifests of a run, and return them with the artifacts for the targets in the options.

    With `is_whole` they are all manifests of the project, so unused groups are reported. If the report has errors, the artifacts must not be used.
    """
    if options.has_rules:
        project.report_rules(report)
        if report.has_errors:
            return Output()
    with collector_paused():
        builds = Builds(project, options) if options.targets else None
        work = SharedWork(ManifestChecks(project, options), builds)
        compiled = with_distinct_datasets(work.check(files, report), report)
        check_across(compiled, project, options, report, is_whole=is_whole)
        if options.overlay is not None:
            names = [named.name for one in compiled for named in one.named]
            options.overlay.check_names(names, report, is_whole=is_whole)
            # A build lays it over what it makes.
            for dataset in (d for one in compiled for d in one.datasets) if not options.targets else ():
                options.overlay.over(dataset, None, project, report)
        output = Output(compiled, make=work.fresh_results, name=options.name)
        # What targets say counts only where every manifest is sound, however the files were shared out.
        if report.has_errors or not options.targets:
            return output
        made = work.results(compiled)
        report_builds(made, report)
        for one in made:
            output.contents |= one.contents
            output.built |= one.datasets
            output.losses += one.losses
    return output
