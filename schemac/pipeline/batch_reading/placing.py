"""Takes a batch of records apart, and puts what was read of some of them back where they stand.

Layer: pipeline.
Shape: a batch in portions that the parsers take; then pieces, each the places of some records with their values, into
       one struct for each record of the batch, whose first member `p` says whether the record is proven.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.pipeline.batch_reading.forms import either
from schemac.pipeline.batch_reading.parts import Found

MOST_BYTES = 16 << 20
"""Of records that are parsed in one piece; also the most that Spark's variant takes."""
WORTH_LEARNING = 0.05
"""The share of a batch that has to be unproven for another look at it."""

Places = np.ndarray[Any, np.dtype[np.int64]]
Piece = tuple[Places, list[Found]]
"""Which records of a batch, and what was read of them."""


def in_portions(records: pa.Array, read: Callable[[pa.Array], pa.Array], data_type: pa.DataType) -> pa.Array:
    """Read a batch; a record that is too long for the item-by-item way is left to it, to say so."""
    if records.type != pa.string():
        records = records.cast(pa.string())
    lengths = pc.fill_null(pc.binary_length(records), 0)
    longest = pc.max(lengths).as_py() or 0
    if longest > MOST_BYTES // 4:
        records = pc.if_else(pc.less_equal(lengths, MOST_BYTES // 4), records, pa.scalar(None, pa.string()))
    size = max(1, pc.sum(lengths).as_py() or 0)
    rows = max(1, len(records) * MOST_BYTES // size)
    portions = [read(records.slice(start, rows)) for start in range(0, len(records), rows)]
    return pa.concat_arrays(portions) if portions else pa.nulls(0, data_type)


def placed(pieces: Sequence[Piece], count: int, data_type: pa.DataType) -> pa.Array:
    """Put the values of records into an array of all records; null where a record is not proven."""
    proven = np.zeros(count, dtype=bool)
    row = np.zeros(count, dtype=np.int64)
    columns: list[list[pa.Array]] = [[] for _ in range(data_type.num_fields - 1)]
    read = 0
    for at, found in pieces:
        wrong = None
        for held, (values, wrong_values) in zip(columns, found, strict=True):
            held.append(values)
            wrong = either(wrong, wrong_values)
        good = np.ones(len(at), dtype=bool) if wrong is None else ~wrong.to_numpy(zero_copy_only=False)
        proven[at[good]] = True
        row[at] = np.arange(read, read + len(at))
        read += len(at)
    members = [
        pa.concat_arrays(held) if held else pa.nulls(0, part.type)
        for held, part in zip(columns, list(data_type)[1:], strict=True)
    ]
    if not proven.all() or read != count:
        order = pa.array(row, mask=~proven)
        members = [column.take(order) for column in members]
    return pa.StructArray.from_arrays([pa.array(proven), *members], fields=list(data_type))
