"""What an engine does to keep rows that somebody else made, such as a sample, and to hand out those that are stored.

Layer: artifacts.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from schemac.registry.engine import Capability

if TYPE_CHECKING:
    import pyarrow as pa

    from schemac.artifacts.dataset import CheckedDataset


class RowWriter(ABC):
    """Makes tables of an engine out of record batches."""

    @abstractmethod
    def write(self, path: str, dataset: "CheckedDataset", rows: "pa.RecordBatchReader") -> None:
        """Make a table where nothing is; the schema of the rows is that of the dataset, but for what may be null.

        Raises OSError; nothing is left then.
        """


ROW_WRITER: Capability[RowWriter] = Capability("row_writer", RowWriter)  # type: ignore[type-abstract]


class StoredRows(ABC):
    """Rows of a table or of files, in an order that stays."""

    @property
    @abstractmethod
    def schema(self) -> "pa.Schema":
        """Their columns."""

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> "Iterator[pa.RecordBatch]":
        """Yield some columns of all rows, in their order. Raises ValueError and OSError."""

    @abstractmethod
    def expression(self, rows: Sequence[int]) -> str:
        """Return Python that gives the rows with these numbers, from 0, as a table of Arrow."""


class RowReader(ABC):
    """Opens what an engine, or a library for its tables, has stored."""

    @abstractmethod
    def is_of(self, path: str) -> bool:
        """Tell whether a path is one that it opens."""

    @abstractmethod
    def open(self, path: str) -> StoredRows:
        """Open rows. Raises ValueError and OSError, and ModuleNotFoundError if the library is not installed."""


ROW_READER: Capability[RowReader] = Capability("row_reader", RowReader)  # type: ignore[type-abstract]
