"""What an engine does to keep rows that somebody else made, such as a sample.

Layer: artifacts.
"""

from abc import ABC, abstractmethod
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
