"""A pipeline file into a job and the dataset that its records have to fit.

Layer: pipeline.
Shape: paths in the file are relative to the file, and become absolute, for Spark may run in another folder than
this process; those of object stores stay.
Errors: SC611 pipeline-file, SC614 source-option, SC620 to SC626 of `fields`, and whatever its manifest has.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from schemac.arrow.lower import lower
from schemac.arrow.lower_metadata import with_version
from schemac.artifacts.emission import ARTIFACTS
from schemac.identity.lock import Numbers
from schemac.logical.dataset import LogicalDataset
from schemac.logical.schema_fields import SchemaField
from schemac.manifest.library import Reuse
from schemac.physical.arrow import ArrowSchema
from schemac.physical.field import LoweredSchema
from schemac.pipeline.conforming.backfill_settings import backfill_mistakes
from schemac.pipeline.conforming.given import expression_mistakes
from schemac.pipeline.conforming.mapping import Mistake, mapping_mistakes
from schemac.pipeline.conforming.merge_settings import merge_mistakes
from schemac.pipeline.conforming.row_constraints import reference_mistakes
from schemac.pipeline.declaration.job import FILE_FORMATS, Job, Source, Target
from schemac.pipeline.declaration.source_options import option_mistakes
from schemac.pipeline.spark.python_functions import function_path
from schemac.project.configuration import Project, find_project
from schemac.project.discovery import has_lock
from schemac.project.imported import FolderFiles
from schemac.project.locking import Locked, locked_datasets
from schemac.project.options import CompileOptions
from schemac.project.overlays import RunOverlay
from schemac.project.stages import check_source, emit
from schemac.registry.installed import engines
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.tables import TableForm, sink_engine, sink_of
from schemac.source.catalogue import PIPELINE_FILE, SOURCE_OPTION
from schemac.source.diagnostic import Code
from schemac.source.help import Help
from schemac.source.report import Report
from schemac.source.suggest import closest
from schemac.source.text import SourceText, decode_text, read_text
from schemac.syntax.document import Document, parse
from schemac.syntax.model_errors import ModelError, TreePath, model_errors


@dataclass(frozen=True)
class LoadedJob:
    """A job with its compiled schema."""

    job: Job
    document: Document
    """The pipeline file."""
    dataset: LogicalDataset
    lowered: LoweredSchema
    numbers: Mapping[SchemaField, Numbers] | None = None
    """The fields' numbers, where the manifest has a lock."""
    version: str | None = None
    """The locked version as tables keep it, where the manifest has a lock."""

    @property
    def arrow_schema(self) -> ArrowSchema:
        """What the table's rows look like."""
        return self.lowered.to_arrow()

    def with_lock(self, locked: Locked) -> "LoadedJob":
        """Return the job with the numbers and the version of its lock."""
        return replace(self, numbers=locked.identities.numbers, version=locked.version.table_record)

    @property
    def form(self) -> TableForm:
        """What the table is to be."""
        if self.job.target.is_of_spark:
            return TableForm(self.lowered.to_arrow())
        sink = sink_of(self.job.target.format)
        lowered = self.lowered if self.version is None else with_version(self.lowered, self.version)
        form = sink.form(lowered, self.numbers, self.dataset.schema.extra)
        return replace(form, version=self.version)

    def report(self, error: PipelineError, report: Report) -> None:
        """Report what a run told, at the setting of the file that it is about."""
        place = _place_in(self.document, error.place)
        model_error = ModelError(error.code, place, error.message, error.help or "")
        if place:
            _complain(self.document, model_error, report, error.code)
        else:
            name = self.document.source.name
            report.add(error.code, error.message, file=name, help=error.help or "")


