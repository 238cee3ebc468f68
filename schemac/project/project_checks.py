"""Checks of a project as a whole: references between its datasets, and groups and vocabularies that nothing in it uses.

Layer: project.
Errors: those of references; SC235 unused-group, SC803 unused-vocabulary.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from schemac.project.configuration import Project
from schemac.project.imported import NOTHING, FolderFiles
from schemac.project.manifests import CompiledFile
from schemac.project.options import CompileOptions
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import Help

_REFERENCES = b"references"
"""What is in every manifest that refers to another dataset."""


def check_across(
    files: Sequence[CompiledFile],
    project: Project,
    options: CompileOptions,
    report: Report,
    *,
    is_whole: bool,
) -> None:
    """Report what is wrong between checked manifests, but for what their comments ignore.

    With `is_whole` they are all manifests of the project, so what none of them uses is reported too.
    """
    across = Report()
    if not report.has_errors:
        check_references(files, across)
    if is_whole:
        around = [(FolderFiles(f.file.path, f.file.name), f.imported) for f in files if f.imported != NOTHING]
        used = {(at.key(path), name) for at, imported in around for path, name in imported.used}
        for at, imported in around:
            across.extend(
                diagnostic for name, diagnostic in imported.defined_groups if (at.key(""), name) not in used
            )
        if options.has_rules:
            _report_unused_vocabularies(files, project, options.edited, across)
    if not across.diagnostics:
        return
    from schemac.project.fixing import without_ignored  # for start-up time: little is found so

    contents = {file.file.name: file.content for file in files}
    report.extend(without_ignored(across.diagnostics, contents.get, project))


def check_references(files: Sequence[CompiledFile], report: Report) -> None:
    """Report references to unknown datasets or fields, and to fields that are not a key."""
    referring = [file for file in files if _REFERENCES in file.content]
    if not referring or report.has_errors:
        return
    from schemac.project.referring import check_referring  # for start-up time: few manifests refer to others

    check_referring(referring, files, report)


def _report_unused_vocabularies(
    files: Iterable[CompiledFile], project: Project, edited: Mapping[str, bytes], report: Report
) -> None:
    """Report the vocabularies that no manifest of the project uses; `edited` are texts in place of files."""
    file = project.file
    if file is None or not project.vocabulary_contents:
        return
    # For start-up time: few projects have vocabularies.
    from schemac.language.lint.structure import UNUSED_VOCABULARY_RULE, unused_domains

    if UNUSED_VOCABULARY_RULE not in project.selection.rules_for(""):
        return
    texts: list[bytes] = []
    for one in files:
        texts.append(one.content)
        around = FolderFiles(one.file.path, one.file.name, edited)
        for path, _ in one.imported.files:
            with suppress(OSError):
                texts.append(around.read(path))
    code = project.selection.code(UNUSED_VOCABULARY_RULE)
    for domain in unused_domains(project.vocabulary_contents, texts):
        keys = ("vocabularies", domain)
        help = Help.remove(help="check how the domain is written, or remove it", is_safe=False)
        message = f"no manifest has an attribute of {domain}"
        file.report(message, keys, report, help, on_key=True, code=code)
