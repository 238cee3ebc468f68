"""Manifests without groups, in the standard's form.

Layer: project.
"""

from collections.abc import Sequence

from schemac.manifest.expanded_text import expanded_text
from schemac.manifest.library import Library, Reuse
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.project.imported import FolderFiles
from schemac.project.manifests import CompiledFile, read_manifests
from schemac.project.under_way import WORK
from schemac.source.diagnostic import Severity
from schemac.source.report import Report
from schemac.source.text import decode_text
from schemac.syntax.document import parse


def expand_files(files: Sequence[ManifestFile], project: Project, report: Report) -> str:
    """Return the manifests of these files as one stream of documents; empty if one of them has an error."""
    local_report = Report()
    compiled = read_manifests(files, project, local_report)
    report.extend(d for d in local_report.diagnostics if d.severity is Severity.ERROR)
    if report.has_errors:
        return ""
    library = Library()
    return "---\n".join(
        text for file in compiled if file.named and (text := _expanded(file, project, library))
    )


def _expanded(file: CompiledFile, project: Project, library: Library) -> str:
    report = Report()
    WORK.begin("expand", file.file.name)
    source = decode_text(file.content, file.file.name, report)
    assert source is not None, "a manifest that was compiled is a text"
    reuse = Reuse(FolderFiles(file.file.path, file.file.name, project=project), library)
    return expanded_text(parse(source, report), source, reuse)