def load_job(
    path: Path,
    report: Report,
    overlay: RunOverlay | None = None,
    edited: Mapping[str, bytes] = MappingProxyType({}),
) -> LoadedJob | None:
    """Load the job of a pipeline file, its schema with an overlay; None after saying what is wrong with it.

    `edited` are texts that count in place of files, by absolute path.
    """
    source = _text(path, edited, report)
    documents = parse(source, report) if source is not None else []
    if report.has_errors:
        return None
    value = documents[0].value if len(documents) == 1 else None
    if not isinstance(value, dict):
        message = f"{path} is not a pipeline: it has to be one mapping with `source`, `schema` and `target`"
        report.add(PIPELINE_FILE, message, file=str(path), help="see examples/demo/pipeline.yaml")
        return None
    document = documents[0]
    try:
        job = _with_paths(Job.model_validate(value), path.parent)
    except ValidationError as error:
        for model_error in model_errors(error, Job, value):
            if model_error.path[:1] == ("storage",):
                # Without an excerpt: the line may hold a secret.
                report.add(PIPELINE_FILE, model_error.message, file=str(path), help=model_error.help)
            else:
                _complain(document, model_error, report)
        return None
    has_errors = False
    for i, part in enumerate(job.parts):
        for option, mistaken in option_mistakes(part.source, is_stream=job.trigger is not None):
            place = job.place_of(i, ("source", "options", option))
            model_error = ModelError(SOURCE_OPTION, place, mistaken.message, mistaken.help or "", on_key=True)
            _complain(document, model_error, report, SOURCE_OPTION)
            has_errors = True
    if has_errors:
        return None
    if job.schema_ is None:
        missing = ModelError(
            PIPELINE_FILE, (), "a pipeline needs `schema`", "add `schema:` with the path of a manifest"
        )
        _complain(document, missing, report)
        return None
    return _with_schema(job, path, document, report, overlay, edited)


def _text(path: Path, edited: Mapping[str, bytes], report: Report) -> SourceText | None:
    content = edited.get(os.path.abspath(path))
    if content is None:
        return read_text(path, str(path), report)
    return decode_text(content, str(path), report)


def _complain(
    document: Document, model_error: ModelError, report: Report, code: Code = PIPELINE_FILE
) -> None:
    place = document.place(model_error.path, on_key=model_error.on_key)
    report.add(code, model_error.message, location=place, help=model_error.help)


def _with_schema(
    job: Job,
    path: Path,
    document: Document,
    report: Report,
    overlay: RunOverlay | None,
    edited: Mapping[str, bytes],
) -> LoadedJob | None:
    assert job.schema_ is not None
    project = find_project(path.parent.resolve(), report)
    manifest = path.parent / job.schema_
    source = _text(manifest, edited, report)
    reuse = Reuse(FolderFiles(manifest, str(manifest), edited))
    datasets = check_source(source, project, report, reuse=reuse) if source is not None else []
    if report.has_errors:
        return None
    matching = [dataset for dataset in datasets if job.dataset in (None, dataset.name)]
    if len(matching) != 1:
        names = [dataset.name for dataset in datasets]
        near = closest(job.dataset, names) if job.dataset else None
        message = (
            f"{manifest} has no dataset '{job.dataset}'"
            if job.dataset
            else f"{manifest} has {len(names)} datasets"
        )
        help = (
            Help.did_you_mean(near, str(job.dataset), mark="'")
            if near
            else f"write `dataset:` with one of: {', '.join(names)}"
        )
        _complain(
            document,
            ModelError(PIPELINE_FILE, ("dataset",) if job.dataset else ("schema",), message, help),
            report,
        )
        return None
    (dataset,) = matching
    locked = None
    if overlay is not None:
        schema_report = Report()
        overlay.check_names([one.name for one in datasets], schema_report, is_whole=False)
        dataset, locked = overlay.over(
            dataset, _locked(manifest, dataset, schema_report), project, schema_report
        )
        report.extend(schema_report.diagnostics)
        if schema_report.has_errors:
            return None
    loaded = _lowered(job, dataset, project, document, report)
    if loaded is None or not has_lock(manifest):
        return loaded
    locked = locked or _locked(manifest, dataset, report)
    return None if report.has_errors or locked is None else loaded.with_lock(locked)


