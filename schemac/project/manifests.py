"""Manifests of a run, checked, with every dataset's name used once.

Layer: project.
"""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from schemac.logical.dataset import LogicalDataset
from schemac.manifest.bind import told_apart, unique_by_name
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.project.options import Options
from schemac.project.stages import check_source
from schemac.source.report import Report
from schemac.source.text import read_text


class CompiledFile(NamedTuple):
    """The checked datasets of one manifest, and its bytes."""

    file: ManifestFile
    content: bytes
    datasets: list[LogicalDataset]


def check_manifests(
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


def read_manifests(
    files: Sequence[ManifestFile], project: Project, report: Report, *, strict: bool = False
) -> list[CompiledFile]:
    """Return the checked datasets of these manifests, one process."""
    columns = project.configuration.system_columns
    return check_manifests(files, project, Options(strict=strict, system_columns=columns), report)
