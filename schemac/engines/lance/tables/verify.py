"""A table beside what it should be.

Layer: engines.
Shape: by id, name, type, nullability, keys and metadata of every field, the metadata of the schema, and the version
of the data files.
Errors: SC424 table-drift.
"""

import json
from collections.abc import Iterator, Mapping

from schemac.attributes.lance import STORAGE_VERSION
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.artifact import to_message
from schemac.engines.lance.tables.differences import differences
from schemac.engines.lance.tables.live_table import LanceTable
from schemac.engines.lance.tables.plan import numbers_for
from schemac.evolution.side import Side
from schemac.source.catalogue import TABLE_DRIFT
from schemac.source.report import Report


def wanted_of(table: LanceTable, new: Side) -> pb.Schema:
    """What a table is to be by a schema, under the numbers that it gives its fields."""
    return to_message(new.lowered, numbers_for(table, new))


def report_drift(table: LanceTable, target: pb.Schema, report: Report) -> None:
    """Say how a table differs from a compiled schema."""
    metadata = {key: bytes(value) for key, value in target.metadata.items()}
    fields = [field.SerializeToString() for field in target.fields]
    lines = differences(fields, table.dataset.lance_schema, metadata=metadata)
    for version, wanted in _version_differences(table, metadata):
        report.add(
            TABLE_DRIFT,
            f"{table.name}: its files are of storage version {version}, and the schema asks for {wanted}",
            file=table.name,
            help="a table keeps its version for ever: copy it with `lance.write_dataset(lance.dataset(old), new,"
            f' data_storage_version="{wanted}")`, or write `{STORAGE_VERSION.key}: "{version}"`',
        )
    for line in lines:
        report.add(
            TABLE_DRIFT,
            f"{table.name}: {line}",
            file=table.name,
            help="see what it takes with `schemac plan --table`, then `schemac apply`",
        )


def _version_differences(table: LanceTable, metadata: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """The version that the data files have and the one that they are to have; it is what the dataset says; schema metadata is only a note of it."""
    wanted = metadata.get(STORAGE_VERSION.key)
    version = table.dataset.data_storage_version
    if wanted is not None and json.loads(wanted) != version:
        yield version, json.loads(wanted)
