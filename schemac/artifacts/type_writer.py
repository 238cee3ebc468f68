"""The types of an engine for the types of Arrow.

Layer: artifacts.
Shape: an Arrow type without parameters is a row of a table, and one with parameters or parts is built by a method. A type
that has neither is refused with a diagnostic.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar

from schemac.artifacts.targets import Emission
from schemac.language.attributes import arrow, builtin
from schemac.language.attributes.attribute import Role
from schemac.language.attributes.registry import DOMAINS, domain_of, has_role
from schemac.language.kinds.sequences import Binary
from schemac.language.logical.model import SchemaField
from schemac.language.physical import LoweredField, pa
from schemac.text.source.report import Code

MOST_DIGITS = 38
"""Of a decimal of 128 bits."""
T = TypeVar("T")
"""What an engine has for a type."""

_TO_ENGINES = frozenset(DOMAINS) - {builtin.ODF_DOMAIN, builtin.DOMAIN}
"""Domains whose attributes speak to an engine, so that nothing is lost where another does without them."""
_BUILT = {
    **dict.fromkeys(("DECIMAL32", "DECIMAL64", "DECIMAL128", "DECIMAL256"), "decimal"),
    "TIMESTAMP": "timestamp",
    **dict.fromkeys(("TIME32", "TIME64"), "time"),
    "DURATION": "duration",
    "FIXED_SIZE_BINARY": "fixed_size_binary",
    "STRUCT": "struct",
    **dict.fromkeys(("LIST", "LARGE_LIST", "LIST_VIEW", "LARGE_LIST_VIEW"), "list"),
    "FIXED_SIZE_LIST": "fixed_size_list",
    "MAP": "map",
    "DICTIONARY": "dictionary",
}
"""The method that builds a type with parameters or parts, by the name of Arrow's type id."""


@dataclass(frozen=True)
class TypeTable(Generic[T]):
    """An engine's types for Arrow types without parameters, by the names of Arrow's type ids, such as `INT8`."""

    same: Mapping[str, T]
    """Those that mean the same."""
    other: Mapping[str, T] = field(default_factory=dict)
    """Those that the engine has in place of a type that it lacks, which is a loss."""


