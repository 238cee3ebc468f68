"""What can be written at a cursor, in manifests, overlays and pipelines.

Layer: lsp.
Shape: keys, kinds, values and attributes are those of the grammar where they fit; names of groups, columns and datasets are
those of the last check. Listed here are only the places of names of the project: manifests, datasets, fields, and columns of a
pipeline's source.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import Any, get_origin

from lsprotocol import types

from schemac.language.attributes.attribute import Attribute, Family
from schemac.language.attributes.builtin import CLOCK_ZONE, DEPRECATED
from schemac.language.attributes.constraints import REFERENCES
from schemac.language.kinds.registry import BY_NAME, FOREIGN_NAMES
from schemac.language.logical.model import LogicalType
from schemac.language.manifest.groups import Use
from schemac.language.manifest.overlay import DatasetOverlay, OverlayFile
from schemac.lsp.cursor import CursorRole
from schemac.lsp.grammar import (
    GrammarContext,
    GrammarShape,
    alternatives,
    chosen,
    description_of,
    fitting_attributes,
    is_like_pipeline,
    properties_of,
    property_of,
)
from schemac.lsp.locations import TextScope, paths_in
from schemac.lsp.texts import TextLines
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import TreePath
from schemac.text.source.phrases import fold
from schemac.text.syntax.events import scalar_of_name
from schemac.text.syntax.model import class_text

Kinds = types.CompletionItemKind


def complete(
    lines: TextLines, place: tuple[int, int], scope: TextScope, *, snippets: bool
) -> list[types.CompletionItem]:
    """Return what can be written at a place."""
    context = GrammarContext(lines.lines, place)
    cursor = context.cursor
    if cursor.role is CursorRole.TEXT or context.is_in_comment:
        return []
    text = lines.lines[place[0]] if place[0] < len(lines.lines) else ""
    end = cursor.word.end if cursor.role is CursorRole.KEY and cursor.key else place[1]
    start = cursor.word.start
    if start and text[start - 1] in "'\"":
        end += text[end : end + 1] == text[start - 1]
        start -= 1
    range_ = types.Range(lines.position(place[0], start), lines.position(place[0], end))
    has_colon = text[end:].lstrip().startswith(":")
    needs_space = text[:start].endswith((":", "-"))
    items = CompletionItems(context, scope, snippets=snippets)
    by_label = {item.label: item for item in items.all()}
    for item in by_label.values():
        new = item.insert_text or ""
        if has_colon:
            new = new.split(":", 1)[0] if new.endswith(": ") else new
        elif needs_space:
            new = f" {new}"
        item.text_edit, item.insert_text = types.TextEdit(range_, new), None
    return list(by_label.values())


def completion_item(
    label: str,
    text: str,
    kind: types.CompletionItemKind,
    *,
    detail: str = "",
    documentation: str = "",
    rank: int = 5,
    filter: str = "",
) -> types.CompletionItem:
    """Return something that can be written; those of a small rank come first, and `filter` is typed to find it in place of the label."""
    markup = types.MarkupContent(types.MarkupKind.Markdown, documentation) if documentation else None
    return types.CompletionItem(
        label,
        kind=kind,
        detail=detail or None,
        documentation=markup,
        sort_text=f"{rank}{label.lower()}",
        filter_text=filter or label,
        insert_text=text,
        insert_text_format=types.InsertTextFormat.PlainText,
    )


def _value_items(words: Iterable[str], kind: types.CompletionItemKind) -> Iterator[types.CompletionItem]:
    """Yield words that are values."""
    return (completion_item(word, yaml_text(word), kind, rank=2) for word in words)


def _key_items(words: Iterable[str], kind: types.CompletionItemKind) -> Iterator[types.CompletionItem]:
    """Yield words that are keys of a mapping."""
    return (completion_item(word, f"{yaml_text(word)}: ", kind, rank=2) for word in words)


def _key_item(
    name: str,
    text: str = "",
    *,
    rank: int = 5,
    kind: types.CompletionItemKind = Kinds.Property,
    is_required: bool = False,
) -> types.CompletionItem:
    """Return a key with its description; one that is required comes first."""
    detail, rank = ("required", 1) if is_required else ("", rank)
    return completion_item(name, f"{name}: ", kind, detail=detail, documentation=text, rank=rank)


def yaml_text(value: Any) -> str:
    """Return a value as a manifest writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return scalar_of_name(value)
    return str(value)


@cache
def zones() -> tuple[str, ...]:
    """Return the names of time zones."""
    from zoneinfo import available_timezones  # for start-up time: few manifests name one

    return ("UTC", *sorted(available_timezones() - {"UTC"}))


