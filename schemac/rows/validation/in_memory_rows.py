"""What programs hold rows in: Arrow, whatever hands Arrow over, and objects of Python.

Layer: rows.
Shape: an object in; record batches with their schema, or rows, out.
Source: the Arrow PyCapsule interface. A frame of pandas goes through `pyarrow.Table.from_pandas`, which reads its columns of objects.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

import pyarrow as pa

from schemac.rows.judging.arrays import is_laid_out, laid_out

MOST_ROWS = 65_536
"""Rows of a batch that is judged at once."""


@dataclasses.dataclass(frozen=True)
class Batches:
    """Rows that Arrow holds."""

    schema: pa.Schema
    batches: Iterable[pa.RecordBatch]

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield batches of a size that is worked on at once, with what has a layout of its own in a plain one."""
        for batch in self.batches:
            if not all(is_laid_out(member.type) for member in self.schema):
                columns = [laid_out(column) for column in batch.columns]
                batch = pa.RecordBatch.from_arrays(columns, names=self.schema.names)
            for start in range(0, batch.num_rows, MOST_ROWS):
                yield batch.slice(start, MOST_ROWS)


class NoRowsError(Exception):
    """An object that holds no rows."""


def batches_of(source: Any) -> Batches | None:
    """Return the batches of what holds Arrow, or hands it over; None for rows of Python. Raises NoRowsError."""
    if isinstance(source, pa.RecordBatch):
        return Batches(source.schema, [source])
    if isinstance(source, pa.Table):
        return Batches(source.schema, source.to_batches())
    if isinstance(source, pa.RecordBatchReader):
        return Batches(source.schema, source)
    if _is_of_pandas(source):
        table = pa.Table.from_pandas(source, preserve_index=False)
        return Batches(table.schema.remove_metadata(), table.to_batches())
    if hasattr(source, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(source)
        return Batches(reader.schema, reader)
    if isinstance(source, str | bytes | Mapping) or not isinstance(source, Iterable):
        raise NoRowsError(type(source).__name__)
    return None


def _is_of_pandas(source: Any) -> bool:
    # Its class is not looked up, for pandas need not be installed.
    return any(one.__module__.partition(".")[0] == "pandas" for one in type(source).__mro__) and hasattr(
        source, "columns"
    )


Opener = Callable[[Any], dict[Any, Any] | None]


def opener_of(row_class: type, names: list[str]) -> Opener:
    """Return what makes of a row of a class a dict of its values by names, or None. A plain tuple or list has the order of the fields."""
    if row_class is dict:
        return lambda row: cast("dict[Any, Any]", row)
    if issubclass(row_class, Mapping):
        return lambda row: dict(row.items())
    if hasattr(row_class, "model_dump"):
        return lambda row: cast("dict[Any, Any]", row.model_dump())
    if dataclasses.is_dataclass(row_class):
        labels = [field.name for field in dataclasses.fields(row_class)]
        return lambda row: {label: getattr(row, label) for label in labels}
    if hasattr(row_class, "_asdict"):
        return lambda row: dict(row._asdict())
    if issubclass(row_class, tuple | list):
        return lambda row: dict(zip(names, row, strict=True)) if len(row) == len(names) else None
    return lambda row: None
