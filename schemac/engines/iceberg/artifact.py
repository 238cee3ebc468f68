"""Iceberg: a table's schema with its identifier fields, and the statements of Spark that make the table.

Layer: engines.
Shape: `iceberg/schema.json`, the schema as table metadata has it, one column a line; `iceberg/create_table.sql`, for a catalog of
      Iceberg in Spark: CREATE TABLE, and where fields identify rows an ALTER TABLE of Iceberg's own extensions. Where Spark has no word
      for a type there is no such file, for a table without a column is another table. Rows are identified by the fields that
      `iceberg.apache.org/identifierFields` names, else by the primary key that the schema has for another engine. What Iceberg cannot
      hold is a finding at the field; what it has something else for is a loss.
Errors: SC581 to SC584; losses SC585.
Source: the Iceberg table specification, "Appendix C: JSON serialization" and "Identifier Field IDs" (required, neither float nor
      double, and not inside a list, a map or an optional struct); `SparkTypeToType` and `TypeUtil.assignFreshIds` of
      github.com/apache/iceberg; the grammar of Spark 4; pyiceberg 0.12's conversion of Arrow schemas. The schema is the artifact of record.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.artifacts.type_writer import ArrowTypeWriter, is_lost, is_variant
from schemac.engines.iceberg import (
    ICEBERG_DEFAULT,
    ICEBERG_KEY,
    ICEBERG_LOSS,
    ICEBERG_NAME,
    ICEBERG_TYPE,
    attributes,
)
from schemac.engines.iceberg.types import (
    FORMAT_2,
    FORMAT_3,
    IcebergSchema,
    IcebergType,
    NestedField,
    collisions,
    default_error,
    fresh_ids,
)
from schemac.engines.sql_text import create_table, literal, quoted_name, table_name, without_substitution
from schemac.language.attributes import builtin
from schemac.language.attributes.attribute import Family, Role
from schemac.language.attributes.builtin import TABLE_VERSION
from schemac.language.attributes.registry import has_role
from schemac.language.logical.dataset import LogicalDataset, named_key, primary_key
from schemac.language.logical.model import SchemaField, preorder
from schemac.language.physical import LoweredSchema
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
    **{name: name.upper() for name in ("boolean", "int", "float", "double", "date", "string", "binary")},
    **{name: name.upper() for name in ("variant", "decimal", "struct", "map")},
    "long": "BIGINT",
    "timestamp": "TIMESTAMP_NTZ",
    "timestamptz": "TIMESTAMP",
    "fixed": "BINARY",
    "uuid": "STRING",
    "list": "ARRAY",
}
"""Spark's words for types, by Iceberg's names."""


def ddl(compilation: Compilation, schema: IcebergSchema, emission: Emission) -> str:
    """Return the file of statements, each with a semicolon at the end of its last line; empty where Spark has no words for it."""
    dataset = compilation.dataset
    fields = list(nested_fields(dataset.columns, schema.columns))
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


_AS_UUID: str = Help.retype("type", "{kind: Binary, fixedLength: 16}")
_AS_VARIANT = "write `type: String`, or a Struct of `value` and `metadata`, both Binary and without Option"
_AS_SHAPE: str = Help.retype("type", "Binary", reason=", which holds the shape as WKB")
_ONLY_FORMAT_3 = Help.add_to_schema(
    f"write `{attributes.FORMAT_VERSION.key}: 3` under the `extra:` of the schema",
    (),
    (attributes.FORMAT_VERSION.key, "3"),
)
BINARY = IcebergType("binary")
_PLAIN: Mapping[str, IcebergType] = {
    "BOOL": IcebergType("boolean"),
    "INT32": IcebergType("int"),
    "INT64": IcebergType("long"),
    "FLOAT": IcebergType("float"),
    "DOUBLE": IcebergType("double"),
    "DATE32": IcebergType("date"),
    "STRING": IcebergType("string"),
    "BINARY": BINARY,
}


class _Writer(ArrowTypeWriter[IcebergType]):
    """Finds Iceberg's type for each field."""

    def __init__(
        self, lowered: LoweredSchema, emission: Emission, ids: Mapping[SchemaField, int], format_version: int
    ) -> None:
        super().__init__(emission, lowered)
        self.plain_types = _PLAIN if format_version < FORMAT_3 else {**_PLAIN, "NA": IcebergType("unknown")}
        self.ids = ids
        self.format_version = format_version

    def field(self, field: SchemaField, name: str = "") -> NestedField:
        """Return a column or member; with a name, an element, a key or a value."""
        type_ = self.type(field)
        self.lose_attributes(field)
        return NestedField(
            self.ids[field],
            name or str(field.segment),
            type_,
            not field.is_nullable,
            field.extra.get(builtin.DESCRIPTION.key) if field.is_member else None,
            self.default(field, type_, attributes.INITIAL_DEFAULT.key),
            self.default(field, type_, attributes.WRITE_DEFAULT.key),
        )

    def refused(self, field: SchemaField) -> IcebergType:
        """Report a kind that Iceberg has no type for; return a type that is never written."""
        if field.type.family is Family.NULL:
            message = f"only format 3 has a type for what is always null ({field.path_text})"
            return self.refused_type(field, message, _ONLY_FORMAT_3)
        help = Help.leave_out("Iceberg", builtin.TARGETS_OF.key, "iceberg")
        if field.type.family is Family.DURATION:
            help = Help.retype("type", "Int64", reason=" and give the unit with `schemac.dev/unit`")
        return self.refused_type(field, f"Iceberg has no type for {field.type.type_text()}", help)

    def type_text(self, type_: IcebergType) -> str:
        return type_.type_text()

    def type(self, field: SchemaField) -> IcebergType:
        """Return the type that the attributes of a field name, or else that of its storage."""
        word = attributes.TYPE.read(field.extra)
        if word is not None:
            return self.named_type(field, word)
        if has_role(field.extra, Role.BLOB):
            self.lose(field, "a blob", "binary")
            return BINARY
        is_uuid = getattr(self.lowered[field].arrow.type, "extension_name", "") == "arrow.uuid"
        return IcebergType("uuid") if is_uuid else self.without_extension(field)

    def named_type(self, field: SchemaField, word: str) -> IcebergType:
        """Return the type that the attribute names, if it goes with the field and the format."""
        family, length = field.type.family, getattr(field.type, "fixed_length", None)
        root, is_ = word.partition("(")[0], f"{field.path_text} is {field.type.type_text()}"
        if root == "uuid" and (family, length) != (Family.BYTES, 16):
            message, help = f"a uuid has 16 bytes, and {is_}", _AS_UUID
        elif root == "variant" and not (family is Family.TEXT or is_variant(field)):
            message, help = f"{is_}, which cannot hold a variant", _AS_VARIANT
        elif root in ("geometry", "geography") and (family, length) != (Family.BYTES, None):
            message, help = f"a {root} is bytes, and {is_}", _AS_SHAPE
        elif root != "uuid" and self.format_version < FORMAT_3:
            message, help = f"only format 3 has the type {root} ({field.path_text})", _ONLY_FORMAT_3
        else:
            return IcebergType(word)
        self.emission.findings.at_extra(field, attributes.TYPE.key, ICEBERG_TYPE, message, help=help)
        return BINARY

    def decimal(self, field: SchemaField, arrow_type: Any) -> IcebergType:
        if not self.holds_decimal(field, arrow_type, "a decimal of Iceberg", "Iceberg", ICEBERG_TYPE):
            return BINARY
        return IcebergType("decimal", (arrow_type.precision, arrow_type.scale))

    def timestamp(self, field: SchemaField, arrow_type: Any) -> IcebergType:
        word = "timestamp" if arrow_type.tz is None else "timestamptz"
        if arrow_type.unit == "ns" and self.format_version >= FORMAT_3:
            word = f"{word}_ns"
        elif arrow_type.unit != "us":
            hint = "; format 3 would keep it" if arrow_type.unit == "ns" else ""
            self.lose(field, f"timestamp in {arrow_type.unit}", f"{word} in us{hint}")
        if arrow_type.tz not in (None, "UTC"):
            self.lose(field, f"the zone {arrow_type.tz}", "UTC")
        return IcebergType(word)

    def time(self, field: SchemaField, arrow_type: Any) -> IcebergType:
        if arrow_type.unit != "us":
            self.lose(field, f"time in {arrow_type.unit}", "time in us")
        return IcebergType("time")

    def fixed_size_binary(self, _field: SchemaField, arrow_type: Any) -> IcebergType:
        return IcebergType("fixed", (arrow_type.byte_width,))

    def struct(self, field: SchemaField) -> IcebergType:
        if not field.children:
            message = f"{field.path_text} has no members, and data files of Iceberg cannot hold that"
            return self.refused_type(field, message, "leave it out until it has one")
        return IcebergType("struct", fields=tuple([self.field(child) for child in field.children]))

    def list(self, field: SchemaField) -> IcebergType:
        self.lose_list_form(field, "list")
        length = getattr(field.type, "fixed_length", None)
        if length is not None:
            self.lose(field, f"a fixed length of {length}", "list")
        self.lose_child_names(field)
        (item,) = field.children
        if has_role(field.extra, Role.BRAIN_FLOATS):
            self.lose(field, "brain floats", "float")
            element = NestedField(self.ids[item], "element", IcebergType("float"), not item.is_nullable)
        else:
            element = self.field(item, "element")
        return IcebergType("list", fields=(element,))

    def map(self, field: SchemaField) -> IcebergType:
        if self.arrow_type(field).keys_sorted:
            self.lose(field, "a map with sorted keys", "map")
        self.lose_child_names(field)
        key, value = field.children
        return IcebergType("map", fields=(self.field(key, "key"), self.field(value, "value")))

    def default(self, field: SchemaField, type_: IcebergType, key: str) -> Any:
        """Return a default value; None if there is none, or if Iceberg cannot have it."""
        if key not in field.extra:
            return None
        value, findings = field.extra[key], self.emission.findings
        if not field.is_member:
            message = f"{field.path_text} is a part of a list or map, and these have no default values"
            findings.at_extra(field, key, ICEBERG_DEFAULT, message, on_key=True, help=Help.remove())
        elif self.format_version < FORMAT_3:
            message = f"only format 3 has default values ({field.path_text})"
            findings.at_extra(field, key, ICEBERG_DEFAULT, message, on_key=True, help=_ONLY_FORMAT_3)
        elif reason := default_error(type_, value):
            message = f"{field.path_text} cannot have this default value: {reason}"
            findings.at_extra(field, key, ICEBERG_DEFAULT, message)
        return value

    def refused_type(self, field: SchemaField, message: str, help: str) -> IcebergType:
        self.emission.findings.at_type(field, ICEBERG_TYPE, message, help=help)
        return BINARY


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
    writer = _Writer(compilation.lowered, emission, field_ids, format_of(compilation))
    columns = tuple([writer.field(column) for column in dataset.columns])
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
    fields = dict(nested_fields(dataset.columns, columns))
    return replace(schema, identifier_ids=identifier_ids(dataset, fields, emission))


def nested_fields(
    schema_fields: Sequence[SchemaField], fields: Sequence[NestedField]
) -> Iterator[tuple[SchemaField, NestedField]]:
    """Yield the fields of a manifest and all below them with their Iceberg fields; fields inside a variant have none."""
    for schema_field, field in zip(schema_fields, fields, strict=True):
        yield schema_field, field
        if field.type.fields:
            yield from nested_fields(schema_field.children, field.type.fields)


def text_of(schema: IcebergSchema) -> str:
    """Return the file's text, one column a line."""
    tree = schema.to_json()
    columns = ",\n    ".join([json.dumps(column, ensure_ascii=False) for column in tree.pop("fields")])
    head = "".join([f'  "{key}": {json.dumps(value)},\n' for key, value in tree.items()])
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


def types(compilation: Compilation, emission: Emission) -> dict[SchemaField, str]:
    """Return Iceberg's types; not inside a variant."""
    fields = nested_fields(compilation.dataset.columns, to_schema(compilation, emission).columns)
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
    return dict(nested_fields(version.dataset.columns, schema_of(version).columns))