class CompletionItems:
    """What can be written at one cursor in a manifest, an overlay or a pipeline."""

    def __init__(self, context: GrammarContext, scope: TextScope, *, snippets: bool) -> None:
        self._context = context
        self._cursor = context.cursor
        self._written = context.written
        self._scope = scope
        self._snippets = snippets

    def all(self) -> Iterator[types.CompletionItem]:
        """Yield everything that fits."""
        shape, role = self._context.shape, self._cursor.role
        if role is not CursorRole.KEY:
            yield from self._values(shape)
        if role is not CursorRole.VALUE:
            yield from self._keys(shape)

    # Keys

    def _keys(self, shape: GrammarShape) -> Iterator[types.CompletionItem]:
        """Yield the keys that may be added to the mapping at the cursor, without those that it has."""
        present_keys = set(self._cursor.keys)
        if not self._cursor.path and not self._written.root:
            # What a text may begin with.
            yield _key_item("name", "the dataset's name", rank=0)
            fields = _key_item("fields", "its columns", rank=0)
            fields.insert_text = "fields:\n  - name: "
            yield fields
            yield _key_item("kind", "an event or a DatasetSnapshot")
            yield _key_item("source", "of a pipeline", rank=4)
            yield _key_item("datasets", "of an overlay", rank=4)
        if shape.is_extra or any(get_origin(one) is dict for one in alternatives(shape.annotation)):
            yield from (item for item in self._open_keys(shape) if item.label not in present_keys)
            if shape.is_extra:
                return
        for model in chosen(shape, self._written_value):
            is_any_type = model is LogicalType
            for one in [property_of(model, "kind")] if is_any_type else properties_of(model):
                if is_any_type or one.alias not in present_keys:
                    text, is_required = description_of(model, one), one.field.is_required()
                    yield _key_item(one.alias, text, rank=3, is_required=is_required)

    def _open_keys(self, shape: GrammarShape) -> Iterator[types.CompletionItem]:
        """Yield the keys of a mapping that are no properties: attributes, and names of parameters, datasets and fields."""
        path, scope = self._cursor.path, self._scope
        if shape.holder is not None and shape.is_extra:
            for attribute in fitting_attributes(shape.holder, self._written.value(len(path) - 1)):
                yield _key_item(attribute.key, attribute.summary)
            yield from (_key_item(key, text, rank=4) for key, text in scope.vocabulary_keys())
        elif shape.holder is Use:
            use = self._written.value(len(path) - 1)
            group = use.get("use") if isinstance(use, dict) else None
            for name, text, is_required in scope.parameters(group):
                yield _key_item(name, text, rank=3, kind=Kinds.Variable, is_required=is_required)
        elif shape.holder is OverlayFile:
            yield from _key_items(scope.datasets(), Kinds.Struct)
        elif shape.holder is DatasetOverlay:
            yield from _key_items(scope.paths_of(path[1]), Kinds.Field)
        elif (dataset := scope.dataset_of_pipeline(self._written.root)) is not None:
            if path[-1:] == ("fields",):
                yield from _key_items((str(field.segment) for field in dataset.columns), Kinds.Field)
            elif path == ("references",):
                references = REFERENCES.read(dataset.schema.extra) or ()
                yield from _key_items((one.dataset for one in references), Kinds.Struct)

    def _written_value(self) -> Any:
        """Return the mapping at the cursor with the keys that it has; values that cannot be read are None."""
        value = self._written.value(len(self._cursor.path))
        present = dict.fromkeys(self._cursor.keys)
        return {**present, **value} if isinstance(value, dict) else present

    # Values

    def _values(self, shape: GrammarShape) -> Iterator[types.CompletionItem]:
        """Yield the values of a shape: types, kinds or fixed words, and the names that it may refer to."""
        if shape.is_type:
            yield from self._types()
        if shape.is_kind:
            for name, kind in BY_NAME.items():
                yield completion_item(name, yaml_text(name), Kinds.Class, documentation=class_text(kind))
            return
        for text in map(yaml_text, shape.words):
            yield completion_item(text, text, Kinds.EnumMember, rank=2)
        yield from self._references(shape)

    def _types(self) -> Iterator[types.CompletionItem]:
        """Yield the kinds of types, as snippets where they need properties, and the one that a foreign name stands for."""
        is_nested = self._cursor.path[-1:] == ("inner",)
        for name, kind in BY_NAME.items():
            if is_nested and kind.family is Family.OPTION:
                continue
            item = completion_item(name, yaml_text(name), Kinds.Class, documentation=class_text(kind), rank=2)
            if not kind.has_short_form:
                item.insert_text, item.detail = kind.example, kind.example
                if self._snippets:
                    item.insert_text = _snippet(kind.example)
                    item.insert_text_format = types.InsertTextFormat.Snippet
            yield item
        # What other systems call the kinds, where such a name is typed.
        word = self._cursor.word.before
        typed = fold(word)
        if len(typed) >= _LEAST_LETTERS and not any(fold(name).startswith(typed) for name in BY_NAME):
            for foreign, name in FOREIGN_NAMES.items():
                if foreign.startswith(typed):
                    text = name if BY_NAME[name].has_short_form else BY_NAME[name].example
                    label, detail = f"{name} ({foreign})", f"what other systems call {foreign}"
                    yield completion_item(label, text, Kinds.Class, detail=detail, rank=4, filter=word)

    def _references(self, shape: GrammarShape) -> Iterator[types.CompletionItem]:
        """Yield names out of the project."""
        if is_like_pipeline(self._written.root):
            yield from self._references_of_pipeline()
            return
        attribute, steps, scope = shape.attribute, shape.steps, self._scope
        key = attribute.key if attribute is not None else ""
        if shape.holder is Use and shape.name == "use":
            for group, text in scope.groups():
                yield completion_item(group, yaml_text(group), Kinds.Module, documentation=text)
        elif self._cursor.path[-2:-1] == ("imports",):
            yield from _value_items(scope.files(has_datasets=False), Kinds.File)
        elif key == CLOCK_ZONE.key or (not key and shape.name == "timezone"):
            yield from _value_items(zones(), Kinds.Value)
        elif key == REFERENCES.key and steps[-1:] == ("dataset",):
            yield from _value_items(scope.datasets(), Kinds.Struct)
        elif key == REFERENCES.key and steps[1:2] == ("to",):
            reference = self._written.value(len(self._cursor.path) - len(steps) + 1)
            dataset = reference.get("dataset") if isinstance(reference, dict) else None
            yield from _value_items(scope.paths_of(dataset), Kinds.Field)
        elif attribute is not None and names_field(attribute, steps):
            yield from _value_items(scope.paths(), Kinds.Field)

    def _references_of_pipeline(self) -> Iterator[types.CompletionItem]:
        """Yield manifests, datasets, zones, and columns of the source."""
        path, scope = self._cursor.path, self._scope
        # A column of the source: `fare: cost`, or `fare: {from: cost}`.
        short = path[:-1] if path[-1:] == ("from",) else path
        is_origin = short[-2:-1] == ("fields",) and isinstance(short[-1], str)
        if path == ("schema",):
            yield from _value_items(scope.files(has_datasets=True), Kinds.File)
        elif path == ("dataset",):
            datasets = scope.datasets_in(self._written.root.get("schema", ""))
            yield from _value_items((one.name for one in datasets), Kinds.Struct)
        elif path[-1:] and path[-1] in ("timezone", "zone"):
            yield from _value_items(zones(), Kinds.Value)
        elif is_origin or path[-2:] == ("explode", "path"):
            yield from _value_items(_source_columns(self._context, scope), Kinds.Field)


