"""Rules about types and attributes together, and all descriptions, in the JSON Schemas of manifests.

Layer: language.
Shape: the rules of a family of kinds narrow its attributes, those of some types of a kind are conditions (`KindCondition`), and
those about enclosed types hold at every depth (`InsideType`). Only keywords of draft-07 are used, which most
editors support; `maxContains` only where a schema without it accepts more. Comparisons of two values are left to the
compiler.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import combinations, product
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from schemac.language.attributes import arrow, builtin, constraints
from schemac.language.attributes.attribute import NESTED, TEMPORAL, Family, Role, spellings
from schemac.language.attributes.registry import ATTRIBUTES, of_role
from schemac.language.kinds.plain import MOST_DIGITS
from schemac.language.kinds.registry import BY_NAME, KINDS
from schemac.language.logical.model import LogicalType
from schemac.text.source.json_object import Json, rewritten


def spelled_words(words: Iterable[str]) -> list[str]:
    """Return words in all their spellings."""
    return list(dict.fromkeys(spelling for word in words for spelling in spellings(word)))


def word_choice(words: Iterable[Any], more: Iterable[str] = (), descriptions: Iterable[str] = ()) -> Json:
    """Return a choice of words that editors offer in the standard's spelling, and take in all of them.

    `more` are words that are taken and not offered.
    """
    offered = list(words)
    others = [
        w for w in (*spelled_words(w for w in offered if isinstance(w, str)), *more) if w not in offered
    ]
    texts = list(descriptions)
    choice: Json = {"enum": offered, **({"enumDescriptions": texts} if texts else {})}
    if not others:
        return choice
    # Editors complete the words of an `enum`, and none of a pattern.
    pattern = f"^(?:{'|'.join(map(re.escape, dict.fromkeys(others)))})$"
    return {"anyOf": [choice, {"type": "string", "pattern": pattern}]}


def json_schema(annotation: Any) -> Json:
    """Return the JSON Schema of what an annotation accepts, without titles, which only repeat names."""

    def without_title(part: Json) -> Json:
        return {key: item for key, item in part.items() if key != "title" or not isinstance(item, str)}

    schema: Json = rewritten(TypeAdapter(annotation).json_schema(by_alias=True), without_title)
    return schema


def ref(name: str) -> Json:
    """Return a reference to a definition."""
    return {"$ref": f"#/$defs/{name}"}


def either(condition: Json, then: Json | bool, otherwise: Json) -> Json:
    """Return a schema whose second or third part applies, as the condition is met or not."""
    return {"if": condition, "then": then, "else": otherwise}


def has(key: str, value: Json) -> Json:
    """Return the condition that a mapping has a value under a key."""
    return {"properties": {key: value}, "required": [key]}


def of_extra(rule: Json | bool) -> Json:
    """Return the rule that the attributes of a field or type keep another one."""
    return {"properties": {"extra": rule}}


_INSIDE = ref("InsideType")
_KEY_PARTS = {attribute.key: False for attribute in of_role(Role.KEY_PART)}


class KindCondition(NamedTuple):
    """Some types of a kind, and what their attributes may not be."""

    name: str
    body: Json
    """Such a type, as it is written without an Option around it."""
    attributes: Json
    """Properties of `extra`."""
    kinds: tuple[str, ...]
    """Kinds that it is about."""


def words_of(family: Family) -> list[str]:
    """Return the names of the kinds of a family in all their spellings."""
    return spelled_words(_kinds_of(family))


def inside_options(name: str, *bodies: Json) -> Json:
    """Return the definition of types, which may have Options around them."""
    return {"anyOf": [*bodies, type_object(words_of(Family.OPTION), {"inner": ref(name)}, ["inner"])]}


def type_object(words: list[str], properties: Json | None = None, required: Iterable[str] = ()) -> Json:
    """Return the schema of a type that is written as a mapping, of one of some kinds."""
    properties = {"kind": {"enum": words}, **(properties or {})}
    return {"type": "object", "properties": properties, "required": ["kind", *required]}


def kind_conditions() -> tuple[KindCondition, ...]:
    """Return the conditions of all kinds: of lengths, decimals and integers, of vectors and of keys."""
    of_bytes, of_lists = words_of(Family.BYTES), words_of(Family.LIST)
    useless = [arrow.BUFFER_ENCODING.key, *(attribute.key for attribute in constraints.OF_LENGTH)]
    fixed = KindCondition(
        "FixedLengthType",
        type_object([*of_bytes, *of_lists], {"fixedLength": _LENGTH}, ["fixedLength"]),
        dict.fromkeys(useless, False),
        (*_kinds_of(Family.BYTES), *_kinds_of(Family.LIST)),
    )
    of_a_uuid = has("fixedLength", {"const": arrow.UUID_LENGTH})
    no_uuid = {"anyOf": [{"enum": of_bytes}, {**type_object(of_bytes), "not": of_a_uuid}]}
    no_uuids = _without_extensions(["arrow.uuid"])
    result = [fixed, KindCondition("BytesOfOtherLengthType", no_uuid, no_uuids, _kinds_of(Family.BYTES))]
    for width, digits in list(MOST_DIGITS.items())[:-1]:
        precision = {"precision": {"type": "integer", "minimum": digits + 1}}
        body = type_object(words_of(Family.DECIMAL), precision, ["precision"])
        narrow = {arrow.DECIMAL_ENCODING.key: {"properties": {"bitWidth": {"not": {"const": width}}}}}
        result.append(KindCondition(f"DecimalOver{digits}Type", body, narrow, _kinds_of(Family.DECIMAL)))
    # The bounds of integers are numbers that they have; texts are left to the compiler.
    for name in _kinds_of(Family.INTEGER):
        words = spelled_words([name])
        samples: Any = BY_NAME[name].variants()[0].samples()
        within = {"minimum": min(samples), "maximum": max(samples)}
        bounds: Json = {a.key: within for a in (constraints.MINIMUM, constraints.MAXIMUM)}
        body = {"anyOf": [{"enum": words}, type_object(words)]}
        result.append(
            KindCondition(f"{name}Type", body, {**bounds, constraints.ENUM.key: {"items": within}}, (name,))
        )
    return (*result, *_vector_conditions(), *_key_conditions())


def _kinds_of(family: Family) -> tuple[str, ...]:
    """Return the names of all kinds of a family."""
    return tuple(name for name, kind in BY_NAME.items() if kind.family is family)


_LENGTH: Json = {"type": "integer"}


def _without_extensions(names: list[str]) -> Json:
    """Return the rule that the extension type is none of these."""
    return {arrow.EXTENSION_TYPE.key: {"properties": {"name": {"not": {"enum": names}}}}}


def _vector_conditions() -> Iterator[KindCondition]:
    """Yield the conditions of lists that cannot be stored as bfloat16: all but vectors of short floats."""
    keys = [attribute.key for attribute in of_role(Role.BRAIN_FLOATS)]
    if not keys:
        return
    floats = {name: kind for name, kind in BY_NAME.items() if kind.family is Family.FLOAT}
    names = [name for name, kind in floats.items() if getattr(kind, "bits", 64) <= 32]
    words, of_items = words_of(Family.LIST), spelled_words(names)
    item = {"anyOf": [{"enum": of_items}, ref("ShortFloatType")]}
    vector = {
        "properties": {"fixedLength": _LENGTH, "itemType": item},
        "required": ["fixedLength", "itemType"],
    }
    body = {**type_object(words), "not": vector}
    yield KindCondition("NoVectorType", body, dict.fromkeys(keys, False), _kinds_of(Family.LIST))
    yield KindCondition("ShortFloatType", {"anyOf": [{"enum": of_items}, type_object(of_items)]}, {}, ())


def _key_conditions() -> Iterator[KindCondition]:
    """Yield what no part of a primary key is: null, or with members; a list may be one if it is a vector."""
    if not _KEY_PARTS:
        return
    nested = [word for family in NESTED - {Family.LIST} for word in words_of(family)]
    lists = {**type_object(words_of(Family.LIST)), "not": has("fixedLength", _LENGTH)}
    body = {"anyOf": [type_object([*sorted(nested), *words_of(Family.OPTION)]), lists]}
    kinds = tuple(name for name, kind in BY_NAME.items() if kind.family in (*NESTED, Family.OPTION))
    yield KindCondition("NoKeyType", body, _KEY_PARTS, kinds)


def condition_definitions() -> Json:
    """Return the definitions of the conditions, and of what holds inside of other types."""
    definitions = {
        condition.name: inside_options(condition.name, condition.body) for condition in kind_conditions()
    }
    # Nothing inside of a type that may be null or repeated is part of a primary key.
    steps: Json = dict.fromkeys(("type", *_steps_of(*KINDS)), _INSIDE)
    inside = {"properties": {"extra": {"properties": _KEY_PARTS}, **steps, "fields": {"items": _INSIDE}}}
    return {**definitions, "InsideType": inside, "Columns": columns_definition()}


def _steps_of(*kinds: type[LogicalType]) -> list[str]:
    """Return the properties of kinds that are types."""
    properties = (prop for kind in kinds for prop in kind.model_fields.values())
    return list(dict.fromkeys(str(prop.alias) for prop in properties if prop.annotation is LogicalType))


def condition_rules(key: str) -> list[Json]:
    """Return the rules of attributes next to a type, which is under `type` or `inner`."""
    return [
        {"if": has(key, ref(condition.name)), "then": of_extra({"properties": condition.attributes})}
        for condition in kind_conditions()
        if condition.attributes
    ]


def rules_of_kind(name: str) -> list[Json]:
    """Return the rules of a kind's own attributes, and of what is inside of it."""
    kind = BY_NAME[name]
    rules: list[Json] = [
        {"if": condition.body, "then": of_extra({"properties": condition.attributes})}
        for condition in kind_conditions()
        if name in condition.kinds and kind.family is not Family.OPTION
    ]
    steps = _steps_of(kind)
    if kind.family in (Family.OPTION, Family.LIST, Family.MAP):
        rules.append({"properties": dict.fromkeys(steps, _INSIDE)})
    no_column = of_extra({"properties": {builtin.TYPE.key: _no_word("ObjectLink")}})
    if kind.family is Family.STRUCT:
        rules.append({"properties": {"fields": {"items": no_column}}})
    elif kind.family in (Family.LIST, Family.MAP):
        rules.append({"properties": dict.fromkeys(steps, no_column)})
    return rules


