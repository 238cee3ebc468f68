"""JSON objects, at the edges of the compiler.

Layer: text.
"""

from typing import Any

Json = dict[str, Any]
"""An object of a JSON, YAML or TOML document, as it was read or is about to be written.

Its keys are those of the document. What the compiler knows by names of its own is a value class.
"""


def in_order(value: Any) -> Any:
    """Return a value whose objects have their keys in order: an author's order of keys means nothing.

    >>> in_order({"b": [{"d": 1, "c": 2}], "a": 3})
    {'a': 3, 'b': [{'c': 2, 'd': 1}]}
    """
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value)}
    return [in_order(item) for item in value] if isinstance(value, list | tuple) else value
