"""Reads CSV: records as they are in their files, then their cells, each by the name in the header of its own file.

Layer: pipeline.
Shape: batches with the cells of each record, and which column has the cells of each name that all headers have.
Rule: lines are records where that is certain: where `multiLine` is not told, the files are looked through first for a quote that a
      line leaves open; if there is one, values hold line breaks, and each file is cut by one task.
Errors: PipelineError for headers that cannot be read, or that lack a column which the header of another file has.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Source
from schemac.pipeline.declaration.source_options import Options
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading import texts
from schemac.pipeline.reading.csv_grammar import CsvDialect, CsvForm, CsvForms, dialect_of
from schemac.pipeline.reading.cutting import FileBatches, ListedFiles, RecordTexts, TextBatches, whole_files
from schemac.pipeline.reading.files import (
    FileSplit,
    SourceFile,
    codec_name,
    has_marks,
    lines_of,
    lines_of_split,
)
from schemac.pipeline.reading.inputs import Text
from schemac.pipeline.spark.packed import SOURCE
from schemac.text.source.catalogue import CHANGED_INPUT, DUPLICATE_COLUMN, EMPTY_INPUT, UNREADABLE_HEADER

if TYPE_CHECKING:
    from schemac.pipeline.reading.records import Records

UNSOUND = "a quote is not escaped, is not closed, or is next to other text of its value"
BYTES_WORTH_A_JOB = 32 << 20
"""Up to here this process looks through text before Spark has begun to."""


@dataclass(frozen=True)
class Header:
    """The header of some files: its text (empty for files without one) and the names of columns."""

    text: str
    names: tuple[str, ...]
    files: tuple[SourceFile, ...]


def read_csv(spark: SparkSession, source: Source) -> "Records":
    """Read the records of a CSV source."""
    from schemac.pipeline.reading.records import RecordColumns, Records  # the tasks need neither

    options = Options(source)
    dialect, encoding = dialect_of(options), codec_name(options.text("encoding", "UTF-8"))
    has_header = options.flag("header") is not False
    listed = texts.files_of(spark, source)
    headers = _headers(source, listed, dialect, encoding, has_header=has_header)
    is_joined = options.flag("multiLine")
    has_our_bytes = encoding != "utf-8" or any(file.is_packed_for_us for file in listed.files)
    if is_joined is None:
        may_join = bool(dialect.quote) and not dialect.line_break
        is_joined = may_join and (has_our_bytes or _has_open_quotes(spark, listed, dialect))
    is_cut = not (is_joined or has_our_bytes or dialect.line_break)
    uris = {file.uri: header.text for header in headers for file in header.files}
    lines = partial(csv_lines, uris if has_header else {}, dialect.comment)
    whole = partial(whole_files, partial(_records, dialect, encoding, has_header, is_joined), encoding)
    names = list(dict.fromkeys(label for header in headers for label in header.names))
    absent = {
        label: header.files[0].path for label in names for header in headers if label not in header.names
    }
    cells = {label: f"__k{i}" for i, label in enumerate(names)}
    shared = {label: cell for label, cell in cells.items() if label not in absent}
    forms = CsvForms(
        tuple(CsvForm(tuple(map(cells.__getitem__, header.names)), dialect) for header in headers),
        {file.uri: i for i, header in enumerate(headers) for file in header.files if i},
        tuple((shared[label], folder) for label, folder in listed.partitions.items() if label in shared),
    ).selecting([*shared.values()])
    batches = TextBatches(lines if is_cut else whole, tuple(listed.partitions.values()), forms)
    files = FileBatches(spark, listed, batches, is_cut)
    columns = RecordColumns({label: Text(cell) for label, cell in shared.items()}, absent=absent)
    return Records(lambda: files.texts(tuple(shared.values())), columns, listed.partitions, files)


def _headers(
    source: Source, listed: ListedFiles, dialect: CsvDialect, encoding: str, *, has_header: bool
) -> list[Header]:
    """Return the different headers, each with its files; without them one with Spark's names. Raises PipelineError if all files are empty."""
    by_text: dict[str, list[SourceFile]] = {}
    for file in listed.files:
        first = next(dialect.records(lines_of(file.path, encoding, dialect.line_break)), None)
        if first is not None and (has_header or not by_text):
            by_text.setdefault(first, []).append(file)
    if not by_text:
        message = f"`{source.path[0]}` is empty: it has no header, and no rows"
        raise PipelineError(EMPTY_INPUT, message)
    if has_header:
        return [_header(text, tuple(files), dialect) for text, files in by_text.items()]
    # Where no file has names of columns, they are as Spark gives them.
    (record,) = by_text
    cells = dialect.values(record) if dialect.is_sound(record) else record.split(dialect.sep)
    return [Header("", tuple(f"_c{i}" for i in range(len(cells))), listed.files)]


