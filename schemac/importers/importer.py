"""The interface of importers and their result, and the reading of JSON files and SQL scripts that contain a schema.

Layer: importers.
Errors: SC552 unreadable-source.
"""

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TypeVar

from schemac.language.logical.model import FieldPath, Part, dotted
from schemac.text.source.catalogue import UNREADABLE_SOURCE, UNSUPPORTED_ARROW_TYPE
from schemac.text.source.diagnostics import WHOLE_FILE, Located, Region, Report, SourceText, Span
from schemac.text.source.json_object import Json
from schemac.versions.identity.lock import EngineData, Highest, Numbers


class ImportNotes:
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

    def merge(self, others: "ImportNotes", column: FieldPath | None = None) -> None:
        """Add all texts of another importer; with a path, the texts of its only column are added at this path."""
        for path, texts in others._texts.items():
            for text in texts:
                self.add(path if column is None else (*column, *path[1:]), text)

    def all(self) -> Iterator[str]:
        """Yield the texts of all fields."""
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
    """One version of a schema in which every field has an id of its own, which the lock takes as its own."""

    schema: Json
    ids: dict[FieldPath, int]
    highest: int
    """The highest id that was ever given to a field."""


@dataclass(frozen=True, slots=True)
class ImportedSchema:
    """The schema of a source in the standard's long form, with notes for readers of the manifest."""

    schema: Json
    comments: tuple[str, ...] = ()
    name: str | None = None
    """The dataset's name, where the source has one."""
    notes: ImportNotes = dataclasses.field(default_factory=ImportNotes)
    versions: tuple[ImportedVersion | NumberedVersion, ...] = ()
    """What a lock is made of, oldest version first; the last one has this schema. None where fields have no numbers."""
    text: str | None = None
    """The manifest as a whole, where the source was one and only had to be edited."""
    others: "tuple[ImportedSchema, ...]" = ()
    """Further datasets of the same source; each has a name and none of its own."""


def together(datasets: Sequence[ImportedSchema]) -> ImportedSchema:
    """Return the first dataset of a source, with the others next to it."""
    first, *others = datasets
    return dataclasses.replace(first, others=tuple(others))


@dataclass(frozen=True, slots=True)
class Importer:
    """Reads one sort of source."""

    name: str
    summary: str
    read: Callable[[Path, Report], ImportedSchema | None]
    """The schema, or None after saying what is wrong with the source. It may raise UnreadableSourceError and OSError."""
    read_value: Callable[[Any, str, Report], ImportedSchema | None] | None = None
    """The same of a value that another source holds, such as a statement."""


@dataclass(eq=False)
class UnreadableSourceError(Exception):
    """Why a source cannot be read, and the place if it is known."""

    reason: str
    location: Located | None = None
    file: Path | str | None = None
    """The file in the source that is meant; None for the source itself."""
    at: Region = WHOLE_FILE
    help: str = ""

    def __str__(self) -> str:
        return self.reason

    def add_to(self, report: Report, path: Path | str) -> None:
        """Report it of a source."""
        file = str(self.file or path)
        message, help = f"cannot read {file}: {self.reason}", self.help
        report.add(UNREADABLE_SOURCE, message, location=self.location, file=file, at=self.at, help=help)


T = TypeVar("T")


def read_or_report(read: Callable[[], T], path: Path | str, report: Report) -> T | None:
    """Return what a function reads of a source; None after reporting why the source cannot be read."""
    try:
        return read()
    except UnreadableSourceError as error:
        error.add_to(report, path)
        return None


class UnsupportedColumnError(Exception):
    """A type without a kind in a column, at a path."""

    def __init__(self, path: FieldPath, type_: str, reason: str = "there is no kind for") -> None:
        super().__init__(f"{reason} {type_}")
        self.path = path


def refuse_column(path: FieldPath, message: str, file: str, report: Report) -> None:
    """Report a type without a kind, in the column that a path begins with."""
    help = f"cast it first, or leave the column out with `--skip '{path[0]}'`"
    report.add(UNSUPPORTED_ARROW_TYPE, message, file=file, path=dotted(path), help=help)


