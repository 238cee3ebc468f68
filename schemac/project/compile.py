"""Many manifests into artifacts: files, processes, and the names and locks that files share.

Layer: project.
"""

import gc
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from schemac.artifacts.emission import Loss
from schemac.artifacts.provenance import Built
from schemac.artifacts.store import built
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile, has_lock
from schemac.project.manifests import CompiledFile, check_manifests
from schemac.project.options import Options
from schemac.project.stages import emit
from schemac.project.workers import cores, share
from schemac.source.diagnostic import Diagnostic
from schemac.source.report import Report

if TYPE_CHECKING:
    # For start-up time: many projects have no locks.
    from schemac.project.locking import Locked


SHARED_FROM = 500_000
"""Bytes of manifests from which on a run is shared between the cores; below, a process costs more than it saves."""


@dataclass(slots=True)
class Output:
    """What a run makes: files by path, and their provenance and losses by dataset."""

    datasets: list[tuple[str, ManifestFile]] = field(default_factory=list)
    """The checked datasets by name, with the manifest that each stands in."""
    contents: dict[str, bytes] = field(default_factory=dict)
    built: dict[str, Built] = field(default_factory=dict)
    losses: dict[str, tuple[Loss, ...]] = field(default_factory=dict)

    def add(self, other: "Output") -> None:
        """Take over what another process made."""
        self.datasets += other.datasets
        self.contents.update(other.contents)
        self.built.update(other.built)
        self.losses.update(other.losses)


def compile_files(
    files: Sequence[ManifestFile], project: Project, options: Options, report: Report
) -> Output:
    """All manifests of a run, checked, and the artifacts for the targets in the options.

    The artifacts are not to be used where the report has errors.
    """
    with collector_paused():
        workers = min(cores(), len(files)) if sum(map(_size, files)) >= SHARED_FROM else 1
        parts = share([partial(_compile_part, files[n::workers], project, options) for n in range(workers)])
        if workers > 1 and _has_doubles(parts):
            # Who has a name that another process has as well is told only by one that sees both.
            parts = [_compile_part(files, project, options)]
        output = Output()
        for part in parts:
            output.add(part.output)
            report.extend(part.checked)
        # What targets say counts only where every manifest is sound, however the files were shared out.
        if not report.has_errors:
            for part in parts:
                report.extend(part.emitted)
    return output


class _Part(NamedTuple):
    """What one process did of a run, with the findings of the checks and of the targets."""

    output: Output
    checked: tuple[Diagnostic, ...]
    emitted: tuple[Diagnostic, ...]


def _compile_part(files: Sequence[ManifestFile], project: Project, options: Options) -> _Part:
    report, emitted = Report(), Report()
    compiled = check_manifests(files, project, options, report)
    output = Output([(dataset.name, file.file) for file in compiled for dataset in file.datasets])
    if report.has_errors or not options.targets:
        return _Part(output, report.diagnostics, ())
    # Imported here for start-up time: many runs only check.
    from schemac.project.strays import report_lost_locks

    report_lost_locks(compiled, project, report)
    for file in compiled:
        locked = _locked(file, options, report)
        for dataset in file.datasets:
            is_large = len(file.content) >= SHARED_FROM
            made = emit(dataset, options, emitted, locked.get(dataset.name), is_large=is_large)
            contents = {f"{dataset.name}/{artifact.path}": artifact.content for artifact in made.artifacts}
            output.contents.update(contents)
            output.built[dataset.name] = built(_in_project(file.file, project), file.content, contents)
            output.losses[dataset.name] = made.losses
    return _Part(output, report.diagnostics, emitted.diagnostics)


def _in_project(file: ManifestFile, project: Project) -> str:
    """Return a manifest's path from the project's folder, wherever the command was run."""
    try:
        return os.path.relpath(file.path, project.folder).replace(os.sep, "/")
    except ValueError:
        # On another drive of Windows.
        return file.name


def _locked(file: CompiledFile, options: Options, report: Report) -> "Mapping[str, Locked]":
    """Return what the lock beside a manifest says of each dataset; nothing where there is none."""
    if not options.locked and not has_lock(file.file.path):
        return {}
    # Imported here for start-up time: many projects have no locks.
    from schemac.project.locking import locked_datasets

    return locked_datasets(file.file.path, file.file.name, file.datasets, report, is_error=options.locked)


def _has_doubles(parts: Sequence[_Part]) -> bool:
    """Whether a name was used by several processes."""
    taken = Counter(name.casefold() for part in parts for name, _ in part.output.datasets)
    return any(count > 1 for count in taken.values())


def _size(file: ManifestFile) -> int:
    try:
        return file.path.stat().st_size
    except OSError:
        return 0


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
