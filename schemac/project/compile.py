"""Many manifests into artifacts: files, processes, and the names and locks that files share.

Layer: project.
Shape: what the cache has of a manifest is taken from there. The others are shared between processes, each of which checks its part and
builds it as long as nothing is wrong with it; what has another name because of another manifest is built once names are settled.
"""

import gc
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from schemac.artifacts.provenance import Built
from schemac.cache.store import MisrememberedError
from schemac.logical.resources import Named
from schemac.project.building import LARGE_FROM, Builds, BuiltFile
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.project.manifests import Checks, CompiledFile, apart
from schemac.project.options import Options
from schemac.project.under_way import WORK
from schemac.project.workers import cores, share
from schemac.source.diagnostic import Diagnostic
from schemac.source.report import Report
from schemac.source.text import read_content

F = TypeVar("F")
T = TypeVar("T")
SHARED_FROM = LARGE_FROM
"""Bytes of manifests from which on a run is shared between the cores; below, a process costs more than it saves."""


@dataclass(slots=True)
class Output:
    """What a run makes: files by path, and their provenance by dataset."""

    files: list[CompiledFile] = field(default_factory=list)
    """The manifests that could be read."""
    contents: dict[str, bytes] = field(default_factory=dict)
    """The artifacts that were made; those that an earlier run had made are known by their digests."""
    built: dict[str, Built] = field(default_factory=dict)
    losses: int = 0
    """How many losses the targets have in all."""
    make: "Callable[[Sequence[CompiledFile]], list[BuiltFile]]" = lambda _: []

    @property
    def datasets(self) -> list[Named]:
        """All datasets that were checked."""
        return [named for file in self.files for named in file.named]

    def add(self, made: BuiltFile) -> None:
        """Take over what was built of a manifest."""
        self.contents |= made.contents
        self.built |= made.datasets
        self.losses += made.losses

    def missing(self, datasets: Collection[str]) -> Mapping[str, bytes]:
        """Return the artifacts of datasets that are known by their digests alone.

        Raises MisrememberedError where they turn out to be others.
        """
        files = [file for file in self.files if any(named.name in datasets for named in file.named)]
        contents: dict[str, bytes] = {}
        for made in self.make(files):
            if any(self.built.get(name) != dataset for name, dataset in made.datasets.items()):
                raise MisrememberedError(", ".join(made.datasets))
            contents |= made.contents
        return contents


def compile_files(
    files: Sequence[ManifestFile], project: Project, options: Options, report: Report
) -> Output:
    """All manifests of a run, checked, and the artifacts for the targets in the options.

    The artifacts are not to be used where the report has errors.
    """
    with collector_paused():
        run = _Run(project, options)
        compiled, early = run.checked(files, report)
        compiled = apart(compiled, report)
        output = Output(compiled, make=run.remake)
        if report.has_errors or not options.targets:
            return output
        made = run.built(compiled, early)
        for one in made:
            report.extend(one.of_locks)
        # What targets say counts only where every manifest is sound, however the files were shared out.
        for one in () if report.has_errors else made:
            report.extend(one.of_targets)
        for one in made:
            output.add(one)
    return output


class _Early(NamedTuple):
    """What a process found out of a manifest before it knew the others."""

    named: tuple[Named, ...] | None
    """None where it is no text."""
    findings: tuple[Diagnostic, ...]
    built: BuiltFile | None = None
    """None where something in the part of the process is wrong, or nothing is to be built."""


