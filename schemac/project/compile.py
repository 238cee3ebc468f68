"""From files to artifacts: the order of the stages.

Layer: project.
"""

import gc
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from schemac.arrow.lower import LoweringOptions, lower
from schemac.artifacts.emission import (
    Artifact,
    Compilation,
    Emission,
    Loss,
    Target,
    default_targets,
    load_target,
    target_names,
)
from schemac.artifacts.provenance import Built
from schemac.artifacts.store import built
from schemac.attributes.own import TARGETS_OF
from schemac.attributes.registry import domain_of
from schemac.checks.run import check
from schemac.logical.dataset import LogicalDataset
from schemac.logical.slots import preorder
from schemac.logical.system import Variant
from schemac.manifest.bind import bind, told_apart, unique_by_name
from schemac.manifest.system_columns import with_system_columns
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile, lock_path
from schemac.project.workers import cores, share
from schemac.registry.installed import engine, engines
from schemac.source.diagnostic import Diagnostic, Severity
from schemac.source.report import Report
from schemac.source.text import SourceText, read_text

if TYPE_CHECKING:
    from schemac.project.locking import Locked


@dataclass(frozen=True, slots=True)
class Options:
    """How to compile, from the project and the command line."""

    strict: bool = False
    targets: tuple[str, ...] = default_targets()
    asked_for: frozenset[str] = frozenset()
    """Those of the targets that somebody named; what cannot be built for the others may be left out."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of engines, where somebody named one."""
    lowering: LoweringOptions = LoweringOptions()
    show_losses: bool = False
    locked: bool = False
    """Refuse a schema that is not as it was locked."""
    system_columns: Variant | None = None
    """Insert the standard's system columns, in this variant of their types."""


SHARED_FROM = 500_000
"""Bytes of manifests from which on a run is shared between the cores; below, a process costs more than it saves."""


class CompiledFile(NamedTuple):
    """The checked datasets of one manifest, and its bytes."""

    file: ManifestFile
    content: bytes
    datasets: list[LogicalDataset]


@dataclass(slots=True)
class Output:
    """What a run makes: files by path, and their provenance and losses by dataset."""

    datasets: list[tuple[str, ManifestFile]] = field(default_factory=list)
    """The checked datasets by name, with the manifest that each stands in."""
    contents: dict[str, bytes] = field(default_factory=dict)
    built: dict[str, Built] = field(default_factory=dict)
    losses: dict[str, tuple[Loss, ...]] = field(default_factory=dict)

    def add(self, other: "Output") -> None:
        """Take over what another process made."""
        self.datasets += other.datasets
        self.contents.update(other.contents)
        self.built.update(other.built)
        self.losses.update(other.losses)


def compile_files(
    files: Sequence[ManifestFile], project: Project, options: Options, report: Report
) -> Output:
    """All manifests of a run, checked, and the artifacts for the targets in the options.

    The artifacts are not to be used where the report has errors.
    """
    with collector_paused():
        workers = min(cores(), len(files)) if sum(map(_size, files)) >= SHARED_FROM else 1
        parts = share([partial(_compile_part, files[n::workers], project, options) for n in range(workers)])
        if workers > 1 and _has_doubles(parts):
            # Who has a name that another process has as well is told only by one that sees both.
            parts = [_compile_part(files, project, options)]
        output = Output()
        for part in parts:
            output.add(part.output)
            report.extend(part.checked)
        # What targets say counts only where every manifest is sound, however the files were shared out.
        if not report.has_errors:
            for part in parts:
                report.extend(part.emitted)
    return output


class _Part(NamedTuple):
    """What one process did of a run, with the findings of the checks and of the targets."""

    output: Output
    checked: tuple[Diagnostic, ...]
    emitted: tuple[Diagnostic, ...]


def _compile_part(files: Sequence[ManifestFile], project: Project, options: Options) -> _Part:
    report, emitted = Report(), Report()
    compiled = _check_part(files, project, options, report)
    output = Output([(dataset.name, file.file) for file in compiled for dataset in file.datasets])
    if report.has_errors or not options.targets:
        return _Part(output, report.diagnostics, ())
    # Imported here for start-up time: many runs only check.
    from schemac.project.strays import report_lost_locks

    report_lost_locks(compiled, project, report)
    for file in compiled:
        locked = _locked(file, options, report)
        for dataset in file.datasets:
            is_large = len(file.content) >= SHARED_FROM
            artifacts, losses = emit(dataset, options, emitted, locked.get(dataset.name), is_large=is_large)
            contents = {f"{dataset.name}/{artifact.path}": artifact.content for artifact in artifacts}
            output.contents.update(contents)
            output.built[dataset.name] = built(_in_project(file.file, project), file.content, contents)
            output.losses[dataset.name] = losses
    return _Part(output, report.diagnostics, emitted.diagnostics)


