"""Avro: the schema as JSON, with Avro's primitive types, names and default values.

Layer: engines.
Shape: `avro/schema.avsc`, a record with a field a column. A struct is a record, called as its field, in a namespace that is its path.
      Attributes of other domains are properties of the field or type, as Avro allows. The default of bytes is a text of code points up
      to 255.
Errors: SC591 avro-type, SC592 avro-name, SC593 avro-default; losses SC594.
Source: Avro 1.12, "Schema Declaration", "Names", "Logical Types", "Schema Resolution"; the table of default values in "Complex Types".
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from schemac.arrow.from_arrow import extension_of_kind
from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.artifacts.type_writer import TypeWriter
from schemac.engines.avro import AVRO_DEFAULT, AVRO_LOSS, AVRO_NAME, AVRO_TYPE
from schemac.engines.avro.attributes import ALIASES, DEFAULT, DOMAIN, NAMESPACE
from schemac.engines.json_values import own_tree
from schemac.language.attributes.attribute import Family
from schemac.language.attributes.builtin import DESCRIPTION, RENAMED_FROM
from schemac.language.attributes.registry import domain_of
from schemac.language.kinds.temporal import ARROW_UNITS
from schemac.language.logical.dataset import LogicalDataset, Other
from schemac.language.logical.model import LogicalType, SchemaField
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json, in_order
from schemac.versions.identity.compilation import Compilation


class PrimitiveType(NamedTuple):
    """A type of Avro without parts."""

    type: str
    logical: str = ""
    precision: int = 0
    scale: int = 0
    size: int = 0
    """Bytes of a `fixed`."""
    counts: str = ""
    """The unit that a number counts, where no logical type says it."""
    is_lossless: bool = True
    """Whether the manifest's type comes back from it."""

    @property
    def title(self) -> str:
        """The type as people write it."""
        if self.logical == "decimal":
            return f"decimal({self.precision}, {self.scale})"
        return self.logical or self.type


_PLAIN = {
    Family.BOOLEAN: PrimitiveType("boolean"),
    Family.TEXT: PrimitiveType("string"),
    Family.DATE: PrimitiveType("int", "date"),
    Family.NULL: PrimitiveType("null"),
}
_TIMES = {
    "s": PrimitiveType("int", "time-millis", is_lossless=False),
    "ms": PrimitiveType("int", "time-millis"),
    "us": PrimitiveType("long", "time-micros"),
    "ns": PrimitiveType("long", counts="ns", is_lossless=False),  # the specification has no time-nanos
}
_UNITS = {"s": "millis", "ms": "millis", "us": "micros", "ns": "nanos"}

_PROMOTIONS = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}


def leaf_of(declared: LogicalType) -> PrimitiveType | None:
    """Return Avro's type for a type without parts; None for one with parts, and for what Avro cannot hold."""
    type_: Any = declared
    match type_.family:
        case family if family in _PLAIN:
            return _PLAIN[family]
        case Family.INTEGER if type_.bits == 64 and not type_.is_signed:
            return PrimitiveType("bytes", "decimal", 20, is_lossless=False)
        case Family.INTEGER:
            needed = type_.bits if type_.is_signed else type_.bits + 1
            is_lossless = type_.is_signed and type_.bits in (32, 64)
            return PrimitiveType("int" if needed <= 32 else "long", is_lossless=is_lossless)
        case Family.FLOAT:
            return PrimitiveType("double" if type_.bits == 64 else "float", is_lossless=type_.bits >= 32)
        case Family.BYTES if type_.fixed_length is not None:
            return PrimitiveType("fixed", size=type_.fixed_length)
        case Family.BYTES:
            return PrimitiveType("bytes")
        case Family.DECIMAL if 0 <= type_.scale <= type_.precision:
            return PrimitiveType("bytes", "decimal", type_.precision, type_.scale)
        case Family.TIME:
            return _TIMES[ARROW_UNITS[type_.unit]]
        case Family.TIMESTAMP:
            unit = ARROW_UNITS[type_.unit]
            local = "local-" if type_.timezone is None else ""
            is_lossless = unit != "s" and type_.timezone in (None, "UTC")
            return PrimitiveType("long", f"{local}timestamp-{_UNITS[unit]}", is_lossless=is_lossless)
        case Family.DURATION:
            # Avro's `duration` counts months, days and milliseconds, which is something else.
            return PrimitiveType("long", counts=ARROW_UNITS[type_.unit], is_lossless=False)
    extension = extension_of_kind(declared)
    leaf = None if extension is None else leaf_of(extension.storage)
    return None if leaf is None else leaf._replace(is_lossless=False)


