"""Splits JSON documents (an array, a feature collection, values one after the other) into the texts of their records.

Shape: a frame of `_raw` (the record, cut out of the document as it stands there) and `_source`. A document is read by
       one task, whole. Where a record is broken, the text up to the end of its line is a record of its own, so that the
       run accounts for it; reading goes on after it.
"""

import json
import os
import re
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from .session import register

ROWS_PER_BATCH = 4096
# Below this, spreading the records of one document over the tasks costs more than it brings.
BYTES_WORTH_SPREADING = 32 << 20

SCHEMA = pa.schema([("_raw", pa.string()), ("_source", pa.string())])
BLANK = re.compile(r"[ \t\r\n]*")
BETWEEN = re.compile(r"[ \t\r\n,]*")
_decoder = json.JSONDecoder(parse_int=lambda text: text, parse_float=lambda text: text)


def read_documents(spark: SparkSession, files: list[str], *, member: str | None) -> DataFrame:
    """The records of each document: items of the array, or of the named member's array."""
    register(spark, Documents)
    reader = spark.read.format(Documents.name()).option("files", json.dumps(files))
    records = reader.option("member", member or "").load()
    sizes = [os.path.getsize(file) for file in files if os.path.isfile(file)]
    tasks = spark.sparkContext.defaultParallelism
    return records.repartition(tasks) if max(sizes, default=0) > BYTES_WORTH_SPREADING else records


class Documents(DataSource):  # type: ignore[misc]  # PySpark is not followed
    """Spark's way to documents: one partition for each."""

    @classmethod
    def name(cls) -> str:
        """The word for `format`."""
        return "schemac-documents"

    def schema(self) -> str:
        """Columns of a record."""
        return "_raw string, _source string"

    def reader(self, schema: StructType) -> "DocumentReader":
        """A reader of all documents."""
        return DocumentReader(json.loads(self.options["files"]), self.options["member"] or None)


class DocumentReader(DataSourceReader):  # type: ignore[misc]  # PySpark is not followed
    """Reads each document whole."""

    def __init__(self, files: list[str], member: str | None) -> None:
        self.files = files
        self.member = member

    def partitions(self) -> list[InputPartition]:
        """One for each document."""
        return [InputPartition(file) for file in self.files]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The records of one document."""
        path = partition.value
        text = _content(path).decode("utf-8-sig", errors="replace")
        return _batches(split_records(text, self.member), path)


def _content(path: str) -> bytes:
    if "://" in path:
        from pyarrow import fs

        file_system, inner = fs.FileSystem.from_uri(path)
        with file_system.open_input_file(inner) as stream:
            return bytes(stream.read())
    with open(path, "rb") as file:
        return file.read()


def _batches(records: Iterator[str], path: str) -> Iterator[pa.RecordBatch]:
    texts: list[str] = []
    for text in records:
        texts.append(text)
        if len(texts) == ROWS_PER_BATCH:
            yield pa.record_batch([texts, [path] * len(texts)], schema=SCHEMA)
            texts = []
    if texts:
        yield pa.record_batch([texts, [path] * len(texts)], schema=SCHEMA)


def split_records(text: str, member: str | None = None) -> Iterator[str]:
    """The text of each record of a document.

    >>> list(split_records('[{"a": 1.10}, {"b": [2]}]'))
    ['{"a": 1.10}', '{"b": [2]}']
    """
    start = _end_of(BLANK, text, 0)
    if member is not None and text[start : start + 1] == "{":
        found = _start_of_member(text, start, member)
        if found is None:
            # No collection: a single feature, or features line by line.
            yield from _items(text, start, closing="")
        else:
            yield from _items(text, found + 1, closing="]")
    elif text[start : start + 1] == "[":
        yield from _items(text, start + 1, closing="]")
    else:
        yield from _items(text, start, closing="")


def _items(text: str, position: int, closing: str) -> Iterator[str]:
    while True:
        position = _end_of(BETWEEN, text, position)
        if position >= len(text) or (closing and text[position] == closing):
            return
        try:
            _, end = _decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
        yield text[position:end].rstrip()
        position = max(end, position + 1)


def _start_of_member(text: str, position: int, member: str) -> int | None:
    """Where the array of a member of the document's object starts."""
    position = _end_of(BETWEEN, text, position + 1)
    try:
        while position < len(text) and text[position] == '"':
            key, position = _decoder.raw_decode(text, position)
            position = _end_of(BLANK, text, position)
            if text[position : position + 1] != ":":
                return None
            position = _end_of(BLANK, text, position + 1)
            if key == member and text[position : position + 1] == "[":
                return position
            _, position = _decoder.raw_decode(text, position)
            position = _end_of(BETWEEN, text, position)
    except (ValueError, RecursionError):
        return None
    return None


def _end_of(blank: re.Pattern[str], text: str, position: int) -> int:
    found = blank.match(text, position)
    return position if found is None else found.end()