def _in_project(file: ManifestFile, project: Project) -> str:
    """A manifest's path from the project's folder, wherever the command was run."""
    try:
        return os.path.relpath(file.path, project.folder).replace(os.sep, "/")
    except ValueError:
        # On another drive of Windows.
        return file.name


def _locked(file: CompiledFile, options: Options, report: Report) -> "Mapping[str, Locked]":
    """What the lock beside a manifest says of each dataset; nothing where there is none."""
    if not options.locked and not lock_path(file.file.path).exists():
        return {}
    # Imported here for start-up time: many projects have no locks.
    from schemac.project.locking import locked_datasets

    return locked_datasets(file.file.path, file.file.name, file.datasets, report, is_error=options.locked)


def _has_doubles(parts: Sequence[_Part]) -> bool:
    """Whether a name was used by several processes."""
    taken = Counter(name.casefold() for part in parts for name, _ in part.output.datasets)
    return any(count > 1 for count in taken.values())


def _check_part(
    files: Sequence[ManifestFile], project: Project, options: Options, report: Report
) -> list[CompiledFile]:
    """Manifests checked, with every dataset's name used once."""
    compiled: list[CompiledFile] = []
    for file in files:
        source = read_text(file.path, file.name, report)
        if source is not None:
            datasets = check_source(
                source,
                project,
                report,
                strict=options.strict,
                is_named=file.is_named,
                system_columns=options.system_columns,
            )
            compiled.append(CompiledFile(file, source.content.encode(), datasets))
    renamed = iter(told_apart([dataset for file in compiled for dataset in file.datasets]))
    compiled = [one._replace(datasets=list(islice(renamed, len(one.datasets)))) for one in compiled]
    unique_by_name([dataset for file in compiled for dataset in file.datasets], report)
    return compiled


def lowering_of(project: Project, *, metadata: bool = True) -> LoweringOptions:
    """How a project's schemas become Arrow's; `metadata=False` leaves attributes out in any case."""
    return LoweringOptions(project.defaults, project.configuration.metadata and metadata)


def read_manifests(
    files: Sequence[ManifestFile], project: Project, report: Report, *, strict: bool = False
) -> list[CompiledFile]:
    """The checked datasets of these manifests, one process."""
    columns = project.configuration.system_columns
    return _check_part(files, project, Options(strict=strict, system_columns=columns), report)


def _size(file: ManifestFile) -> int:
    try:
        return file.path.stat().st_size
    except OSError:
        return 0


def check_source(
    source: SourceText,
    project: Project,
    report: Report,
    *,
    strict: bool = False,
    is_named: bool = True,
    system_columns: Variant | None = None,
    stem: str | None = None,
) -> list[LogicalDataset]:
    """The datasets of one text, checked; those without a name are called after it, or `stem`."""
    datasets = bind(source, report, strict=strict, is_named=is_named, stem=stem)
    if system_columns is not None:
        datasets = [with_system_columns(dataset, system_columns) for dataset in datasets]
    for dataset in datasets:
        check(dataset, report, project.vocabularies)
    return datasets


def emit(
    dataset: LogicalDataset,
    options: Options,
    report: Report,
    locked: "Locked | None" = None,
    *,
    is_large: bool = False,
) -> tuple[list[Artifact], tuple[Loss, ...]]:
    """The artifacts of one dataset for all its targets, and what they could not express."""
    names = engines_of(dataset, options.targets, is_named=bool(options.asked_for))
    groups = [names[number :: cores()] for number in range(min(cores(), len(names)))] if is_large else [names]
    artifacts: list[Artifact] = []
    losses: list[Loss] = []
    # Lowered once, before the processes part.
    compilation = Compilation(dataset, lower(dataset, options.lowering))
    if locked is not None:
        compilation = locked.compilation(compilation, options.lowering)
    compilation = replace(compilation, versions=options.versions)
    said: list[Diagnostic] = []
    for made, lost, diagnostics in share([partial(_emit, compilation, group, options) for group in groups]):
        artifacts += made
        losses += lost
        said += diagnostics
    has_errors = any(d.severity is Severity.ERROR for d in said)
    # Where nothing is built it does not matter without what.
    report.extend(d for d in said if not (has_errors and d.code in _left_out_codes(names)))
    losses.sort(key=lambda loss: names.index(loss.target))
    artifacts.append(Artifact("losses.json", _losses_json(losses)))
    return artifacts, tuple(losses)


