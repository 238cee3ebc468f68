"""What may be at a path of a manifest, as the records of the manifest, the kinds and the attributes tell.

Layer: lsp.
Shape: nothing is listed here: a property, kind or attribute that is added to the compiler, or comes with an engine, is known.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, cached_property, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BeforeValidator
from pydantic.fields import FieldInfo

from schemac.language.attributes.attribute import Attribute, Family, Spelling, spellings
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.attributes.registry import ATTRIBUTES, OPEN, known
from schemac.language.kinds.registry import BY_NAME, SPELLINGS
from schemac.language.logical.model import Field, LogicalType, Schema
from schemac.language.manifest.envelopes import (
    BareSchema,
    DatasetResource,
    DatasetSnapshot,
    MetadataEvent,
    OtherEvent,
    SetDataSchema,
    SourceResource,
)
from schemac.language.manifest.groups import Group, GroupField, GroupLibrary, Use, is_inherited
from schemac.language.manifest.overlay import DatasetOverlay, FieldOverlay, OverlayFile, is_stored
from schemac.language.manifest.standard import EVENTS
from schemac.lsp.cursor import (
    BlockEntry,
    Cursor,
    block_end,
    cursor_at,
    entries_of,
    indent_of,
    is_content,
    is_document_start,
)
from schemac.text.source.diagnostics import Report, SourceText
from schemac.text.source.json_object import TreePath
from schemac.text.syntax.document import parse
from schemac.text.syntax.model import AuthoredModel, class_text

_READ: TreePath = ("read", "schema")
"""Where events have the schema of what a source reads."""


@dataclass(frozen=True)
class GrammarProperty:
    """A property of a model, with its written name."""

    name: str
    field: FieldInfo

    @property
    def alias(self) -> str:
        """Its key."""
        return self.field.alias or self.name

    @property
    def annotation(self) -> Any:
        """What may be there, with its bounds."""
        field = self.field
        return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


@dataclass(frozen=True)
class GrammarShape:
    """What may be at a path."""

    annotation: Any
    """As models have it; `Any` where nothing is known."""
    holder: type[AuthoredModel] | None = None
    """The model whose property it is."""
    name: str = ""
    """Of that property; empty for what is none."""
    attribute: Attribute[Any] | None = None
    """The attribute whose value it is a part of."""
    steps: TreePath = ()
    """From the attribute's value, if it is a part of one."""

    @property
    def models(self) -> list[type[AuthoredModel]]:
        """The models that are allowed here."""
        types_ = [
            a for a in alternatives(self.annotation) if isinstance(a, type) and issubclass(a, AuthoredModel)
        ]
        return [kind for one in types_ for kind in (BY_NAME.values() if one is LogicalType else (one,))]

    @property
    def is_extra(self) -> bool:
        """Whether a mapping of attributes is allowed here: those of the holder."""
        return self.name == "extra"

    @property
    def is_type(self) -> bool:
        """Whether a type is allowed here."""
        return any(a is LogicalType for a in alternatives(self.annotation))

    @property
    def is_kind(self) -> bool:
        """Whether the kind of a type is here."""
        return self.name == "kind" and self.holder is not None and issubclass(self.holder, LogicalType)

    @property
    def words(self) -> list[Any]:
        """The values that may be written here, if they can be listed."""
        words: list[Any] = []
        for annotation in _union_members(self.annotation):
            bare = _without_metadata(annotation)
            if get_origin(bare) is Literal:
                words += get_args(bare)
            elif bare is bool:
                words += [True, False]
            elif isinstance(bare, type) and issubclass(bare, StrEnum):
                words += [str(word) for word in bare]
            elif get_origin(annotation) is Annotated:
                for mark in get_args(annotation)[1:]:
                    if isinstance(mark, BeforeValidator) and isinstance(mark.func, Spelling):
                        words += mark.func.words
        return words