def _header(text: str, files: tuple[SourceFile, ...], dialect: CsvDialect) -> Header:
    """Read the names in a header; a column without one is called as Spark calls it."""
    path = files[0].path
    if has_marks(text):
        message = f"the header of `{path}` holds bytes that are not its encoding"
        raise PipelineError(UNREADABLE_HEADER, message, "set `encoding`, such as windows-1252")
    if not dialect.is_sound(text):
        message = f"the header of `{path}` cannot be read: {UNSOUND}"
        raise PipelineError(UNREADABLE_HEADER, message, "correct the header, or set `quote` and `escape`")
    names = [cell or f"_c{i}" for i, cell in enumerate(dialect.values(text))]
    twice = [label for label, count in Counter(names).items() if count > 1]
    if twice:
        message = f"two columns of `{path}` are called `{twice[0]}`"
        raise PipelineError(DUPLICATE_COLUMN, message, "give each column of the header its own name")
    return Header(text, tuple(names), files)


def _has_open_quotes(spark: SparkSession, listed: ListedFiles, dialect: CsvDialect) -> bool:
    """Whether some line leaves a quote open, so that the value goes on in the next."""
    finder = partial(_lines_with_open_quotes, dialect)
    if sum(file.size_bytes for file in listed.files) <= BYTES_WORTH_A_JOB:
        return any(True for file in listed.files for _ in finder(FileSplit(file)))
    open_lines = FileBatches(spark, listed, TextBatches(finder), is_cut=True).texts()
    return bool(open_lines.select(SOURCE).head(1))


def csv_lines(headers: Mapping[str, str], comment: str, split: FileSplit) -> Iterator[RecordTexts]:
    """Read a piece of a file in which each line is a record, without the header; `headers` are texts by addresses of files."""
    header = headers.get(split.file.uri)
    is_headed = split.start == 0 and header is not None
    for lines in lines_of_split(split):
        is_none = pc.match_substring_regex(lines, "^ *$")
        if comment:
            is_none = pc.or_(is_none, pc.starts_with(lines, comment.encode()))
        records = lines.filter(pc.invert(is_none)) if pc.any(is_none).as_py() else lines
        if is_headed and len(records):
            if records[0].as_py() != (header or "").encode():
                message = f"`{split.file.path}` changed while it was read: its header is different now"
                raise PipelineError(CHANGED_INPUT, message, "run the pipeline again")
            records, is_headed = records.slice(1), False
        yield RecordTexts(records)
    if is_headed and split.end is not None:
        message = f"the header of `{split.file.path}` is not within its first {split.end:,} bytes"
        raise PipelineError(UNREADABLE_HEADER, message, "remove the blank lines and comments before it")


def _lines_with_open_quotes(dialect: CsvDialect, split: FileSplit) -> Iterator[RecordTexts]:
    """Find the lines of a piece that leave a quote open; most have none, or are seen to be right by a pattern that is quicker than the grammar's."""
    sep, quote = re.escape(dialect.sep), re.escape(dialect.quote)
    cell = f"(?:{quote}(?:[^{quote}]|{quote}{quote})*{quote}|[^{sep}{quote}]*)"
    closed = f"^{cell}(?:{sep}{cell})*$".encode()
    for lines in lines_of_split(split):
        quoted = lines.filter(pc.match_substring(lines, dialect.quote.encode()))
        if dialect.is_plain and len(quoted):
            quoted = quoted.filter(pc.invert(pc.match_substring_regex(quoted, closed)))
        texts_of = (text.decode(errors="replace") for text in quoted.to_pylist())
        open_texts = [text for text in texts_of if not dialect.is_comment(text) and dialect.is_open(text)]
        if open_texts:
            yield RecordTexts(pa.array(open_texts, pa.binary()))


def _records(
    dialect: CsvDialect, encoding: str, has_header: bool, is_joined: bool, path: str
) -> Iterator[str]:
    """Read the records of a file, without its header."""
    records = dialect.records(lines_of(path, encoding, dialect.line_break), is_joined=is_joined)
    return islice(records, int(has_header), None)