_MOST_KEY_FIELDS = 5
"""Positions of a key that are looked for; hardly any key has more fields."""


def columns_definition() -> Json:
    """Return the rules of columns together: no two of them are at one position of a key.

    Validators of draft-07 ignore `maxContains`, so for them these rules accept more.
    """
    keys = [attribute.key for role in (Role.KEY_PART, Role.CLUSTERING_PART) for attribute in of_role(role)]
    items: list[Json] = []
    for key, position in product(keys, range(1, _MOST_KEY_FIELDS + 1)):
        item: Json = {"const": position}
        for step in ("position", key, "extra"):
            item = {"type": "object", **has(step, item)}
        items.append(item)
    return {
        "allOf": [
            {"if": {"type": "array", "contains": item}, "then": {"contains": item, "maxContains": 1}}
            for item in items
        ]
    }


def _no_word(*words: str) -> Json:
    """Return the rule that a logical type of the standard is none of these."""
    return {"properties": {"kind": {"not": {"enum": spelled_words(words)}}}}


def rules_of_mapping(keys: Iterable[str], family: Family | None) -> list[Json]:
    """Return the rules of attributes together, and of those that a family has."""
    known, buffer = set(keys), arrow.BUFFER_ENCODING.key
    deciding = sorted(key for key in known & set(ATTRIBUTES) if ATTRIBUTES[key].decides_type)
    pairs = [*combinations(deciding, 2), *((blob.key, buffer) for blob in of_role(Role.BLOB))]
    rules: list[Json] = [
        {
            "not": {"required": list(pair)},
            "errorMessage": f"`{pair[0]}` and `{pair[1]}` cannot be used together",
        }
        for pair in pairs
        if known.issuperset(pair)
    ]
    narrowed = {} if family is None else {k: v for k, v in _of_family(family).items() if k in known}
    return [*rules, {"properties": narrowed}] if narrowed else rules


