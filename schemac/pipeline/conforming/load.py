"""A pipeline file as a job with its dataset, and all that can be found wrong with it before Spark starts.

Layer: pipeline.
Shape: a path in; a `LoadedJob` out, or findings in the report, for `schemac run --dry-run`, `schemac check` and editors. Paths in the
       file are relative to it and become absolute, for Spark may run in another folder; those of object stores stay.
Errors: SC611 pipeline-file, SC614 source-option, SC620 to SC626 of `fields`, and whatever its manifest has; PipelineError.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from schemac.arrow.metadata import with_version
from schemac.arrow.to_arrow import to_arrow_fields
from schemac.artifacts.targets import ARTIFACTS
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import SchemaField
from schemac.language.manifest.library import Reuse
from schemac.language.physical import ArrowSchema, LoweredSchema
from schemac.pipeline.conforming.gather import expression_mistakes, source_mistakes
from schemac.pipeline.conforming.mapping import backfill_mistakes, mapping_mistakes
from schemac.pipeline.conforming.row_constraints import merge_mistakes, reference_mistakes
from schemac.pipeline.declaration.job import FILE_FORMATS, Job, Target
from schemac.pipeline.declaration.parts import path_from
from schemac.pipeline.declaration.source_options import option_mistakes
from schemac.pipeline.errors import PipelineError, located
from schemac.pipeline.reading.source import check_input
from schemac.pipeline.spark.python_functions import PythonFunction
from schemac.project.configuration import Project, find_project
from schemac.project.discovery import has_lock
from schemac.project.imported import FolderFiles
from schemac.project.locking import locked_datasets
from schemac.project.options import CompileOptions
from schemac.project.overlays import RunOverlay
from schemac.project.stages import check_source, emit
from schemac.registry.engine import engines
from schemac.rows.judging.reasons import QUARANTINE_SCHEMA
from schemac.rows.runs.columns import COLUMN_SINK
from schemac.rows.runs.identity import Mode
from schemac.rows.runs.storage import absolute, is_local
from schemac.rows.runs.tables import ExistingTable, Sink, TableForm, check_same_schema, sink_engine, sink_of
from schemac.text.source.catalogue import (
    NOT_A_QUARANTINE,
    NOT_A_TABLE,
    PIPELINE_FILE,
    SAME_PATH,
    TABLE_EXISTS,
    UNWRITABLE_TARGET,
)
from schemac.text.source.diagnostics import Report, SourceText
from schemac.text.source.json_object import TreePath
from schemac.text.source.phrases import Help
from schemac.text.source.text import decode_text, read_text
from schemac.text.syntax.document import Document, parse
from schemac.text.syntax.model import model_errors
from schemac.versions.identity.compilation import Locked
from schemac.versions.identity.lock import Numbers


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
        """The Arrow schema of the table."""
        return self.lowered.to_arrow()

    @property
    def form(self) -> TableForm:
        """The form of the table that the job writes."""
        if self.job.target.is_of_spark:
            return TableForm(self.lowered.to_arrow())
        sink = sink_of(self.job.target.format)
        lowered = self.lowered if self.version is None else with_version(self.lowered, self.version)
        form = sink.form(lowered, self.numbers, self.dataset.schema.extra)
        return replace(form, version=self.version)

    def report(self, error: PipelineError, report: Report) -> None:
        """Report an error of a run at the setting of the file that it is about."""
        place = _known_place(self.document, error.place)
        if place:
            _report_mistake(self.document, report, error.at(*place), on_key=error.on_key)
        else:
            name = self.document.source.name
            report.add(error.code, error.message, file=name, help=error.help or "")


def load_job(
    path: Path,
    report: Report,
    overlay: RunOverlay | None = None,
    edited: Mapping[str, bytes] = MappingProxyType({}),
) -> LoadedJob | None:
    """Load the job of a pipeline file, its schema with an overlay; None after reporting what is wrong with it.

    `edited` are texts that count in place of files, by absolute path.
    """
    source = _read_source(path, edited, report)
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
        job = Job.model_validate(value, context={"folder": path.parent})
    except ValidationError as error:
        for model_error in model_errors(error, Job, value):
            if model_error.path[:1] == ("storage",):
                # Without an excerpt: the line may hold a secret.
                report.add(PIPELINE_FILE, model_error.message, file=str(path), help=model_error.help)
            else:
                mistake = PipelineError(
                    PIPELINE_FILE, model_error.message, model_error.help, place=model_error.path
                )
                _report_mistake(document, report, mistake, on_key=model_error.on_key)
        return None
    if not job.target.is_of_spark or job.target.is_of_files:
        # What a connector calls a table need not be a path.
        target = path_from(path.parent, job.target.path)
        job = job.model_copy(update={"target": job.target.model_copy(update={"path": target})})
    refused = [
        mistake.at(*job.place_of(i, mistake.place))
        for i, part in enumerate(job.parts)
        for mistake in option_mistakes(part.source, is_stream=job.trigger is not None)
    ]
    for mistake in refused:
        _report_mistake(document, report, mistake, on_key=True)
    if refused:
        return None
    if job.schema_ is None:
        help = "add `schema:` with the path of a manifest"
        _report_mistake(document, report, PipelineError(PIPELINE_FILE, "a pipeline needs `schema`", help))
        return None
    return _load_schema(job, path, document, report, overlay, edited)


def _read_source(path: Path, edited: Mapping[str, bytes], report: Report) -> SourceText | None:
    """Return the text of a file, the edited one if there is one; None after reporting that it cannot be read."""
    content = edited.get(os.path.abspath(path))
    if content is None:
        return read_text(path, str(path), report)
    return decode_text(content, str(path), report)


def _report_mistake(
    document: Document, report: Report, mistake: PipelineError, *, on_key: bool = False
) -> None:
    """Report a mistake at its place in the document."""
    location = document.location(mistake.place, on_key=on_key)
    report.add(mistake.code, mistake.message, location=location, help=mistake.help or "")


def _load_schema(
    job: Job,
    path: Path,
    document: Document,
    report: Report,
    overlay: RunOverlay | None,
    edited: Mapping[str, bytes],
) -> LoadedJob | None:
    """Compile the schema that a job names; None after reporting what is wrong with its manifest, or which dataset it means."""
    assert job.schema_ is not None
    project = find_project(path.parent.resolve(), report)
    manifest = path.parent / job.schema_
    source = _read_source(manifest, edited, report)
    reuse = Reuse(FolderFiles(manifest, str(manifest), edited))
    datasets = check_source(source, project, report, reuse=reuse) if source is not None else []
    if report.has_errors:
        return None
    matching = [dataset for dataset in datasets if job.dataset in (None, dataset.name)]
    if len(matching) != 1:
        names = [dataset.name for dataset in datasets]
        otherwise = f"write `dataset:` with one of: {', '.join(names)}"
        help = Help.nearest(job.dataset or "", names, otherwise, mark="'")
        what = f"no dataset '{job.dataset}'" if job.dataset else f"{len(names)} datasets"
        place = ("dataset",) if job.dataset else ("schema",)
        mistake = PipelineError(PIPELINE_FILE, f"{manifest} has {what}", help, place=place)
        _report_mistake(document, report, mistake)
        return None
    (dataset,) = matching
    locked = None
    if overlay is not None:
        schema_report = Report()
        overlay.check_names([one.name for one in datasets], schema_report, is_whole=False)
        locked = _find_lock(manifest, dataset, schema_report)
        dataset, locked = overlay.over(dataset, locked, project, schema_report)
        report.extend(schema_report.diagnostics)
        if schema_report.has_errors:
            return None
    loaded = _compile_schema(job, dataset, project, document, report)
    if loaded is None or not has_lock(manifest):
        return loaded
    locked = locked or _find_lock(manifest, dataset, report)
    if report.has_errors or locked is None:
        return None
    return replace(loaded, numbers=locked.numbers, version=locked.version.table_record)


def _find_lock(manifest: Path, dataset: LogicalDataset, report: Report) -> Locked | None:
    """Return the lock next to a manifest; None if there is none, and after reporting what is wrong with it."""
    if not has_lock(manifest):
        return None
    return locked_datasets(manifest, str(manifest), [dataset], report, is_error=True).get(dataset.name)


def _compile_schema(
    job: Job, dataset: LogicalDataset, project: Project, document: Document, report: Report
) -> LoadedJob | None:
    """Compile the schema of a job as the engine of its table will have it; None if that engine refuses it."""
    # Tables have the attributes as metadata, whatever the settings say of artifacts.
    options = replace(CompileOptions.of(project, schema_engines(job.target)), has_metadata=True)
    emit(dataset, options, report)
    if report.has_errors:
        return None
    loaded = LoadedJob(job, document, dataset, to_arrow_fields(dataset, options.arrow_options))
    schema = loaded.arrow_schema
    expressions: dict[TreePath, PipelineError] = {}
    for i, part in enumerate(job.parts):
        for error in expression_mistakes(part):
            place = job.place_of(i, error.place)
            expressions.setdefault(place, error.at(*place))
    of_fields = (*mapping_mistakes(job, schema), *backfill_mistakes(job, schema), *expressions.values())
    for error in (*of_fields, *merge_mistakes(job, schema), *reference_mistakes(job, schema)):
        loaded.report(error, report)
    return None if report.has_errors else loaded


def schema_engines(target: Target) -> tuple[str, ...]:
    """Return the engines by whose rules a schema has to fit: that of the table, or Spark for the formats that it writes on its own.

    Through a connector it is both: the engine, and the one that knows what the connector reads of its tables.
    """
    if not target.is_of_spark:
        name = sink_engine(target.format).name
        others = (one.name for one in engines() if target.is_through_connector and one.alters == name)
        return (name, *others)
    return (target.format if target.format in ARTIFACTS.names(engines()) else "spark",)


def _known_place(document: Document, place: TreePath) -> TreePath:
    """Return a place as far as the file has it: `m: a.b` is short for `m: {from: a.b}`."""
    value: Any = document.value
    for i, part in enumerate(place):
        is_there = (
            part in value if isinstance(value, dict) else isinstance(value, list) and isinstance(part, int)
        )
        if not is_there:
            return place[:i]
        value = value[part]
    return place


TARGET_PATH, QUARANTINE_PATH = ("target", "path"), ("quarantine", "path")


def check(job: Job, schema: pa.Schema | None = None, *, is_replay: bool = False) -> None:
    """Check that the job can run; existing tables are compared with the schema if there is one. Raises the first mistake."""
    for error in mistakes(job, schema, is_replay=is_replay):
        raise error


def mistakes(
    job: Job, schema: pa.Schema | None = None, *, is_replay: bool = False, is_typed: bool = False
) -> Iterator[PipelineError]:
    """Yield what keeps a job from running.

    While its file `is_typed` in an editor, only this machine's files are looked at: nothing is asked over a network, no
    environment variable is needed, and no function of the author's is loaded.
    """
    try:
        if not is_typed:
            job.storage_options.resolved()
        if job.is_backfill and schema is not None:
            _check_backfill(job, schema, is_typed=is_typed)
            return
        if not is_replay:
            yield from source_mistakes(job)
        if schema is not None:
            yield from (*mapping_mistakes(job, schema), *backfill_mistakes(job, schema))
            yield from (*merge_mistakes(job, schema), *reference_mistakes(job, schema))
        check_places(job)
        _check_tables(job, schema, is_typed=is_typed)
    except PipelineError as error:
        yield error


def _check_backfill(job: Job, schema: pa.Schema, *, is_typed: bool) -> None:
    """Check that a backfill can run. Raises the first mistake."""
    for wrong in (*backfill_mistakes(job, schema), *mapping_mistakes(job, schema)):
        raise wrong
    for label in job.joins:
        with located("joins", label):
            check_input(job.part_of_join(label))
    for label, origin in job.origins.items():
        if origin.python is not None and not is_typed:
            PythonFunction.of(label, origin.python)
    if not is_typed or is_local(job.target.path):
        form, names = TableForm(schema), tuple(job.fields)
        COLUMN_SINK.of(job.target.engine).new_columns(job.target.path, form, names, job.storage_options)


def _check_tables(job: Job, schema: pa.Schema | None, *, is_typed: bool) -> None:
    """Whether the tables at the target and at the quarantine, if there are any, can take the rows."""
    sink = sink_of(job.target.engine.name)
    # A format of Spark is looked at when Spark is there.
    is_of_spark = job.target.is_of_spark
    target = None if is_of_spark else _find_table(sink, job, job.target.path, TARGET_PATH, is_typed=is_typed)
    if target is not None and job.target.mode is Mode.CREATE:
        raise PipelineError(
            TABLE_EXISTS,
            f"there is already a table at `{job.target.path}`",
            "set `mode: append` or `mode: overwrite` under `target`",
            place=("target", "mode") if "mode" in job.target.model_fields_set else TARGET_PATH,
        )
    if target is not None and schema is not None and job.target.mode in (Mode.APPEND, Mode.UPSERT):
        check_same_schema(sink, job.target.path, TableForm(schema), job.storage_options)
    quarantine = _find_table(sink, job, job.quarantine_path, QUARANTINE_PATH, is_typed=is_typed)
    if quarantine is not None and list(quarantine.names) != QUARANTINE_SCHEMA.names:
        columns = ", ".join(f"`{label}`" for label in quarantine.names[:5])
        message = f"the table at `{job.quarantine_path}` is not a quarantine: it has {columns}"
        help = "name another path as `quarantine: {path: ...}`"
        raise PipelineError(NOT_A_QUARANTINE, message, help, place=QUARANTINE_PATH)


def check_places(job: Job) -> None:
    """Whether the target and the quarantine can be where they are to be, before anything is looked up there."""
    if absolute(job.target.path) == absolute(job.quarantine_path):
        message = "`target` and `quarantine` have the same path"
        raise PipelineError(SAME_PATH, message, "specify different paths", place=QUARANTINE_PATH)
    is_folder = not job.target.is_of_spark or job.target.format in FILE_FORMATS
    for path, place in ((job.target.path, TARGET_PATH), (job.quarantine_path, QUARANTINE_PATH)):
        if is_local(path) and (is_folder or place is QUARANTINE_PATH):
            whole = Path(absolute(path))
            nearest = next(folder for folder in (whole, *whole.parents) if folder.exists())
            if not nearest.is_dir():
                reason = f"`{whole}` cannot be written: `{nearest}` is a file"
                raise PipelineError(UNWRITABLE_TARGET, reason, "name a path inside a folder", place=place)
            if not os.access(nearest, os.W_OK):
                reason = f"`{whole}` cannot be written: no permission to write in `{nearest}`"
                help = "name another path, or change the permissions"
                raise PipelineError(UNWRITABLE_TARGET, reason, help, place=place)


def _find_table(
    sink: Sink, job: Job, path: str, place: tuple[str, ...], *, is_typed: bool
) -> ExistingTable | None:
    """Return the table at a path; None if a new one can be made, and for one that is not looked at while its file is typed."""
    if is_typed and not is_local(path):
        return None
    with located(*place):
        table = sink.find(path, job.storage_options)
    if table is None and is_local(path):
        folder = Path(absolute(path))
        if folder.exists() and any(folder.iterdir()) and not sink.is_free(str(folder)):
            message = f"`{path}` exists, but is not a {job.target.engine.title} table"
            raise PipelineError(NOT_A_TABLE, message, "name a path that does not exist yet", place=place)
    return table


def checked_job(
    path: Path,
    report: Report,
    overlay: RunOverlay | None = None,
    edited: Mapping[str, bytes] = MappingProxyType({}),
    *,
    is_typed: bool = False,
) -> LoadedJob | None:
    """Load a pipeline file as `load_job` does, and report what else prevents a run: sources, tables, output paths.

    `is_typed` as for `mistakes`.
    """
    loaded = load_job(path, report, overlay, edited)
    if loaded is None:
        return None
    for error in mistakes(loaded.job, loaded.arrow_schema, is_typed=is_typed):
        loaded.report(error, report)
    return loaded
