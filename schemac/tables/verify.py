"""A table beside what it should be.

Floor: 11 (tables).
Shape: by id, name, type, nullability, keys and metadata of every field, and the metadata of the schema.
Errors: SC424 table-drift.
"""

from schemac.source.catalogue import TABLE_DRIFT
from schemac.source.report import Report
from schemac.tables.differences import differences
from schemac.tables.lance_table import LanceTable
from schemac.targets._generated.lance import file_pb2 as pb


def report_drift(table: LanceTable, target: pb.Schema, report: Report) -> None:
    """Say how a table differs from a compiled schema."""
    metadata = {key: bytes(value) for key, value in target.metadata.items()}
    fields = [field.SerializeToString() for field in target.fields]
    for line in differences(fields, table.dataset.lance_schema, metadata=metadata):
        report.add(
            TABLE_DRIFT,
            f"{table.name}: {line}",
            file=table.name,
            help="see what it takes with `schemac plan --table`, then `schemac apply`",
        )
