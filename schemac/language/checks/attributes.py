"""Attributes: their keys, where they stand, and what they say.

Layer: language.
Shape: an attribute that is found wrong is taken out of its field, so that later stages read sound ones only.
Errors: SC309 to SC314, SC321.
Source: Arrow's canonical extension types, for encoding hints that do not go together, or not with their type.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from math import isfinite
from typing import Any

from pydantic import ValidationError

from schemac.language.attributes import arrow, builtin
from schemac.language.attributes.attribute import KEY_PATTERN, Attribute, Role
from schemac.language.attributes.registry import ATTRIBUTES, DOMAINS, OPEN, domain_of, known, of_role
from schemac.language.kinds.registry import BY_NAME
from schemac.language.logical.dataset import Findings
from schemac.language.logical.model import PART_KEYS, ExtraAttributes, LogicalType, Part, SchemaField
from schemac.text.source import catalogue as codes
from schemac.text.source.json_object import Json, TreePath, values_in
from schemac.text.source.phrases import Help, closest, fold, one_of, with_article
from schemac.text.syntax.events import written
from schemac.text.syntax.model import ModelError, model_errors

_KEY = re.compile(KEY_PATTERN)
AddFinding = Callable[..., None]
"""Reports a finding about one attribute: code, message, steps into its value, then help and on_key by name."""


def check_field_attributes(field: SchemaField, findings: Findings, *, is_placed: bool = True) -> None:
    """Check the attributes of one field; whether they fit its type is left open where that could not be read."""
    for key in field.doubled:
        message = f"`{key}` is given twice"
        findings.at_extra(
            field, key, codes.CONFLICTING_HINTS, message, on_key=True, help="keep one of the two"
        )
    sound = sound_attributes(field.extra, field, findings, is_placed=is_placed)
    if len(sound) < len(field.extra):
        field.extra = sound


def sound_attributes(
    extra: Mapping[str, Any], field: SchemaField | None, findings: Findings, *, is_placed: bool = True
) -> ExtraAttributes:
    """Return the sound ones among the attributes of a field, or of the schema as a whole if that is None."""
    return {
        key: value
        for key, value in extra.items()
        if _is_sound(key, value, field, partial(findings.at_extra, field, key), is_placed=is_placed)
    }


def _is_sound(
    key: str, value: Any, field: SchemaField | None, report: AddFinding, *, is_placed: bool
) -> bool:
    """Whether an attribute can be used; otherwise what is wrong is reported. `field` is None for one of the schema."""
    if _is_foreign_key(key):
        return _is_json(value, report)
    if not _KEY.fullmatch(key):
        message = f"`{key}` is not a valid attribute key"
        help = f"the form is `<domain>/<name>`, such as `example.com/{name if (name := key.strip('/')).isidentifier() else 'owner'}`"
        report(codes.INVALID_ATTRIBUTE_KEY, message, on_key=True, help=help)
        return False
    attribute = known(key)
    if attribute is None:
        return _may_be_unknown(key, value, report)
    if is_placed and not _is_in_place(attribute, field, report):
        return False
    try:
        typed = attribute.typed(value, by_name=False)
    except ValidationError as error:
        return _report_errors(model_errors(error, attribute.value_type, value), attribute, value, (), report)
    if isinstance(typed, builtin.LogicalTypeWord):
        return _is_logical_type(typed, value, (), report)
    return True


@lru_cache(maxsize=1024)
def _is_foreign_key(key: str) -> bool:
    """Whether a key is of the author's own domain, and like none that is known."""
    domain = domain_of(key)
    is_of_user = _KEY.fullmatch(key) is not None and domain not in DOMAINS and known(key) is None
    return is_of_user and _near_domain(domain) is None and not any(domain_of(a) == domain for a in OPEN)


@lru_cache(maxsize=1024)
def _near_domain(domain: str) -> str | None:
    """Return the closed domain that begins with the same word."""
    word = domain.split(".", maxsplit=1)[0]
    return next((d for d in DOMAINS if d.split(".")[0] == word and d != domain), None)


def _may_be_unknown(key: str, value: Any, report: AddFinding) -> bool:
    """Whether a key that is not known can be used, as in the domains of others; what is wrong or likely meant is reported."""
    domain, _, name = key.partition("/")
    if domain in DOMAINS:
        attributes = [a for a in ATTRIBUTES.values() if domain_of(a.key) == domain]
        names = [a.name for a in attributes]
        near = closest(name, names, {fold(key): a.name for a in attributes for key in a.foreign_keys})
        properties = {a.key: getattr(a.value_type, "model_fields", {}).items() for a in attributes}
        holder = next((key for key, of in properties.items() if name in {f.alias or n for n, f in of}), None)
        if holder is not None:
            help = Help.move_under(holder, name)
        elif fold(name) in ("required", "notnull", "nullable", "optional"):
            help = "leave it out: a value may be null where its type is an Option, and nowhere else"
        elif near:
            help = Help.did_you_mean(f"{domain}/{near}", key)
        else:
            help = f"known in this domain: {', '.join(names)}"
        report(codes.UNKNOWN_ATTRIBUTE, f"`{domain}` has no attribute `{name}`", on_key=True, help=help)
        return False
    likely = f"{_near_domain(domain)}/{name}"
    meant = [likely] if likely in ATTRIBUTES else []
    meant += [a.key for a in OPEN.values() if domain_of(a.key) == domain and closest(name, (a.name,))]
    for near_key in meant:
        message = f"`{key}` is not a known attribute, but `{near_key}` is"
        report(codes.LIKELY_TYPO, message, on_key=True, help=Help.did_you_mean(near_key, key))
    return _is_json(value, report)


