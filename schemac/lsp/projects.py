"""Projects in an editor: all their texts, on disk and unsaved, and their findings.

Layer: lsp.
Shape: every check reads settings, files and imports again, so nothing depends on an editor that reports all changes.
Results of unchanged manifests are reused, as are those in the project's cache. Findings are those of `schemac check`
without the comparison with locks. An open pipeline is checked as by `schemac check`, except for files that are not on this machine;
an open overlay as by `--overlay`, with all datasets of the project.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from schemac.language.manifest.documents import is_overlay, is_pipeline
from schemac.project.building import Builds, report_builds
from schemac.project.cache.store import NO_CACHE, Cache, PassingCache
from schemac.project.configuration import Project, find_project
from schemac.project.discovery import SUFFIXES, ManifestFile
from schemac.project.fixing import without_ignored
from schemac.project.imported import FolderFiles
from schemac.project.manifests import CompiledFile, ManifestChecks, with_distinct_datasets
from schemac.project.options import CompileOptions
from schemac.project.overlays import overlay_of
from schemac.project.project_checks import check_across
from schemac.project.project_texts import key_of, name_in
from schemac.project.shared_work import collector_paused
from schemac.text.source.catalogue import NOTHING_TO_COMPILE, UNLOCKED_CHANGE
from schemac.text.source.diagnostics import Diagnostic, Report
from schemac.text.source.files import Contents
from schemac.text.source.text import read_content
from schemac.text.syntax.document import documents_in

Buffers = Mapping[str, bytes]
"""The texts that an editor holds, by absolute path."""


class Known(NamedTuple):
    """What is known of a manifest."""

    content: bytes
    compiled: CompiledFile | None
    """None if it is not a text."""
    findings: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class CheckedProject:
    """A project as it was checked."""

    project: Project
    files: tuple[CompiledFile, ...] = ()
    findings: Mapping[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    """By the absolute path of the file that each is about."""
    buffers: Buffers = field(default_factory=dict)
    """The texts that counted in place of files."""
    readable: Mapping[str, CompiledFile] = field(default_factory=dict)
    """Manifests as they were when their datasets could be read last, by absolute path."""

    def file(self, path: str) -> CompiledFile | None:
        """Return the manifest at an absolute path."""
        return next((one for one in self.files if key_of(one.file.path) == path), None)

    def name(self, path: str) -> str:
        """Return how the file at an absolute path is spoken of."""
        return name_in(self.project.folder, path)

    def path(self, name: str) -> str:
        """Return the absolute path of the file of a finding."""
        return os.path.normpath(os.path.join(self.project.folder, name))


class ProjectFolder:
    """One project; or a folder without one, of which only the texts count that are open."""

    def __init__(self, folder: Path, *, is_project: bool, has_custom_rules: bool = True) -> None:
        self.folder = folder
        self.is_project = is_project
        self.has_custom_rules = has_custom_rules
        self._known: dict[ManifestFile, Known] = {}
        self._readable: dict[str, CompiledFile] = {}
        self._passing: Cache = PassingCache(NO_CACHE)
        self._project: Project | None = None

    def check(self, buffers: Buffers) -> CheckedProject:
        """Check all manifests, their locks, and what the project's targets make of them."""
        report = Report()
        project = self._open_project(report, buffers)
        manifests: list[ManifestFile] = []
        if self.is_project:
            local_report = Report()
            manifests = project.manifests(local_report)
            report.extend(d for d in local_report.diagnostics if d.code != NOTHING_TO_COMPILE.id)
        known = {key_of(file.path) for file in manifests}
        for path in (one for one in buffers if one not in known and one.endswith(SUFFIXES)):
            is_in_project = self.is_project and path.startswith(os.path.join(self.folder, ""))
            if is_in_project or (not self.is_project and os.path.dirname(path) == str(self.folder)):
                manifests.append(ManifestFile(Path(path), "", is_named=False))
        files = [file._replace(name=name_in(self.folder, key_of(file.path))) for file in manifests]
        # What `schemac check` would have, with the texts of the editor in place of files.
        options = replace(CompileOptions.of(project), edited=buffers, has_rules=True)
        with collector_paused():
            compiled = self._compile_changed(files, project, options, report)
            compiled = with_distinct_datasets(compiled, report)
        if self.is_project:
            check_across(compiled, project, options, report, is_whole=True)
        if not report.has_errors:
            builds = Builds(replace(project, cache=self._passing), options)
            of_builds = Report()
            report_builds([builds.cached(file) or builds.fresh(file) for file in compiled], of_builds)
            # Whoever types makes a manifest differ from its lock: that is no news before it is done.
            report.extend(d for d in of_builds.diagnostics if d.code != UNLOCKED_CHANGE.id)
        self._readable |= {key_of(one.file.path): one for one in compiled if one.named}
        findings: dict[str, tuple[Diagnostic, ...]] = {}
        checked = CheckedProject(project, tuple(compiled), findings, buffers, dict(self._readable))
        for diagnostic in report.diagnostics:
            path = checked.path(diagnostic.file)
            findings[path] = (*findings.get(path, ()), diagnostic)
        return checked

    def _open_project(self, report: Report, buffers: Buffers) -> Project:
        """Return the project with its present settings; while these are invalid, with the last valid ones."""
        if not self.is_project:
            return Project(self.folder)
        local_report = Report()
        project = find_project(self.folder, local_report, None, Cache, buffers, self.folder)
        project = replace(project, has_custom_rules=self.has_custom_rules)
        project.report_rules(local_report)
        report.extend(local_report.diagnostics)
        if local_report.has_errors and self._project is not None:
            # While somebody types settings, those count that were sound last.
            return self._project
        if local_report.has_errors:
            project = replace(project, has_custom_rules=False)
        # The cache of one that is as before has been read already.
        if self._project is None or project != self._project:
            self._known.clear()
            self._project = project
            self._passing = PassingCache(project.cache)
        return self._project

    def _compile_changed(
        self, files: Sequence[ManifestFile], project: Project, options: CompileOptions, report: Report
    ) -> list[CompiledFile]:
        """Return the manifests that can be read; only those whose text or imports changed are checked again."""
        checks, buffers = ManifestChecks(project, options), options.edited
        # What is typed is not worth a place on disk.
        passing = ManifestChecks(replace(project, cache=self._passing), options)
        contents = Contents()
        compiled: list[CompiledFile] = []
        is_saved = False
        for file in files:
            buffer = buffers.get(key_of(file.path))
            content = read_content(file.path, file.name, report) if buffer is None else buffer
            if content is None:
                continue
            known = self._known.get(file)
            if known is not None and known.compiled is not None:
                files_around = FolderFiles(file.path, file.name, buffers)
                is_current = known.compiled.imported.is_current(contents, files_around)
                known = known if is_current else None
            if known is None or known.content != content:
                local_report = Report()
                one = (passing if buffer is not None else checks).check(content, file, local_report)
                known = self._known[file] = Known(content, one, local_report.diagnostics)
                is_saved = is_saved or buffer is None
            report.extend(known.findings)
            if known.compiled is not None:
                compiled.append(known.compiled)
        if is_saved:
            project.cache.save()
        return compiled


