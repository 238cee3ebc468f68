"""Attributes: their keys, where they stand, and what they say.

Floor: 6 (checks).
Shape: an attribute that is found wrong is taken out of its slot, so that later stages read sound ones only.
Errors: SC309 to SC313, SC321.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from schemac.attributes import odf
from schemac.attributes.attribute import KEY_PATTERN, Attribute
from schemac.attributes.registry import ATTRIBUTES, DOMAINS, domain_of, known
from schemac.kinds.registry import BY_NAME
from schemac.logical.findings import Findings
from schemac.logical.model import LogicalType
from schemac.logical.slots import Slot
from schemac.source.catalogue import (
    CONFLICTING_HINTS,
    INVALID_ATTRIBUTE,
    INVALID_ATTRIBUTE_KEY,
    LIKELY_TYPO,
    MISPLACED_ATTRIBUTE,
    UNKNOWN_ATTRIBUTE,
)
from schemac.source.suggest import closest, one_of
from schemac.syntax.complaints import complaints

_KEY = re.compile(KEY_PATTERN)
Say = Callable[..., None]
"""Reports a finding about one attribute: code, message, steps into its value, then help and on_key by name."""


def check_slot_attributes(slot: Slot, findings: Findings) -> None:
    """The attributes of one slot."""

    def say(key: str) -> Say:
        def about(*arguments: Any, **options: Any) -> None:
            findings.at_extra(slot, key, *arguments, **options)

        return about

    for key in slot.doubled:
        say(key)(CONFLICTING_HINTS, f"`{key}` stands here twice", on_key=True, help="keep one of the two")
    slot.extra = {key: value for key, value in slot.extra.items() if _is_sound(key, value, slot, say(key))}


def check_schema_attributes(extra: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    """The sound ones among the attributes of the schema as a whole."""

    def say(key: str) -> Say:
        def about(code: Any, message: str, *steps: str | int, **options: Any) -> None:
            findings.at_schema(code, message, "extra", key, *steps, **options)

        return about

    return {key: value for key, value in extra.items() if _is_sound(key, value, None, say(key))}


def _is_sound(key: str, value: Any, slot: Slot | None, say: Say) -> bool:
    # Descriptions are most of all attributes, and always the same.
    if key == odf.DESCRIPTION.key and value.__class__ is str:
        return True
    if not _KEY.fullmatch(key):
        say(
            INVALID_ATTRIBUTE_KEY,
            f"`{key}` is no attribute key",
            on_key=True,
            help="the form is `<domain>/<name>`, such as `example.com/owner`",
        )
        return False
    attribute = known(key)
    if attribute is None:
        return _is_foreign(key, value, say)
    return _is_in_place(attribute, slot, say) and _is_valid(attribute, value, say)


def _is_foreign(key: str, value: Any, say: Say) -> bool:
    domain, _, name = key.partition("/")
    if domain in DOMAINS:
        names = [a.name for a in ATTRIBUTES.values() if domain_of(a.key) == domain]
        near = closest(name, names)
        help = f"did you mean `{domain}/{near}`?" if near else f"known in this domain: {', '.join(names)}"
        say(UNKNOWN_ATTRIBUTE, f"`{domain}` has no attribute `{name}`", on_key=True, help=help)
        return False
    near_domain = next((d for d in DOMAINS if d.split(".")[0] == domain.split(".")[0] and d != domain), None)
    if near_domain is not None and f"{near_domain}/{name}" in ATTRIBUTES:
        say(
            LIKELY_TYPO,
            f"`{key}` is an attribute of nobody's; `{near_domain}/{name}` is known",
            on_key=True,
            help=f"did you mean `{near_domain}/{name}`?",
        )
    return _is_json(value, say)


def _is_json(value: Any, say: Say) -> bool:
    """YAML has numbers that JSON has not; attributes travel as JSON."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        say(
            INVALID_ATTRIBUTE, f"the number {value} has no form in JSON", help="write it as a text, in quotes"
        )
        return False
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return all(_is_json(item, say) for item in items)


def _is_in_place(attribute: Attribute[Any], slot: Slot | None, say: Say) -> bool:
    key = attribute.key
    if slot is None:
        if not attribute.on_schema:
            say(
                MISPLACED_ATTRIBUTE,
                f"`{key}` belongs to a field, not to the schema",
                on_key=True,
                help="move it under a field's `extra:`",
            )
        return attribute.on_schema
    if not attribute.on_field:
        say(
            MISPLACED_ATTRIBUTE,
            f"`{key}` belongs to the schema, not to a field",
            on_key=True,
            help="move it under the `extra:` beside `fields:`",
        )
        return False
    if attribute.fits is not None and slot.type.kind not in attribute.fits:
        fits = [kind for kind in BY_NAME if kind in attribute.fits]
        say(
            MISPLACED_ATTRIBUTE,
            f"`{key}` cannot apply to a {slot.type.kind}",
            on_key=True,
            help=f"it fits {one_of(fits)}",
        )
        return False
    return True


def _is_valid(attribute: Attribute[Any], value: Any, say: Say) -> bool:
    try:
        typed = attribute.adapter.validate_python(value)
    except ValidationError as error:
        for found in complaints(error, attribute.value_type, value):
            name = f"`{attribute.key}`" if not found.path else found.message
            message = found.message.replace("this has", f"{name} has", 1).replace("this ", f"{name} ", 1)
            help = found.help or f"{attribute.name}: {attribute.summary}"
            say(INVALID_ATTRIBUTE, message, *found.path, help=help, on_key=found.on_key)
        return False
    if isinstance(typed, odf.LogicalTypeWord):
        return _is_logical_type(typed, value, say)
    return True


def _is_logical_type(word: odf.LogicalTypeWord, value: dict[str, Any], say: Say) -> bool:
    """`opendatafabric.org/type`: a word of the standard, or any kind in its long form."""
    if word.kind in odf.WORDS:
        unknown = [key for key in value if key not in ("kind", "linkType")]
        if unknown:
            say(INVALID_ATTRIBUTE, f"{word.kind} has no property `{unknown[0]}`", unknown[0], on_key=True)
        elif (word.kind == "ObjectLink") != ("linkType" in value):
            say(
                INVALID_ATTRIBUTE,
                "`linkType` belongs to ObjectLink, which needs it",
                "kind",
                help="write `linkType: {kind: Multihash}`",
            )
        elif isinstance(word.link_type, dict):
            return _is_logical_type(odf.LogicalTypeWord.model_validate(word.link_type), word.link_type, say)
        else:
            return True
        return False
    if word.kind not in BY_NAME:
        near = closest(word.kind, [*odf.WORDS, *BY_NAME])
        say(
            INVALID_ATTRIBUTE,
            f"there is no logical type '{word.kind}'",
            "kind",
            help=f"did you mean `{near}`?" if near else "",
        )
        return False
    try:
        BY_NAME[word.kind].model_validate(value)
    except ValidationError as error:
        for found in complaints(error, LogicalType, value):
            say(INVALID_ATTRIBUTE, found.message, *found.path, help=found.help, on_key=found.on_key)
        return False
    return True
