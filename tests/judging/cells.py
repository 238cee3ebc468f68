"""Cells of CSV that are read one by one, by the readers that the validator asks where no proof takes a cell."""

from collections.abc import Mapping

import pyarrow as pa

from schemac.rows.judging.judge import RecordReasons, cell_reader
from schemac.rows.judging.scalars import with_zones
from schemac.rows.judging.settings import FieldOrigin, ValidationSettings
from tests.judging.records import JudgedRecord


class CellReader:
    """Reads cells for a schema."""

    def __init__(self, schema: pa.Schema, settings: ValidationSettings | None = None) -> None:
        settings = settings or ValidationSettings()
        zoned = with_zones(schema, lambda _: None, settings.timezone)
        origins = {member.name: settings.origin_of(member.name) or FieldOrigin() for member in zoned}
        self._readers = {
            member.name: cell_reader(member, settings, origins[member.name].epoch) for member in zoned
        }

    def csv(self, cells: Mapping[str, str | None]) -> JudgedRecord:
        """Judge a record of cells, by the names of their columns; None is an empty cell without quotes."""
        reasons = RecordReasons()
        values = {label: read(cells[label], label, reasons) for label, read in self._readers.items()}
        return JudgedRecord(None if reasons else values, tuple(reasons))
