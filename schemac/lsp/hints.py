"""What an editor shows behind the names and types of fields: ids of the lock, and Arrow types.

Layer: lsp.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lsprotocol import types

from schemac.arrow.lower import lower
from schemac.logical.dataset import LogicalDataset
from schemac.logical.slots import Slot, preorder
from schemac.lsp.places import written_at
from schemac.lsp.projects import Checked
from schemac.lsp.texts import Lines
from schemac.project.locking import locked_datasets
from schemac.project.manifests import CompiledFile
from schemac.project.options import CompileOptions
from schemac.source.report import Report

_LONGEST = 60
"""Code points of a type that is shown in a line."""


def inlay_hints(
    file: CompiledFile, checked: Checked, lines: Lines, first: int, last: int
) -> list[types.InlayHint]:
    """Return the hints of the fields between two lines, both zero-based."""
    report = Report()
    locked = locked_datasets(file.file.path, file.file.name, file.datasets, report, is_error=False)
    found: list[types.InlayHint] = []
    for dataset in file.datasets:
        held = locked.get(dataset.name)
        is_locked = held is not None and held.dataset.newest is not None
        ids = held.found.ids if held is not None and is_locked else {}
        found += _of_dataset(dataset, ids, checked, lines, (first, last))
    return found


def _of_dataset(
    dataset: LogicalDataset, ids: Mapping[Slot, int], checked: Checked, lines: Lines, range_: tuple[int, int]
) -> Iterator[types.InlayHint]:
    if not dataset.is_whole:
        return
    visible = [slot for slot in dataset.columns if _is_visible(dataset, slot, range_)]
    alone = replace(dataset, columns=tuple(visible))
    lowering = CompileOptions.of(checked.project).lowering
    arrow = {field.slot: str(field.arrow.type) for field in lower(alone, lowering).preorder()}
    for slot in preorder(visible):
        if not slot.is_member:
            continue
        if slot in ids:
            hint = _hint(dataset, slot, "name", f"id {ids[slot]}", lines, range_)
            if hint is not None:
                yield hint
        hint = _hint(dataset, slot, "type", _short(arrow.get(slot, "")), lines, range_)
        if hint is not None:
            yield hint


def _is_visible(dataset: LogicalDataset, slot: Slot, range_: tuple[int, int]) -> bool:
    where = written_at(dataset, slot)
    place = dataset.origins.place(slot.declared_at)
    if where is None or place is None or where.file != dataset.origins.file:
        return False
    region = place.source.region(place.span)
    return region.line - 1 <= range_[1] and region.end_line - 1 >= range_[0]


def _hint(
    dataset: LogicalDataset, slot: Slot, key: str, text: str, lines: Lines, range_: tuple[int, int]
) -> types.InlayHint | None:
    place = dataset.origins.place((*slot.declared_at, key))
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
