"""An Iceberg table as it is.

Layer: engines.
Shape: in a catalog, as `iceberg://CATALOG/NAMESPACE.TABLE`, where CATALOG is one that pyiceberg is configured for; or a
table's folder or metadata file, which can be looked at and not changed. The table is that version of the lock whose schema
it has; its ids are those of the lock, or Iceberg's own where the table was made from names.
Errors: SC421, SC552.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemac.engines.iceberg.read import TableMetadata, UnreadableError, parse_metadata
from schemac.engines.iceberg.reader import read_file
from schemac.engines.iceberg.sources import metadata_file
from schemac.engines.iceberg.tables.differences import differences, shape_of
from schemac.engines.iceberg.view import errors_of, format_of, schema_of
from schemac.evolution.version_pair import LockedSchemaVersion, locked_schema_version
from schemac.identity.lock import LockedDataset
from schemac.source.catalogue import UNUSABLE_TABLE
from schemac.source.report import Report

SCHEME = "iceberg://"
VERSION_PROPERTY = "schemac.version"
"""The table property that says which locked version a table is at; written by `apply`."""


@dataclass(frozen=True)
class IcebergTable:
    """An open table."""

    name: str
    """How it is spoken of."""
    metadata: TableMetadata
    schema_version: LockedSchemaVersion
    """The locked version that it is."""
    ids: Mapping[int, int]
    """The table's id of each field by the lock's."""
    handle: Any = field(default=None, compare=False, repr=False)
    """pyiceberg's table; None for one that can only be looked at."""

    @classmethod
    def imagined(cls, schema_version: LockedSchemaVersion) -> "IcebergTable":
        """Return a table of a locked version that has rows, for a plan without a table."""
        schema = schema_of(schema_version)
        metadata = TableMetadata(format_of(schema_version), (schema,), schema, schema.highest_id, {})
        return cls(schema_version.label, metadata, schema_version, {f.id: f.id for _, f in schema.preorder()})

    @property
    def has_ids_of_lock(self) -> bool:
        """Whether its fields have the ids that the lock gives them."""
        return all(own == locked for locked, own in self.ids.items())


def is_table(name: str) -> bool:
    """Whether a name is that of an Iceberg table."""
    if name.startswith(SCHEME):
        return True
    path = Path(name)
    try:
        return metadata_file(path) is not None and (
            path.is_dir() or path.name.endswith((".json", ".json.gz"))
        )
    except (OSError, ValueError):
        return False


def open_metadata(name: str, report: Report) -> tuple[TableMetadata, Any] | None:
    """Return a table's metadata, and pyiceberg's table where there is a catalog; None after saying what is wrong."""
    if name.startswith(SCHEME):
        return _load(name, report)
    file = metadata_file(Path(name))
    if file is None:
        help = f"give a table's folder, or a table in a catalog as `{SCHEME}CATALOG/NAMESPACE.TABLE`"
        report.add(UNUSABLE_TABLE, f"cannot open {name}: no metadata file is in it", file=name, help=help)
        return None
    metadata = read_file(file, report)
    return None if metadata is None else (metadata, None)


def open_iceberg_table(name: str, locked: LockedDataset, report: Report) -> IcebergTable | None:
    """Return the table as one of the locked versions; None after saying why it is none."""
    found = open_metadata(name, report)
    if found is None:
        return None
    metadata, handle = found
    versions = [locked_schema_version(locked, version.number) for version in reversed(locked.versions)]
    shape = shape_of(metadata.current)
    likely = [
        schema_version
        for schema_version in versions
        if not errors_of(schema_version) and shape_of(schema_of(schema_version)) == shape
    ]
    schema_version = _settled(name, likely, metadata, report) if likely else None
    if schema_version is None:
        if not likely:
            _report_stranger(name, versions[0], metadata, locked, report)
        return None
    return IcebergTable(name, metadata, schema_version, ids_between(schema_version, metadata), handle)


