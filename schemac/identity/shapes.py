"""Fields as a lock holds them, and back.

Layer: identity.
Shape: a type's text has its own properties but not its children, which have lines of their own; `?` stands for Option.
"""

import json
from collections.abc import Iterable
from decimal import Decimal

import schemac.kinds.registry  # noqa: F401 — without it no kind is known
from schemac.arrow.lower_metadata import compact
from schemac.identity.lock import LockedDataset, Shape, State, Version, order_of
from schemac.logical.model import Schema
from schemac.logical.path import Part
from schemac.logical.schema_fields import SchemaField
from schemac.source.json_object import Json

_PART_KEYS = {Part.ITEM: "itemType", Part.KEY: "keyType", Part.VALUE: "valueType"}
_CHILDREN = frozenset({"fields", *_PART_KEYS.values()})


def shape_of(field: SchemaField, parent: int | None, position: Decimal | None) -> Shape:
    """Return the shape of a field that is below a parent."""
    type_ = field.type
    properties: Json = {}
    for name, info in type(type_).model_fields.items():
        key = info.alias or name
        if name == "kind" or key in _CHILDREN or name == "extra":
            continue
        value = getattr(type_, name)
        if value != info.get_default():
            properties[key] = value
    text = compact({"kind": type_.kind, **properties}) if properties else str(type_.kind)
    extra = compact(dict(field.extra)) if field.extra else ""
    return Shape(parent, field.segment, position, f"{text}?" if field.is_nullable else text, extra)


def schema_of(dataset: LockedDataset, version: Version) -> Schema:
    """Return the schema of a version, attributes next to the names of fields."""
    states = dataset.states_of(version.number)
    tree: Json = {"fields": _members(_children(states), None)}
    if version.extra:
        tree["extra"] = json.loads(version.extra)
    return Schema.model_validate(tree)


def _children(states: Iterable[State]) -> dict[int | None, list[State]]:
    children: dict[int | None, list[State]] = {}
    for state in states:
        children.setdefault(state.shape.parent, []).append(state)
    for siblings in children.values():
        siblings.sort(key=order_of)
    return children


def _members(children: dict[int | None, list[State]], parent: int | None) -> list[Json]:
    return [_member(children, state) for state in children.get(parent, ())]


def _member(children: dict[int | None, list[State]], state: State) -> Json:
    tree: Json = {"name": state.shape.segment, "type": _type(children, state)}
    if state.shape.extra:
        tree["extra"] = json.loads(state.shape.extra)
    return tree


def _part(children: dict[int | None, list[State]], state: State) -> Json:
    tree = _type(children, state)
    return {**tree, "extra": json.loads(state.shape.extra)} if state.shape.extra else tree


def _type(children: dict[int | None, list[State]], state: State) -> Json:
    text = state.shape.type
    is_nullable = text.endswith("?")
    text = text.removesuffix("?")
    type_: Json = json.loads(text) if text.startswith("{") else {"kind": text}
    if type_["kind"] == "Struct":
        type_["fields"] = _members(children, state.id)
    for child in children.get(state.id, ()):
        if isinstance(child.shape.segment, Part):
            type_[_PART_KEYS[child.shape.segment]] = _part(children, child)
    return {"kind": "Option", "inner": type_} if is_nullable else type_
