"""The rows of a table beside the constraints of its schema.

Layer: engines.
Errors: SC425 broken-constraint, SC426 unusable-reference; note SC427 unchecked-reference.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schemac.constraints.rows import row_constraints
from schemac.constraints.survey import survey
from schemac.engines.lance.tables.filters import row_filter
from schemac.engines.lance.tables.live_table import LanceTable
from schemac.evolution.version_pair import LockedSchemaVersion
from schemac.source.report import Report
from schemac.validation.stored import reference_targets, report_offence


def report_broken(
    table: LanceTable, wanted: LockedSchemaVersion, references: Mapping[str, str], report: Report
) -> None:
    """Say which constraints of a schema the rows of a table break; the table has that schema."""
    dataset, schema = wanted.dataset, table.dataset

    def scan(names: Sequence[str]) -> Iterator[tuple[Any, Any]]:
        for batch in schema.scanner(columns=list(names), with_row_id=True).to_batches():
            yield batch, batch.column("_rowid")

    def shown(rows: Sequence[int]) -> str:
        return f"lance.dataset({json.dumps(table.name)}).to_table(filter={json.dumps(row_filter(rows))})"

    rows = row_constraints(dataset.schema.extra, dataset.columns)
    targets = reference_targets(rows, references, table.name, wanted, report)
    if report.has_errors:
        return
    for offence in survey(dataset.columns, rows, scan, targets):
        report_offence(offence, table.name, shown, report)
