"""Datasets that are not where they were.

Layer: project.
Shape: a dataset is followed by its name, out of and into any file. One that seems new, while another that is much like
it is gone, or while a part of what there was cannot be read, is a doubt, and every doubt is a finding.
Errors: SC415 possible-origin, SC416 unknown-past, and whatever is wrong with what is read.
"""

import dataclasses
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile, content_of
from schemac.project.manifests import read_manifests
from schemac.project.past_manifests import Before, SchemaVersions, versions_before
from schemac.project.references import versions_in_file
from schemac.text.source.catalogue import POSSIBLE_ORIGIN, UNKNOWN_PAST
from schemac.text.source.report import Report
from schemac.versions.evolution.version_pair import SchemaVersion

_WHICH = (
    "give it its former name, as `name:` at the top of the manifest; if it is a different dataset,"
    " compare the whole folder, which shows what was dropped"
)
_FEW = 20
"""Datasets whose names are looked for in texts before these are compiled; with more of them all texts are."""


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Datasets without a counterpart: those that only the present manifests have, and those that only the past ones had."""

    added: frozenset[str]
    dropped: frozenset[str]
    files: Sequence[ManifestFile]
    """The manifests of today that are compared, and are not as they were."""
    folders: Sequence[Path]
    """The folders that are compared with all that they held."""
    elsewhere: Callable[[], Sequence[ManifestFile]]
    """The project's other manifests of today."""


@dataclass(slots=True)
class Followed:
    """What became of datasets."""

    pairs: list[tuple[SchemaVersion, SchemaVersion]] = dataclasses.field(default_factory=list)
    """From where they were to where they are."""
    dropped: list[SchemaVersion] = dataclasses.field(default_factory=list)
    """Of manifests that are gone."""

    @property
    def names(self) -> set[str]:
        """The datasets that are neither new nor gone, though it seemed so."""
        return {new.dataset.name for _, new in self.pairs}


def follow(unpaired: Unpaired, before: Before, project: Project, report: Report) -> Followed:
    """Find where each dataset came from, or went."""
    followed = _Following(unpaired, before, project, report)
    followed.from_compared()
    followed.from_others()
    followed.gone()
    if not report.has_errors:
        followed.report_uncertain()
    return followed.followed


