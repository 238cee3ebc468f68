"""Contracts and other documents in YAML or JSON that declare columns: what is read of them, and what is left.

Layer: importers.
Shape: a mapping is read key by key, and each value has to be of the type that its key has; what nobody read is a loss, named
above its field. So no key is lost in silence, whatever the document has, and this is the one place where losses are told.
Errors: SC1xx for what is no YAML, SC552 unreadable-source at the very value.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from schemac.importers.importer import Imported, refuse
from schemac.kinds.map import Map
from schemac.kinds.null import Null
from schemac.kinds.option import Option
from schemac.kinds.sequences import List
from schemac.kinds.struct import Struct
from schemac.source.json_object import Json
from schemac.source.report import Report
from schemac.source.text import SourceText, decode_text
from schemac.syntax.document import Document, TreePath, parse

_LONGEST = 160
"""Characters of a value that are shown of a loss."""
_SILENT: tuple[Any, ...] = (None, [], {}, "")
"""Values that say nothing."""


class MisplacedError(Exception):
    """A value that the format does not have at its place."""

    def __init__(self, reason: str, path: TreePath) -> None:
        super().__init__(reason)
        self.path = path


class Node:
    """A mapping of a document, with the keys that nobody has read yet."""

    def __init__(self, value: Any, path: TreePath) -> None:
        if not isinstance(value, dict):
            raise MisplacedError(f"{_shown_path(path)} has to be a mapping, not {_shown(value)}", path)
        self.path = path
        self._value: Mapping[str, Any] = value
        self._left = dict.fromkeys(value)

    def has(self, key: str) -> bool:
        """Whether a key is there, with a value."""
        return self._value.get(key) is not None

    def text(self, *keys: str) -> str | None:
        """Return the text at the first of some keys that is there; a number counts as its text."""
        for key in keys:
            value = self._taken(key)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                raise self._wrong(key, "a text")
            return str(value)
        return None

    def needed_text(self, key: str) -> str:
        """Return a text that has to be there, and not empty."""
        found = self.text(key)
        if not found:
            raise MisplacedError(f"{_shown_path(self.path)} needs a `{key}`", self.path)
        return found

    def flag(self, *keys: str) -> bool | None:
        """Return true or false at the first of some keys that is there; None where none is."""
        for key in keys:
            value = self._taken(key)
            if value is None:
                continue
            if not isinstance(value, bool):
                raise self._wrong(key, "true or false")
            return value
        return None

    def number(self, key: str) -> int | None:
        """Return an integer."""
        value = self._taken(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(key, "an integer")
        return value

    def node(self, key: str) -> "Node | None":
        """Return a mapping in this one."""
        value = self._taken(key)
        return None if value is None else Node(value, (*self.path, key))

    def nodes(self, key: str) -> "list[Node]":
        """Return the mappings of a list."""
        return [Node(item, (*self.path, key, i)) for i, item in enumerate(self.items(key))]

    def items(self, key: str) -> list[Any]:
        """Return a list as it is."""
        value = self._taken(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        return value

    def members(self, key: str) -> "list[tuple[str, Node]]":
        """Return the mappings of a mapping, each with its key."""
        holder = self.node(key)
        if holder is None:
            return []
        return [(str(name), Node(item, (*holder.path, name))) for name, item in holder._value.items()]

    def texts(self, key: str) -> list[str]:
        """Return a list of texts."""
        found = self.items(key)
        if not all(isinstance(item, str) for item in found):
            raise self._wrong(key, "a list of texts")
        return found

    def over(self, below: "Node") -> "Node":
        """Return this mapping with the values of another one for those keys that it has not."""
        return Node({**below._value, **self._value}, self.path)

    def drop(self, *keys: str) -> None:
        """Leave out keys that say nothing of a schema, or say it again."""
        for key in keys:
            self._left.pop(key, None)

    def losses(self) -> list[str]:
        """Return what was not read, as notes; an empty value says nothing."""
        return [
            f"not kept: {key}: {_shown(self._value[key])}"
            for key in self._left
            if self._value[key] not in _SILENT
        ]

    def _taken(self, key: str) -> Any:
        self._left.pop(key, None)
        return self._value.get(key)

    def _wrong(self, key: str, wanted: str) -> MisplacedError:
        path = (*self.path, key)
        return MisplacedError(f"{_shown_path(path)} has to be {wanted}, not {_shown(self._value[key])}", path)


def read_documents(
    path: Path, title: str, make: Callable[[Node], Iterator[Imported]], report: Report
) -> Imported | None:
    """Return the datasets that a function makes of each document of a file; `title` says what the file is taken for."""
    source = decode_text(path.read_bytes(), str(path), report)
    if source is None:
        return None
    parsed = parse(source, report)
    if report.has_errors:
        return None
    found: list[Imported] = []
    for document in parsed:
        try:
            found += make(Node(document.value, ()))
        except MisplacedError as error:
            _refuse_at(error, document, path, title, report)
            return None
    if not found:
        refuse(path, f"it is {title} without a table", report, source=source)
        return None
    first, *others = found
    return Imported(
        first.schema,
        first.comments,
        first.name,
        first.notes,
        first.versions,
        first.numbered,
        None,
        tuple(others),
    )


def _refuse_at(error: MisplacedError, document: Document, path: Path, title: str, report: Report) -> None:
    source: SourceText = document.source
    refuse(path, f"it is not {title}: {error}", report, source=source, span=document.span(error.path))


def optional(tree: Json, *, is_required: bool) -> Json:
    """Return a type that may be null unless it is required; what is always null may be."""
    if tree["kind"] == Option.__name__ or (is_required and tree["kind"] != Null.__name__):
        return tree
    return {"kind": Option.__name__, "inner": tree}


def member(name: str, tree: Json, extra: Json) -> Json:
    """Return a column, or a member of a struct."""
    return {"name": name, "type": tree, **({"extra": extra} if extra else {})}


def struct(members: list[Json]) -> Json:
    """Return a struct of members."""
    return {"kind": Struct.__name__, "fields": members}


def list_of(item: Json) -> Json:
    """Return a list of items."""
    return {"kind": List.__name__, "itemType": item}


def map_of(key: Json, value: Json) -> Json:
    """Return a map of keys to values."""
    return {"kind": Map.__name__, "keyType": key, "valueType": value}


def part(tree: Json, extra: Json) -> Json:
    """Return an item, a key or a value: attributes go beside `kind`."""
    return {**tree, "extra": extra} if extra else tree


def _shown_path(path: TreePath) -> str:
    if not path:
        return "the document"
    texts = [f"[{segment}]" if isinstance(segment, int) else f".{segment}" for segment in path]
    return f"`{''.join(texts).removeprefix('.')}`"


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
