"""Rows that somebody else made, as a new table.

Layer: engines.
"""

import shutil
from collections.abc import Iterable

import pyarrow as pa

from schemac.artifacts.dataset import CheckedDataset
from schemac.artifacts.rows import RowWriter
from schemac.engines.lance.attributes import storage_version
from schemac.engines.lance.dataset import reason_of


class LanceRows(RowWriter):
    """Writes a Lance table."""

    def write(self, path: str, dataset: CheckedDataset, batches: Iterable[pa.RecordBatch]) -> None:
        """Make a table; a folder that is half written is removed."""
        import lance  # an extra that may not be there

        schema = dataset.to_arrow()
        reader = pa.RecordBatchReader.from_batches(schema, batches)
        try:
            lance.write_dataset(
                reader,
                path,
                schema,
                mode="create",
                data_storage_version=storage_version(dataset.schema.extra),
            )
        except BaseException as error:
            shutil.rmtree(path, ignore_errors=True)
            if isinstance(error, ValueError | RuntimeError | pa.ArrowException):
                raise OSError(reason_of(error)) from error
            raise


ROW_WRITER = LanceRows()
