"""Spark: StructType as JSON, and the statements that make the table in a catalog of lance-spark.

Layer: engines. Text only; pyspark is not imported.
Shape: `spark/schema.json`, what `StructType.fromJson` reads, one column a line; `spark/create_table.sql`, CREATE TABLE and, where there is a
      primary key, an ALTER TABLE, for CREATE TABLE cannot say it. Column metadata uses lance-spark's keys, so that its writer restores
      vectors, large offsets and encodings.
Errors: SC521; warnings SC523, SC524; losses SC522, of the JSON what a StructType cannot say, of the DDL what the table that it makes has
      otherwise than the Lance artifact.
Source: Spark 4.3's `pyspark.sql.types` and Arrow conversion; the metadata keys and table properties that github.com/lance-format/lance-spark
      reads. The JSON is the artifact of record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from schemac.arrow.metadata import (
    EXTENSION_NAME,
    compact,
    registered_extension_metadata,
    without_empty_metadata,
)
from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.artifacts.type_writer import MOST_DIGITS, ArrowTypeWriter, is_lost
from schemac.engines.spark import SPARK_LOSS, SPARK_PROPERTY, SPARK_TYPE
from schemac.engines.spark import attributes as spark
from schemac.engines.spark import columns as lance_spark
from schemac.engines.spark.columns import SparkField, SparkType, storage_version
from schemac.engines.spark.connector import made_table, report_connector, report_differences
from schemac.engines.spark.versions import NEWEST_KNOWN, Connector
from schemac.engines.sql_text import create_table, quoted_name, table_name, without_substitution
from schemac.language.attributes import builtin
from schemac.language.attributes.attribute import Role
from schemac.language.attributes.builtin import DESCRIPTION, TABLE_VERSION
from schemac.language.attributes.registry import has_role
from schemac.language.logical.dataset import primary_key
from schemac.language.logical.model import SchemaField
from schemac.language.physical import LoweredSchema, pa
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import Help
from schemac.versions.identity.compilation import Compilation


def statements(compilation: Compilation, columns: Sequence[SparkField]) -> tuple[str, ...]:
    """Return CREATE TABLE, and ALTER TABLE for a primary key if there is one; without semicolons."""
    dataset, record = compilation.dataset, compilation.table_record
    extra = dataset.schema.extra
    properties = {
        **schema_properties(compilation, columns),
        **(spark.TABLE_PROPERTIES.read(extra) or {}),
        **({} if record is None else {TABLE_VERSION: record}),
    }
    texts = [column.ddl(" ") for column in columns]
    all_statements = [create_table(dataset.name, texts, "lance", DESCRIPTION.read(extra), properties)]
    key = key_columns(compilation)
    if key:
        names = ", ".join(map(quoted_name, key))
        all_statements.append(f"ALTER TABLE {table_name(dataset.name)} SET UNENFORCED PRIMARY KEY ({names})")
    return without_substitution(all_statements)


def key_columns(compilation: Compilation) -> tuple[str, ...]:
    """Return the names of the primary key's columns in order; none if a field of the key is a member, which the statement cannot name."""
    key = primary_key(compilation.dataset.columns)
    if any(field.parent is not None for field in key):
        return ()
    return tuple([str(field.segment) for field in key])


def schema_properties(compilation: Compilation, columns: Sequence[SparkField]) -> dict[str, str]:
    """Return the table properties that follow from the schema: the storage version, and those of columns, which members cannot have."""
    properties = {lance_spark.FILE_FORMAT_VERSION: storage_version(compilation.dataset.schema.extra)}
    for top, column in zip(compilation.lowered.fields, columns, strict=True):
        metadata, name = column.metadata, column.name
        marks: tuple[str, ...] = (lance_spark.BYTE_WIDTH,)
        item = column.type.json.get("elementType") if isinstance(column.type.json, dict) else None
        if item in lance_spark.VECTOR_ELEMENTS:
            # As properties these are for vectors of floats alone; lance-spark refuses others.
            marks = (lance_spark.VECTOR_SIZE, lance_spark.FLOAT16)
        properties |= {f"{name}.{key}": str(metadata[key]) for key in marks if key in metadata}
        if lance_spark.LARGE_STRING in metadata:
            properties[f"{name}.arrow.large_var_char"] = "true"
        if has_role(top.field.extra, Role.BLOB):
            properties[f"{name}.lance.encoding"] = "blob"
        for key in lance_spark.ENCODINGS:
            if lance_spark.ENCODING_PREFIX + key in metadata:
                properties[f"{name}.lance.{key}"] = str(metadata[lance_spark.ENCODING_PREFIX + key])
    return properties


