"""Iceberg's type for each lowered field.

Layer: engines.
Shape: what Iceberg cannot hold is a finding at the field; what it has something else for is a loss.
Errors: SC581, SC584.
Source: the Iceberg table specification; pyiceberg 0.12's conversion of Arrow schemas.
"""

from collections.abc import Mapping
from typing import Any

from schemac.artifacts.targets import Emission
from schemac.artifacts.type_writer import ArrowTypeWriter, is_variant
from schemac.engines.iceberg import ICEBERG_DEFAULT, ICEBERG_TYPE, attributes
from schemac.engines.iceberg.types import FORMAT_3, IcebergType, NestedField, default_error
from schemac.language.attributes import builtin
from schemac.language.attributes.attribute import Family, Role
from schemac.language.attributes.registry import has_role
from schemac.language.logical.model import SchemaField
from schemac.language.physical import LoweredSchema
from schemac.text.source.phrases import Help

_AS_UUID: str = Help.retype("type", "{kind: Binary, fixedLength: 16}")
_AS_VARIANT = "write `type: String`, or a Struct of `value` and `metadata`, both Binary and without Option"
_AS_SHAPE: str = Help.retype("type", "Binary", reason=", which holds the shape as WKB")
_ONLY_FORMAT_3 = Help.add_to_schema(
    f"write `{attributes.FORMAT_VERSION.key}: 3` under the `extra:` of the schema",
    (),
    (attributes.FORMAT_VERSION.key, "3"),
)
BINARY = IcebergType("binary")


def to_columns(
    lowered: LoweredSchema, emission: Emission, ids: Mapping[SchemaField, int], format_version: int
) -> tuple[NestedField, ...]:
    """Return the columns of a table of this format; not to be used where the emission found an error."""
    writer = _Writer(lowered, emission, ids, format_version)
    return tuple([writer.field(top.field) for top in lowered.fields])


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
