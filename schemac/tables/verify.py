"""A table beside what it should be.

Floor: 11 (tables).
Shape: by id, name, type, nullability, keys and metadata of every field, the metadata of the schema, and the version
of the data files.
Errors: SC424 table-drift.
"""

import json
from collections.abc import Iterator, Mapping

from schemac.attributes.lance import STORAGE_VERSION
from schemac.source.catalogue import TABLE_DRIFT
from schemac.source.report import Report
from schemac.tables.differences import differences
from schemac.tables.lance_table import LanceTable
from schemac.targets._generated.lance import file_pb2 as pb


def report_drift(table: LanceTable, target: pb.Schema, report: Report) -> None:
    """Say how a table differs from a compiled schema."""
    metadata = {key: bytes(value) for key, value in target.metadata.items()}
    fields = [field.SerializeToString() for field in target.fields]
    lines = differences(fields, table.dataset.lance_schema, metadata=metadata)
    for line in (*_version_differences(table, metadata), *lines):
        report.add(
            TABLE_DRIFT,
            f"{table.name}: {line}",
            file=table.name,
            help="see what it takes with `schemac plan --table`, then `schemac apply`",
        )


def _version_differences(table: LanceTable, metadata: Mapping[str, bytes]) -> Iterator[str]:
    """The version of the data files is what the dataset says; schema metadata is only a note of it."""
    wanted = metadata.get(STORAGE_VERSION.key)
    version = table.dataset.data_storage_version
    if wanted is not None and json.loads(wanted) != version:
        yield f"its files are of storage version {version}, and the schema asks for {json.loads(wanted)}"
