"""The types of an engine for the types of a schema.

Layer: artifacts.
Shape: one recursion for all writers, over structs, lists and maps down to the types without parts. Writers of records find those by
what the manifest says, and writers of tables by the Arrow type: one without parameters is a row of a table, and one with parameters is
built by a method. In place of a plain type that an engine lacks it gets the next wider one, which is a loss. A type that has none of
these is refused with a diagnostic.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Any, Generic, TypeVar

from schemac.arrow.from_arrow import extension_of_kind, kind_of, storage_of
from schemac.artifacts.targets import Emission
from schemac.language.attributes import arrow, builtin
from schemac.language.attributes.attribute import Family, Role
from schemac.language.attributes.registry import DOMAINS, domain_of, has_role
from schemac.language.kinds.sequences import Binary
from schemac.language.logical.model import SchemaField, UnsupportedTypeError
from schemac.language.physical import LoweredSchema, pa
from schemac.text.source.diagnostics import Code

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
}
"""The method that builds a type with parameters, by the name of Arrow's type id."""
_WIDER = {
    **dict.fromkeys(("INT8", "UINT8"), "INT16"),
    **dict.fromkeys(("INT16", "UINT16"), "INT32"),
    "UINT32": "INT64",
    "HALF_FLOAT": "FLOAT",
    "DATE64": "DATE32",
    **dict.fromkeys(("LARGE_STRING", "STRING_VIEW"), "STRING"),
    **dict.fromkeys(("LARGE_BINARY", "BINARY_VIEW"), "BINARY"),
}
"""The next Arrow type that holds all values of another one."""


class TypeWriter(ABC, Generic[T]):
    """Finds an engine's type for each field."""

    def __init__(self, emission: Emission, lowered: LoweredSchema | None = None) -> None:
        self.emission = emission
        self.lose = emission.lose
        self.lowered = {one.field: one for one in lowered.preorder()} if lowered is not None else {}
        """Each field as it is lowered; none for writers that ask for no Arrow type."""

    def type(self, field: SchemaField) -> T:
        """Return the type of a field without its Option; losses are recorded."""
        match field.type.family:
            case Family.STRUCT:
                return self.struct(field)
            case Family.LIST:
                return self.list(field)
            case Family.MAP:
                return self.map(field)
        return self.leaf(field)

    @abstractmethod
    def struct(self, field: SchemaField) -> T:
        """Build the type of a struct."""

    @abstractmethod
    def list(self, field: SchemaField) -> T:
        """Build the type of a list, of one length or of any."""

    @abstractmethod
    def map(self, field: SchemaField) -> T:
        """Build the type of a map."""

    @abstractmethod
    def leaf(self, field: SchemaField) -> T:
        """Return the type of a field without parts."""

    @abstractmethod
    def refused(self, field: SchemaField) -> T:
        """Report that the engine has no type for a field; the type that is returned is never written."""


class RecordTypeWriter(TypeWriter[T]):
    """Finds the form of each field in records of JSON, whatever its encoding in Arrow."""

    json: T
    uuid: T

    def leaf(self, field: SchemaField) -> T:
        """Return the form of a type without parts; some extension types have others than their storage."""
        if not _has_kind(self.lowered[field].arrow.type):
            return self.refused(field)
        forms = {"arrow.json": self.json, "arrow.uuid": self.uuid}
        type_ = Binary() if has_role(field.extra, Role.BLOB) else field.type
        extension = arrow.EXTENSION_TYPE.read(field.extra)
        name = "arrow.json" if has_role(field.extra, Role.JSON) else extension.name if extension else ""
        form = forms.get(name) or self.plain(field, type_)
        if form is None and (of_kind := extension_of_kind(type_)) is not None:
            form = forms.get(of_kind.name) or self.plain(field, of_kind.storage)
        return self.refused(field) if form is None else form

    @abstractmethod
    def plain(self, field: SchemaField, type_: Any) -> T | None:
        """Return the form of a type without parts that a field has; None if there is none."""


