"""An Iceberg table compared with what it should be.

Layer: engines.
Shape: by id where the table has the ids of the lock, else by name; with docs, defaults, identifier fields, the format and
the properties that the schema speaks of.
Errors: SC424.
"""

from collections.abc import Iterator

from schemac.engines.iceberg.read import TableMetadata
from schemac.engines.iceberg.tables.differences import differences
from schemac.engines.iceberg.tables.live_table import (
    IcebergTable,
    candidates_of,
    ids_between,
    open_metadata,
    record_of,
)
from schemac.engines.iceberg.tables.plan import ids_in_table, requested_properties
from schemac.engines.iceberg.types import IcebergSchema
from schemac.engines.iceberg.view import asked_format, errors_of, schema_of
from schemac.evolution.table_version import Candidate, choose_version
from schemac.evolution.tables import report_unrepresentable
from schemac.evolution.version_pair import LockedSchemaVersion
from schemac.identity.lock import LockedDataset
from schemac.source.catalogue import TABLE_DRIFT
from schemac.source.report import Report


def report_iceberg_drift(
    name: str, version: LockedSchemaVersion, report: Report, locked: LockedDataset | None = None
) -> bool:
    """Report how a table differs from a locked version; false if the two could not be compared.

    `locked` has all the versions that the table may have; without it, those up to the one that is compared.
    """
    if errors := errors_of(version):
        report_unrepresentable("Iceberg", version, errors, TABLE_DRIFT, name, report)
        return False
    opened = open_metadata(name, report)
    if opened is None:
        return False
    metadata = opened[0]
    candidates = candidates_of(metadata, locked or version.locked)
    chosen = choose_version(record_of(name, metadata), candidates, report) if candidates else None
    if candidates and chosen is None:
        return False
    for line in _lines(version, metadata, chosen):
        help = "see the steps with `schemac plan --table`, then run `schemac apply`"
        report.add(TABLE_DRIFT, f"{name}: {line}", file=name, help=help)
    return True


def _lines(version: LockedSchemaVersion, metadata: TableMetadata, chosen: Candidate | None) -> Iterator[str]:
    expected, actual = schema_of(version), metadata.current
    if chosen is not None:
        # Whatever the ids are, the version that the table has tells which field each is.
        table = IcebergTable("", metadata, chosen.version, ids_between(chosen.version, metadata))
        yield from differences(expected.renumbered(ids_in_table(table, expected)), actual)
    else:
        yield from differences(expected, actual, by_name=not _is_numbered_alike(expected, actual))
    requested_format = asked_format(version)
    if requested_format is not None and requested_format > metadata.format_version:
        yield f"the format is {metadata.format_version}, expected {requested_format}"
    for key, value in sorted(requested_properties(version).items()):
        if metadata.properties.get(key) != value:
            yield f"the property {key} is {metadata.properties.get(key)!r}, expected {value!r}"


def _is_numbered_alike(expected: IcebergSchema, actual: IcebergSchema) -> bool:
    """Whether the fields that two schemas share by name have the same ids in both."""
    ours, theirs = ({path: field.id for path, field in schema.preorder()} for schema in (expected, actual))
    shared = ours.keys() & theirs.keys()
    return bool(shared) and all(ours[path] == theirs[path] for path in shared)
