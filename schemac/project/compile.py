"""From files to artifacts: the order of the stages.

Floor: 9 (project).
"""

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from schemac.artifacts.provenance import Built
from schemac.artifacts.store import built
from schemac.attributes.own import TARGETS_OF
from schemac.checks.run import check
from schemac.logical.dataset import LogicalDataset
from schemac.lowering.lower import LoweringOptions, lower
from schemac.manifest.bind import bind, unique_by_name
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.source.report import Report
from schemac.source.text import SourceText, read_text
from schemac.targets.target import TARGETS, Artifact, Compilation, Emission, Loss, load_target


@dataclass(frozen=True, slots=True)
class Options:
    """How to compile, from the project and the command line."""

    strict: bool = False
    targets: tuple[str, ...] = TARGETS
    lowering: LoweringOptions = LoweringOptions()
    show_losses: bool = False


class CompiledFile(NamedTuple):
    """The checked datasets of one manifest, and its bytes."""

    name: str
    content: bytes
    datasets: list[LogicalDataset]


@dataclass(slots=True)
class Output:
    """What a build makes: files by path, and their provenance by dataset."""

    contents: dict[str, bytes] = field(default_factory=dict)
    built: dict[str, Built] = field(default_factory=dict)
    losses: dict[str, tuple[Loss, ...]] = field(default_factory=dict)


def check_source(
    source: SourceText, project: Project, report: Report, *, strict: bool = False, is_named: bool = True
) -> list[LogicalDataset]:
    """The datasets of one text, checked."""
    datasets = bind(source, report, strict=strict, is_named=is_named)
    for dataset in datasets:
        check(dataset, report, project.vocabularies)
    return datasets


def check_files(
    files: Sequence[ManifestFile], project: Project, report: Report, *, strict: bool
) -> list[CompiledFile]:
    """All manifests of a run, checked, with every dataset's name used once."""
    compiled: list[CompiledFile] = []
    with collector_paused():
        for file in files:
            source = read_text(file.path, file.name, report)
            if source is not None:
                datasets = check_source(source, project, report, strict=strict, is_named=file.is_named)
                compiled.append(CompiledFile(file.name, source.content.encode(), datasets))
        unique_by_name([dataset for file in compiled for dataset in file.datasets], report)
    return compiled


def emit_files(files: Sequence[CompiledFile], options: Options, report: Report) -> Output:
    """The artifacts of all datasets; not to be used where the report has errors."""
    output = Output()
    with collector_paused():
        for file in files:
            for dataset in file.datasets:
                artifacts, losses = emit(dataset, options, report)
                contents = {f"{dataset.name}/{artifact.path}": artifact.content for artifact in artifacts}
                output.contents.update(contents)
                output.built[dataset.name] = built(file.name, file.content, contents)
                output.losses[dataset.name] = losses
    return output


def emit(
    dataset: LogicalDataset, options: Options, report: Report
) -> tuple[list[Artifact], tuple[Loss, ...]]:
    """The artifacts of one dataset for all its targets, and what they could not express."""
    compilation = Compilation(dataset, lower(dataset, options.lowering))
    wanted = TARGETS_OF.read(dataset.schema.extra) or options.targets
    artifacts: list[Artifact] = []
    losses: list[Loss] = []
    for name in options.targets:
        if name not in wanted:
            continue
        target = load_target(name)
        emission = Emission(dataset, name, target.loss_code, report)
        artifacts += target.emit(compilation, emission)
        losses += emission.losses
        if options.show_losses:
            emission.report_losses()
    artifacts.append(Artifact("losses.json", _losses_json(losses)))
    return artifacts, tuple(losses)


def _losses_json(losses: Sequence[Loss]) -> bytes:
    lines = [
        json.dumps(
            {"becomes": loss.becomes, "field": loss.path, "lost": loss.lost, "target": loss.target},
            ensure_ascii=False,
        )
        for loss in losses
    ]
    body = ",\n  ".join(lines)
    return (f'{{"losses": [\n  {body}\n]}}\n' if lines else '{"losses": []}\n').encode()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Without the cyclic collector: a compilation makes many values and no cycles, and it would look at all of them."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