class _Run:
    """The manifests of one run."""

    def __init__(self, project: Project, options: Options) -> None:
        self._project = project
        self._options = options
        self._checks = Checks(project, options)
        self._builds = Builds(project, options)

    def checked(
        self, files: Sequence[ManifestFile], report: Report
    ) -> tuple[list[CompiledFile], dict[Path, _Early]]:
        """Return the manifests, and what was built of some of them on the way."""
        contents = {file: content for file in files if (content := self._content(file, report)) is not None}
        kept = {file: self._checks.kept(content, file, report) for file, content in contents.items()}
        missing = [(file, content) for file, content in contents.items() if kept[file] is None]
        early = {
            file.path: one for (file, _), one in zip(missing, self._shared(self._early, missing), strict=True)
        }
        compiled: list[CompiledFile] = []
        for file, content in contents.items():
            found = kept[file]
            if found is None:
                report.extend(early[file.path].findings)
                named = early[file.path].named
                found = self._checks.known(file, content, named) if named is not None else None
            if found is not None:
                compiled.append(found)
        return compiled, early

    def built(self, files: Sequence[CompiledFile], early: Mapping[Path, _Early]) -> list[BuiltFile]:
        """Return what is built of each manifest, now that all names are settled."""
        found: dict[Path, BuiltFile] = {}
        missing: list[CompiledFile] = []
        for file in files:
            one = early.get(file.file.path)
            has_name = one is not None and one.named == file.named
            made = one.built if one is not None and has_name else self._builds.kept(file)
            if made is None:
                missing.append(file)
            else:
                found[file.file.path] = made
        made_now = self._shared(self._build, [(file, file.content) for file in missing])
        found |= {file.file.path: made for file, made in zip(missing, made_now, strict=True)}
        return [found[file.file.path] for file in files]

    def remake(self, files: Sequence[CompiledFile]) -> list[BuiltFile]:
        """Build manifests of which only digests were kept."""
        return self._shared(self._build, [(file, file.content) for file in files])

    def _content(self, file: ManifestFile, report: Report) -> bytes | None:
        return read_content(file.path, file.name, report)

    def _early(self, part: Sequence[tuple[ManifestFile, bytes]]) -> list[_Early]:
        """Check a part of the manifests, and build it where nothing is wrong with any of it."""
        WORK.expect(len(part) * (2 if self._options.targets else 1))
        report = Report()
        compiled: list[CompiledFile | None] = []
        found: list[_Early] = []
        for file, content in part:
            said = Report()
            one = self._checks.content(content, file, said)
            compiled.append(one)
            report.extend(said.diagnostics)
            found.append(_Early(one.named if one is not None else None, said.diagnostics))
        if report.has_errors or not self._options.targets:
            return found
        return [
            early._replace(built=self._builds.fresh(file)) if file is not None else early
            for early, file in zip(found, compiled, strict=True)
        ]

    def _build(self, part: Sequence[tuple[CompiledFile, bytes]]) -> list[BuiltFile]:
        return [self._builds.fresh(file) for file, _ in part]

    def _shared(
        self, work: Callable[[Sequence[tuple[F, bytes]]], list[T]], items: Sequence[tuple[F, bytes]]
    ) -> list[T]:
        """Return the results of some work on manifests, in their order; large work is shared between processes."""
        is_large = sum(len(content) for _, content in items) >= SHARED_FROM
        workers = min(cores(), len(items)) if is_large else 1
        if workers < 2:
            return work(items) if items else []
        tasks = [partial(self._with_entries, work, items[n::workers]) for n in range(workers)]
        found: dict[int, T] = {}
        for n, (results, entries) in enumerate(share(tasks)):
            self._project.cache.take(entries)
            found |= dict(zip(range(n, len(items), workers), results, strict=True))
        return [found[n] for n in range(len(items))]

    def _with_entries(self, work: Callable[[F], T], part: F) -> tuple[T, Mapping[bytes, bytes]]:
        """Return the results of a process, and what it has for the cache."""
        return work(part), self._project.cache.new


@contextmanager
def collector_paused(*, is_last: bool = False) -> Iterator[None]:
    """Without the cyclic collector: a compilation makes many values and no cycles, and it would look at all of them.

    `is_last` says that what was made stays until the process ends, so that looking later is for nothing as well.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_last:
            gc.freeze()
        if was_enabled:
            gc.enable()
