"""What an editor shows behind the names and types of fields, and their history.

Layer: lsp.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lsprotocol import types

from schemac.arrow.to_arrow import lower
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.schema_fields import SchemaField, preorder
from schemac.lsp.field_locations import location_of
from schemac.lsp.projects import Checked
from schemac.lsp.texts import Lines
from schemac.project.locking import locked_datasets
from schemac.project.manifests import CompiledFile
from schemac.project.options import CompileOptions
from schemac.text.source.report import Report

_LONGEST = 60
"""Code points of a type that is shown in a line."""


def inlay_hints(
    file: CompiledFile, checked: Checked, lines: Lines, first: int, last: int
) -> list[types.InlayHint]:
    """Return the hints of the fields between two lines, both zero-based."""
    report = Report()
    locked = locked_datasets(file.file.path, file.file.name, file.datasets, report, is_error=False)
    hints: list[types.InlayHint] = []
    for dataset in file.datasets:
        dataset_lock = locked.get(dataset.name)
        is_locked = dataset_lock is not None and dataset_lock.dataset.newest is not None
        ids = dataset_lock.identities.ids if dataset_lock is not None and is_locked else {}
        hints += _of_dataset(dataset, ids, checked, lines, (first, last))
    return hints


def _of_dataset(
    dataset: LogicalDataset,
    ids: Mapping[SchemaField, int],
    checked: Checked,
    lines: Lines,
    range_: tuple[int, int],
) -> Iterator[types.InlayHint]:
    if not dataset.is_whole:
        return
    visible = [schema_field for schema_field in dataset.columns if _is_visible(dataset, schema_field, range_)]
    alone = replace(dataset, columns=tuple(visible))
    lowering = CompileOptions.of(checked.project).lowering
    arrow = {field.field: str(field.arrow.type) for field in lower(alone, lowering).preorder()}
    for schema_field in preorder(visible):
        if not schema_field.is_member:
            continue
        if schema_field in ids:
            hint = _hint(dataset, schema_field, "name", f"id {ids[schema_field]}", lines, range_)
            if hint is not None:
                yield hint
        hint = _hint(dataset, schema_field, "type", _short(arrow.get(schema_field, "")), lines, range_)
        if hint is not None:
            yield hint


def _is_visible(dataset: LogicalDataset, field: SchemaField, range_: tuple[int, int]) -> bool:
    where = location_of(dataset, field)
    place = dataset.origins.location(field.declared_at)
    if where is None or place is None or where.file != dataset.origins.file:
        return False
    region = place.source.region(place.span)
    return region.line - 1 <= range_[1] and region.end_line - 1 >= range_[0]


def _hint(
    dataset: LogicalDataset, field: SchemaField, key: str, text: str, lines: Lines, range_: tuple[int, int]
) -> types.InlayHint | None:
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


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