class TypeWriter(ABC, Generic[T]):
    """Finds an engine's type for each lowered field."""

    def __init__(self, emission: Emission, table: TypeTable[T]) -> None:
        self.emission = emission
        self.table = table

    def type(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Return the engine's type for an Arrow type; losses are recorded."""
        name = type_id(arrow_type)
        if name in self.table.same:
            return self.table.same[name]
        if name in self.table.other:
            self.lose(lowered, self.arrow_name(arrow_type), self.type_text(self.table.other[name]))
            return self.table.other[name]
        if name in _BUILT:
            built_type: T = getattr(self, _BUILT[name])(lowered, arrow_type)
            return built_type
        if isinstance(arrow_type, pa.BaseExtensionType):
            return self.extension(lowered, arrow_type)
        return self.refused(lowered.field)

    @abstractmethod
    def refused(self, field: SchemaField) -> T:
        """Report that the engine has no type for a field; the type that is returned is never written."""

    @abstractmethod
    def type_text(self, type_: T) -> str:
        """Return a type as losses write it."""

    def arrow_name(self, arrow_type: Any) -> str:
        """Return the name of an Arrow type as losses write it."""
        return str(arrow_type)

    @abstractmethod
    def decimal(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Build the type of a decimal of any width."""

    @abstractmethod
    def timestamp(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Build the type of a timestamp, with a zone or without."""

    @abstractmethod
    def time(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Build the type of a time of day."""

    @abstractmethod
    def fixed_size_binary(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Build the type of binaries of one length."""

    @abstractmethod
    def struct(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Build the type of a struct."""

    @abstractmethod
    def list(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Build the type of a list of any length, whatever its offsets."""

    @abstractmethod
    def fixed_size_list(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Build the type of a list of one length."""

    @abstractmethod
    def map(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Build the type of a map."""

    def duration(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Build the type of a duration, which few engines have."""
        return self.refused(lowered.field)

    def dictionary(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Return the type of a dictionary's values."""
        self.lose(lowered, f"a dictionary with {arrow_type.index_type} indices", str(arrow_type.value_type))
        return self.type(lowered, arrow_type.value_type)

    def extension(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Return the type of an extension type's storage, whether an attribute or the kind asks for the extension type."""
        type_ = self.type(lowered, arrow_type.storage_type)
        self.lose_extension(lowered, arrow_type.extension_name, type_)
        return type_

    def with_extension(self, lowered: LoweredField) -> T:
        """Return the type of a field whose attributes may ask for an extension type, also for one that pyarrow does not know."""
        arrow_type: Any = lowered.arrow.type
        if isinstance(arrow_type, pa.BaseExtensionType):
            return self.extension(lowered, arrow_type)
        type_ = self.type(lowered, arrow_type)
        if lowered.extension_name is not None:
            self.lose_extension(lowered, lowered.extension_name, type_)
        return type_

    def lose_extension(self, lowered: LoweredField, name: str, type_: T) -> None:
        """Enter an extension type of which the storage is left."""
        is_json = has_role(lowered.field.extra, Role.JSON)
        self.lose(lowered, "JSON" if is_json else f"the extension type {name}", self.type_text(type_))

    def holds_decimal(
        self, lowered: LoweredField, arrow_type: Any, type_title: str, engine_title: str, code: Code
    ) -> bool:
        """Return whether a decimal has at most 38 digits and its scale is among them; report one that does not. Its width is lost."""
        precision, scale, limit = arrow_type.precision, arrow_type.scale, ""
        if precision > MOST_DIGITS:
            property, limit = "precision", f"at most {MOST_DIGITS} digits, not {precision}"
        elif not 0 <= scale <= precision:
            rule = "at most the precision" if scale > precision else "zero or more"
            property, limit = "scale", f"a scale of {rule}, not {scale}"
        if limit:
            message = f"{type_title} has {limit} ({lowered.field.path_text})"
            help = f"change the {property}, or leave {engine_title} out with `schemac.dev/targets`"
            self.emission.findings.at_type(lowered.field, code, message, property, help=help)
        elif arrow_type.bit_width != 128:
            self.lose(lowered, f"decimal of {arrow_type.bit_width} bits", "decimal of 128 bits")
        return not limit

    def lose(self, lowered: LoweredField, lost: str, becomes: str) -> None:
        """Enter a loss at a field."""
        self.emission.lose(lowered.field, lost, becomes)

    def lose_child_names(self, lowered: LoweredField) -> None:
        """Enter names of items, keys and values that are not the usual ones."""
        names = [child.arrow.name for child in lowered.children]
        usual = [child.field.segment.value for child in lowered.children]
        if names != usual:
            self.lose(lowered, f"the names {' and '.join(names)}", " and ".join(usual))

    def lose_attributes(self, field: SchemaField) -> None:
        """Enter the attributes that have no place in a schema whose fields have a description."""
        for key in sorted(field.extra):
            is_of_field = key in (builtin.DESCRIPTION.key, builtin.RENAMED_FROM.key)
            if not (is_of_field and field.is_member) and (is_of_field or is_lost(key)):
                self.emission.lose(field, f"the attribute {key}", "nothing")


class RecordTypeWriter(TypeWriter[T]):
    """Finds the form of each lowered field in records of JSON, whatever its encoding in Arrow."""

    blob: T
    json: T
    uuid: T

    def type(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Return the form of an Arrow type; blobs and extension types have others than their storage."""
        field: SchemaField = lowered.field
        if field.extra and has_role(field.extra, Role.BLOB):
            return self.blob
        if isinstance(arrow_type, pa.BaseExtensionType):
            forms = {"arrow.json": self.json, "arrow.uuid": self.uuid}
            if arrow_type.extension_name in forms:
                return forms[arrow_type.extension_name]
            return self.type(lowered, arrow_type.storage_type)
        return super().type(lowered, arrow_type)

    def dictionary(self, lowered: LoweredField, arrow_type: Any) -> T:
        """Return the form of the values; the encoding is kept as an attribute."""
        return self.type(lowered, arrow_type.value_type)


def list_form(arrow_type: Any) -> str | None:
    """Return the words for a list that is not Arrow's usual one."""
    return {
        "LARGE_LIST": "a list with large offsets",
        "LIST_VIEW": "a list of views",
        "LARGE_LIST_VIEW": "a list of large views",
    }.get(type_id(arrow_type))


def is_lost(key: str) -> bool:
    """Return whether an attribute is about the data, and not for one engine."""
    return domain_of(key) not in _TO_ENGINES or key == arrow.METADATA.key


def is_variant(field: SchemaField) -> bool:
    """Return whether a struct has the members of Arrow's variant."""
    members = [(child.segment, child.type.type_text(), child.is_nullable) for child in field.children]
    return members == [("value", Binary.__name__, False), ("metadata", Binary.__name__, False)]


def type_id(arrow_type: Any) -> str:
    """Return the name of an Arrow type's id, such as `INT8` or `LARGE_LIST`; empty for an extension type."""
    return _type_ids().get(arrow_type.id, "")


@cache
def _type_ids() -> Mapping[int, str]:
    """Return the names of Arrow's type ids by their numbers, which need pyarrow."""
    return {number: name[5:] for name, number in vars(pa.lib).items() if name.startswith("Type_")}
