"""Many manifests into artifacts, with the names that files share.

Layer: project.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemac.language.logical.dataset import Named
from schemac.project.cache import WrongEntryError
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.project.imported import NOTHING, FolderFiles, report_unused_groups
from schemac.project.manifests import Checks, CompiledFile, apart
from schemac.project.options import CompileOptions
from schemac.project.referring import check_references, report_unused_vocabularies
from schemac.project.shared_work import LARGE_FROM, SharedWork, collector_paused
from schemac.text.source.diagnostic import Diagnostic
from schemac.text.source.report import Report

if TYPE_CHECKING:
    from schemac.artifacts.folder import Built
    from schemac.project.building import Builds, BuiltFile

SHARED_FROM = LARGE_FROM
"""Bytes of manifests from which on a run is shared between the cores."""


def across_files(report: Report, files: Sequence[CompiledFile], project: Project) -> list[Diagnostic]:
    """Return the findings of several manifests together, without those that their comments ignore."""
    if not report.diagnostics:
        return []
    from schemac.project.fixing import without_ignored  # for start-up time: little is found so

    contents = {file.file.name: file.content for file in files}
    return without_ignored(report.diagnostics, contents.get, project)


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
    def datasets(self) -> list[Named]:
        """All datasets that were checked."""
        return [named for file in self.files for named in file.named]

    def add(self, made: "BuiltFile") -> None:
        """Add the build of a manifest."""
        self.contents |= made.contents
        self.built |= made.datasets
        self.losses += made.losses

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
    """All manifests of a run, checked, and the artifacts for the targets in the options.

    With `is_whole` they are all manifests of the project, so unused groups are reported. If the report has errors, the artifacts must not be used.
    """
    if options.has_rules:
        project.report_rules(report)
        if report.has_errors:
            return Output()
    with collector_paused():
        checks, builds = Checks(project, options), _builds(project, options) if options.targets else None
        work = SharedWork(checks, builds, project.cache, SHARED_FROM)
        compiled = apart(work.checked(files, report), report)
        across = Report()
        if not report.has_errors:
            check_references(compiled, across)
        if is_whole:
            around = (
                (FolderFiles(one.file.path, one.file.name), one.imported)
                for one in compiled
                if one.imported != NOTHING
            )
            report_unused_groups(around, across)
            if options.has_rules:
                report_unused_vocabularies(compiled, project, across)
        report.extend(across_files(across, compiled, project))
        if options.overlay is not None:
            names = [named.name for one in compiled for named in one.named]
            options.overlay.check_names(names, report, is_whole=is_whole)
            # A build lays it over what it makes.
            for dataset in (d for one in compiled for d in one.datasets) if not options.targets else ():
                options.overlay.over(dataset, None, project, report)
        output = Output(compiled, make=work.afresh, name=options.name)
        # What targets say counts only where every manifest is sound, however the files were shared out.
        if report.has_errors or not options.targets:
            return output
        from schemac.project.building import report_builds  # for start-up time, as below

        made = work.done(compiled)
        report_builds(made, report)
        for one in made:
            output.add(one)
    return output


def _builds(project: Project, options: CompileOptions) -> "Builds":
    from schemac.project.building import Builds  # for start-up time, as above

    return Builds(project, options)
