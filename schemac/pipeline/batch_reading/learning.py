"""Learns the keys of JSON records that no field takes: Arrow's parser has to know a key to see that it does not stand twice.

Layer: pipeline.
Shape: some records in, a tree that also has their other keys out. What is learned decides about speed only: a record with
       a key that is not known, or a value of another kind, is read one by one.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa

from schemac.pipeline.batch_reading.forms import NUMBER, Form
from schemac.pipeline.batch_reading.parts import Items, Leaf, Members, Part
from schemac.rows.judging.scalars import Token

MOST_LEARNED_KEYS, MOST_LEARNED_LEVELS = 200, 16
"""A record with more is read one by one."""

MayLearn = Callable[[tuple[str, ...], str], bool]
"""Whether the object at a path may have a key that no field takes."""


def with_learned(
    root: Members, records: list[Any], may_learn: MayLearn, path: tuple[str, ...] = ()
) -> Members:
    """Add the keys of some objects to those that are known."""
    members = dict(root.members)
    objects = [record for record in records if isinstance(record, dict)]
    for key in dict.fromkeys(key for record in objects for key in record):
        values = [record[key] for record in objects if record.get(key) is not None]
        known, inside = members.get(key), (*path, key)
        if isinstance(known, Members):
            members[key] = with_learned(known, values, may_learn, inside)
        elif isinstance(known, Items) and isinstance(known.item, Members):
            items = [item for value in values if isinstance(value, list) for item in value]
            item = with_learned(known.item, items, may_learn, (*inside, "[]"))
            members[key] = replace(known, item=item)
        elif (known is None and may_learn(path, key)) or (known is not None and _is_vague(known)):
            part = _learned(values, may_learn, inside)
            if part is not None and len(members) - len(root.members) < MOST_LEARNED_KEYS:
                members[key] = part
        elif known is not None and _has_points(values):
            members[key] = _with_points(known)
    return replace(root, members=members)


def _has_points(values: list[Any]) -> bool:
    """Whether some of these numbers, or of the items of these lists, are doubles."""
    return any(
        isinstance(value, float) or (isinstance(value, list) and _has_points(value)) for value in values
    )


def _with_points(part: Part) -> Part:
    """Let the integers of a value, or of a list, have a point."""
    if isinstance(part, Items):
        return replace(part, item=_with_points(part.item))
    return replace(part, form=part.form.with_points) if isinstance(part, Leaf) else part


def _is_vague(part: Part) -> bool:
    """Whether so far only nulls and empty lists have been seen of a value that no field takes."""
    return part == NOTHING or (isinstance(part, Items) and _is_vague(part.item))


def _learned(values: list[Any], may_learn: MayLearn, path: tuple[str, ...]) -> Part | None:
    """Describe values that no field takes; None if they are of several kinds, or nested too deep."""
    if len(path) > MOST_LEARNED_LEVELS:
        return None
    kinds = {float if type(value) is int else type(value) for value in values}
    if len(kinds) > 1:
        return None
    kind = kinds.pop() if kinds else None
    if kind is list:
        items = [item for value in values for item in value if item is not None]
        item = _learned(items, may_learn, (*path, "[]"))
        return None if item is None else Items(item)
    if kind is dict:
        return with_learned(Members({}, ()), values, may_learn, path)
    return NOTHING if kind is None else Leaf(LEARNED[kind])


NOTHING = Leaf(Form(Token.ANY, "null", pa.null(), pa.null()))
LEARNED = {
    str: Form(Token.STRING, "", pa.string(), pa.string()),
    bool: Form(Token.BOOLEAN, "(?:true|false)", pa.bool_(), pa.bool_()),
    float: Form(Token.NUMBER, NUMBER, pa.float64(), pa.float64()),
}
"""Values that no field takes are parsed as these, and then forgotten."""
