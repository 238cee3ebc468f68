"""Records of text files as texts, and the tasks that cut them out of files.

Layer: pipeline.
Shape: a frame of `_raw` (the record as it is in its file), `_source` (the file), `_fault` (null, or the rule that the text itself
      breaks) and the columns that are in names of folders (`day=2024-01-01/`), which are text. Blank lines are no records.
      Tasks of ours that read the texts of records out of files, and do their work where they are read: a frame of Spark whose rows are
      what the work makes of the records of a file, or each a text, its fault, what is known of its file, and what names of folders say.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.sql import DataFrame, SparkSession

from schemac.pipeline.declaration.job import Source
from schemac.pipeline.declaration.source_options import FILES, Options
from schemac.pipeline.reading.cutting import (
    FAULT,
    VALUE,
    Found,
    Listed,
    Splitter,
    WholeFiles,
    Work,
    cut,
    read_in_tasks,
)
from schemac.pipeline.reading.file_columns import METADATA, OF_FILE
from schemac.pipeline.reading.files import File, byte_text, has_marks
from schemac.pipeline.reading.local_listing import listed_here
from schemac.pipeline.reading.paths import base_path, local_part, spark_path
from schemac.pipeline.spark.columns import RAW, SOURCE
from schemac.pipeline.spark.executors import is_connect
from schemac.pipeline.spark.sql import literal, name, when
from schemac.rows.runs.storage import current_storage, hadoop_address, is_s3

BAD_ENCODING = "encoding"


@dataclass(frozen=True)
class Texts:
    """A frame of records, and the column of each name that a folder gives.

    `rows` makes the frame when it is asked for.
    """

    rows: Callable[[], DataFrame]
    partitions: dict[str, str]
    read_in_tasks: Callable[[Work[Found]], DataFrame] | None = None
    """Gives what tasks of ours make of the records where they lie."""
    is_of_lines: bool = True
    """Whether a record is a line, so that one without text is none."""

    @cached_property
    def frame(self) -> DataFrame:
        """Each record is a row."""
        return self.rows()

    def with_frame(self, frame: DataFrame) -> "Texts":
        """Take the same of other rows."""
        return replace(self, rows=lambda: frame, read_in_tasks=None)


@contextmanager
def folders_as_text(spark: SparkSession) -> Iterator[None]:
    """Values in names of folders as they are there: Spark would make a number of `007`."""
    key = "spark.sql.sources.partitionColumnTypeInference.enabled"
    before = spark.conf.get(key, None)
    spark.conf.set(key, "false")
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, before)


def file_options(source: Source) -> dict[str, str]:
    """Those options of a source that choose files, with the folder that columns in names of folders start from."""
    options = Options(source).some(FILES)
    for path in source.path:
        options |= current_storage().hadoop_options(path)
    base = base_path(source.path)
    return (
        {"basePath": base, **options}
        if base is not None and "recursiveFileLookup" not in options
        else options
    )


def spark_paths(source: Source) -> list[str]:
    """Write the paths of a source as Spark takes them."""
    return [hadoop_address(spark_path(path)) for path in source.path]


def lines(spark: SparkSession, source: Source, listed: Listed, blank: str = " ") -> DataFrame:
    """Each line of UTF-8 files that does not only hold blanks, as `value`, with what is known of its file."""
    options = file_options(source) | Options(source).some(("lineSep",))
    with folders_as_text(spark):
        frame = spark.read.options(**options).text(spark_paths(source))
    others = [f"{name(label)} as {column}" for label, column in listed.partitions.items()]
    return _not_blank(frame.selectExpr("value", f"{METADATA}.file_path as {SOURCE}", OF_FILE, *others), blank)


def _not_blank(frame: DataFrame, blank: str) -> DataFrame:
    # From the left alone: Spark looks at every character of a line to find where its end is blank.
    has_text = f"trim(LEADING {literal(blank)} FROM value) <> ''"
    return frame.where(has_text)


def is_in_reach(listed: Listed) -> bool:
    """Whether tasks of ours can read the files, and not Spark alone."""
    return all(local_part(file.path) is not None or is_s3(file.path) for file in listed.files)


def judged(frame: DataFrame, faults: Sequence[tuple[str, str]] = ()) -> DataFrame:
    """Lines with their faults: bytes that are not UTF-8, and conditions with the rule that they break."""
    branches = " ".join(f"when {condition} then '{rule}'" for condition, rule in faults)
    fault = f"case when not __valid then '{BAD_ENCODING}' {branches} end"
    # ISO-8859-1 has a character for each byte, so that none is lost.
    raw = when("__valid", "value", "decode(cast(value as binary), 'ISO-8859-1')")
    other_columns = [name(label) for label in frame.columns if label not in (VALUE, FAULT)]
    checked = frame.selectExpr("value", *other_columns, "is_valid_utf8(value) as __valid")
    return checked.selectExpr(f"{raw} as {RAW}", f"{fault} as {FAULT}", *other_columns)


def files_of(spark: SparkSession, source: Source) -> Listed:
    """All files of a source."""
    options = file_options(source)
    here = listed_here(source.path) if not options and not is_connect(spark) else None
    if here is not None:
        return Listed((), here)
    with folders_as_text(spark):
        listed = spark.read.format("binaryFile").options(**options).load(spark_paths(source))
    folders = [
        label for label in listed.columns if label not in ("path", "modificationTime", "length", "content")
    ]
    rows = listed.selectExpr(
        "path",
        f"{METADATA}.file_path as {SOURCE}",
        "length",
        "unix_micros(modificationTime)",
        *map(name, folders),
    ).collect()
    files = [File(path, uri, size, modified, tuple(values)) for path, uri, size, modified, *values in rows]
    return Listed(tuple(folders), tuple(sorted(files, key=lambda file: file.path)))


def cut_texts(spark: SparkSession, listed: Listed, splitter: Splitter) -> Texts:
    """Read the records that a splitter finds in each file; a file is read by one task."""
    reader = WholeFiles(splitter)

    def rows() -> DataFrame:
        cut_rows = cut(spark, listed, reader)
        other_columns = [name(label) for label in cut_rows.columns if label not in (VALUE, FAULT)]
        return cut_rows.selectExpr(f"{VALUE} as {RAW}", FAULT, *other_columns)

    return Texts(
        rows, listed.partitions, lambda work: read_in_tasks(spark, listed, reader, work), is_of_lines=False
    )


def decoded(text: str, encoding: str, fault: str | None = None) -> tuple[str, str | None]:
    """Decode a record's text as it is kept, and say its fault."""
    return (byte_text(text, encoding), BAD_ENCODING) if has_marks(text) else (text, fault)
