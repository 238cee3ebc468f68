"""Encoding hints that are sound one by one but not together, or not for their type.

Layer: checks.
Errors: SC313 conflicting-hints, SC314 unsupported-hint, SC320 useless-hint.
Source: Arrow's canonical extension types; Lance's encoding specification.
"""

from schemac.attributes import arrow, lance
from schemac.logical.findings import Findings
from schemac.logical.slots import Slot
from schemac.source.catalogue import CONFLICTING_HINTS, UNSUPPORTED_HINT, USELESS_HINT
from schemac.source.suggest import with_article

_STORAGE = {
    "arrow.uuid": "Binary",
    "arrow.json": "String",
    "arrow.bool8": "Int8",
    "arrow.fixed_shape_tensor": "List",
}
_OWN_WORDS = {
    "lance.json": "`lance.org/json: true` on a String",
    "lance.bfloat16": "`lance.org/floatEncoding: {format: bfloat16}` on a fixed-length List of floats",
    "lance.blob.v2": "`lance.org/blob: {}` on a Binary",
}


def check_hints(slot: Slot, findings: Findings) -> None:
    """Check the hints of one slot against its type and each other."""
    if not slot.extra:
        return
    hints = arrow.read_hints(slot.extra)
    _check_pairs(slot, findings)
    if hints.extension is not None:
        _check_extension(slot, hints.extension, findings)
    if lance.FLOAT_ENCODING.key in slot.extra:
        _check_brain_floats(slot, findings)
    if lance.ENCODING.key in slot.extra:
        _check_lance_encoding(slot, findings)


def _check_pairs(slot: Slot, findings: Findings) -> None:
    """Attributes that each decide the whole layout."""
    whole = [
        key
        for key in (
            lance.BLOB.key,
            lance.JSON.key,
            lance.FLOAT_ENCODING.key,
            arrow.EXTENSION_TYPE.key,
            arrow.DICTIONARY_ENCODING.key,
        )
        if key in slot.extra
    ]
    if len(whole) > 1:
        message = f"`{whole[0]}` and `{whole[1]}` cannot be used together"
        findings.at_extra(slot, whole[1], CONFLICTING_HINTS, message, on_key=True, help="keep one of the two")
    buffer = arrow.BUFFER_ENCODING.key
    if buffer in slot.extra and lance.BLOB.key in slot.extra:
        message = f"`{lance.BLOB.key}` determines the layout, so `{buffer}` has no effect"
        findings.at_extra(slot, buffer, CONFLICTING_HINTS, message, on_key=True, help="remove this hint")


def _check_extension(slot: Slot, extension: arrow.ExtensionType, findings: Findings) -> None:
    key = arrow.EXTENSION_TYPE.key
    own = _OWN_WORDS.get(extension.name)
    if own is not None:
        findings.at_extra(
            slot,
            key,
            UNSUPPORTED_HINT,
            f"{extension.name} has an attribute of its own",
            "name",
            help=f"write {own}",
        )
        return
    if extension.name.startswith("lance."):
        findings.at_extra(
            slot,
            key,
            UNSUPPORTED_HINT,
            "names that start with 'lance.' are reserved",
            "name",
            help="choose a name in a domain of your own",
        )
        return
    storage = _STORAGE.get(extension.name)
    length = getattr(slot.type, "fixed_length", None)
    if storage is not None and slot.type.kind != storage:
        message = f"{extension.name} is stored as {with_article(storage)}, but this field is {with_article(slot.type.kind)}"
        findings.at_extra(slot, key, UNSUPPORTED_HINT, message, "name", help=f"write `kind: {storage}`")
    elif extension.name == "arrow.uuid" and length != 16:
        message = "arrow.uuid is stored in 16 bytes"
        findings.at_extra(
            slot, key, UNSUPPORTED_HINT, message, "name", help="write `type: {kind: Binary, fixedLength: 16}`"
        )
    elif extension.name == "arrow.fixed_shape_tensor":
        _check_tensor(slot, extension, length, findings)
    elif extension.name == "arrow.opaque" and arrow.OpaqueName.parse(extension.metadata or "") is None:
        help = 'write `metadata: \'{"type_name":"point","vendor_name":"PostGIS"}\'`'
        findings.at_extra(
            slot,
            key,
            UNSUPPORTED_HINT,
            "the metadata of arrow.opaque has to name a type and its vendor",
            "metadata",
            help=help,
        )
    elif extension.metadata and extension.name in _STORAGE:
        findings.at_extra(
            slot,
            key,
            UNSUPPORTED_HINT,
            f"{extension.name} does not accept metadata",
            "metadata",
            help="remove it",
        )


