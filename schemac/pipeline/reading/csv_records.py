"""Reads CSV: records as they stand in their files, then their cells, each by the name in the header of its own file.

Layer: pipeline.
Shape: cells as text, null where nothing stands between two separators; `_raw` is the record's own text.
       Lines are records where that is certain: where `multiLine` is not told, the files are looked through first for a quote
       that a line leaves open; if there is one, values hold line breaks, and each file is cut by one task.
Errors: PipelineError for headers that cannot be read, or that lack a column which the header of another file has.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

from schemac.pipeline.declaration.job import Source
from schemac.pipeline.declaration.source_options import Options
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading import texts
from schemac.pipeline.reading.csv_grammar import Dialect, dialect_of
from schemac.pipeline.reading.cutting import Listed
from schemac.pipeline.reading.decoding import codec_name, has_marks, lines_of
from schemac.pipeline.reading.file_columns import FILE
from schemac.pipeline.reading.pieces import File
from schemac.pipeline.reading.texts import Texts
from schemac.pipeline.spark.columns import RAW, SOURCE
from schemac.pipeline.spark.sqltext import literal, matches, name, when
from schemac.source.catalogue import CHANGED_INPUT, DUPLICATE_COLUMN, EMPTY_INPUT, UNREADABLE_HEADER

CORRUPT = "__corrupt"
NO_CELL = "\ue000"
QUOTES = "quotes"
UNSOUND = "a quote is not escaped, does not close, or stands beside other text of its value"


@dataclass(frozen=True)
class Header:
    """A header as it stands in some files: its text (empty where files have none) and the names of columns."""

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
        """Whether a value may hold line breaks; None where the files have to be looked at."""
        told = self.options.flag("multiLine")
        if told is not None:
            return told
        if self.line_break or not self.dialect.quote:
            return False
        return None if self.is_read_by_spark else True


@dataclass(frozen=True)
class CsvRecords:
    """SQL text of the cell of each column, and for columns that some file lacks, that file.

    The cells stand in the columns of `parsing`; `corrupt` is null where a record has as many cells as its header. `columns`
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
    seen = _look(spark, files) if files.is_read_by_spark and not is_joined else []
    if is_joined is None:
        is_joined = any(is_left_open for _, is_left_open, _ in seen)
    if files.is_read_by_spark and not is_joined:
        found = _lines(spark, files, seen)
    else:
        found = _cut(spark, files, is_joined=is_joined)
    return _with_cells(found, files)


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


def _look(spark: SparkSession, files: CsvFiles) -> list[tuple[str, bool, int]]:
    """For each file, how many of its lines are as its header is, and whether one leaves a quote open."""
    dialect = files.dialect
    found = _uncommented(texts.lines(spark, files.source).frame, dialect)
    is_header = _is_header(files) if files.has_header else "false"
    is_open = _is_left_open(dialect) if files.is_joined is None else "false"
    kept = found.selectExpr(SOURCE, f"{is_header} as header", f"{is_open} as open").where("header or open")
    rows = kept.groupBy(SOURCE).agg(expr("max(open)"), expr("count_if(header)")).collect()
    return [(uri, is_left_open, headers) for uri, is_left_open, headers in rows]


def _lines(spark: SparkSession, files: CsvFiles, seen: list[tuple[str, bool, int]]) -> Texts:
    """Each line as a record, without the headers."""
    dialect = files.dialect
    found = texts.lines(spark, files.source)
    frame = _uncommented(found.frame, dialect)
    if files.has_header:
        frame = frame.where(f"not ({_is_header(files)})")
        # A record may read as the header does: of the lines that do, each file loses one.
        counts = {uri: count for uri, _, count in seen}
        for header in files.headers:
            for file in header.files:
                more = counts.get(file.uri, 0) - 1
                if more < 0:
                    message = f"`{file.path}` changed while it was read: its header is another one now"
                    raise PipelineError(CHANGED_INPUT, message, "run the pipeline again")
                if more:
                    frame = frame.unionByName(_repeated(spark, found, file, header, more))
    faults = []
    if dialect.quote:
        has_quote = f"contains(value, {literal(dialect.quote)})"
        faults.append((f"{has_quote} and not {matches('value', dialect.pattern)}", QUOTES))
    return texts.judged(found.with_frame(frame), faults)


def _repeated(spark: SparkSession, found: Texts, file: File, header: Header, count: int) -> DataFrame:
    """Give back records that read as the header of their file does."""
    columns = ", ".join(found.partitions.values())
    one = found.frame.where(f"value = {literal(header.text)} and {SOURCE} = {literal(file.uri)}").limit(1)
    return one.selectExpr(
        "value", SOURCE, FILE, *([columns] if columns else []), f"explode(sequence(1, {count})) as __i"
    ).drop("__i")


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


def _with_cells(found: Texts, files: CsvFiles) -> CsvRecords:
    """Split each record into its cells."""
    told = files.options.some(("nullValue", "emptyValue", "maxColumns", "maxCharsPerColumn"))
    settings = {
        **told,
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
    columns = files.headers[0].names if len(files.headers) == 1 and not told else None
    corrupt = _cell(CORRUPT, files.headers)
    return CsvRecords(found, cells, absent, parsing, corrupt, files.dialect, columns)


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