def _is_json(value: Any, report: AddFinding) -> bool:
    """Whether a value can be written as JSON, as attributes are; numbers that only YAML has are reported."""
    unwritable = [
        (at, item) for at, item in values_in(value) if isinstance(item, float) and not isfinite(item)
    ]
    for at, number in unwritable:
        message = f"the number {number} cannot be written in JSON"
        report(codes.INVALID_ATTRIBUTE, message, *at, help=Help.quote(help="write it as a text in quotes"))
    return not unwritable


def _is_in_place(attribute: Attribute[Any], field: SchemaField | None, report: AddFinding) -> bool:
    """Whether an attribute may be on a field of this type, or on the schema if `field` is None; otherwise that is reported."""
    key, fits = attribute.key, attribute.fits
    if field is None and not attribute.on_schema:
        message = f"`{key}` belongs to a field, not to the schema"
        help = "move it under a field's `extra:`"
    elif field is not None and not attribute.on_field:
        message = f"`{key}` belongs to the schema, not to a field"
        help = Help.move_to_extra("move it under the `extra:` next to `fields:`", is_of_schema=True)
    elif field is not None and fits is not None and field.type.family not in fits:
        message = f"`{key}` cannot apply to {with_article(field.type.kind)}"
        help = f"it applies to {one_of([name for name, kind in BY_NAME.items() if kind.family in fits])}"
        for child in field.children:
            # The author of a hint for a list or map probably meant what is in it.
            if isinstance(child.segment, Part) and child.type.family in fits:
                text = f"write it for the {child.segment.value}: `{{kind: {child.type.kind}, extra: {{{key}: …}}}}`"
                help = Help.move_to_child(text, PART_KEYS[child.segment])
                break
    else:
        return True
    report(codes.MISPLACED_ATTRIBUTE, message, on_key=True, help=help)
    return False


def _report_errors(
    errors: Iterable[ModelError],
    attribute: Attribute[Any],
    value: Any,
    steps: TreePath,
    report: AddFinding,
) -> bool:
    """Report the errors of an attribute's value, or of the part of it that `steps` lead to; return False."""
    fields = getattr(attribute.value_type, "model_fields", {})
    for error in errors:
        path, message = (*steps, *error.path), error.message
        if message.startswith("this "):
            part = f"`{path[-1]}`" if path else f"`{attribute.key}`"
            name = part if steps or not path else f"an item of `{attribute.key}`"
            message = name + message.removeprefix("this")
        is_whole = not path and " has to be a" in message
        example = attribute.example if is_whole else ""
        help = error.help or (
            f"write `{example}`, for example" if example else f"{attribute.name}: {attribute.summary}"
        )
        is_no_list = not error.path and message.startswith(f"`{attribute.key}` has to be a list")
        if isinstance(value, str) and "kind" in fields:
            help = Help.write(f"{{kind: {written(value)}}}")
        elif isinstance(value, str) and is_no_list:
            help = Help.write(f"[{written(value)}]")
        elif value is True and fields and not any(field.is_required() for field in fields.values()):
            help = Help.write("{}")
        elif error.path == ("linkType",) and isinstance(value["linkType"], str):
            help = Help.write(f"{{kind: {written(value['linkType'])}}}")
        report(codes.INVALID_ATTRIBUTE, message, *path, help=help, on_key=error.on_key)
    return False


def _is_logical_type(word: builtin.LogicalTypeWord, value: Json, steps: TreePath, report: AddFinding) -> bool:
    """`opendatafabric.org/type`: a word of the standard, or any kind in its long form."""
    if word.kind in builtin.WORDS:
        return _is_standard_word(word, value, steps, report)
    if word.kind not in BY_NAME:
        words = f"the words of the standard are {one_of(sorted(builtin.WORDS))}"
        help = Help.nearest(word.kind, [*builtin.WORDS, *BY_NAME], words)
        report(codes.INVALID_ATTRIBUTE, f"there is no logical type '{word.kind}'", *steps, "kind", help=help)
        return False
    try:
        BY_NAME[word.kind].model_validate({**value, "kind": word.kind}, by_name=False)
    except ValidationError as error:
        return _report_errors(model_errors(error, LogicalType, value), builtin.TYPE, value, steps, report)
    return True


