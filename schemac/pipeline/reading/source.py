"""Reads records so that every value is known exactly and no record is lost.

Layer: pipeline.
Shape: JSON records arrive as one text each (`_raw`), parsed once to a variant; CSV cells arrive as strings; other formats
       keep the types of their columns. `_source` is the file of a record. Blank lines are no records.
       Columns that are in names of folders (`day=2024-01-01/`) are text in every format.
Errors: PipelineError, before Spark reads: no such file, an option that is not honoured, unreadable header.
Source: a string column of Spark's JSON reader is exact but forgets what was quoted; a variant remembers.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType

from schemac.pipeline.codes import PIPELINE_FAILED
from schemac.pipeline.declaration.job import Explode, FieldSource, Job, Source
from schemac.pipeline.declaration.source_options import Options, option_mistakes
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading import texts
from schemac.pipeline.reading.csv_records import CsvRecords, read_csv
from schemac.pipeline.reading.cutting import FAULT, Found, Work
from schemac.pipeline.reading.file_columns import FILE, METADATA, NO_FILE_KNOWN, OF_FILE
from schemac.pipeline.reading.files import check_encoding
from schemac.pipeline.reading.inputs import (
    Input,
    Json,
    Text,
    follow,
    parse_steps,
    typed_input,
    unknown_column,
    variant_path,
)
from schemac.pipeline.reading.items import items_of_columns, items_of_texts
from schemac.pipeline.reading.json_records import read_geojson, read_json
from schemac.pipeline.reading.parquet import InPlace, in_place, read_parquet, spark_types
from schemac.pipeline.reading.paths import check_path
from schemac.pipeline.reading.row_texts import rows_of_texts, text_of_row
from schemac.pipeline.reading.table_source import read_tables
from schemac.pipeline.reading.texts import Texts
from schemac.pipeline.spark.columns import RAW, SOURCE
from schemac.pipeline.spark.failures import deepest, error_of_text
from schemac.pipeline.spark.sql import first_of, is_alone, literal, name, parsed
from schemac.rows.runs.tables import source_names
from schemac.text.source.catalogue import (
    MISSING_PATH,
    UNEXPECTED_COLUMN,
    UNKNOWN_SOURCE_COLUMN,
    UNREADABLE_INPUT,
)

FILES_LOOKED_AT = 200
RECORD = "_record"
IN_RECORD = (0,)
GEOJSON_TOP = ("id", "geometry", "bbox", "properties")
GEOJSON_ALWAYS = ("type", "id", "bbox", "geometry", "properties")
WITH_PATH = ("csv", "json", "geojson", "parquet", "orc")
OF_TEXT = ("csv", "json", "geojson")
EXPLAINED = {
    "encoding": "bytes that are not the encoding of the source; `raw` has each byte as a character of ISO-8859-1",
    "quotes": "a quote is not escaped, is not closed in its record, or is next to other text of its value:"
    " if values hold line breaks, set `multiLine: true`",
    "type": "the list whose items are the records is not a list: the record is quarantined as a whole",
    "partition": "the record and the name of its folder have different values",
}


@dataclass(frozen=True)
class Records:
    """Records of a source, and how a field finds its value in them.

    `parsing` gives the columns that a record is parsed to. `malformed` tells whether a record is none, `fault_rule` and
    `fault_value` why. `columns` are those of a source that has columns, `absent` those that some file lacks, `partitions` those that are in names of folders.
    """

    rows: Callable[[], DataFrame]
    raw: str
    malformed: str | None
    columns: dict[str, Input] | None = None
    is_geojson: bool = False
    fault_rule: str = literal("malformed")
    fault_value: str = RAW
    partitions: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    has_file: bool = True
    """Whether `FILE` says of each record which file it is from."""
    computed: dict[str, Input] = field(default_factory=dict)
    """Values of fields that are at no place of the record (see `given`)."""
    failing: dict[str, str] = field(default_factory=dict)
    """For fields with an expression: the condition that it failed."""
    used: tuple[str, ...] = ()
    """Columns, or keys, that expressions name."""
    parsing: tuple[tuple[str, str], ...] = ()
    csv: CsvRecords | None = None
    read_in_tasks: Callable[[Work[Found]], DataFrame] | None = None
    """Gives what tasks of ours make of the records where they lie; None where each has to pass through Spark."""
    is_of_lines: bool = True
    """Whether a record is a line, so that one without text is none."""
    in_place: InPlace | None = None
    """How tasks of ours can read the columns; None if only Spark can."""
    exploded: Texts | None = None
    """The records whose items these are."""

    @cached_property
    def frame(self) -> DataFrame:
        """A row for each record, or for many that are packed; made when it is asked for."""
        return self.rows()

    def with_frame(self, frame: DataFrame) -> "Records":
        """Take other rows with the same columns."""
        return replace(self, rows=lambda: frame, read_in_tasks=None, in_place=None)

    def parsed(self) -> "Records":
        """Parse every record now, for expressions over what is in them."""
        columns = [f"{text} as {label}" for label, text in self.parsing]
        if not columns:
            return self
        return replace(self.with_frame(self.frame.selectExpr("*", *columns)), parsing=())

    def input_of(self, label: str, origin: FieldSource | None) -> Input | None:
        """Where a field is read; None if the job says that it comes from nowhere."""
        if origin is None:
            return None
        if label in self.computed:
            return self.computed[label]
        column_name = label if origin.from_ is None else origin.from_
        if column_name in self.partitions:
            return Text(self.partitions[column_name])
        if self.columns is None:
            return follow(Json(RECORD, IN_RECORD), self.steps_of(label, origin))
        if column_name in self.columns:
            return self.columns[column_name]
        first, *rest = parse_steps(column_name)
        if first in self.absent:
            message = (
                f"`{self.absent[str(first)]}` has no column `{first}`, but other files of the source have it"
            )
            raise PipelineError(UNKNOWN_SOURCE_COLUMN, message, "read these files in two runs")
        if first not in self.columns:
            place = ("source", "path") if origin.from_ is None else ("fields", label, "from")
            raise unknown_column(str(first), [*self.columns, *self.partitions]).at(*place)
        return follow(self.columns[str(first)], tuple(rest))

    def is_outside(self, label: str, origin: FieldSource) -> bool:
        """Whether a field is read from something else than the record: the name of a folder, or what is given."""
        return label in self.computed or (origin.from_ or label) in self.partitions

    def steps_of(self, label: str, origin: FieldSource) -> tuple[str | int, ...]:
        """Where a field is in a JSON record."""
        if origin.from_ is not None:
            return parse_steps(origin.from_)
        if self.is_geojson and label not in GEOJSON_TOP:
            return ("properties", label)
        return (label,)

    def objects(self, schema: pa.Schema, job: Job) -> Iterator[tuple[Input, list[str], tuple[str, ...]]]:
        """Each JSON object that fields are taken from, with the keys that some field takes."""
        consumed: dict[tuple[str | int, ...], set[str]] = {(): set(self.used)}
        if self.columns is not None:
            self._check_columns(schema, job)
            return
        if self.is_geojson:
            consumed[()].update(GEOJSON_ALWAYS)
        for label in schema.names:
            origin = job.fields.get(label, FieldSource())
            if origin is None or label in self.computed:
                continue
            steps = self.steps_of(label, origin)
            for depth, step in enumerate(steps):
                if isinstance(step, str):
                    consumed.setdefault(steps[:depth], set()).add(step)
        for steps, keys in consumed.items():
            if self.is_geojson and steps == ("geometry",):
                keys |= {"type", "coordinates"}
            path = ".".join(str(step) for step in steps)
            yield Json(RECORD, (*IN_RECORD, *steps)), sorted(keys), (literal(path),) if path else ()

    def _check_columns(self, schema: pa.Schema, job: Job) -> None:
        read = [label for label in schema.names if label not in self.computed]
        consumed = {*self.used, *((job.fields.get(label) or FieldSource()).from_ or label for label in read)}
        known = {*(self.columns or ()), *self.absent}
        extra = sorted(known - consumed - {path.split(".")[0].split("[")[0] for path in consumed})
        if extra:
            raise PipelineError(
                UNEXPECTED_COLUMN,
                f"no field reads the column `{extra[0]}`"
                + (f" (and {len(extra) - 1} more)" if len(extra) > 1 else ""),
                "add the field, or set `unexpected: ignore`",
            )


def check_input(job: Job) -> list[str]:
    """List the files of the source, checked without Spark: options must be known, local paths must be there."""
    for option, mistake in option_mistakes(job.source, is_stream=job.trigger is not None):
        raise mistake.at("source", "options", option)
    is_table = job.source.format in source_names()
    if not job.source.path and (is_table or job.source.format in WITH_PATH):
        raise PipelineError(
            MISSING_PATH,
            f"`source` has no `path`, but a {job.source.format} source needs one",
            place=("source",),
        )
    is_text, is_listed_by_spark = job.source.format in OF_TEXT, not is_table
    is_utf8 = is_text and not Options(job.source).text("encoding", "")
    findings = []
    try:
        for path in job.source.path:
            findings += check_path(path, is_text=is_text, is_listed_by_spark=is_listed_by_spark)
        for file in findings[:FILES_LOOKED_AT] if is_utf8 else ():
            if os.path.isfile(file):
                check_encoding(file)
    except PipelineError as error:
        raise error.at("source", "path") from error
    return findings


def open_records(spark: SparkSession, job: Job) -> Records:
    """Open the records of the job's source."""
    check_input(job)
    with _reading(job):
        records = _opened(spark, job)

    def rows() -> DataFrame:
        with _reading(job):
            return records.rows()

    return replace(records, rows=rows)


