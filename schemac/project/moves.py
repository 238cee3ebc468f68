"""Datasets that are not where they were.

Layer: project.
Shape: a dataset is followed by its name, out of and into any file. One that seems new, while another that is much like
it is gone, or while a part of what there was cannot be read, is a doubt, and every doubt is a finding.
Errors: SC415 possible-origin, SC416 unknown-past, and whatever is wrong with what is read.
"""

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile, content_of
from schemac.project.manifests import read_manifests
from schemac.project.past_manifests import Before, SchemaVersions, versions_before
from schemac.project.references import versions_in_file
from schemac.text.source.catalogue import POSSIBLE_ORIGIN, UNKNOWN_PAST
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.version_pair import SchemaVersion
from schemac.versions.identity.match import are_similar

_WHICH = (
    "give it its former name, as `name:` at the top of the manifest; if it is a different dataset,"
    " compare the whole folder, which shows what was dropped"
)
_FEW = 20
"""Datasets whose names are looked for in texts before these are compiled; with more of them all texts are."""


@dataclass
class DatasetMoves:
    """Finds where datasets came from, or went, that only one of the two sides of a comparison seems to have."""

    added: frozenset[str]
    """Datasets that only the present manifests have, of those that are compared."""
    dropped: frozenset[str]
    """Datasets that only the past manifests had."""
    files: Sequence[ManifestFile]
    """The manifests of today that are compared, and are not as they were."""
    folders: Sequence[Path]
    """The folders that are compared with all that they held."""
    compared: Sequence[ManifestFile]
    """All manifests of today that are compared."""
    before: Before
    project: Project
    report: Report
    pairs: list[tuple[SchemaVersion, SchemaVersion]] = dataclasses.field(default_factory=list, init=False)
    """Datasets that are neither new nor gone, though it seemed so: each as it was, and as it is."""
    removed: list[SchemaVersion] = dataclasses.field(default_factory=list, init=False)
    """Datasets of manifests that are gone, which are nowhere now."""

    def __post_init__(self) -> None:
        self._past: dict[Path, SchemaVersions] = {}
        self._origins: dict[Path, Path] = dict(self.before.moved)
        """Where present manifests were, by their paths."""
        self._new, self._files = self._present_versions(self.files, self.added)

    @property
    def names(self) -> set[str]:
        """The names of the datasets that are paired."""
        return {new.dataset.name for _, new in self.pairs}

    def find(self) -> None:
        """Fill `pairs` and `removed`; report what stays uncertain."""
        # Those that went from one manifest that is compared to another.
        names = self.added & self.dropped
        for file in self.files if names else ():
            for name, version in self._past_versions(file.path, self.report).items():
                if name in names & self._unpaired and self._files[name] != file.path:
                    self.pairs.append((version, self._new[name]))
        self._pair_with_others()
        self._find_removed()
        if not self.report.has_errors:
            self._report_uncertain()

    def _present_versions(
        self, files: Sequence[ManifestFile], names: Collection[str]
    ) -> tuple[SchemaVersions, dict[str, Path]]:
        """Return these datasets as they are now, and the paths of their manifests, both by name."""
        versions, places = SchemaVersions(), dict[str, Path]()
        for file in files if names else ():
            if not _may_contain(content_of(file.path), file.path, names):
                continue
            read = Report()
            for compiled in read_manifests([file._replace(is_named=False)], self.project, read):
                if not any(named.name in names for named in compiled.named):
                    continue
                for name, version in versions_in_file(compiled, self.report).items():
                    if name in names:
                        versions[name], places[name] = version, file.path
        return versions, places

    def _past_versions(self, path: Path, report: Report | None = None) -> SchemaVersions:
        """Return the datasets of a manifest as it was before; findings are only reported with a report."""
        if path not in self._past:
            local_report = Report() if report is None else report
            self._past[path] = versions_before(self.before, path, self.project, local_report)
        return self._past[path]

    @property
    def _unpaired(self) -> frozenset[str]:
        """Datasets that still seem new."""
        return frozenset(self._new) - self.names

    def _pair_with_others(self) -> None:
        """Pair datasets that came out of manifests that are not compared."""
        candidates: dict[str, list[Path]] = {}
        if self._unpaired:
            self.before.load(self.before.others)
        for path in self.before.others if self._unpaired else ():
            if not _may_contain(self.before.contents.get(path), path, self._unpaired):
                continue
            for name in self._past_versions(path).keys() & self._unpaired:
                candidates.setdefault(name, []).append(path)
        for name, paths in sorted(candidates.items()):
            today = self._files[name].resolve()
            # What has the name of a dataset that is still in its place is another.
            still_present = [
                path
                for path in paths
                if self.before.is_of_places
                and path.exists()
                and path.resolve() != today
                and name in self._present_versions([ManifestFile(path, path.name, is_named=False)], {name})[0]
            ]
            paths = self._likeliest(name, [p for p in paths if p not in still_present])
            if len(paths) > 1:
                places = " and ".join(self.before.names[path] for path in paths)
                self._report_possible_origin(name, f"{name} may have come from {places}")
            elif not paths and any(path.resolve().parent == today.parent for path in still_present):
                # One folder is one project, which has a name once.
                places = " and ".join(self.before.names[path] for path in still_present)
                self._report_possible_origin(
                    name,
                    f"{name} was in {places}, and there is still a dataset with this name",
                    "rename one of the two, or remove one of the two manifests",
                )
            elif paths:
                self.pairs.append((self._past_versions(paths[0])[name], self._new[name]))
                self._origins[self._files[name]] = paths[0]

    def _likeliest(self, name: str, paths: list[Path]) -> list[Path]:
        """Return those of several places of a dataset with the same content, else in the project, else with the same file name."""
        today = self._files[name]
        content = content_of(today)

        def rank(path: Path) -> tuple[bool, bool, bool]:
            is_inside = path.is_relative_to(self.project.folder.resolve())
            return self.before.contents.get(path) == content, is_inside, path.name == today.name

        best = max(map(rank, paths), default=None)
        # Where one is a link to another both are the same.
        unique = {self.before.contents.get(path): path for path in reversed(paths) if rank(path) == best}
        return list(reversed(unique.values()))

    def _find_removed(self) -> None:
        """Find out of what was in manifests that are gone whether it is somewhere else now, or nowhere."""
        paths = [*self.before.gone]
        for today, then in self._origins.items():
            for folder in (one.resolve() for one in self.folders):
                if today.resolve().is_relative_to(folder):
                    inside = today.resolve().relative_to(folder).parts
                    old = Path(*then.parts[: -len(inside)])
                    # What the folder was called, where the manifest kept its place below it.
                    is_renamed = then.parts[-len(inside) :] == inside and old != folder
                    if is_renamed and not any(old.rglob("*.y*ml")):
                        paths += [path for path in self.before.others if path.is_relative_to(old)]
        self.before.load(paths)
        versions: SchemaVersions = {}
        for path in dict.fromkeys(paths):
            versions.update(self._past_versions(path, self.report))
        olds = {name: version for name, version in versions.items() if name not in self.names}
        for file in self.files:
            lost = self.dropped - self.names
            if lost:
                olds |= {
                    name: version for name, version in self._past_versions(file.path).items() if name in lost
                }
        names = olds.keys() - self.added
        elsewhere: list[ManifestFile] = []
        # Whoever compares with a folder of today may well have it in the project.
        if names and self.before.is_of_places:
            known = {file.path.resolve() for file in self.compared}
            elsewhere = [one for one in self.project.manifests(Report()) if one.path.resolve() not in known]
        news, places = self._present_versions(elsewhere, names)
        for name in sorted(olds):
            place = places[name].resolve() if name in news else Path()
            # Whether a manifest that is not compared had a dataset of this name already.
            was_there = False
            if place in self.before.others and place not in self.before.gone and self.before.is_of_places:
                self.before.load([place])
                was_there = name in self._past_versions(place)
            if name in news and not was_there:
                self.pairs.append((olds[name], news[name]))
            elif name in versions:
                self.removed.append(olds[name])

    def _report_uncertain(self) -> None:
        """Report datasets that seem new, but may be in what cannot be read, or be similar ones under a new name."""
        for name in sorted(self._unpaired):
            for reason in self.before.unreadable_reasons:
                message = f"it is unknown whether {name} is new: {reason}"
                help = "fetch it with `git submodule update --init --recursive`"
                self.report.add(UNKNOWN_PAST, message, file=self._new[name].label, help=help)
        explained = {version.dataset.name for version in self.removed} | self.names
        for path in self.before.others if self._unpaired else ():
            if not self.before.is_of_places or path.exists():
                continue
            self.before.load([path])
            for old in self._past_versions(path).values():
                for name in sorted(self._unpaired) if old.dataset.name not in explained else ():
                    new = self._new[name]
                    olds, news = (
                        {str(field.segment) for field in version.dataset.columns} for version in (old, new)
                    )
                    if are_similar(olds, news):
                        self._report_possible_origin(
                            name,
                            f"{name} seems new, but {old.dataset.name} of {old.label}, which is very similar, no longer exists",
                        )

    def _report_possible_origin(self, name: str, message: str, help: str = _WHICH) -> None:
        """Report that a dataset which seems new may be an old one."""
        version = self._new[name]
        place = version.dataset.origins.name_location
        self.report.add(POSSIBLE_ORIGIN, message, location=place, file=version.label, help=help)


def _may_contain(content: bytes | None, path: Path, names: Collection[str]) -> bool:
    """Whether a text can have a dataset of one of these names; the name may be that of the file, or be escaped."""
    if content is None:
        return False
    if len(names) > _FEW or b"\\" in content:
        return True
    return any(name.encode() in content or path.name.startswith(name) for name in names)
