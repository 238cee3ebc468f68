"""Iceberg: a table's schema with its identifier fields, and the statements of Spark that make the table.

Layer: engines.
Shape: `iceberg/schema.json`, the schema as table metadata has it, one column a line; `iceberg/create_table.sql`, for a catalog of
      Iceberg in Spark: CREATE TABLE, and where fields identify rows an ALTER TABLE of Iceberg's own extensions. Where Spark has no word
      for a type there is no such file, for a table without a column is another table. Rows are identified by the fields that
      `iceberg.apache.org/identifierFields` names, else by the primary key that the schema has for another engine.
Errors: SC581 to SC584; losses SC585.
Source: the Iceberg table specification, "Appendix C: JSON serialization" and "Identifier Field IDs" (required, neither float nor
      double, and not inside a list, a map or an optional struct); `SparkTypeToType` and `TypeUtil.assignFreshIds` of
      github.com/apache/iceberg; the grammar of Spark 4. The schema is the artifact of record.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.artifacts.type_writer import is_lost
from schemac.engines.iceberg import ICEBERG_KEY, ICEBERG_LOSS, ICEBERG_NAME, attributes
from schemac.engines.iceberg.types import (
    FORMAT_2,
    IcebergSchema,
    IcebergType,
    NestedField,
    collisions,
    fresh_ids,
)
from schemac.engines.iceberg.writer import to_columns
from schemac.engines.sql_parsing import create_table, literal, quoted_name, table_name, without_substitution
from schemac.language.attributes import builtin
from schemac.language.attributes.attribute import Family
from schemac.language.attributes.builtin import TABLE_VERSION
from schemac.language.logical.dataset import LogicalDataset, named_key, primary_key
from schemac.language.logical.model import SchemaField, preorder
from schemac.text.source.diagnostics import Diagnostic, Report
from schemac.text.source.phrases import Help
from schemac.versions.evolution.version_pair import SchemaVersion
from schemac.versions.identity.compilation import Compilation


def identifier_ids(
    dataset: LogicalDataset, fields: Mapping[SchemaField, NestedField], emission: Emission
) -> tuple[int, ...]:
    """Return the ids of the identifier fields, in rising order, and report what is wrong with them."""
    extra = dataset.schema.extra
    named = attributes.IDENTIFIER_FIELDS.read(extra)
    ids: list[int] = []
    if named is None:
        for field in primary_key(dataset.columns) or named_key(dataset):
            if reason := _identifier_error(field, fields):
                emission.lose(field, "a part of the primary key", f"no identifier field: {reason}")
                # Half of a key identifies nothing.
                return ()
            ids.append(fields[field].id)
        return tuple(sorted(ids))
    schema_fields = {field.path_text: field for field in preorder(dataset.columns)}
    for i, name in enumerate(named):
        if name not in schema_fields:
            message = f"there is no field '{name}'"
            by_path = "specify a field by its path, such as `address.city`"
            help = Help.nearest(name, list(schema_fields), by_path, mark="'")
        elif reason := _identifier_error(schema_fields[name], fields):
            message = f"{name} cannot identify rows: {reason}"
            help = Help.remove(help="name other fields, or remove it", is_safe=False)
        else:
            ids.append(fields[schema_fields[name]].id)
            continue
        location = ("extra", attributes.IDENTIFIER_FIELDS.key, i)
        emission.findings.at_schema(ICEBERG_KEY, message, *location, help=help)
    return tuple(sorted(ids))


def _identifier_error(schema_field: SchemaField, fields: Mapping[SchemaField, NestedField]) -> str:
    """Return why a field cannot identify a row; empty if it can."""
    field = fields.get(schema_field)
    if field is None or field.type.fields or field.type.word in ("variant", "unknown"):
        return "it is not a plain value"
    if field.type.word in ("float", "double"):
        return f"Iceberg does not allow {field.type.word} here"
    for above in (schema_field, *schema_field.ancestors):
        if above.type.family in (Family.LIST, Family.MAP):
            return f"it is inside the {above.type.kind.lower()} {above.path_text}"
        if above.is_nullable:
            return f"{above.path_text} may be null"
    return ""


DDL_FILE = "iceberg/create_table.sql"
_WORDS = {
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
    "fixed": "BINARY",
    "uuid": "STRING",
    "variant": "VARIANT",
    "decimal": "DECIMAL",
    "struct": "STRUCT",
    "list": "ARRAY",
    "map": "MAP",
}
"""Spark's words for types, by Iceberg's names."""


def ddl(compilation: Compilation, schema: IcebergSchema, emission: Emission) -> str:
    """Return the file of statements, each with a semicolon at the end of its last line; empty where Spark has no words for it."""
    dataset = compilation.dataset
    fields = nested_fields(dataset, schema).items()
    wordless = [(schema_field, field) for schema_field, field in fields if field.type.name not in _WORDS]
    if wordless:
        for schema_field, field in wordless:
            message = f"no statement: Spark has no type for Iceberg's {field.type.word}"
            emission.lose(schema_field, field.type.word, message, artifact=DDL_FILE)
        return ""
    for schema_field, field in fields:
        becomes = {"uuid": "string", "fixed": "binary"}.get(field.type.name)
        if becomes is not None:
            emission.lose(schema_field, field.type.type_text(), becomes, artifact=DDL_FILE)
        if field.required and field.name in ("element", "value") and not schema_field.is_member:
            emission.lose(schema_field, "a value that may not be null", "one that may", artifact=DDL_FILE)
        if field.initial_default is not None or field.write_default is not None:
            emission.lose(schema_field, "a default value", "nothing", artifact=DDL_FILE)
    if dataset.columns and fresh_ids(schema) != {field.id: field.id for _, field in schema.preorder()}:
        emission.lose(None, "the numbering of the fields", "Iceberg's own", artifact=DDL_FILE)
    statements = _statements(compilation, schema)
    return "".join(f"{statement};\n" for statement in without_substitution(statements))


def _statements(compilation: Compilation, schema: IcebergSchema) -> Iterator[str]:
    """Yield CREATE TABLE in Spark's SQL, and ALTER TABLE for identifier fields if there are any."""
    dataset = compilation.dataset
    extra, table = dataset.schema.extra, table_name(dataset.name)
    columns = [f"{quoted_name(c.name)} {_spark_type(c.type)}{_suffix(c)}" for c in schema.columns]
    comment, properties = builtin.DESCRIPTION.read(extra), dict(attributes.TABLE_PROPERTIES.read(extra) or {})
    properties["format-version"] = str(format_of(compilation))
    if compilation.table_record is not None:
        properties[TABLE_VERSION] = compilation.table_record
    yield create_table(dataset.name, columns, "iceberg", comment, properties)
    if ids := schema.identifier_ids:
        names = [".".join(map(quoted_name, path)) for path, field in schema.preorder() if field.id in ids]
        yield f"ALTER TABLE {table} SET IDENTIFIER FIELDS {', '.join(names)}"