@contextmanager
def _reading(job: Job) -> Iterator[None]:
    """Say of Spark's errors that the source cannot be read."""
    try:
        yield
    except PySparkException as error:
        raise PipelineError(
            UNREADABLE_INPUT, _first_line(error), f"format is `{job.source.format}`", place=("source",)
        ) from error
    except Py4JError as error:
        # What Spark raises without a class of its own, as for a file that is not Parquet, comes as Java's error.
        reason = error_of_text(str(error))
        if reason.code is not PIPELINE_FAILED:
            raise reason from error
        raise PipelineError(
            UNREADABLE_INPUT, deepest(str(error)), f"format is `{job.source.format}`", place=("source",)
        ) from error


def _opened(spark: SparkSession, job: Job) -> Records:
    source = job.source
    if source.format in ("json", "geojson"):
        texts = read_geojson(spark, source) if source.format == "geojson" else read_json(spark, source)
        whole, is_geojson = texts, source.format == "geojson"
        if source.explode is None:
            return json_text_records(texts, is_geojson=is_geojson)
        items = items_of_texts(whole, source.explode)
        return replace(json_text_records(items, is_geojson=is_geojson), exploded=whole)
    if source.format == "csv":
        return _csv_records(read_csv(spark, source))
    if source.format in source_names():
        return _typed_records(*read_tables(spark, source, job.storage_options), explode=source.explode)
    if source.format == "parquet":
        place = in_place(spark, source) if source.explode is None else None
        if place is not None:
            return _records_in_place(spark, source, place)
        return _typed_records(*read_parquet(spark, source), explode=source.explode)
    return _typed_records(_loaded(spark, job), explode=source.explode)


