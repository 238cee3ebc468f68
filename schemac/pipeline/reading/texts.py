"""How Spark lists the files of a source, and reads those of text.

Layer: pipeline.
Shape: the frame of records that are texts has `_raw` (the record as it is in its file), `_source` (the file), `__file` (what is known
      of it), `_fault` (null, or the rule that the text itself breaks) and the columns that are in names of folders (`day=2024-01-01/`),
      which are text. Blank lines are no records.
Rule: files of this machine are listed without a job of Spark, unless names of folders are columns, or a file may be named twice.
Source: Spark's `HadoopFSUtils.shouldFilterOutPathName` says which names are hidden; `inputFiles` gives each file once.
"""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame, SparkSession

from schemac.pipeline.declaration.job import Source
from schemac.pipeline.declaration.source_options import FILES, Options
from schemac.pipeline.reading.cutting import FAULT, ListedFiles
from schemac.pipeline.reading.files import BAD_ENCODING, SourceFile
from schemac.pipeline.reading.inputs import METADATA, OF_FILE
from schemac.pipeline.reading.paths import base_path, is_hidden, local_part, spark_path
from schemac.pipeline.spark.executors import is_connect, settings_in_place
from schemac.pipeline.spark.packed import RAW, SOURCE
from schemac.pipeline.spark.sql import literal, name, when
from schemac.rows.judging.tokens import BLANK
from schemac.rows.runs.storage import current_storage, hadoop_address, is_s3


def folders_as_text(spark: SparkSession) -> AbstractContextManager[None]:
    """Values in names of folders as they are there: Spark would make a number of `007`."""
    return settings_in_place(spark, {"spark.sql.sources.partitionColumnTypeInference.enabled": "false"})


def file_options(source: Source) -> dict[str, str]:
    """Those options of a source that choose files, with the folder that columns in names of folders start from."""
    options = Options(source).some(FILES)
    for path in source.path:
        options |= current_storage().hadoop_options(path)
    base = base_path(source.path)
    if base is not None and "recursiveFileLookup" not in options:
        return {"basePath": base, **options}
    return options


def spark_paths(source: Source) -> list[str]:
    """Write the paths of a source as Spark takes them."""
    return [hadoop_address(spark_path(path)) for path in source.path]


def lines(spark: SparkSession, source: Source, listed: ListedFiles) -> DataFrame:
    """Each line of UTF-8 files that does not only hold blanks, as `value`, with what is known of its file."""
    options = file_options(source) | Options(source).some(("lineSep",))
    with folders_as_text(spark):
        frame = spark.read.options(**options).text(spark_paths(source))
    others = [f"{name(label)} as {column}" for label, column in listed.partitions.items()]
    # From the left alone: Spark looks at every character of a line to find where its end is blank.
    has_text = f"trim(LEADING {literal(BLANK)} FROM value) <> ''"
    return frame.selectExpr("value", f"{METADATA}.file_path as {SOURCE}", OF_FILE, *others).where(has_text)


def is_in_reach(listed: ListedFiles) -> bool:
    """Whether tasks of ours can read the files, and not Spark alone."""
    return all(local_part(file.path) is not None or is_s3(file.path) for file in listed.files)


def checked_lines(frame: DataFrame) -> DataFrame:
    """Return lines as records: `_raw`, and the rule that is broken by bytes that are not UTF-8 as `_fault`."""
    # ISO-8859-1 has a character for each byte, so that none is lost.
    raw = when("__valid", "value", "decode(cast(value as binary), 'ISO-8859-1')")
    other_columns = [name(label) for label in frame.columns if label not in ("value", FAULT)]
    checked = frame.selectExpr("value", *other_columns, "is_valid_utf8(value) as __valid")
    fault = when("not __valid", literal(BAD_ENCODING))
    return checked.selectExpr(f"{raw} as {RAW}", f"{fault} as {FAULT}", *other_columns)


def files_of(spark: SparkSession, source: Source) -> ListedFiles:
    """All files of a source."""
    with folders_as_text(spark):
        listed = spark.read.format("binaryFile").options(**file_options(source)).load(spark_paths(source))
    folders = [
        label for label in listed.columns if label not in ("path", "modificationTime", "length", "content")
    ]
    is_here = not folders and not is_connect(spark) and _names_files_once(source.path)
    uris = listed.inputFiles() if is_here else []
    if uris and all(local_part(uri) is not None for uri in uris):
        # What Spark does not read is among them: summaries of Parquet, and files without content.
        files = [_local_file(uri) for uri in uris if not is_hidden(uri.rpartition("/")[2])]
        files = [file for file in files if file.size_bytes]
    else:
        rows = listed.selectExpr(
            "path",
            f"{METADATA}.file_path as {SOURCE}",
            "length",
            "unix_micros(modificationTime)",
            *map(name, folders),
        ).collect()
        files = [
            SourceFile(path, uri, size, modified, tuple(values))
            for path, uri, size, modified, *values in rows
        ]
    return ListedFiles(tuple(folders), tuple(sorted(files, key=lambda file: file.path)))


def _names_files_once(paths: Sequence[str]) -> bool:
    """Whether paths are of this machine, and certainly no two of them, or parts of one, name the same file."""
    if any(urlsplit(path).scheme not in ("", "file") for path in paths):
        return False
    local = {os.path.abspath(local_part(path) or path) for path in paths}
    if len(paths) == 1:
        return "{" not in paths[0]
    return len(local) == len(paths) and all(map(os.path.isfile, local))


def _local_file(uri: str) -> SourceFile:
    """Return a file of this machine with its size in bytes, and when it was changed in microseconds, cut to whole milliseconds."""
    quoted_path = urlsplit(uri).path
    path = unquote(quoted_path)
    about = os.stat(path)
    # Java tells the time in milliseconds.
    modified = about.st_mtime_ns // 1_000_000 * 1000
    return SourceFile(f"file:{path}", f"file:{quoted_path}", about.st_size, modified)