def names_field(attribute: Attribute[Any], steps: TreePath) -> bool:
    """Whether a field of the same dataset is named at these steps of an attribute's value."""
    if attribute.key == DEPRECATED.key:
        return steps == ("successor",)
    is_item = bool(steps) and isinstance(steps[-1], int)
    return is_item and (attribute.names_columns or attribute.renamed is not None)


_LEAST_LETTERS = 3


def _snippet(example: str) -> str:
    """Return an example with its values, but for the kind, as places to be filled in."""
    places = count(1)

    def place(match: "re.Match[str]") -> str:
        return match[0] if match[1] == "kind: " else f"{match[1]}${{{next(places)}:{match[2]}}}"

    return re.sub(r"(\w+: )([^,{}\[\]]+)", place, example)


# Pipelines


def _source_columns(context: GrammarContext, scope: TextScope) -> list[str]:
    """Return the paths of the source's columns, from a sample."""
    is_one_of_many = context.cursor.path[:1] == ("sources",)
    source: Any = context.written.value(2) if is_one_of_many else context.written.outermost("source")
    if isinstance(source, dict):
        paths = source.get("path")
        first = paths[0] if isinstance(paths, list) and paths else paths
        if isinstance(first, str) and "://" not in first:
            return columns_of(scope.folder / first, source.get("format"))
    return []


_MOST_BYTES = 64 * 1024 * 1024
"""Largest file whose columns are looked for."""
_FILES = ("csv", "tsv", "json", "ndjson", "jsonl", "geojson", "parquet")


def columns_of(path: Path, format: Any) -> list[str]:
    """Return the paths of the columns of a file, or of the first one that a folder or a pattern has; none where it cannot be read."""
    try:
        if path.is_file():
            files = [path]
        elif path.is_dir():
            files = sorted(one for one in path.iterdir() if one.suffix.removeprefix(".") in _FILES)
        else:
            is_pattern = any(sign in path.name for sign in "*?[")
            files = sorted(filter(Path.is_file, path.parent.glob(path.name))) if is_pattern else []
        if not files:
            return []
        state = files[0].stat()
        is_small = state.st_size <= _MOST_BYTES or files[0].suffix == ".parquet"
        return list(_columns_in_file(str(files[0]), format, state.st_mtime_ns)) if is_small else []
    except (OSError, ValueError):
        return []


@lru_cache(32)
def _columns_in_file(path: str, format: Any, changed: int) -> tuple[str, ...]:
    """Return the columns of a file that was changed at this time."""
    from schemac.importers.sources import formats, import_source  # for start-up time: few complete a path
    from schemac.language.logical.model import Schema, columns

    names = {"json": "ndjson", "geojson": "ndjson"}
    format_name = names.get(str(format), str(format))
    imported = import_source(Path(path), format_name if format_name in formats() else None, Report())
    return tuple(paths_in(columns(Schema.model_validate(imported.schema)))) if imported is not None else ()
