"""Rows of Iceberg tables, as pyiceberg reads them.

Layer: engines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemac.artifacts.dataset import RowReader, StoredRows
from schemac.engines.iceberg.sources import metadata_file
from schemac.engines.iceberg.tables.live_table import SCHEME, is_table, open_metadata
from schemac.engines.iceberg.types import IcebergSchema
from schemac.text.source.report import Report


@dataclass(frozen=True)
class IcebergTableRows(StoredRows):
    """The rows of a table's newest snapshot."""

    handle: Any
    opened: str
    """Python that gives pyiceberg's table."""
    read_as: IcebergSchema | None = None
    """The schema that they are read with, whose fields have ids of the table; None for the table's own."""

    @property
    def schema(self) -> pa.Schema:
        """The columns as pyiceberg gives them."""
        from pyiceberg.io.pyarrow import schema_to_pyarrow  # an extra that may not be there

        arrow_schema: pa.Schema
        if self.read_as is None:
            arrow_schema = self.handle.scan().to_arrow_batch_reader().schema
        else:
            arrow_schema = schema_to_pyarrow(self._projected(), include_field_ids=False)
        return arrow_schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Scan the newest snapshot."""
        from pyiceberg.io.pyarrow import ArrowScan

        if self.read_as is None:
            return iter(self.handle.scan(selected_fields=tuple(columns)).to_arrow_batch_reader())
        scan = self.handle.scan()
        projected = self._projected().select(*columns)
        made = ArrowScan(self.handle.metadata, self.handle.io, projected, scan.row_filter)
        return iter(made.to_record_batches(scan.plan_files()))

    def _projected(self) -> Any:
        from pyiceberg.schema import Schema

        assert self.read_as is not None
        return Schema.model_validate(self.read_as.to_json())

    def expression(self, rows: Sequence[int]) -> str:
        """Ask pyiceberg for rows."""
        return f"{self.opened}.scan().to_arrow().take({list(rows)})"


class IcebergRows(RowReader):
    """Tables in a catalog, and by their metadata."""

    def is_of(self, path: str) -> bool:
        """Tell whether it is a table."""
        return is_table(path)

    def open(self, path: str) -> IcebergTableRows:
        """Open a table."""
        report = Report()
        opened = open_metadata(path, report)
        if opened is None:
            raise ValueError(report.diagnostics[0].message)
        if path.startswith(SCHEME):
            catalog, _, name = path.removeprefix(SCHEME).partition("/")
            return IcebergTableRows(
                opened[1], f"pyiceberg.catalog.load_catalog({catalog!r}).load_table({name!r})"
            )
        from pyiceberg.table import StaticTable  # an extra that may not be there

        file = str(metadata_file(Path(path)))
        return IcebergTableRows(
            StaticTable.from_metadata(file), f"pyiceberg.table.StaticTable.from_metadata({file!r})"
        )


ROW_READER = IcebergRows()
