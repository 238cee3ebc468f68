"""The rows of a run in a format of Spark: files such as Parquet, or tables of a connector that the session has.

Layer: pipeline.
Shape: conformed rows in; the good ones in the format, the others in the quarantine, a table of the default engine. They are computed
       once and kept on disk, because Spark writes to one place at a time. For a table of an engine of ours the connector appends to an
       empty table aside, whose files become pieces of the run, committed as those of our own tasks.
Rule: files come into the target as `file_runs` says. The quarantine is committed before, and taken back where the rows could not be
      written: by the next run, if this one is killed. Which types a connector can write is asked of the connector.
Errors: PipelineError, as the sinks of engines raise it; SC656 where the session has no such connector, SC698 where it cannot write.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import StorageLevel
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.types import StructType

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.paths import FileStates, check_files_unchanged
from schemac.pipeline.spark.failures import deepest, known_cause
from schemac.pipeline.spark.packed import ERRORS, RAW, SOURCE, WARNINGS
from schemac.pipeline.spark.sql import name, with_operator
from schemac.pipeline.writing.batches import count_reasons, stage_quarantine
from schemac.pipeline.writing.file_runs import ROWS as ROWS_FOLDER
from schemac.pipeline.writing.file_runs import FileRuns, file_errors_reported, local_address, open_files
from schemac.pipeline.writing.sink_options import SinkReport, nothing_fits, too_many_quarantined
from schemac.rows.judging.reasons import QUARANTINE_SCHEMA
from schemac.rows.judging.settings import ReasonCount
from schemac.rows.runs.history import TABLE
from schemac.rows.runs.identity import Mode, RunIdentity
from schemac.rows.runs.storage import hadoop_address, path_from_quarantine
from schemac.rows.runs.tables import Sink, StagedRows, TableForm, WriteTarget, sink_of
from schemac.text.source.catalogue import (
    CONNECTOR,
    EMPTIED_TABLE,
    SCHEMA_MISMATCH,
    TABLE_EXISTS,
    UNWRITABLE_TARGET,
)


def format_differences(expected: StructType, actual: StructType) -> tuple[str, ...]:
    """Return how the columns of a table differ from those that are written; nullability is not compared, since few formats keep it."""
    # What may be null is no part of these texts.
    there = {field.name: field.dataType.simpleString() for field in actual.fields}
    wanted = {field.name: field.dataType.simpleString() for field in expected.fields}
    differences = [
        f"`{label}` is missing"
        if label not in there
        else f"`{label}` is {there[label]} in the table, and {type_text} in the schema"
        for label, type_text in wanted.items()
        if there.get(label) != type_text
    ]
    return (*differences, *(f"`{label}` is in the table only" for label in there if label not in wanted))


NO_CONNECTOR = "DATA_SOURCE_NOT_FOUND"
"""Spark's name of the error for a format that it has no class of."""
ADD_A_CONNECTOR = (
    "does the session have a connector for this format? `spark: {settings: {spark.jars: ...}}` adds one"
)
OWN_WRITER = "change the schema, or leave `connector` out of `target`: schemac's own writer has all types"
PLACE = ("target", "connector")
INSIDE = re.compile(r"(?:, location: |, )?/\S+\.rs:\d.*")
"""Where in its own sources a library found a fault."""


def connector_missing(format: str, place: tuple[str, ...] = PLACE) -> PipelineError:
    """Return the error that the session has no class of the format."""
    message = f"Spark finds no connector of the format `{format}`"
    return PipelineError(UNWRITABLE_TARGET, message, ADD_A_CONNECTOR, place=place)


def open_staging(frame: DataFrame, connector: str, sink: Sink, place: WriteTarget, form: TableForm) -> str:
    """Make the table that the connector writes to, and return its path. Raises PipelineError if the connector sees other columns in it."""
    path = sink.open_staging_table(place, form)
    try:
        seen = frame.sparkSession.read.format(connector).load(path).schema
    except (PySparkException, Py4JError) as error:
        raise _connector_error(error, connector, "cannot read a table of this schema") from error
    differences = format_differences(frame.schema, seen)
    if differences:
        message = (
            f"the connector `{connector}` has different types than the rows: {'; '.join(differences[:5])}"
        )
        raise PipelineError(CONNECTOR, message, OWN_WRITER, place=PLACE)
    return path


def write_staging(
    good: DataFrame, connector: str, path: str, options: Mapping[str, str], sink: Sink, place: WriteTarget
) -> StagedRows:
    """Have the connector write all rows; return them as pieces of the run."""
    rows = good.count()
    if not rows:
        # A connector may take no rows for a mistake.
        return StagedRows([], 0)
    try:
        good.write.format(connector).options(**options).mode("append").save(path)
    except (PySparkException, Py4JError) as error:
        raise _connector_error(error, connector, "does not write the rows") from error
    written = sink.collect_staging_table(place)
    if written.rows != rows:
        message = f"the connector `{connector}` wrote {written.rows} of {rows} rows"
        raise PipelineError.uncommitted(CONNECTOR, message, place=PLACE)
    return written


