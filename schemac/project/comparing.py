"""Manifests beside what they were.

Layer: project.
Shape: one comparison a dataset, or one a locked version of it; those without a change left out. Files that are byte for
byte as they were are not compiled, of the others only what differs where their text tells; many are shared between the
cores.
Errors: SC408 unknown-reference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from schemac.evolution.changes import Change, Fact
from schemac.evolution.diff import diff_of
from schemac.evolution.judge import judge, judged_engines, load
from schemac.evolution.verdict import Verdict
from schemac.evolution.version_pair import (
    LockedSchemaVersion,
    SchemaVersion,
    VersionPair,
    locked_schema_version,
    pair_versions,
)
from schemac.project.before import Before, SchemaVersions, checked_datasets, versions_before
from schemac.project.commits import read_commit
from schemac.project.compile import collector_paused
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile, find_manifests, lock_path
from schemac.project.manifests import CompiledFile, read_manifests
from schemac.project.moves import Unpaired, follow
from schemac.project.partial import keep_names, parts_of
from schemac.project.references import (
    artifact_versions,
    content_of,
    find_path,
    is_output,
    lock_number,
    locked_versions,
    manifest_versions,
    read_folder,
    versions_in_file,
)
from schemac.project.targets import engines_of, is_left_aside
from schemac.project.workers import cores, share
from schemac.source.catalogue import UNKNOWN_REFERENCE
from schemac.source.diagnostic import Diagnostic, Severity
from schemac.source.report import Report
from schemac.source.text import decode_text, read_text

SHARED_FROM = 200_000
"""Bytes of changed manifests from which on a run is shared between the cores."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One dataset, from one version to another; empty where there is none."""

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
    is_asked_outright: bool = False
    """Ask these engines even for datasets that are built for others."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of engines, where somebody named one."""
    are_targets_named: bool = False
    """Whether the project says which targets it has; where it does not, Paimon is asked only by those who speak of it."""
    is_project: bool = False
    """Compare the project as a whole, for no path was named."""


@dataclass(frozen=True, slots=True)
class _Run:
    """What all parts of a run know."""

    wanted: Wanted
    project: Project
    number: int | None = None
    """The N of `lock:N`."""
    before: Before | None = None
    """Of a commit, or of a folder of manifests."""
    fixed: SchemaVersions | None = None
    """Of one manifest, or of artifacts."""
    is_alone: bool = False
    """Whether one manifest is compared with one other, whatever their datasets are called."""


class _Part(NamedTuple):
    """What one process finds."""

    comparisons: list[Comparison]
    names: list[str]
    """All datasets that it saw."""
    diagnostics: tuple[Diagnostic, ...]


def compare(
    files: Sequence[ManifestFile],
    folders: Sequence[Path],
    wanted: Wanted,
    project: Project,
    report: Report,
) -> list[Comparison]:
    """All comparisons of a run; `folders` are those that are compared as a whole, with what is no longer in them."""
    run = _prepare(files, folders, wanted, project, report)
    if run is None or report.has_errors:
        return []
    every = files
    if run.before is not None:
        files = [file for file in files if _is_changed(file.path, run.before)]
    size = sum(file.path.stat().st_size for file in files if file.path.exists())
    workers = min(cores(), len(files)) if size >= SHARED_FROM else 1
    found: list[Comparison] = []
    names: set[str] = set()
    with collector_paused():
        if workers > 1:
            load(wanted.engines)
        for part in share([partial(_part, files[n::workers], run) for n in range(workers)]):
            found += part.comparisons
            names.update(part.names)
            report.extend(part.diagnostics)
        if run.before is not None and not report.has_errors:
            found = _with_moved(found, every, files, folders, run, report)
    if run.fixed is not None and not report.has_errors:
        found += _missing(run, names, bool(folders), report)
    return sorted(found, key=lambda comparison: (comparison.dataset, comparison.old))