def _suffix(field: NestedField) -> str:
    """Return the NOT NULL and COMMENT that follow a column's type; empty if neither applies."""
    comment = "" if field.doc is None else f" COMMENT {literal(field.doc)}"
    return f"{' NOT NULL' if field.required else ''}{comment}"


def _spark_type(type_: IcebergType) -> str:
    """Return Spark's text of a type."""
    word = _WORDS[type_.name]
    if type_.name == "decimal":
        return f"{word}({','.join(map(str, type_.parameters))})"
    parts = [_spark_type(part.type) for part in type_.fields]
    if type_.name == "struct":
        parts = [
            f"{quoted_name(member.name)}: {part}{_suffix(member)}"
            for member, part in zip(type_.fields, parts, strict=True)
        ]
    return f"{word}<{', '.join(parts)}>" if parts else word


SCHEMA_FILE = "iceberg/schema.json"


def to_schema(compilation: Compilation, emission: Emission) -> IcebergSchema:
    """Return the schema as Iceberg has it, with the ids of its lock; not to be used where the emission found an error.

    Without a lock fields are numbered in pre-order from 1, as a first locking does.
    """
    dataset, version = compilation.dataset, compilation.version
    extra = dataset.schema.extra
    field_ids = compilation.ids or {
        field: number for number, field in enumerate(preorder(dataset.columns), 1)
    }
    columns = to_columns(compilation.lowered, emission, field_ids, format_of(compilation))
    for key in sorted(extra):
        if key not in (builtin.DESCRIPTION.key, builtin.TARGETS_OF.key) and is_lost(key):
            emission.lose(None, f"the attribute {key}", "nothing")
    schema = IcebergSchema(columns, schema_id=0 if version is None else version.number - 1)
    by_id = {id: field for field, id in field_ids.items()}
    for name, first, second in collisions(schema):
        both = f"{by_id[first.id].path_text} and {by_id[second.id].path_text}"
        message = f"Iceberg calls both {both} '{name}'"
        help = "rename one of them; a dot in a name cannot be distinguished from the dot between names"
        emission.findings.at_name(by_id[second.id], ICEBERG_NAME, message, help=help)
    fields = nested_fields(dataset, schema)
    return replace(schema, identifier_ids=identifier_ids(dataset, fields, emission))


