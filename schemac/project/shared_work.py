"""Work on many manifests: what the cache has of it is taken from there, the rest is shared between processes.

Layer: project.
Shape: a process checks its part of the manifests, and works on each of them at once, until something is wrong with one. What is
called otherwise because of another manifest is worked on once all names are settled. In a large project one process takes what the
cache has while others make what it lacks, be it a single manifest: loading the compiler takes as long as looking up hundreds.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from schemac.language.logical.names import DatasetName
from schemac.project.discovery import ManifestFile
from schemac.project.imported import NOTHING, ManifestImports
from schemac.project.manifests import CompiledFile, ManifestChecks
from schemac.project.workers import PROGRESS, cores, share
from schemac.text.source.diagnostics import Diagnostic, Report

LARGE_FROM = 300_000
"""Bytes of manifests from which on work is shared between the cores; below, a process costs more than it saves."""

P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Work(Protocol[T_co]):
    """What is done with each checked manifest."""

    def cached(self, file: CompiledFile) -> T_co | None:
        """Return what an earlier run has kept; None if there is nothing."""

    def fresh(self, file: CompiledFile) -> T_co:
        """Do the work, and keep its result."""

    def prepare(self) -> None:
        """Load what the work needs, before a process is copied."""


class FirstPass(NamedTuple, Generic[T]):
    """What a process found out about a manifest before the names of all datasets were known."""

    named: tuple[DatasetName, ...] | None
    """None if it is not a text."""
    findings: tuple[Diagnostic, ...]
    imported: ManifestImports = NOTHING
    result: T | None = None
    """None where something was wrong before in the part of the process, or nothing but checks is wanted."""


class SharedWork(Generic[T]):
    """Work on the manifests of one run; without work they are only checked."""

    def __init__(self, checks: ManifestChecks, work: Work[T] | None) -> None:
        self._checks = checks
        self._work = work
        self._first_passes: dict[Path, FirstPass[T]] = {}

    def check(self, files: Sequence[ManifestFile], report: Report) -> list[CompiledFile]:
        """Return the manifests that can be read, each checked as if it were alone."""
        read = [(file, self._checks.options.read(file, report)) for file in files]
        contents = [(file, content) for file, content in read if content is not None]
        # Findings come in the order of the manifests, whatever was kept: several may be about one imported file.
        reports = [Report() for _ in contents]
        cached_files = [
            self._checks.cached(content, file, result)
            for (file, content), result in zip(contents, reports, strict=True)
        ]
        missing = [one for one, result in zip(contents, cached_files, strict=True) if result is None]
        present = [file for file in cached_files if file is not None]
        is_large = sum(len(file.content) for file in present) >= LARGE_FROM
        meanwhile = partial(self._look_up, present) if is_large and self._work is not None else None
        sizes = [len(content) for _, content in missing]
        passes = self._shared(self._check, missing, sizes, meanwhile)
        self._first_passes |= {file.path: one for (file, _), one in zip(missing, passes, strict=True)}
        compiled: list[CompiledFile] = []
        for (file, content), result, file_report in zip(contents, cached_files, reports, strict=True):
            report.extend(file_report.diagnostics)
            if result is None:
                first = self._first_passes[file.path]
                report.extend(first.findings)
                if first.named is not None:
                    result = self._checks.compiled(file, content, first.named, first.imported)
            if result is not None:
                compiled.append(result)
        return compiled

    def results(self, files: Sequence[CompiledFile]) -> list[T]:
        """Return the result of the work on each manifest, now that the names of all datasets are known."""
        assert self._work is not None
        results: list[T | None] = []
        for file in files:
            first = self._first_passes.get(file.file.path)
            is_same = first is not None and first.named == file.named
            results.append(first.result if first is not None and is_same else self._work.cached(file))
        fresh = iter(
            self.fresh_results([file for file, one in zip(files, results, strict=True) if one is None])
        )
        return [one if one is not None else next(fresh) for one in results]

    def fresh_results(self, files: Sequence[CompiledFile]) -> list[T]:
        """Return the same without a look at what was kept of them."""
        work = self._work
        assert work is not None
        sizes = [len(file.content) for file in files]
        return self._shared(lambda part: [work.fresh(file) for file in part], files, sizes)

    def _look_up(self, files: Sequence[CompiledFile]) -> None:
        """Take the cached results of manifests that were checked before."""
        assert self._work is not None
        for file in files:
            result = self._work.cached(file)
            self._first_passes[file.file.path] = FirstPass(file.named, (), file.imported, result)

    def _check(self, part: Sequence[tuple[ManifestFile, bytes]]) -> list[FirstPass[T]]:
        """Check a part of the manifests, and work on each at once until something is wrong with one."""
        PROGRESS.expect(len(part) * (1 if self._work is None else 2))
        passes: list[FirstPass[T]] = []
        work = self._work
        for manifest, content in part:
            file_report = Report()
            file = self._checks.fresh(content, manifest, file_report)
            if file_report.has_errors:
                work = None
            if file is None:
                passes.append(FirstPass(None, file_report.diagnostics))
                continue
            # What it was compiled to goes with the file: the memory of a run is that of its largest manifest.
            result = work.fresh(file) if work is not None else None
            passes.append(FirstPass(file.named, file_report.diagnostics, file.imported, result))
        return passes

    def _shared(
        self,
        act: Callable[[Sequence[P]], list[R]],
        items: Sequence[P],
        sizes: Sequence[int],
        meanwhile: Callable[[], None] | None = None,
    ) -> list[R]:
        """Return the results for all items, in their order; large work is shared between processes.

        `meanwhile` is what this process does while others work on the items, however few these are.
        """
        workers = min(cores(), len(items)) if sum(sizes) >= LARGE_FROM else 1
        if not items or (workers < 2 and meanwhile is None):
            return act(items) if items else []
        if workers > 1 and self._work is not None:
            self._work.prepare()

        def act_on(part: Sequence[P]) -> tuple[list[R], Mapping[bytes, bytes]]:
            # A process hands over what it has for the cache, too.
            return act(part), self._checks.cache.new

        tasks = [partial(act_on, items[n::workers]) for n in range(workers)]
        results_by_index: dict[int, R] = {}
        for n, (results, entries) in enumerate(share(tasks, meanwhile)):
            self._checks.cache.new.update(entries)
            results_by_index |= dict(zip(range(n, len(items), workers), results, strict=True))
        return [results_by_index[n] for n in range(len(items))]


@contextmanager
def collector_paused(*, is_last: bool = False) -> Iterator[None]:
    """Turn the cyclic garbage collector off: a compilation makes many values and no cycles, and it would look at all of them.

    With `is_last` the objects live until the process ends, so collecting them later is useless too.
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