def _locked(manifest: Path, dataset: LogicalDataset, report: Report) -> Locked | None:
    """Return what the lock next to a manifest says; None if there is none, and after saying what is wrong with it."""
    if not has_lock(manifest):
        return None
    return locked_datasets(manifest, str(manifest), [dataset], report, is_error=True).get(dataset.name)


def _lowered(
    job: Job, dataset: LogicalDataset, project: Project, document: Document, report: Report
) -> LoadedJob | None:
    """Compile the schema of a job as the engine of its table will have it; None if that engine refuses it."""
    # Tables have the attributes as metadata, whatever the settings say of artifacts.
    options = replace(CompileOptions.of(project, schema_engines(job.target)), has_metadata=True)
    emit(dataset, options, report)
    if report.has_errors:
        return None
    loaded = LoadedJob(job, document, dataset, lower(dataset, options.lowering))
    schema = loaded.arrow_schema
    mistakes = (*mapping_mistakes(job, schema), *backfill_mistakes(job, schema), *_expression_mistakes(job))
    for mistake in mistakes:
        error, place = mistake.error, _place_in(document, mistake.place)
        model_error = ModelError(error.code, place, error.message, error.help or "", mistake.is_key)
        _complain(document, model_error, report, error.code)
    for error in (*merge_mistakes(job, loaded.arrow_schema), *reference_mistakes(job, loaded.arrow_schema)):
        loaded.report(error, report)
    return None if report.has_errors else loaded


def schema_engines(target: Target) -> tuple[str, ...]:
    """Name the engines by whose rules a schema has to fit: that of the table, or Spark for the formats that it writes on its own.

    Through a connector it is both: the engine, and the one that knows what the connector reads of its tables.
    """
    if not target.is_of_spark:
        name = sink_engine(target.format).name
        others = (one.name for one in engines() if target.is_through_connector and one.alters == name)
        return (name, *others)
    return (target.format if target.format in ARTIFACTS.names(engines()) else "spark",)


def _expression_mistakes(job: Job) -> Iterator[Mistake]:
    reported = set()
    for i, part in enumerate(job.parts):
        for error in expression_mistakes(part):
            place = job.place_of(i, error.place)
            if place not in reported:
                reported.add(place)
                yield Mistake(place, error)


def _place_in(document: Document, place: TreePath) -> TreePath:
    """Follow the place as far as the file has it: `m: a.b` is short for `m: {from: a.b}`."""
    value: Any = document.value
    for i, part in enumerate(place):
        is_there = (
            part in value if isinstance(value, dict) else isinstance(value, list) and isinstance(part, int)
        )
        if not is_there:
            return place[:i]
        value = value[part]
    return place


def _with_paths(job: Job, folder: Path) -> Job:
    """Make the paths of a job hold from the working folder."""

    def resolved(path: str) -> str:
        return path if "://" in path else str((folder / path).absolute())

    def placed(source: Source) -> Source:
        return source.model_copy(update={"path": tuple(resolved(path) for path in source.path)})

    # What a connector calls a table need not be a path.
    is_path = not job.target.is_of_spark or job.target.format in FILE_FORMATS
    target = resolved(job.target.path) if is_path else job.target.path
    update: dict[str, Any] = {
        "source_": None if job.source_ is None else placed(job.source_),
        "sources": tuple(placed(source) for source in job.sources),
        "target": job.target.model_copy(update={"path": target}),
    }
    if job.joins:
        update["joins"] = {
            label: join.model_copy(update={"path": tuple(resolved(path) for path in join.path)})
            for label, join in job.joins.items()
        }
    if job.references:
        update["references"] = {
            label: table and table.model_copy(update={"path": tuple(resolved(path) for path in table.path)})
            for label, table in job.references.items()
        }
    update["fields"] = {
        label: origin
        if origin is None or origin.python is None
        else origin.model_copy(update={"python": function_path(origin.python, folder)})
        for label, origin in job.fields.items()
    }
    if job.checkpoint is not None:
        update["checkpoint"] = resolved(job.checkpoint)
    if job.quarantine is not None:
        update["quarantine"] = job.quarantine.model_copy(update={"path": resolved(job.quarantine.path)})
    return job.model_copy(update=update)
