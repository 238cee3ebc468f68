"""Rows of Iceberg tables, as pyiceberg reads them.

Layer: engines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemac.artifacts.rows import RowReader, StoredRows
from schemac.engines.iceberg.sources import metadata_file
from schemac.engines.iceberg.tables.live_table import SCHEME, is_table, open_metadata
from schemac.source.report import Report


@dataclass(frozen=True)
class _Table(StoredRows):
    handle: Any
    opened: str
    """Python that gives pyiceberg's table."""

    @property
    def schema(self) -> pa.Schema:
        """The columns as pyiceberg gives them."""
        found: pa.Schema = self.handle.scan().to_arrow_batch_reader().schema
        return found

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Scan the newest snapshot."""
        return iter(self.handle.scan(selected_fields=tuple(columns)).to_arrow_batch_reader())

    def expression(self, rows: Sequence[int]) -> str:
        """Ask pyiceberg for rows."""
        return f"{self.opened}.scan().to_arrow().take({list(rows)})"


class IcebergRows(RowReader):
    """Tables in a catalog, and by their metadata."""

    def is_of(self, path: str) -> bool:
        """Tell whether it is a table."""
        return is_table(path)

    def open(self, path: str) -> StoredRows:
        """Open a table."""
        report = Report()
        found = open_metadata(path, report)
        if found is None:
            raise ValueError(report.diagnostics[0].message)
        if path.startswith(SCHEME):
            catalog, _, name = path.removeprefix(SCHEME).partition("/")
            return _Table(found[1], f"pyiceberg.catalog.load_catalog({catalog!r}).load_table({name!r})")
        from pyiceberg.table import StaticTable  # an extra that may not be there

        file = str(metadata_file(Path(path)))
        return _Table(StaticTable.from_metadata(file), f"pyiceberg.table.StaticTable.from_metadata({file!r})")


ROW_READER = IcebergRows()
