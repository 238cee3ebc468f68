"""Compares manifests with an earlier state of them.

Layer: project.
Shape: one comparison for each dataset, or for each locked version of it; those without a change are left out. Files whose bytes did not
change are not compiled. The comparison of two texts is cached under the bytes of both. Many comparisons are shared between the cores.
Errors: SC405 possible-rename, SC408 unknown-reference.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from schemac.language.logical.facts import AnyFact, Fact
from schemac.language.manifest.library import Library, imports_of
from schemac.project import past_manifests, references
from schemac.project.cache.entries import read_with
from schemac.project.commits import read_commit
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile, content_of, has_lock, lock_path
from schemac.project.imported import FolderFiles
from schemac.project.manifests import CompiledFile, ManifestChecks, with_distinct_datasets
from schemac.project.moves import DatasetMoves
from schemac.project.options import CompileOptions
from schemac.project.project_checks import check_references
from schemac.project.shared_work import SharedWork, collector_paused
from schemac.project.targets import engines_of, is_left_out
from schemac.text.source.catalogue import POSSIBLE_RENAME, UNKNOWN_REFERENCE
from schemac.text.source.diagnostics import Diagnostic, Report
from schemac.versions.evolution import version_pair
from schemac.versions.evolution.changes import Change, Verdict, facts
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import judge, judged_engines, load
from schemac.versions.evolution.ownership import Concern, concerns, concerns_of_dropped
from schemac.versions.evolution.renames import UndeclaredRename, undeclared_renames


@dataclass(frozen=True, slots=True)
class Comparison:
    """The changes of one dataset from one version to another, and what they mean."""

    dataset: str
    old: str
    """How the old version is spoken of; empty for a new dataset."""
    new: str
    """How the new version is spoken of; empty for a dropped dataset."""
    changes: tuple[Change, ...]
    verdicts: tuple[Verdict, ...] = ()
    concerns: tuple[Concern, ...] = ()
    """Promises about data that the changes may break."""
    renames: tuple[UndeclaredRename, ...] = ()
    """Fields that may have been renamed without a declaration."""

    def rename_findings(self) -> tuple[Diagnostic, ...]:
        """Return a finding for each field that may have been renamed."""
        report = Report()
        for rename in self.renames:
            (message, help), place = rename.question(self.new), rename.location
            path = rename.successors[0]
            report.add(POSSIBLE_RENAME, message, file=place.file, at=place.region, path=path, help=help)
        return report.diagnostics


@dataclass(frozen=True, slots=True)
class ComparedFile:
    """The comparisons of one manifest."""

    comparisons: tuple[Comparison, ...]
    """Those with changes."""
    names: tuple[str, ...]
    """All datasets that it has now."""
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """Which versions to compare with, and which engines judge the changes."""

    against: str
    engines: tuple[str, ...] = ()
    is_transitive: bool = False
    """Compare with every locked version, not with one."""
    is_asked_outright: bool = False
    """Ask these engines even for datasets that are built for others."""
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Versions of engines, where somebody named one."""
    are_targets_named: bool = False
    """Whether the settings list targets. If they do not, Paimon judges only datasets with an attribute of Paimon."""
    is_project: bool = False
    """Compare the project as a whole, for no path was named."""


@dataclass(frozen=True, slots=True)
class _Run:
    """The parameters that all parts of a run share."""

    request: ComparisonRequest
    project: Project
    number: int | None = None
    """The N of `lock:N`."""
    before: past_manifests.Before | None = None
    """Of a commit, or of a folder of manifests."""
    fixed: past_manifests.SchemaVersions | None = None
    """Of one manifest, or of artifacts."""
    is_alone: bool = False
    """Whether one manifest is compared with one other, whatever their datasets are called."""


