"""What an editor shows of a text: hovers with what a field is and was, symbols, and inlay hints.

Layer: lsp.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lsprotocol import types

from schemac.arrow.to_arrow import to_arrow_fields
from schemac.artifacts.targets import Loss, run_target, types_in_target
from schemac.language.attributes.attribute import Attribute, Family
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.attributes.constraints import OF_VALUES
from schemac.language.attributes.registry import known
from schemac.language.checks.run import check
from schemac.language.kinds.registry import BY_NAME
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import LogicalType, SchemaField, preorder, type_text_of
from schemac.language.manifest.groups import GroupFile
from schemac.lsp.cursor import CursorRole
from schemac.lsp.grammar import (
    GrammarContext,
    GrammarShape,
    alternatives,
    chosen,
    description_of,
    kind_of,
    properties_of,
)
from schemac.lsp.projects import CheckedProject
from schemac.lsp.texts import LinesOf, TextLines, uri_of
from schemac.project.locking import locked_datasets
from schemac.project.manifests import CompiledFile
from schemac.project.options import CompileOptions
from schemac.project.project_texts import DatasetField, key_of, location_of
from schemac.project.targets import engines_of
from schemac.registry.engine import engine
from schemac.text.source.diagnostics import Region, Report
from schemac.text.syntax.document import Document, Location
from schemac.text.syntax.model import AuthoredModel, class_text
from schemac.versions.identity.compilation import Compilation, Locked
from schemac.versions.identity.opening import open_version

# Hovers

_MOST_COLUMNS = 300
"""Columns of a dataset from which on a column is compiled alone, without what its engines say of the whole schema."""


def word_text(context: GrammarContext) -> str:
    """Return the description of a key, attribute or kind at the cursor; empty if there is none."""
    cursor = context.cursor
    if cursor.role is CursorRole.TEXT or context.is_in_comment:
        return ""
    if cursor.role is CursorRole.KEY and cursor.key:
        if context.shape.is_extra:
            attribute = known(cursor.key)
            return attribute_text(attribute) if attribute is not None else ""
        models = chosen(context.shape, lambda: context.written.value(len(cursor.path)))
        for model, one in ((of, one) for of in models for one in properties_of(of)):
            if one.alias == cursor.key:
                text, words = description_of(model, one), GrammarShape(one.annotation).words
                lines = [f"**{one.alias}**" + (f": {text}" if text else "")]
                if words and (one.name != "kind" or words[0] not in BY_NAME):
                    lines.append(f"Values: {', '.join(f'`{word}`' for word in words)}")
                default = one.field.get_default()
                if one.field.is_required():
                    lines.append("Required.")
                elif isinstance(default, str | int) and not isinstance(default, bool) and default != "":
                    lines.append(f"Default: `{default}`")
                return "\n\n".join(lines)
        return ""
    shape = context.shape
    written = context.written.value(len(cursor.path))
    kind = kind_of(written) if shape.is_type or shape.is_kind else None
    if kind is not None:
        example = f"\n\n```yaml\ntype: {kind.example}\n```" if not kind.has_short_form else ""
        return f"**{kind.__name__}**: {class_text(kind)}{example}"
    return ""


def attribute_text(attribute: Attribute[Any]) -> str:
    """Return what an attribute is, which values it takes, and where it fits."""
    fits = "every kind" if attribute.fits is None else ", ".join(sorted(attribute.fits))
    where = [f"fields ({fits})"] if attribute.on_field else []
    where += ["the schema"] if attribute.on_schema else []
    lines = [f"**{attribute.key}**: {attribute.summary}", f"On {' and '.join(where)}."]
    words = GrammarShape(attribute.value_type).words
    if words:
        lines.append(f"Values: {', '.join(f'`{word}`' for word in words)}")
    for model in alternatives(attribute.value_type):
        if isinstance(model, type) and issubclass(model, AuthoredModel) and model is not LogicalType:
            rows: list[str] = []
            for one in properties_of(model):
                texts = [
                    description_of(model, one),
                    ", ".join(f"`{word}`" for word in GrammarShape(one.annotation).words),
                ]
                text = " ".join(filter(None, texts))
                rows.append(f"- `{one.alias}`{': ' if text else ''}{text}")
            lines.append("\n".join(rows))
    return "\n\n".join(lines)


def field_text(dataset_field: DatasetField, checked: CheckedProject, others: int = 0) -> str:
    """Return all that is known of a field: its type in each engine, its ids and history, constraints and losses."""
    field, dataset = dataset_field.field, dataset_field.dataset
    is_read = dataset.is_read(field)
    about = f"`{type_text_of(field)}`" if is_read else "has a mistake in its type"
    lines = [f"**{field.path_text}**  {about}"]
    description = field.extra.get(DESCRIPTION.key)
    if isinstance(description, str):
        lines.append(description)
    if others:
        lines.append(f"In {dataset.name} and {others} more {'place' if others == 1 else 'places'}.")
    locked = _locked_versions(dataset_field.file, [dataset]).get(dataset.name) if _is_sound(dataset) else None
    id_ = locked.ids.get(field) if locked is not None else None
    if locked is not None and id_ is not None:
        numbers = locked.numbers.get(field)
        entries = numbers.entries if numbers is not None else ()
        words = [f"{_engine_title(name)} {', '.join(map(str, ids))}" for name, ids in entries]
        firsts = [state.first for state in locked.lock.states if state.id == id_]
        since = f", since version {min(firsts)}" if firsts else ", not locked yet"
        lines.append(f"Field id {id_}{since}" + (f" ({'; '.join(words)})" if words else ""))
    types, losses = compiled(dataset, field, checked, locked) if is_read else ({}, [])
    if types:
        cells = {name: text.replace("|", "\\|") for name, text in types.items()}
        rows = [f"| {engine(name).title} | `{text}` |" for name, text in cells.items()]
        lines.append("\n".join(["| engine | type |", "|---|---|", *rows]))
    constraints = [
        f"`{_CONSTRAINTS[key].name}: {value}`" for key, value in field.extra.items() if key in _CONSTRAINTS
    ]
    if constraints:
        lines.append(f"Constraints: {', '.join(constraints)}")
    if losses:
        rows = [f"- {engine(loss.target).title}: {loss.text}" for loss in losses]
        lines.append("\n".join(["Losses:", "", *dict.fromkeys(rows)]))
    if locked is not None:
        lines += history(locked, field)
    return "\n\n".join(lines)


def _locked_versions(file: CompiledFile, datasets: Sequence[LogicalDataset]) -> dict[str, Locked]:
    """Return those datasets of a manifest that have a version in its lock, by name."""
    locked = locked_datasets(file.file.path, file.file.name, datasets, Report(), is_error=False)
    return {name: one for name, one in locked.items() if one.lock.newest is not None}


def _engine_title(name: str) -> str:
    """Return the title of an engine for people; its name if it is not installed."""
    try:
        return engine(name).title
    except KeyError:
        return name


def _is_sound(dataset: LogicalDataset) -> bool:
    """Whether the checks let a dataset through, without which nothing may be compiled."""
    report = Report()
    check(dataset, report)
    return not report.has_errors


def compiled(
    dataset: LogicalDataset, field: SchemaField, checked: CheckedProject, locked: Locked | None
) -> tuple[dict[str, str], list[Loss]]:
    """Return the type of a field in each engine that the dataset is built for, by the engine's name, and what is lost of it."""
    options = CompileOptions.of(checked.project)
    # A mistake elsewhere says nothing of this column.
    is_alone = len(dataset.columns) > _MOST_COLUMNS or not _is_sound(dataset)
    if is_alone:
        dataset, locked = replace(dataset, columns=(field.column,)), None
    if not dataset.is_whole or not _is_sound(dataset):
        return {}, []
    compilation = Compilation.of(dataset, options.arrow_options, options.versions, locked)
    types: dict[str, str] = {}
    losses: list[Loss] = []
    below = {one.path_text for one in preorder([field])}
    for name in engines_of(dataset, options.targets, is_named=options.are_targets_named):
        engine_types = types_in_target(name, compilation)
        if engine_types is not None:
            by_field, report = engine_types
            refused = [d for d in report.diagnostics if d.path == field.path_text and d.severity == "error"]
            text = f"none: {refused[0].message}" if refused else by_field.get(field, "")
            types |= {name: text} if text else {}
        if engine_types is not None or not is_alone:
            emission = run_target(name, compilation).emission
            losses += [loss for loss in emission.losses if loss.path in below]
    return types, losses