def is_readable(written: PrimitiveType, target: PrimitiveType) -> bool:
    """Whether schema resolution turns what was written into what is wanted, with the same meaning."""
    if (written.logical, written.scale, written.counts) != (target.logical, target.scale, target.counts):
        return False
    if written.type == target.type:
        return written.size == target.size
    return not written.logical and target.type in _PROMOTIONS.get(written.type, ())


_RANGES = {"int": 2**31, "long": 2**63}


def fits(value: Any, type_: Any) -> bool:
    """Whether a JSON value is a default value of an Avro type; of a union, of one of its branches."""
    if isinstance(type_, list):
        return any(fits(value, branch) for branch in type_)
    word = type_["type"] if isinstance(type_, Mapping) else type_
    match word:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "int" | "long":
            return type(value) is int and -_RANGES[word] <= value < _RANGES[word]
        case "float" | "double":
            return type(value) in (int, float)
        case "string":
            return isinstance(value, str)
        case "bytes":
            return isinstance(value, str) and all(ord(character) < 256 for character in value)
        case "fixed":
            return fits(value, "bytes") and len(value) == type_["size"]
        case "array":
            return isinstance(value, list) and all(fits(item, type_["items"]) for item in value)
        case "map":
            return isinstance(value, dict) and all(fits(item, type_["values"]) for item in value.values())
        case "record":
            return isinstance(value, dict) and all(
                fits(value[field["name"]], field["type"]) if field["name"] in value else "default" in field
                for field in type_["fields"]
            )
    return not isinstance(word, str) and fits(value, word)


def is_default(value: Any, dataset: LogicalDataset) -> bool:
    """Whether a JSON value is a default value of what the one column of a dataset becomes in Avro."""
    (field,) = dataset.columns
    return fits(value, _Writer(dataset, Emission(dataset, TARGET.name, AVRO_LOSS, Report())).union(field))


def valid(name: str) -> str:
    """Return the nearest name that Avro takes."""
    valid_name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return valid_name if valid_name and not valid_name[0].isdigit() else f"_{valid_name}"


def name_of(field: SchemaField) -> str:
    """Return the name of a field in Avro; that of a part is `item`, `key` or `value`."""
    return valid(field.segment if isinstance(field.segment, str) else field.segment.value)