# Pipelines and overlays

_KEY = re.compile(rb"^[\"']?([A-Za-z]+)[\"']?[ \t]*:[ \t]*(.?)", re.MULTILINE)
_WORDS = (b"target", b"source", b"datasets")
"""One of them is in each."""


def is_companion(path: str, content: bytes) -> bool:
    """Whether a text is a pipeline or an overlay, by its outermost keys; one in brackets is not recognized."""
    if not path.endswith(SUFFIXES) or not any(word in content for word in _WORDS):
        return False
    keys = _outermost_keys(content)
    return is_pipeline(keys) or is_overlay(keys)


def _outermost_keys(content: bytes) -> dict[str, str]:
    """Return the outermost keys of a text of YAML, each with the first character of its value; read by a pattern alone."""
    entries = _KEY.findall(content.replace(b"\r", b"\n"))
    return {key.decode(): value.decode("utf-8", "replace") for key, value in entries}


def check_companion(path: str, checked: CheckedProject) -> tuple[Diagnostic, ...]:
    """Return all findings of a pipeline or an overlay that an editor holds."""
    content = checked.buffers[path]
    findings = checked.findings.get(path, ())
    if any(one.is_error for one in findings):
        return findings
    report, name = Report(), checked.name(path)
    if is_pipeline(_outermost_keys(content)):
        try:
            from schemac.pipeline.conforming.load import checked_job  # for start-up time, and it is an extra
        except ModuleNotFoundError:
            pass
        else:
            checked_job(Path(path), report, edited=checked.buffers, is_typed=True)
    elif (overlay := overlay_of(content, name, report)) is not None:
        overlay.check_names([one.name for file in checked.files for one in file.named], report, is_whole=True)
        for dataset in (one for file in checked.files if file.named for one in file.datasets):
            overlay.over(dataset, None, checked.project, report)
    about = [one for one in report.diagnostics if checked.path(one.file) == path]
    # Else what is wrong with a manifest that is not checked itself, told where the pipeline names it.
    unchecked = [one for one in report.errors if checked.file(checked.path(one.file)) is None]
    for document in documents_in(content, name)[:1] if unchecked and not about else ():
        region = document.location(("schema",)).region
        about = [replace(unchecked[0], **region._asdict(), labels=())]
    folder = os.path.join(checked.project.folder, "")
    of_file = [replace(one, file=name) for one in findings]
    # Other files are spoken of from the project's folder.
    of_file += [
        replace(one, file=name, message=one.message.replace(folder, ""), help=one.help.replace(folder, ""))
        for one in about
    ]
    return tuple(without_ignored(of_file, {name: content}.get, checked.project))