def ids_between(schema_version: LockedSchemaVersion, metadata: TableMetadata) -> dict[int, int]:
    """Return the table's ids by those of the lock; both schemas have to be of one shape."""
    ours, theirs = (list(schema.preorder()) for schema in (schema_of(schema_version), metadata.current))
    return {ours_field.id: field.id for (_, ours_field), (_, field) in zip(ours, theirs, strict=True)}


def _settled(
    name: str, likely: Sequence[LockedSchemaVersion], metadata: TableMetadata, report: Report
) -> LockedSchemaVersion | None:
    """Which of the versions that look like the table it is."""
    exact = [
        schema_version
        for schema_version in likely
        if all(a == b for a, b in ids_between(schema_version, metadata).items())
    ]
    noted = [
        schema_version
        for schema_version in likely
        if str(schema_version.number) == metadata.properties.get(VERSION_PROPERTY)
    ]
    for found in (exact, noted):
        if found:
            return next((schema_version for schema_version in found if schema_version in noted), found[0])
    if len({tuple(ids_between(schema_version, metadata)) for schema_version in likely}) == 1:
        return likely[0]
    labels = " or ".join(schema_version.label for schema_version in likely)
    report.add(
        UNUSABLE_TABLE,
        f"{name} may be at {labels}: its columns are the same in these versions, and its ids are not the lock's",
        file=name,
        help=f"say which it is, as with ALTER TABLE … SET TBLPROPERTIES ('{VERSION_PROPERTY}' = '{likely[0].number}')",
    )
    return None


def _report_stranger(
    name: str, nearest: LockedSchemaVersion, metadata: TableMetadata, locked: LockedDataset, report: Report
) -> None:
    lines: list[str] = []
    if not errors_of(nearest):
        lines = list(differences(schema_of(nearest), metadata.current, by_name=True))
    beside = f"; beside {nearest.label}: {'; '.join(lines[:3])}" if lines else ""
    report.add(
        UNUSABLE_TABLE,
        f"{name} is at no locked version of {locked.name}{beside}",
        file=name,
        help="start from the table as it is: schemac import FOLDER, with the folder that its `metadata` lies in",
    )


def _load(name: str, report: Report) -> tuple[TableMetadata, Any] | None:
    catalog_name, _, identifier = name.removeprefix(SCHEME).partition("/")
    if not catalog_name or "." not in identifier:
        message = f"cannot open {name}: it names no table in a catalog"
        report.add(UNUSABLE_TABLE, message, file=name, help=f"write `{SCHEME}CATALOG/NAMESPACE.TABLE`")
        return None
    try:
        # An extra, which plans between versions do without.
        from pyiceberg.catalog import load_catalog
        from pyiceberg.exceptions import NoSuchTableError
    except ModuleNotFoundError as error:
        message = f"cannot open {name}: it needs {error.name}, which is not installed"
        report.add(UNUSABLE_TABLE, message, file=name, help="pip install 'schemac[iceberg]'")
        return None
    try:
        table = load_catalog(catalog_name).load_table(identifier)
    except NoSuchTableError:
        message = f"there is no table {identifier} in the catalog {catalog_name}"
        report.add(
            UNUSABLE_TABLE, message, file=name, help="create it first, from create_table.sql or schema.json"
        )
        return None
    except Exception as error:  # noqa: BLE001 — a catalog raises what its own libraries raise
        text = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        help = f"pyiceberg finds catalogs in .pyiceberg.yaml, or in PYICEBERG_CATALOG__{catalog_name.upper()}__URI"
        report.add(UNUSABLE_TABLE, f"cannot open {name}: {text}", file=name, help=help)
        return None
    return metadata_of_handle(table), table


def metadata_of_handle(table: Any) -> TableMetadata:
    """Return what pyiceberg's table says of itself."""
    try:
        return parse_metadata(table.metadata.model_dump(mode="json", by_alias=True))
    except UnreadableError as error:
        raise AssertionError(f"pyiceberg's own metadata is not understood: {error}") from error