MOST_QUOTATIONS = 4
"""Lists and maps inside each other whose items have metadata. Each quotes that of the next as a text, which doubles what is
escaped in it."""
JSON_FILE = "spark/schema.json"
DDL_FILE = "spark/create_table.sql"


def to_fields(lowered: LoweredSchema, emission: Emission) -> list[SparkField]:
    """Return the columns as Spark has them; what it cannot keep is entered in the emission."""
    writer = _Writer(emission, lowered)
    return [writer.field(top.field) for top in lowered.fields]


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the files of the StructType and of the statements."""
    fields = to_fields(compilation.lowered, emission)
    if not emission.findings.report.has_errors:
        _report_table(compilation, fields, emission)
    lines = ",\n  ".join([compact(f.json()) for f in fields])
    return [
        Artifact(JSON_FILE, f'{{"fields":[\n  {lines}\n],"type":"struct"}}\n'.encode()),
        Artifact(DDL_FILE, "".join(f"{text};\n" for text in statements(compilation, fields)).encode()),
    ]


def _report_table(compilation: Compilation, fields: Sequence[SparkField], emission: Emission) -> None:
    """Report how the table that the statements make differs from the Lance artifact, and properties that contradict the schema."""
    extra, properties = compilation.dataset.schema.extra, schema_properties(compilation, fields)
    connector = Connector.of(compilation.versions.get("spark", NEWEST_KNOWN))
    made = made_table(connector, fields, properties, key_columns(compilation))
    paths = frozenset(loss.path for loss in emission.losses)
    lose = partial(emission.lose, artifact=DDL_FILE)
    for expected, column in zip(compilation.lowered.fields, made, strict=True):
        report_differences(expected, column, paths, lose)
    for key in sorted(extra):
        if key == DESCRIPTION.key:
            emission.lose(None, "the description of the table", "nothing")
        elif key != builtin.TARGETS_OF.key and is_lost(key):
            emission.lose(None, f"the attribute {key}", "nothing")
    written = spark.TABLE_PROPERTIES.read(extra) or {}
    for key, value in properties.items():
        if key in written and written[key] != value:
            place = (spark.TABLE_PROPERTIES.key, key)
            message = f"the table property {key} is '{written[key]}', but the schema makes it '{value}'"
            help = Help.remove_attribute("remove it: the build writes the property itself", *place)
            emission.findings.at_schema(SPARK_PROPERTY, message, "extra", *place, help=help)


def struct_type(fields: Sequence[SparkField]) -> Json:
    """Return the StructType of some fields as JSON."""
    return {"fields": [f.json() for f in fields], "type": "struct"}


class _Writer(ArrowTypeWriter[SparkType]):
    """Finds Spark's type for each field."""

    plain_types: Mapping[str, SparkType] = {
        "NA": SparkType("void", "VOID"),
        "BOOL": SparkType("boolean", "BOOLEAN"),
        "INT8": SparkType("byte", "TINYINT"),
        "INT16": SparkType("short", "SMALLINT"),
        "INT32": SparkType("integer", "INT"),
        "INT64": SparkType("long", "BIGINT"),
        "FLOAT": SparkType("float", "FLOAT"),
        "DOUBLE": SparkType("double", "DOUBLE"),
        "DATE32": SparkType("date", "DATE"),
        "STRING": SparkType("string", "STRING"),
        "BINARY": SparkType("binary", "BINARY"),
        "LARGE_STRING": SparkType("string", "STRING", {lance_spark.LARGE_STRING: "true"}),
        "LARGE_BINARY": SparkType("binary", "BINARY", {lance_spark.LARGE_BINARY: "true"}),
        "DATE64": SparkType("date", "DATE", {lance_spark.DATE_MILLISECOND: "true"}),
    }

    def field(self, field: SchemaField) -> SparkField:
        """Return a column or member, with its metadata and comment."""
        lowered, type_ = self.lowered[field], self.type(field)
        metadata = type_.metadata
        comment: str | None = None
        if field.extra:
            metadata = {**metadata, **without_empty_metadata(lowered.metadata)}
            comment = field.extra.get(DESCRIPTION.key)
            if comment is not None:
                metadata[lance_spark.COMMENT] = comment
        return SparkField(lowered.arrow.name, type_, lowered.arrow.nullable, metadata, comment)

    def type_text(self, type_: SparkType) -> str:
        return str(type_.json)

    def arrow_name(self, arrow_type: Any) -> str:
        """Return Arrow's name; pyarrow calls 16 bits a half float."""
        return "float16" if arrow_type.id == pa.lib.Type_HALF_FLOAT else str(arrow_type)

    def refused(self, field: SchemaField) -> SparkType:
        """Return a type that Spark has nothing for."""
        message = f"Spark has no type for {field.type.type_text()} ({field.path_text})"
        help = Help.leave_out("Spark", builtin.TARGETS_OF.key, "spark")
        self.emission.findings.at_type(field, SPARK_TYPE, message, help=help)
        return SparkType("void", "VOID")

    def type(self, field: SchemaField) -> SparkType:
        """Return the type of a field, with what an attribute or an extension type makes of it."""
        arrow_type: Any = self.lowered[field].arrow.type
        word = spark.TYPE.read(field.extra)
        if word is None and has_role(field.extra, Role.BLOB):
            is_typed = arrow_type.id == pa.lib.Type_STRUCT
            mark = {EXTENSION_NAME: lance_spark.BLOB_EXTENSION} if is_typed else {lance_spark.BLOB: "true"}
            return SparkType("binary", "BINARY", mark)
        type_ = super().type(field)
        if isinstance(arrow_type, pa.BaseExtensionType):
            mark = without_empty_metadata(registered_extension_metadata(arrow_type))
            if arrow_type.extension_name == "arrow.json" and field.parent is not None:
                # Lance gives JSON back with large offsets, and below the top the connector reads it as it was marked.
                mark[lance_spark.LARGE_STRING] = "true"
            type_ = replace(type_, metadata={**type_.metadata, **mark})
        if word is None:
            return type_
        if word == "variant":
            self.lose(field, "a VARIANT", "nothing: lance-spark refuses it", artifact=DDL_FILE)
        return replace(type_, json=word, ddl=word.upper())

    def decimal(self, field: SchemaField, arrow_type: Any) -> SparkType:
        precision, scale = arrow_type.precision, arrow_type.scale
        if not 0 <= scale <= precision:
            rule = "at most the precision" if scale > precision else "zero or more"
            message = f"in Spark the scale of {field.path_text} has to be {rule}, not {scale}"
            help = "change the scale, or leave Spark out with `schemac.dev/targets`"
            self.emission.findings.at_type(field, SPARK_TYPE, message, "scale", help=help)
        if precision > MOST_DIGITS:
            self.lose(field, f"decimal({precision}, {scale})", "string")
            return SparkType("string", "STRING")
        if arrow_type.bit_width != 128:
            self.lose(field, f"decimal of {arrow_type.bit_width} bits", "decimal of 128 bits")
        return SparkType(f"decimal({precision},{scale})", f"DECIMAL({precision},{scale})")

    def timestamp(self, field: SchemaField, arrow_type: Any) -> SparkType:
        if arrow_type.unit != "us":
            self.lose(field, f"timestamp in {arrow_type.unit}", "timestamp in us")
        zone = arrow_type.tz
        if zone is None:
            return SparkType("timestamp_ntz", "TIMESTAMP_NTZ")
        if zone != "UTC":
            self.lose(field, f"the zone {zone}", "the zone of the session")
        return SparkType("timestamp", "TIMESTAMP")

    def time(self, field: SchemaField, arrow_type: Any) -> SparkType:
        precision = {"s": 0, "ms": 3, "us": 6, "ns": 6}[arrow_type.unit]
        if arrow_type.unit == "ns":
            self.lose(field, "time in ns", "time(6)")
        return SparkType(f"time({precision})", f"TIME({precision})")

    def duration(self, field: SchemaField, arrow_type: Any) -> SparkType:
        if arrow_type.unit != "us":
            self.lose(field, f"duration in {arrow_type.unit}", "interval in us")
        return SparkType("interval day to second", "INTERVAL DAY TO SECOND")

    def fixed_size_binary(self, _field: SchemaField, arrow_type: Any) -> SparkType:
        return SparkType("binary", "BINARY", {lance_spark.BYTE_WIDTH: arrow_type.byte_width})

    def struct(self, field: SchemaField) -> SparkType:
        members = [self.field(child) for child in field.children]
        inner = ", ".join(member.ddl(": ") for member in members)
        return SparkType(struct_type(members), f"STRUCT<{inner}>")

    def list(self, field: SchemaField) -> SparkType:
        arrow_type, metadata = self.arrow_type(field), Json()
        if arrow_type.id == pa.lib.Type_FIXED_SIZE_LIST:
            metadata[lance_spark.VECTOR_SIZE] = arrow_type.list_size
        elif arrow_type.id == pa.lib.Type_LARGE_LIST:
            metadata[lance_spark.LARGE_LIST] = "true"
        elif arrow_type.id != pa.lib.Type_LIST:
            self.lose(field, "a list of views", "a list")
        (child,) = field.children
        lowered, is_brain = self.lowered[child], has_role(field.extra, Role.BRAIN_FLOATS)
        if is_brain:
            self.lose(field, "bfloat16 values", "float")
        elif lance_spark.VECTOR_SIZE in metadata and arrow_type.value_type.id == pa.lib.Type_HALF_FLOAT:
            metadata[lance_spark.FLOAT16] = "true"
        if is_brain or lance_spark.FLOAT16 in metadata:
            # The metadata of the vector marks its items.
            float_, marks = SparkType("float", "FLOAT"), without_empty_metadata(lowered.metadata)
            item = SparkField("element", float_, child.is_nullable, marks, None)
        else:
            item = self.field(child)
        if lowered.arrow.name != "item":
            metadata[lance_spark.CHILD_NAME] = lowered.arrow.name
        json = {"containsNull": item.is_nullable, "elementType": item.type.json, "type": "array"}
        quoted, quotations = self.child_metadata(field, lance_spark.ITEM_KEYS, [item])
        return SparkType(json, f"ARRAY<{item.type.ddl}>", {**metadata, **quoted}, quotations)

    def map(self, field: SchemaField) -> SparkType:
        if self.arrow_type(field).keys_sorted:
            self.lose(field, "a map with sorted keys", "a map")
        key, value = map(self.field, field.children)
        if (key.name, value.name) != ("key", "value"):
            self.lose(field, f"the names {key.name} and {value.name}", "key and value")
        json = {
            "keyType": key.type.json,
            "type": "map",
            "valueContainsNull": value.is_nullable,
            "valueType": value.type.json,
        }
        quoted, quotations = self.child_metadata(field, lance_spark.ENTRY_KEYS, [key, value])
        return SparkType(json, f"MAP<{key.type.ddl}, {value.type.ddl}>", quoted, quotations)

    def child_metadata(
        self, field: SchemaField, keys: Sequence[str], children: Sequence[SparkField]
    ) -> tuple[Json, int]:
        """Return the metadata of items, keys and values as entries of the field's own, and how deep it is quoted.

        Parts of lists and maps have no metadata in Spark; lance-spark looks for theirs in the field's own.
        """
        marked = {key: child for key, child in zip(keys, children, strict=True) if child.metadata}
        quotations = max([1 + child.type.quotations for child in marked.values()], default=0)
        deepest = max(child.type.quotations for child in children)
        if deepest > MOST_QUOTATIONS:
            return {}, deepest  # which was reported where it was too deep first
        if quotations > MOST_QUOTATIONS:
            most = f"in at most {MOST_QUOTATIONS} lists and maps inside each other"
            message = f"Spark keeps attributes and lengths of items {most} ({field.path_text})"
            help = "put a struct between them, or leave Spark out with `schemac.dev/targets`"
            self.emission.findings.at_type(field, SPARK_TYPE, message, help=help)
            return {}, quotations
        return {key: compact(child.metadata) for key, child in marked.items()}, quotations


def types(compilation: Compilation, emission: Emission) -> dict[SchemaField, str]:
    """Return Spark's types as its SQL writes them."""
    writer = _Writer(emission, compilation.lowered)
    return {
        field: writer.type(field).ddl + ("" if field.is_nullable else " NOT NULL") for field in writer.lowered
    }


TARGET = ArtifactTarget("spark", SPARK_LOSS, emit, interop=report_connector, types=types)