def compare(
    files: Sequence[ManifestFile],
    folders: Sequence[Path],
    request: ComparisonRequest,
    project: Project,
    report: Report,
) -> list[Comparison]:
    """Return all comparisons of a run; `folders` are compared as a whole, with removed manifests."""
    run = _prepare(files, folders, request, project, report)
    if run is None or report.has_errors:
        return []
    every = files
    if run.before is not None:
        library = Library()
        files = [file for file in files if _is_changed(file, run.before, library)]
    comparisons: list[Comparison] = []
    names: set[str] = set()
    with collector_paused():
        options = CompileOptions.of(project)
        work = SharedWork(ManifestChecks(project, options), _Comparer(run))
        read = Report()
        compiled = with_distinct_datasets(work.check(files, read), read)
        check_references(compiled, read)
        # Whoever asks what a change means does not ask what else there is to say of a manifest.
        report.extend(d for d in read.diagnostics if d.is_error)
        for part in [] if read.has_errors else work.results(compiled):
            comparisons += part.comparisons
            names.update(part.names)
            report.extend(part.diagnostics)
        if run.before is not None and not report.has_errors:
            # Datasets follow their names: one that left a file and came in another has only moved.
            moves = DatasetMoves(
                added=frozenset(c.dataset for c in comparisons if not c.old),
                dropped=frozenset(c.dataset for c in comparisons if not c.new),
                files=files,
                folders=folders,
                compared=every,
                before=run.before,
                project=project,
                report=report,
            )
            moves.find()
            remaining = [c for c in comparisons if (c.old and c.new) or c.dataset not in moves.names]
            remaining += [_compare(old, None, request) for old in moves.removed]
            for version, new in moves.pairs:
                remaining += [_compare(old, new, request) for old in _old_versions(version, request)]
            comparisons = [comparison for comparison in remaining if comparison.changes]
    if run.fixed is not None and not report.has_errors:
        missing = sorted(run.fixed.keys() - names)
        if references.is_output(Path(request.against)):
            comparisons += [_compare(run.fixed[name], None, request) for name in missing if folders]
        elif not run.is_alone and len(missing) == len(run.fixed):
            message = f"{request.against} has none of the datasets to compare"
            help = f"it has {', '.join(missing)}" if missing else "it contains no schema"
            report.add(UNKNOWN_REFERENCE, message, help=help)
    return sorted(comparisons, key=lambda comparison: (comparison.dataset, comparison.old))


def _prepare(
    files: Sequence[ManifestFile],
    folders: Sequence[Path],
    request: ComparisonRequest,
    project: Project,
    report: Report,
) -> _Run | None:
    """Read the version to compare with; None after reporting why that is not possible."""
    against = request.against
    if against.startswith("git:"):
        before = read_commit(against[4:], files, folders, project, report, is_project=request.is_project)
        return None if before is None else _Run(request, project, before=before)
    if against == "lock" or against.startswith("lock:"):
        return _Run(request, project, references.lock_number(against, report))
    path = references.find_path(against, report)
    if path is None:
        return None
    if references.is_output(path):
        return _Run(request, project, fixed=references.artifact_versions(path, report))
    if path.is_dir():
        return _Run(request, project, before=references.read_folder(against, files, folders, project, report))
    fixed = references.manifest_versions(against, project, report)
    return _Run(request, project, fixed=fixed, is_alone=len(fixed) == len(files) == 1)


def _is_changed(file: ManifestFile, before: past_manifests.Before, library: Library) -> bool:
    """Whether a manifest, its lock or one of its imports changed."""
    path, lock = file.path, lock_path(file.path)
    content = content_of(path)
    if (content, content_of(lock)) != (before.contents.get(path), before.contents.get(lock)):
        return True
    now = imports_of(content or b"", FolderFiles(path, file.name), library)
    return bool(now) and now != before.imports(path)