def _connector_error(error: Exception, connector: str, what: str) -> Exception:
    """Raise the connector's errors; errors with another cause stay unchanged."""
    text = str(error)
    if NO_CONNECTOR in text:
        return connector_missing(connector)
    if PipelineError.from_text(text) is not None or known_cause(text) is not None:
        return error
    reason = INSIDE.sub("", deepest(text)).rstrip("]. ")
    return PipelineError(CONNECTOR, f"the connector `{connector}` {what}: {reason}", OWN_WRITER, place=PLACE)


WITHOUT_TYPES = ("csv", "json", "xml")
"""Formats of files that do not say which types their values have."""
MODE = ("target", "mode")
BOOKKEEPING_COLUMNS = (ERRORS, WARNINGS, RAW, SOURCE)
"""Columns of a conformed frame besides those of the table."""


@dataclass
class FormatTarget:
    """Writes the rows of a run in a format of Spark."""

    spark: SparkSession
    job: Job
    run: RunIdentity
    is_undecided: bool = False
    """Whether the commit failed so that nobody could see what came of it."""

    @property
    def format(self) -> str:
        """Spark's word for the format."""
        return str(self.job.target.format)

    @property
    def runs(self) -> FileRuns | None:
        """The runs of the target; None if it does not record them."""
        target = self.job.target
        return FileRuns(*open_files(self.spark, target.path)) if target.is_of_files else None

    @property
    def _store_options(self) -> dict[str, str]:
        """The options by which Hadoop reaches the store of the files; a connector has its own."""
        path = self.job.target.path
        return self.job.storage_options.hadoop_options(path) if self.job.target.is_of_files else {}

    # The quarantine and files are committed here, and not in a process of Spark.
    @file_errors_reported()
    def write(self, frame: DataFrame, keys: list[str], seen: FileStates) -> SinkReport:
        """Write all rows of a conformed frame; nothing stays where it raises."""
        self._check_target(frame)
        persisted = frame.persist(StorageLevel.DISK_ONLY)
        # The quarantine does not name a target that records no runs.
        table = "" if self.runs is None else local_address(self.runs.path)
        place = _quarantine_target(self.job, self.run, table)
        try:
            good = persisted.where(f"{ERRORS} is null")
            sink_of(None).open_staging(place)
            staged = stage_quarantine(persisted, place, self.run.id, self.job.max_quarantined)
            reasons, warnings = map(ReasonCount.sorted, (staged.reasons, count_warnings(good)))
            report = SinkReport(good.count(), staged.rows, reasons, warnings=warnings)
            records = report.rows_written + staged.rows
            passed = self.job.max_quarantined.passed(records, staged.rows, staged.broken)
            if passed is not None:
                raise too_many_quarantined(passed, report)
            self._check_emptied(report)
            columns = {label: functions.col(name(label)) for label in good.drop(*BOOKKEEPING_COLUMNS).columns}
            for label in columns.keys() & {*keys}:
                # A format may keep that a column has no nulls, which Spark does not know.
                columns[label] = with_operator(self.spark, "KnownNotNull", columns[label]).alias(label)
            rows_of_table = good.select(*columns.values())
            number, version = self._commit(rows_of_table, seen, report, place, staged.pieces)
            return replace(report, version=number, quarantine_version=version)
        finally:
            sink_of(None).close_staging(place)
            with suppress(Py4JError, ConnectionError):
                # What Java kept has gone with it.
                persisted.unpersist()

    def _commit(
        self,
        good: DataFrame,
        seen: FileStates,
        report: SinkReport,
        place: WriteTarget,
        staged_files: list[str],
    ) -> tuple[int, int | None]:
        """Write and commit the rows that fit, and the others before them; the number of the run, and the version of the quarantine."""
        counts, runs = report.properties(), self.runs
        if runs is None:
            check_files_unchanged(seen)
            with self._quarantine_committed(place, staged_files, counts, _is_known_failure) as version:
                target = self.job.target
                mode = {Mode.CREATE: "errorifexists"}.get(target.mode, target.mode.value)
                writer = good.write.format(self.format).options(**target.options).mode(mode)
                try:
                    writer.save(target.path)
                except AnalysisException as error:
                    first_line = str(error).strip().splitlines()[0]
                    raise PipelineError(
                        UNWRITABLE_TARGET, first_line, ADD_A_CONNECTOR, place=("target", "format")
                    ) from error
                except Py4JError as error:
                    # That there is no class of the format comes as Java's error; other errors of Java are told from each other by their causes, later.
                    if NO_CONNECTOR not in str(error):
                        raise
                    raise connector_missing(self.format, ("target", "format")) from error
                return 0, version
        with runs.staged(self.run) as folder:
            files = good.write.format(self.format).options(**self._store_options, **self.job.target.options)
            files.save(folder.file(ROWS_FOLDER))
            check_files_unchanged(seen)

            def has_failed(_: BaseException) -> bool:
                failed = runs.has_failed(folder, self.run)
                self.is_undecided = failed is None
                return bool(failed)

            commit = runs.claimed(folder, self.run)
            with self._quarantine_committed(place, staged_files, counts, has_failed) as version:
                return commit(counts), version

    def _check_target(self, frame: DataFrame) -> None:
        """Refuse to create a table that exists, or to append to one with other columns."""
        target = self.job.target
        there = self.schema()
        if there is not None and target.mode is Mode.CREATE:
            message = f"there is already a table at `{target.path}`"
            help = "set `mode: append` or `mode: overwrite` under `target`"
            raise PipelineError(TABLE_EXISTS, message, help, place=MODE)
        if there is None or target.mode is not Mode.APPEND or self.format in WITHOUT_TYPES:
            return
        expected = frame.drop(*BOOKKEEPING_COLUMNS).schema
        differences = format_differences(expected, there)
        if differences:
            message = f"the table `{target.path}` has a different schema: {'; '.join(differences[:5])}"
            help = "`mode: overwrite` replaces it; or change its columns to those of the schema first"
            raise PipelineError(SCHEMA_MISMATCH, message, help, place=("target", "path"))

    def schema(self) -> StructType | None:
        """Return the columns of the table that is there; None if there is none."""
        if self.runs is not None and not self.runs.system.exists(self.runs.path):
            return None
        try:
            reader = self.spark.read.format(self.format).options(**self._store_options)
            path = self.job.target.path
            return reader.load(hadoop_address(path) if self.job.target.is_of_files else path).schema
        except (PySparkException, Py4JJavaError):
            # Spark raises Java's error where the session has no connector of the format.
            return None

    def differences(self, frame: DataFrame) -> tuple[str, ...]:
        """Return how the table that was written differs from the rows."""
        there = self.schema()
        if there is None:
            return (f"`{self.job.target.path}` cannot be read back as {self.format}",)
        if self.format in WITHOUT_TYPES:
            return ()
        return format_differences(frame.drop(*BOOKKEEPING_COLUMNS).schema, there)

    def _check_emptied(self, report: SinkReport) -> None:
        """Refuse to replace all rows by none, or to create a table that no record fits."""
        target = self.job.target
        if target.allow_empty or report.rows_written:
            return
        is_there = self.schema() is not None
        if not is_there and report.rows_quarantined:
            raise nothing_fits(report, target.path)
        if is_there and target.mode is Mode.OVERWRITE:
            message = f"there is no record to replace the rows of `{target.path}`"
            help = "set `allowEmpty: true` under `target` if that is intended"
            raise PipelineError(EMPTIED_TABLE, message, help, place=MODE)

    @contextmanager
    def _quarantine_committed(
        self,
        place: WriteTarget,
        staged_files: list[str],
        counts: Mapping[str, str],
        has_failed: Callable[[BaseException], bool],
    ) -> Iterator[int | None]:
        """Commit the quarantine, and yield its version; it is taken back if the rows of the table have failed for sure."""
        table = [(TABLE, place.table)] if place.table else []
        place = replace(place, properties=(*counts.items(), *table))
        try:
            form = TableForm(QUARANTINE_SCHEMA)
            yield sink_of(None).commit(place, form, staged_files, may_join=True) if staged_files else None
        except BaseException as error:
            if has_failed(error):
                sink = sink_of(None)
                committed_run = sink.find_run(self.run, place.path, place.storage_options)
                if committed_run is not None and committed_run.identity == self.run:
                    sink.take_back(place, committed_run.version)
            raise


