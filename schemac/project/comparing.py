"""Manifests beside what they were.

Floor: 9 (project).
Shape: one comparison a dataset, those without a change left out. Files that are byte for byte as they were are not
compiled; the others are shared between the cores where they are many.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from schemac.attributes.own import TARGETS_OF
from schemac.evolution.changes import Change, Fact
from schemac.evolution.diff import diff_of
from schemac.evolution.judge import JUDGES, judge
from schemac.evolution.side import Side, pair, side_of_version
from schemac.evolution.verdict import Verdict
from schemac.project.compile import CompiledFile, collector_paused, read_manifests
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.project.locking import lock_path
from schemac.project.references import (
    Blobs,
    Sides,
    commit_sides,
    locked_sides,
    manifests_at,
    path_sides,
    read_commit,
    sides_of_file,
)
from schemac.project.workers import cores, share
from schemac.source.diagnostic import Diagnostic
from schemac.source.report import Report

SHARED_FROM = 200_000
"""Bytes of changed manifests from which on a run is shared between the cores."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One dataset, from one version to another."""

    dataset: str
    old: str
    new: str
    changes: tuple[Change, ...]
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to compare with, and whom to ask."""

    against: str
    engines: tuple[str, ...] = ()
    is_transitive: bool = False
    """Compare with every locked version, not with one."""


def compare(
    files: Sequence[ManifestFile],
    folders: Sequence[Path],
    wanted: Wanted,
    project: Project,
    report: Report,
) -> list[Comparison]:
    """All comparisons of a run; `folders` are looked through for manifests that a commit had."""
    blobs: Blobs | None = None
    gone: list[Path] = []
    fixed: Sides | None = None
    if wanted.against.startswith("git:"):
        here = [file.path for file in files]
        gone = manifests_at(wanted.against[4:], folders, here)
        blobs = read_commit(wanted.against[4:], [*here, *gone], report)
        if blobs is None:
            return []
        files = [file for file in files if _is_changed(file.path, blobs)]
    elif wanted.against.partition(":")[0] != "lock":
        fixed = path_sides(wanted.against, project, report)
    if report.has_errors:
        return []
    size = sum(file.path.stat().st_size for file in files if file.path.exists())
    workers = min(cores(), len(files)) if size >= SHARED_FROM else 1
    tasks = [partial(_part, files[n::workers], wanted, project, blobs, fixed) for n in range(workers)]
    found: list[Comparison] = []
    with collector_paused():
        for comparisons, diagnostics in share(tasks):
            found += comparisons
            report.extend(diagnostics)
        if blobs is not None:
            found = _with_moved(found, files, gone, wanted, project, blobs, report)
    return sorted(found, key=lambda comparison: (comparison.dataset, comparison.old))


def _with_moved(
    found: list[Comparison],
    files: Sequence[ManifestFile],
    gone: Sequence[Path],
    wanted: Wanted,
    project: Project,
    blobs: Blobs,
    report: Report,
) -> list[Comparison]:
    """Datasets follow their names: one that left a file and came in another has only moved."""
    olds: Sides = {}
    for path in gone:
        olds.update(commit_sides(blobs, path, path.name, project, report))
    added = {c.dataset for c in found if c.changes[0].fact is Fact.DATASET_ADDED}
    dropped = {c.dataset for c in found if c.changes[0].fact is Fact.DATASET_DROPPED}
    moved = added & (dropped | olds.keys())
    kept = [c for c in found if c.dataset not in moved]
    kept += [_compare(old, None, wanted.engines) for name, old in olds.items() if name not in moved]
    if moved:
        news: Sides = {}
        for file in files:
            olds = {**commit_sides(blobs, file.path, file.name, project, report), **olds}
        for compiled in read_manifests(files, project, report):
            news.update(sides_of_file(compiled, report))
        kept += [_compare(olds[name], news[name], wanted.engines) for name in sorted(moved)]
    return [comparison for comparison in kept if comparison.changes]


def _is_changed(path: Path, blobs: Blobs) -> bool:
    """Whether a manifest or its lock is not as it was at the commit."""
    return any(_content(p) != blobs.contents.get(p) for p in (path, lock_path(path)))


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _part(
    files: Sequence[ManifestFile], wanted: Wanted, project: Project, blobs: Blobs | None, fixed: Sides | None
) -> tuple[list[Comparison], tuple[Diagnostic, ...]]:
    """What one process finds."""
    report = Report()
    found: list[Comparison] = []
    for file in read_manifests(files, project, report):
        if report.has_errors:
            break
        news = sides_of_file(file, report)
        for old, new in _pairs(file, news, wanted, project, blobs, fixed, report):
            found.append(_compare(old, new, wanted.engines))
    return [c for c in found if c.changes], report.diagnostics


def _pairs(
    file: CompiledFile,
    news: Sides,
    wanted: Wanted,
    project: Project,
    blobs: Blobs | None,
    fixed: Sides | None,
    report: Report,
) -> list[tuple[Side | None, Side | None]]:
    if blobs is not None:
        olds = commit_sides(blobs, file.file.path, file.file.name, project, report)
        names = sorted({*olds, *news})
        return [(olds.get(name), news.get(name)) for name in names]
    if fixed is not None:
        if len(fixed) == len(news) == 1:
            return [(next(iter(fixed.values())), next(iter(news.values())))]
        return [(fixed.get(name), news[name]) for name in sorted(news)]
    if wanted.is_transitive:
        return [
            (side_of_version(new.locked, version.number), new)
            for new in news.values()
            if new.locked is not None
            for version in new.locked.versions
        ]
    number = wanted.against.partition(":")[2]
    olds = locked_sides(file, int(number) if number else None, report)
    return [(olds[name], news[name]) for name in sorted(news) if name in olds]


def _compare(old: Side | None, new: Side | None, engines: Sequence[str]) -> Comparison:
    if old is None or new is None:
        side = new or old
        assert side is not None
        fact = Fact.DATASET_ADDED if old is None else Fact.DATASET_DROPPED
        place = side.place(None)
        change = Change(
            fact, side.dataset.name, "", old_place=None if old is None else place, new_place=place
        )
        verdicts = judge([change], None, engines)
        return Comparison(side.dataset.name, "", side.label, (change,), verdicts)
    sides = pair(old, new)
    changes = diff_of(sides)
    verdicts = judge(changes, sides, _engines(new, engines)) if engines else ()
    return Comparison(
        new.dataset.name,
        old.label,
        new.label,
        tuple(map(_light, changes)),
        tuple(replace(verdict, change=_light(verdict.change)) for verdict in verdicts),
    )


def _engines(new: Side, engines: Sequence[str]) -> list[str]:
    wanted = TARGETS_OF.read(new.dataset.schema.extra) or engines
    return [engine for engine in JUDGES if engine in engines and engine in wanted]


def _light(change: Change) -> Change:
    """The change without the slots, which only this process knows."""
    return replace(change, old_slot=None, new_slot=None)
