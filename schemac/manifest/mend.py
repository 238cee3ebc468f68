"""A schema that cannot be read, with something readable in place of what is wrong.

Layer: manifest.
Shape: plain values. The innermost type around each mistake becomes a text, which any place takes; a key that does not
belong to a field goes. All else stays at its path.
"""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from schemac.syntax.document import TreePath

_STAND_IN = {"kind": "String"}
_NESTED = ("inner", "itemType", "keyType", "valueType")


def mend(schema: Any, mistakes: Iterable[TreePath]) -> tuple[Any, frozenset[TreePath]]:
    """Return the schema with stand-ins, and where these stand."""
    mended = deepcopy(schema)
    unread: set[TreePath] = set()
    for mistake in sorted(mistakes, key=len):
        place, is_type = _place(mistake)
        if len(place) < 3:
            # Of the schema as a whole, or of a field that is none.
            continue
        holder = _holder(mended, place)
        if not isinstance(holder, dict):
            continue
        if is_type:
            holder[place[-1]] = dict(_STAND_IN)
            unread.add(place)
        elif place[-1] != "name":
            holder.pop(place[-1], None)
    return mended, frozenset(unread)


def _place(mistake: TreePath) -> tuple[TreePath, bool]:
    """Return the innermost type that a mistake is in, and True; or the key of a field that it is in."""
    place, is_type, at = mistake, False, 0
    while at < len(mistake):
        step = mistake[at]
        if step == "fields" and len(mistake) > at + 2:
            is_type = mistake[at + 2] == "type"
            at += 3
        elif step in _NESTED and is_type:
            at += 1
        else:
            break
        place = mistake[:at]
        if not is_type:
            break
    return place, is_type


def _holder(value: Any, place: TreePath) -> Any:
    """Return what the last step of a place leads into; None if there is no such thing."""
    for step in place[:-1]:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value
