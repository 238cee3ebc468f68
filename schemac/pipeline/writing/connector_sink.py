"""Writes the rows of a run through a connector of Spark, and commits them as the sink of the engine does.

Layer: pipeline.
Shape: a conformed frame in; the report of the commit out, as a file (see `SinkReport`). The rows are computed once and kept on disk
       in the meantime, because those that fit and those that do not are written by different programs.
Errors: PipelineError; nothing stays then.
"""

from collections.abc import Mapping

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from schemac.pipeline.spark.columns import ERRORS, RAW, SOURCE
from schemac.pipeline.writing.connector import open_staging, write_staging
from schemac.pipeline.writing.format_sink import BOOKKEEPING_COLUMNS, counted_warnings
from schemac.pipeline.writing.quarantine_staging import StagedRows, stage
from schemac.pipeline.writing.sink_options import SinkOptions
from schemac.pipeline.writing.table_sink import TableWriter, Written


def write_through(
    frame: DataFrame,
    connector: str,
    options: SinkOptions,
    *,
    overwrite: bool,
    settings: Mapping[str, str],
) -> None:
    """Write all rows of a conformed frame; `settings` are options of the connector's."""
    writer = TableWriter(options, overwrite, True, connector)
    written, persisted = Written(), frame.persist(StorageLevel.DISK_ONLY)
    try:
        columns = frame.drop(*BOOKKEEPING_COLUMNS)
        path = open_staging(columns, connector, writer.sink, writer.table, writer.options.form())
        bad = _staged(persisted, writer)
        written.bad_files, written.bad_rows, written.reasons = bad.pieces, bad.rows, bad.reasons
        written.broken = bad.broken
        good = persisted.where(f"{ERRORS} is null")
        written.warnings.update({(path, rule): count for path, rule, count in counted_warnings(good)})
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


def _staged(persisted: DataFrame, writer: TableWriter) -> StagedRows:
    assert writer.quarantine is not None
    rows = persisted.where(f"{ERRORS} is not null").select(ERRORS, RAW, SOURCE)
    return stage(rows, writer.quarantine, writer.run.id, writer.options.limits())
