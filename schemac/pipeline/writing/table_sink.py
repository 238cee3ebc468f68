"""Spark data sources for tables of engines. Tasks write pieces, the driver commits them once; reading is `table_source`.

Layer: pipeline.
Shape: `df.write.format("schemac-<engine>").mode("append"|"overwrite")` with the options of `SinkOptions`. Where the frame has
       a column `_errors`, rows in which it is not null go to the quarantine dataset instead, in the same pass.
       A write that fails leaves table and quarantine as they were.
Errors: what is raised in tasks and at the commit reaches the caller inside Spark's exception; `report` names a file for
        the numbers of what was written, because Spark commits in another process.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from schemac.pipeline.declaration.parts import Key
from schemac.pipeline.reading.paths import check_noted_files
from schemac.pipeline.reading.table_source import TableReader, reader_of_table, schema_of_table
from schemac.pipeline.reports.progress import TaskCount
from schemac.pipeline.spark.executors import register
from schemac.pipeline.spark.packed import ADDRESS, DELETE, ERRORS, WARNINGS, unpacked
from schemac.pipeline.writing.batches import QuarantineBuffer, StagedQuarantine, to_schema, written_by
from schemac.pipeline.writing.sink_options import (
    SinkOptions,
    SinkReport,
    encode_schema,
    nothing_fits,
    sink_options,
)
from schemac.rows.judging.reasons import QUARANTINE_SCHEMA, reason_counts
from schemac.rows.judging.settings import ReasonCount
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.history import TABLE, CommittedRun
from schemac.rows.runs.identity import Mode, RunIdentity
from schemac.rows.runs.storage import Storage, path_from_quarantine
from schemac.rows.runs.tables import (
    Merge,
    MergedRows,
    Sink,
    TableForm,
    WriteTarget,
    check_same_schema,
    sink_names,
    sink_of,
)
from schemac.text.source.catalogue import EMPTIED_TABLE, TABLE_EXISTS, TOO_MANY_QUARANTINED


@dataclass
class WrittenRows(WriterCommitMessage):  # type: ignore[misc]  # PySpark is not followed
    """What one task has written."""

    pieces: list[str] = field(default_factory=list)
    rows: int = 0
    bad: StagedQuarantine = field(default_factory=StagedQuarantine)
    moved: list[int] = field(default_factory=list)
    """Addresses of the rows of the quarantine that fit now."""
    deletes: list[pa.RecordBatch] = field(default_factory=list)
    """The deciding columns of records that delete."""
    warnings: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def total(cls, messages: Sequence[WriterCommitMessage | None]) -> "WrittenRows":
        """Add up what tasks wrote."""
        total = cls()
        for one in messages:
            if isinstance(one, WrittenRows):
                total.pieces += one.pieces
                total.rows += one.rows
                total.bad.add(one.bad)
                total.moved += one.moved
                total.deletes += one.deletes
                total.warnings.update(one.warnings)
        return total


class TableSink(DataSource):  # type: ignore[misc]  # PySpark is not followed
    """The data source that writes, and reads, tables of an engine; `spark_sink` makes the class of one."""

    engine = ""

    @classmethod
    def name(cls) -> str:
        """Return the word for `format`."""
        return f"schemac-{cls.engine}"

    def schema(self) -> StructType:
        """Columns of the table that is read."""
        return schema_of_table(self.options, self.engine)

    def reader(self, schema: StructType) -> TableReader:
        """Make a reader of these columns."""
        return reader_of_table(self.options, self.engine, schema)

    def writer(self, schema: StructType, overwrite: bool) -> "TableWriter":
        """Make a writer for one run."""
        options = sink_options(self.options, self.name())
        return TableWriter(options, overwrite, ERRORS in schema.names, self.engine)


def spark_sink(engine: str) -> type[TableSink]:
    """Return the data source that writes, and reads, the tables of an engine."""
    # Made here, and not found by its name: Spark's workers get the class itself.
    return type("EngineSink", (TableSink,), {"engine": engine})


def register_formats(spark: SparkSession) -> None:
    """Make `schemac-<engine>` known to a session, as `format` of `spark.read` and `df.write`."""
    for engine in sink_names():
        register(spark, spark_sink(engine))


class TableWriter(DataSourceArrowWriter):  # type: ignore[misc]  # PySpark is not followed
    """Writes one frame to a table of an engine; made on the driver, copied to the tasks."""

    def __init__(
        self, options: SinkOptions, overwrite: bool, is_split: bool, engine: str | None = None
    ) -> None:
        self.engine = engine or sink_names()[0]
        written = self.sink.written_schema(options.read_schema())
        self.options = replace(options, schema=encode_schema(written))
        self.is_split = is_split
        self.run = RunIdentity.parse(options.run)
        if self.run.process is None:
            # Nobody has looked before: the sink is used by itself.
            self.run = replace(self.run, mode=Mode.OVERWRITE.value if overwrite else Mode.APPEND.value)
            self.sink.recover(options.path, options.quarantine if is_split else None, self._storage_options())
        self.table = self._place(options.path, "overwrite" if overwrite else "append")
        if self.table.mode != "create" and options.must_create:
            message = f"there is already a table at `{options.path}`"
            help = "write with the mode `append` or `overwrite`, without the option `must_create`"
            raise PipelineError(TABLE_EXISTS, message, help, place=("target", "mode"))
        self.merge = None if options.merge is None else Merge.parse(options.merge)
        if self.table.mode == "append":
            # What metadata says is compared at the end of a run: it does not keep rows out.
            form = TableForm(self.schema)
            check_same_schema(self.sink, self.table.path, form, self.table.storage_options)
        quarantine = options.quarantine if is_split else None
        self.quarantine = None
        if quarantine is not None:
            place = self._place(quarantine, "append")
            self.quarantine = replace(place, table=path_from_quarantine(place.path, self.table.path))
        try:
            for one in self._places():
                self.sink.open_staging(one)
        except Exception:
            # Spark asks no writer to give up that it has not got.
            for one in self._places():
                self.sink.close_staging(one)
            raise

    @property
    def sink(self) -> Sink:
        """The engine's capability to write tables, found again in every process."""
        return sink_of(self.engine)

    @property
    def schema(self) -> pa.Schema:
        """The table's schema: kept as bytes, because pickling a pyarrow type drops the metadata of its child fields."""
        return self.options.read_schema()

    def _places(self) -> list[WriteTarget]:
        """Return the targets that there are: the table, the quarantine, or both."""
        return [place for place in (self.table, self.quarantine) if place is not None]

    def _place(self, path: str, mode: str) -> WriteTarget:
        """Return a target that is prepared for writing by this run, with the secrets of its storage resolved."""
        return self.sink.prepare(
            path,
            mode,
            storage_options=self._storage_options(),
            storage_version=self.options.storage_version,
            max_rows_per_file=self.options.max_rows_per_file,
            run=self.run,
        )

    def _storage_options(self) -> Storage:
        """Return the settings of object stores with their secrets."""
        # Looked up here, where Spark's driver runs: executors on other machines do not have the variables.
        return Storage.from_json(self.options.storage_options).resolved()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WrittenRows:
        """Write the rows of one task."""
        written, schema = WrittenRows(), self.schema
        with tempfile.TemporaryFile() as file:
            bad = QuarantineBuffer(file, self.run.id, self.options.limits())
            context = TaskContext.get()
            staging = self.table.staging if self.table.is_staged else None
            notes = TaskCount(staging, None if context is None else int(context.partitionId()))
            good = self._good_batches(_with_progress(unpacked(iterator), notes), bad, written)
            if self.merge is not None and self.merge.deletes is not None:
                good = self._without_deletes(good, written)
            good = (to_schema(one, schema) for one in good)
            first = next(good, None)
            if first is not None:
                write = partial(self.sink.write, self.table, schema)
                written.pieces = written_by(write, chain([first], good))
            if not self.options.replay:
                bad.stage(self.sink, self.quarantine)
            written.bad = bad.staged
        return written

    def _good_batches(
        self, batches: Iterator[pa.RecordBatch], bad: QuarantineBuffer, written: WrittenRows
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows that fit; `bad` takes the others, `written` counts what comes by."""
        for batch in batches:
            if self.is_split:
                batch = bad.take_from(batch)
            if self.options.replay:
                written.moved += batch.column(ADDRESS).to_pylist()
            if WARNINGS in batch.schema.names:
                written.warnings.update(reason_counts(batch.column(WARNINGS)))
            if batch.num_rows:
                written.rows += batch.num_rows
                yield batch

    def _without_deletes(
        self, batches: Iterator[pa.RecordBatch], written: WrittenRows
    ) -> Iterator[pa.RecordBatch]:
        """Yield the records that are rows, and keep the keys that the others delete."""
        assert self.merge is not None
        for batch in batches:
            is_delete = pc.fill_null(pc.equal(batch.column(DELETE), self.merge.deletes), False)
            deletes, rows = batch.filter(is_delete), batch.filter(pc.invert(is_delete))
            if deletes.num_rows:
                written.deletes.append(to_schema(deletes, self._deletes_schema))
            if rows.num_rows:
                yield rows

    @property
    def _deletes_schema(self) -> pa.Schema:
        """Return the columns that decide which row a record deletes."""
        assert self.merge is not None
        return pa.schema([self.schema.field(name) for name in self.merge.columns])

    def _merged_rows(self, total: WrittenRows) -> MergedRows | None:
        """Decide which records count against the rows of the table; return None where keys do not matter."""
        if self.merge is None:
            return None
        deletes = pa.Table.from_batches(total.deletes, self._deletes_schema)
        return self.sink.judge(self.table, TableForm(self.schema), total.pieces, deletes, self.merge)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Make the rows appear. The quarantine comes first, so that no record is ever in neither; the table decides.

        Readers of the quarantine find in the table which of its rows are valid (see `history`).
        """
        if self.options.inputs is not None:
            check_noted_files(self.options.inputs)
        total = WrittenRows.total(messages)
        good, bad, moved = total.pieces, total.bad.pieces, total.moved
        reasons, warnings = map(ReasonCount.sorted, (total.bad.reasons, total.warnings))
        report = SinkReport(total.rows, total.bad.rows, reasons, warnings=warnings)
        self._check_limits(report, total.bad.broken)
        if self.options.replay and not moved:
            # Nothing fits: everything stays where it is.
            self._finish(replace(report, version=self.table.read_version))
            return
        self._check_emptied(report)
        self.sink.claim(self.table, good)
        earlier = self._find_run()
        if earlier is not None:
            self.sink.give_up(self.table, good)
            if self.quarantine is not None:
                self.sink.give_up(self.quarantine, bad)
            if self.options.report is not None:
                replace(SinkReport.of_commit(earlier), is_repeat=True).write(self.options.report)
            return
        merged = self._merged_rows(total)
        if merged is not None:
            written = report.rows_written - merged.superseded - merged.deleted
            superseded, deleted, good = merged.superseded, merged.deleted, merged.fragments
            report = replace(report, rows_written=written, superseded=superseded, deleted=deleted)
        # What does not fit in a replay is where it was.
        counts = replace(report, rows_quarantined=0) if self.options.replay else report
        rows = tuple(counts.properties().items())
        more = json.loads(self.options.properties).items()
        table = replace(self.table, properties=(*rows, *more))
        quarantine_version = self._commit_quarantine(rows, bad, moved)
        try:
            if merged is not None and merged.version:
                version = self.sink.merge(table, merged)
            else:
                version = self.sink.commit(table, self.options.form(), good)
        except Exception:
            # What failed may have come after the commit.
            happened = self._find_run()
            if quarantine_version is not None and self.quarantine is not None and happened is None:
                self.sink.take_back(self.quarantine, quarantine_version)
            raise
        self._finish(replace(report, version=version, quarantine_version=quarantine_version))

    def _find_run(self) -> CommittedRun | None:
        """Return the commit of this run in the table; None if there is none."""
        return self.sink.find_run(self.run, self.table.path, self.table.storage_options)

    def _commit_quarantine(
        self, counts: tuple[tuple[str, str], ...], bad: list[str], moved: list[int]
    ) -> int | None:
        """Add the rows that do not fit, or remove those that fit now; None if there are none."""
        if self.quarantine is None or not (bad or moved):
            return None
        quarantine = replace(self.quarantine, properties=(*counts, (TABLE, self.quarantine.table)))
        if moved:
            return self.sink.move_out(quarantine, QUARANTINE_SCHEMA, self.options.replay, moved)
        form = TableForm(QUARANTINE_SCHEMA, storage_version=quarantine.storage_version)
        return self.sink.commit(quarantine, form, bad, may_join=True)

    def _finish(self, report: SinkReport) -> None:
        """Remove the folders that tasks wrote to, and write the report."""
        for place in self._places():
            self.sink.close_staging(place)
        if self.options.report is not None:
            report.write(self.options.report)

    def _check_limits(self, report: SinkReport, broken: Counter[Key]) -> None:
        """Refuse to commit if a limit of quarantined records was passed; the report says which."""
        records = report.rows_quarantined + report.rows_written
        passed = self.options.limits().passed(records, report.rows_quarantined, broken)
        if passed is not None:
            if self.options.report is not None:
                replace(report, passed=passed).write(self.options.report)
            place = ("maxQuarantined", *passed.place)
            raise PipelineError(TOO_MANY_QUARANTINED, passed.message, place=place)

    def _check_emptied(self, report: SinkReport) -> None:
        """Refuse to replace rows by nothing, and to create a table from records of which none fits: it is most often a mistake."""
        if report.rows_written or not self.options.keep_rows:
            return
        if self.table.mode == "create" and report.rows_quarantined:
            raise nothing_fits(report, self.table.path)
        if self.table.mode != "overwrite":
            return
        rows = self.sink.count_rows(self.table.path, self.table.storage_options)
        if rows:
            message = f"there is no record to replace the rows of `{self.table.path}` ({rows:,})"
            help = "set `allowEmpty: true` under `target` if that is intended"
            raise PipelineError(EMPTIED_TABLE, message, help, place=("target", "mode"))

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Remove what was written, also where the process that committed was killed between its two commits."""
        total = WrittenRows.total(messages)
        if self.quarantine is not None:
            # This attempt's rows go out of the quarantine again, unless the table has the run.
            rows = self.sink.find_run(self.run, self.quarantine.path, self.quarantine.storage_options)
            if rows is not None and rows.identity == self.run and self._find_run() is None:
                self.sink.take_back(self.quarantine, rows.version)
        self.sink.discard(self.table, total.pieces)
        if self.quarantine is not None:
            self.sink.discard(self.quarantine, total.bad.pieces)


def _with_progress(batches: Iterator[pa.RecordBatch], notes: TaskCount) -> Iterator[pa.RecordBatch]:
    """Yield the batches, and count their rows for the progress."""
    for batch in batches:
        notes.add(batch.num_rows)
        yield batch
    notes.note()
