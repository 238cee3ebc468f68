"""Reads CSV: records as they are in their files, then their cells, each by the name in the header of its own file.

Layer: pipeline.
Shape: cells as text, null where nothing is between two separators; `_raw` is the record's own text.
       Lines are records where that is certain: where `multiLine` is not told, the files are looked through first for a quote
       that a line leaves open; if there is one, values hold line breaks, and each file is cut by one task.
Errors: PipelineError for headers that cannot be read, or that lack a column which the header of another file has.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from schemac.pipeline.declaration.job import Source
from schemac.pipeline.declaration.source_options import Options
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading import texts
from schemac.pipeline.reading.csv_grammar import NO_CELL, Dialect, dialect_of
from schemac.pipeline.reading.cutting import Found, Listed, Work, cut, read_in_tasks
from schemac.pipeline.reading.files import File, FileSplit, codec_name, has_marks, lines_of, lines_of_split
from schemac.pipeline.reading.texts import Texts
from schemac.pipeline.spark.columns import RAW, SOURCE
from schemac.pipeline.spark.sql import literal, matches, name, when
from schemac.text.source.catalogue import CHANGED_INPUT, DUPLICATE_COLUMN, EMPTY_INPUT, UNREADABLE_HEADER

CORRUPT = "__corrupt"
QUOTES = "quotes"
UNSOUND = "a quote is not escaped, is not closed, or is next to other text of its value"
BYTES_WORTH_A_JOB = 32 << 20
"""Up to here this process looks through text before Spark has begun to."""


@dataclass(frozen=True)
class Header:
    """A header as it is in some files: its text (empty where files have none) and the names of columns."""

    text: str
    names: tuple[str, ...]
    files: tuple[File, ...]


@dataclass(frozen=True)
class CsvFiles:
    """The files of a CSV source and how they are written."""

    source: Source
    options: Options
    dialect: Dialect
    listed: Listed
    headers: tuple[Header, ...]
    has_header: bool
    encoding: str

    @property
    def line_break(self) -> str:
        """The line break that was told; empty for any."""
        return self.options.text("lineSep")

    @property
    def is_read_by_spark(self) -> bool:
        """Whether Spark's own reader of lines has the text right."""
        return self.encoding == "utf-8" and not any(file.is_packed_for_us for file in self.listed.files)

    @property
    def is_joined(self) -> bool | None:
        """Whether a value may hold line breaks; None if the files have to be looked at."""
        is_multi_line = self.options.flag("multiLine")
        if is_multi_line is not None:
            return is_multi_line
        if self.line_break or not self.dialect.quote:
            return False
        return None if self.is_read_by_spark else True


@dataclass(frozen=True)
class CsvRecords:
    """SQL text of the cell of each column, and for columns that some file lacks, that file.

    The cells are in the columns of `parsing`; `corrupt` is null where a record has as many cells as its header. `columns`
    are those of every file, where all have one header, and no option gives a cell another meaning.
    """

    texts: Texts
    cells: dict[str, str]
    absent: dict[str, str]
    parsing: tuple[tuple[str, str], ...]
    corrupt: str
    dialect: Dialect
    columns: tuple[str, ...] | None


def read_csv(spark: SparkSession, source: Source) -> CsvRecords:
    """Read the records of a CSV source."""
    files = _csv_files(spark, source)
    is_joined = files.is_joined
    if is_joined is None:
        is_joined = _has_open_quotes(spark, files)
    if files.is_read_by_spark and not is_joined:
        texts = _lines(spark, files)
    else:
        texts = _cut(spark, files, is_joined=is_joined)
    return _with_cells(texts, files)


