"""The Python API: datasets from manifests, Arrow schemas and Parquet files. `schemac.engines.api` has the functions of engines.

Layer: project.
Shape: nothing here reads or writes the project's cache. The cache holds findings and digests, but these functions return schemas and bytes, which are
computed from the manifest in any case; and a library function leaves no files behind.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from schemac.engines.api import Dataset, from_source
from schemac.importers.datasets import from_arrow_schema, from_tree
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import FieldPath, dotted
from schemac.language.logical.names import Variant
from schemac.language.manifest.library import Reuse
from schemac.project.configuration import Project, find_project
from schemac.project.discovery import has_lock
from schemac.project.imported import FolderFiles
from schemac.project.options import CompileOptions
from schemac.project.shared_work import collector_paused
from schemac.project.stages import check_source, compile_source
from schemac.text.source.catalogue import UNFIT_METADATA
from schemac.text.source.diagnostics import Diagnostic, Report, SourceText
from schemac.text.source.text import read_text

if TYPE_CHECKING:
    import pyarrow as pa

    from schemac.versions.evolution.changes import Changes
    from schemac.versions.evolution.version_pair import SchemaVersion
    from schemac.versions.identity.compilation import Locked


def compile_text(
    text: str,
    *,
    name: str = "<text>",
    strict: bool = False,
    system_columns: Variant | None = None,
    project: str | Path | None = None,
) -> list[Dataset]:
    """Return the checked datasets of a manifest's text; `system_columns` inserts missing system columns.

    A text has no folder, so it uses the settings of a project only if `project` names one: its configuration file, or
    a folder in it. Then it may also import files, by paths relative to the project's folder. Raises SchemaError with all findings if there are errors.
    """
    report = Report()
    settings, reuse = _surroundings(name, project, report)
    options = CompileOptions.of(settings, strict=strict, system_columns=system_columns)
    return _compile(SourceText(text, name), settings, options, report, reuse)


def build_text(
    text: str,
    *,
    targets: Sequence[str] | None = None,
    name: str = "<text>",
    strict: bool = False,
    project: str | Path | None = None,
) -> dict[str, bytes]:
    """Return the artifacts of a manifest's text as `schemac build` would write them: a dict from paths below the output folder to bytes.

    `targets` default to those of the project; `project` is as for `compile_text`. Raises SchemaError with all
    findings if there are errors.
    """
    report = Report()
    settings, reuse = _surroundings(name, project, report)
    options = CompileOptions.of(settings, targets, strict=strict)
    made = compile_source(SourceText(text, name), settings, options, report, reuse=reuse)
    report.raise_errors()
    return {f"{one.dataset.name}/{a.path}": a.content for one in made for a in one.artifacts}


def compile_file(
    path: str | Path,
    *,
    strict: bool = False,
    system_columns: Variant | None = None,
    project: str | Path | None = None,
) -> list[Dataset]:
    """Return the checked datasets of a manifest file; `system_columns` inserts missing system columns.

    Encodings, vocabularies and the other settings are those of the file's project, as for `schemac build`, or of `project`: its
    configuration file, or a folder in it. If there is a lock next to the file, fields have its ids. Raises SchemaError with all findings if there are errors.
    """
    report = Report()
    settings = _project(project if project is not None else Path(path).parent, report)
    source = read_text(Path(path), str(path), report)
    report.raise_errors()
    assert source is not None
    reuse = Reuse(FolderFiles(Path(path), str(path), project=settings))
    options = CompileOptions.of(settings, strict=strict, system_columns=system_columns)
    return _compile(source, settings, options, report, reuse, Path(path))


def _project(location: str | Path, report: Report) -> Project:
    """Return the project of a configuration file, or of a folder."""
    path = Path(location).absolute()
    project = find_project(path, report, None if path.is_dir() else path)
    report.raise_errors()
    return project


def _surroundings(name: str, location: str | Path | None, report: Report) -> tuple[Project, Reuse | None]:
    """Return the project of a text, and the files that it may import: none without a location."""
    if location is None:
        return Project(Path()), None
    project = _project(location, report)
    return project, Reuse(FolderFiles(project.folder / "text", name, project=project))


def diff(old: Dataset, new: Dataset) -> "Changes":
    """Return the changes from one dataset to another; fields are matched by their lock, or else by names and `renamedFrom`.

    The result is a tuple of changes, which a notebook shows as a table.
    """
    from schemac.versions.evolution.changes import Changes  # for start-up time, as above
    from schemac.versions.evolution.diff import diff as changes

    return Changes(changes(_version(old), _version(new)))


def _version(dataset: Dataset) -> "SchemaVersion":
    """Return the version of a dataset to compare: with the ids of its lock where it was opened with one."""
    from schemac.versions.evolution.version_pair import LockedSchemaVersion, SchemaVersion

    label = dataset._logical.origins.file
    if dataset._locked is None:
        return SchemaVersion(dataset._logical, label)
    return LockedSchemaVersion.of(dataset._locked, label)


def from_arrow(schema: "pa.Schema", *, name: str = "dataset") -> Dataset:
    """Return the dataset of a pyarrow schema; metadata that a field cannot have is listed in its `warnings`.

    Raises SchemaError if a type has no kind.
    """
    report = Report()

    def report_unfit(path: FieldPath, text: str) -> None:
        where = dotted(path)
        report.add(UNFIT_METADATA, f"{text} ({where})" if where else text, file=name, path=where)

    tree = from_arrow_schema(schema, name, report, report_unfit)
    logical = from_tree(tree, name, name, report)
    report.raise_errors()
    assert logical is not None
    return Dataset(logical, None, report.diagnostics)


def from_parquet(path: str | Path, *, name: str | None = None) -> Dataset:
    """Return the dataset of a Parquet file. Raises SchemaError if it cannot be read."""
    return from_source(path, format="parquet", name=name)


def check_text(
    text: str, *, name: str = "<text>", strict: bool = False, project: str | Path | None = None
) -> tuple[Diagnostic, ...]:
    """Return all findings about a manifest's text, like `schemac check` but without lint rules; `project` is as for `compile_text`.

    If `project` is set, the findings of its targets are included.
    """
    report = Report()
    settings, reuse = _surroundings(name, project, report)
    options = CompileOptions.of(settings, None if project is not None else (), strict=strict)
    compile_source(SourceText(text, name), settings, options, report, reuse=reuse)
    return report.diagnostics


def _compile(
    source: SourceText,
    project: Project,
    options: CompileOptions,
    report: Report,
    reuse: Reuse | None,
    path: Path | None = None,
) -> list[Dataset]:
    """Return the datasets of a manifest, each with its warnings, and with the ids of the lock beside `path`; raises the errors of the report."""
    with collector_paused():
        datasets = check_source(source, project, report, options, reuse=reuse)
    report.raise_errors()
    locked: Mapping[str, Locked] = {}
    if path is not None and has_lock(path):
        from schemac.project.locking import locked_datasets  # for start-up time: many manifests have no lock

        locked = locked_datasets(path, source.name, datasets, report, is_error=False)
        report.raise_errors()
    return [
        Dataset(dataset, locked.get(dataset.name), w, options.arrow_options, options.versions)
        for dataset, w in zip(datasets, _by_dataset(datasets, report), strict=True)
    ]


def _by_dataset(datasets: list[LogicalDataset], report: Report) -> list[tuple[Diagnostic, ...]]:
    """Return the findings about each dataset, by the lines that its schema is on; those elsewhere are about all."""
    lines = [range(0)] * len(datasets)
    for i, dataset in enumerate(datasets):
        place = dataset.origins.location(())
        if place is not None:
            source, span = place.source, place.span
            last = source.position(max(span.start, span.end - 1)).line
            lines[i] = range(place.region.line, last + 1)
    elsewhere = {d.line for d in report.diagnostics if not any(d.line in of_one for of_one in lines)}
    return [
        tuple(d for d in report.diagnostics if d.line in of_one or d.line in elsewhere) for of_one in lines
    ]
