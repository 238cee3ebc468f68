"""The frame of a run written to a table of an engine, with the engine's own sink or through a connector.

Layer: pipeline.
Shape: a conformed frame in, the numbers of what was written out (see `SinkReport`). Through a connector the rows are computed once and
       kept on disk, because those that fit and those that do not are written by different programs.
Errors: PipelineError as the sink raised it in Spark's processes; SC613 where a limit was passed. Nothing is committed then.
"""

import json
from collections.abc import Mapping

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from schemac.pipeline.conforming.row_constraints import merge_of
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.declaration.parts import Limits
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.paths import FileStates, write_states
from schemac.pipeline.spark.packed import ERRORS
from schemac.pipeline.writing.batches import stage_quarantine
from schemac.pipeline.writing.format_sink import (
    BOOKKEEPING_COLUMNS,
    count_warnings,
    open_staging,
    write_staging,
)
from schemac.pipeline.writing.sink_options import (
    SinkOptions,
    SinkReport,
    encode_options,
    encode_schema,
    too_many_quarantined,
)
from schemac.pipeline.writing.table_sink import TableWriter, WrittenRows, spark_sink
from schemac.rows.runs.identity import Mode, RunIdentity
from schemac.rows.runs.staging import temporary_folder
from schemac.rows.runs.tables import TableForm, sink_engine


def write_through(
    frame: DataFrame, connector: str, options: SinkOptions, *, overwrite: bool, settings: Mapping[str, str]
) -> None:
    """Write all rows of a conformed frame through a connector; `settings` are its options."""
    writer = TableWriter(options, overwrite, True, connector)
    written, persisted = WrittenRows(), frame.persist(StorageLevel.DISK_ONLY)
    try:
        columns = frame.drop(*BOOKKEEPING_COLUMNS)
        path = open_staging(columns, connector, writer.sink, writer.table, writer.options.form())
        assert writer.quarantine is not None
        written.bad = stage_quarantine(persisted, writer.quarantine, writer.run.id, writer.options.limits())
        good = persisted.where(f"{ERRORS} is null")
        written.warnings = count_warnings(good)
        rows = good.drop(*BOOKKEEPING_COLUMNS)
        written.pieces, written.rows = write_staging(
            rows, connector, path, settings, writer.sink, writer.table
        )
        writer.commit([written])
    except BaseException:
        writer.abort([written])
        raise
    finally:
        persisted.unpersist()


def write_to_engine(
    frame: DataFrame,
    job: Job,
    form: TableForm,
    identity: RunIdentity,
    seen: FileStates,
    properties: dict[str, str],
    replay: int = 0,
) -> SinkReport:
    """Write the good rows and the quarantined ones with one job of Spark; `replay` is the version of the quarantine that is read."""
    merge = merge_of(job, form.schema)
    with temporary_folder() as folder:
        report, inputs = folder / "report.json", folder / "inputs.json"
        write_states(seen, inputs)
        options = SinkOptions(
            path=job.target.path,
            schema=encode_schema(form.schema),
            quarantine=job.quarantine_path,
            run=identity.to_json(),
            report=str(report),
            inputs=str(inputs),
            must_create=job.target.mode is Mode.CREATE,
            keep_rows=not job.target.allow_empty,
            max_quarantined=(Limits() if replay else job.max_quarantined).model_dump_json(),
            storage_version=form.storage_version,
            max_rows_per_file=job.target.max_rows_per_file,
            storage_options=job.storage_options.to_json(),
            native=form.native,
            replay=replay,
            merge=None if merge is None else merge.to_json(),
            properties=json.dumps(properties),
        )
        overwrite = job.target.mode is Mode.OVERWRITE
        try:
            if job.target.is_through_connector:
                connector, settings = job.target.engine.name, job.target.options
                write_through(frame, connector, options, overwrite=overwrite, settings=settings)
            else:
                format = spark_sink(sink_engine(job.target.format).name).name()
                writer = frame.write.format(format).mode("overwrite" if overwrite else "append")
                writer.options(**encode_options(options)).save()
        except (PySparkException, PipelineError) as error:
            # A limit that was passed comes with its reasons.
            numbers = SinkReport.read(report) if report.exists() else None
            if numbers is None or numbers.passed is None:
                raise
            raise too_many_quarantined(numbers.passed, numbers) from error
        return SinkReport.read(report)
