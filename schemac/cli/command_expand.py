"""`schemac expand`: manifests as the standard has them, with every group put in.

Layer: cli.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from schemac.cli.output import add_output_arguments, add_paths, print_status, show_all
from schemac.cli.project import open_project
from schemac.cli.terminal import put_manifest
from schemac.language.manifest.bind import expanded_text
from schemac.language.manifest.library import Library, Reuse
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.project.imported import FolderFiles
from schemac.project.manifests import read_manifests
from schemac.project.workers import PROGRESS
from schemac.project.writing import replace_file
from schemac.text.source.catalogue import WRITE_FAILED
from schemac.text.source.diagnostic import Severity
from schemac.text.source.report import Report
from schemac.text.source.text import decode_text, reason_of
from schemac.text.syntax.document import parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_paths(parser)
    parser.add_argument("--out", metavar="FILE", help="write to this file instead of the terminal")
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Expand; of manifests with errors nothing is shown but these."""
    report = Report()
    out = options.out
    options.out = None
    project, files = open_project(options, report)
    text = expand_files(files, project, report)
    project.cache.save()
    if not report.has_errors and out is not None:
        try:
            replace_file(Path(out), text.encode())
            print_status(f"wrote {out}", options)
        except OSError as error:
            report.add(WRITE_FAILED, f"cannot write {out}: {reason_of(error)}", file=out)
    elif not report.has_errors:
        put_manifest(text, options)
    return show_all(report, options)


def expand_files(files: Sequence[ManifestFile], project: Project, report: Report) -> str:
    """Return the manifests of these files as one stream of documents; empty if one of them has an error."""
    local_report = Report()
    compiled = read_manifests(files, project, local_report)
    report.extend(d for d in local_report.diagnostics if d.severity is Severity.ERROR)
    if report.has_errors:
        return ""
    library = Library()
    texts: list[str] = []
    for file in compiled:
        if file.named:
            PROGRESS.begin("expand", file.file.name)
            source = decode_text(file.content, file.file.name, Report())
            assert source is not None, "a manifest that was compiled is a text"
            reuse = Reuse(FolderFiles(file.file.path, file.file.name, project=project), library)
            texts.append(expanded_text(parse(source, Report()), source, reuse))
    return "---\n".join(filter(None, texts))