_CONSTRAINTS: Mapping[str, Attribute[Any]] = {attribute.key: attribute for attribute in OF_VALUES}


_MOST_VERSIONS = 20
"""Versions that are opened for the history of one field, newest first."""


def history(locked: Locked, field: SchemaField) -> Iterator[str]:
    """Yield a table of the versions in which a field was another one than in the version before; nothing where it never changed."""
    id_ = locked.ids.get(field)
    former: list[tuple[int, str, str]] = []
    for version in locked.lock.versions[-_MOST_VERSIONS:]:
        opened = open_version(locked.lock, version)
        then = next((one for one, state in opened.states.items() if state.id == id_), None)
        row = (then.path_text, type_text_of(then)) if then is not None else ("", "")
        if (former[-1][1:] if former else ("", "")) != row:
            former.append((version.number, *row))
    now = (field.path_text, type_text_of(field))
    rows = [
        f"| {number} | {f'`{path}` `{text}`' if path else 'not there'} |" for number, path, text in former
    ]
    if former and former[-1][1:] != now:
        rows.append(f"| not locked | `{now[0]}` `{now[1]}` |")
    if len(rows) > 1:
        yield "\n".join(["| version | field |", "|---|---|", *rows])


# Symbols

MAX_SYMBOLS = 500
"""Symbols of a project that are listed for one search."""