TYPE = "schemac.dev/type"
"""The property for the type of the manifest."""


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the file with the JSON of the record."""
    document = _Writer(compilation.dataset, emission).record()
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return [Artifact("avro/schema.avsc", f"{text}\n".encode())]


def old_names(field: SchemaField) -> list[str]:
    """Return the aliases of a field: those that are declared, and the name that it was renamed from.

    A path that goes through the field's own struct ends in that name.
    """
    renamed = RENAMED_FROM.read(field.extra)
    if renamed is not None and field.parent is not None:
        renamed = renamed.removeprefix(f"{field.parent.path_text}.")
    names = [*(ALIASES.read(field.extra) or ()), *([valid(renamed)] if renamed is not None else ())]
    return [name for name in dict.fromkeys(names) if name != name_of(field)]


class _Writer(TypeWriter[Any]):
    """Writes the record of one dataset as JSON, and reports what Avro cannot hold."""

    def __init__(self, dataset: LogicalDataset, emission: Emission) -> None:
        super().__init__(emission)
        self._dataset = dataset
        self._name, self._namespace = valid(dataset.name), NAMESPACE.read(dataset.schema.extra)

    def record(self) -> Json:
        """Return the JSON of the record."""
        extra = self._dataset.schema.extra
        if self._name != self._dataset.name:
            self.lose(None, f"the name {self._dataset.name}", self._name)
        return {
            "type": "record",
            "name": self._name,
            **({"namespace": self._namespace} if self._namespace is not None else {}),
            **_doc(extra),
            "fields": self._fields(self._dataset.columns),
            **_properties(extra),
        }

    def _fields(self, fields: Sequence[SchemaField]) -> Sequence[Json]:
        """Return the JSON of columns or members; report two whose names are equal in Avro, and each name that changes."""
        fields_by_name: dict[str, SchemaField] = {}
        for field in fields:
            name = name_of(field)
            first = fields_by_name.setdefault(name, field)
            if first is not field:
                message = f"{field.path_text} and {first.path_text} are both called {name} in Avro"
                help = "a name of Avro has letters of ASCII, digits and underscores; rename one of them"
                other = Other(first, "the other one")
                self.emission.findings.at_name(field, AVRO_NAME, message, help=help, other=other)
            elif field.is_member and name != field.segment:
                self.lose(field, f"the name {field.segment}", name)
        return [self._field(field) for field in fields]

    def _field(self, field: SchemaField) -> Json:
        """Return the JSON of a record's field with its default and aliases; report a default that its type does not accept."""
        type_ = self.union(field)
        aliases = old_names(field)
        avro_field = {"name": name_of(field), **_doc(field.extra), "type": type_}
        if DEFAULT.key in field.extra:
            default = field.extra[DEFAULT.key]
            if not fits(default, type_):
                what = f"{json.dumps(default)} is not a valid {field.type.type_text()}"
                message = f"{field.path_text}: {what} in Avro's JSON"
                help = "binaries and decimals are texts of code points, dates and times are numbers"
                self.emission.findings.at_extra(field, DEFAULT.key, AVRO_DEFAULT, message, help=help)
            if isinstance(type_, list):
                # Releases before 1.12 need the branch that takes the default to be the first.
                type_ = sorted(type_, key=lambda branch: not fits(default, branch))
            avro_field |= {"type": type_, "default": default}
        elif field.is_nullable:
            avro_field["default"] = None
        if aliases:
            avro_field["aliases"] = aliases
        return {**avro_field, **_properties(field.extra)}

    def union(self, field: SchemaField) -> Any:
        """Return the type of a field; a union with null where it may be null."""
        type_ = self.type(field)
        more = _type_property(field) if type_ != "null" else {}
        if not field.is_member:
            if DEFAULT.key in field.extra or ALIASES.key in field.extra:
                self.lose(field, "a default value or aliases", "nothing: only fields have them")
            described = {key: field.extra[key] for key in (DESCRIPTION.key,) if key in field.extra}
            more = {**more, **described, **_properties(field.extra)}
        if more:
            type_ = {**(type_ if isinstance(type_, dict) else {"type": type_}), **more}
        return ["null", type_] if field.is_nullable and type_ != "null" else type_

    def struct(self, field: SchemaField) -> Json:
        """Return a record."""
        return {**self._named_type("record", field), "fields": self._fields(field.children)}

    def list(self, field: SchemaField) -> Json:
        """Return an array; a length is a loss."""
        if getattr(field.type, "fixed_length", None) is not None:
            self.lose(field, field.type.type_text(), "an array of any length")
        return {"type": "array", "items": self.union(field.children[0])}

    def leaf(self, field: SchemaField) -> Any:
        """Return a primitive or a logical type, or a `fixed`."""
        leaf = leaf_of(field.type)
        if leaf is None:
            return self.refused(field)
        if not leaf.is_lossless:
            self.lose(field, field.type.type_text(), leaf.title)
        if leaf.type == "fixed":
            return {**self._named_type("fixed", field), "size": leaf.size}
        if leaf.logical == "decimal":
            digits = {"precision": leaf.precision, "scale": leaf.scale}
            return {"type": "bytes", "logicalType": "decimal", **digits}
        return {"type": leaf.type, "logicalType": leaf.logical} if leaf.logical else leaf.type

    def refused(self, field: SchemaField) -> str:
        """Report a type that Avro lacks; return "null" for it."""
        help = "leave Avro out: name the other engines in `schemac.dev/targets` under the schema's `extra:`"
        if field.type.family is Family.DECIMAL:
            help = "write a Decimal with a scale from 0 to its precision, or leave Avro out of `schemac.dev/targets`"
        message = f"{field.path_text}: Avro cannot hold {field.type.type_text()}"
        self.emission.findings.at_type(field, AVRO_TYPE, message, help=help)
        return "null"

    def map(self, field: SchemaField) -> Json:
        """Return a map for keys of text, else an array of key-value records; report what is lost."""
        key, value = field.children
        if getattr(field.type, "keys_sorted", False):
            self.lose(field, "sorted keys", "keys in any order")
        if not _has_entries(field):
            if key.extra:
                self.lose(key, "the attributes of the key", "nothing")
            return {"type": "map", "values": self.union(value)}
        self.lose(field, field.type.type_text(), "an array of records with key and value")
        namespace = f"{self._namespace_of(field)}.{name_of(field)}"
        parts = [{"name": name_of(part), "type": self.union(part)} for part in (key, value)]
        entry = {"type": "record", "name": "item", "namespace": namespace, "fields": parts}
        return {"type": "array", "items": entry}

    def _named_type(self, type_: str, field: SchemaField) -> Json:
        """Return the type, name and namespace of a named type, with the old names of a member as aliases."""
        aliases = old_names(field) if field.is_member else []
        named = {"type": type_, "name": name_of(field), "namespace": self._namespace_of(field)}
        return {**named, **({"aliases": aliases} if aliases else {})}

    def _namespace_of(self, field: SchemaField) -> str:
        """Return the namespace of the types that are named by a field: the names of all that is around it."""
        above = field.parent
        if above is None:
            return self._name if self._namespace is None else f"{self._namespace}.{self._name}"
        entry = ".item" if _has_entries(above) else ""
        return f"{self._namespace_of(above)}.{name_of(above)}{entry}"


def _has_entries(field: SchemaField) -> bool:
    """Whether a field is a map of other keys than texts, which Avro has as records."""
    return field.type.family is Family.MAP and field.children[0].type.family is not Family.TEXT


def _type_property(field: SchemaField) -> Json:
    """Return the property with the manifest's type if Avro's type does not determine it; parts are in Avro's type."""
    leaf = leaf_of(field.type)
    if field.type.family is Family.STRUCT or (leaf is not None and leaf.is_lossless):
        return {}
    tree = own_tree(field.type)
    is_expressed = field.type.family in (Family.LIST, Family.MAP) and not _has_entries(field)
    return {} if is_expressed and len(tree) == 1 else {TYPE: tree}


def _doc(extra: Any) -> Json:
    """Return the description under the key `doc`; empty without one."""
    return {"doc": extra[DESCRIPTION.key]} if DESCRIPTION.key in extra else {}


def _properties(extra: Any) -> Json:
    """Return the attributes that Avro has no word for."""
    return {
        key: in_order(value)
        for key, value in sorted(extra.items())
        if domain_of(key) != DOMAIN and key not in (DESCRIPTION.key, RENAMED_FROM.key)
    }


TARGET = ArtifactTarget("avro", AVRO_LOSS, emit)
