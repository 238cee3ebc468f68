"""What can be read of a schema with mistakes, so that all else in it is looked at too.

Layer: manifest.
Shape: the innermost type around each mistake becomes a String, and a key that does not belong to a field goes. A field that cannot be
read even so is left out. All else stays at its path.
"""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, NamedTuple

from pydantic import ValidationError

from schemac.logical.model import Field, Schema
from schemac.syntax.document import TreePath

_STAND_IN = {"kind": "String"}
_TYPE_KEYS = ("inner", "itemType", "keyType", "valueType")


class Recovered(NamedTuple):
    """The part of a schema that can be read."""

    schema: Schema
    indices: list[int]
    """Which of the fields in the text it has."""
    unread: frozenset[TreePath]
    """Where types stand in for those that cannot be read."""
    is_whole: bool
    """Whether it has all fields, with all of their types."""


def recover(standard: Any, mistakes: Iterable[TreePath]) -> Recovered | None:
    """Return what can be read of a schema in the standard's form, with mistakes at these paths; None if it has no fields."""
    schema = deepcopy(standard)
    written_fields = schema.get("fields") if isinstance(schema, dict) else None
    if not isinstance(written_fields, list):
        return None
    unread = frozenset(_stand_in(schema, mistakes))
    fields: dict[int, Field] = {}
    for i, value in enumerate(written_fields):
        try:
            fields[i] = Field.model_validate(value, by_name=False)
        except ValidationError:
            continue
    extra = schema.get("extra", {})
    readable = Schema(fields=tuple(fields.values()), extra=extra if isinstance(extra, dict) else {})
    return Recovered(readable, list(fields), unread, len(fields) == len(written_fields) and not unread)


def _stand_in(schema: Any, mistakes: Iterable[TreePath]) -> Iterable[TreePath]:
    """Put something readable in the place of each mistake; yield where types are put in."""
    for mistake in sorted(mistakes, key=len):
        path, is_type = _innermost(mistake)
        if len(path) < 3:
            # Of the schema as a whole, or of a field that is none.
            continue
        parent = schema
        for step in path[:-1]:
            try:
                parent = parent[step]
            except (KeyError, IndexError, TypeError):
                parent = None
        if not isinstance(parent, dict):
            continue
        if is_type:
            parent[path[-1]] = dict(_STAND_IN)
            yield path
        elif path[-1] != "name":
            parent.pop(path[-1], None)


def _innermost(mistake: TreePath) -> tuple[TreePath, bool]:
    """Return the innermost type that a mistake is in, and True; or the key of a field that it is in."""
    path, is_type, at = mistake, False, 0
    while at < len(mistake):
        step = mistake[at]
        if step == "fields" and len(mistake) > at + 2:
            is_type = mistake[at + 2] == "type"
            at += 3
        elif step in _TYPE_KEYS and is_type:
            at += 1
        else:
            break
        path = mistake[:at]
        if not is_type:
            break
    return path, is_type