def first_line(error: BaseException) -> str:
    """Return the first line of a library's error, as the end of a sentence."""
    text = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
    return f"{text[:1].lower()}{text[1:]}"


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


_LARGEST_EXPONENT = 400
"""Beyond the exponents of doubles, and of every decimal that a schema can have."""


class Beyond(str):
    """A number whose exponent is beyond every type, as text."""

    __slots__ = ()


def exact_number(text: str) -> Decimal | Beyond:
    """Return a number with a fraction or an exponent, as `json.loads` hands it over."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return Beyond(text)
    return value if abs(value.adjusted()) <= _LARGEST_EXPONENT else Beyond(text)


def double(text: str) -> float | Beyond:
    """Return a number with a fraction or an exponent as a double; one beyond a double as text."""
    value = float(text)
    return value if abs(value) != float("inf") else Beyond(text)


def json_document(content: bytes, file: Path) -> Any:
    """Return the value of a text. Raises UnreadableSourceError, at the very place if that is known."""
    try:
        document = json.loads(content)
        if _SURROGATE.search(content):
            # Half a character has a form in JSON, but no text can hold it.
            json.dumps(document, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        at = Region.within(error.lineno, error.colno, error.colno + 1)
        reason = f"it is not valid JSON: {error.msg[0].lower()}{error.msg[1:]}"
        raise UnreadableSourceError(reason, file=file, at=at) from error
    except (ValueError, RecursionError) as error:
        raise UnreadableSourceError(f"it is not valid JSON: {error}", file=file) from error
    return document


def numbered_files(folder: Path, form: re.Pattern[str]) -> list[tuple[int, Path]]:
    """Return the files of a folder whose names have a form, by the number in it; none if there is no such folder."""
    entries = folder.iterdir() if folder.is_dir() else ()
    matches = [(form.fullmatch(file.name), file) for file in entries]
    return sorted([(int(match[1]), file) for match, file in matches if match is not None and file.is_file()])


LARGEST_BYTES = 32 * 1024 * 1024


def script_text(path: Path) -> str:
    """Return the text of a script. Raises UnreadableSourceError."""
    if path.stat().st_size > LARGEST_BYTES:
        help = "export the schema without the data, as `pg_dump --schema-only` does"
        raise UnreadableSourceError(f"it is larger than {LARGEST_BYTES // 1024**2} MiB", help=help)
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"it is not UTF-8: byte 0x{error.object[error.start]:02x} at {error.start}"
        raise UnreadableSourceError(reason) from error


def script_source(text: str, file: str) -> SourceText:
    """Return the source of a script. Raises UnreadableSourceError where it holds half of a character."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise UnreadableSourceError("a name or text in it is not valid Unicode")
    return SourceText(text, file)


@dataclass(slots=True)
class ScriptTable:
    """What a script says of a table that it creates, besides its columns."""

    name: tuple[str, ...] = ()
    """Catalog, namespaces and table, as far as they are written."""
    name_span: Span = Span(0, 0)
    key: tuple[str, ...] = ()
    comment: str | None = None
    head: list[str] = dataclasses.field(default_factory=list)
    """Notes about the table as a whole."""


def script_names(tables: Sequence[ScriptTable], source: SourceText) -> list[str | None]:
    """Return the names of the datasets of a script's tables: namespace and table, with the catalog only where two would be the same; None for no name.

    Raises UnreadableSourceError for a table that is created twice.
    """
    short = ["/".join(table.name[-2:]).casefold() for table in tables]
    counts = Counter(short)
    names: list[str | None] = []
    for table, name in zip(tables, short, strict=True):
        holders = table.name[:-1] if counts[name] > 1 else table.name[-2:-1]
        names.append("/".join(filter(None, (".".join(holders), *table.name[-1:]))) or None)
    folded = [name.casefold() for name in names if name is not None]
    for table, full in zip(tables, names, strict=True):
        if full is None or folded.count(full.casefold()) == 1:
            continue
        reason = f"it creates the table {'.'.join(table.name)} more than once; keep one of the statements"
        raise UnreadableSourceError(reason, Located(source, table.name_span))
    return names
