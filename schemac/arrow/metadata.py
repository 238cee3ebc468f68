"""Arrow metadata of attributes, and the metadata that engines define (`ArrowForm`).

Layer: arrow.
Shape: text to text. An attribute is an entry with its own key and compact JSON, so that it can be read back exactly,
except `arrow.apache.org`, which the Arrow type expresses, and domains whose engine has an `ArrowForm`. Every engine
lowers from these fields, so it sees the entries of all others.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeVar

from schemac.language.attributes import arrow
from schemac.language.attributes.attribute import Extra, Role
from schemac.language.attributes.builtin import TABLE_VERSION
from schemac.language.attributes.registry import ATTRIBUTES, are_telling, domain_of
from schemac.language.physical import ArrowType, LoweredSchema
from schemac.registry.engine import Capability, engines
from schemac.text.source.json_object import Json

T = TypeVar("T")

Tree = Json


class ArrowForm:
    """The Arrow form of an engine's attributes.

    By default attributes have no Arrow form: they are metadata entries under their own keys.
    """

    extensions: Mapping[str, Role] = MappingProxyType({})
    """What a field is whose extension type has one of these names."""
    repeated: frozenset[str] = frozenset()
    """Keys of field metadata that the engine leaves in tables, and that only repeat what the Arrow type says."""
    description: str = ""
    """Key of field metadata under which the engine leaves the description of a field as plain text."""

    def metadata(self, key: str, extra: Extra) -> Mapping[str, str] | None:
        """Return the metadata entries that express an attribute; None if it is stored under its own key."""
        return None

    def property_of(self, key: str, entry: str) -> str:
        """Return the property of an attribute that an entry of its `metadata` is; empty if it is the attribute."""
        return ""

    def to_arrow(
        self, key: str, storage: ArrowType, metadata: dict[str, str], schema_extra: Extra
    ) -> ArrowType:
        """Return the type of a field, for an attribute that decides it; what is not in the type goes into the metadata."""
        return storage

    def from_arrow(
        self, type_: Any, metadata: dict[str, str], note: Callable[[str], None]
    ) -> tuple[Tree, Tree] | None:
        """Return kind and attributes of a type that `to_arrow` makes, and remove their entries from the metadata."""
        return None

    def from_metadata(self, rest: dict[str, str], kind: str, note: Callable[[str], None]) -> Tree:
        """Remove the entries that `metadata` makes from a field's metadata, and return their attributes.

        An entry that the checks of the engine would refuse is taken out too, and noted.
        """
        return {}


ARROW_FORM = Capability("arrow_form", ArrowForm)


@cache
def forms() -> Mapping[str, ArrowForm]:
    """Return the forms of all engines by domain. Raises EngineError."""
    return {engine.domain: ARROW_FORM.of(engine) for engine in engines() if ARROW_FORM.is_of(engine)}


@cache
def extension_roles() -> Mapping[str, Role]:
    """Return what a field is by the name of its extension type: Arrow's own, and those of all engines. Raises EngineError."""
    declared = (form.extensions.items() for form in forms().values())
    return {"arrow.json": Role.JSON, **dict(chain.from_iterable(declared))}


@cache
def deciding() -> Mapping[str, ArrowForm]:
    """Return the forms by those attributes that decide the type of a field. Raises EngineError."""
    declared_forms = forms()
    return {
        key: declared_forms[domain_of(key)]
        for key, attribute in ATTRIBUTES.items()
        if attribute.decides_type and domain_of(key) in declared_forms
    }


EXTENSION_NAME = "ARROW:extension:name"
EXTENSION_METADATA = "ARROW:extension:metadata"

compact: Callable[[Any], str] = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), sort_keys=True
).encode
"""Returns a value as JSON without blanks, keys sorted."""


def field_metadata(extra: Mapping[str, Any]) -> dict[str, str]:
    """Return the metadata of a field with these checked attributes, keys sorted."""
    if not are_telling(extra):
        return {key: compact(extra[key]) for key in sorted(extra)}
    metadata: dict[str, str] = {}
    declared_forms = forms()
    for key, value in extra.items():
        domain = domain_of(key)
        form = declared_forms.get(domain)
        if form is not None and (entries := form.metadata(key, extra)) is not None:
            metadata.update(entries)
        elif key == arrow.EXTENSION_TYPE.key:
            metadata.update(extension_metadata(arrow.EXTENSION_TYPE.typed(value)))
        elif key == arrow.METADATA.key:
            metadata.update(value)
        elif domain != arrow.DOMAIN:
            metadata[key] = compact(value)
    return dict(sorted(metadata.items()))


def schema_metadata(extra: Mapping[str, Any]) -> dict[str, str]:
    """Return the metadata of a schema with these attributes, keys sorted."""
    plain: dict[str, str] = extra.get(arrow.METADATA.key, {})
    written = {key: compact(value) for key, value in extra.items() if key != arrow.METADATA.key}
    return dict(sorted({**plain, **written}.items()))


def with_version(lowered: LoweredSchema, table_record: str) -> LoweredSchema:
    """Return the schema with its locked version in its metadata."""
    entries = {**lowered.metadata, TABLE_VERSION: table_record}
    return LoweredSchema(lowered.fields, dict(sorted(entries.items())))


def extension_metadata(extension: arrow.ExtensionType) -> dict[str, str]:
    """Return the metadata of a field with an extension type that pyarrow does not know."""
    metadata = {EXTENSION_NAME: extension.name}
    return metadata if extension.metadata is None else {**metadata, EXTENSION_METADATA: extension.metadata}


def without_empty_metadata(entries: Mapping[str, T]) -> dict[str, T]:
    """Return metadata without that of an extension type if it is empty, which is the same as none."""
    return {key: value for key, value in entries.items() if value or key != EXTENSION_METADATA}


def registered_extension_metadata(type_: Any) -> dict[str, str]:
    """Return the metadata that Arrow's C interface has for an extension type known to pyarrow, whose field has none."""
    name = type_.extension_name
    if name == "arrow.fixed_shape_tensor":
        serialized = {"shape": type_.shape, "permutation": type_.permutation, "dim_names": type_.dim_names}
        text = _serialized({key: value for key, value in serialized.items() if value is not None})
    elif name == "arrow.opaque":
        text = _serialized({"type_name": type_.type_name, "vendor_name": type_.vendor_name})
    else:
        text = ""
    return {EXTENSION_NAME: name, EXTENSION_METADATA: text}


# In the order of Arrow's own serializer, for the bytes are compared.
_serialized: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