def document_symbols(
    file: CompiledFile, documents: Sequence[Document], lines: TextLines
) -> list[types.DocumentSymbol]:
    """Return the datasets of a text with their fields, and its groups with theirs."""
    symbols: list[types.DocumentSymbol] = []
    for dataset in file.datasets:
        name, whole = dataset.origins.name_location, dataset.origins.location(())
        if name is None or whole is None:
            continue
        members = list(_field_symbols(dataset, dataset.columns, lines))
        kind = types.SymbolKind.Struct
        symbols.append(_document_symbol(lines, dataset.name, kind, (whole, name), None, members))
    return [*symbols, *_group_symbols(documents, lines)]


def _document_symbol(
    lines: TextLines,
    name: str,
    kind: types.SymbolKind,
    places: tuple[Location, Location],
    detail: str | None = None,
    children: Sequence[types.DocumentSymbol] | None = None,
) -> types.DocumentSymbol:
    """Return a symbol by the places of the whole and of its name; its range has the name in it, as the protocol needs it."""
    whole, at = (lines.range(place.region) for place in places)
    around = types.Range(min(whole.start, at.start), max(whole.end, at.end))
    return types.DocumentSymbol(name or "(no name)", kind, around, at, detail, children=children)


def _field_symbols(
    dataset: LogicalDataset, fields: Iterable[SchemaField], lines: TextLines
) -> Iterator[types.DocumentSymbol]:
    """Yield the symbols of fields with their members, but for those of a group, which are listed where the group is."""
    for field in fields:
        if not field.is_member:
            yield from _field_symbols(dataset, field.children, lines)
            continue
        name = dataset.origins.location((*field.declared_at, "name"))
        whole = dataset.origins.location(field.declared_at)
        if name is None or whole is None or name.labels:
            continue
        nested = list(_field_symbols(dataset, field.children, lines))
        kind = types.SymbolKind.Struct if field.type.family is Family.STRUCT else types.SymbolKind.Field
        segment, text = str(field.segment), type_text_of(field)
        yield _document_symbol(lines, segment, kind, (whole, name), text, nested)


