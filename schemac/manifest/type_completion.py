"""A type whose author has left out what its kind needs.

Layer: manifest.
"""

from collections.abc import Mapping
from typing import Any

from schemac.kinds.option import Option
from schemac.kinds.registry import BY_NAME
from schemac.manifest.foreign import flow
from schemac.source.report import Report
from schemac.source.suggest import closest
from schemac.source.text import SourceText
from schemac.syntax.document import parse


def complete_type(written: Mapping[str, Any]) -> str | None:
    """Return a type with the properties that its author has written, and its kind's example for those that are missing.

    A key that the kind does not have counts for the property with a similar name, or for the one part that is missing.
    """
    kind = BY_NAME.get(str(written.get("kind")))
    if kind is None:
        return None
    (document,) = parse(SourceText(kind.example, "<example>"), Report())
    example: Any = document.value
    needed = [f.alias or name for name, f in kind.model_fields.items() if f.is_required()]
    if not isinstance(example, dict):
        return None
    names = [f.alias or name for name, f in kind.model_fields.items()]
    missing = [key for key in needed if key not in written]
    whole = {**{key: example[key] for key in missing if key in example}, **written}
    for key in [key for key in written if key not in names]:
        value = whole.pop(key)
        alike = [name for name in missing if _are_alike(example.get(name), value)]
        is_doubled = isinstance(value, dict) and value.get("kind") == kind.__name__ == Option.__name__
        parts = [name for name in alike if _is_type(value) and not is_doubled]
        near = None if isinstance(value, dict) else closest(key, alike)
        meant = near or (parts[0] if len(parts) == 1 else None)
        if meant is not None:
            whole[meant] = value
    return flow({key: whole[key] for key in names if key in whole})


def _are_alike(one: Any, other: Any) -> bool:
    """Whether two values are of one sort: two types, or two numbers."""
    return _is_type(other) if _is_type(one) else type(one) is type(other) and not isinstance(one, str)


def _is_type(value: Any) -> bool:
    """Whether a value is a type, by its outermost kind."""
    kind = value.get("kind") if isinstance(value, dict) else value
    return isinstance(kind, str) and kind in BY_NAME