class _Comparer:
    """Compares manifests one by one."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._keys = run.project.cache.keys("compare", run.request)

    def prepare(self) -> None:
        """Import the judges before processes are forked: that takes longer than judging."""
        load(self._run.request.engines)

    def cached(self, file: CompiledFile) -> ComparedFile | None:
        """Return the cached comparisons of two manifests; None if there are none."""
        key = self._key(file)
        return self._run.project.cache.get(key, ComparedFile) if key is not None else None

    def fresh(self, file: CompiledFile) -> ComparedFile:
        """Compare a manifest, and add the result to the cache."""
        key = self._key(file)
        report = Report()
        news = references.versions_in_file(file, report)
        comparisons = [
            _compare(old, new, self._run.request)
            for old, new in _versions_to_compare(file, news, self._run, report)
        ]
        compared = ComparedFile(tuple(c for c in comparisons if c.changes), tuple(news), report.diagnostics)
        # Where a lock was written meanwhile, nobody knows which of the two was read.
        if key is not None and not report.has_errors and self._key(file) == key:
            self._run.project.cache.put(key, compared)
        return compared

    def _key(self, file: CompiledFile) -> bytes | None:
        """Return the cache key of a manifest with its earlier state; None if that state is spread over other files."""
        path, before = file.file.path, self._run.before
        lock = content_of(lock_path(path))
        if self._run.fixed is not None or (lock is None and has_lock(path)):
            return None
        if before is None:
            return self._keys.key(file.key, lock, file.named)
        contents = (before.contents.get(path), before.contents.get(lock_path(path)))
        old = (before.names.get(path), *contents, before.imports(path))
        return self._keys.key(file.key, lock, file.named, old)


def _versions_to_compare(
    file: CompiledFile, news: past_manifests.SchemaVersions, run: _Run, report: Report
) -> list[tuple[version_pair.SchemaVersion | None, version_pair.SchemaVersion | None]]:
    """Return the old and the new version of each dataset to compare, in the order of names; None for one that is not there."""
    if run.before is not None:
        olds = past_manifests.versions_before(run.before, file.file.path, run.project, report)
        if news.keys() - olds.keys() and past_manifests.RAW_ARROW_SCHEMA.encode() in file.content:
            # The first declared schema of a dataset that came with the event before it.
            first = past_manifests.first_versions(file, run.project)
            olds = {**{name: version for name, version in first.items() if name in news}, **olds}
        names = sorted({*olds, *news})
    elif run.fixed is None:
        # Of a version by its number there is one, but transitively it takes all of them.
        olds = references.locked_versions(file, None if run.request.is_transitive else run.number, report)
        names = [name for name in sorted(news) if name in olds]
    elif run.is_alone and len(news) == 1:
        (old,), (new,) = run.fixed.values(), news.values()
        return [(version, new) for version in _old_versions(old, run.request)]
    else:
        olds = run.fixed
        is_build = references.is_output(Path(run.request.against))
        names = [name for name in sorted(news) if is_build or name in olds]
    return [(old, news.get(name)) for name in names for old in _old_versions(olds.get(name), run.request)]


def _old_versions(
    old: version_pair.SchemaVersion | None, request: ComparisonRequest
) -> list[version_pair.SchemaVersion | None]:
    """Return the old version alone; for a comparison with all versions, the locked ones, and the old one if it is not among them."""
    if old is None or not request.is_transitive or not isinstance(old, version_pair.LockedSchemaVersion):
        return [old]
    versions = [
        version_pair.locked_schema_version(old.locked, version.number) for version in old.locked.versions
    ]
    return [*versions, old] if diff_of(version_pair.pair_versions(versions[-1], old)) else [*versions]


def _compare(
    old: version_pair.SchemaVersion | None, new: version_pair.SchemaVersion | None, request: ComparisonRequest
) -> Comparison:
    """Return the changes of one dataset with their verdicts; a version that is None makes it added or dropped as a whole."""
    if old is None:
        assert new is not None
        change = Change(Fact.DATASET_ADDED, new.dataset.name, "", new_location=new.location(None))
        return Comparison(new.dataset.name, "", new.label, (change,), judge([change], None, request.engines))
    if new is None:
        change = Change(Fact.DATASET_DROPPED, old.dataset.name, "", old_location=old.location(None))
        verdicts = judge([change], None, request.engines)
        return Comparison(old.dataset.name, old.label, "", (change,), verdicts, concerns_of_dropped(old))
    engines: Sequence[str] = request.engines
    pair = version_pair.pair_versions(old, new)
    changes = diff_of(pair)
    is_by_any_way = not request.is_asked_outright
    if is_by_any_way:
        engines = engines_of(new.dataset, engines, is_named=request.are_targets_named)
        if not request.are_targets_named:
            engines = [name for name in engines if not is_left_out(name, new.dataset)]
    engines = [name for name in judged_engines() if name in engines]
    verdicts = (
        judge(changes, pair, engines, request.versions, is_by_any_way=is_by_any_way)
        if request.engines
        else ()
    )
    return Comparison(
        pair.new.dataset.name,
        pair.old.label,
        pair.new.label,
        tuple(map(_without_fields, changes)),
        tuple(verdict._replace(change=_without_fields(verdict.change)) for verdict in verdicts),
        concerns(pair),
        tuple(rename._replace(field=None) for rename in undeclared_renames(pair)),
    )


def _without_fields(change: Change) -> Change:
    """Return a change without the fields, which only this process knows."""
    return replace(change, old_field=None, new_field=None)


read_with(AnyFact, lambda text: facts()[text])
