"""Reads CSV records a batch at a time with Arrow's parser, where a pattern over their text proves that it reads them exactly.

Layer: pipeline.
Shape: as `json_batches`: the values of each record, and whether it is proven.
Proof: the pattern shows that a record has as many cells as the header, each of them empty or spelled as its field takes it,
       and no quote but around a cell, where one that is doubled stands for itself. Arrow's parser refuses a record with
       another number of cells.
"""

import re
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from schemac.pipeline.batch_reading.parts import Leaf, required
from schemac.pipeline.batch_reading.placing import WORTH_LEARNING, Piece, in_portions, placed
from schemac.rows.judging.scalars import Token

NO_TEXT = r"\x00-\x1f"
"""Characters that no cell has which is read here, such as line breaks."""


@dataclass(frozen=True)
class CsvBatches:
    """Reads batches of CSV records; `fields` are the numbers of the columns that fields take, each with how it is read."""

    count_columns: int
    fields: tuple[tuple[int, Leaf], ...]
    sep: str
    quote: str

    @property
    def spark(self) -> pa.DataType:
        """The type of what is read."""
        return pa.struct(
            [("p", pa.bool_()), *((f"r{i}", leaf.spark) for i, (_, leaf) in enumerate(self.fields))]
        )

    def __call__(self, records: pa.Array) -> pa.Array:
        """Read a batch."""
        return in_portions(records, self._read, self.spark)

    @property
    def pattern(self) -> str:
        """A record whose cells are all spelled as they should be."""
        leaves = dict(self.fields)
        cells = [self._cell(leaves.get(number)) for number in range(self.count_columns)]
        return f"^{re.escape(self.sep).join(cells)}$"

    def _cell(self, leaf: Leaf | None) -> str:
        sep, quote = re.escape(self.sep), re.escape(self.quote)
        if leaf is None or (leaf.form.token is Token.STRING and not leaf.form.pattern):
            plain = f"[^{sep}{quote}{NO_TEXT}]*"
            return f"(?:{plain}|{quote}(?:[^{quote}{NO_TEXT}]|{quote}{quote})*{quote})" if quote else plain
        value = leaf.form.pattern
        return f"(?:{value}|{quote}{value}{quote})?" if quote else f"(?:{value})?"

    def _read(self, records: pa.Array) -> pa.Array:
        fits = pa.array(np.zeros(len(records), dtype=bool))
        found: list[Piece] = []
        try:
            task, fits = self, self._fitting(records)
            if fits.true_count < len(records) * (1 - WORTH_LEARNING):
                task = self.with_points
                fits = task._fitting(records)
            if pc.any(fits).as_py():
                found = [(np.flatnonzero(fits), task._parsed(records.filter(fits)))]
        except pa.ArrowInvalid:
            # No record is lost: all of them are read one by one.
            found = []
        return placed(found, len(records), self.spark)

    def _fitting(self, records: pa.Array) -> pa.Array:
        return pc.fill_null(pc.match_substring_regex(records, self.pattern), False)

    @property
    def with_points(self) -> "CsvBatches":
        """The same where integers may have a point and zeros behind it."""
        fields = [(at, replace(leaf, form=leaf.form.with_points)) for at, leaf in self.fields]
        return replace(self, fields=tuple(fields))

    def _parsed(self, records: pa.Array) -> list[tuple[pa.Array, pa.Array | None]]:
        offsets = pa.array([0, len(records)], pa.int32())
        text = pc.binary_join(pa.ListArray.from_arrays(offsets, records), "\n").buffers()[2]
        names = [f"c{number}" for number in range(self.count_columns)]
        table = pv.read_csv(
            pa.BufferReader(text),
            read_options=pv.ReadOptions(use_threads=False, block_size=text.size + 1, column_names=names),
            parse_options=pv.ParseOptions(
                delimiter=self.sep, quote_char=self.quote or False, ignore_empty_lines=False
            ),
            convert_options=pv.ConvertOptions(
                include_columns=[names[number] for number, _ in self.fields],
                column_types={names[number]: leaf.parsed for number, leaf in self.fields},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                check_utf8=False,
            ),
        )
        if table.num_rows != len(records):
            raise pa.ArrowInvalid("another number of records")
        columns = [table.column(names[number]).combine_chunks() for number, _ in self.fields]
        return [required(leaf, column) for (_, leaf), column in zip(self.fields, columns, strict=True)]
