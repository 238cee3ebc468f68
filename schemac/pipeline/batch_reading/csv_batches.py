"""Takes records of CSV apart: one column of texts for each column of the source, null where nothing stands between two separators.

Layer: pipeline.
Proof: a pattern shows that a record has as many cells as the header, and no quote but around a cell, where one that is doubled stands for
       itself. Arrow's parser reads the records for which it holds; the others are taken apart one by one.
"""

import re
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from schemac.pipeline.reading.csv_grammar import Dialect
from schemac.pipeline.reading.csv_records import QUOTES

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
