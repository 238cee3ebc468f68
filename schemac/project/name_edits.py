"""The places of a manifest that have a field's name, and edits of them.

Layer: project.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from schemac.attributes.attribute import Extra
from schemac.attributes.own import DEPRECATED
from schemac.attributes.registry import ATTRIBUTES
from schemac.logical.dataset import LogicalDataset
from schemac.logical.slots import Slot, TreePath, preorder
from schemac.manifest.write import scalar
from schemac.source.catalogue import REFUSED_EDIT
from schemac.source.report import Report
from schemac.source.span import Span
from schemac.syntax.document import Place

Fields = list[Any]


@dataclass(frozen=True, slots=True)
class Edit:
    """A place of a text, and what shall stand there."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Renamed:
    """What a renaming did to one dataset."""

    manifest: str
    path: str
    """Where the field is now."""
    version: int | None
    """The locked version that has the new name; None where there is no lock."""
    edited: str = ""
    """The file that has the name, if it is another one."""
    others: "tuple[Renamed, ...]" = ()
    """The other datasets that have the field from the same group."""


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Return a text after edits, which do not overlap."""
    for edit in sorted(edits, key=lambda e: e.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def place_of_name(dataset: LogicalDataset, slot: Slot) -> Place:
    """Return where the name of a field is written, with the uses of groups that lead there."""
    found = dataset.origins.place((*slot.declared_at, "name"))
    assert found is not None, "every value of a manifest has a place"
    return found


def edit_at(dataset: LogicalDataset, path: TreePath, text: str, *, on_key: bool = False) -> Edit:
    """Return the edit that puts a text in the place of a value, or of its key, in the quotes that stand there."""
    place = dataset.origins.place(path, on_key=on_key)
    assert place is not None, "every value of a manifest has a place"
    return edit_of(place, text)


def edit_of(place: Place, text: str) -> Edit:
    """Return the edit that puts a text at a place, in the quotes that stand there."""
    return Edit(place.span, scalar(text, place.source.excerpt(place.span)))


def edits_of_column(dataset: LogicalDataset, old: str, new: str) -> Iterator[Edit]:
    """Yield the edits of every attribute of the schema that names a column."""
    for attribute in ATTRIBUTES.values():
        for found in attribute.renamings(dataset.schema.extra, old, new):
            path = ("extra", attribute.key, *found.steps)
            yield edit_at(dataset, path, found.text, on_key=found.is_key)


def new_successor(extra: Extra, renamed: Mapping[str, str]) -> str | None:
    """Return what the successor of a deprecated field is called after renamings, by old path; None if it is none of them."""
    value = extra.get(DEPRECATED.key)
    successor = value.get("successor") if isinstance(value, dict) else None
    if not isinstance(successor, str):
        return None
    for old, new in renamed.items():
        if successor == old or successor.startswith(f"{old}."):
            return new + successor[len(old) :]
    return None


def edits_of_successors(dataset: LogicalDataset, renamed: Mapping[str, str]) -> Iterator[tuple[Place, Edit]]:
    """Yield the edits of all deprecated fields whose successors get another path."""
    for slot in preorder(dataset.columns):
        successor = new_successor(slot.extra, renamed) if slot.extra else None
        if successor is None:
            continue
        paths = slot.extra_places(DEPRECATED.key)
        path = next((path for path in paths if dataset.origins.has(path)), paths[0])
        place = dataset.origins.place((*path, "successor"))
        assert place is not None, "every value of a manifest has a place"
        yield place, edit_of(place, successor)


def refuse_edit(dataset: LogicalDataset, slot: Slot, message: str, report: Report) -> None:
    """Say that a field has to be edited by its author."""
    place = place_of_name(dataset, slot)
    report.add(
        REFUSED_EDIT,
        message,
        source=place.source,
        span=place.span,
        file=dataset.origins.file,
        path=slot.path_text,
        labels=place.labels,
        help=f"edit the manifest yourself, write `schemac.dev/renamedFrom: {scalar(slot.path_text)}` under the field's "
        "`extra:`, and run `schemac lock`",
    )


def fields_of(dataset: LogicalDataset, renamed: Mapping[str, str] = MappingProxyType({})) -> Fields:
    """Return the fields as plain values, to be compared; what is inside a field comes last.

    `renamed` are new paths by old ones, which the successors of deprecated fields are to have.
    """
    return [_field(slot, renamed) for slot in dataset.columns]


def _field(slot: Slot, renamed: Mapping[str, str]) -> list[Any]:
    extra = dict(slot.extra)
    successor = new_successor(extra, renamed)
    if successor is not None:
        extra[DEPRECATED.key] = {**extra[DEPRECATED.key], "successor": successor}
    own = slot.type.model_dump(exclude={"extra", "fields", "item_type", "key_type", "value_type"})
    return [slot.segment, own, slot.is_nullable, extra, [_field(child, renamed) for child in slot.children]]