def description_of(model: type[AuthoredModel], record_property: GrammarProperty) -> str:
    """Return what a property is, in a sentence."""
    if record_property.name == "kind" and issubclass(model, LogicalType):
        return class_text(model)
    if record_property.field.description:
        return record_property.field.description
    types_ = [one for one in alternatives(record_property.field.annotation) if isinstance(one, type)]
    texts = (one.__doc__ or "" for one in types_ if issubclass(one, AuthoredModel | StrEnum))
    return " ".join(next(texts, "").split())


def alternatives(annotation: Any) -> list[Any]:
    """Return what an annotation is a union of, without None and without bounds."""
    return [bare for one in _union_members(annotation) if (bare := _without_metadata(one)) is not NoneType]


def _without_metadata(annotation: Any) -> Any:
    """Return an annotation without the metadata of `Annotated`."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _union_members(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union."""
    bare = _without_metadata(annotation)
    if get_origin(bare) in (Union, UnionType):
        for one in get_args(bare):
            yield from _union_members(one)
    else:
        yield annotation


def root_shape(keys: Sequence[str], kind: Any, path: TreePath) -> GrammarShape:
    """Return what a document is, by its outermost keys and its `kind`."""
    if path and isinstance(path[0], int):
        return GrammarShape(list[SetDataSchema | OtherEvent])
    if "$schema" in keys:
        return GrammarShape(SourceResource if str(kind).rstrip("/").endswith("Source") else DatasetResource)
    if "kind" in keys:
        by_kind = {"DatasetSnapshot": DatasetSnapshot, "MetadataEvent": MetadataEvent}
        if kind in by_kind:
            return GrammarShape(by_kind[kind])
        if kind in EVENT_WORDS or "fields" not in keys:
            return GrammarShape(SetDataSchema | OtherEvent | DatasetSnapshot | MetadataEvent)
    if "datasets" in keys:
        return GrammarShape(OverlayFile)
    if is_like_pipeline(keys):
        from schemac.pipeline.declaration.job import Job  # for start-up time: few texts are pipelines

        return GrammarShape(Job)
    if "groups" in keys and "fields" not in keys:
        return GrammarShape(GroupLibrary)
    return GrammarShape(BareSchema)


def is_like_pipeline(keys: Iterable[str]) -> bool:
    """Whether a text is to become a pipeline, by the outermost keys that it has so far."""
    present = {*keys}
    others = {"kind", "$schema", "groups", "datasets"}
    return not present.isdisjoint({"source", "sources", "target"}) and present.isdisjoint(others)


EVENT_WORDS = frozenset(spelling for event in EVENTS for spelling in spellings(event))


def _shape_below(shape: GrammarShape, step: str | int, value: Callable[[], Any]) -> GrammarShape:
    """Return the shape of a key or of an item number in a shape; any value where the records do not know it.

    `value` returns what is written there, as far as it can be read.
    """
    if shape.is_extra:
        attribute = known(str(step))
        return GrammarShape(attribute.value_type if attribute is not None else Any, attribute=attribute)
    steps = (*shape.steps, step) if shape.attribute is not None else ()
    inner = replace(shape, steps=steps, name="", holder=None)
    for one in alternatives(shape.annotation):
        origin, arguments = get_origin(one), get_args(one)
        if isinstance(step, int) and origin in (list, tuple):
            item = arguments[0]
            if shape.name == "fields":
                item = (GroupField if shape.holder is Group else Field) | Use
            return replace(inner, annotation=item)
        if isinstance(step, str) and origin is dict:
            return replace(inner, annotation=arguments[1])
    if isinstance(step, str):
        models = chosen(shape, value)
        candidates = [(model, one) for model in models for one in properties_of(model) if one.alias == step]
        if candidates:
            holder, member = candidates[0]
            annotation: Any = Union[tuple(one.annotation for _, one in candidates)]  # noqa: UP007 — of a list
            if holder is GroupField and member.name == "type":
                annotation = LogicalType
            return GrammarShape(annotation, holder, member.name, shape.attribute, steps)
    return GrammarShape(Any)


