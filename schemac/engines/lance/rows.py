"""Rows that somebody else made, as a new table.

Layer: engines.
"""

import shutil

import pyarrow as pa

from schemac.artifacts.dataset import CheckedDataset
from schemac.artifacts.rows import RowWriter
from schemac.engines.lance.attributes import storage_version
from schemac.engines.lance.dataset import reason_of


class LanceRows(RowWriter):
    """Writes a Lance table."""

    def write(self, path: str, dataset: CheckedDataset, rows: pa.RecordBatchReader) -> None:
        """Make a table; a folder that is half written is removed."""
        import lance  # an extra that may not be there

        try:
            lance.write_dataset(
                rows,
                path,
                rows.schema,
                mode="create",
                data_storage_version=storage_version(dataset.schema.extra),
            )
        except BaseException as error:
            shutil.rmtree(path, ignore_errors=True)
            if isinstance(error, ValueError | RuntimeError | pa.ArrowException):
                raise OSError(reason_of(error)) from error
            raise


ROW_WRITER = LanceRows()