def _group_symbols(documents: Sequence[Document], lines: TextLines) -> Iterator[types.DocumentSymbol]:
    """Yield a symbol for each group of a text, with its named fields below it."""
    for definition in GroupFile(documents).groups.values():
        document, path, children = definition.document, definition.path, []
        for i, field in enumerate(definition.group.fields):
            at = (*path, "fields", i)
            if isinstance(field, dict) and isinstance(field.get("name"), str):
                places = document.location(at), document.location((*at, "name"))
                children.append(_document_symbol(lines, field["name"], types.SymbolKind.Field, places))
        places = document.location(path), document.location(path, on_key=True)
        detail = definition.group.description or None
        yield _document_symbol(lines, definition.name, types.SymbolKind.Module, places, detail, children)


def workspace_symbols(
    checked: CheckedProject, query: str, lines_of: LinesOf
) -> Iterator[types.WorkspaceSymbol]:
    """Yield the datasets and fields of a project whose names have the letters of a query in their order."""
    for file in checked.files:
        path = key_of(file.file.path)
        for number, named in enumerate(file.named):
            if is_like(query, named.name):
                yield _workspace_symbol(file.datasets[number], None, path, lines_of)
            for field in preorder(file.datasets[number].columns) if query else ():
                is_asked = field.is_member and is_like(query, str(field.segment))
                place = location_of(file.datasets[number], field) if is_asked else None
                if place is not None and place.file == file.file.name:
                    yield _workspace_symbol(file.datasets[number], field, path, lines_of)


def _workspace_symbol(
    dataset: LogicalDataset, field: SchemaField | None, path: str, lines_of: LinesOf
) -> types.WorkspaceSymbol:
    """Return the symbol of a field, or of the dataset where `field` is None; at the file's start if its place is unknown."""
    place = dataset.origins.location((*field.declared_at, "name")) if field is not None else None
    place = place or dataset.origins.name_location
    region = place.region if place is not None else Region(1, 1, 1, 1)
    location = types.Location(uri_of(path), lines_of(path).range(region))
    if field is None:
        return types.WorkspaceSymbol(location, dataset.name, types.SymbolKind.Struct)
    kind = types.SymbolKind.Field
    return types.WorkspaceSymbol(location, field.path_text, kind, container_name=dataset.name)


def is_like(query: str, name: str) -> bool:
    """Whether a name has the letters of a query in their order, whatever their case."""
    rest = iter(name.casefold())
    return all(letter in rest for letter in query.casefold())


_LONGEST = 60
"""Code points of a type that is shown in a line."""


def inlay_hints(
    file: CompiledFile, checked: CheckedProject, lines: TextLines, first: int, last: int
) -> list[types.InlayHint]:
    """Return the hints of the fields between two lines, both zero-based."""
    locked = _locked_versions(file, file.datasets)
    arrow_options = CompileOptions.of(checked.project).arrow_options
    hints: list[types.InlayHint] = []
    for dataset in (one for one in file.datasets if one.is_whole):
        ids = locked[dataset.name].ids if dataset.name in locked else {}
        visible: list[SchemaField] = []
        for field in dataset.columns:
            place = dataset.origins.location(field.declared_at)
            if place is not None and place.source.name == dataset.origins.file:
                region = place.region
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
                place = dataset.origins.location((*field.declared_at, key))
                if hint and place is not None and place.source.name == dataset.origins.file:
                    line, column = _value_end(place.region, lines)
                    if first <= line <= last:
                        at, kind = lines.position(line, column), types.InlayHintKind.Type
                        hints.append(types.InlayHint(at, hint, kind, padding_left=True))
    return hints


def _value_end(region: Region, lines: TextLines) -> tuple[int, int]:
    """Return the zero-based line and column behind a value; one in block style ends at the start of a later line."""
    line, column = region.end_line - 1, region.end_column - 1
    source_line = lines.lines[line] if line < len(lines.lines) else ""
    if not source_line[:column].strip():
        line = region.line - 2
        column = len(lines.lines[line].rstrip()) if line >= 0 else 0
    return line, column
