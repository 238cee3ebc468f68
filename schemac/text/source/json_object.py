"""JSON objects, at the edges of the compiler, and paths in them.

Layer: text.
"""

from collections.abc import Collection
from typing import Any

Json = dict[str, Any]
"""An object of a JSON, YAML or TOML document, as it was read or is about to be written.

Its keys are those of the document. What the compiler knows by names of its own is a value class.
"""

TreePath = tuple[str | int, ...]
"""The keys and indices that lead from the root of a document to a value."""


def without_keys(value: Any, keys: Collection[str]) -> Any:
    """Return a value of JSON whose objects, at every depth, do not have some keys; tuples become lists.

    >>> without_keys([{"a": 1, "b": {"a": 2}}], ("a",))
    [{'b': {}}]
    """
    if isinstance(value, dict):
        return {key: without_keys(item, keys) for key, item in value.items() if key not in keys}
    return [without_keys(item, keys) for item in value] if isinstance(value, list | tuple) else value


def in_order(value: Any) -> Any:
    """Return a value whose objects have their keys in order: an author's order of keys means nothing.

    >>> in_order({"b": [{"d": 1, "c": 2}], "a": 3})
    {'a': 3, 'b': [{'c': 2, 'd': 1}]}
    """
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value)}
    return [in_order(item) for item in value] if isinstance(value, list | tuple) else value