def chosen(shape: GrammarShape, value: Callable[[], Any]) -> list[type[AuthoredModel]]:
    """Return the models that may be at a place, of kinds and events only the one that is written there."""
    models = shape.models
    if len(models) < 2:
        return models
    written = value()
    mapping = written if isinstance(written, dict) else {}
    if shape.is_type:
        kind = kind_of(mapping)
        return [kind] if kind is not None else [LogicalType]
    if "use" in mapping:
        return [model for model in models if model is Use] or models
    if "name" in mapping or "type" in mapping:
        return [model for model in models if model is not Use]
    kind_word = mapping.get("kind")
    fitting = [
        model
        for model in models
        if "kind" in model.model_fields
        and kind_word in GrammarShape(property_of(model, "kind").annotation).words
    ]
    return fitting or models


def kind_of(value: Any) -> type[LogicalType] | None:
    """Return the kind of a written type, short or long."""
    word = value.get("kind") if isinstance(value, dict) else value
    return BY_NAME.get(SPELLINGS.get(word, "")) if isinstance(word, str) else None


def property_of(model: type[AuthoredModel], name: str) -> GrammarProperty:
    """Return a property of a model by its name."""
    return GrammarProperty(name, model.model_fields[name])


_DESCRIBED = GrammarProperty(
    "description", FieldInfo(annotation=str, default="", description=DESCRIPTION.summary)
)
_FRIENDLY = [property_of(GroupLibrary, name) for name in ("imports", "groups")]


def properties_of(model: type[AuthoredModel]) -> list[GrammarProperty]:
    """Return the properties of a model, with those that only the default mode accepts."""
    properties = [GrammarProperty(name, field) for name, field in model.model_fields.items()]
    if issubclass(model, Schema | Field):
        properties.append(_DESCRIBED)
    if issubclass(model, Schema):
        properties += _FRIENDLY
    return properties


def fitting_attributes(holder: type[AuthoredModel], value: Any) -> list[Attribute[Any]]:
    """Return the attributes that may be among those of a value, by what that is."""
    every = [*ATTRIBUTES.values(), *OPEN.values()]
    if issubclass(holder, Schema):
        return [a for a in every if a.on_schema]
    if holder is DatasetOverlay:
        return [a for a in every if a.on_schema and is_stored(a)]
    if holder is Group:
        return [a for a in every if is_inherited(a.key)]
    attributes = [a for a in every if a.on_field]
    if holder is FieldOverlay:
        return [a for a in attributes if is_stored(a)]
    written = value.get("type") if isinstance(value, dict) and not issubclass(holder, LogicalType) else value
    family = family_of(written)
    return [a for a in attributes if family is None or a.fits is None or family in a.fits]


def family_of(written: Any) -> Family | None:
    """Return the family of a written type, inside its Options; None if it cannot be read."""
    while (kind := kind_of(written)) is not None:
        if kind.family is not Family.OPTION:
            return kind.family
        written = written.get("inner") if isinstance(written, dict) else None
    return None


_MOST_LINES = 2_000
"""Lines of a value that is read while somebody types."""


