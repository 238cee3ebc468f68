"""The statements that make a table in a catalog of lance-spark.

Layer: engines.
Shape: CREATE TABLE, and where there is a primary key an ALTER TABLE, for CREATE TABLE cannot say it.
"""

from collections.abc import Sequence

from schemac.arrow.metadata import EXTENSION_NAME
from schemac.engines import spark_sql
from schemac.engines.spark import attributes as spark
from schemac.engines.spark.column_metadata import (
    BLOB,
    BYTE_WIDTH,
    ENCODING_PREFIX,
    ENCODINGS,
    FILE_FORMAT_VERSION,
    FLOAT16,
    LARGE_STRING,
    VECTOR_ELEMENTS,
    VECTOR_SIZE,
)
from schemac.engines.spark.columns import SparkField
from schemac.engines.spark.storage import storage_version
from schemac.engines.spark_sql import quoted_name, table_name, without_substitution
from schemac.language.attributes.attribute import Role
from schemac.language.attributes.odf import DESCRIPTION
from schemac.language.attributes.own import TABLE_VERSION
from schemac.language.attributes.registry import has_role
from schemac.language.logical.dataset import primary_key
from schemac.language.physical.field import LoweredField
from schemac.versions.identity.compilation import Compilation

_TELLING = frozenset(
    {BYTE_WIDTH, VECTOR_SIZE, FLOAT16, LARGE_STRING, BLOB, EXTENSION_NAME}
    | {ENCODING_PREFIX + key for key in ENCODINGS}
)
"""Metadata of columns that have a table property; most columns have none of it."""


def statements(compilation: Compilation, columns: Sequence[SparkField]) -> tuple[str, ...]:
    """All of them in order, without semicolons."""
    all_statements = [create_table(compilation, columns)]
    key = key_columns(compilation)
    if key:
        names = ", ".join(map(quoted_name, key))
        table = table_name(compilation.dataset.name)
        all_statements.append(f"ALTER TABLE {table} SET UNENFORCED PRIMARY KEY ({names})")
    return without_substitution(all_statements)


def create_table(compilation: Compilation, columns: Sequence[SparkField]) -> str:
    """Return the table without its primary key."""
    dataset = compilation.dataset
    comment = DESCRIPTION.read(dataset.schema.extra)
    properties = table_properties(compilation, columns)
    return spark_sql.create_table(dataset.name, [f.ddl(" ") for f in columns], "lance", comment, properties)


def key_columns(compilation: Compilation) -> tuple[str, ...]:
    """Return the key's columns in order; none where a part of it is inside a column, which the statement cannot name."""
    key = primary_key(compilation.dataset.columns)
    if any(field.parent is not None for field in key):
        return ()
    return tuple([str(field.segment) for field in key])


def table_properties(compilation: Compilation, columns: Sequence[SparkField]) -> dict[str, str]:
    """TBLPROPERTIES: the version of the files, those of the columns, those that the schema names, and its locked version."""
    record = compilation.table_record
    return {
        **schema_properties(compilation, columns),
        **(spark.TABLE_PROPERTIES.read(compilation.dataset.schema.extra) or {}),
        **({} if record is None else {TABLE_VERSION: record}),
    }


def schema_properties(compilation: Compilation, columns: Sequence[SparkField]) -> dict[str, str]:
    """Those that follow from the schema."""
    properties = {FILE_FORMAT_VERSION: storage_version(compilation.dataset.schema.extra)}
    for top, column in zip(compilation.lowered.fields, columns, strict=True):
        if not _TELLING.isdisjoint(column.metadata):
            properties.update(_properties(top, column))
    return properties


def _properties(top: LoweredField, column: SparkField) -> dict[str, str]:
    """Table properties of one column; they reach top-level columns only."""
    metadata, name = column.metadata, column.name
    marks: tuple[str, ...] = (BYTE_WIDTH,)
    # As properties these are for vectors of floats alone; lance-spark refuses others.
    if isinstance(column.type.json, dict) and column.type.json.get("elementType") in VECTOR_ELEMENTS:
        marks = (VECTOR_SIZE, FLOAT16)
    properties = {f"{name}.{key}": str(metadata[key]) for key in marks if key in metadata}
    if LARGE_STRING in metadata:
        properties[f"{name}.arrow.large_var_char"] = "true"
    if has_role(top.field.extra, Role.BLOB):
        properties[f"{name}.lance.encoding"] = "blob"
    for key in ENCODINGS:
        if ENCODING_PREFIX + key in metadata:
            properties[f"{name}.lance.{key}"] = str(metadata[ENCODING_PREFIX + key])
    return properties
