"""Reads JSON: a record to a line, or the records of documents that are in several lines.

Layer: pipeline.
Shape: `_raw` is the text of a record as it is in its file. Lines of UTF-8 are read by Spark; documents, and other
       encodings, by one task for each file.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from schemac.pipeline.declaration.job import Source
from schemac.pipeline.declaration.source_options import Options
from schemac.pipeline.reading import texts
from schemac.pipeline.reading.cutting import Found, Listed, Work, read_in_tasks
from schemac.pipeline.reading.decoding import chunks_of, codec_name, lines_of
from schemac.pipeline.reading.documents import records_of
from schemac.pipeline.reading.paths import local_part
from schemac.pipeline.reading.pieces import FileSplit, lines_of_split
from schemac.pipeline.reading.texts import Texts
from schemac.rows.judging.tokens import BLANK

FILES_LOOKED_AT = 200
LONGEST_LINE_READ = 1 << 20


def read_json(spark: SparkSession, source: Source) -> Texts:
    """Read the records of a JSON source."""
    options = Options(source)
    encoding = codec_name(options.text("encoding", "UTF-8"))
    listed = texts.files_of(spark, source)
    is_multi_line = options.flag("multiLine")
    if is_multi_line is None:
        is_multi_line = not options.text("lineSep") and not _is_line_by_line(spark, source, listed, encoding)
    if is_multi_line:
        return texts.cut_texts(spark, listed, _Documents(encoding, None))
    if encoding == "utf-8" and not any(file.is_packed_for_us for file in listed.files):
        return _lines(spark, source, listed)
    return texts.cut_texts(spark, listed, _Lines(encoding, options.text("lineSep")))


def _lines(spark: SparkSession, source: Source, listed: Listed) -> Texts:
    """Read a record from each line."""

    def rows() -> DataFrame:
        return texts.judged(texts.lines(spark, source, listed, BLANK))

    def made(work: Work[Found]) -> DataFrame:
        return read_in_tasks(spark, listed, JsonLines(), work, is_cut=True)

    is_ours = not Options(source).text("lineSep") and texts.is_in_reach(listed)
    return Texts(rows, listed.partitions, made) if is_ours else Texts(rows, listed.partitions)


def read_geojson(spark: SparkSession, source: Source) -> Texts:
    """Read the features of a GeoJSON source."""
    encoding = codec_name(Options(source).text("encoding", "UTF-8"))
    return texts.cut_texts(spark, texts.files_of(spark, source), _Documents(encoding, "features"))


def _is_line_by_line(spark: SparkSession, source: Source, listed: Listed, encoding: str) -> bool:
    """Whether each line is a record: the first line of each file then is an object from brace to brace."""
    if any(local_part(file.path) is None for file in listed.files):
        first = texts.lines(spark, source, listed).select("value").head(1)
        return not first or is_whole(first[0][0])
    return all(is_whole(_first_line(file.path, encoding)) for file in listed.files[:FILES_LOOKED_AT])


def is_whole(line: str) -> bool:
    """Whether a line can be a record, or one that is broken; not the first line of a document."""
    line = line.strip()
    return not line.startswith("[") and not (line.startswith("{") and not line.endswith("}"))


def _first_line(path: str, encoding: str) -> str:
    """Read the first line that is not blank; of a very long one, what tells its form."""
    start = ""
    for chunk in chunks_of(path, encoding):
        start = (start + chunk).lstrip()
        line, is_whole_line, _ = start.partition("\n")
        if is_whole_line:
            return line
        if len(start) > LONGEST_LINE_READ:
            return line[:1] + "}"
    return start or "{}"


@dataclass(frozen=True)
class JsonLines:
    """The lines of a piece of a file."""

    def __call__(self, split: FileSplit) -> Iterator[Found]:
        """Read the lines; a blank one is never proven to be a record."""
        yield from map(Found, lines_of_split(split))


@dataclass(frozen=True)
class _Documents:
    """The records of the documents in a file."""

    encoding: str
    member: str | None

    def __call__(self, path: str) -> Iterator[tuple[str, str | None]]:
        for record in records_of(chunks_of(path, self.encoding), self.member):
            yield texts.decoded(record, self.encoding)


@dataclass(frozen=True)
class _Lines:
    """The lines of a file."""

    encoding: str
    line_break: str

    def __call__(self, path: str) -> Iterator[tuple[str, str | None]]:
        for line in lines_of(path, self.encoding, self.line_break):
            bare = line.removesuffix(self.line_break) if self.line_break else line.rstrip("\r\n")
            if bare.strip():
                yield texts.decoded(bare, self.encoding)
