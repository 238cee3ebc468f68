"""JSON records: one to a line, or cut out of documents that span several lines.

Layer: pipeline.
Shape: the text of a record is as it is in its file: an item of an array, a feature of a collection, or one value after the other.
       Whatever is not JSON becomes a record of its own, so that the run accounts for it; reading goes on behind it where that is certain.
Units: a document is read in pieces; no more of it is kept than the longest record and two pieces, and where it is cut makes no
       difference to the records.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from schemac.pipeline.declaration.job import Explode, Source
from schemac.pipeline.declaration.source_options import Options
from schemac.pipeline.reading import texts
from schemac.pipeline.reading.cutting import (
    FAULT,
    FileBatches,
    ListedFiles,
    RecordTexts,
    Splitter,
    TextBatches,
    whole_files,
)
from schemac.pipeline.reading.files import FileSplit, chunks_of, codec_name, lines_of, lines_of_split
from schemac.pipeline.reading.inputs import parse_steps
from schemac.pipeline.reading.paths import local_part
from schemac.pipeline.spark.executors import mapped
from schemac.pipeline.spark.packed import RAW
from schemac.rows.judging.tokens import BLANK, NotJsonError, parse, token_text

if TYPE_CHECKING:
    from schemac.pipeline.reading.records import Records

BLANKS = re.compile(r"[ \t\r\n]*")
BETWEEN = re.compile(r"[ \t\r\n,]*")
TOKEN = re.compile(r'"(?:[^"\\\r\n]|\\.)*+"|["\[\]{},\n]')
OPENED = re.compile(r'"(?:[^"\\\r\n]|\\.)*+')
LONGEST_TOKEN = 16
"""No token whose end a parser has to guess (a number's exponent, a literal, an escape) is cut further from the end of a piece."""
_decoder = json.JSONDecoder(parse_int=lambda text: text, parse_float=lambda text: text)


def records_of(chunks: Iterable[str], member: str | None = None) -> Iterator[str]:
    """Yield the texts of the records in a document: its items, or those of the array of its `member`.

    >>> list(records_of(['[{"a": 1.10}, {"b": [2]}]']))
    ['{"a": 1.10}', '{"b": [2]}']
    >>> list(records_of(['[{"a": 1}] {"b": 2}', ', x']))
    ['{"a": 1}', '{"b": 2}', 'x']
    """
    return _DocumentReader(chunks, member).records()


class _DocumentReader:
    """Cuts documents into records; each method is at a token, and goes on behind what it has read.

    Only a part of a document is held: from the record that is being read to the end of a piece. `at` is the reader's place in it.
    """

    def __init__(self, chunks: Iterable[str], member: str | None) -> None:
        self._chunks = iter(chunks)
        self.member = member
        self.text = ""
        self.at = 0
        self.is_last = False
        """Whether nothing more comes."""
        self.needed_from: int | None = None
        """Where text begins that is needed again, before the place of the reader."""

    @property
    def mark(self) -> str:
        """The character at the reader's place; empty at the end of the document."""
        if self.at == len(self.text) and not self.is_last:
            self.more()
        return self.text[self.at : self.at + 1]

    def more(self) -> None:
        """Read on; as much again as is held, so that a long record is not looked through for every piece of it."""
        start = self.at if self.needed_from is None else self.needed_from
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        placeholder = line if not line.strip() else "x"
        self.text = placeholder + self.text[start:]
        self.at += len(placeholder) - start
        if self.needed_from is not None:
            self.needed_from = len(placeholder)
        needed, parts, read = len(self.text), [self.text], 0
        while not self.is_last and read <= needed:
            chunk = next(self._chunks, None)
            self.is_last = chunk is None
            parts.append(chunk or "")
            read += len(parts[-1])
        self.text = "".join(parts)

    def skip(self, blank: re.Pattern[str]) -> None:
        """Move on over what a pattern matches."""
        while True:
            match = blank.match(self.text, self.at)
            self.at = self.at if match is None else match.end()
            if self.at < len(self.text) or self.is_last:
                return
            self.more()

    def value(self) -> tuple[Any, int]:
        """Parse the value at the reader's place; return it with its end. Raises ValueError or RecursionError."""
        while True:
            try:
                value, end = _decoder.raw_decode(self.text, self.at)
                if self.is_last or self.text[self.at] in '[{"' or end + LONGEST_TOKEN < len(self.text):
                    return value, end
            except json.JSONDecodeError as error:
                is_cut = error.msg.startswith("Unterminated") or error.pos + LONGEST_TOKEN >= len(self.text)
                if self.is_last or not is_cut:
                    raise
            self.more()

    def take(self, end: int) -> str:
        """Return the text up to a place, and move there."""
        start = self.at if self.needed_from is None else self.needed_from
        text, self.at, self.needed_from = self.text[start:end], end, None
        return text

    def records(self) -> Iterator[str]:
        """Yield the records of all documents, one after the other."""
        self.skip(BETWEEN)
        while mark := self.mark:
            if mark == "[":
                self.at += 1
                yield from self._items()
            elif mark == "{" and self.member is not None:
                yield from self._collection(self.member)
            else:
                yield self._record()[0]
            self.skip(BETWEEN)

    def _items(self) -> Iterator[str]:
        """Yield the records of an array, and an empty one behind them if the array does not end."""
        is_broken = False
        while True:
            self.skip(BETWEEN)
            mark = self.mark
            if not mark:
                if not is_broken:
                    # The array has no end: what it held more is not there, which a reader of the quarantine has to see.
                    yield ""
                return
            if mark == "]":
                self.at += 1
                return
            record, is_broken = self._record()
            yield record

    def _record(self) -> tuple[str, bool]:
        """Cut one record; return its text, and whether it is not JSON."""
        end: int | None = None
        try:
            end, is_broken = self.value()[1], False
        except (ValueError, RecursionError):
            is_broken = True
            while (end := _end_of_broken(self.text, self.at, self.is_last)) is None:
                self.more()
        return self.take(end).rstrip(), is_broken

    def _collection(self, member: str) -> Iterator[str]:
        """Yield the items of a member's array; the object itself if it has no such member, as a single feature."""
        has_records = False
        self.needed_from = self.at
        self.at += 1
        self.skip(BETWEEN)
        with suppress(ValueError, RecursionError):
            while self.mark == '"':
                key, self.at = self.value()
                self.skip(BLANKS)
                if self.mark != ":":
                    break
                self.at += 1
                self.skip(BLANKS)
                if key == member and self.mark == "[":
                    has_records = True
                    self.take(self.at + 1)
                    yield from self._items()
                else:
                    self.at = self.value()[1]
                self.skip(BETWEEN)
        if self.mark == "}":
            whole = self.take(self.at + 1)
            if not has_records:
                yield whole
        elif not has_records:
            # Whatever is there in place of the collection's end.
            self.at = self.needed_from or 0
            yield self._record()[0]
        elif self.mark:
            while not self.is_last:
                self.more()
            yield self.take(len(self.text))


def _end_of_broken(text: str, start: int, is_last: bool) -> int | None:
    """Return where a record ends that is not JSON: behind its last bracket, or before the line on which the next one starts.

    None if that depends on what follows the text.
    """
    depth = 0
    for match in TOKEN.finditer(text, start):
        mark = match[0]
        if mark == '"':
            opened = OPENED.match(text, match.start())
            if opened is not None and opened.end() >= len(text) - 1 and not is_last:
                return None
            break
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
            if depth <= 0:
                return match.end() if depth == 0 else max(match.start(), start + 1)
        elif mark in ",\n" and depth == 0 and match.start() > start:
            return match.start()
    else:
        if not is_last:
            return None
    line = text.rfind("\n", 0, start) + 1
    indent = re.escape(text[line:start]) if not text[line:start].strip() else ""
    following = re.compile(rf"\n(?={indent}\{{)").search(text, start)
    if following is None and not is_last:
        return None
    return following.end() if following else len(text)


NO_LIST = "type"
"""The rule that a record breaks in which `explode` finds something else than a list."""
ITEMS_PER_BATCH = 256
"""Few, for each item has the record around it."""


def items_of_texts(texts: DataFrame, explode: Explode) -> DataFrame:
    """Return the records of a list's items: each is the record around it, with the item in place of the list."""
    steps = tuple(str(step) for step in parse_steps(explode.path))
    return mapped(texts, partial(_items_of_batches, steps, explode.keep_empty), texts.schema)


def _items_of_batches(
    steps: tuple[str, ...], keeps_empty: bool, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the records of items in place of the records with lists, with all other columns of these."""
    for batch in batches:
        records = enumerate(zip(batch.column(RAW).to_pylist(), batch.column(FAULT).to_pylist(), strict=True))
        items = (
            (row, *item)
            for row, (text, fault) in records
            for item in items_of_record(text, fault, steps, keeps_empty=keeps_empty)
        )
        while some := list(islice(items, ITEMS_PER_BATCH)):
            rows, texts, faults = zip(*some, strict=True)
            repeated = batch.take(pa.array(rows))
            written = {RAW: pa.array(texts, pa.string()), FAULT: pa.array(faults, pa.string())}
            columns = [written.get(label, repeated.column(label)) for label in batch.schema.names]
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def items_of_record(
    text: str, fault: str | None, steps: tuple[str, ...], *, keeps_empty: bool
) -> Iterator[tuple[str, str | None]]:
    """Yield the text of a record for each item of a list in it, with the rule that it breaks; a broken record stays one.

    >>> list(items_of_record('{"a": {"b": [1.10, "x"]}}', None, ("a", "b"), keeps_empty=False))
    [('{"a":{"b":1.10}}', None), ('{"a":{"b":"x"}}', None)]
    """
    try:
        record = None if fault else parse(text)
    except NotJsonError:
        record = None
    if not isinstance(record, dict):
        yield text, fault
        return
    around = record
    for step in steps[:-1]:
        member = around.get(step)
        around = member if isinstance(member, dict) else {}
    items = around.get(steps[-1])
    if items is None:
        yield from [(text, None)] if keeps_empty else []
    elif not isinstance(items, list):
        yield text, NO_LIST
    else:
        for item in items or ([None] if keeps_empty else []):
            around[steps[-1]] = item
            yield token_text(record), None


FILES_LOOKED_AT = 200
LONGEST_LINE_READ = 1 << 20


def read_json(spark: SparkSession, source: Source) -> "Records":
    """Read the records of a JSON source, or the features of a GeoJSON source."""
    from schemac.pipeline.reading.records import JsonTexts, Records  # the tasks need neither

    options = Options(source)
    encoding = codec_name(options.text("encoding", "UTF-8"))
    listed, values = texts.files_of(spark, source), JsonTexts(source.format == "geojson")
    folders = tuple(listed.partitions.values())

    def cut(splitter: Splitter) -> Records:
        """Return the records that a splitter finds in each file; a file is read by one task."""
        files = FileBatches(spark, listed, TextBatches(partial(whole_files, splitter, encoding), folders))
        return Records(files.texts, values, listed.partitions, files)

    if source.format == "geojson":
        return cut(partial(_documents, encoding, "features"))
    is_multi_line = options.flag("multiLine")
    if is_multi_line is None:
        is_multi_line = not options.text("lineSep") and not _is_line_by_line(spark, source, listed, encoding)
    if is_multi_line:
        return cut(partial(_documents, encoding, None))
    if encoding != "utf-8" or any(file.is_packed_for_us for file in listed.files):
        return cut(partial(_lines, encoding, options.text("lineSep")))
    is_ours = not options.text("lineSep") and texts.is_in_reach(listed)
    files = FileBatches(spark, listed, TextBatches(json_lines, folders), is_cut=True) if is_ours else None
    return Records(
        lambda: texts.checked_lines(texts.lines(spark, source, listed)), values, listed.partitions, files
    )


def _is_line_by_line(spark: SparkSession, source: Source, listed: ListedFiles, encoding: str) -> bool:
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
    """Read the first line that is not blank; of a very long one, enough to know its form."""
    start = ""
    for chunk in chunks_of(path, encoding):
        start = (start + chunk).lstrip()
        line, is_whole_line, _ = start.partition("\n")
        if is_whole_line:
            return line
        if len(start) > LONGEST_LINE_READ:
            return line[:1] + "}"
    return start or "{}"


def json_lines(split: FileSplit) -> Iterator[RecordTexts]:
    """Read the lines of a piece of a file that are not blank."""
    for lines in lines_of_split(split):
        is_blank = pc.match_substring_regex(lines, f"^[{BLANK}]*$")
        yield RecordTexts(lines.filter(pc.invert(is_blank)) if pc.any(is_blank).as_py() else lines)


def _documents(encoding: str, member: str | None, path: str) -> Iterator[str]:
    """Read the records of the documents in a file."""
    return records_of(chunks_of(path, encoding), member)


def _lines(encoding: str, line_break: str, path: str) -> Iterator[str]:
    """Read the lines of a file that are not blank."""
    for line in lines_of(path, encoding, line_break):
        bare = line.removesuffix(line_break) if line_break else line.rstrip("\r\n")
        if bare.strip():
            yield bare
