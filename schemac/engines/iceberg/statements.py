"""The statements that make a table in a catalog of Iceberg, from Spark.

Layer: engines.
Shape: CREATE TABLE, and where fields identify rows an ALTER TABLE of Iceberg's own extensions. Where Spark has no word for
a type there is no file, for a table without a column is another table.
Source: `SparkTypeToType` and `TypeUtil.assignFreshIds` of github.com/apache/iceberg; the grammar of Spark 4.
"""

from collections.abc import Iterator

from schemac.artifacts.emission import Compilation, Emission
from schemac.attributes import odf
from schemac.attributes.own import TABLE_VERSION
from schemac.engines.iceberg import attributes
from schemac.engines.iceberg.numbering import fresh_ids
from schemac.engines.iceberg.types import (
    Decimal,
    Fixed,
    IcebergSchema,
    IcebergType,
    List,
    Map,
    NestedField,
    Struct,
)
from schemac.engines.spark_sql import create_table, literal, quoted_name, table_name, without_substitution
from schemac.logical.schema_fields import SchemaField

DDL_FILE = "iceberg/create_table.sql"
_FORMAT_VERSION = "format-version"
_PLAIN = {
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP_NTZ",
    "timestamptz": "TIMESTAMP",
    "string": "STRING",
    "binary": "BINARY",
    "uuid": "STRING",
    "variant": "VARIANT",
}


def ddl(compilation: Compilation, schema: IcebergSchema, format_version: int, emission: Emission) -> str:
    """Return the file of statements, each with a semicolon at the end of its last line; empty where Spark has no words for it."""
    dataset = compilation.dataset
    fields = list(_with_fields(schema.columns, dataset.columns))
    wordless = [
        (schema_field, field)
        for schema_field, field in fields
        if not field.type.fields and _word(field.type) is None
    ]
    if wordless:
        for schema_field, field in wordless:
            message = f"no statement: Spark has no type for Iceberg's {field.type.word}"
            emission.lose(schema_field, str(field.type.word), message, artifact=DDL_FILE)
        return ""
    for schema_field, field in fields:
        _lose(schema_field, field, emission)
    if dataset.columns and fresh_ids(schema) != {field.id: field.id for _, field in schema.preorder()}:
        emission.lose(None, "the numbering of the fields", "Iceberg's own", artifact=DDL_FILE)
    statements = _statements(compilation, schema, format_version)
    return "".join(f"{statement};\n" for statement in without_substitution(statements))


def _statements(compilation: Compilation, schema: IcebergSchema, format_version: int) -> Iterator[str]:
    dataset = compilation.dataset
    extra, table = dataset.schema.extra, table_name(dataset.name)
    columns = [f"{quoted_name(c.name)} {_spark_type(c.type)}{_suffix(c)}" for c in schema.columns]
    comment, properties = (
        odf.DESCRIPTION.read(extra),
        {**(attributes.TABLE_PROPERTIES.read(extra) or {}), _FORMAT_VERSION: str(format_version)},
    )
    if compilation.table_record is not None:
        properties[TABLE_VERSION] = compilation.table_record
    yield create_table(dataset.name, columns, "iceberg", comment, properties)
    if schema.identifier_ids:
        names = [
            ".".join(map(quoted_name, path))
            for path, field in schema.preorder()
            if field.id in schema.identifier_ids
        ]
        yield f"ALTER TABLE {table} SET IDENTIFIER FIELDS {', '.join(names)}"


def _suffix(field: NestedField) -> str:
    comment = "" if field.doc is None else f" COMMENT {literal(field.doc)}"
    return f"{' NOT NULL' if field.required else ''}{comment}"


def _spark_type(type_: IcebergType) -> str:
    if isinstance(type_, Struct):
        members = [f"{quoted_name(m.name)}: {_spark_type(m.type)}{_suffix(m)}" for m in type_.members]
        return f"STRUCT<{', '.join(members)}>"
    if isinstance(type_, List):
        return f"ARRAY<{_spark_type(type_.element.type)}>"
    if isinstance(type_, Map):
        return f"MAP<{_spark_type(type_.key.type)}, {_spark_type(type_.value.type)}>"
    word = _word(type_)
    assert word is not None, "types without a name have no statement"
    return word


def _word(type_: IcebergType) -> str | None:
    """Return what Spark calls a type without parts."""
    if isinstance(type_, Decimal):
        return f"DECIMAL({type_.precision},{type_.scale})"
    return "BINARY" if isinstance(type_, Fixed) else _PLAIN.get(type_.word)


def _lose(schema_field: SchemaField, field: NestedField, emission: Emission) -> None:
    """Enter what is different in the table that the statement makes."""
    becomes = {"uuid": "string"}.get(field.type.word, "binary" if isinstance(field.type, Fixed) else None)
    if becomes is not None:
        emission.lose(schema_field, field.type.type_text(), becomes, artifact=DDL_FILE)
    if field.required and field.name in ("element", "value") and not schema_field.is_member:
        emission.lose(schema_field, "a value that may not be null", "one that may", artifact=DDL_FILE)
    if field.initial_default is not None or field.write_default is not None:
        emission.lose(schema_field, "a default value", "nothing", artifact=DDL_FILE)


def _with_fields(
    fields: tuple[NestedField, ...], schema_fields: tuple[SchemaField, ...]
) -> Iterator[tuple[SchemaField, NestedField]]:
    for field, schema_field in zip(fields, schema_fields, strict=True):
        yield schema_field, field
        if field.type.fields:
            yield from _with_fields(field.type.fields, schema_field.children)
