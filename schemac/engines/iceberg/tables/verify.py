"""An Iceberg table beside what it should be.

Layer: engines.
Shape: by id where the table has the ids of the lock, else by name; with docs, defaults, identifier fields, the format and
the properties that the schema speaks of.
Errors: SC424.
"""

from collections.abc import Iterator

from schemac.engines.iceberg.read import TableMetadata
from schemac.engines.iceberg.tables.differences import differences, shape_of
from schemac.engines.iceberg.tables.live_table import ids_between, open_metadata
from schemac.engines.iceberg.tables.plan import wanted_properties
from schemac.engines.iceberg.types import IcebergSchema
from schemac.engines.iceberg.view import errors_of, format_of, schema_of
from schemac.evolution.tables import report_unrepresentable
from schemac.evolution.version_pair import LockedSchemaVersion
from schemac.source.catalogue import TABLE_DRIFT
from schemac.source.report import Report


def report_iceberg_drift(name: str, version: LockedSchemaVersion, report: Report) -> bool:
    """Report how a table differs from a locked schema; false where the two could not be compared."""
    if errors := errors_of(version):
        report_unrepresentable("Iceberg", version, errors, TABLE_DRIFT, name, report)
        return False
    found = open_metadata(name, report)
    if found is None:
        return False
    for line in _lines(version, found[0]):
        help = "see what it takes with `schemac plan --table`, then `schemac apply`"
        report.add(TABLE_DRIFT, f"{name}: {line}", file=name, help=help)
    return True


def _lines(version: LockedSchemaVersion, metadata: TableMetadata) -> Iterator[str]:
    wanted, found = schema_of(version), metadata.current
    if shape_of(wanted) == shape_of(found):
        # Whatever the ids are, the fields are told apart by them from now on.
        yield from differences(wanted.renumbered(ids_between(version, metadata)), found)
    else:
        yield from differences(wanted, found, by_name=not _is_numbered_alike(wanted, found))
    if format_of(version) > metadata.format_version:
        yield f"the format is {metadata.format_version}, expected {format_of(version)}"
    for key, value in sorted(wanted_properties(version).items()):
        if metadata.properties.get(key) != value:
            yield f"the property {key} is {metadata.properties.get(key)!r}, expected {value!r}"


def _is_numbered_alike(wanted: IcebergSchema, found: IcebergSchema) -> bool:
    """Whether the fields that two schemas share by name have the same ids in both."""
    ours, theirs = ({path: field.id for path, field in schema.preorder()} for schema in (wanted, found))
    shared = ours.keys() & theirs.keys()
    return bool(shared) and all(ours[path] == theirs[path] for path in shared)
