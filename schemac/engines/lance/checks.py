"""Attributes of Lance that are sound one by one but not for the type of their field.

Layer: engines.
Errors: SC312 invalid-attribute, SC313 conflicting-hints, SC314 unsupported-hint, SC320 useless-hint.
Source: Lance's encoding specification.
"""

from collections.abc import Mapping

from schemac.engines.lance import attributes as lance
from schemac.language.attributes.arrow import EXTENSION_TYPE, METADATA
from schemac.language.attributes.attribute import NUMBERS, Family
from schemac.language.checks.run import AttributeChecks
from schemac.language.kinds.sequences import Binary, String
from schemac.language.logical.dataset import Findings
from schemac.language.logical.model import SchemaField
from schemac.text.source.catalogue import UNSUPPORTED_HINT, USELESS_HINT
from schemac.text.source.phrases import Help, with_article

_RESERVED = "lance."
"""What the names of Lance's own extension types start with."""
_EQUIVALENT_ATTRIBUTES = {
    "lance.json": ("lance.org/json: true", "a String", String.__name__),
    lance.BRAIN_FLOAT: ("lance.org/floatEncoding: {format: bfloat16}", "a fixed-length List of floats", ""),
    lance.BLOB_EXTENSION: ("lance.org/blob: {}", "a Binary", Binary.__name__),
}
"""The attribute that is in place of an extension type, what it is for, and that as a type alone."""


def check(field: SchemaField, findings: Findings) -> None:
    """Check the attributes of one field."""
    if EXTENSION_TYPE.key in field.extra:
        _check_extension(field, findings)
    if lance.FLOAT_ENCODING.key in field.extra:
        item = field.children[0]
        is_vector = getattr(field.type, "fixed_length", None) is not None
        if not is_vector or item.type.family is not Family.FLOAT or getattr(item.type, "bits", 64) > 32:
            message = "bfloat16 is stored only in vectors: lists of Float16 or Float32 with a fixed length"
            help = "write `type: {kind: List, itemType: Float32, fixedLength: 768}`"
            findings.at_extra(field, lance.FLOAT_ENCODING.key, UNSUPPORTED_HINT, message, "format", help=help)
    encoding = lance.ENCODING.read(field.extra)
    if encoding is not None:
        properties = lance.Encoding.model_fields
        words = {name: properties[name].alias or name for name, value in encoding if value is not None}
        if not words:
            message = "this encoding is empty and has no effect"
            help = Help.remove(help="remove it, or write `compression: zstd`", is_safe=False)
            findings.at_extra(field, lance.ENCODING.key, USELESS_HINT, message, on_key=True, help=help)
        _check_fit(field, encoding, lance.ENCODING.key, words, findings)
    if METADATA.key in field.extra:
        # For start-up time: few fields have metadata of Arrow.
        from schemac.engines.lance.arrow_form import check_entries

        of_metadata, entries = check_entries(field, findings)
        _check_fit(field, of_metadata, METADATA.key, entries, findings)


def _check_extension(field: SchemaField, findings: Findings) -> None:
    """Report an extension type of Lance's own, which an attribute has to be in place of."""
    extension = EXTENSION_TYPE.read(field.extra)
    if extension is None or not extension.name.startswith(_RESERVED):
        return
    equivalent = _EQUIVALENT_ATTRIBUTES.get(extension.name)
    if equivalent is None:
        message = f"names that start with '{_RESERVED}' are reserved"
        help = "choose a name in a domain of your own"
    else:
        message = f"{extension.name} has its own attribute"
        pair, noun, type_ = equivalent
        help = f"write `{pair}` on {noun}"
        help = Help.swap_attribute(help, EXTENSION_TYPE.key, pair, type_) if type_ else help
    findings.at_extra(field, EXTENSION_TYPE.key, UNSUPPORTED_HINT, message, "name", help=help)


def _check_fit(
    field: SchemaField, encoding: lance.Encoding, key: str, words: Mapping[str, str], findings: Findings
) -> None:
    """Check an encoding against the type; `words` are its properties as they are in the attribute `key`."""
    family, kind = field.type.family, with_article(field.type.kind)
    is_number = family in NUMBERS and getattr(field.type, "bits", 0) >= 32

    def refuse(name: str, message: str, help: str, *, on_key: bool = True) -> None:
        findings.at_extra(field, key, UNSUPPORTED_HINT, message, words[name], on_key=on_key, help=help)

    if family in lance.PACKED:
        for name, value in encoding:
            if name != "packed" and value is not None:
                message = f"a Struct has no pages of its own for `{words[name]}`"
                refuse(name, message, "put it on the members")
    elif encoding.packed is not None:
        help = Help.remove_attribute("remove it", key, words["packed"])
        refuse("packed", f"only a Struct can be packed, not {kind}", help)
    elif encoding.bss == "on" and not (is_number or family is Family.LIST):
        message = f"byte stream split works on numbers of 32 and 64 bits, not on {kind}"
        refuse("bss", message, Help.remove())
    elif encoding.compression == "fsst" and family not in (Family.TEXT, Family.BYTES):
        help = Help.write("zstd", key=words["compression"])
        refuse("compression", f"fsst compresses only texts and bytes, not {kind}", help, on_key=False)


CHECKS = AttributeChecks(check)