def _csv_files(spark: SparkSession, source: Source) -> CsvFiles:
    options = Options(source)
    dialect = dialect_of(options)
    encoding = options.text("encoding", "UTF-8")
    has_header = options.flag("header") is not False
    codec = codec_name(encoding)
    listed = texts.files_of(spark, source)
    by_text: dict[str, list[File]] = {}
    for file in listed.files:
        first = _first_record(file.path, dialect, encoding, options.text("lineSep"))
        if first is not None and (has_header or not by_text):
            by_text.setdefault(first, []).append(file)
    if not by_text:
        message = f"`{source.path[0]}` is empty: it has no header, and no rows"
        raise PipelineError(EMPTY_INPUT, message)
    headers = tuple(
        _header(text, tuple(files), dialect) if has_header else _no_header(text, listed.files, dialect)
        for text, files in by_text.items()
    )
    return CsvFiles(source, options, dialect, listed, headers, has_header, codec)


def _first_record(path: str, dialect: Dialect, encoding: str, line_break: str) -> str | None:
    return next(dialect.records(lines_of(path, encoding, line_break), line_break), None)


def _no_header(record: str, files: tuple[File, ...], dialect: Dialect) -> Header:
    """Names of columns where no file has any, as Spark gives them."""
    cells = dialect.cells(record) if dialect.is_sound(record) else record.split(dialect.sep)
    return Header("", tuple(f"_c{i}" for i in range(len(cells))), files)


def _header(text: str, files: tuple[File, ...], dialect: Dialect) -> Header:
    """Read the names in a header; a column without one is called as Spark calls it."""
    path = files[0].path
    if has_marks(text):
        message = f"the header of `{path}` holds bytes that are not its encoding"
        raise PipelineError(UNREADABLE_HEADER, message, "set `encoding`, such as windows-1252")
    if not dialect.is_sound(text):
        message = f"the header of `{path}` cannot be read: {UNSOUND}"
        raise PipelineError(UNREADABLE_HEADER, message, "correct the header, or set `quote` and `escape`")
    names = [cell or f"_c{i}" for i, cell in enumerate(dialect.cells(text))]
    twice = [label for label, count in Counter(names).items() if count > 1]
    if twice:
        message = f"two columns of `{path}` are called `{twice[0]}`"
        raise PipelineError(DUPLICATE_COLUMN, message, "give each column of the header its own name")
    return Header(text, tuple(names), files)


def _of_header(header: Header) -> str:
    """Whether a record is of a file with this header."""
    return f"{SOURCE} in ({', '.join(literal(file.uri) for file in header.files)})"


def _is_header(files: CsvFiles) -> str:
    """Whether a line has the text of the header of its file."""
    alone = len(files.headers) == 1
    branches = [
        f"(value = {literal(header.text)}" + ("" if alone else f" and {_of_header(header)}") + ")"
        for header in files.headers
    ]
    return " or ".join(branches)


def _uncommented(frame: DataFrame, dialect: Dialect) -> DataFrame:
    return frame.where(f"not startswith(value, {literal(dialect.comment)})") if dialect.comment else frame


def _is_left_open(dialect: Dialect) -> str:
    return f"(contains(value, {literal(dialect.quote)}) and value rlike {literal('(?s)^' + dialect.opening + chr(92) + 'z')})"


def _has_open_quotes(spark: SparkSession, files: CsvFiles) -> bool:
    """Whether some line leaves a quote open, so that the value goes on in the next."""
    if texts.is_in_reach(files.listed):
        finder = OpenQuotes(files.dialect)
        if sum(file.size_bytes for file in files.listed.files) <= BYTES_WORTH_A_JOB:
            return any(True for file in files.listed.files for _ in finder(FileSplit(file)))
        open_lines = cut(spark, files.listed, finder, is_cut=True)
    else:
        lines = _uncommented(texts.lines(spark, files.source, files.listed), files.dialect)
        open_lines = lines.where(_is_left_open(files.dialect))
    return bool(open_lines.select(SOURCE).head(1))


