"""Pipelines among the files that `schemac check` checks.

Layer: cli.
Shape: a pipeline that somebody names is checked as by `schemac run --dry-run`; in a folder, pipelines are passed over, for their
input need not be on every machine that checks manifests.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from schemac.manifest.documents import is_pipeline
from schemac.project.configuration import find_project
from schemac.project.discovery import ManifestFile, lock_path
from schemac.project.options import CompileOptions
from schemac.source.diagnostic import Diagnostic
from schemac.source.report import Report
from schemac.source.text import decode_text, read_file
from schemac.syntax.document import parse

_WORDS = (b"target", b"source")
"""A pipeline has one of them at least."""


def apart(
    files: Sequence[ManifestFile], edited: Mapping[str, bytes]
) -> tuple[list[ManifestFile], list[ManifestFile]]:
    """Return the manifests, and the pipelines among the files that somebody named."""
    pipelines = [file for file in files if file.is_named and is_pipeline(_value(file, edited))]
    return [file for file in files if file not in pipelines], pipelines


def _value(file: ManifestFile, edited: Mapping[str, bytes]) -> object:
    """Return what a file says if it may be a pipeline."""
    content = edited.get(os.path.abspath(file.path)) or file.content(Report())
    if content is None or not any(word in content for word in _WORDS):
        return None
    source = decode_text(content, file.name, Report())
    documents = parse(source, Report()) if source is not None else []
    return documents[0].value if documents else None


def manifests_of(pipelines: Sequence[ManifestFile], edited: Mapping[str, bytes]) -> Iterator[Path]:
    """Yield the manifests that pipelines name, also those that cannot be read, and their locks."""
    for file in pipelines:
        value = _value(file, edited)
        named = value.get("schema") if isinstance(value, dict) else None
        manifest = file.path.parent / named if isinstance(named, str) else Path()
        # A path such as `.` has no name that a lock's could be made of.
        if manifest.name:
            yield from (manifest, lock_path(manifest))


def check_pipelines(pipelines: Sequence[ManifestFile], options: CompileOptions, report: Report) -> None:
    """Say what is wrong with pipelines, and with their manifests."""
    for file in pipelines:
        report.extend(_findings(file, options))


def _findings(file: ManifestFile, options: CompileOptions) -> Sequence[Diagnostic]:
    report = Report()
    try:
        # Imported here for start-up time, and because Spark is an extra that may not be there.
        from schemac.pipeline.conforming.check import checked_job
    except ModuleNotFoundError as error:
        report_missing_package(error, report)
        return report.diagnostics
    checked_job(Path(file.name), report, options.overlay, options.edited)
    return without_ignored_in(file.name, report, options.edited).diagnostics


def report_missing_package(error: ModuleNotFoundError, report: Report) -> None:
    """Say that a package of the pipeline is not installed."""
    # Imported here for start-up time: few checks are of pipelines.
    from schemac.pipeline.codes import MISSING_PACKAGE
    from schemac.source.extras import install_help

    message = f"the pipeline needs {error.name}, which is not installed"
    report.add(MISSING_PACKAGE, message, help=install_help(error))


def without_ignored_in(pipeline: str, report: Report, edited: Mapping[str, bytes]) -> Report:
    """Return what no comment in a pipeline, its manifest or its overlay ignores."""
    if not report.diagnostics:
        return report
    from schemac.project.ignoring import without_ignored  # for start-up time: most runs find nothing

    def text(name: str) -> bytes | None:
        try:
            return edited.get(os.path.abspath(name)) or read_file(name)
        except OSError:
            return None

    project = find_project(Path(pipeline).resolve().parent, Report())
    remaining = Report()
    remaining.extend(without_ignored(report.diagnostics, text, project))
    return remaining
