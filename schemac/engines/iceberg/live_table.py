"""An Iceberg table as it is: its schema, how that differs from the schema that it should have, and its rows.

Layer: engines.
Shape: in a catalog, as `iceberg://CATALOG/NAMESPACE.TABLE`, where CATALOG is one that pyiceberg is configured for; or a table's folder or
      metadata file, which can be looked at and not changed. The table is that version of the lock whose schema it has; its ids are those
      of the lock, or Iceberg's own where the table was made from names. Rows are those that pyiceberg reads.
Errors: SC421, SC552.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemac.artifacts.dataset import RowReader, StoredRows
from schemac.engines.iceberg.artifact import errors_of, format_of, schema_of
from schemac.engines.iceberg.reader import TableMetadata, metadata_file, parse_metadata, read_file
from schemac.engines.iceberg.types import IcebergSchema, fresh_ids, full_name, with_fields
from schemac.importers.importer import read_or_report
from schemac.language.attributes.builtin import TABLE_IDS, TABLE_VERSION
from schemac.text.source.catalogue import UNUSABLE_TABLE
from schemac.text.source.diagnostics import Report
from schemac.text.source.files import install_help
from schemac.versions.evolution import tables
from schemac.versions.evolution.table_versions import LockedTable, TableSchemas
from schemac.versions.evolution.version_pair import LockedSchemaVersion
from schemac.versions.identity.lock import LockedDataset


def shape_of(schema: IcebergSchema) -> IcebergSchema:
    """Return a schema without what changes no identity: its ids, docs and write defaults, and which fields identify a row."""
    plain = schema.renumbered(fresh_ids(schema))
    columns = with_fields(plain.columns, lambda field: replace(field, doc=None, write_default=None))
    return replace(plain, columns=columns, identifier_ids=(), schema_id=0)


def differences(expected: IcebergSchema, actual: IcebergSchema, *, by_name: bool = False) -> Iterator[str]:
    """Yield how a schema differs from what is expected, by ids or by names; nothing if they mean the same."""
    fields: tuple[dict[Any, tables.TableField], ...] = ({}, {})
    for by_key, schema in zip(fields, (expected, actual), strict=True):
        for path, field in schema.preorder():
            name = full_name(path)
            by_key[path if by_name else field.id] = tables.TableField(
                name,
                f"`{name}`" if by_name else f"`{name}` (id {field.id})",
                {
                    "the type is": field.type.word,
                    "it is": "required" if field.required else "optional",
                    "the doc is": field.doc,
                    "the initial default is": field.initial_default,
                    "the write default is": field.write_default,
                },
            )
    yield from tables.field_differences(*fields)
    names = [
        tuple([full_name(path) for path, field in schema.preorder() if field.id in schema.identifier_ids])
        for schema in (actual, expected)
    ]
    yield from tables.value_difference("the identifier fields are", *names)


SCHEME = "iceberg://"
SCHEMAS = TableSchemas(
    schema_of=schema_of,
    errors_of=errors_of,
    ids_of=lambda version: version.ids,
    members=lambda schema: [(path, field.id) for path, field in schema.preorder()],
    is_alike=lambda expected, actual: shape_of(expected) == shape_of(actual),
    differences=partial(differences, by_name=True),
    doubt="has fields that {} does not have with these names and types",
    comparison="beside",
    import_help="start from the table as it is: schemac import FOLDER, with the folder that contains its `metadata`",
)


@dataclass(frozen=True)
class IcebergTable(LockedTable):
    """An Iceberg table at a locked version; or an imagined one, for a plan without a table."""

    metadata: TableMetadata
    handle: Any = dataclasses.field(default=None, compare=False, repr=False)
    """pyiceberg's table; None for one that can only be looked at."""

    @classmethod
    def imagined(cls, schema_version: LockedSchemaVersion) -> "IcebergTable":
        """Return a table of a locked version that has rows, for a plan without a table."""
        schema = replace(schema_of(schema_version), schema_id=0)
        metadata = TableMetadata(format_of(schema_version), (schema,), schema, schema.highest_id, {})
        ids = SCHEMAS.ids_between(schema, schema)
        return cls(schema_version.label, schema_version, ids, metadata)


