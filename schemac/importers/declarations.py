"""Contracts and other documents that declare columns, with types as texts in any notation.

Layer: importers.
Shape: a mapping is read key by key, and each value must have the type of its key. A key that no importer reads is a
loss, listed above its field, so no key is lost silently.
Errors: SC1xx for invalid YAML, SC552 unreadable-source at the value.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from schemac.importers import datasets
from schemac.importers.importer import ImportedSchema, ImportNotes, UnreadableSourceError, together
from schemac.importers.sources import formats, import_value
from schemac.language.attributes import builtin, constraints
from schemac.language.kinds.nested import Option
from schemac.language.logical.model import FieldPath
from schemac.language.manifest.foreign import suggest_meaning
from schemac.language.physical import pa
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json, TreePath
from schemac.text.source.text import decode_text
from schemac.text.syntax.document import parse
from schemac.text.syntax.type_text import TypeText, read_type

_LONGEST = 160
"""Characters of a value that are shown of a loss."""
_SILENT: tuple[Any, ...] = (None, [], {}, "")
"""Values that say nothing."""


class MisplacedError(Exception):
    """A value that the format does not have at its place."""

    def __init__(self, reason: str, path: TreePath, help: str = "") -> None:
        super().__init__(reason)
        self.path = path
        self.help = help


class SourceNode:
    """A mapping of a document, with the keys that were not read yet."""

    def __init__(self, value: Any, path: TreePath) -> None:
        if not isinstance(value, dict):
            raise MisplacedError(f"{_path_text(path)} has to be a mapping, not {_value_text(value)}", path)
        self.path = path
        self._value: Mapping[str, Any] = value
        self._left = dict.fromkeys(value)
        self._called: Mapping[str, str] = {}

    def calling(self, names: Mapping[str, str]) -> "SourceNode":
        """Return this mapping as one whose keys have other names in the document; `names` gives those by the names that are asked for."""
        node = SourceNode(self._value, self.path)
        node._called = names
        return node

    def _key(self, key: str) -> str:
        """Return the name that the document has for a key."""
        return self._called.get(key, key)

    def has(self, key: str) -> bool:
        """Whether a key is there, with a value."""
        return self._value.get(self._key(key)) is not None

    def _read(self, expected: str, types: tuple[type, ...], *keys: str) -> Any:
        """Return the value at the first of some keys that exists, which has to be of one of some types; None if none exists."""
        for key in keys:
            self.drop(key)
            value = self._value.get(self._key(key))
            if value is None:
                continue
            if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
                raise self._wrong(key, expected)
            return value
        return None

    def text(self, *keys: str) -> str | None:
        """Return the text at the first of some keys that exists; a number counts as its text."""
        value = self._read("a text", (str, int, float), *keys)
        return None if value is None else str(value)

    def needed_text(self, key: str) -> str:
        """Return a text that has to be there, and not empty."""
        text = self.text(key)
        if not text:
            raise MisplacedError(f"{_path_text(self.path)} needs a `{self._key(key)}`", self.path)
        return text

    def flag(self, *keys: str) -> bool | None:
        """Return true or false at the first of some keys that exists; None if none is."""
        value: bool | None = self._read("true or false", (bool,), *keys)
        return value

    def number(self, key: str) -> int | None:
        """Return the integer at a key; None if there is none."""
        value: int | None = self._read("an integer", (int,), key)
        return value

    def node(self, key: str) -> "SourceNode | None":
        """Return the mapping at a key; None if there is none."""
        value = self._read("a mapping", (dict,), key)
        return None if value is None else SourceNode(value, (*self.path, self._key(key)))

    def nodes(self, key: str) -> "list[SourceNode]":
        """Return the mappings in the list at a key; none if there is no list."""
        return [SourceNode(item, (*self.path, self._key(key), i)) for i, item in enumerate(self.items(key))]

    def items(self, key: str) -> list[Any]:
        """Return the list at a key as it is; empty if there is none."""
        return self._read("a list", (list,), key) or []

    def members(self, key: str) -> "list[tuple[str, SourceNode]]":
        """Return the mappings in the mapping at a key, each with its own key; none if there is none."""
        holder = self.node(key)
        if holder is None:
            return []
        return [(str(name), SourceNode(item, (*holder.path, name))) for name, item in holder._value.items()]

    def texts(self, key: str) -> list[str]:
        """Return the list of texts at a key; empty if there is none."""
        items = self.items(key)
        if not all(isinstance(item, str) for item in items):
            raise self._wrong(key, "a list of texts")
        return items

    def over(self, below: "SourceNode") -> "SourceNode":
        """Return this mapping with the values of another one for those keys that it has not."""
        return SourceNode({**below._value, **self._value}, self.path)

    def drop(self, *keys: str) -> None:
        """Ignore keys that are not about a schema, or redundant."""
        for key in keys:
            self._left.pop(self._key(key), None)

    def peek(self, key: str) -> Any:
        """Return a value without marking it as read."""
        return self._value.get(self._key(key)) if self._key(key) in self._left else None

    def unread(self) -> list[str]:
        """Return the keys that were not read yet, except those with empty values."""
        return [key for key in self._left if self._value[key] not in _SILENT]

    def losses(self) -> list[str]:
        """Return the unread keys with their values, as notes."""
        return [f"not kept: {key}: {_value_text(self._value[key])}" for key in self.unread()]

    def loss_of_keys(self, whole: str) -> list[str]:
        """Return one note with the names of the unread keys of a file or contract as a whole; none if there are none."""
        keys = ", ".join(map(str, self.unread()))
        return [f"not kept of the {whole}: {keys}"] if keys else []

    def _wrong(self, key: str, expected: str) -> MisplacedError:
        """Return the error for a value of another type than expected, with its path and the value."""
        path = (*self.path, self._key(key))
        value = self._value[self._key(key)]
        return MisplacedError(f"{_path_text(path)} has to be {expected}, not {_value_text(value)}", path)


def read_documents(
    title: str, make: Callable[[SourceNode], Iterator[ImportedSchema]], path: Path, report: Report
) -> ImportedSchema | None:
    """Return the datasets that a function makes of each document of a file; `title` names the format."""
    source = decode_text(path.read_bytes(), str(path), report)
    if source is None:
        return None
    parsed = parse(source, report)
    if report.has_errors:
        return None
    importeds: list[ImportedSchema] = []
    for document in parsed:
        try:
            importeds += make(SourceNode(document.value, ()))
        except MisplacedError as error:
            reason = f"it is not {title}: {error}"
            raise UnreadableSourceError(reason, document.location(error.path), help=error.help) from error
    if not importeds:
        raise UnreadableSourceError(f"it is {title} without a table")
    return together(importeds)


_CLASSES = {value.casefold(): value for value in map(str, builtin.Classification)} | {
    "pii": str(builtin.Classification.PERSONAL)
}


def meaning(node: SourceNode) -> Json:
    """Return the attributes of a mapping: description, owner, tags, classification, deprecation."""
    attributes: Json = {}
    description = node.text("description")
    if description:
        attributes[builtin.DESCRIPTION.key] = description
    owner, tags, word = node.peek("owner"), node.peek("tags"), node.peek("classification")
    if isinstance(owner, str) and owner:
        attributes[builtin.OWNER.key] = owner
        node.drop("owner")
    if isinstance(tags, list) and tags and all(isinstance(tag, str) and tag for tag in tags):
        attributes[builtin.TAGS.key] = list(dict.fromkeys(tags))
        node.drop("tags")
    if isinstance(word, str) and word.casefold() in _CLASSES:
        attributes[builtin.CLASSIFICATION.key] = _CLASSES[word.casefold()]
        node.drop("classification")
    if node.peek("pii") is True:
        attributes.setdefault(builtin.CLASSIFICATION.key, str(builtin.Classification.PERSONAL))
        node.drop("pii")
    if node.peek("deprecated") is True:
        attributes[builtin.DEPRECATED.key] = {}
        node.drop("deprecated")
    return attributes


def rules(node: SourceNode) -> Json:
    """Return the constraints of values that are in a mapping by their names."""
    attributes: Json = {}
    for attribute in constraints.OF_VALUES:
        value = node.peek(attribute.name)
        if value is not None and value is not False:
            attributes[attribute.key] = value
        node.drop(attribute.name)
    for exclusive, bound in (
        (constraints.EXCLUSIVE_MINIMUM, constraints.MINIMUM),
        (constraints.EXCLUSIVE_MAXIMUM, constraints.MAXIMUM),
    ):
        # As in draft 4 of JSON Schema, `true` says it of the other bound.
        if attributes.get(exclusive.key) is True and bound.key in attributes:
            attributes[exclusive.key] = attributes.pop(bound.key)
    return attributes


class DatasetReader:
    """Reads one dataset of a document."""

    no_key = ", because a part of it may be null"
    """Why the key of a document may be none of a manifest."""

    def __init__(self) -> None:
        self.notes = ImportNotes()
        self.constraints = datasets.Constraints(self.notes)
        self.key: list[str] = []
        """Columns of the primary key."""

    def finished(self, node: SourceNode, tree: Json, path: FieldPath, *, is_required: bool) -> Json:
        """Return a type, in an Option unless it is required, with the attributes of its node; unread keys become notes."""
        bare, extra = datasets.split_extra(tree)
        extra = {**meaning(node), **extra}
        self.note_losses(node, path)
        return datasets.with_attributes(datasets.optional(bare, is_required=is_required), extra)

    def note_losses(self, node: SourceNode, path: FieldPath) -> None:
        """Add notes of the keys that were not read."""
        for loss in node.losses():
            self.notes.add(path, loss)

    def json(self, path: FieldPath) -> Json:
        """Return the type of a value whose parts the document does not describe."""
        self.notes.add(path, "its parts are not described; this is its JSON")
        return datasets.any_json()

    def unknown(self, path: FieldPath, reason: str) -> Json:
        """Return a type in place of one that is not known, which the author has to set."""
        self.notes.add(path, f"{reason}: set it")
        return datasets.kind_of(pa.string())

    def dataset(
        self,
        name: str,
        fields: list[Json],
        node: SourceNode,
        head: list[str],
        extra: Json | None = None,
        remarks: Sequence[str] = (),
    ) -> ImportedSchema:
        """Return the dataset of a node, whose own attributes win over `extra`."""
        tree = datasets.with_attributes({"fields": fields}, {**(extra or {}), **meaning(node)})
        comments = [*head, *node.losses(), *remarks]
        if not datasets.mark_key(tree, self.key):
            comments.append(f"not kept: the primary key {', '.join(self.key)}{self.no_key}")
        comments += self.constraints.put(tree)
        return ImportedSchema(tree, tuple(comments), name, self.notes)


def _path_text(path: TreePath) -> str:
    """Return a path of keys and indices as messages have it."""
    if not path:
        return "the document"
    texts = [f"[{segment}]" if isinstance(segment, int) else f".{segment}" for segment in path]
    return f"`{''.join(texts).removeprefix('.')}`"


def _value_text(value: Any) -> str:
    """Return a value of a document on one line, cut where it is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