def _headers_seen(spark: SparkSession, files: CsvFiles) -> dict[str, int]:
    """For each file, how many of its lines are as its header is."""
    lines = _uncommented(texts.lines(spark, files.source, files.listed), files.dialect)
    rows = lines.where(_is_header(files)).groupBy(SOURCE).count().collect()
    return {row[0]: row[1] for row in rows}


def _lines(spark: SparkSession, files: CsvFiles) -> Texts:
    """Each line as a record, without the headers."""
    quote, faults = files.dialect.quote, []
    if quote:
        has_quote = f"contains(value, {literal(quote)})"
        faults.append((f"{has_quote} and not {matches('value', files.dialect.pattern)}", QUOTES))

    def rows() -> DataFrame:
        return texts.judged(_rows(spark, files), faults)

    def made(work: Work[Found]) -> DataFrame:
        return read_in_tasks(spark, files.listed, _reader_of_lines(files), work, is_cut=True)

    is_ours = len(files.headers) == 1 and not files.line_break and texts.is_in_reach(files.listed)
    partitions = files.listed.partitions
    return Texts(rows, partitions, made) if is_ours else Texts(rows, partitions)


def _reader_of_lines(files: CsvFiles) -> "CsvLines":
    header = files.headers[0].text if files.has_header else None
    return CsvLines(header, files.dialect.comment)


def _rows(spark: SparkSession, files: CsvFiles) -> DataFrame:
    """Each line as a row, without the headers."""
    lines = texts.lines(spark, files.source, files.listed)
    frame = _uncommented(lines, files.dialect)
    if not files.has_header:
        return frame
    frame = frame.where(f"not ({_is_header(files)})")
    # A record may read as the header does: of the lines that do, each file loses one.
    counts = _headers_seen(spark, files)
    for header in files.headers:
        for file in header.files:
            more = counts.get(file.uri, 0) - 1
            if more < 0:
                raise _other_header(file)
            if more:
                frame = frame.unionByName(_repeated(lines, file, header, more))
    return frame


def _other_header(file: File) -> PipelineError:
    message = f"`{file.path}` changed while it was read: its header is different now"
    return PipelineError(CHANGED_INPUT, message, "run the pipeline again")


def _repeated(lines: DataFrame, file: File, header: Header, count: int) -> DataFrame:
    """Give back records that read as the header of their file does."""
    one = lines.where(f"value = {literal(header.text)} and {SOURCE} = {literal(file.uri)}").limit(1)
    return one.selectExpr("*", f"explode(sequence(1, {count})) as __i").drop("__i")


@dataclass(frozen=True)
class CsvLines:
    """The records of a piece of a file in which each line is one, without the header."""

    header: str | None
    comment: str

    def __call__(self, split: FileSplit) -> Iterator[Found]:
        """Read the records."""
        is_headed = split.start == 0 and self.header is not None
        for lines in lines_of_split(split):
            records = self._records(lines)
            if is_headed and len(records):
                if records[0].as_py() != (self.header or "").encode():
                    raise _other_header(split.file)
                records, is_headed = records.slice(1), False
            yield Found(records)
        if is_headed and split.end is not None:
            message = f"the header of `{split.file.path}` is not within its first {split.end:,} bytes"
            raise PipelineError(UNREADABLE_HEADER, message, "remove the blank lines and comments before it")

    def _records(self, lines: pa.Array) -> pa.Array:
        is_none = pc.match_substring_regex(lines, "^ *$")
        if self.comment:
            is_none = pc.or_(is_none, pc.starts_with(lines, self.comment.encode()))
        return lines.filter(pc.invert(is_none)) if pc.any(is_none).as_py() else lines


