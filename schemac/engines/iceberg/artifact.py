"""Iceberg: a table's schema, and the CREATE TABLE of Spark.

Layer: engines.
Shape: `iceberg/schema.json`, the schema as table metadata has it, one column a line; `iceberg/create_table.sql`, for a
catalog of Iceberg in Spark.
Errors: SC581 to SC584; losses SC585.
Source: the Iceberg table specification, "Appendix C: JSON serialization". The schema is the artifact of record.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from schemac.artifacts.emission import Artifact, Compilation, Emission, Target
from schemac.artifacts.type_writer import is_lost
from schemac.attributes import odf, own
from schemac.engines.iceberg import attributes
from schemac.engines.iceberg.codes import ICEBERG_LOSS, ICEBERG_NAME
from schemac.engines.iceberg.keys import identifier_ids
from schemac.engines.iceberg.names import collisions, full_name
from schemac.engines.iceberg.statements import DDL_FILE, ddl
from schemac.engines.iceberg.types import FORMAT_2, IcebergSchema, NestedField
from schemac.engines.iceberg.writer import to_columns
from schemac.logical.dataset import LogicalDataset
from schemac.logical.schema_fields import SchemaField, preorder
from schemac.physical.field import LoweredSchema

SCHEMA_FILE = "iceberg/schema.json"


def format_version(extra: Mapping[str, Any]) -> int:
    """Return the format that a schema is for."""
    return attributes.FORMAT_VERSION.read(extra) or FORMAT_2


def to_schema(
    dataset: LogicalDataset,
    lowered: LoweredSchema,
    emission: Emission,
    ids: Mapping[SchemaField, int] | None = None,
    schema_id: int = 0,
) -> IcebergSchema:
    """Return the schema as Iceberg has it; not to be used where the emission found an error.

    Without ids fields are numbered in pre-order from 1, as a first locking does.
    """
    extra = dataset.schema.extra
    numbers = ids or {field: number for number, field in enumerate(preorder(dataset.columns), 1)}
    columns = to_columns(lowered, emission, numbers, format_version(extra))
    for key in sorted(extra):
        if key not in (odf.DESCRIPTION.key, own.TARGETS_OF.key) and is_lost(key):
            emission.lose(None, f"the attribute {key}", "nothing")
    schema = IcebergSchema(columns, (), schema_id)
    fields = arrow_fields_by_field(dataset, schema)
    _refuse_collisions(schema, fields, emission)
    return replace(schema, identifier_ids=identifier_ids(dataset, fields, emission))


def arrow_fields_by_field(dataset: LogicalDataset, schema: IcebergSchema) -> dict[SchemaField, NestedField]:
    """Return what Iceberg has at every field that it knows of: not inside a variant."""
    nested_fields: dict[SchemaField, NestedField] = {}

    def enter(schema_fields: tuple[SchemaField, ...], fields: tuple[NestedField, ...]) -> None:
        for schema_field, field in zip(schema_fields, fields, strict=True):
            nested_fields[schema_field] = field
            if field.type.fields:
                enter(schema_field.children, field.type.fields)

    enter(dataset.columns, schema.columns)
    return nested_fields


def text_of(schema: IcebergSchema) -> str:
    """Return the file's text, one column a line."""
    tree = schema.to_json()
    columns = ",\n    ".join([_compact(column) for column in tree.pop("fields")])
    head = "".join([f'  "{key}": {_compact(value)},\n' for key, value in tree.items()])
    fields = f"[\n    {columns}\n  ]" if columns else "[]"
    return f'{{\n{head}  "fields": {fields}\n}}\n'


def schema_of(compilation: Compilation, emission: Emission) -> IcebergSchema:
    """Return the schema with the ids of its lock; not to be used where the emission found an error."""
    version = compilation.version
    return to_schema(
        compilation.dataset,
        compilation.lowered,
        emission,
        compilation.ids,
        0 if version is None else version.number - 1,
    )


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return schema and DDL."""
    dataset = compilation.dataset
    schema = schema_of(compilation, emission)
    if emission.findings.report.has_errors:
        return []
    if odf.DESCRIPTION.key in dataset.schema.extra:
        emission.lose(None, "the description", "nothing", artifact=SCHEMA_FILE)
    made = [Artifact(SCHEMA_FILE, text_of(schema).encode())]
    statements = ddl(compilation, schema, format_version(dataset.schema.extra), emission)
    if statements:
        made.append(Artifact(DDL_FILE, statements.encode()))
    return made


def _refuse_collisions(
    schema: IcebergSchema, fields: Mapping[SchemaField, NestedField], emission: Emission
) -> None:
    schema_fields = {id(field): schema_field for schema_field, field in fields.items()}
    by_path = {tuple(path): schema_fields[id(field)] for path, field in schema.preorder()}
    for first, second in collisions(schema):
        schema_field = by_path[tuple(second)]
        emission.findings.at_name(
            schema_field,
            ICEBERG_NAME,
            f"Iceberg calls both {by_path[tuple(first)].path_text} and {schema_field.path_text} '{full_name(second)}'",
            help="rename one of them; a dot in a name cannot be distinguished from the dot between names",
        )


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def types(compilation: Compilation, emission: Emission) -> dict[SchemaField, str]:
    """Return Iceberg's types; not inside a variant."""
    dataset = compilation.dataset
    fields = arrow_fields_by_field(
        dataset, to_schema(dataset, compilation.lowered, emission, compilation.ids)
    )
    return {
        schema_field: field.type.type_text() + (" not null" if field.required else "")
        for schema_field, field in fields.items()
    }


TARGET = Target("iceberg", ICEBERG_LOSS, emit, types=types)
