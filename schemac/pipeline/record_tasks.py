"""The work of tasks over records: validated as texts, as cells of CSV or as columns of Parquet, and packed.

The work of a task that reads the texts of records out of files, those of many small files together. The batch reader: reads many
records at a time with Arrow, and says of each whether it is proven to be right.

Layer: pipeline. It decides about speed only; what it does not prove is read value by value.
Shape: batches with the texts of records, or with the columns of a source, and what is known of each record next to it. Good records
      leave the task packed where nobody looks at single ones; else each record is a row, and `_errors` says what is wrong.
      The work of a task over rows of Parquet: good ones are packed, each of the others has all its reasons: the rows of a piece of a
      file (see `row_groups`) in; rows for Spark out, in which a row that does not fit is a struct of all its columns, for Spark writes
      it as text.
Proof: Takes records of CSV apart: one column of texts for each column of the source, null where nothing stands between two separators:
      a pattern shows that a record has as many cells as the header, and no quote but around a cell, where one that is doubled stands
      for itself. Arrow's parser reads the records for which it holds; the others are taken apart one by one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from schemac.pipeline.reading.csv_grammar import Dialect
from schemac.pipeline.reading.csv_records import QUOTES
from schemac.pipeline.reading.cutting import Found, gathered, sound
from schemac.pipeline.reading.files import File
from schemac.pipeline.reading.parquet import Rows, spark_types
from schemac.pipeline.reading.row_texts import text_of_row
from schemac.pipeline.reading.source import EXPLAINED
from schemac.pipeline.reading.texts import BAD_ENCODING
from schemac.pipeline.spark.columns import ERRORS, RAW, REASONS, SOURCE
from schemac.pipeline.spark.packed import ARROW_TYPE, PACKED, packed
from schemac.pipeline.spark.sql import name, when
from schemac.pipeline.spark.value_columns import column_of, column_type
from schemac.rows.judging.judge import Reason
from schemac.rows.judging.settings import LONGEST_VALUE, Settings, Step
from schemac.rows.judging.tokens import BLANK
from schemac.rows.validation.result import JudgedBatch
from schemac.rows.validation.validator import TEXT, FieldInput, Validator

NO_TEXT = r"\x00-\x1f"
"""Characters that no cell has which Arrow reads, such as line breaks."""
MALFORMED = "malformed"


@dataclass(frozen=True)
class CsvForm:
    """Texts that are records of CSV: `columns` are the names in their header, `taken` those that fields take."""

    columns: tuple[str, ...]
    dialect: Dialect
    taken: tuple[str, ...]

    @cached_property
    def _pattern(self) -> str:
        """A record whose cells are all as Arrow's parser reads them."""
        sep, quote = re.escape(self.dialect.sep), re.escape(self.dialect.quote)
        cell = f"[^{sep}{quote}{NO_TEXT}]*"
        if quote:
            cell = f"(?:{cell}|{quote}(?:[^{quote}{NO_TEXT}]|{quote}{quote})*{quote})"
        return f"^{cell}(?:{sep}{cell}){{{len(self.columns) - 1}}}$"

    def cells(self, records: pa.Array) -> tuple[dict[str, pa.Array], dict[int, str]]:
        """Return the texts of each column, and the rules that records break; their cells are null."""
        is_plain = self._plain(records)
        try:
            columns = self._parsed(records.filter(is_plain))
        except pa.ArrowInvalid:
            # No record is lost: all of them are taken apart one by one.
            is_plain = pa.repeat(pa.scalar(False), len(records))
            columns = self._parsed(records[:0])
        broken: dict[int, str] = {}
        if is_plain.true_count == len(records):
            return columns, broken
        others: list[list[str | None]] = []
        nothing: list[str | None] = [None] * len(self.columns)
        rows = pc.indices_nonzero(pc.invert(is_plain))
        for row, text in zip(rows.to_pylist(), records.take(rows).to_pylist(), strict=True):
            cells = nothing
            if text is not None and not self.dialect.is_sound(text):
                broken[row] = QUOTES
            elif text is not None and len(cells := self.dialect.values(text)) != len(self.columns):
                broken[row], cells = MALFORMED, nothing
            others.append(cells)
        places = pc.subtract(pc.cumulative_sum(is_plain.cast(pa.int64())), 1)
        behind = pc.subtract(pc.cumulative_sum(pc.invert(is_plain).cast(pa.int64())), 1)
        order = pc.if_else(is_plain, places, pc.add(behind, is_plain.true_count))
        for label, column in columns.items():
            number = self.columns.index(label)
            read = pa.array([cells[number] for cells in others], pa.string())
            columns[label] = pa.concat_arrays([column, read]).take(order)
        return columns, broken

    def _plain(self, records: pa.Array) -> pa.Array:
        """Return which records Arrow's parser reads."""
        if not self.dialect.is_plain:
            return pa.repeat(pa.scalar(False), len(records))
        try:
            return pc.fill_null(pc.match_substring_regex(records, self._pattern), False)
        except pa.ArrowInvalid:
            # The pattern is too long for the library.
            separators = len(self.columns) - 1
            is_known = pc.equal(pc.count_substring(records, self.dialect.sep), separators)
            odd = f"[{re.escape(self.dialect.quote)}{NO_TEXT}]"
            return pc.fill_null(pc.and_(is_known, pc.invert(pc.match_substring_regex(records, odd))), False)

    def _parsed(self, records: pa.Array) -> dict[str, pa.Array]:
        if not len(records) or not self.taken:
            return {label: pa.nulls(len(records), pa.string()) for label in self.taken}
        offsets = pa.array([0, len(records)], pa.int32())
        text = pc.binary_join(pa.ListArray.from_arrays(offsets, records), "\n").buffers()[2]
        names = [f"c{number}" for number in range(len(self.columns))]
        cell_names = {label: names[self.columns.index(label)] for label in self.taken}
        table = pv.read_csv(
            pa.BufferReader(text),
            read_options=pv.ReadOptions(use_threads=False, block_size=text.size + 1, column_names=names),
            parse_options=pv.ParseOptions(
                delimiter=self.dialect.sep, quote_char=self.dialect.quote or False, ignore_empty_lines=False
            ),
            convert_options=pv.ConvertOptions(
                include_columns=[*cell_names.values()],
                column_types=dict.fromkeys(cell_names.values(), pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                check_utf8=False,
            ),
        )
        if table.num_rows != len(records):
            raise pa.ArrowInvalid("another number of records")
        return {label: table.column(name).combine_chunks() for label, name in cell_names.items()}


MOST_BYTES = 64 << 20
"""Of records that are read at once."""
FAULT, SHOWN = "__broken", "__shown"
"""The rules that records break as a whole, null where they break none; and what is shown of these."""


@dataclass(frozen=True)
class RecordTask:
    """Reads batches of records."""

    schema_bytes: bytes
    """An IPC message: a type that is pickled loses what its children say."""
    settings: Settings
    inputs: tuple[FieldInput, ...]
    csv: CsvForm | None = None
    folders: tuple[tuple[tuple[Step, ...], str], ...] = ()
    """Columns from names of folders, with the place of a record that must not say another value."""
    kept: tuple[str, ...] = ()
    """Columns of the batches that leave the task in addition to the fields."""
    keeps_all: bool = False
    """Whether they do so for good records, too."""
    packs: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to the tasks: nothing that was made here."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def schema(self) -> pa.Schema:
        """The fields."""
        return pa.ipc.read_schema(pa.py_buffer(self.schema_bytes))

    @cached_property
    def _validator(self) -> Validator:
        return Validator(self.schema, self.settings, self.inputs, self.folders)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the batches of a partition."""
        for batch in batches:
            step = max(1, batch.num_rows * MOST_BYTES // max(batch.nbytes, MOST_BYTES))
            for start in range(0, batch.num_rows, step):
                yield from self.rows(batch.slice(start, step))

    def rows(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Read a batch."""
        rules: dict[int, str] = {}
        if self.csv is not None:
            cells, rules = self.csv.cells(batch.column(TEXT))
            for label, column in cells.items():
                batch = batch.append_column(label, column)
        judged = self._validator.validate(batch)
        for row, rule in rules.items():
            judged.reasons.refuse(row, _whole(rule, batch.column(TEXT)[row].as_py()))
        if FAULT in batch.schema.names and (faults := batch.column(FAULT)).null_count < batch.num_rows:
            for row in pc.indices_nonzero(faults.is_valid()).to_pylist():
                judged.reasons.refuse(row, _whole(faults[row].as_py(), batch.column(SHOWN)[row].as_py()))
        for row, (why,) in judged.reasons.whole.items():
            if why.rule in EXPLAINED:
                judged.reasons.refuse(row, _whole(why.rule, why.value))
        yield from self._packed(batch, judged) if self.packs else self._unpacked(batch, judged)

    @property
    def row_schema(self) -> pa.Schema:
        """The columns that leave the task, but for those that are kept, which have the types that they came with."""
        columns = [
            pa.field(f"__v{i}", column_type(self.schema.field(one.label)))
            for i, one in enumerate(self.inputs)
        ]
        return pa.schema(
            [
                *([] if self.packs else columns),
                pa.field(ERRORS, REASONS),
                *([pa.field(PACKED, ARROW_TYPE)] if self.packs else []),
            ]
        )

    def _packed(self, batch: pa.RecordBatch, judged: JudgedBatch) -> Iterator[pa.RecordBatch]:
        """Pack good records, and give each of the others as a row."""
        bad = pa.array(judged.reasons.rows)
        good = judged.rows.filter(pc.invert(judged.is_bad)) if len(bad) else judged.rows
        if good.num_rows:
            nothing = [pa.nulls(1, batch.schema.field(name).type) for name in self.kept]
            yield self._batch([pa.nulls(1, REASONS), packed(good)], nothing)
        if len(bad):
            reasons = judged.reasons.array(REASONS)
            extra_columns = [batch.column(name).take(bad) for name in self.kept]
            yield self._batch([reasons, pa.nulls(len(bad), ARROW_TYPE)], extra_columns)

    def _unpacked(self, batch: pa.RecordBatch, judged: JudgedBatch) -> Iterator[pa.RecordBatch]:
        """Give each record as a row."""
        places = np.arange(batch.num_rows)
        is_good = np.isin(places, judged.reasons.rows, invert=True)
        errors = judged.reasons.array(REASONS).take(pa.array(np.cumsum(~is_good) - 1, mask=is_good))
        extra_columns = [batch.column(name) for name in self.kept]
        if not self.keeps_all:
            extra_columns = [column.take(pa.array(places, mask=is_good)) for column in extra_columns]
        columns = [
            column_of(judged.rows.column(i), self.schema.field(one.label))
            for i, one in enumerate(self.inputs)
        ]
        yield self._batch([*columns, errors], extra_columns)

    def _batch(self, columns: list[pa.Array], extra_columns: list[pa.Array]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(
            [*columns, *extra_columns], names=[*self.row_schema.names, *self.kept]
        )


def _whole(rule: str, text: str | None) -> Reason:
    """Return the one reason of a record that breaks a rule as a whole."""
    reason_text = EXPLAINED.get(rule, text)
    return Reason("", rule, None if reason_text is None else reason_text[:LONGEST_VALUE])


@dataclass(frozen=True)
class FileTask:
    """The work of a task that reads the texts of records out of files."""

    task: RecordTask
    is_of_lines: bool

    @property
    def schema(self) -> Any:
        """Columns of the rows."""
        from pyspark.sql.pandas.types import from_arrow_schema

        texts = [pa.field(name, pa.string()) for name in self.task.kept]
        return from_arrow_schema(pa.schema([*self.task.row_schema, *texts]))

    def __call__(self, records: Iterator[tuple[File, Found]]) -> Iterator[pa.RecordBatch]:
        """Read the records of files."""
        for together in gathered(records):
            batches = [self._texts(file, file_records) for file, file_records in together]
            for batch in batches if len(batches) == 1 else _joined(batches):
                yield from self.task.rows(batch)

    def _texts(self, file: File, records: Found) -> pa.RecordBatch:
        """Return the texts of some records of a file, and what is wrong with them as a whole."""
        texts = sound(*records)
        faults, raw = records.faults, records.texts
        if texts.null_count:
            known = [None] * len(texts) if faults is None else faults.to_pylist()
            decoded = [one.decode("iso-8859-1") if isinstance(one, bytes) and text is None else text if isinstance(one, bytes) else one
                     for one, text in zip(raw.to_pylist(), texts.to_pylist(), strict=True)]  # fmt: skip
            rules = [
                fault if text is not None or fault is not None else BAD_ENCODING
                for fault, text in zip(known, texts.to_pylist(), strict=True)
            ]
            faults = pa.array(rules, pa.string())
            columns = {
                TEXT: texts,
                FAULT: faults,
                SHOWN: pa.array(decoded, pa.string()),
                RAW: pa.array(decoded, pa.string()),
            }
        else:
            columns = {TEXT: texts, RAW: texts}
        if self.is_of_lines and self.task.csv is None:
            # Only a line that no pattern proves may be blank.
            columns = _without_blank(columns)
        columns[SOURCE] = pa.repeat(pa.scalar(file.uri, pa.string()), len(columns[TEXT]))
        return pa.record_batch(list(columns.values()), list(columns))


def _joined(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Join batches one after the other; a column that some of them lack is null there."""
    tables = [pa.Table.from_batches([batch]) for batch in batches]
    joined: list[pa.RecordBatch] = (
        pa.concat_tables(tables, promote_options="default").combine_chunks().to_batches()
    )
    return joined


def _without_blank(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    is_blank = pc.fill_null(pc.equal(pc.utf8_trim(columns[TEXT], BLANK), ""), False)
    if not pc.any(is_blank).as_py():
        return columns
    rest = pc.invert(is_blank)
    return {name: column.filter(rest) for name, column in columns.items()}


RECORD, NUMBER = "_record", "__row"


@dataclass(frozen=True)
class RowTask:
    """Reads rows; `row_schema` has all columns of the files, `task` keeps the number of each row that does not fit."""

    task: RecordTask
    row_schema: pa.Schema

    @property
    def arrow_schema(self) -> pa.Schema:
        """Columns of the rows for Spark."""
        record = pa.field(RECORD, pa.struct(list(self.row_schema)))
        return pa.schema([record, (ERRORS, REASONS), (SOURCE, pa.string()), (PACKED, ARROW_TYPE)])

    @property
    def schema(self) -> StructType:
        """The same as Spark has it."""
        return from_arrow_schema(self.arrow_schema, prefer_timestamp_ntz=True)

    @property
    def raw(self) -> str:
        """SQL text of a row as text."""
        text = text_of_row(spark_types(self.row_schema), lambda label: f"{RECORD}.{name(label)}")
        return when(f"{PACKED} is null", text)

    def __call__(self, records: Iterator[tuple[File, Rows]]) -> Iterator[pa.RecordBatch]:
        """Read the rows of files."""
        for file, rows in records:
            yield from self._read(file, rows)

    def _read(self, file: File, rows: Rows) -> Iterator[pa.RecordBatch]:
        numbers = pa.array(range(rows.taken.num_rows), pa.int64())
        for packed_batch in self.task.rows(rows.taken.append_column(NUMBER, numbers)):
            places, count = packed_batch.column(NUMBER), packed_batch.num_rows
            is_wrong = places.null_count < count
            record = self.arrow_schema.field(RECORD).type
            records = (
                rows.complete(self.row_schema).take(places).to_struct_array()
                if is_wrong
                else pa.nulls(count, record)
            )
            source = pa.repeat(pa.scalar(file.uri if is_wrong else None, pa.string()), count)
            columns = [records, packed_batch.column(ERRORS), source, packed_batch.column(PACKED)]
            yield pa.RecordBatch.from_arrays(columns, schema=self.arrow_schema)