def _prepare(
    files: Sequence[ManifestFile], folders: Sequence[Path], wanted: Wanted, project: Project, report: Report
) -> _Run | None:
    """Read what is compared with; None after saying why that is not possible."""
    against = wanted.against
    if against.startswith("git:"):
        before = read_commit(against[4:], files, folders, project, report, is_project=wanted.is_project)
        return None if before is None else _Run(wanted, project, before=before)
    if against == "lock" or against.startswith("lock:"):
        return _Run(wanted, project, lock_number(against, report))
    path = find_path(against, report)
    if path is None:
        return None
    if is_output(path):
        return _Run(wanted, project, fixed=artifact_versions(path, report))
    if path.is_dir():
        return _Run(wanted, project, before=read_folder(against, files, folders, project, report))
    fixed = manifest_versions(against, project, report)
    return _Run(wanted, project, fixed=fixed, is_alone=len(fixed) == len(files) == 1)


def _missing(run: _Run, names: set[str], is_whole: bool, report: Report) -> list[Comparison]:
    """Datasets of a build that there are no more; another manifest only has to have one of those that are compared."""
    assert run.fixed is not None
    missing = sorted(run.fixed.keys() - names)
    if is_output(Path(run.wanted.against)):
        return [_compare(run.fixed[name], None, run.wanted) for name in missing] if is_whole else []
    if not run.is_alone and len(missing) == len(run.fixed):
        report.add(
            UNKNOWN_REFERENCE,
            f"{run.wanted.against} has none of the datasets to compare",
            help=f"it has {', '.join(missing)}" if missing else "it contains no schema",
        )
    return []


def _with_moved(
    found: list[Comparison],
    every: Sequence[ManifestFile],
    files: Sequence[ManifestFile],
    folders: Sequence[Path],
    run: _Run,
    report: Report,
) -> list[Comparison]:
    """Datasets follow their names: one that left a file and came in another has only moved."""
    assert run.before is not None
    unpaired = Unpaired(
        frozenset(c.dataset for c in found if not c.old),
        frozenset(c.dataset for c in found if not c.new),
        files,
        folders,
        partial(_elsewhere, every, run.project),
    )
    followed = follow(unpaired, run.before, run.project, report)
    kept = [c for c in found if (c.old and c.new) or c.dataset not in followed.names]
    kept += [_compare(old, None, run.wanted) for old in followed.dropped]
    for version, new in followed.pairs:
        kept += [_compare(old, new, run.wanted) for old in _versions(version, run.wanted)]
    return [comparison for comparison in kept if comparison.changes]


def _elsewhere(files: Sequence[ManifestFile], project: Project) -> list[ManifestFile]:
    """Return the project's manifests beside these."""
    known = {file.path.resolve() for file in files}
    paths = project.configuration.manifests or (".",)
    out = project.folder / project.configuration.out
    return [
        file
        for file in find_manifests(paths, project.folder, out, Report())
        if file.path.resolve() not in known
    ]


def _is_changed(path: Path, before: Before) -> bool:
    """Whether a manifest or its lock is not as it was."""
    return any(content_of(p) != before.contents.get(p) for p in (path, lock_path(path)))


def _part(files: Sequence[ManifestFile], run: _Run) -> _Part:
    report, read = Report(), Report()
    found: list[Comparison] = []
    names: list[str] = []
    whole: list[ManifestFile] = []
    for file in files:
        comparison = _compare_parts(file, run)
        if comparison is None:
            whole.append(file)
        else:
            found.append(comparison)
    for compiled in read_manifests(whole, run.project, read):
        if read.has_errors or report.has_errors:
            break
        news = versions_in_file(compiled, report)
        names += news
        found += [_compare(old, new, run.wanted) for old, new in _pairs(compiled, news, run, report)]
    # Whoever asks what a change means does not ask what else there is to say of a manifest.
    report.extend(d for d in read.diagnostics if d.severity is Severity.ERROR)
    return _Part([c for c in found if c.changes], names, report.diagnostics)