def _is_standard_word(
    word: builtin.LogicalTypeWord, value: Json, steps: TreePath, report: AddFinding
) -> bool:
    """Whether Did, Multihash or ObjectLink has the properties that belong to it; otherwise that is reported."""
    is_link = word.kind == "ObjectLink"
    unknown = [key for key in value if key != "kind" and not (is_link and key == "linkType")]
    for key in unknown:
        way_out = Help.did_you_mean("linkType", key) if is_link else Help.remove()
        message = f"{word.kind} has no property `{key}`"
        report(codes.INVALID_ATTRIBUTE, message, *steps, key, on_key=True, help=way_out)
    if unknown or not is_link:
        return not unknown
    if "linkType" not in value:
        help = Help.add_key("linkType", "{kind: Multihash}")
        report(codes.INVALID_ATTRIBUTE, "ObjectLink needs `linkType`", *steps, "kind", help=help)
        return False
    inner, path = value["linkType"], (*steps, "linkType")
    try:
        typed = builtin.LogicalTypeWord.model_validate(inner, by_name=False)
    except ValidationError as error:
        errors = model_errors(error, builtin.LogicalTypeWord, inner)
        return _report_errors(errors, builtin.TYPE, inner, path, report)
    if typed.kind == "ObjectLink":
        help = Help.write("Multihash", key="kind", is_safe=False)
        report(codes.INVALID_ATTRIBUTE, "a link to a link has no meaning", *path, "kind", help=help)
        return False
    return _is_logical_type(typed, inner, path, report)


_DECIDING = (
    *(a.key for a in ATTRIBUTES.values() if a.decides_type and domain_of(a.key) != arrow.DOMAIN),
    *(arrow.EXTENSION_TYPE.key, arrow.DICTIONARY_ENCODING.key),
)
"""Attributes that each decide the whole layout; those of engines first."""


def check_hints(field: SchemaField, findings: Findings) -> None:
    """Check the hints of one field against its type and each other."""
    whole = [key for key in _DECIDING if key in field.extra]
    if len(whole) > 1:
        message = f"`{whole[0]}` and `{whole[1]}` cannot be used together"
        help: str = "keep one of the two"
        findings.at_extra(field, whole[1], codes.CONFLICTING_HINTS, message, on_key=True, help=help)
    buffer = arrow.BUFFER_ENCODING.key
    for attribute in of_role(Role.BLOB):
        if buffer in field.extra and attribute.key in field.extra:
            message = f"`{attribute.key}` determines the layout, so `{buffer}` has no effect"
            help = Help.remove(what="this hint")
            findings.at_extra(field, buffer, codes.CONFLICTING_HINTS, message, on_key=True, help=help)
    extension = arrow.EXTENSION_TYPE.read(field.extra)
    if extension is not None:
        _check_extension(field, extension, findings)


def _check_extension(field: SchemaField, extension: arrow.ExtensionType, findings: Findings) -> None:
    """Report an extension type that does not suit its storage, or whose metadata is not valid."""
    report = partial(findings.at_extra, field, arrow.EXTENSION_TYPE.key, codes.UNSUPPORTED_HINT)
    storage = arrow.EXTENSION_STORAGE.get(extension.name)
    length = getattr(field.type, "fixed_length", None)
    if storage is not None and field.type.kind != storage:
        message = f"{extension.name} is stored as {with_article(storage)}, but this field is {with_article(field.type.kind)}"
        report(message, "name", help=Help.retype("type", storage))
    elif extension.name == "arrow.uuid" and length != arrow.UUID_LENGTH:
        retyped = Help.retype("type", f"{{kind: Binary, fixedLength: {arrow.UUID_LENGTH}}}")
        report("arrow.uuid is stored in 16 bytes", "name", help=retyped)
    elif extension.name == "arrow.fixed_shape_tensor":
        tensor = arrow.TensorShape.parse(extension.metadata or "")
        if tensor is None:
            message = "the metadata of a tensor has to be a JSON object with its shape"
            report(message, "metadata", help="write `metadata: '{\"shape\":[2,3]}'`")
        elif tensor.size != length:
            message = f"a tensor of shape {tensor.shape} has {tensor.size} items, but the list has {length or 'any number'}"
            report(message, "metadata", help=Help.retype("fixedLength", str(tensor.size)))
        elif field.children[0].is_nullable:
            message = "the items of a tensor may not be null"
            required = Help.unwrap("write the item type without Option", is_safe=False)
            findings.at_type(field, codes.UNSUPPORTED_HINT, message, "itemType", help=required)
    elif extension.name == "arrow.opaque" and arrow.OpaqueName.parse(extension.metadata or "") is None:
        message = "the metadata of arrow.opaque has to name a type and its vendor"
        help = 'write `metadata: \'{"type_name":"point","vendor_name":"PostGIS"}\'`'
        report(message, "metadata", help=help)
    elif extension.metadata and extension.name in arrow.EXTENSION_STORAGE:
        report(f"{extension.name} does not accept metadata", "metadata", help=Help.remove())
