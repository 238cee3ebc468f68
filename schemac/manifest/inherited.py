"""Attributes of a group that its fields have.

Layer: manifest.
"""

from typing import Any

from schemac.attributes.attribute import Inheritance
from schemac.attributes.registry import known


def is_inherited(key: str) -> bool:
    """Whether the fields of a group or a schema have an attribute that is written there."""
    attribute = known(key)
    return attribute is not None and attribute.inheritance is not None


def merged(key: str, outer: Any, inner: Any) -> Any:
    """Return what a field has that says something itself, inside something that says it too."""
    attribute = known(key)
    assert attribute is not None
    is_list = isinstance(outer, list) and isinstance(inner, list)
    if attribute.inheritance is Inheritance.ADDED and is_list:
        return [*outer, *(item for item in inner if item not in outer)]
    return inner
