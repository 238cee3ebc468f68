"""Lance's attributes in Arrow: keys of metadata that Lance's writer reads, and extension types.

Layer: engines.
Shape: the entries `lance-encoding:*` of an author's own Arrow metadata mean the same as `lance.org/encoding`.
Errors: SC312 invalid-attribute, SC313 conflicting-hints.
Source: Lance's encoding specification and table format; its blob, JSON and brain float extension types.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from schemac.arrow.from_arrow import decoded
from schemac.arrow.metadata import EXTENSION_METADATA, EXTENSION_NAME, ArrowForm, Tree
from schemac.engines.lance import attributes as lance
from schemac.language.attributes.arrow import METADATA
from schemac.language.attributes.attribute import Attribute, Extra, Role
from schemac.language.kinds.registry import BY_NAME
from schemac.language.logical.dataset import Findings
from schemac.language.logical.model import SchemaField
from schemac.language.physical import ArrowField, ArrowType, pa
from schemac.text.source.catalogue import CONFLICTING_HINTS, INVALID_ATTRIBUTE
from schemac.text.source.phrases import Help, closest
from schemac.text.syntax.model import model_errors

_BLOB_TYPE_SINCE = "2.2"
"""The storage version from which on a blob is a struct of its own type."""
_LEGACY_BLOB = "a blob in the old form, a large binary; from storage version 2.2 on it is written in the new form, a struct"
_BLOB_MEMBERS = {"data": "large_binary", "uri": "string", "position": "uint64", "size": "uint64"}
"""Arrow's names of their types."""
ENCODING_PREFIX = "lance-encoding:"
PREFIXES = {lance.ENCODING.key: ENCODING_PREFIX, lance.BLOB.key: f"{ENCODING_PREFIX}blob-"}
"""Of the keys that the properties of an attribute become."""
_NUMBER = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?")
"""What Lance takes for a number; Python takes blanks and underscores in it as well."""


