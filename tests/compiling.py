"""Runs the compiler on one text, as `schemac build` would, and keeps everything."""

from dataclasses import dataclass, field
from pathlib import Path

from schemac.arrow.to_arrow import to_arrow_fields
from schemac.language.logical.dataset import LogicalDataset
from schemac.project.configuration import Project, find_project
from schemac.project.options import CompileOptions
from schemac.project.stages import compile_source
from schemac.text.source.diagnostics import Diagnostic, Report, Severity
from schemac.text.source.text import decode_text
from schemac.versions.identity.lockfile import read_lock
from tests.printing import arrow_text, logical_text


@dataclass
class Compiled:
    """What came out of one text."""

    report: Report = field(default_factory=Report)
    datasets: list[LogicalDataset] = field(default_factory=list)
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    """Golden texts by dataset and file name."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self.report.diagnostics

    @property
    def codes(self) -> set[str]:
        return {d.code for d in self.diagnostics}

    @property
    def errors(self) -> set[str]:
        return {d.code for d in self.diagnostics if d.severity is Severity.ERROR}


_ARTIFACTS = {
    "lance/schema.txtpb": "lance.txtpb",
    "spark/schema.json": "spark.json",
    "paimon/schema-0": "paimon.json",
    "odf/schema.yaml": "odf.yaml",
    "iceberg/schema.json": "iceberg.json",
    "iceberg/create_table.sql": "iceberg.sql",
    "losses.json": "losses.json",
}


def compile_bytes(
    content: bytes, name: str, *, strict: bool = False, show_losses: bool = False, folder: Path | None = None
) -> Compiled:
    """Check and, where there are no errors, emit for all targets."""
    compiled = Compiled()
    report = compiled.report
    project = find_project(folder, report) if folder else Project(Path())
    source = decode_text(content, name, report)
    if source is None:
        return compiled
    options = CompileOptions(
        strict=strict, show_losses=show_losses, optional_artifacts=frozenset({"lance/schema.txtpb"})
    )
    for dataset, artifacts, losses in compile_source(source, project, options, report):
        compiled.datasets.append(dataset)
        written = {artifact.path: artifact.content for artifact in artifacts}
        texts = {file: written[path].decode() for path, file in _ARTIFACTS.items() if path in written}
        if not losses:
            del texts["losses.json"]
        texts["logical.txt"] = logical_text(dataset)
        texts["arrow.txt"] = arrow_text(to_arrow_fields(dataset).to_arrow())
        compiled.files[dataset.name] = texts
    return compiled


def table_record(lock: Path) -> str:
    """What a table of the newest version of a lock's first dataset says of itself."""
    opened = read_lock(lock.read_text(), str(lock), Report())
    assert opened is not None
    newest = opened.datasets[0].newest
    assert newest is not None
    return newest.table_record