def nested_fields(dataset: LogicalDataset, schema: IcebergSchema) -> dict[SchemaField, NestedField]:
    """Return the Iceberg field of each field of a manifest; fields inside a variant have none."""
    by_schema_field: dict[SchemaField, NestedField] = {}

    def enter(schema_fields: tuple[SchemaField, ...], fields: tuple[NestedField, ...]) -> None:
        """Enter fields and all below them, in parallel."""
        for schema_field, field in zip(schema_fields, fields, strict=True):
            by_schema_field[schema_field] = field
            if field.type.fields:
                enter(schema_field.children, field.type.fields)

    enter(dataset.columns, schema.columns)
    return by_schema_field


def text_of(schema: IcebergSchema) -> str:
    """Return the file's text, one column a line."""
    tree = schema.to_json()
    columns = ",\n    ".join([_compact(column) for column in tree.pop("fields")])
    head = "".join([f'  "{key}": {_compact(value)},\n' for key, value in tree.items()])
    fields = f"[\n    {columns}\n  ]" if columns else "[]"
    return f'{{\n{head}  "fields": {fields}\n}}\n'


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the files of the schema and, if Spark has words for all types, of the statements."""
    dataset = compilation.dataset
    schema = to_schema(compilation, emission)
    if emission.findings.report.has_errors:
        return []
    if builtin.DESCRIPTION.key in dataset.schema.extra:
        emission.lose(None, "the description", "nothing", artifact=SCHEMA_FILE)
    made = [Artifact(SCHEMA_FILE, text_of(schema).encode())]
    statements = ddl(compilation, schema, emission)
    if statements:
        made.append(Artifact(DDL_FILE, statements.encode()))
    return made


def _compact(value: Any) -> str:
    """Return a value as JSON on one line, with a space after each comma and colon."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def types(compilation: Compilation, emission: Emission) -> dict[SchemaField, str]:
    """Return Iceberg's types; not inside a variant."""
    fields = nested_fields(compilation.dataset, to_schema(compilation, emission)).items()
    return {key: field.type.type_text() + (" not null" if field.required else "") for key, field in fields}


TARGET = ArtifactTarget("iceberg", ICEBERG_LOSS, emit, types=types)


def schema_of(version: SchemaVersion) -> IcebergSchema:
    """Return Iceberg's schema of a version, with the ids of its lock; not to be used where there are errors."""
    return version.view(_compiled)[0]


def errors_of(version: SchemaVersion) -> tuple[Diagnostic, ...]:
    """Return the errors of Iceberg for a version."""
    return version.view(_compiled)[1]


def fields_of(version: SchemaVersion) -> Mapping[SchemaField, NestedField]:
    """Return the Iceberg field of each field of a version; fields inside a variant have none."""
    return version.view(_nested_fields)


def format_of(version: SchemaVersion | Compilation) -> int:
    """Return the version of the format that a schema is for: the one that it asks for, or 2."""
    return attributes.FORMAT_VERSION.read(version.dataset.schema.extra) or FORMAT_2


def requested_format(version: SchemaVersion) -> int | None:
    """Return the version of the format that a schema asks for; None if a table of any format will do."""
    return attributes.FORMAT_VERSION.read(version.dataset.schema.extra)


def _compiled(version: SchemaVersion) -> tuple[IcebergSchema, tuple[Diagnostic, ...]]:
    """Return the Iceberg schema of a version, and the errors that the conversion reported."""
    report = Report()
    emission = Emission(version.dataset, "iceberg", ICEBERG_LOSS, report)
    return to_schema(version.compilation, emission), report.errors


def _nested_fields(version: SchemaVersion) -> Mapping[SchemaField, NestedField]:
    return nested_fields(version.dataset, schema_of(version))
