"""Options of fields that a manifest has attributes for: `deprecated`, and the rules of Protovalidate.

Layer: engines.
Shape: a rule is a constraint of the values where it means the same; any other is a loss, with its own words.
Source: buf/validate/validate.proto of Protovalidate 1.0; tests/engines/protobuf/test_rules.py has its vocabulary.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from schemac.engines.protobuf.syntax import ProtoOption, listed
from schemac.language.attributes import constraints as value_rules
from schemac.language.attributes.attribute import Attribute
from schemac.language.logical.model import Part

FIELD_RULES = "(buf.validate.field)"


_NUMERIC = frozenset(
    {"float", "double"}
    | {f"{sort}{bits}" for sort in ("int", "uint", "sint", "fixed", "sfixed") for bits in (32, 64)}
)
_SIZED = frozenset({"string", "bytes"})
_CONSTRAINTS: Mapping[str, tuple[Collection[str], tuple[Attribute[Any], ...]]] = {
    "gte": (_NUMERIC, (value_rules.MINIMUM,)),
    "gt": (_NUMERIC, (value_rules.EXCLUSIVE_MINIMUM,)),
    "lte": (_NUMERIC, (value_rules.MAXIMUM,)),
    "lt": (_NUMERIC, (value_rules.EXCLUSIVE_MAXIMUM,)),
    **dict.fromkeys(("const", "in"), ({*_NUMERIC, "string"}, (value_rules.ENUM,))),
    "min_len": (_SIZED, (value_rules.MIN_LENGTH,)),
    "max_len": (_SIZED, (value_rules.MAX_LENGTH,)),
    "len": (_SIZED, (value_rules.MIN_LENGTH, value_rules.MAX_LENGTH)),
    "pattern": (("string",), (value_rules.PATTERN,)),
    "min_items": (("repeated",), (value_rules.MIN_ITEMS,)),
    "max_items": (("repeated",), (value_rules.MAX_ITEMS,)),
    "unique": (("repeated",), (value_rules.UNIQUE_ITEMS,)),
}
"""By the name of a rule, the types whose values it is about, and the constraints that mean the same."""
_NESTED = {"items": Part.ITEM, "keys": Part.KEY, "values": Part.VALUE}


class ProtoRule(NamedTuple):
    """One rule of a field, or of the items, keys or values in it."""

    parts: tuple[Part, ...]
    """Where it holds, from the field inwards."""
    constraints: Mapping[str, Any]
    """The same as attributes; empty if no attribute means it."""
    text: str
    """The rule in its own words."""
    is_required: bool = False
    """Whether it says that the field is always there."""


def rules_of(options: Sequence[ProtoOption], enum: Mapping[str, int] | None = None) -> Iterator[ProtoRule]:
    """Return the rules in the options of a field; `enum` is the enum of its values."""
    rule_options = [option for option in options if option.name.startswith(FIELD_RULES)]
    rules = [(_rules(option), option) for option in rule_options]
    if any(str(value.get("ignore", "IGNORE_UNSPECIFIED")) != "IGNORE_UNSPECIFIED" for value, _ in rules):
        # Some or all values need not keep the rules, and no constraint says which.
        yield from (ProtoRule((), {}, option.text) for option in rule_options)
        return
    for value, option in rules:
        yield from _field_rules(value, (), enum) if value else [ProtoRule((), {}, option.text)]


def exempt(options: Sequence[ProtoOption]) -> Iterator[str]:
    """Yield the fields of a message whose rules do not hold for zero, because only one of them may be set."""
    for option in options:
        if option.name.startswith("(buf.validate.message)"):
            value = _rules(option, "(buf.validate.message)").get("oneof")
            for one in listed(value):
                if isinstance(one, dict):
                    yield from map(str, listed(one.get("fields", [])))


def _rules(option: ProtoOption, name: str = FIELD_RULES) -> Mapping[str, Any]:
    """Return the value of an option as the whole message of rules; empty if it is not one."""
    value = option.value
    for step in reversed([step for step in option.name.removeprefix(name).split(".") if step]):
        value = {step: value}
    return value if isinstance(value, dict) else {}


def _field_rules(
    rules: Mapping[str, Any], parts: tuple[Part, ...], enum: Mapping[str, int] | None
) -> Iterator[ProtoRule]:
    """Yield the rules in the options of a field, or of the items, keys or values in it."""
    for name, value in rules.items():
        if name == "required" and value is True:
            yield ProtoRule(parts, {}, "required: true", is_required=True)
        elif not isinstance(value, dict):
            yield ProtoRule(parts, {}, _text(name, value))
        else:
            yield from _typed_rules(name, value, parts, enum)


def _typed_rules(
    type_: str, rules: Mapping[str, Any], parts: tuple[Part, ...], enum: Mapping[str, int] | None
) -> Iterator[ProtoRule]:
    """Yield the rules of one type, such as `int32` or `repeated`, each with the constraints that mean the same."""
    for name, value in rules.items():
        text = _text(f"{type_}.{name}", value)
        if name in _NESTED and type_ in ("repeated", "map") and isinstance(value, dict):
            yield from _field_rules(value, (*parts, _NESTED[name]), enum)
        elif type_ == "enum":
            allowed = listed(value) if name in ("const", "in") else []
            names = [word for word, number in (enum or {}).items() if number in allowed]
            # That no others are allowed is implied in a manifest.
            if not (name == "defined_only" and value is True and enum):
                yield ProtoRule(parts, {value_rules.ENUM.key: names} if names else {}, text)
        else:
            types, attributes = _CONSTRAINTS.get(name, ((), ()))
            is_lost = type_ not in types or (name == "unique" and value is not True)
            is_lost = is_lost or (name in _BOUNDS and _is_outside(rules))
            constraint = listed(value) if name in ("const", "in") else value
            constraints = {} if is_lost else {attribute.key: constraint for attribute in attributes}
            yield ProtoRule(parts, constraints, text)


_BOUNDS = ("gte", "gt", "lte", "lt")


def _is_outside(rules: Mapping[str, Any]) -> bool:
    """Whether the lower bound is above the upper one: the values are those outside of the two."""
    low = next((rules[name] for name in ("gt", "gte") if name in rules), None)
    high = next((rules[name] for name in ("lt", "lte") if name in rules), None)
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return False
    return not low < high and not (low == high and {"gte", "lte"} <= rules.keys())


def _text(name: str, value: Any) -> str:
    """Return an option's name and value as a `.proto` has them, the value cut at 160 characters."""
    value_text = (
        f'"{value}"' if type(value) is str else str(value).lower() if isinstance(value, bool) else str(value)
    )
    return f"{name}: {value_text[:160]}"