class LanceForm(ArrowForm):
    """Lance's form in Arrow: keys, encodings, blobs, JSON and bfloat16."""

    extensions = MappingProxyType(
        {
            lance.BLOB_EXTENSION: Role.BLOB,
            lance.BRAIN_FLOAT: Role.BRAIN_FLOATS,
            lance.JSON_EXTENSION: Role.JSON,
        }
    )

    def metadata(self, key: str, extra: Extra) -> Mapping[str, str]:
        """Return Lance's own metadata entries; none if the Arrow type expresses the attribute."""
        if key == lance.PRIMARY_KEY.key:
            place = lance.PRIMARY_KEY.typed(extra[key]).position
            position = {} if place is None else {lance.PRIMARY_KEY_POSITION: str(place)}
            return {lance.PRIMARY_KEY_MARK: "true", **position}
        if key == lance.CLUSTERING_KEY.key:
            return {lance.CLUSTERING_KEY_POSITION: str(lance.CLUSTERING_KEY.typed(extra[key]).position)}
        if key not in PREFIXES:
            return {}
        attribute: Attribute[Any] = lance.ENCODING if key == lance.ENCODING.key else lance.BLOB
        return {
            PREFIXES[key] + name.replace("_", "-"): str(item).lower() if isinstance(item, bool) else str(item)
            for name, item in attribute.typed(extra[key])
            if item is not None
        }

    def property_of(self, key: str, entry: str) -> str:
        """Return the property of an attribute's value for an entry, such as `dictDivisor` for `lance-encoding:dict-divisor`; empty if it has none."""
        prefix = PREFIXES.get(key)
        return "" if prefix is None else to_camel(entry.removeprefix(prefix).replace("-", "_"))

    def to_arrow(
        self, key: str, storage: ArrowType, metadata: dict[str, str], schema_extra: Extra
    ) -> ArrowType:
        """Return the extension type of JSON and brain floats, or a blob as its storage version has it."""
        if key == lance.JSON.key:
            return pa.json_(storage)
        if key == lance.FLOAT_ENCODING.key:
            marks = {EXTENSION_NAME: lance.BRAIN_FLOAT, EXTENSION_METADATA: ""}
            item: ArrowField = pa.field("item", pa.binary(2), storage.value_field.nullable, marks)
            return pa.list_(item, storage.list_size)
        assert key == lance.BLOB.key
        if lance.storage_version(schema_extra) < _BLOB_TYPE_SINCE:
            metadata[lance.BLOB_MARK] = "true"
            return pa.large_binary()
        metadata[EXTENSION_NAME] = lance.BLOB_EXTENSION
        metadata[EXTENSION_METADATA] = ""
        return pa.struct([pa.field(name, pa.type_for_alias(word)) for name, word in _BLOB_MEMBERS.items()])

    def from_arrow(
        self, type_: Any, metadata: dict[str, str], note: Callable[[str], None]
    ) -> tuple[Tree, Tree] | None:
        """Return the tree and attributes of a blob in either form, or of a vector of brain floats; None for any other type."""
        is_blob = metadata.get(EXTENSION_NAME) == lance.BLOB_EXTENSION and pa.types.is_struct(type_)
        if is_blob and tuple(f.name for f in type_) == tuple(_BLOB_MEMBERS):
            del metadata[EXTENSION_NAME]
            metadata.pop(EXTENSION_METADATA, None)
            return {"kind": "Binary"}, {lance.BLOB.key: {}}
        if metadata.get(lance.BLOB_MARK) == "true" and pa.types.is_large_binary(type_):
            note(_LEGACY_BLOB)
            del metadata[lance.BLOB_MARK]
            return {"kind": "Binary"}, {lance.BLOB.key: {}}
        if not pa.types.is_fixed_size_list(type_):
            return None
        item = type_.value_field
        names = (getattr(item.type, "extension_name", ""), decoded(item.metadata).get(EXTENSION_NAME))
        if lance.BRAIN_FLOAT not in names:
            return None
        inner: Tree = {"kind": "Float32"}
        inner = {"kind": "Option", "inner": inner} if item.nullable else inner
        tree = {"kind": "List", "itemType": inner, "fixedLength": type_.list_size}
        return tree, {lance.FLOAT_ENCODING.key: {"format": "bfloat16"}}

    def from_metadata(self, rest: dict[str, str], kind: str, note: Callable[[str], None]) -> Tree:
        """Return the attributes for keys, encodings and blobs that the metadata has, and take their entries out of it.

        Other entries `lance-encoding:*` stay, but those that Lance cannot read are noted and removed.
        """
        extra: Tree = {}
        position = rest.get(lance.PRIMARY_KEY_POSITION, "")
        if lance.has_key_mark(rest) or position.isdecimal():
            rest.pop(lance.PRIMARY_KEY_MARK, None)
            rest.pop(lance.PRIMARY_KEY_POSITION, None)
            is_placed = position.isdecimal() and int(position)
            extra[lance.PRIMARY_KEY.key] = {"position": int(position)} if is_placed else {}
        position = rest.get(lance.CLUSTERING_KEY_POSITION, "")
        if position.isdecimal() and int(position):
            del rest[lance.CLUSTERING_KEY_POSITION]
            extra[lance.CLUSTERING_KEY.key] = {"position": int(position)}
        for entry in sorted(unreadable_entries(rest)):
            note(f"not kept: `{entry}: {rest.pop(entry)}` in the metadata, which Lance does not understand")
        for attribute in (lance.ENCODING, lance.BLOB):
            if attribute.fits is not None and BY_NAME[kind].family not in attribute.fits:
                continue
            value = written_value(attribute, rest)
            entries = {entry: rest[entry] for entry in properties_of(attribute) if entry in rest}
            if entries and self.metadata(attribute.key, {attribute.key: value}) == entries:
                extra[attribute.key] = value
                for entry in entries:
                    del rest[entry]
        return extra


def properties_of(attribute: Attribute[Any]) -> dict[str, str]:
    """Return the properties of an attribute's value, as they are written, by the entries of metadata that they become."""
    prefix = PREFIXES[attribute.key]
    fields = attribute.value_type.model_fields.items()
    return {f"{prefix}{name.replace('_', '-')}": field.alias or name for name, field in fields}


