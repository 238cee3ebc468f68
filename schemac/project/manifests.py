"""Manifests of a run, checked, with every dataset's name used once.

Layer: project.
Shape: what is found in one manifest depends on its bytes, its name and the settings alone, and is kept; its datasets are made again
      when somebody asks for them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from schemac.language.lint.settings import LintSettings
from schemac.language.logical.names import DatasetName, Variant, with_distinct_names
from schemac.project.cache import WrongEntryError
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.project.imported import NOTHING, FolderFiles, ManifestImports
from schemac.project.options import CompileOptions
from schemac.text.source.diagnostics import Diagnostic, Report, SourceText
from schemac.text.source.files import Contents
from schemac.text.source.text import decode_text

if TYPE_CHECKING:
    from schemac.language.logical.dataset import LogicalDataset
    from schemac.language.manifest.library import Library

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class CompiledFile:
    """The checked datasets of one manifest, and its bytes."""

    file: ManifestFile
    content: bytes = field(repr=False)
    """Without byte order mark."""
    named: tuple[DatasetName, ...]
    """Its datasets, in the order of the manifest."""
    make: "Callable[[], list[LogicalDataset]]" = field(compare=False, repr=False)
    """Compiles it, without what there is to say of it; the datasets have the names that the manifest gives them."""
    key: bytes = b""
    """Stands for all that its datasets depend on; empty if nothing is kept."""
    imported: ManifestImports = NOTHING

    @cached_property
    def datasets(self) -> "list[LogicalDataset]":
        """The datasets. Raises WrongEntryError if they are others than was kept of them."""
        made = self.make()
        if [dataset.is_source for dataset in made] != [named.is_source for named in self.named]:
            raise WrongEntryError(self.file.name)
        return [replace(d, name=n.name) for d, n in zip(made, self.named, strict=True)]


class _Checked(NamedTuple):
    """The cache entry of a checked manifest."""

    findings: tuple[Diagnostic, ...]
    named: tuple[DatasetName, ...]
    imported: ManifestImports


@dataclass(frozen=True)
class CheckInputs:
    """All that the findings of a manifest depend on besides its text."""

    strict: bool
    system_columns: Variant | None
    vocabularies: Mapping[str, bytes]
    """JSON Schemas by attribute domain."""
    lint: LintSettings | None
    """None where no rules are looked at."""
    rules: tuple[bytes, ...]
    """The files with rules of the project's own."""

    @classmethod
    def of(cls, project: Project, options: CompileOptions) -> "CheckInputs":
        """Combine the command's options with the project's settings."""
        columns, vocabularies = options.system_columns, project.vocabulary_contents
        lint = project.configuration.lint if options.has_rules else None
        rules = project.rule_contents if options.has_rules else ()
        return cls(options.strict, columns, vocabularies, lint, rules)


