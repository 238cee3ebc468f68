"""The symbols of texts (datasets, fields, groups, lines of locks), and inlay hints with types and history of fields.

Layer: lsp.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lsprotocol import types

from schemac.arrow.to_arrow import to_arrow_fields
from schemac.language.attributes.attribute import Family
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.schema_fields import SchemaField, preorder, type_text_of
from schemac.language.manifest.groups import GroupFile
from schemac.lsp.findings import LinesOf, uri_of
from schemac.lsp.locations import location_of
from schemac.lsp.projects import Checked, key_of
from schemac.lsp.texts import Lines
from schemac.project.locking import locked_datasets
from schemac.project.manifests import CompiledFile
from schemac.project.options import CompileOptions
from schemac.text.source.report import Report
from schemac.text.syntax.document import Document

_MAX_SYMBOLS = 500
"""Symbols of a project that are listed for one search."""


def document_symbols(
    file: CompiledFile | None, documents: Sequence[Document], lines: Lines
) -> list[types.DocumentSymbol]:
    """Return the datasets of a text with their fields, and its groups with theirs."""
    symbols: list[types.DocumentSymbol] = []
    for dataset in file.datasets if file is not None else ():
        source, span = dataset.origins.source, dataset.origins.name_span
        place = dataset.origins.location(())
        if source is None or span is None or place is None:
            continue
        members = [one for field in dataset.columns if (one := _field(dataset, field, lines)) is not None]
        name = lines.range(source.region(span))
        around = _around(lines.range(source.region(place.span)), name)
        kind = types.SymbolKind.Struct
        symbols.append(types.DocumentSymbol(dataset.name, kind, around, name, children=members))
    symbols += _groups(documents, lines)
    return symbols


def _field(dataset: LogicalDataset, field: SchemaField, lines: Lines) -> types.DocumentSymbol | None:
    """Return the symbol of a field with its members; None for one of a group or without a name."""
    name = dataset.origins.location((*field.declared_at, "name"))
    whole = dataset.origins.location(field.declared_at)
    # A field of a group is listed where the group is.
    if name is None or whole is None or name.labels:
        return None
    nested = [one for child in _members(field) if (one := _field(dataset, child, lines)) is not None]
    region = lines.range(name.source.region(name.span))
    return types.DocumentSymbol(
        str(field.segment) or "(no name)",
        types.SymbolKind.Struct if field.type.family is Family.STRUCT else types.SymbolKind.Field,
        _around(lines.range(whole.source.region(whole.span)), region),
        region,
        type_text_of(field),
        children=nested,
    )


def _members(field: SchemaField) -> Iterator[SchemaField]:
    """Yield the nearest fields with names below a field."""
    for child in field.children:
        if child.is_member:
            yield child
        else:
            yield from _members(child)


def _groups(documents: Sequence[Document], lines: Lines) -> Iterator[types.DocumentSymbol]:
    """Yield a symbol for each group of a text, with its named fields below it."""
    for definition in GroupFile(list(documents), "").groups.values():
        document = definition.document
        name = lines.range(document.source.region(document.key_span(definition.path)))
        whole = lines.range(document.source.region(document.span(definition.path)))
        children = []
        for i, field in enumerate(definition.group.fields):
            path = (*definition.path, "fields", i)
            if isinstance(field, dict) and isinstance(field.get("name"), str):
                name_range = lines.range(document.source.region(document.span((*path, "name"))))
                around = lines.range(document.source.region(document.span(path)))
                label = field["name"] or "(no name)"
                children.append(
                    types.DocumentSymbol(
                        label, types.SymbolKind.Field, _around(around, name_range), name_range
                    )
                )
        yield types.DocumentSymbol(
            definition.name or "(no name)",
            types.SymbolKind.Module,
            _around(whole, name),
            name,
            definition.group.description or None,
            children=children,
        )


def _around(range_: types.Range, name: types.Range) -> types.Range:
    """Return a range that has the name in it, as the protocol needs it."""
    return types.Range(min(range_.start, name.start), max(range_.end, name.end))


def workspace_symbols(checked: Checked, query: str, lines_of: LinesOf) -> Iterator[types.WorkspaceSymbol]:
    """Yield the datasets and fields of a project whose names have the letters of a query in their order."""
    count = 0
    for file in checked.files:
        path = key_of(file.file.path)
        for number, named in enumerate(file.named):
            if count >= _MAX_SYMBOLS:
                return
            if is_like(query, named.name):
                yield _symbol(named.name, types.SymbolKind.Struct, path, file, number, None, lines_of)
                count += 1
            if not query:
                continue
            dataset = file.datasets[number]
            for field in preorder(dataset.columns):
                if count < _MAX_SYMBOLS and field.is_member and is_like(query, str(field.segment)):
                    place = location_of(dataset, field)
                    if place is not None and place.file == file.file.name:
                        yield _symbol(
                            field.path_text, types.SymbolKind.Field, path, file, number, field, lines_of
                        )
                        count += 1


def _symbol(
    name: str,
    kind: types.SymbolKind,
    path: str,
    file: CompiledFile,
    number: int,
    field: SchemaField | None,
    lines_of: LinesOf,
) -> types.WorkspaceSymbol:
    """Return the symbol of a field, or of the dataset where `field` is None; at the file's start if its place is unknown."""
    dataset = file.datasets[number]
    source, span = dataset.origins.source, dataset.origins.name_span
    if field is not None:
        place = dataset.origins.location((*field.declared_at, "name"))
        source, span = (place.source, place.span) if place is not None else (source, span)
    lines = lines_of(path)
    region = (
        lines.range(source.region(span))
        if source is not None and span is not None
        else lines.columns(0, 0, 0)
    )
    location = types.Location(uri_of(path), region)
    return types.WorkspaceSymbol(
        location, name, kind, container_name=dataset.name if field is not None else None
    )


