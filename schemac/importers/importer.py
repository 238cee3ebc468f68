"""The interface of an importer, and its result.

Layer: importers.
Errors: SC552 unreadable-source.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemac.identity.lock import EngineData, Highest, Numbers
from schemac.logical.path import FieldPath, Part
from schemac.source.catalogue import UNREADABLE_SOURCE
from schemac.source.json_object import Json
from schemac.source.report import Report
from schemac.source.span import Span
from schemac.source.text import SourceText


class Notes:
    """Notes about what a manifest cannot express: texts by the path of the nearest field that has a name."""

    def __init__(self) -> None:
        self._texts: dict[FieldPath, list[str]] = {}

    def add(self, path: FieldPath, text: str) -> None:
        """Enter a text; the same at the same field counts once."""
        while path and isinstance(path[-1], Part):
            path = path[:-1]
        texts = self._texts.setdefault(path, [])
        if text not in texts:
            texts.append(text)

    def merge(self, others: "Notes", column: FieldPath | None = None) -> None:
        """Enter all texts of others; with a path, those of their one column and of what is in it become those of this path."""
        for path, texts in others._texts.items():
            for text in texts:
                self.add(path if column is None else (*column, *path[1:]), text)

    def all(self) -> Iterator[str]:
        """Return the texts of all fields."""
        for texts in self._texts.values():
            yield from texts

    def at(self, path: FieldPath) -> tuple[str, ...]:
        """Return the texts at a field."""
        return tuple(self._texts.get(path, ()))


@dataclass(frozen=True, slots=True)
class ImportedVersion:
    """One version of a schema whose fields have numbers already."""

    schema: Json
    numbers: Mapping[FieldPath, Numbers]
    """The numbers that an engine gave; fields without any may be left out."""
    highest: Highest
    """The highest number that was ever given to a field."""
    data: EngineData = EngineData()
    """What the engine has to remember of the version."""


@dataclass(frozen=True, slots=True)
class NumberedVersion:
    """One version of a schema in which every field has an id of its own, as the fields of a lock have."""

    schema: Json
    ids: dict[FieldPath, int]
    highest: int
    """The highest id that was ever given to a field."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The schema of a source in the standard's long form, with notes for readers of the manifest."""

    schema: Json
    comments: tuple[str, ...] = ()
    name: str | None = None
    """The dataset's name, where the source has one."""
    notes: Notes = dataclasses.field(default_factory=Notes)
    versions: tuple[ImportedVersion, ...] = ()
    """What a lock is made of, oldest version first; the last one has this schema. None where fields have no numbers."""
    numbered: tuple[NumberedVersion, ...] = ()
    """All versions of a source that numbers every field, oldest first; the lock takes these ids as its own."""
    text: str | None = None
    """The manifest as a whole, where the source was one and only had to be edited."""
    others: "tuple[Imported, ...]" = ()
    """Further datasets of the same source; each has a name and none of its own."""

    @property
    def has_ids(self) -> bool:
        """Whether the fields have ids in the source that a lock can adopt."""
        return bool(self.versions or self.numbered)


@dataclass(frozen=True, slots=True)
class Importer:
    """Reads one sort of source."""

    name: str
    summary: str
    read: Callable[[Path, Report], Imported | None]
    """The schema, or None after saying what is wrong with the source. It may raise OSError."""
    read_value: Callable[[Any, str, Report], Imported | None] | None = None
    """The same of a value that another source holds, such as a statement."""


def refuse(
    path: Path | str,
    reason: str,
    report: Report,
    *,
    source: SourceText | None = None,
    span: Span | None = None,
    help: str = "",
) -> None:
    """Report why a source cannot be read, at the place if it is known."""
    message = f"cannot read {path}: {reason}"
    report.add(UNREADABLE_SOURCE, message, source=source, span=span, file=str(path), help=help)


def first_line(error: BaseException) -> str:
    """Return what a library has to say, as the end of a sentence of ours."""
    text = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
    return f"{text[:1].lower()}{text[1:]}"
