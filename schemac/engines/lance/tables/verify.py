"""A table compared with what it should be.

Layer: engines.
Shape: by id, name, type, nullability, keys and metadata of every field, the metadata of the schema, and the version
of the data files.
Errors: SC424 table-drift.
"""

import json
from collections.abc import Iterator, Mapping

from schemac.engines.lance.artifact import to_message
from schemac.engines.lance.attributes import STORAGE_VERSION
from schemac.engines.lance.nodes import lance_ids
from schemac.engines.lance.tables.differences import differences
from schemac.engines.lance.tables.live_table import LanceTable
from schemac.engines.lance.tables.plan import numbers_for
from schemac.evolution.version_pair import LockedSchemaVersion
from schemac.identity.lock import Numbers
from schemac.logical.schema_fields import SchemaField
from schemac.source.catalogue import TABLE_DRIFT
from schemac.source.report import Report


def report_drift(table: LanceTable, new: LockedSchemaVersion, report: Report) -> None:
    """Say how a table differs from a schema, under the numbers that it gives its fields."""
    numbers = numbers_for(table, new)
    target = to_message(new.lowered, numbers)
    metadata = {key: bytes(value) for key, value in target.metadata.items()}
    fields = [field.SerializeToString() for field in target.fields]
    same = _same_fields(table, new, numbers)
    lines = differences(fields, table.dataset.lance_schema, metadata=metadata, same=same)
    for version, requested in _version_differences(table, metadata):
        report.add(
            TABLE_DRIFT,
            f"{table.name}: its files have storage version {version}, but the schema specifies {requested}",
            file=table.name,
            help="the storage version of a table cannot change: copy the table with `lance.write_dataset(lance.dataset(old), new,"
            f' data_storage_version="{requested}")`, or write `{STORAGE_VERSION.key}: "{version}"`',
        )
    for line in lines:
        report.add(
            TABLE_DRIFT,
            f"{table.name}: {line}",
            file=table.name,
            help="see the steps with `schemac plan --table`, then run `schemac apply`",
        )


def _same_fields(
    table: LanceTable, new: LockedSchemaVersion, numbers: Mapping[SchemaField, Numbers]
) -> dict[int, int]:
    """Lance's ids that fields have in the table, by those that they are to have."""
    there = {
        id: lance_ids(table.schema_version.numbers[field]) for field, id in table.schema_version.ids.items()
    }
    pairs = [(lance_ids(numbers[field]), there.get(id, ())) for field, id in new.ids.items()]
    return {target_id: table_id for both in pairs for target_id, table_id in zip(*both, strict=False)}


def _version_differences(table: LanceTable, metadata: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield the version that the data files have and the one that they are to have; it is what the dataset says; schema metadata is only a note of it."""
    requested = metadata.get(STORAGE_VERSION.key)
    version = table.dataset.data_storage_version
    if requested is not None and json.loads(requested) != version:
        yield version, json.loads(requested)