class CursorValues:
    """The values around a cursor. A value that cannot be read is read without the line of the cursor."""

    def __init__(self, lines: Sequence[str], cursor: Cursor) -> None:
        self._lines = lines
        self._cursor = cursor
        # Many steps may begin at one place.
        self._parsed_at = cache(self._parse_at)

    def value(self, depth: int) -> Any:
        """Return the value at the first steps of the cursor's path; None if it cannot be read."""
        cursor = self._cursor
        place, path = (cursor.document, 0), cursor.path[:depth]
        for outer in range(depth, 0, -1):
            start = cursor.starts[outer - 1]
            if cursor.flow is None or start != cursor.flow.start:
                # A list or mapping is read from the step that leads to it.
                first = cursor.path[outer - 1]
                place, path = start, (0 if isinstance(first, int) else first, *cursor.path[outer:depth])
                break
        value = self._parsed_at(*place)
        for step in path:
            if isinstance(value, dict) and isinstance(step, str):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return None
        return value

    @cached_property
    def root(self) -> dict[str, str]:
        """The outermost keys of the document, and the scalars next to them."""
        root_keys: dict[str, str] = {}
        for number, entry in self._outermost_keys():
            value = self._lines[number][entry.end :].split(" #")[0].strip().strip("\"'")
            root_keys.setdefault(entry.name, value)
        return root_keys

    def _outermost_keys(self) -> Iterator[tuple[int, BlockEntry]]:
        """Yield the outermost keys of the document with the numbers of their lines."""
        first = self._cursor.document
        for number in range(first, len(self._lines)):
            line = self._lines[number]
            if number > first and is_document_start(line):
                return
            if line[:1] not in (" ", "#", "-") and is_content(line):
                yield from ((number, entry) for entry in entries_of(line)[:1])

    def outermost(self, name: str) -> Any:
        """Return the value of an outermost key of the document; None if it cannot be read."""
        number = next((number for number, entry in self._outermost_keys() if entry.name == name), None)
        parsed = self._parsed_at(number, 0) if number is not None else None
        return parsed.get(name) if isinstance(parsed, dict) else None

    def _parse_at(self, first: int, column: int) -> Any:
        """Return the value that begins at a place, None if it cannot be read."""
        end = min(block_end(self._lines, first, column), first + _MOST_LINES)
        lines = list(self._lines[first:end])
        if lines:
            lines[0] = " " * column + lines[0][column:]
        at = self._cursor.place.line - first
        without = [*lines[:at], *lines[at + 1 :]] if 0 <= at < len(lines) else None
        for attempt in (lines, self._with_closed_brackets(lines, at), without):
            report = Report()
            documents = parse(SourceText("\n".join(attempt)), report) if attempt is not None else []
            if documents and not report.has_errors:
                return documents[0].value
        return None

    def _with_closed_brackets(self, lines: list[str], at: int) -> list[str] | None:
        """Return the lines with all brackets closed at the cursor."""
        flow = self._cursor.flow
        if flow is None or not 0 <= at < len(lines):
            return None
        before = lines[at][: self._cursor.word.start].rstrip()
        before = before.removesuffix(":") if not before.endswith((",", "{", "[")) else before.rstrip(",")
        indent = indent_of(lines[flow.start.line - (self._cursor.place.line - at)])
        rest = [line for line in lines[at + 1 :] if is_content(line) and indent_of(line) <= indent]
        return [*lines[:at], before + flow.closing, *rest]


class GrammarContext:
    """A place in a text."""

    def __init__(self, lines: Sequence[str], place: tuple[int, int]) -> None:
        self.lines = lines
        self.cursor = cursor_at(lines, *place)
        self.written = CursorValues(lines, self.cursor)

    @cached_property
    def shape(self) -> GrammarShape:
        """What may be at the path of the cursor."""
        return self.shape_at(self.cursor.path)

    def shape_at(self, path: TreePath) -> GrammarShape:
        """Return what may be at the first steps of the path, or below it."""
        shape = self._root
        for depth, step in enumerate(path):
            if path[depth : depth + 2] == _READ:
                shape = GrammarShape(Any)
            elif path[depth - 1 : depth + 1] == _READ:
                shape = GrammarShape(Schema)
            else:
                shape = _shape_below(shape, step, partial(self.written.value, depth))
        return shape

    @cached_property
    def _root(self) -> GrammarShape:
        """The shape of the whole document, by its outermost keys; for a first key that is just written, by that one."""
        root, path = self.written.root, self.cursor.path
        if not root and path and isinstance(path[0], str):
            return root_shape([path[0]], None, path)
        return root_shape(list(root), root.get("kind", root.get("$schema")), path)

    @property
    def is_in_comment(self) -> bool:
        """Whether the cursor is in a comment."""
        line, column = self.cursor.place
        text = self.lines[line][:column] if line < len(self.lines) else ""
        text = re.sub(r"'(?:[^']|'')*'|\"(?:[^\"\\]|\\.)*\"", "", text)
        return re.search(r"(?:^|\s)#", text) is not None

    @property
    def path_on_key(self) -> TreePath:
        """The path, with the key that the cursor is on."""
        cursor = self.cursor
        return (*cursor.path, cursor.key) if cursor.key else cursor.path
