"""Encoding hints that are sound one by one but not together, or not for their type.

Layer: language.
Errors: SC313 conflicting-hints, SC314 unsupported-hint.
Source: Arrow's canonical extension types.
"""

from schemac.language.attributes import arrow
from schemac.language.attributes.attribute import Role
from schemac.language.attributes.registry import ATTRIBUTES, domain_of, of_role
from schemac.language.logical.findings import Findings
from schemac.language.logical.schema_fields import SchemaField
from schemac.text.source.catalogue import CONFLICTING_HINTS, UNSUPPORTED_HINT
from schemac.text.source.help import Help
from schemac.text.source.phrases import with_article

_DECIDING = (
    *(a.key for a in ATTRIBUTES.values() if a.decides_type and domain_of(a.key) != arrow.DOMAIN),
    *(arrow.EXTENSION_TYPE.key, arrow.DICTIONARY_ENCODING.key),
)
"""Attributes that each decide the whole layout; those of engines first."""


def check_hints(field: SchemaField, findings: Findings) -> None:
    """Check the hints of one field against its type and each other."""
    if not field.extra:
        return
    hints = arrow.read_hints(field.extra)
    _check_pairs(field, findings)
    if hints.extension is not None:
        _check_extension(field, hints.extension, findings)


def _check_pairs(field: SchemaField, findings: Findings) -> None:
    whole = [key for key in _DECIDING if key in field.extra]
    if len(whole) > 1:
        message = f"`{whole[0]}` and `{whole[1]}` cannot be used together"
        findings.at_extra(
            field, whole[1], CONFLICTING_HINTS, message, on_key=True, help="keep one of the two"
        )
    buffer = arrow.BUFFER_ENCODING.key
    if buffer not in field.extra:
        return
    for attribute in of_role(Role.BLOB):
        if attribute.key in field.extra:
            message = f"`{attribute.key}` determines the layout, so `{buffer}` has no effect"
            findings.at_extra(
                field, buffer, CONFLICTING_HINTS, message, on_key=True, help=Help.remove(what="this hint")
            )


def _check_extension(field: SchemaField, extension: arrow.ExtensionType, findings: Findings) -> None:
    key = arrow.EXTENSION_TYPE.key
    storage = arrow.EXTENSION_STORAGE.get(extension.name)
    length = getattr(field.type, "fixed_length", None)
    if storage is not None and field.type.kind != storage:
        message = f"{extension.name} is stored as {with_article(storage)}, but this field is {with_article(field.type.kind)}"
        findings.at_extra(field, key, UNSUPPORTED_HINT, message, "name", help=Help.retype("type", storage))
    elif extension.name == "arrow.uuid" and length != arrow.UUID_LENGTH:
        message = "arrow.uuid is stored in 16 bytes"
        findings.at_extra(
            field,
            key,
            UNSUPPORTED_HINT,
            message,
            "name",
            help=Help.retype("type", f"{{kind: Binary, fixedLength: {arrow.UUID_LENGTH}}}"),
        )
    elif extension.name == "arrow.fixed_shape_tensor":
        _check_tensor(field, extension, length, findings)
    elif extension.name == "arrow.opaque" and arrow.OpaqueName.parse(extension.metadata or "") is None:
        help = 'write `metadata: \'{"type_name":"point","vendor_name":"PostGIS"}\'`'
        findings.at_extra(
            field,
            key,
            UNSUPPORTED_HINT,
            "the metadata of arrow.opaque has to name a type and its vendor",
            "metadata",
            help=help,
        )
    elif extension.metadata and extension.name in arrow.EXTENSION_STORAGE:
        findings.at_extra(
            field,
            key,
            UNSUPPORTED_HINT,
            f"{extension.name} does not accept metadata",
            "metadata",
            help=Help.remove(),
        )


def _check_tensor(
    field: SchemaField, extension: arrow.ExtensionType, length: int | None, findings: Findings
) -> None:
    key = arrow.EXTENSION_TYPE.key
    example = "write `metadata: '{\"shape\":[2,3]}'`"
    tensor = arrow.TensorShape.parse(extension.metadata or "")
    if tensor is None:
        findings.at_extra(
            field,
            key,
            UNSUPPORTED_HINT,
            "the metadata of a tensor has to be a JSON object with its shape",
            "metadata",
            help=example,
        )
    elif tensor.size != length:
        message = f"a tensor of shape {list(tensor.shape)} has {tensor.size} items, but the list has {length or 'any number'}"
        findings.at_extra(
            field,
            key,
            UNSUPPORTED_HINT,
            message,
            "metadata",
            help=Help.retype("fixedLength", str(tensor.size)),
        )
    elif field.children[0].is_nullable:
        findings.at_type(
            field,
            UNSUPPORTED_HINT,
            "the items of a tensor may not be null",
            "itemType",
            help=Help.unwrap("write the item type without Option", is_safe=False),
        )
