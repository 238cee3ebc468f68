"""What an importer is, and which one reads a source.

Floor: 7 (importers).
Errors: SC552 unreadable-source.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from schemac.logical.model import Schema
from schemac.source.catalogue import UNREADABLE_SOURCE
from schemac.source.report import Report
from schemac.syntax.complaints import complaints

Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Imported:
    """The schema of a source in the standard's long form, and what a reader of the manifest should know of it."""

    schema: Tree
    comments: tuple[str, ...] = ()
    name: str | None = None
    """The dataset's name, where the source has one."""


@dataclass(frozen=True, slots=True)
class Importer:
    """Reads one sort of source."""

    name: str
    summary: str
    read: Callable[[Path, Report], Imported | None]
    """The schema, or None after saying what is wrong with the source. It may raise OSError."""


FORMATS = ("arrow", "parquet", "lance", "spark", "odf", "csv", "ndjson")
"""Names of all importers."""
_SUFFIXES = {
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".lance": "lance",
    ".yaml": "odf",
    ".yml": "odf",
    ".bin": "odf",
    ".csv": "csv",
    ".tsv": "csv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "ndjson",
}


_HEAD = 1 << 16
"""Bytes at each end of a file that are looked at to tell its format."""


def detect(path: Path) -> str | None:
    """The format of a source by its name, or by its first bytes."""
    if (path / "_versions").is_dir():
        return "lance"
    if path.suffix.lower() == ".json" and _starts_with(path, b"{", b'"type":"struct"'):
        return "spark"
    if path.suffix.lower() in _SUFFIXES:
        return _SUFFIXES[path.suffix.lower()]
    if path.is_file():
        with path.open("rb") as stream:
            start = stream.read(8)
        return "parquet" if start.startswith(b"PAR1") else "arrow" if start.startswith(b"ARROW1") else None
    return None


def _starts_with(path: Path, first: bytes, mark: bytes) -> bool:
    """Whether a JSON file begins as an object and soon has a mark; blanks do not count."""
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
        stream.seek(max(0, path.stat().st_size - _HEAD))
        tail = stream.read(_HEAD)
    content = b"".join((head + tail).split())
    return content.startswith(first) and mark in content


def import_source(path: Path, format: str | None, report: Report) -> Imported | None:
    """The schema of a source; what is wrong with it is in the report."""
    shown = str(path)
    if not path.exists():
        report.add(
            UNREADABLE_SOURCE, f"there is no file or folder {shown}", file=shown, help="check the path"
        )
        return None
    try:
        format = format or detect(path)
        if format is None:
            message = f"the format of {shown} cannot be told from its name"
            report.add(
                UNREADABLE_SOURCE,
                message,
                file=shown,
                help=f"name it with --from {', --from '.join(FORMATS)}",
            )
            return None
        importer: Importer = import_module(f"schemac.importers.{format}").IMPORTER
        return importer.read(path, report)
    except OSError as error:
        refuse(path, (error.strerror or str(error)).lower(), report)
    except UnicodeDecodeError:
        # pyarrow decodes the names of a schema when they are asked for.
        refuse(path, "a text in its schema is not UTF-8", report)
    except ModuleNotFoundError as error:
        refuse(path, f"it needs {error.name}, which is not installed", report)
    return None


def refuse(path: Path, reason: str, report: Report) -> None:
    """Say why a source cannot be read."""
    report.add(UNREADABLE_SOURCE, f"cannot read {path}: {reason}", file=str(path))


def schema_of(tree: Tree, file: str, report: Report) -> Schema | None:
    """The schema of values in the standard's long form; a source can hold numbers that no manifest may have."""
    try:
        return Schema.model_validate(tree)
    except ValidationError as error:
        found = next(iter(complaints(error, Schema, tree)))
    path = found.path
    column = tree["fields"][path[1]]["name"] if path[0] == "fields" and isinstance(path[1], int) else ""
    place = f"in the column '{column}', " if column else ""
    report.add(UNREADABLE_SOURCE, f"cannot read {file}: {place}{found.message}", file=file, path=column)
    return None