def records_of_frame(
    frame: DataFrame, explode: Explode | None = None, types: dict[str, DataType] | None = None
) -> Records:
    """See the rows of a frame as records: typed columns; `types` are those of columns that hold counts."""
    return _typed_records(frame, types, explode=explode)


def records_of_row_texts(texts: DataFrame, types: Mapping[str, DataType]) -> Records:
    """See rows that were written as texts as the records that they were; the columns next to the text are kept."""
    records = replace(_records_of(types), raw=RAW)
    return replace(records, rows=lambda: rows_of_texts(texts, types))


def records_in_column(frame: DataFrame, label: str) -> Records:
    """See the text in a column, one JSON object in each row, as records; a row without text is a broken record."""
    text = f"coalesce(cast({name(label)} as string), '')"
    origin = SOURCE if SOURCE in frame.columns else "cast(null as string)"
    columns = (f"{text} as value", f"{origin} as {SOURCE}", f"{NO_FILE_KNOWN} as {FILE}")
    lines = texts.judged(frame.selectExpr(*columns))
    return replace(json_text_records(Texts(lambda: lines, {})), has_file=False)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _loaded(spark: SparkSession, job: Job) -> DataFrame:
    options = {**texts.file_options(job.source), **job.source.options}
    reader = spark.read.format(job.source.format).options(**options)
    with texts.folders_as_text(spark):
        return reader.load(texts.spark_paths(job.source)) if job.source.path else reader.load()


