"""A field gets another name, in the manifest and in the lock at once.

Floor: 9 (project).
Shape: the text changes at the name itself, and where attributes of the schema name the column; comments, order and
layout stay byte for byte. The edited text is checked before anything is written.
Errors: SC319 unknown-column for a name that is not there, SC401 where other changes wait to be locked, and whatever the
checks say of the edited manifest.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schemac.attributes import paimon
from schemac.evolution.side import words_of
from schemac.identity.freeze import freeze, identify
from schemac.identity.lock import Lock
from schemac.logical.dataset import LogicalDataset
from schemac.logical.path import dotted
from schemac.logical.slots import Slot, preorder
from schemac.project.compile import CompiledFile, check_source
from schemac.project.configuration import Project
from schemac.project.locking import LockFile, identified, open_lock, report_unlocked, save_lock
from schemac.source.catalogue import UNKNOWN_COLUMN, WRITE_FAILED
from schemac.source.report import Report
from schemac.source.span import Span
from schemac.source.suggest import closest
from schemac.source.text import SourceText

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_MARK = b"\xef\xbb\xbf"
"""Of UTF-8, which some editors put before a text."""
_COLUMN_OPTIONS = ("bucket-key", "sequence.field")


@dataclass(frozen=True, slots=True)
class Edit:
    """A place of a text, and what shall stand there."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Renamed:
    """What a renaming did."""

    manifest: str
    version: int | None
    """The locked version that has the new name; None where there is no lock."""


def rename(
    file: CompiledFile, dataset: LogicalDataset, old: str, new: str, project: Project, report: Report
) -> Renamed | None:
    """Rename a field; None after saying why not."""
    slot = _find(dataset, old, report)
    if slot is None:
        return None
    held = open_lock(file.file.path, file.file.name, report)
    if held is None:
        return None
    locked = held.lock.dataset(dataset.name)
    if locked.newest is not None:
        before = identified(dataset, locked, report)
        report_unlocked(dataset, locked, before, report, is_error=True)
    if report.has_errors:
        return None
    source = dataset.origins.source
    assert source is not None, "a manifest on disk has a text"
    text = _edited(source.content, list(_edits(dataset, slot, new)))
    after = _checked(text, file, dataset.name, project, report)
    if after is None:
        return None
    lock = held.lock
    if locked.newest is not None:
        renamed = {_new_title(slot, new): slot.title}
        found = identify(after, locked, words_of, renamed=renamed)
        lock = lock.with_dataset(freeze(after, locked, found))
    if not _write(file, text, held, lock, report):
        return None
    newest = lock.dataset(dataset.name).newest
    return Renamed(file.file.name, newest.number if newest else None)


def _find(dataset: LogicalDataset, title: str, report: Report) -> Slot | None:
    slots = {slot.title: slot for slot in preorder(dataset.columns) if slot.is_member}
    if title not in slots:
        near = closest(title, slots)
        report.add(
            UNKNOWN_COLUMN,
            f"{dataset.name} has no field {title}",
            file=dataset.origins.file,
            help=f"did you mean {near}?" if near else f"its fields are {', '.join(slots)}",
        )
    return slots.get(title)


def _new_title(slot: Slot, new: str) -> str:
    return dotted((*slot.path[:-1], new))


def _edits(dataset: LogicalDataset, slot: Slot, new: str) -> Iterator[Edit]:
    """The name, and for a column every attribute of the schema that speaks of it."""
    yield _edit(dataset, (*slot.declared_at, "name"), new)
    if slot.parent is not None:
        return
    old, extra = str(slot.segment), dataset.schema.extra
    for attribute in (paimon.PRIMARY_KEYS, paimon.PARTITION_KEYS):
        for index, name in enumerate(attribute.read(extra) or ()):
            if name == old:
                yield _edit(dataset, ("extra", attribute.key, index), new)
    for key, value in (paimon.OPTIONS.read(extra) or {}).items():
        place = ("extra", paimon.OPTIONS.key, key)
        names = value.split(",")
        if key in _COLUMN_OPTIONS and old in names:
            yield _edit(dataset, place, ",".join(new if name == old else name for name in names))
        if key.startswith(f"fields.{old}."):
            span = dataset.origins.key_span(place)
            assert span is not None
            yield Edit(span, _scalar(f"fields.{new}.{key.removeprefix(f'fields.{old}.')}"))


def _edit(dataset: LogicalDataset, place: tuple[str | int, ...], text: str) -> Edit:
    span = dataset.origins.span(place)
    assert span is not None, "every value of a manifest has a place"
    return Edit(span, _scalar(text))


def _scalar(text: str) -> str:
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _edited(text: str, edits: list[Edit]) -> str:
    for edit in sorted(edits, key=lambda e: e.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def _checked(
    text: str, file: CompiledFile, name: str, project: Project, report: Report
) -> LogicalDataset | None:
    """The dataset of the edited manifest, if it passes the checks."""
    found = Report()
    datasets = check_source(SourceText(text, file.file.name), project, found)
    report.extend(found.diagnostics)
    if found.has_errors:
        return None
    return next(dataset for dataset in datasets if dataset.name == name)


def _write(file: CompiledFile, text: str, held: LockFile, lock: Lock, report: Report) -> bool:
    """The lock first, for it may be refused; if the manifest then cannot be written, the lock is as it was."""
    if held.exists and not save_lock(held, lock, report):
        return False
    path: Path = file.file.path
    new = path.with_name(path.name + ".schemac-new")
    try:
        mark = _MARK if path.read_bytes().startswith(_MARK) else b""
        new.write_bytes(mark + text.encode())
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        if held.exists and held.text is not None:
            held.path.write_text(held.text, encoding="utf-8", newline="\n")
        report.add(WRITE_FAILED, f"cannot write {file.file.name}: {error.strerror}", file=file.file.name)
        return False
    return True
