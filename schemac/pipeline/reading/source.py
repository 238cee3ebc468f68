"""Opens the records of a source, so that every value is known exactly and no record is lost.

Layer: pipeline.
Shape: JSON records arrive as one text each, CSV cells as strings; other formats keep the types of their columns. `_source` is the file
      of a record. Blank lines are no records. Columns that are in names of folders (`day=2024-01-01/`) are text in every format.
Errors: PipelineError, before Spark reads: no such file, an option that is not honoured, unreadable header.
Source: a string column of Spark's JSON reader is exact but forgets what was quoted; a variant remembers.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType

from schemac.pipeline.codes import PIPELINE_FAILED
from schemac.pipeline.declaration.job import Explode, Job
from schemac.pipeline.declaration.source_options import FORMS, Options, option_mistakes
from schemac.pipeline.errors import PipelineError, located
from schemac.pipeline.reading import texts
from schemac.pipeline.reading.csv_records import read_csv
from schemac.pipeline.reading.files import check_encoding
from schemac.pipeline.reading.inputs import FILE, METADATA, NO_FILE_KNOWN, OF_FILE, typed_input
from schemac.pipeline.reading.json_records import items_of_texts, read_json
from schemac.pipeline.reading.parquet import files_for_arrow, read_parquet
from schemac.pipeline.reading.paths import check_path
from schemac.pipeline.reading.records import JsonTexts, Records, TypedColumns, items_of_columns
from schemac.pipeline.reading.row_texts import rows_of_texts, text_of_row
from schemac.pipeline.reading.table_source import read_tables
from schemac.pipeline.spark.failures import deepest, error_of_text
from schemac.pipeline.spark.packed import RAW, SOURCE
from schemac.pipeline.spark.sql import name
from schemac.rows.runs.tables import source_names
from schemac.text.source.catalogue import MISSING_PATH, UNREADABLE_INPUT

FILES_LOOKED_AT = 200


def check_input(job: Job) -> list[str]:
    """List the files of the source, checked without Spark: options must be known, local paths must be there."""
    for mistake in option_mistakes(job.source, is_stream=job.trigger is not None):
        raise mistake
    is_table = job.source.format in source_names()
    if not job.source.path and (is_table or job.source.format in FORMS):
        message = f"`source` has no `path`, but a {job.source.format} source needs one"
        raise PipelineError(MISSING_PATH, message, place=("source",))
    is_text, is_listed_by_spark = job.source.is_of_text, not is_table
    is_utf8 = is_text and not Options(job.source).text("encoding", "")
    findings = []
    with located("source", "path"):
        for path in job.source.path:
            findings += check_path(path, is_text=is_text, is_listed_by_spark=is_listed_by_spark)
        for file in findings[:FILES_LOOKED_AT] if is_utf8 else ():
            if os.path.isfile(file):
                check_encoding(file)
    return findings


WIDE_DECIMAL = "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION"
"""Spark's condition for a decimal of more than 38 digits in a file."""


def open_records(spark: SparkSession, job: Job) -> Records:
    """Open the records of the job's source."""
    check_input(job)
    with _spark_errors_as_unreadable(job):
        records = _open_by_format(spark, job)

    def rows() -> DataFrame:
        with _spark_errors_as_unreadable(job):
            return records.rows()

    return replace(records, rows=rows)


@contextmanager
def _spark_errors_as_unreadable(job: Job) -> Iterator[None]:
    """Raise Spark's errors as errors of reading the source."""
    help = f"format is `{job.source.format}`"
    try:
        yield
    except PySparkException as error:
        if error.getCondition() == WIDE_DECIMAL:
            help = "Spark reads decimals of up to 38 digits from files: write the column as text"
        message = str(error).strip().splitlines()[0]
        raise PipelineError(UNREADABLE_INPUT, message, help, place=("source",)) from error
    except Py4JError as error:
        # What Spark raises without a class of its own, as for a file that is not Parquet, comes as Java's error.
        reason = error_of_text(str(error))
        if reason.code is not PIPELINE_FAILED:
            raise reason from error
        raise PipelineError(UNREADABLE_INPUT, deepest(str(error)), help, place=("source",)) from error


def _open_by_format(spark: SparkSession, job: Job) -> Records:
    """Return records by the format of the source; Parquet is read in place where that is possible."""
    source = job.source
    if source.format in ("json", "geojson"):
        records = read_json(spark, source)
        if source.explode is None:
            return records
        items = items_of_texts(records.frame, source.explode)
        return replace(records.with_frame(items), exploded=records.frame)
    if source.format == "csv":
        return read_csv(spark, source)
    if source.format in source_names():
        return records_of_frame(*read_tables(spark, source, job.storage_options), explode=source.explode)
    if source.format == "parquet":
        files = files_for_arrow(spark, source) if source.explode is None else None
        if files is not None:
            rows = from_arrow_type(files.reader.raw_type, prefer_timestamp_ntz=True)
            columns = _typed_columns({field.name: field.dataType for field in rows.fields})
            return Records(lambda: with_file(read_parquet(spark, source)[0]), columns, files=files)
        return records_of_frame(*read_parquet(spark, source), explode=source.explode)
    options = {**texts.file_options(source), **source.options}
    reader = spark.read.format(source.format).options(**options)
    with texts.folders_as_text(spark):
        frame = reader.load(texts.spark_paths(source)) if source.path else reader.load()
    return records_of_frame(frame, explode=source.explode)


def records_of_row_texts(texts: DataFrame, types: Mapping[str, DataType]) -> Records:
    """See rows that were written as texts as the records that they were; the columns next to the text are kept."""
    values = replace(_typed_columns(types), raw_columns=(RAW,), row_text=lambda place: place(RAW))
    return Records(lambda: rows_of_texts(texts, types), values)


def records_in_column(frame: DataFrame, label: str) -> Records:
    """See the text in a column, one JSON object in each row, as records; a row without text is a broken record."""
    text = f"coalesce(cast({name(label)} as string), '')"
    origin = SOURCE if SOURCE in frame.columns else "cast(null as string)"
    columns = (f"{text} as value", f"{origin} as {SOURCE}", f"{NO_FILE_KNOWN} as {FILE}")
    lines = texts.checked_lines(frame.selectExpr(*columns))
    return Records(lambda: lines, JsonTexts(), has_file=False)


def with_file(frame: DataFrame) -> DataFrame:
    """Add what is known of the file of each row. Raises PySparkException for rows of no file."""
    return frame.selectExpr("*", f"{METADATA}.file_path as {SOURCE}", OF_FILE)


def records_of_frame(
    frame: DataFrame, types: dict[str, DataType] | None = None, *, explode: Explode | None = None
) -> Records:
    """See the rows of a frame as records: typed columns; `types` are those of columns that hold counts."""
    types = {field.name: field.dataType for field in frame.schema.fields} | (types or {})
    has_file = False
    if SOURCE not in frame.columns:
        try:
            frame = with_file(frame)
            has_file = True
        except PySparkException:
            frame = frame.selectExpr("*", f"cast(null as string) as {SOURCE}")
    if explode is not None:
        frame, types = items_of_columns(frame, types, explode)
    return Records(lambda: frame, _typed_columns(types), has_file=has_file)


def _typed_columns(types: Mapping[str, DataType]) -> TypedColumns:
    """Return the columns of a frame, but for `_source`, as inputs of fields."""
    types = {label: data_type for label, data_type in types.items() if label != SOURCE}
    columns = {label: typed_input(name(label), data_type) for label, data_type in types.items()}
    return TypedColumns(columns, tuple(types), partial(text_of_row, types))