def _of_family(family: Family) -> Json:
    """Return what values of attributes may be on kinds of a family, by key."""
    rules: Json = {
        key: {"properties": {p: False for p, fits in a.property_fits.items() if family not in fits}}
        for key, a in ATTRIBUTES.items()
        if a.property_fits is not None
    }
    others = [name for name, kind in arrow.EXTENSION_STORAGE.items() if BY_NAME[kind].family is not family]
    rules |= _without_extensions(others)
    if family not in builtin.WORD_FAMILIES:
        rules[builtin.TYPE.key] = _no_word(*sorted(builtin.WORDS))
    if family in (Family.TEXT, Family.BYTES):
        wide: Json = {
            "properties": {"kind": {"enum": spelled_words(["View"])}, "offsetBitWidth": {"const": 64}}
        }
        wide |= {"type": "object", "required": ["kind", "offsetBitWidth"]}
        rules[arrow.BUFFER_ENCODING.key] = {"not": wide}
    for families, type_ in _ENUM_TYPES.items():
        if family in families:
            rules[constraints.ENUM.key] = {"items": {"type": type_}}
    if family in _CALENDAR:
        rules |= {bound.key: {"type": "string"} for bound in constraints.BOUNDS}
    return rules


_CALENDAR = TEMPORAL - {Family.DURATION}
"""Families whose bounds are written as texts."""
_ENUM_TYPES = {frozenset({Family.BOOLEAN}): "boolean", _CALENDAR | {Family.TEXT}: "string"}
"""What the items of an `enum` are written as."""


def rules_of_field() -> list[Json]:
    """Return the rule that no attribute is both next to a type and inside of its Option."""
    is_inside: Json = {}
    for key in ("extra", "inner", "type"):
        is_inside = {"type": "object", **has(key, is_inside)}
    rules = [
        {
            "if": {"properties": {"type": {"properties": {"inner": of_extra({"required": [key]})}}}},
            "then": of_extra({"properties": {key: False}}),
        }
        for key, attribute in ATTRIBUTES.items()
        if attribute.on_field
    ]
    is_inside["properties"]["type"]["properties"]["inner"]["properties"]["extra"] = {"type": "object"}
    return [{"if": is_inside, "then": {"allOf": rules}}]