class ArrowTypeWriter(TypeWriter[T]):
    """Finds the types of tables, by the Arrow types that fields are lowered to."""

    plain_types: Mapping[str, T]
    """The engine's types for Arrow types without parameters, by the names of Arrow's type ids, such as `INT8`."""

    def leaf(self, field: SchemaField) -> T:
        """Return the type for the Arrow type of a field; that of a dictionary's values is its own."""
        arrow_type = self.arrow_type(field)
        if isinstance(arrow_type, pa.DictionaryType):
            becomes = str(arrow_type.value_type)
            self.lose(field, f"a dictionary with {arrow_type.index_type} indices", becomes)
            arrow_type = arrow_type.value_type
        name = type_id(arrow_type)
        if name in self.plain_types:
            return self.plain_types[name]
        if name in _BUILT:
            built_type: T = getattr(self, _BUILT[name])(field, arrow_type)
            return built_type
        wider = self.decimal(field, pa.decimal128(20, 0)) if name == "UINT64" else self.wider(name)
        if wider is None:
            return self.refused(field)
        self.lose(field, self.arrow_name(arrow_type), self.type_text(wider))
        return wider

    def wider(self, name: str) -> T | None:
        """Return the type that holds all values of an Arrow type that the engine lacks; None if there is none."""
        wider = _WIDER.get(name)
        while wider is not None and wider not in self.plain_types:
            wider = _WIDER.get(wider)
        return None if wider is None else self.plain_types[wider]

    def arrow_type(self, field: SchemaField) -> Any:
        """Return the Arrow type of a field; of an extension type its storage."""
        return storage_of(self.lowered[field].arrow.type)

    @abstractmethod
    def type_text(self, type_: T) -> str:
        """Return a type as losses write it."""

    def arrow_name(self, arrow_type: Any) -> str:
        """Return the name of an Arrow type as losses write it."""
        return str(arrow_type)

    @abstractmethod
    def decimal(self, field: SchemaField, arrow_type: Any) -> T:
        """Build the type of a decimal of any width."""

    @abstractmethod
    def timestamp(self, field: SchemaField, arrow_type: Any) -> T:
        """Build the type of a timestamp, with a zone or without."""

    @abstractmethod
    def time(self, field: SchemaField, arrow_type: Any) -> T:
        """Build the type of a time of day."""

    @abstractmethod
    def fixed_size_binary(self, field: SchemaField, arrow_type: Any) -> T:
        """Build the type of binaries of one length."""

    def duration(self, field: SchemaField, _arrow_type: Any) -> T:
        """Build the type of a duration, which few engines have."""
        return self.refused(field)

    def without_extension(self, field: SchemaField) -> T:
        """Return the type of a field's storage, whether an attribute or the kind asks for an extension type, also for one that pyarrow does not know."""
        type_ = super().type(field)
        name = self.lowered[field].extension_name
        if name is not None:
            lost = "JSON" if has_role(field.extra, Role.JSON) else f"the extension type {name}"
            self.lose(field, lost, self.type_text(type_))
        return type_

    def holds_decimal(
        self, field: SchemaField, arrow_type: Any, type_title: str, engine_title: str, code: Code
    ) -> bool:
        """Return whether a decimal has at most 38 digits and its scale is among them; report one that does not. Its width is lost."""
        precision, scale, limit = arrow_type.precision, arrow_type.scale, ""
        if precision > MOST_DIGITS:
            property, limit = "precision", f"at most {MOST_DIGITS} digits, not {precision}"
        elif not 0 <= scale <= precision:
            rule = "at most the precision" if scale > precision else "zero or more"
            property, limit = "scale", f"a scale of {rule}, not {scale}"
        if limit:
            message = f"{type_title} has {limit} ({field.path_text})"
            help = f"change the {property}, or leave {engine_title} out with `schemac.dev/targets`"
            self.emission.findings.at_type(field, code, message, property, help=help)
        elif arrow_type.bit_width != 128:
            self.lose(field, f"decimal of {arrow_type.bit_width} bits", "decimal of 128 bits")
        return not limit

    def lose_list_form(self, field: SchemaField, becomes: str) -> None:
        """Enter the layout of a list that is not Arrow's usual one."""
        form = _LIST_FORMS.get(type_id(self.arrow_type(field)))
        if form is not None:
            self.lose(field, form, becomes)

    def lose_child_names(self, field: SchemaField) -> None:
        """Enter names of items, keys and values that are not the usual ones."""
        names = [self.lowered[child].arrow.name for child in field.children]
        usual = [str(child.segment.value) for child in field.children]  # type: ignore[union-attr]
        if names != usual:
            self.lose(field, f"the names {' and '.join(names)}", " and ".join(usual))

    def lose_attributes(self, field: SchemaField) -> None:
        """Enter the attributes that have no place in a schema whose fields have a description."""
        for key in sorted(field.extra):
            is_of_field = key in (builtin.DESCRIPTION.key, builtin.RENAMED_FROM.key)
            if not (is_of_field and field.is_member) and (is_of_field or is_lost(key)):
                self.lose(field, f"the attribute {key}", "nothing")


_LIST_FORMS = {
    "LARGE_LIST": "a list with large offsets",
    "LIST_VIEW": "a list of views",
    "LARGE_LIST_VIEW": "a list of large views",
}


def is_lost(key: str) -> bool:
    """Return whether an attribute is about the data, and not for one engine."""
    return domain_of(key) not in _TO_ENGINES or key == arrow.METADATA.key


@cache
def _has_kind(arrow_type: Any) -> bool:
    """Whether the values of an Arrow type, or those that it stores, are values of a kind."""
    stored = storage_of(arrow_type)
    try:
        return kind_of(stored.value_type if isinstance(stored, pa.DictionaryType) else stored) is not None
    except UnsupportedTypeError:
        return False


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
