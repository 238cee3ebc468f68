"""Iceberg's type for each lowered field.

Layer: engines.
Shape: what Iceberg cannot hold is a finding at the field; what it has something else for is a loss.
Errors: SC581, SC584.
Source: the Iceberg table specification; pyiceberg 0.12's conversion of Arrow schemas.
"""

from collections.abc import Callable, Mapping
from typing import Any

from schemac.artifacts.emission import Emission
from schemac.attributes import arrow, odf, own
from schemac.attributes.attribute import Role
from schemac.attributes.family import Family
from schemac.attributes.registry import DOMAINS, domain_of, has_role
from schemac.engines.iceberg import attributes
from schemac.engines.iceberg.defaults import complaint
from schemac.engines.iceberg.types import (
    FORMAT_3,
    MOST_DIGITS,
    Decimal,
    Fixed,
    IcebergType,
    List,
    Map,
    NestedField,
    Primitive,
    Struct,
)
from schemac.kinds.sequences import Binary
from schemac.logical.slots import Slot
from schemac.physical.arrow import pa
from schemac.physical.field import LoweredField, LoweredSchema
from schemac.source.catalogue import ICEBERG_DEFAULT, ICEBERG_TYPE

_KEPT = frozenset({odf.DESCRIPTION.key, own.RENAMED_FROM.key})
OTHER_ENGINES = frozenset(DOMAINS) - {odf.DOMAIN, own.DOMAIN} | {attributes.DOMAIN}
"""Domains whose attributes speak to an engine, so that nothing is lost where another does without them."""
_ONLY_FORMAT_3 = f"write `{attributes.FORMAT_VERSION.key}: 3` under the `extra:` of the schema"
STRING, BINARY = Primitive("string"), Primitive("binary")


def to_columns(
    lowered: LoweredSchema, emission: Emission, ids: Mapping[Slot, int], format_version: int
) -> tuple[NestedField, ...]:
    """Return the columns of a table of this format; not to be used where the emission found an error."""
    writer = _Writer(emission, ids, format_version)
    return tuple([writer.field(top) for top in lowered.fields])