def is_like(query: str, name: str) -> bool:
    """Whether a name has the letters of a query in their order, whatever their case."""
    rest = iter(name.casefold())
    return all(letter in rest for letter in query.casefold())


_LONGEST = 60
"""Code points of a type that is shown in a line."""


def inlay_hints(
    file: CompiledFile, checked: Checked, lines: Lines, first: int, last: int
) -> list[types.InlayHint]:
    """Return the hints of the fields between two lines, both zero-based."""
    report = Report()
    locked = locked_datasets(file.file.path, file.file.name, file.datasets, report, is_error=False)
    arrow_options = CompileOptions.of(checked.project).arrow_options
    hints: list[types.InlayHint | None] = []
    for dataset in (one for one in file.datasets if one.is_whole):
        dataset_lock = locked.get(dataset.name)
        is_locked = dataset_lock is not None and dataset_lock.dataset.newest is not None
        ids = dataset_lock.identities.ids if dataset_lock is not None and is_locked else {}
        visible: list[SchemaField] = []
        for field in dataset.columns:
            where, place = location_of(dataset, field), dataset.origins.location(field.declared_at)
            if where is not None and place is not None and where.file == dataset.origins.file:
                region = place.source.region(place.span)
                if region.line - 1 <= last and region.end_line - 1 >= first:
                    visible.append(field)
        alone = replace(dataset, columns=tuple(visible))
        arrow = {
            field.field: str(field.arrow.type) for field in to_arrow_fields(alone, arrow_options).preorder()
        }
        for field in (one for one in preorder(visible) if one.is_member):
            text = arrow.get(field, "")
            text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
            for key, hint in (("name", f"id {ids[field]}" if field in ids else ""), ("type", text)):
                hints.append(_hint(dataset, field, key, hint, lines, (first, last)))
    return [hint for hint in hints if hint is not None]


def _hint(
    dataset: LogicalDataset, field: SchemaField, key: str, text: str, lines: Lines, range_: tuple[int, int]
) -> types.InlayHint | None:
    """Return a hint behind the value of a key; None without a text, in another file, or outside of the lines of `range_`."""
    place = dataset.origins.location((*field.declared_at, key))
    if place is None or not text or place.source.name != dataset.origins.file:
        return None
    end = place.source.position(place.span.end)
    line, column = end.line - 1, end.column - 1
    source_line = lines.lines[line] if line < len(lines.lines) else ""
    if not source_line[:column].strip():
        # A value in block style ends at the start of a later line.
        start = place.source.position(place.span.start)
        line = start.line - 2
        column = len(lines.lines[line].rstrip()) if line >= 0 else 0
    if not range_[0] <= line <= range_[1]:
        return None
    return types.InlayHint(lines.position(line, column), text, types.InlayHintKind.Type, padding_left=True)
