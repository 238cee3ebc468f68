"""The stages of a compilation: the first file to read.

Layer: project.

    parse    text → documents                                  schemac.text.syntax
    bind     documents → groups put in → logical datasets      schemac.language.manifest, schemac.language.kinds
    check    what is wrong with them, whatever the engine      schemac.language.checks
    lint     what may be better, by the rules of the project   schemac.language.lint
    lower    logical fields → Arrow fields                     schemac.arrow
    emit     Arrow fields → the files of each engine           schemac.engines

Which engines a dataset is emitted for is settled in `project/targets.py`, many files and processes in `project/building.py`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schemac.language.checks.run import check
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.manifest.bind import Binder, read_datasets
from schemac.language.manifest.groups import GroupFile
from schemac.language.manifest.library import Reuse
from schemac.language.manifest.standard import with_system_columns
from schemac.project.configuration import Project
from schemac.project.options import CompileOptions
from schemac.project.workers import PROGRESS
from schemac.text.source.diagnostics import Report, SourceText
from schemac.text.syntax.document import Document, parse
from schemac.versions.identity.compilation import Compilation, Locked

if TYPE_CHECKING:
    from schemac.project.targets import Emitted

_PLAIN = CompileOptions(targets=())


def compile_source(
    source: SourceText, project: Project, options: CompileOptions, report: Report, reuse: Reuse | None = None
) -> "list[Emitted]":
    """Compile one text: a value for each of its datasets, in their order; none without targets or where the report has errors.

    `reuse` as for `check_source`.
    """
    datasets = check_source(source, project, report, options, reuse=reuse)
    if report.has_errors or not options.targets:
        return []
    return [emit(dataset, options, report) for dataset in datasets]


def check_source(
    source: SourceText,
    project: Project,
    report: Report,
    options: CompileOptions = _PLAIN,
    *,
    is_named: bool = True,
    reuse: Reuse | None = None,
) -> list[LogicalDataset]:
    """Parse, bind and check one text; its datasets without a name are called after it.

    `reuse` has the files that the text may import, and takes what it used of them. Without it the text is alone: groups that
    it does not use itself are in the report.
    """
    parsed = Report()
    with stage("parse", source.name):
        documents = parse(source, parsed)
    binder = Binder(source, options.strict, is_named, reuse=reuse)
    return check_documents(binder, documents, parsed, project, report, options)


def check_documents(
    binder: Binder,
    documents: list[Document],
    parsed: Report,
    project: Project,
    report: Report,
    options: CompileOptions,
) -> list[LogicalDataset]:
    """Bind and check the documents of a text, which may differ from what was `parsed`, as `check_source`."""
    source, reuse = binder.source, binder.reuse
    import_context = Reuse() if reuse is None else reuse
    with stage("bind", source.name):
        datasets = read_datasets(binder._replace(reuse=import_context), documents, parsed, report)
        if reuse is None:
            report.extend(
                diagnostic
                for name, diagnostic in import_context.unused.items()
                if ("", name) not in import_context.used
            )
        if options.system_columns is not None:
            datasets = [with_system_columns(dataset, options.system_columns) for dataset in datasets]
    with stage("check", source.name):
        for dataset in datasets:
            check(dataset, report, project.vocabularies)
    if options.has_rules:
        from schemac.language.lint.run import lint, lint_groups

        files = import_context.files
        path = project.path_for_rules(files.key("") if files is not None else source.name, source.name)
        with stage("lint", source.name):
            for dataset in datasets:
                lint(dataset, project.selection, path, report)
            groups = [scope.file for scope in import_context.scopes.values()]
            if documents and "groups" in source.content:
                groups.insert(0, GroupFile(documents))
            lint_groups(groups, project.selection, path, report)
    return datasets


def emit(
    dataset: LogicalDataset,
    options: CompileOptions,
    report: Report,
    locked: Locked | None = None,
    *,
    is_large: bool = False,
) -> "Emitted":
    """Lower one checked dataset and emit it for its targets; `is_large` shares the targets between processes."""
    # Imported here for start-up time: what only checks makes no artifacts.
    from schemac.project.targets import emit_targets

    with stage("lower", dataset.origins.file):
        compilation = Compilation.of(dataset, options.arrow_options, options.versions, locked)
        compilation = compilation._replace(optional_artifacts=options.optional_artifacts)
    with stage("emit", dataset.origins.file):
        return emit_targets(compilation, options, report, is_large=is_large)


@contextmanager
def stage(name: str, manifest: str) -> Iterator[None]:
    """Show this stage in the progress; an exception, which is a bug of the compiler, gets a note with the stage."""
    PROGRESS.begin(name, manifest)
    try:
        yield
    except Exception as error:
        error.add_note(f"in the stage {name} of {manifest}")
        raise
