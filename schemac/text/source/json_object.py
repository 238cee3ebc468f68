"""JSON objects, at the edges of the compiler, and paths in them.

Layer: text.
Errors: MalformedDocumentError.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

Json = dict[str, Any]
"""An object of a JSON, YAML or TOML document, as it was read or is about to be written.

Its keys are those of the document. What the compiler knows by names of its own is a value class.
"""

TreePath = tuple[str | int, ...]
"""The keys and indices that lead from the root of a document to a value."""


class MalformedDocumentError(Exception):
    """A place in a document that is not as its format has it."""

    def __init__(self, location: str, reason: str) -> None:
        super().__init__(f"{location}: {reason}" if location else reason)


def expect(value: Any, type_: type[T], location: str, reason: str) -> T:
    """Return a value that is of a type. Raises MalformedDocumentError with the reason for any other value."""
    if not isinstance(value, type_):
        raise MalformedDocumentError(location, reason)
    return value


def values_in(value: Any, path: TreePath = ()) -> Iterator[tuple[TreePath, Any]]:
    """Yield a value of JSON and all values in it with their paths, parents first."""
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        yield from values_in(item, (*path, step))


def rewritten(value: Any, rewrite: Callable[[Json], Any]) -> Any:
    """Return a value of JSON in which each object, those inside it first, is what a function makes of it; tuples become lists."""
    if isinstance(value, dict):
        return rewrite({key: rewritten(item, rewrite) for key, item in value.items()})
    return [rewritten(item, rewrite) for item in value] if isinstance(value, list | tuple) else value


def without_keys(value: Any, keys: Collection[str]) -> Any:
    """Return a value of JSON whose objects, at every depth, do not have some keys; tuples become lists.

    >>> without_keys([{"a": 1, "b": {"a": 2}}], ("a",))
    [{'b': {}}]
    """
    return rewritten(value, lambda object: {key: object[key] for key in object if key not in keys})


def in_order(value: Any) -> Any:
    """Return a value whose objects have their keys in order: an author's order of keys means nothing.

    >>> in_order({"b": [{"d": 1, "c": 2}], "a": 3})
    {'a': 3, 'b': [{'c': 2, 'd': 1}]}
    """
    return rewritten(value, lambda object: dict(sorted(object.items())))