class _Writer:
    """Finds Iceberg's type for each lowered field."""

    def __init__(self, emission: Emission, ids: Mapping[Slot, int], format_version: int) -> None:
        self.emission = emission
        self.ids = ids
        self.format_version = format_version
        types = pa.lib
        self.plain: dict[int, IcebergType] = {
            types.Type_BOOL: Primitive("boolean"),
            types.Type_INT32: Primitive("int"),
            types.Type_INT64: Primitive("long"),
            types.Type_FLOAT: Primitive("float"),
            types.Type_DOUBLE: Primitive("double"),
            types.Type_DATE32: Primitive("date"),
            types.Type_STRING: STRING,
            types.Type_BINARY: BINARY,
        }
        self.widened: dict[int, IcebergType] = {
            **dict.fromkeys(
                (types.Type_INT8, types.Type_INT16, types.Type_UINT8, types.Type_UINT16), Primitive("int")
            ),
            types.Type_UINT32: Primitive("long"),
            types.Type_UINT64: Decimal(20, 0),
            types.Type_HALF_FLOAT: Primitive("float"),
            types.Type_DATE64: Primitive("date"),
            types.Type_LARGE_STRING: STRING,
            types.Type_STRING_VIEW: STRING,
            types.Type_LARGE_BINARY: BINARY,
            types.Type_BINARY_VIEW: BINARY,
        }
        self.with_parameters: dict[int, Callable[[LoweredField, Any], IcebergType]] = {
            **dict.fromkeys(
                (types.Type_DECIMAL32, types.Type_DECIMAL64, types.Type_DECIMAL128, types.Type_DECIMAL256),
                self.decimal,
            ),
            types.Type_NA: self.unknown,
            types.Type_TIMESTAMP: self.timestamp,
            types.Type_TIME32: self.time,
            types.Type_TIME64: self.time,
            types.Type_FIXED_SIZE_BINARY: self.fixed,
            types.Type_STRUCT: self.struct,
            types.Type_LIST: self.list,
            types.Type_LARGE_LIST: self.list,
            types.Type_LIST_VIEW: self.list,
            types.Type_LARGE_LIST_VIEW: self.list,
            types.Type_FIXED_SIZE_LIST: self.list,
            types.Type_MAP: self.map,
            types.Type_DICTIONARY: self.dictionary,
        }

    def field(self, lowered: LoweredField, name: str | None = None) -> NestedField:
        """Return a column or member; with a name, an element, a key or a value."""
        slot: Slot = lowered.slot
        arrow_type = lowered.arrow.type
        type_ = self.special(lowered) if slot.extra else self.type(lowered, arrow_type)
        if slot.extra:
            self.lose_attributes(slot)
        return NestedField(
            self.ids[slot],
            lowered.arrow.name if name is None else name,
            type_,
            not lowered.arrow.nullable,
            slot.extra.get(odf.DESCRIPTION.key) if slot.is_member else None,
            self.default(slot, type_, attributes.INITIAL_DEFAULT.key),
            self.default(slot, type_, attributes.WRITE_DEFAULT.key),
        )

    def type(self, lowered: LoweredField, arrow_type: Any) -> IcebergType:
        """Return the type that stands for one of Arrow's."""
        id = arrow_type.id
        plain = self.plain.get(id)
        if plain is not None:
            return plain
        widened = self.widened.get(id)
        if widened is not None:
            self.lose(lowered, str(arrow_type), widened.title())
            return widened
        build = self.with_parameters.get(id)
        if build is not None:
            return build(lowered, arrow_type)
        slot: Slot = lowered.slot
        help = (
            "write `type: Int64` and tell the unit with `schemac.dev/unit`"
            if slot.type.family is Family.DURATION
            else "leave Iceberg out with `schemac.dev/targets`"
        )
        return self.refused(slot, f"Iceberg has no type for {slot.type.title()}", help)

    def special(self, lowered: LoweredField) -> IcebergType:
        """Return the type of a field with attributes."""
        slot: Slot = lowered.slot
        extra, arrow_type = slot.extra, lowered.arrow.type
        word = attributes.TYPE.read(extra)
        if word is not None:
            return self.worded(lowered, word)
        if has_role(extra, Role.BLOB):
            self.lose(lowered, "a blob", "binary")
            return BINARY
        storage = arrow_type.storage_type if isinstance(arrow_type, pa.BaseExtensionType) else arrow_type
        extension = arrow.EXTENSION_TYPE.read(extra)
        if extension is not None and extension.name == "arrow.uuid":
            return Primitive("uuid")
        type_ = self.type(lowered, storage)
        if has_role(extra, Role.JSON):
            self.lose(lowered, "JSON", type_.title())
        elif extension is not None:
            self.lose(lowered, f"the extension type {extension.name}", type_.title())
        return type_

    def worded(self, lowered: LoweredField, word: str) -> IcebergType:
        """Return the type that the attribute names, if it goes with the field and the format."""
        slot: Slot = lowered.slot
        family, length = slot.type.family, getattr(slot.type, "fixed_length", None)
        root = word.partition("(")[0]
        if root == "uuid" and (family, length) != (Family.BYTES, 16):
            help = "write `type: {kind: Binary, fixedLength: 16}`"
            return self.refused_word(
                slot, f"a uuid has 16 bytes, and {slot.title} is {slot.type.title()}", help
            )
        if root == "variant" and not (family is Family.TEXT or _is_variant(slot)):
            help = (
                "write `type: String`, or a Struct of `value` and `metadata`, both Binary and without Option"
            )
            return self.refused_word(
                slot, f"{slot.title} is {slot.type.title()}, which holds no variant", help
            )
        if root in ("geometry", "geography") and (family, length) != (Family.BYTES, None):
            help = "write `type: Binary`, which holds the shape as WKB"
            return self.refused_word(
                slot, f"a {root} is bytes, and {slot.title} is {slot.type.title()}", help
            )
        if root != "uuid" and self.format_version < FORMAT_3:
            return self.refused_word(
                slot, f"only format 3 has the type {root} ({slot.title})", _ONLY_FORMAT_3
            )
        return Primitive(word)

    def decimal(self, lowered: LoweredField, arrow_type: Any) -> IcebergType:
        slot, precision, scale = lowered.slot, arrow_type.precision, arrow_type.scale
        reason, property = "", "scale"
        if precision > MOST_DIGITS:
            reason, property = f"at most {MOST_DIGITS} digits, not {precision}", "precision"
        elif not 0 <= scale <= precision:
            rule = "at most the precision" if scale > precision else "zero or more"
            reason = f"a scale of {rule}, not {scale}"
        if reason:
            message = f"a decimal of Iceberg has {reason} ({slot.title})"
            help = f"change the {property}, or leave Iceberg out with `schemac.dev/targets`"
            self.emission.findings.at_type(slot, ICEBERG_TYPE, message, property, help=help)
            return BINARY
        if arrow_type.bit_width != 128:
            self.lose(lowered, f"decimal of {arrow_type.bit_width} bits", "decimal of 128 bits")
        return Decimal(precision, scale)

    def unknown(self, lowered: LoweredField, arrow_type: Any) -> IcebergType:
        if self.format_version >= FORMAT_3:
            return Primitive("unknown")
        message = f"only format 3 has a type for what is always null ({lowered.slot.title})"
        return self.refused(lowered.slot, message, _ONLY_FORMAT_3)

    def timestamp(self, lowered: LoweredField, arrow_type: Any) -> IcebergType:
        word = "timestamp" if arrow_type.tz is None else "timestamptz"
        if arrow_type.unit == "ns" and self.format_version >= FORMAT_3:
            word = f"{word}_ns"
        elif arrow_type.unit != "us":
            hint = "; format 3 would keep it" if arrow_type.unit == "ns" else ""
            self.lose(lowered, f"timestamp in {arrow_type.unit}", f"{word} in us{hint}")
        if arrow_type.tz not in (None, "UTC"):
            self.lose(lowered, f"the zone {arrow_type.tz}", "UTC")
        return Primitive(word)

    def time(self, lowered: LoweredField, arrow_type: Any) -> IcebergType:
        if arrow_type.unit != "us":
            self.lose(lowered, f"time in {arrow_type.unit}", "time in us")
        return Primitive("time")

    def fixed(self, lowered: LoweredField, arrow_type: Any) -> IcebergType:
        return Fixed(arrow_type.byte_width)

    def dictionary(self, lowered: LoweredField, arrow_type: Any) -> IcebergType:
        self.lose(lowered, f"a dictionary with {arrow_type.index_type} indices", str(arrow_type.value_type))
        return self.type(lowered, arrow_type.value_type)

    def struct(self, lowered: LoweredField, arrow_type: Any) -> IcebergType:
        if not lowered.children:
            message = f"{lowered.slot.title} has no members, and data files of Iceberg cannot hold that"
            return self.refused(lowered.slot, message, "leave it out until it has one")
        return Struct(tuple([self.field(child) for child in lowered.children]))

    def list(self, lowered: LoweredField, arrow_type: Any) -> IcebergType:
        other = {
            pa.lib.Type_LARGE_LIST: "a list with large offsets",
            pa.lib.Type_LIST_VIEW: "a list of views",
            pa.lib.Type_LARGE_LIST_VIEW: "a list of large views",
        }.get(arrow_type.id)
        if arrow_type.id == pa.lib.Type_FIXED_SIZE_LIST:
            other = f"a fixed length of {arrow_type.list_size}"
        if other is not None:
            self.lose(lowered, other, "list")
        self.lose_child_names(lowered)
        (item,) = lowered.children
        if not has_role(lowered.slot.extra, Role.BRAIN_FLOATS):
            return List(self.field(item, "element"))
        self.lose(lowered, "brain floats", "float")
        return List(NestedField(self.ids[item.slot], "element", Primitive("float"), not item.arrow.nullable))

    def map(self, lowered: LoweredField, arrow_type: Any) -> IcebergType:
        if arrow_type.keys_sorted:
            self.lose(lowered, "a map with sorted keys", "map")
        self.lose_child_names(lowered)
        key, value = lowered.children
        return Map(self.field(key, "key"), self.field(value, "value"))

    def default(self, slot: Slot, type_: IcebergType, key: str) -> Any:
        """Return a default value; None where there is none, or it cannot be one."""
        if key not in slot.extra:
            return None
        value, findings = slot.extra[key], self.emission.findings
        if not slot.is_member:
            message = f"{slot.title} is a part of a list or map, which has no default value"
            findings.at_extra(slot, key, ICEBERG_DEFAULT, message, on_key=True, help="remove it")
        elif self.format_version < FORMAT_3:
            message = f"only format 3 has default values ({slot.title})"
            findings.at_extra(slot, key, ICEBERG_DEFAULT, message, on_key=True, help=_ONLY_FORMAT_3)
        elif reason := complaint(type_, value):
            message = f"{slot.title} cannot have this default value: {reason}"
            findings.at_extra(slot, key, ICEBERG_DEFAULT, message)
        return value

    def refused(self, slot: Slot, message: str, help: str) -> IcebergType:
        self.emission.findings.at_type(slot, ICEBERG_TYPE, message, help=help)
        return BINARY

    def refused_word(self, slot: Slot, message: str, help: str) -> IcebergType:
        self.emission.findings.at_extra(slot, attributes.TYPE.key, ICEBERG_TYPE, message, help=help)
        return BINARY

    def lose(self, lowered: LoweredField, lost: str, becomes: str) -> None:
        self.emission.lose(lowered.slot, lost, becomes)

    def lose_child_names(self, lowered: LoweredField) -> None:
        names = [child.arrow.name for child in lowered.children]
        usual = [child.slot.segment.value for child in lowered.children]
        if names != usual:
            self.lose(lowered, f"the names {' and '.join(names)}", " and ".join(usual))

    def lose_attributes(self, slot: Slot) -> None:
        """Attributes that have no place in a schema."""
        for key in sorted(slot.extra):
            is_kept = key in _KEPT and slot.is_member
            if not is_kept and (key in _KEPT or is_lost(key)):
                self.emission.lose(slot, f"the attribute {key}", "nothing")


def is_lost(key: str) -> bool:
    """Whether an attribute speaks of the data, and not to an engine."""
    return domain_of(key) not in OTHER_ENGINES or key == arrow.METADATA.key


def _is_variant(slot: Slot) -> bool:
    """Whether a struct has the members of a variant."""
    members = [(child.segment, child.type.title(), child.is_nullable) for child in slot.children]
    return members == [("value", Binary.__name__, False), ("metadata", Binary.__name__, False)]
