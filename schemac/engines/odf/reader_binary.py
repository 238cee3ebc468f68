"""The standard's binary form of a schema into plain values.

Layer: engines.
Shape: the schema in the standard's long form. Numbers that a type needs and the buffer leaves out are zero, as FlatBuffers
has it.
Source: the standard's odf.fbs, as `schemac.engines.odf.binary` writes it.
"""

import json
from typing import Any, NoReturn

from schemac.engines.odf.binary import FLAGS, TAG
from schemac.engines.odf.buffer import Buffer, Table
from schemac.engines.odf.malformed import MalformedError
from schemac.engines.odf.values import KINDS_BY_TAG, PROPERTIES, UNITS
from schemac.kinds.registry import BY_NAME
from schemac.source.json_object import Json


def read_binary(content: bytes) -> Json | bytes:
    """Return the schema of a SetDataSchema event; of an older event, the bytes of its Arrow schema. Raises MalformedError."""
    event = Buffer(content).root()
    schema = event.table(1)
    if schema is not None:
        return _schema(schema)
    arrow = event.bytes(0)
    if arrow is None:
        raise MalformedError("it contains no schema")
    return arrow


def _schema(table: Table) -> Json:
    return {"fields": _fields(table, 0, "the schema"), **_extra(table.table(1))}


def _fields(table: Table, field: int, owner: str) -> list[Json]:
    members = table.tables(field)
    if members is None:
        raise MalformedError(f"{owner} has no fields")
    return [_field(member) for member in members]


def _field(table: Table) -> Json:
    name = table.text(0)
    if name is None:
        raise MalformedError("a field has no name")
    return {"name": name, "type": _type(table, 1, repr(name)), **_extra(table.table(3))}


def _type(table: Table, field: int, owner: str) -> Json:
    """Return the type whose tag is in a field and whose table in the next one."""
    tag = table.scalar(field, TAG) or 0
    kind = KINDS_BY_TAG.get(tag)
    if kind is None:
        raise MalformedError(f"{owner} has a type with the unknown number {tag}")
    properties = table.table(field + 1)
    if properties is None:
        raise MalformedError(f"{owner} has a {kind} without its properties")
    tree: Json = {"kind": kind}
    for item in PROPERTIES[kind]:
        value = _property(properties, kind, item.alias, item.field, owner)
        if value is not None:
            tree[item.alias] = value
    return tree


def _property(table: Table, kind: str, alias: str, field: int, owner: str) -> Any:
    """Return a property by its alias; None if it is left out."""
    if alias in FLAGS:
        value = table.scalar(field, FLAGS[alias])
        if value is None:
            return 0 if alias in ("precision", "scale") else None
        if alias != "unit":
            return value
        if not 0 <= value < len(UNITS):
            raise MalformedError(f"{owner} has a unit with the unknown number {value}")
        return UNITS[value]
    if alias == "timezone":
        return table.text(field)
    if alias == "fields":
        return _fields(table, field, owner)
    return _type(table, field, f"the {BY_NAME[kind].__name__} of {owner}" if owner[0] == "'" else owner)


def _extra(table: Table | None) -> Json:
    text = table.text(0) if table is not None else None
    if text is None:
        return {}
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"attributes are not valid JSON: {str(error)[:80]}") from error
    if not isinstance(value, dict):
        raise MalformedError("attributes are not a JSON object")
    return {"extra": value} if value else {}


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")