class ManifestChecks:
    """Checks the manifests of one run, each as if it were alone, and caches what is found."""

    def __init__(self, project: Project, options: CompileOptions) -> None:
        self._project = project
        self.options = options
        self.cache = project.cache
        self._contents = Contents()
        self._library: Library | None = None
        self._keys = project.cache.keys("check", CheckInputs.of(project, options))

    def check(self, content: bytes, file: ManifestFile, report: Report) -> CompiledFile | None:
        """Return a manifest with these bytes, as cached if possible; None after reporting that it is not a text."""
        return self.cached(content, file, report) or self.fresh(content, file, report)

    def cached(self, content: bytes, file: ManifestFile, report: Report) -> CompiledFile | None:
        """Return what an earlier run has kept of a manifest with these bytes; None if there is nothing."""
        key = self._key(file, content)
        checked = self.cache.get(key, _Checked)
        if checked is None:
            return None
        imported = checked.imported
        if imported.files and not imported.is_current(self._contents, self._files(file)):
            return None
        report.extend(checked.findings)
        return self.compiled(file, content, checked.named, imported, key)

    def _key(self, file: ManifestFile, content: bytes) -> bytes:
        """Return the key of a manifest; what it imports is found only in its entry, and is a part of other keys.

        It is empty if nothing is kept.
        """
        if not self.cache.is_persistent:
            return b""
        path = self._project.path_for_rules(file.path, file.name) if self.options.has_rules else None
        return self._keys.key(file.name, file.is_named, content, path)

    def _files(self, file: ManifestFile) -> FolderFiles:
        """Return the files that a manifest can import, with those that are edited in place of those on disk."""
        return FolderFiles(file.path, file.name, self.options.edited, self._project)

    def fresh(self, content: bytes, file: ManifestFile, report: Report) -> CompiledFile | None:
        """Check a manifest with these bytes, and keep what is found; as `check`."""
        local_report = Report()
        source = decode_text(content, file.name, local_report)
        if source is None:
            report.extend(local_report.diagnostics)
            return None
        datasets, imported = self._check(source, file, local_report, self.options)
        from schemac.project.fixing import not_ignored  # for start-up time, as above

        texts = [source, *imported.texts(self._contents, self._files(file))]
        path = self._project.path_for_rules(file.path, file.name) if self.options.has_rules else None
        remaining = Report()
        remaining.extend(
            not_ignored(local_report.diagnostics, texts, self._project, path, has_schema=bool(datasets))
        )
        findings = remaining.diagnostics
        report.extend(findings)
        named = tuple([DatasetName(dataset.name, dataset.is_source) for dataset in datasets])
        key = self._key(file, content)
        self.cache.put(key, _Checked(findings, named, imported))
        compiled = self.compiled(file, content, named, imported, key)
        compiled.__dict__["datasets"] = datasets
        return compiled

    def compiled(
        self,
        file: ManifestFile,
        content: bytes,
        named: tuple[DatasetName, ...],
        imported: ManifestImports,
        key: bytes | None = None,
    ) -> CompiledFile:
        """Return a manifest that was checked; its datasets are made again when they are first asked for. Its key covers its imports."""

        def make() -> "list[LogicalDataset]":
            source = decode_text(content, file.name, Report())
            options = replace(self.options, has_rules=False)
            return self._check(source, file, Report(), options)[0] if source is not None else []

        key = self._key(file, content) if key is None else key
        if imported != NOTHING and key:
            key = self._keys.key(key, imported.files)
        return CompiledFile(file, content.removeprefix(_MARK), named, make, key, imported)

    def _check(
        self, source: SourceText, file: ManifestFile, report: Report, options: CompileOptions
    ) -> "tuple[list[LogicalDataset], ManifestImports]":
        """Return the datasets of a text and what it imports; reads imported files once for all manifests of the run."""
        from schemac.language.manifest.library import Library, Reuse  # for start-up time, as above
        from schemac.project.stages import check_source

        if self._library is None:
            self._library = Library(self._contents)
        reuse = Reuse(self._files(file), self._library)
        datasets = check_source(source, self._project, report, options, is_named=file.is_named, reuse=reuse)
        return datasets, ManifestImports.of(reuse)


def with_distinct_datasets(files: Sequence[CompiledFile], report: Report) -> list[CompiledFile]:
    """Return the manifests with distinct names of datasets; report each name that is used twice."""
    names = iter(with_distinct_names([named for file in files for named in file.named]))
    renamed: list[CompiledFile] = []
    for file in files:
        distinct = tuple(islice(names, len(file.named)))
        if distinct == file.named:
            renamed.append(file)
            continue
        made = file.__dict__.get("datasets")
        renamed.append(replace(file, named=distinct, make=file.make if made is None else partial(list, made)))
    files_of: dict[str, list[int]] = {}
    for number, file in enumerate(renamed):
        for named in file.named:
            files_of.setdefault(named.name.casefold(), []).append(number)
    doubled = sorted({number for numbers in files_of.values() if len(numbers) > 1 for number in numbers})
    if doubled:
        from schemac.language.manifest.bind import unique_by_name  # for start-up time, as above

        unique_by_name([dataset for number in doubled for dataset in renamed[number].datasets], report)
    return renamed


def read_manifests(
    files: Sequence[ManifestFile], project: Project, report: Report, *, strict: bool = False
) -> list[CompiledFile]:
    """Return manifests, checked in one process; the name of every dataset is used once."""
    checks = ManifestChecks(project, CompileOptions.of(project, strict=strict))
    compiled: list[CompiledFile] = []
    for file in files:
        content = checks.options.read(file, report)
        if content is not None and (one := checks.check(content, file, report)) is not None:
            compiled.append(one)
    return with_distinct_datasets(compiled, report)
