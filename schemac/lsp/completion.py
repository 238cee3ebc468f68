"""What can be written at a cursor.

Layer: lsp.
Shape: keys, kinds, values and attributes are those of the grammar where they fit; names of groups, columns and datasets are
those of the last check.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any, get_origin

from lsprotocol import types

from schemac.language.attributes.attribute import Attribute, Family
from schemac.language.attributes.builtin import CLOCK_ZONE, DEPRECATED
from schemac.language.attributes.constraints import REFERENCES
from schemac.language.kinds.registry import BY_NAME, FOREIGN_NAMES
from schemac.language.logical.model import LogicalType
from schemac.language.manifest.groups import Use
from schemac.language.manifest.overlay import DatasetOverlay, OverlayFile
from schemac.lsp.findings import CompletionItem, key_item, named, plain, yaml_text, zones
from schemac.lsp.grammar import (
    Context,
    Shape,
    alternatives,
    chosen,
    description_of,
    fitting_attributes,
    properties_of,
    property_of,
)
from schemac.lsp.locations import Scope
from schemac.lsp.outline import Role
from schemac.lsp.pipelines import is_like_pipeline, pipeline_items
from schemac.lsp.texts import Lines
from schemac.text.source.phrases import fold
from schemac.text.syntax.model import class_text


def complete(
    lines: Lines, place: tuple[int, int], scope: Scope, *, snippets: bool
) -> list[types.CompletionItem]:
    """Return what can be written at a place."""
    context = Context(lines.lines, place)
    cursor = context.cursor
    if cursor.role is Role.TEXT or context.is_in_comment:
        return []
    items = CompletionItems(context, scope, snippets=snippets).all()
    text = lines.lines[place[0]] if place[0] < len(lines.lines) else ""
    end = cursor.word.end if cursor.role is Role.KEY and cursor.key else place[1]
    start = cursor.word.start
    if start and text[start - 1] in "'\"":
        end += text[end : end + 1] == text[start - 1]
        start -= 1
    range_ = lines.columns(place[0], start, end)
    has_colon = text[end:].lstrip().startswith(":")
    before = text[:start]
    return [_item(item, range_, before, has_colon=has_colon) for item in items]


def _item(item: CompletionItem, range_: types.Range, before: str, *, has_colon: bool) -> types.CompletionItem:
    """Return a completion for the protocol: without its colon where one follows, with a space where a colon or dash ends `before`."""
    text = item.text
    if has_colon:
        text = text.split(":", 1)[0] if item.text.endswith(": ") else text
    elif before.endswith((":", "-")):
        text = f" {text}"
    format_ = types.InsertTextFormat.Snippet if item.is_snippet else types.InsertTextFormat.PlainText
    return types.CompletionItem(
        item.label,
        kind=item.kind,
        detail=item.detail or None,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, item.documentation)
        if item.documentation
        else None,
        sort_text=f"{item.rank}{item.label.lower()}",
        filter_text=item.filter or item.label,
        insert_text_format=format_,
        text_edit=types.TextEdit(range_, text),
    )


class CompletionItems:
    """What can be written at one cursor."""

    def __init__(self, context: Context, scope: Scope, *, snippets: bool) -> None:
        self._context = context
        self._cursor = context.cursor
        self._written = context.written
        self._scope = scope
        self._snippets = snippets

    def all(self) -> list[CompletionItem]:
        """Return everything that fits."""
        shape, role = self._context.shape, self._cursor.role
        items: list[CompletionItem] = []
        if is_like_pipeline(self._written.root):
            items = list(pipeline_items(self._context, self._scope))
            return list({item.label: item for item in items}.values())
        if role is not Role.KEY:
            items += self._values(shape)
        if role is not Role.VALUE:
            items += self._keys(shape)
        return list({item.label: item for item in items}.values())

    # Keys

    def _keys(self, shape: Shape) -> Iterator[CompletionItem]:
        """Yield the keys that may be added to the mapping at the cursor, without those that it has."""
        present_keys = set(self._cursor.keys)
        path, scope, kinds = self._cursor.path, self._scope, types.CompletionItemKind
        items: list[CompletionItem] = []
        if shape.extra is not None:
            fitting = fitting_attributes(shape.extra, self._written.value(shape.extra.depth))
            items += [key_item(attribute.key, attribute.summary) for attribute in fitting]
            items += [key_item(key, text, rank=4) for key, text in scope.vocabulary_keys()]
            yield from (item for item in items if item.label not in present_keys)
            return
        if not path and not self._written.root:
            yield from _BEGINNINGS
        if any(get_origin(one) is dict for one in alternatives(shape.annotation)):
            if shape.holder is Use:
                use = self._written.value(len(path) - 1)
                for name, text, is_required in scope.parameters(
                    use.get("use") if isinstance(use, dict) else None
                ):
                    items.append(key_item(name, text, rank=3, kind=kinds.Variable, is_required=is_required))
            elif shape.holder is OverlayFile:
                items += named(scope.datasets(), kinds.Struct)
            elif shape.holder is DatasetOverlay:
                items += named(scope.paths_of(path[1]), kinds.Field)
            yield from (item for item in items if item.label not in present_keys)
        for model in chosen(shape, self._written_value):
            is_any_type = model is LogicalType
            for one in [property_of(model, "kind")] if is_any_type else properties_of(model):
                if is_any_type or one.alias not in present_keys:
                    text, is_required = description_of(model, one), one.field.is_required()
                    yield key_item(one.alias, text, rank=3, is_required=is_required)

    def _written_value(self) -> Any:
        value = self._written.value(len(self._cursor.path))
        present = dict.fromkeys(self._cursor.keys)
        return {**present, **value} if isinstance(value, dict) else present

    # Values

    def _values(self, shape: Shape) -> Iterator[CompletionItem]:
        """Yield the values of a shape: types, kinds or fixed words, and the names that it may refer to."""
        if shape.is_type:
            yield from self._types(shape)
        if shape.is_kind:
            for name, kind in BY_NAME.items():
                yield CompletionItem(
                    name, yaml_text(name), types.CompletionItemKind.Class, documentation=class_text(kind)
                )
            return
        for word in shape.words:
            text = yaml_text(word)
            yield CompletionItem(text, text, types.CompletionItemKind.EnumMember, rank=2)
        yield from self._names(shape)

    def _types(self, shape: Shape) -> Iterator[CompletionItem]:
        """Yield the kinds of types, as snippets where they need properties, and the one that a foreign name stands for."""
        is_nested = self._cursor.path[-1:] == ("inner",)
        for name, kind in BY_NAME.items():
            if is_nested and kind.family is Family.OPTION:
                continue
            text = class_text(kind)
            if kind.has_short_form:
                yield CompletionItem(
                    name, yaml_text(name), types.CompletionItemKind.Class, documentation=text, rank=2
                )
            else:
                snippet = _snippet(kind.example) if self._snippets else kind.example
                yield CompletionItem(
                    name,
                    snippet,
                    types.CompletionItemKind.Class,
                    kind.example,
                    text,
                    self._snippets,
                    2,
                )
        # What other systems call the kinds, where such a name is typed.
        word = self._cursor.word.before
        typed = fold(word)
        if len(typed) >= _LEAST_LETTERS and not any(fold(name).startswith(typed) for name in BY_NAME):
            for foreign, name in FOREIGN_NAMES.items():
                if foreign.startswith(typed):
                    example = BY_NAME[name].example if not BY_NAME[name].has_short_form else name
                    class_, detail = types.CompletionItemKind.Class, f"what other systems call {foreign}"
                    label = f"{name} ({foreign})"
                    yield CompletionItem(label, example, class_, detail, rank=4, filter=word)

    def _names(self, shape: Shape) -> Iterator[CompletionItem]:
        """Yield names out of the project."""
        attribute, steps = shape.attribute, shape.steps
        name = shape.member.name if shape.member is not None else ""
        scope, kinds = self._scope, types.CompletionItemKind
        if shape.holder is Use and name == "use":
            for group, text in scope.groups():
                yield CompletionItem(group, yaml_text(group), kinds.Module, documentation=text)
        elif self._cursor.path[-2:-1] == ("imports",):
            yield from plain(scope.importable(), kinds.File)
        elif attribute is None:
            if name == "timezone":
                yield from plain(zones(), kinds.Value)
        elif attribute.key == CLOCK_ZONE.key:
            yield from plain(zones(), kinds.Value)
        elif attribute.key == REFERENCES.key and steps[-1:] == ("dataset",):
            yield from plain(scope.datasets(), kinds.Struct)
        elif attribute.key == REFERENCES.key and steps[1:2] == ("to",):
            reference = self._written.value(len(self._cursor.path) - len(steps) + 1)
            dataset = reference.get("dataset") if isinstance(reference, dict) else None
            yield from plain(scope.paths_of(dataset), kinds.Field)
        elif attribute.key == DEPRECATED.key:
            if steps == ("successor",):
                yield from plain(scope.paths(), kinds.Field)
        elif names_fields(attribute, steps):
            yield from plain(scope.paths(), kinds.Field)


def names_fields(attribute: Attribute[Any], steps: tuple[str | int, ...]) -> bool:
    """Whether a field is named at these steps of an attribute's value."""
    is_item = bool(steps) and isinstance(steps[-1], int)
    return is_item and (attribute.names_columns or attribute.renamed is not None)


_LEAST_LETTERS = 3
_BEGINNINGS = (
    key_item("name", "the dataset's name", rank=0),
    replace(key_item("fields", "its columns", rank=0), text="fields:\n  - name: "),
    key_item("kind", "an event or a DatasetSnapshot"),
    key_item("source", "of a pipeline", rank=4),
    key_item("datasets", "of an overlay", rank=4),
)


def _snippet(example: str) -> str:
    """Return an example with its values, but for the kind, as places to be filled in."""
    places = count(1)

    def place(match: "re.Match[str]") -> str:
        return match[0] if match[1] == "kind: " else f"{match[1]}${{{next(places)}:{match[2]}}}"

    return re.sub(r"(\w+: )([^,{}\[\]]+)", place, example)