def _is_known_failure(error: BaseException) -> bool:
    """Whether Spark reported that a write failed. If Java has ended instead, the table of a connector may have the rows."""
    return isinstance(error, Py4JJavaError) or not isinstance(error, Py4JError | ConnectionError)


def recover_runs(spark: SparkSession, job: Job) -> FileRuns:
    """Return the runs of a target of files, when what runs that died left there, and in the quarantine, has been taken back."""
    sink, storage, runs = sink_of(None), job.storage_options, FileRuns(*open_files(spark, job.target.path))

    def take_back(run: RunIdentity) -> None:
        """Take the rows of a run that has not happened out of the quarantine."""
        if sink.find(job.quarantine_path, storage) is None:
            return
        for committed_run in sink.runs(job.quarantine_path, storage):
            if (committed_run.id, committed_run.identity.started) == (run.id, run.started):
                sink.take_back(_quarantine_target(job, run, local_address(runs.path)), committed_run.version)
                return

    sink.recover(local_address(runs.path), job.quarantine_path, storage)
    runs.recover(take_back)
    return runs


def _quarantine_target(job: Job, run: RunIdentity, table: str) -> WriteTarget:
    """Return the target for the quarantined rows of a run into `table`, which may be empty."""
    place = sink_of(None).prepare(
        job.quarantine_path,
        Mode.APPEND.value,
        storage_options=job.storage_options,
        storage_version=None,
        max_rows_per_file=job.target.max_rows_per_file,
        run=run,
    )
    return replace(place, table=path_from_quarantine(place.path, table) if table else "")


def count_warnings(good: DataFrame) -> Counter[tuple[str, str]]:
    """Count what the rows that fit were warned of, by path and rule."""
    return count_reasons(good, WARNINGS)[2] if WARNINGS in good.columns else Counter()
