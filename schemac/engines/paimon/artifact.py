"""Paimon: the file that holds a table's schema.

Layer: engines.
Shape: `paimon/schema-<N>`, one a locked version, byte for byte as Paimon's Java writes it, but for the order of the options.
Errors: SC561 to SC568; warning SC570; losses SC576.
Source: github.com/apache/paimon, `SchemaSerializer`, `ArrowFieldTypeConversion`; the types of pypaimon 2.1.0.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.artifacts.type_writer import ArrowTypeWriter, is_lost, is_variant, type_id
from schemac.engines.paimon import PAIMON_LEFT_OUT, PAIMON_LOSS, PAIMON_TYPE, table_schema
from schemac.engines.paimon import attributes as paimon
from schemac.engines.paimon.limits import PaimonLimits
from schemac.engines.paimon.options import read_table
from schemac.engines.paimon.types import (
    BYTES,
    STRING,
    VECTOR_ELEMENTS,
    DataField,
    PaimonType,
    nested_types,
    parse_type,
)
from schemac.language.attributes import builtin
from schemac.language.attributes.attribute import Family, Role
from schemac.language.attributes.registry import has_role
from schemac.language.kinds.plain import Int32
from schemac.language.kinds.temporal import FRACTION_DIGITS
from schemac.language.logical.model import SchemaField
from schemac.language.physical import LoweredSchema, pa
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import MalformedDocumentError
from schemac.text.source.phrases import Help
from schemac.versions.identity.compilation import Compilation


def to_table_schema(
    compilation: Compilation,
    emission: Emission,
    *,
    ids: Mapping[SchemaField, int] = MappingProxyType({}),
    highest: int = -1,
    schema_id: int = 0,
    time_millis: int = 0,
) -> table_schema.TableSchema:
    """Return the schema as Paimon has it; not to be used where the emission found an error.

    `ids` are the known ones, and `highest` is the highest that a field ever had. Columns and members without an id are numbered as
    Paimon numbers them.
    """
    columns, extra = compilation.dataset.columns, compilation.dataset.schema.extra
    field_ids, highest = table_schema.number_fields(columns, ids, max([highest, *ids.values()]))
    writer = _Writer(compilation.lowered, emission, field_ids)
    fields = [writer.member(column) for column in columns]
    for key in sorted(extra):
        # The description is the comment, unless an attribute is.
        is_comment = key == builtin.DESCRIPTION.key and paimon.COMMENT.key not in extra
        if key != builtin.TARGETS_OF.key and not is_comment and is_lost(key):
            emission.lose(None, f"the attribute {key}", "nothing")
    table = read_table(extra)
    for place, field in enumerate(fields) if table.is_set("primary-key.nullable") else ():
        # Paimon makes the columns of the key nullable by this option.
        if field.name in table.primary_names and not field.type.is_nullable:
            emission.lose(columns[place], "a value that may not be null", "one that may")
            fields[place] = field._replace(type=field.type.required(False))
    PaimonLimits(columns, fields, table, emission).check()
    comment = (paimon.COMMENT if paimon.COMMENT.key in extra else builtin.DESCRIPTION).read(extra)
    version = table_schema.FIRST_VERSION if table.is_of_first_version else table_schema.VERSION
    settings = (table.partition_names, table.primary_names, table.options, comment)
    return table_schema.TableSchema(schema_id, tuple(fields), highest, *settings, time_millis, version)


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the schema files of the table: one a locked version, or its first."""
    made = [_artifact(compilation, emission)]
    for past in compilation.past():
        # What an old version could not be is no finding about the new one.
        past_report = Report()
        silent = Emission(past.dataset, TARGET.name, PAIMON_LOSS, past_report)
        artifact = _artifact(past, silent)
        if not past_report.has_errors:
            made.append(artifact)
    return made