def _check_tensor(slot: Slot, extension: arrow.ExtensionType, length: int | None, findings: Findings) -> None:
    key = arrow.EXTENSION_TYPE.key
    example = "write `metadata: '{\"shape\":[2,3]}'`"
    tensor = arrow.TensorShape.parse(extension.metadata or "")
    if tensor is None:
        findings.at_extra(
            slot,
            key,
            UNSUPPORTED_HINT,
            "the metadata of a tensor has to be a JSON object with its shape",
            "metadata",
            help=example,
        )
    elif tensor.size != length:
        message = f"a tensor of shape {list(tensor.shape)} has {tensor.size} items, but the list has {length or 'any number'}"
        findings.at_extra(
            slot, key, UNSUPPORTED_HINT, message, "metadata", help=f"write `fixedLength: {tensor.size}`"
        )
    elif slot.children[0].is_nullable:
        findings.at_type(
            slot,
            UNSUPPORTED_HINT,
            "the items of a tensor may not be null",
            "itemType",
            help="write the item type without Option",
        )


def _check_brain_floats(slot: Slot, findings: Findings) -> None:
    item = slot.children[0]
    if getattr(slot.type, "fixed_length", None) is None or item.type.kind not in ("Float16", "Float32"):
        findings.at_extra(
            slot,
            lance.FLOAT_ENCODING.key,
            UNSUPPORTED_HINT,
            "bfloat16 is stored only in vectors: lists of Float16 or Float32 with a fixed length",
            "format",
            help="write `type: {kind: List, itemType: Float32, fixedLength: 768}`",
        )


def _check_lance_encoding(slot: Slot, findings: Findings) -> None:
    key = lance.ENCODING.key
    encoding = lance.ENCODING.read(slot.extra)
    assert encoding is not None
    given = [name for name, value in encoding if value is not None]
    words = {name: encoding.__class__.model_fields[name].alias or name for name in given}
    if not given:
        findings.at_extra(
            slot,
            key,
            USELESS_HINT,
            "this encoding is empty and has no effect",
            on_key=True,
            help="remove it, or write `compression: zstd`",
        )
    if slot.type.kind == "Struct":
        for name in given:
            if name != "packed":
                message = f"a Struct has no pages of its own for `{words[name]}`"
                findings.at_extra(
                    slot,
                    key,
                    UNSUPPORTED_HINT,
                    message,
                    words[name],
                    on_key=True,
                    help="put it on the members",
                )
    elif encoding.packed is not None:
        findings.at_extra(
            slot,
            key,
            UNSUPPORTED_HINT,
            f"only a Struct can be packed, not {with_article(slot.type.kind)}",
            "packed",
            on_key=True,
            help="remove it",
        )
    elif encoding.bss == "on" and slot.type.kind not in (
        "Int32",
        "Int64",
        "UInt32",
        "UInt64",
        "Float32",
        "Float64",
        "List",
    ):
        message = (
            f"byte stream split works on numbers of 32 and 64 bits, not on {with_article(slot.type.kind)}"
        )
        findings.at_extra(slot, key, UNSUPPORTED_HINT, message, "bss", on_key=True, help="remove it")
    elif encoding.compression == "fsst" and slot.type.kind not in ("String", "Binary"):
        message = f"fsst compresses only texts and bytes, not {with_article(slot.type.kind)}"
        findings.at_extra(
            slot, key, UNSUPPORTED_HINT, message, "compression", help="write `compression: zstd`"
        )
