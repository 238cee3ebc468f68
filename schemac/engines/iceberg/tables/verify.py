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
from schemac.engines.iceberg.view import errors_of, format_of, schema_of
from schemac.evolution.side import Side
from schemac.source.catalogue import TABLE_DRIFT
from schemac.source.report import Report


def report_iceberg_drift(name: str, side: Side, report: Report) -> None:
    """Say how a table differs from a locked schema."""
    for error in errors_of(side):
        message = f"Iceberg cannot hold {side.label}: {error.message}"
        report.add(TABLE_DRIFT, message, file=name, path=error.path, help=error.help)
    if errors_of(side):
        return
    found = open_metadata(name, report)
    for line in _lines(side, found[0]) if found is not None else ():
        help = "see what it takes with `schemac plan --table`, then `schemac apply`"
        report.add(TABLE_DRIFT, f"{name}: {line}", file=name, help=help)


def _lines(side: Side, metadata: TableMetadata) -> Iterator[str]:
    wanted = schema_of(side)
    if shape_of(wanted) == shape_of(metadata.current):
        wanted = wanted.renumbered(ids_between(side, metadata))
        yield from differences(wanted, metadata.current)
    else:
        yield from differences(wanted, metadata.current, by_name=True)
    if format_of(side) > metadata.format_version:
        yield f"the format is {metadata.format_version}, expected {format_of(side)}"
    for key, value in sorted(wanted_properties(side).items()):
        if metadata.properties.get(key) != value:
            yield f"the property {key} is {metadata.properties.get(key)!r}, expected {value!r}"
