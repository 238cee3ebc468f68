"""A table beside what it should be.

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
from schemac.logical.slots import Slot
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
    for version, wanted in _version_differences(table, metadata):
        report.add(
            TABLE_DRIFT,
            f"{table.name}: its files have storage version {version}, but the schema asks for {wanted}",
            file=table.name,
            help="the storage version of a table cannot change: copy the table with `lance.write_dataset(lance.dataset(old), new,"
            f' data_storage_version="{wanted}")`, or write `{STORAGE_VERSION.key}: "{version}"`',
        )
    for line in lines:
        report.add(
            TABLE_DRIFT,
            f"{table.name}: {line}",
            file=table.name,
            help="see the steps with `schemac plan --table`, then run `schemac apply`",
        )


def _same_fields(
    table: LanceTable, new: LockedSchemaVersion, numbers: Mapping[Slot, Numbers]
) -> dict[int, int]:
    """Lance's ids that fields have in the table, by those that they are to have."""
    there = {
        id: lance_ids(table.schema_version.numbers[slot]) for slot, id in table.schema_version.ids.items()
    }
    pairs = [(lance_ids(numbers[slot]), there.get(id, ())) for slot, id in new.ids.items()]
    return {wanted: found for both in pairs for wanted, found in zip(*both, strict=False)}


def _version_differences(table: LanceTable, metadata: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield the version that the data files have and the one that they are to have; it is what the dataset says; schema metadata is only a note of it."""
    wanted = metadata.get(STORAGE_VERSION.key)
    version = table.dataset.data_storage_version
    if wanted is not None and json.loads(wanted) != version:
        yield version, json.loads(wanted)