def _left_out_codes(names: Sequence[str]) -> set[str]:
    codes = [load_target(name).left_out_code for name in names]
    return {code.id for code in codes if code is not None}


def _emit(
    compilation: Compilation, names: Sequence[str], options: Options
) -> tuple[list[Artifact], list[Loss], tuple[Diagnostic, ...]]:
    """Artifacts, losses and findings of some targets."""
    report = Report()
    artifacts: list[Artifact] = []
    losses: list[Loss] = []
    for name in names:
        target = load_target(name)
        said = Report()
        emission = Emission(compilation.dataset, name, target.loss_code, said)
        made = target.emit(compilation, emission)
        if (
            said.has_errors
            and engine(name).is_optional
            and not _is_wanted(target, compilation.dataset, options)
        ):
            losses.append(_leave_out(target, compilation.dataset, said, report))
            continue
        if target.beside is not None and not said.has_errors:
            target.beside(compilation, emission, _asked_for(compilation.dataset, options))
        artifacts += made
        losses += emission.losses
        if options.show_losses:
            emission.report_losses()
        report.extend(said.diagnostics)
    return artifacts, losses, report.diagnostics


def _is_wanted(target: Target, dataset: LogicalDataset, options: Options) -> bool:
    """Whether the run or the schema speaks of this engine."""
    return target.name in options.asked_for or speaks_of(engine(target.name).domain, dataset)


def _asked_for(dataset: LogicalDataset, options: Options) -> frozenset[str]:
    """The engines that the schema names, or else the run or the project."""
    return frozenset(TARGETS_OF.read(dataset.schema.extra) or options.asked_for)


def engines_of(dataset: LogicalDataset, targets: Sequence[str], *, is_named: bool) -> list[str]:
    """Return the engines that a dataset is for, of those that a run or a project has.

    Where nobody named these, an engine that is none of the defaults joins them for a dataset that names it or has an
    attribute of its domain.
    """
    built_for = TARGETS_OF.read(dataset.schema.extra)
    found = set(targets)
    if not is_named:
        others = [e for e in engines() if not e.is_default]
        found |= {e.name for e in others if e.name in (built_for or ()) or _has_attribute(e.domain, dataset)}
    return [n for n in target_names() if n in found and (built_for is None or n in built_for)]


def speaks_of(domain: str, dataset: LogicalDataset) -> bool:
    """Whether a schema names its engines, or has an attribute of this one's domain."""
    return TARGETS_OF.key in dataset.schema.extra or _has_attribute(domain, dataset)


def _has_attribute(domain: str, dataset: LogicalDataset) -> bool:
    return any(
        domain_of(key) == domain
        for attributes in (dataset.schema.extra, *(slot.extra for slot in preorder(dataset.columns)))
        for key in attributes
    )


def is_left_aside(name: str, dataset: LogicalDataset) -> bool:
    """Tell whether an engine is left out of a dataset where nobody names engines: it is optional, and not spoken of."""
    return engine(name).is_optional and not speaks_of(engine(name).domain, dataset)


def _leave_out(target: Target, dataset: LogicalDataset, said: Report, report: Report) -> Loss:
    """Say that a dataset is built without a target, and give the first reason."""
    assert target.left_out_code is not None
    first = next(d for d in said.diagnostics if d.severity is Severity.ERROR)
    others = ", ".join(name for name in default_targets() if name != target.name)
    message = f"{dataset.name} is built without {target.name}: {first.message}"
    help = f"name the engines that it is for: `{TARGETS_OF.key}: [{others}]` under the schema's `extra:`"
    report.extend(
        [
            replace(
                first,
                code=target.left_out_code.id,
                slug=target.left_out_code.slug,
                severity=target.left_out_code.severity,
                message=message,
                help=help,
            )
        ]
    )
    return Loss(target.name, first.path, "the dataset as a whole", f"nothing: {first.message}")


def _losses_json(losses: Sequence[Loss]) -> bytes:
    lines = [
        json.dumps(
            {
                **({"artifact": loss.artifact} if loss.artifact else {}),
                "becomes": loss.becomes,
                "field": loss.path,
                "lost": loss.lost,
                "target": loss.target,
            },
            ensure_ascii=False,
        )
        for loss in losses
    ]
    body = ",\n  ".join(lines)
    return (f'{{"losses": [\n  {body}\n]}}\n' if lines else '{"losses": []}\n').encode()


@contextmanager
def collector_paused(*, is_last: bool = False) -> Iterator[None]:
    """Without the cyclic collector: a compilation makes many values and no cycles, and it would look at all of them.

    `is_last` says that what was made stays until the process ends, so that looking later is for nothing as well.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_last:
            gc.freeze()
        if was_enabled:
            gc.enable()