_UNDECIDED = frozenset({"object", "record", "struct", "row", "map", "hashmap", "array", "list", "table"})
"""Words that say too little without parts."""


class TypeMatch(NamedTuple):
    """The type of a text, with its remarks."""

    tree: Json
    """In the standard's long form, with attributes; never an Option."""
    notes: ImportNotes
    """Of one column, and of what is in it."""


def dialect_of(system: str | None) -> str | None:
    """Return the format that reads the DDL of a system by its name; None if none does."""
    if system is None:
        return None
    name = system.casefold()
    return next((format.name for format in formats().values() if name in format.systems), None)


def type_of_text(text: str, dialect: str | None) -> TypeMatch | None:
    """Return the type of a text; None if it is unknown or ambiguous."""
    written = read_type(text)
    if written is not None and written.head.casefold() in _UNDECIDED and not written.arguments:
        return None
    return (_in_dialect(text, dialect) if dialect is not None else None) or _in_any_notation(text, written)


def _in_dialect(text: str, dialect: str) -> TypeMatch | None:
    """Return the type that a dialect of SQL reads; None if it reads none, or is not installed."""
    report = Report()
    try:
        imported = import_value(dialect, f"CREATE TABLE t (c {text})", "<type>", report)
    except ModuleNotFoundError:
        return None
    if imported is None or report.has_errors or len(imported.schema["fields"]) != 1:
        return None
    (field,) = imported.schema["fields"]
    tree = field["type"].get("inner", field["type"])
    return TypeMatch(datasets.with_attributes(tree, field.get("extra", {})), imported.notes)


def _in_any_notation(text: str, written: TypeText | None) -> TypeMatch | None:
    """Return the type of a text in the notation of a manifest, of Spark or of another language; None if it is unknown."""
    meaning = suggest_meaning(written) if written is not None else None
    if meaning is None or meaning.tree["kind"] == Option.__name__:
        return None
    notes, extra = ImportNotes(), dict(meaning.extra)
    if written is not None and written.bracket == "(" and set(meaning.tree) == {"kind"}:
        longest = [one.head for one in written.types if one.head.isascii() and one.head.isdecimal()][:1]
        limits = {constraints.MAX_LENGTH.key: int(longest[0])} if longest else {}
        accepted, _ = datasets.fitting(meaning.tree, limits)
        extra |= accepted
        if not accepted:
            notes.add(("c",), f"not kept: the length in {text}")
    return TypeMatch(datasets.with_attributes(dict(meaning.tree), extra), notes)