class _Following:
    def __init__(self, unpaired: Unpaired, before: Before, project: Project, report: Report) -> None:
        self._unpaired = unpaired
        self._before = before
        self._project = project
        self._report = report
        self._versions: dict[Path, SchemaVersions] = {}
        self._origins: dict[Path, Path] = dict(before.moved)
        self.followed = Followed()
        self._news, self._files = self._today(unpaired.files, unpaired.added)

    def _today(
        self, files: Sequence[ManifestFile], names: Collection[str]
    ) -> tuple[SchemaVersions, dict[str, Path]]:
        """Return these datasets as they are now, and the manifests that they are in."""
        versions, places = SchemaVersions(), dict[str, Path]()
        for file in files if names else ():
            if not _may_have(content_of(file.path), file.path, names):
                continue
            read = Report()
            for compiled in read_manifests([file._replace(is_named=False)], self._project, read):
                if not any(named.name in names for named in compiled.named):
                    continue
                for name, version in versions_in_file(compiled, self._report).items():
                    if name in names:
                        versions[name], places[name] = version, file.path
        return versions, places

    def _then(self, path: Path, report: Report | None = None) -> SchemaVersions:
        """Return the datasets of a manifest as it was before."""
        if path not in self._versions:
            local_report = Report() if report is None else report
            self._versions[path] = versions_before(self._before, path, self._project, local_report)
        return self._versions[path]

    @property
    def _left(self) -> frozenset[str]:
        """Datasets that still seem new."""
        return frozenset(self._news) - self.followed.names

    def from_compared(self) -> None:
        """Out of one manifest that is compared into another."""
        names = self._unpaired.added & self._unpaired.dropped
        for file in self._unpaired.files if names else ():
            for name, version in self._then(file.path, self._report).items():
                if name in names & self._left and self._files[name] != file.path:
                    self.followed.pairs.append((version, self._news[name]))

    def from_others(self) -> None:
        """Out of any other manifest that there was."""
        candidates: dict[str, list[Path]] = {}
        if self._left:
            self._before.load(self._before.others)
        for path in self._before.others if self._left else ():
            if not _may_have(self._before.contents.get(path), path, self._left):
                continue
            for name in self._then(path).keys() & self._left:
                candidates.setdefault(name, []).append(path)
        for name, paths in sorted(candidates.items()):
            today = self._files[name].resolve()
            # What has the name of a dataset that is still in its place is another.
            still_present = [
                path
                for path in paths
                if self._before.is_of_places
                and path.exists()
                and path.resolve() != today
                and name in self._today([ManifestFile(path, path.name, is_named=False)], {name})[0]
            ]
            paths = self._likeliest(name, [p for p in paths if p not in still_present])
            if len(paths) > 1:
                places = " and ".join(self._before.names[path] for path in paths)
                self._add_doubt(name, f"{name} may have come from {places}")
            elif not paths and any(path.resolve().parent == today.parent for path in still_present):
                # One folder is one project, which has a name once.
                places = " and ".join(self._before.names[path] for path in still_present)
                self._add_doubt(
                    name,
                    f"{name} was in {places}, and there is still a dataset with this name",
                    "rename one of the two, or remove one of the two manifests",
                )
            elif paths:
                self.followed.pairs.append((self._then(paths[0])[name], self._news[name]))
                self._origins[self._files[name]] = paths[0]

    def _likeliest(self, name: str, paths: list[Path]) -> list[Path]:
        """Of several places the one with the same content, in the same project, or of the same name."""
        today = self._files[name]
        content = content_of(today)

        def rank(path: Path) -> tuple[bool, bool, bool]:
            is_inside = path.is_relative_to(self._project.folder.resolve())
            return self._before.contents.get(path) == content, is_inside, path.name == today.name

        best = max(map(rank, paths), default=None)
        # Where one is a link to another both are the same.
        unique = {self._before.contents.get(path): path for path in reversed(paths) if rank(path) == best}
        return list(reversed(unique.values()))

    def gone(self) -> None:
        """Report what was in manifests that are gone, and is nowhere now."""
        paths = [*self._before.gone]
        for today, then in self._origins.items():
            for folder in (one.resolve() for one in self._unpaired.folders):
                if today.resolve().is_relative_to(folder):
                    inside = today.resolve().relative_to(folder).parts
                    old = Path(*then.parts[: -len(inside)])
                    # What the folder was called, where the manifest kept its place below it.
                    is_renamed = then.parts[-len(inside) :] == inside and old != folder
                    if is_renamed and not any(old.rglob("*.y*ml")):
                        paths += [path for path in self._before.others if path.is_relative_to(old)]
        self._before.load(paths)
        versions: SchemaVersions = {}
        for path in dict.fromkeys(paths):
            versions.update(self._then(path, self._report))
        olds = {name: version for name, version in versions.items() if name not in self.followed.names}
        for file in self._unpaired.files:
            lost = self._unpaired.dropped - self.followed.names
            if lost:
                olds |= {name: version for name, version in self._then(file.path).items() if name in lost}
        names = olds.keys() - self._unpaired.added
        # Whoever compares with a folder of today may well have it in the project.
        elsewhere = self._unpaired.elsewhere() if names and self._before.is_of_places else ()
        news, places = self._today(elsewhere, names)
        for name in sorted(olds):
            place = places[name].resolve() if name in news else Path()
            # Whether a manifest that is not compared had a dataset of this name already.
            was_there = False
            if place in self._before.others and place not in self._before.gone and self._before.is_of_places:
                self._before.load([place])
                was_there = name in self._then(place)
            if name in news and not was_there:
                self.followed.pairs.append((olds[name], news[name]))
            elif name in versions:
                self.followed.dropped.append(olds[name])

    def report_uncertain(self) -> None:
        """Report fields that seem new but may be renamed ones."""
        if not self._left:
            return
        for name in sorted(self._left):
            for reason in self._before.unreadable_reasons:
                self._report.add(
                    UNKNOWN_PAST,
                    f"it is unknown whether {name} is new: {reason}",
                    file=self._news[name].label,
                    help="fetch it with `git submodule update --init --recursive`",
                )
        explained = {version.dataset.name for version in self.followed.dropped} | self.followed.names
        for path in self._before.others:
            if not self._before.is_of_places or path.exists():
                continue
            self._before.load([path])
            for old in self._then(path).values():
                for name in sorted(self._left) if old.dataset.name not in explained else ():
                    new = self._news[name]
                    olds, news = (
                        {str(field.segment) for field in version.dataset.columns} for version in (old, new)
                    )
                    # Half of the columns of the poorer one have the same names in both.
                    if olds & news and 2 * len(olds & news) >= min(len(olds), len(news)):
                        self._add_doubt(
                            name,
                            f"{name} seems new, but {old.dataset.name} of {old.label}, which is very similar, no longer exists",
                        )

    def _add_doubt(self, name: str, message: str, help: str = _WHICH) -> None:
        version = self._news[name]
        origins = version.dataset.origins
        self._report.add(
            POSSIBLE_ORIGIN,
            message,
            source=origins.source,
            span=origins.name_span,
            file=version.label,
            help=help,
        )


def _may_have(content: bytes | None, path: Path, names: Collection[str]) -> bool:
    """Whether a text can have a dataset of one of these names; the name may be that of the file, or be escaped."""
    if content is None:
        return False
    if len(names) > _FEW or b"\\" in content:
        return True
    return any(name.encode() in content or path.name.startswith(name) for name in names)
