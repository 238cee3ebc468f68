"""Vocabularies that nothing in a project uses.

Layer: project.
Errors: SC803 unused-vocabulary.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from schemac.project.configuration import Project
from schemac.project.imported import FolderFiles
from schemac.project.manifests import CompiledFile
from schemac.source.report import Report


def report_unused_vocabularies(
    files: Iterable[CompiledFile],
    project: Project,
    report: Report,
    edited: Mapping[str, bytes] = MappingProxyType({}),
) -> None:
    """Say which vocabularies none of the project's manifests uses; `edited` are texts in place of files."""
    file = project.file
    if file is None or not project.vocabulary_contents:
        return
    # For start-up time: few projects have vocabularies.
    from schemac.lint.codes import UNUSED_VOCABULARY
    from schemac.lint.vocabularies import RULES, unused_domains
    from schemac.source.help import Help

    (rule,) = RULES
    if rule not in project.selection.rules_for(""):
        return
    texts = [text for one in files for text in _texts(one, edited)]
    for domain in unused_domains(project.vocabulary_contents, texts):
        keys = ("vocabularies", domain)
        help = Help.remove(help="check how the domain is written, or remove it", is_safe=False)
        local_report = Report()
        local_report.add(
            UNUSED_VOCABULARY,
            f"no manifest has an attribute of {domain}",
            file=file.name,
            at=file.of(keys),
            help=help,
            fix=file.fix(keys, help, on_key=True),
        )
        severity = project.selection.severity(rule)
        report.extend(replace(one, severity=severity or one.severity) for one in local_report.diagnostics)


def _texts(file: CompiledFile, edited: Mapping[str, bytes]) -> Iterable[bytes]:
    yield file.content
    around = FolderFiles(file.file.path, file.file.name, edited)
    for path, _ in file.imported.files:
        try:
            yield around.read(path)
        except OSError:
            continue