def json_text_records(texts: Texts, *, is_geojson: bool = False) -> Records:
    """Read texts of JSON objects as records."""
    # A record is an object: a number or a list where a record should be is as unreadable as a broken one.
    is_record = f"{FAULT} is null and {is_alone(RECORD)} and startswith(ltrim({RAW}), '{{')"
    place = (*IN_RECORD, "properties") if is_geojson else IN_RECORD
    conflicts = [_conflict((*place, label), column) for label, column in texts.partitions.items()]
    malformed = " or ".join([f"not ({is_record})", *conflicts])
    rule = f"coalesce({FAULT}, {literal('malformed')})"
    if conflicts:
        rule = first_of([(f"not ({is_record})", rule)], "'partition'")
    return Records(
        lambda: texts.frame, RAW, f"({malformed})", is_geojson=is_geojson, fault_rule=rule, fault_value=_explained(rule),
        partitions=texts.partitions, parsing=((RECORD, parsed(RAW)),), read_in_tasks=texts.read_in_tasks,
        is_of_lines=texts.is_of_lines,
    )  # fmt: skip


def _conflict(steps: tuple[str | int, ...], column: str) -> str:
    """Whether a record has a key of a folder's name, with another value."""
    member_text = f"try_variant_get({RECORD}, {literal(variant_path(steps))}, 'string')"
    return f"({member_text} is not null and not ({member_text} <=> {column}))"


def _explained(rule: str) -> str:
    """Show next to a rule what it means, or else the record."""
    branches = ((f"{rule} = {literal(known)}", literal(text)) for known, text in EXPLAINED.items())
    return first_of(branches, RAW)


def _csv_records(csv_records: CsvRecords) -> Records:
    columns: dict[str, Input] = {label: Text(cell) for label, cell in csv_records.cells.items()}
    partitions = csv_records.texts.partitions
    both = [
        f"({csv_records.cells[label]} is not null and not ({csv_records.cells[label]} <=> {column}))"
        for label, column in partitions.items()
        if label in csv_records.cells
    ]
    is_corrupt = f"{csv_records.corrupt} is not null"
    malformed = " or ".join([f"{FAULT} is not null", is_corrupt, *both])
    rule = first_of([(f"{FAULT} is not null", FAULT), (is_corrupt, literal("malformed"))], "'partition'")
    return Records(
        lambda: csv_records.texts.frame, RAW, f"({malformed})", columns, fault_rule=rule, fault_value=_explained(rule),
        partitions=partitions, absent=csv_records.absent, parsing=csv_records.parsing, csv=None if both else csv_records,
        read_in_tasks=csv_records.texts.read_in_tasks,
    )  # fmt: skip


def _records_in_place(spark: SparkSession, source: Source, place: InPlace) -> Records:
    """See rows as records that Spark has not looked at; it does where their columns do not suffice."""
    records = _records_of(spark_types(place.schema))

    def rows() -> DataFrame:
        return with_file(read_parquet(spark, source)[0])

    return replace(records, rows=rows, has_file=True, in_place=place)


def with_file(frame: DataFrame) -> DataFrame:
    """Add what is known of the file of each row. Raises PySparkException for rows of no file."""
    return frame.selectExpr("*", f"{METADATA}.file_path as {SOURCE}", OF_FILE)


def _typed_records(
    frame: DataFrame, types: dict[str, DataType] | None = None, *, explode: Explode | None = None
) -> Records:
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
    return replace(_records_of(types), rows=lambda: frame, has_file=has_file)


def _records_of(types: Mapping[str, DataType]) -> Records:
    """See columns of these types as records that have no rows yet."""
    types = {label: data_type for label, data_type in types.items() if label != SOURCE}
    columns = {label: typed_input(name(label), data_type) for label, data_type in types.items()}
    return Records(_no_rows, text_of_row(types), None, columns)


def _no_rows() -> DataFrame:
    raise AssertionError