def written_value(attribute: Attribute[Any], metadata: Mapping[str, str]) -> Tree:
    """Return the value of an attribute from its metadata entries, as an author would write it."""
    properties = properties_of(attribute)
    return {
        properties[entry]: _number_or_word(text) for entry, text in metadata.items() if entry in properties
    }


def unreadable_entries(metadata: Mapping[str, str]) -> set[str]:
    """Return the entries `lance-encoding:*` that Lance does not know, or whose values it does not understand."""
    unknown = {
        entry for entry in metadata if entry.startswith(ENCODING_PREFIX) and entry not in KNOWN_ENTRIES
    }
    return unknown.union(
        *[_invalid_entries(attribute, metadata) for attribute in (lance.ENCODING, lance.BLOB)]
    )


def _invalid_entries(attribute: Attribute[Any], metadata: Mapping[str, str]) -> set[str]:
    """Return the entries that an attribute has no value for: by themselves, or else all that are wrong together."""
    properties = {entry: name for entry, name in properties_of(attribute).items() if entry in metadata}
    try:
        attribute.typed(written_value(attribute, metadata))
    except ValidationError as error:
        wrong = {name for mistake in error.errors() for name in mistake["loc"][:1]}
        invalid = {entry for entry, name in properties.items() if name in wrong} or {*properties}
        rest = {entry: metadata[entry] for entry in properties if entry not in invalid}
        return invalid | _invalid_entries(attribute, rest)
    return set()


def _number_or_word(text: str) -> Any:
    """Return the number or boolean that a text is, as Lance reads it; any other text unchanged."""
    if text in ("true", "false"):
        return text == "true"
    if not _NUMBER.fullmatch(text):
        return text
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


KNOWN_ENTRIES = (*properties_of(lance.ENCODING), *properties_of(lance.BLOB), lance.BLOB_MARK)
"""The entries `lance-encoding:*` of metadata that Lance knows."""
FORM = LanceForm()


def check_entries(field: SchemaField, findings: Findings) -> tuple[lance.Encoding, Mapping[str, str]]:
    """Check the entries of one field; return the encoding that the sound ones mean, and the entry of each property."""
    metadata = METADATA.read(field.extra) or {}
    unreadable = unreadable_entries(metadata)
    names = [entry.removeprefix(ENCODING_PREFIX) for entry in KNOWN_ENTRIES]
    for entry in sorted(unreadable.difference(KNOWN_ENTRIES)):
        near = closest(entry.removeprefix(ENCODING_PREFIX), names)
        known = f"Lance knows {', '.join(names)} after `{ENCODING_PREFIX}`"
        help = Help.did_you_mean(f"{ENCODING_PREFIX}{near}", entry) if near else known
        message = f"Lance has no encoding `{entry}`"
        findings.at_extra(field, METADATA.key, INVALID_ATTRIBUTE, message, entry, on_key=True, help=help)
    for attribute in (lance.ENCODING, lance.BLOB):
        entries = {name: entry for entry, name in properties_of(attribute).items() if entry in metadata}
        value = written_value(attribute, metadata)
        try:
            attribute.typed(value)
        except ValidationError as error:
            for model_error in model_errors(error, attribute.value_type, value):
                steps = [entries[str(name)] for name in model_error.path]
                message = model_error.message
                if steps:
                    message = message.replace(f"`{model_error.path[0]}`", f"`{steps[0]}`")
                help = model_error.help or f"its entries are those of `{attribute.key}`: {attribute.summary}"
                findings.at_extra(field, METADATA.key, INVALID_ATTRIBUTE, message, *steps, help=help)
        for name in sorted(entries.keys() & field.extra.get(attribute.key, {}).keys()):
            entry = entries[name]
            message = f"`{entry}` and `{name}` of `{attribute.key}` set the same option"
            findings.at_extra(
                field, METADATA.key, CONFLICTING_HINTS, message, entry, on_key=True, help=Help.remove()
            )
    sound = {entry: text for entry, text in metadata.items() if entry not in unreadable}
    words = {entry.removeprefix(ENCODING_PREFIX).replace("-", "_"): entry for entry in sound}
    return lance.ENCODING.typed(written_value(lance.ENCODING, sound)), words