def open_metadata(name: str, report: Report) -> tuple[TableMetadata, Any] | None:
    """Return a table's metadata, and pyiceberg's table if there is a catalog; None after reporting what is wrong."""
    if not name.startswith(SCHEME):
        file = metadata_file(Path(name))
        if file is None:
            help = f"specify a table's folder, or a table in a catalog as `{SCHEME}CATALOG/NAMESPACE.TABLE`"
            report.add(UNUSABLE_TABLE, f"cannot open {name}: no metadata file is in it", file=name, help=help)
            return None
        metadata = read_or_report(partial(read_file, file), file, report)
        return None if metadata is None else (metadata, None)
    catalog_name, _, identifier = name.removeprefix(SCHEME).partition("/")
    if not catalog_name or "." not in identifier:
        message = f"cannot open {name}: it does not name a table in a catalog"
        report.add(UNUSABLE_TABLE, message, file=name, help=f"write `{SCHEME}CATALOG/NAMESPACE.TABLE`")
        return None
    try:
        # An extra, which plans between versions do without.
        from pyiceberg.catalog import load_catalog
        from pyiceberg.exceptions import NoSuchTableError
    except ModuleNotFoundError as error:
        message = f"cannot open {name}: it needs {error.name}, which is not installed"
        report.add(UNUSABLE_TABLE, message, file=name, help=install_help(error))
        return None
    try:
        table = load_catalog(catalog_name).load_table(identifier)
    except NoSuchTableError:
        message = f"there is no table {identifier} in the catalog {catalog_name}"
        help = "create it first, from create_table.sql or schema.json"
        report.add(UNUSABLE_TABLE, message, file=name, help=help)
        return None
    except Exception as error:  # noqa: BLE001 — a catalog raises what its own libraries raise
        help = f"pyiceberg finds catalogs in .pyiceberg.yaml, or in PYICEBERG_CATALOG__{catalog_name.upper()}__URI"
        report.add(UNUSABLE_TABLE, f"cannot open {name}: {reason_of(error)}", file=name, help=help)
        return None
    return parse_metadata(table.metadata.model_dump(mode="json", by_alias=True)), table


def reason_of(error: Exception) -> str:
    """Return the first line of an error of a catalog's own libraries; the name of its class if it has no text."""
    return next(iter(str(error).strip().splitlines()), "") or type(error).__name__


def open_iceberg_table(
    name: str, locked: LockedDataset, report: Report, stated: int | None = None
) -> IcebergTable | None:
    """Return the table as one of the locked versions; None after reporting why it is not one.

    `stated` is the locked version of the table, or of its fields, as given by the user.
    """
    opened = open_metadata(name, report)
    if opened is None:
        return None
    metadata, handle = opened
    choose = partial(tables.choose_version, record_of(name, metadata, stated), report=report)
    chosen = SCHEMAS.version_in(name, metadata.current, locked, stated, choose, report)
    if chosen is None:
        return None
    ids = SCHEMAS.ids_between(schema_of(chosen.version), metadata.current)
    return IcebergTable(name, chosen.version, ids, metadata, handle, is_stated=stated is not None)


def record_of(name: str, metadata: TableMetadata, stated: int | None = None) -> tables.TableRecord:
    """Return a table's metadata besides its schema."""
    is_fresh = all(id == fresh for id, fresh in fresh_ids(metadata.current).items())
    ids = tuple([field.id for _, field in metadata.current.preorder()])
    version, digest = (metadata.properties.get(key) for key in (TABLE_VERSION, TABLE_IDS))
    return tables.TableRecord(name, version, ids, is_fresh, digest, metadata.is_replaced, stated)


def is_rows(path: str) -> bool:
    """Return whether a path is a table in a catalog, or the metadata of one."""
    if path.startswith(SCHEME):
        return True
    file = Path(path)
    try:
        is_named = file.is_dir() or file.name.endswith((".json", ".json.gz"))
        return is_named and metadata_file(file) is not None
    except (OSError, ValueError):
        return False


def stored_rows(path: str, read_as: IcebergSchema | None = None) -> StoredRows:
    """Open the rows of a table's newest snapshot, with a schema whose fields have ids of the table; with its own for None."""
    report = Report()
    opened = open_metadata(path, report)
    if opened is None:
        raise ValueError(report.diagnostics[0].message)
    # An extra that may not be there.
    from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow
    from pyiceberg.schema import Schema
    from pyiceberg.table import StaticTable

    table: Any = opened[1]
    if path.startswith(SCHEME):
        catalog, _, name = path.removeprefix(SCHEME).partition("/")
        text = f"pyiceberg.catalog.load_catalog({catalog!r}).load_table({name!r})"
    else:
        file = str(metadata_file(Path(path)))
        table, text = StaticTable.from_metadata(file), f"pyiceberg.table.StaticTable.from_metadata({file!r})"
    schema: Any = table.schema() if read_as is None else Schema.model_validate(read_as.to_json())

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        scan = table.scan()
        made = ArrowScan(table.metadata, table.io, schema.select(*columns), scan.row_filter)
        return iter(made.to_record_batches(scan.plan_files()))

    return StoredRows(
        schema_to_pyarrow(schema, include_field_ids=False),
        batches,
        lambda rows: f"{text}.scan().to_arrow().take({list(rows)})",
    )


ROW_READER = RowReader(is_rows, stored_rows)