@dataclass(frozen=True)
class OpenQuotes:
    """The lines of a piece that leave a quote open."""

    dialect: Dialect

    def __call__(self, split: FileSplit) -> Iterator[Found]:
        """Find them; most lines have no quote, or are seen to be right by a pattern that is quicker than the grammar's."""
        for lines in lines_of_split(split):
            quoted = lines.filter(pc.match_substring(lines, self.dialect.quote.encode()))
            if self.dialect.is_plain and len(quoted):
                quoted = quoted.filter(pc.invert(pc.match_substring_regex(quoted, self._closed.encode())))
            texts_of = (text.decode(errors="replace") for text in quoted.to_pylist())
            open_texts = [text for text in texts_of if self._is_open(text)]
            if open_texts:
                yield Found(pa.array(open_texts, pa.binary()))

    @property
    def _closed(self) -> str:
        sep, quote = re.escape(self.dialect.sep), re.escape(self.dialect.quote)
        cell = f"(?:{quote}(?:[^{quote}]|{quote}{quote})*{quote}|[^{sep}{quote}]*)"
        return f"^{cell}(?:{sep}{cell})*$"

    def _is_open(self, line: str) -> bool:
        return not self.dialect.is_comment(line) and self.dialect.is_open(line)


@dataclass(frozen=True)
class _Splitter:
    """The records of a file, without its header."""

    dialect: Dialect
    encoding: str
    line_break: str
    has_header: bool
    is_joined: bool

    def __call__(self, path: str) -> Iterator[tuple[str, str | None]]:
        records = self.dialect.records(
            lines_of(path, self.encoding, self.line_break), self.line_break, is_joined=self.is_joined
        )
        if self.has_header:
            next(records, None)
        for record in records:
            yield texts.decoded(record, self.encoding, None if self.dialect.is_sound(record) else QUOTES)


def _cut(spark: SparkSession, files: CsvFiles, *, is_joined: bool) -> Texts:
    splitter = _Splitter(files.dialect, files.encoding, files.line_break, files.has_header, is_joined)
    return texts.cut_texts(spark, files.listed, splitter)


def _with_cells(texts_: Texts, files: CsvFiles) -> CsvRecords:
    """Split each record into its cells."""
    unsupported = files.options.some(("nullValue", "emptyValue", "maxColumns", "maxCharsPerColumn"))
    settings = {
        **unsupported,
        "sep": files.dialect.sep,
        "quote": files.dialect.quote,
        "escape": files.dialect.escape,
        "ignoreLeadingWhiteSpace": str(files.dialect.skips_leading).lower(),
        "ignoreTrailingWhiteSpace": str(files.dialect.skips_trailing).lower(),
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": CORRUPT,
        # Keeps line breaks in values as they are.
        "multiLine": "true",
    }
    # An empty cell is null, and empty text, which is quoted, is not: no cell is written as the text that stands for null.
    settings.setdefault("nullValue", NO_CELL)
    names = list(dict.fromkeys(label for header in files.headers for label in header.names))
    absent = {
        label: header.files[0].path
        for label in names
        for header in files.headers
        if label not in header.names
    }
    cells = {label: _cell(label, files.headers) for label in names if label not in absent}
    parsing = tuple(_parsed(files.headers, settings))
    columns = files.headers[0].names if len(files.headers) == 1 and not unsupported else None
    corrupt = _cell(CORRUPT, files.headers)
    return CsvRecords(texts_, cells, absent, parsing, corrupt, files.dialect, columns)


def _parsed(headers: tuple[Header, ...], settings: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Each header's columns as a struct; null for records of files with another."""
    options = "map(" + ", ".join(literal(text) for pair in settings.items() for text in pair) + ")"
    for i, header in enumerate(headers):
        columns = ", ".join(f"{name(label)} string" for label in (*header.names, CORRUPT))
        parsed = f"from_csv({RAW}, {literal(columns)}, {options})"
        yield f"__cells{i}", parsed if len(headers) == 1 else when(_of_header(header), parsed)


def _cell(label: str, headers: tuple[Header, ...]) -> str:
    """Find the cell of a column, wherever the file of a record has it."""
    if len(headers) == 1:
        return f"__cells0.{name(label)}"
    return f"coalesce({', '.join(f'__cells{i}.{name(label)}' for i in range(len(headers)))})"
