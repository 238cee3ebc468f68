"""Findings in other files than manifests: pipelines and overlays that are open in an editor.

Layer: lsp.
Shape: a pipeline is checked as `schemac check` does, but for what is not on this machine; an overlay as `--overlay` does, with all
datasets of the project.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from schemac.lsp.projects import Checked, is_yaml
from schemac.manifest.documents import is_overlay, is_pipeline
from schemac.project.ignoring import without_ignored
from schemac.project.overlays import overlay_of
from schemac.source.diagnostic import Diagnostic, Severity
from schemac.source.report import Report
from schemac.source.text import decode_text
from schemac.syntax.document import parse

_KEY = re.compile(rb"^[\"']?([A-Za-z]+)[\"']?[ \t]*:[ \t]*(.?)", re.MULTILINE)
_WORDS = (b"target", b"source", b"datasets")
"""One of them is in each."""


def is_companion(path: str, content: bytes) -> bool:
    """Whether a text is a pipeline or an overlay, by its outermost keys; one in brackets is not recognized."""
    if not is_yaml(path) or not any(word in content for word in _WORDS):
        return False
    keys = _keys(content)
    return is_pipeline(keys) or is_overlay(keys)


def _keys(content: bytes) -> dict[str, str]:
    return {
        key.decode(): value.decode("utf-8", "replace")
        for key, value in _KEY.findall(content.replace(b"\r", b"\n"))
    }


def check_companion(path: str, checked: Checked) -> tuple[Diagnostic, ...]:
    """Return all findings of a pipeline or an overlay that an editor holds."""
    content = checked.buffers[path]
    findings = checked.findings.get(path, ())
    if any(one.severity is Severity.ERROR for one in findings):
        return findings
    report = Report()
    if is_pipeline(_keys(content)):
        _check_pipeline(path, checked, report)
    else:
        _check_overlay(path, content, checked, report)
    new_findings = [
        _with_relative_paths(one, checked) for one in report.diagnostics if checked.path(one.file) == path
    ]
    if not new_findings:
        new_findings = [
            _with_relative_paths(one, checked) for one in _of_manifest(path, content, checked, report)
        ]
    return tuple(_not_ignored(path, content, checked, [*findings, *new_findings]))


def _of_manifest(path: str, content: bytes, checked: Checked, report: Report) -> Iterator[Diagnostic]:
    """Yield what is wrong with the manifest of a pipeline where it is named, if the manifest itself is not told of."""
    for one in report.diagnostics:
        if one.severity is Severity.ERROR and checked.file(checked.path(one.file)) is None:
            source = decode_text(content, _name(path, checked), Report())
            documents = parse(source, Report()) if source is not None else []
            if source is not None and documents:
                region = source.region(documents[0].span(("schema",)))
                yield replace(
                    one,
                    line=region.line,
                    column=region.column,
                    end_line=region.end_line,
                    end_column=region.end_column,
                    labels=(),
                )
            return


def _check_pipeline(path: str, checked: Checked, report: Report) -> None:
    try:
        from schemac.pipeline.conforming.check import checked_job  # for start-up time, and it is an extra
    except ModuleNotFoundError:
        return
    checked_job(Path(path), report, edited=checked.buffers, is_typed=True)


def _check_overlay(path: str, content: bytes, checked: Checked, report: Report) -> None:
    overlay = overlay_of(content, _name(path, checked), report)
    if overlay is None:
        return
    names = [named.name for file in checked.files for named in file.named]
    overlay.check_names(names, report, is_whole=True)
    for file in checked.files:
        for dataset in file.datasets if file.named else ():
            overlay.over(dataset, None, checked.project, report)


def _name(path: str, checked: Checked) -> str:
    return Path(os.path.relpath(path, checked.project.folder)).as_posix()


def _with_relative_paths(diagnostic: Diagnostic, checked: Checked) -> Diagnostic:
    """Return a finding with files spoken of from the project's folder."""
    folder = os.path.join(checked.project.folder, "")
    message, help = (text.replace(folder, "") for text in (diagnostic.message, diagnostic.help))
    return replace(diagnostic, message=message, help=help)


def _not_ignored(path: str, content: bytes, checked: Checked, findings: list[Diagnostic]) -> list[Diagnostic]:
    """Return the findings that no comment ignores, under one name of the file."""
    name = _name(path, checked)
    named = [replace(one, file=name) for one in findings]
    return without_ignored(named, {name: content}.get, checked.project)