def _compare_parts(file: ManifestFile, run: _Run) -> Comparison | None:
    """Return the comparison of a manifest with itself, of which only what differs is compiled; None where that is not enough."""
    before, lock = run.before, lock_path(file.path)
    content = before.contents.get(file.path) if before is not None else None
    if before is None or content is None or not keep_names(before.contents.get(lock), content_of(lock)):
        return None
    report = Report()
    old = decode_text(content, before.names[file.path], report)
    new = read_text(file.path, file.name, report)
    parts = parts_of(old, new) if old is not None and new is not None else None
    if parts is None:
        return None
    olds, news = (
        checked_datasets(text, run.project, report, is_named=True, stem=file.path.stem)
        for text in (parts.before, parts.today)
    )
    if report.has_errors or len(olds) != 1 or len(news) != 1 or olds[0].name != news[0].name:
        return None
    if run.wanted.is_transitive and before.contents.get(lock) is not None:
        return None
    old_version, new_version = SchemaVersion(olds[0], parts.before.name), SchemaVersion(news[0], file.name)
    is_whole = len(parts.places_before) == len(olds[0].columns) and len(parts.places_today) == len(
        news[0].columns
    )
    pair = pair_versions(old_version, new_version)
    return _judged(pair, run.wanted) if is_whole and parts.is_in_order(pair) else None


def _pairs(
    file: CompiledFile, news: SchemaVersions, run: _Run, report: Report
) -> list[tuple[SchemaVersion | None, SchemaVersion | None]]:
    if run.before is not None:
        olds = versions_before(run.before, file.file.path, run.project, report)
        names = sorted({*olds, *news})
    elif run.fixed is None:
        # Of a version by its number there is one, but transitively it takes all of them.
        olds = locked_versions(file, None if run.wanted.is_transitive else run.number, report)
        names = [name for name in sorted(news) if name in olds]
    elif run.is_alone and len(news) == 1:
        (old,), (new,) = run.fixed.values(), news.values()
        return [(version, new) for version in _versions(old, run.wanted)]
    else:
        olds = run.fixed
        is_build = is_output(Path(run.wanted.against))
        names = [name for name in sorted(news) if is_build or name in olds]
    return [(old, news.get(name)) for name in names for old in _versions(olds.get(name), run.wanted)]


def _versions(old: SchemaVersion | None, wanted: Wanted) -> list[SchemaVersion | None]:
    """Return the old version; or, where all versions are asked for, those that its lock has, and itself if it is none of them."""
    if old is None or not wanted.is_transitive or not isinstance(old, LockedSchemaVersion):
        return [old]
    versions = [locked_schema_version(old.locked, version.number) for version in old.locked.versions]
    return [*versions, old] if diff_of(pair_versions(versions[-1], old)) else [*versions]


def _compare(old: SchemaVersion | None, new: SchemaVersion | None, wanted: Wanted) -> Comparison:
    engines = wanted.engines
    if old is None or new is None:
        version = new or old
        assert version is not None
        fact = Fact.DATASET_ADDED if old is None else Fact.DATASET_DROPPED
        place = version.place(None)
        change = Change(
            fact,
            version.dataset.name,
            "",
            old_place=place if new is None else None,
            new_place=place if old is None else None,
        )
        verdicts = judge([change], None, engines)
        return Comparison(
            version.dataset.name, old.label if old else "", new.label if new else "", (change,), verdicts
        )
    return _judged(pair_versions(old, new), wanted)


def _judged(pair: VersionPair, wanted: Wanted) -> Comparison:
    changes = diff_of(pair)
    engines = _engines(pair.new, wanted)
    verdicts = judge(changes, pair, engines, wanted.versions) if wanted.engines else ()
    return Comparison(
        pair.new.dataset.name,
        pair.old.label,
        pair.new.label,
        tuple(map(_light, changes)),
        tuple(replace(verdict, change=_light(verdict.change)) for verdict in verdicts),
    )


def _engines(new: SchemaVersion, wanted: Wanted) -> list[str]:
    names = list(wanted.engines)
    if not wanted.is_asked_outright:
        names = engines_of(new.dataset, names, is_named=wanted.are_targets_named)
        if not wanted.are_targets_named:
            names = [name for name in names if not is_left_aside(name, new.dataset)]
    return [name for name in judged_engines() if name in names]


def _light(change: Change) -> Change:
    """Return the change without the slots, which only this process knows."""
    return replace(change, old_slot=None, new_slot=None)