def compiled_table_schema(compilation: Compilation, emission: Emission) -> table_schema.TableSchema:
    """Return the schema with the ids of its lock, and the time of an imported version; not to be used where the emission found an error."""
    version = compilation.version
    if version is None:
        return to_table_schema(compilation, emission)
    data, highest = version.data.of(table_schema.NAME), version.highest.of(table_schema.NAME)
    ids, made = table_schema.ids_of(compilation.numbers or {}), data.get("timeMillis", 0)
    table = to_table_schema(
        compilation, emission, ids=ids, highest=highest, schema_id=data["schemaId"], time_millis=made
    )
    record = compilation.table_record
    return table if record is None else table.of_version(record)


def _artifact(compilation: Compilation, emission: Emission) -> Artifact:
    """Return the file of a version's schema, named by its schema id."""
    table = compiled_table_schema(compilation, emission)
    return Artifact(f"paimon/schema-{table.schema_id}", table.to_text().encode())


class _Writer(ArrowTypeWriter[PaimonType]):
    """Finds Paimon's type for each field."""

    plain_types: Mapping[str, PaimonType] = {
        "BOOL": PaimonType("BOOLEAN"),
        "INT8": PaimonType("TINYINT"),
        "INT16": PaimonType("SMALLINT"),
        "INT32": PaimonType("INT"),
        "INT64": PaimonType("BIGINT"),
        "FLOAT": PaimonType("FLOAT"),
        "DOUBLE": PaimonType("DOUBLE"),
        "DATE32": PaimonType("DATE"),
        "STRING": STRING,
        "BINARY": BYTES,
    }

    def __init__(self, lowered: LoweredSchema, emission: Emission, ids: Mapping[SchemaField, int]) -> None:
        super().__init__(emission, lowered)
        self.ids = ids

    def member(self, field: SchemaField) -> DataField:
        """Return a column, or a member of a ROW."""
        texts = (field.extra.get(key) for key in (builtin.DESCRIPTION.key, paimon.DEFAULT_VALUE.key))
        return DataField(self.ids[field], str(field.segment), self.field(field), *texts)

    def field(self, field: SchemaField) -> PaimonType:
        """Return the type at any place, with its nullability."""
        type_ = self.type(field)
        self.lose_attributes(field)
        return type_ if field.is_nullable else type_.required()

    def type_text(self, type_: PaimonType) -> str:
        return type_.type_text()

    def refused(self, field: SchemaField) -> PaimonType:
        """Report a kind that Paimon has no type for; return a type that is never written."""
        help = Help.leave_out("Paimon", builtin.TARGETS_OF.key, "paimon")
        if field.type.family is Family.NULL:
            help = "leave the field out until it has a type"
        elif field.type.family is Family.DURATION:
            help = Help.retype("type", "Int64", reason=" and give the unit with `schemac.dev/unit`")
        message = f"Paimon has no type for {field.type.type_text()}"
        self.emission.findings.at_type(field, PAIMON_TYPE, message, help=help)
        return BYTES

    def type(self, field: SchemaField) -> PaimonType:
        """Return the type that the attributes of a field name, or else that of its storage."""
        word = paimon.TYPE.read(field.extra)
        if word is not None:
            return self.named_type(field, word)
        if has_role(field.extra, Role.BLOB):
            self.lose(field, "a blob", "BYTES; `paimon.apache.org/type: BLOB` would keep it")
            return BYTES
        return self.without_extension(field)

    def decimal(self, field: SchemaField, arrow_type: Any) -> PaimonType:
        if not self.holds_decimal(field, arrow_type, "a DECIMAL in Paimon", "Paimon", PAIMON_TYPE):
            return BYTES
        return PaimonType("DECIMAL", (arrow_type.precision, arrow_type.scale))

    def timestamp(self, field: SchemaField, arrow_type: Any) -> PaimonType:
        if arrow_type.tz is None:
            return PaimonType("TIMESTAMP", (FRACTION_DIGITS[arrow_type.unit],))
        if arrow_type.tz != "UTC":
            self.lose(field, f"the zone {arrow_type.tz}", "UTC")
        return PaimonType("TIMESTAMP_LTZ", (FRACTION_DIGITS[arrow_type.unit],))

    def time(self, field: SchemaField, arrow_type: Any) -> PaimonType:
        digits = FRACTION_DIGITS[arrow_type.unit]
        if digits > 3:
            self.lose(field, f"time in {arrow_type.unit}", "time in ms, regardless of the p in TIME(p)")
        return PaimonType("TIME", (digits,))

    def fixed_size_binary(self, _field: SchemaField, arrow_type: Any) -> PaimonType:
        return PaimonType("BINARY", (arrow_type.byte_width,))

    def struct(self, field: SchemaField) -> PaimonType:
        return PaimonType("ROW", fields=tuple([self.member(child) for child in field.children]))

    def list(self, field: SchemaField) -> PaimonType:
        self.lose_list_form(field, "ARRAY")
        self.lose_child_names(field)
        (item,) = field.children
        length = getattr(field.type, "fixed_length", None)
        if has_role(field.extra, Role.BRAIN_FLOATS):
            self.lose(field, "bfloat16 values", "FLOAT")
            element = PaimonType("FLOAT").required(not item.is_nullable)
        else:
            element = self.field(item)
        if length is not None and element.root in VECTOR_ELEMENTS:
            return PaimonType("VECTOR", (length,), (element,))
        if length is not None:
            self.lose(field, f"a fixed length of {length}", "ARRAY")
        return PaimonType("ARRAY", parts=(element,))

    def map(self, field: SchemaField) -> PaimonType:
        if self.arrow_type(field).keys_sorted:
            self.lose(field, "a map with sorted keys", "MAP")
        self.lose_child_names(field)
        return PaimonType("MAP", parts=(self.key(field), self.field(field.children[1])))

    def key(self, field: SchemaField) -> PaimonType:
        """Return a map's key, NOT NULL unless an attribute says otherwise."""
        is_nullable = field.extra.get(paimon.NULLABLE_KEY.key) is True
        return self.field(field.children[0]).required(not is_nullable)

    def named_type(self, field: SchemaField, word: str) -> PaimonType:
        """Return the type that the attribute names, if it goes with the kind."""
        root = word.partition("(")[0]
        families, problem, help = _WORDS[root]
        if field.type.family not in families:
            message = f"{word} is {problem}, and {field.path_text} is {field.type.type_text()}"
            return self.refuse_word(field, message, help)
        if root == "MULTISET":
            return self.multiset(field)
        if root == "VECTOR":
            return self.named_vector(field)
        if root == "ARRAY":
            # Whatever its length: what releases without a VECTOR can store.
            type_ = self.list(field)
            if type_.root == "VECTOR":
                self.lose(field, f"a fixed length of {type_.parameters[0]}", "ARRAY")
            return PaimonType("ARRAY", parts=type_.parts)
        if root == "VARIANT" and field.type.family is Family.STRUCT and not is_variant(field):
            help = "give it the members `value` and `metadata`, both Binary and without Option"
            return self.refuse_word(field, f"{field.path_text} does not have the members of a VARIANT", help)
        try:
            type_ = parse_type(word)
        except MalformedDocumentError as error:
            return self.refuse_word(field, str(error).partition(": ")[2], "write a smaller number")
        return self.named_leaf(field, type_)

    def named_leaf(self, field: SchemaField, type_: PaimonType) -> PaimonType:
        """Return a leaf type from its text, after comparing it with the field."""
        length = getattr(field.type, "fixed_length", None)
        is_local = getattr(field.type, "timezone", None) is not None
        if field.type.family is Family.TIMESTAMP and is_local != (type_.root == "TIMESTAMP_LTZ"):
            right = f"TIMESTAMP{'_LTZ' if is_local else ''}({type_.parameters[0]})"
            has = "a zone" if is_local else "no zone"
            message = f"{field.path_text} has {has}, so it cannot be {type_.type_text()}"
            return self.refuse_word(field, message, Help.write_text(right, is_safe=False))
        if length is not None and type_.root == "BINARY" and type_.parameters != (length,):
            message = f"{field.path_text} has {length} bytes, so it cannot be {type_.type_text()}"
            return self.refuse_word(field, message, Help.remove(f": the length makes a BINARY({length})"))
        arrow_type: Any = self.lowered[field].arrow.type
        if type_.root in ("TIME", "TIMESTAMP", "TIMESTAMP_LTZ"):
            # Whatever its precision says, a TIME is stored in milliseconds; moments in the unit that holds the digits.
            stored = 3 if type_.root == "TIME" else -(-type_.parameters[0] // 3) * 3
            if stored < FRACTION_DIGITS[arrow_type.unit]:
                self.lose(field, f"{field.type.kind.lower()} in {arrow_type.unit}", type_.type_text())
            if getattr(arrow_type, "tz", None) not in (None, "UTC"):
                self.lose(field, f"the zone {arrow_type.tz}", "UTC")
        elif pa.types.is_dictionary(arrow_type):
            lost = f"a dictionary with {arrow_type.index_type} indices"
            self.lose(field, lost, type_.type_text())
        elif self.wider(type_id(arrow_type)) is not None:
            self.lose(field, str(arrow_type), type_.type_text())
        return type_

    def multiset(self, field: SchemaField) -> PaimonType:
        """Return the MULTISET of a map's keys; refuse values that are not Int32."""
        value = field.children[1]
        if value.type.kind != Int32.__name__ or value.is_nullable:
            values = f"Option<{value.type.type_text()}>" if value.is_nullable else value.type.type_text()
            message = f"the counts of a MULTISET are Int32, but the values of {field.path_text} are {values}"
            return self.refuse_word(field, message, Help.retype("valueType", "Int32"))
        self.lose_child_names(field)
        return PaimonType("MULTISET", parts=(self.key(field),))

    def named_vector(self, field: SchemaField) -> PaimonType:
        """Return the VECTOR of a list; refuse one without a length, or with items that no VECTOR has."""
        if getattr(field.type, "fixed_length", None) is None:
            message = f"{field.path_text} has no length, so it cannot be a VECTOR"
            return self.refuse_word(field, message, "add `fixedLength`")
        type_ = self.list(field)
        if type_.root == "VECTOR":
            return type_
        message = f"a VECTOR cannot have elements of type {type_.children[0].type_text()}"
        help = Help.remove_attribute("make the items numbers, or remove the attribute", paimon.TYPE.key)
        return self.refuse_word(field, message, help)

    def refuse_word(self, field: SchemaField, message: str, help: str) -> PaimonType:
        self.emission.findings.at_extra(field, paimon.TYPE.key, PAIMON_TYPE, message, help=help)
        return BYTES


_WORDS: dict[str, tuple[tuple[Family, ...], str, str]] = {
    **dict.fromkeys(("CHAR", "VARCHAR"), ((Family.TEXT,), "a text", Help.retype("type", "String"))),
    **dict.fromkeys(
        ("BINARY", "VARBINARY", "BLOB"), ((Family.BYTES,), "made of bytes", Help.retype("type", "Binary"))
    ),
    "TIME": ((Family.TIME,), "a time of day", Help.retype("type", "Time")),
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMP_LTZ"),
        ((Family.TIMESTAMP,), "a point in time", Help.retype("type", "Timestamp")),
    ),
    "VARIANT": (
        (Family.TEXT, Family.STRUCT),
        "a document",
        "write `type: String`, or a Struct of `value` and `metadata`",
    ),
    "MULTISET": (
        (Family.MAP,),
        "a map of elements to counts",
        "write `{kind: Map, keyType: …, valueType: Int32}`",
    ),
    "ARRAY": ((Family.LIST,), "a list", "write `{kind: List, itemType: …}`"),
    "VECTOR": ((Family.LIST,), "a list", "write `{kind: List, itemType: Float32, fixedLength: …}`"),
}
"""Families of kinds that a word goes with, what it is, and what to write instead, by root."""


def types(compilation: Compilation, emission: Emission) -> dict[SchemaField, str]:
    """Return Paimon's types as its SQL writes them; not inside a type that Paimon has another one for."""
    columns = [column.type for column in to_table_schema(compilation, emission).fields]
    types = nested_types(compilation.dataset.columns, columns)
    return {field: type_.full_type_text() for field, type_ in types}


TARGET = ArtifactTarget("paimon", PAIMON_LOSS, emit, left_out_code=PAIMON_LEFT_OUT, types=types)
