"""Selects the importer of a source, and runs it.

Layer: importers.
Errors: SC552 unreadable-source; columns that are left out lose their SC551.
"""

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from schemac.importers.constraints import without_missing
from schemac.importers.importer import Imported, Importer, refuse
from schemac.importers.sniffing import refuse_foreign
from schemac.language.logical.model import FieldPath, Part, quoted
from schemac.registry.engine import Format, load_as
from schemac.registry.installed import blamed, engines
from schemac.text.source.catalogue import UNREADABLE_SOURCE, UNSUPPORTED_ARROW_TYPE
from schemac.text.source.diagnostic import Diagnostic
from schemac.text.source.files import install_help
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import closest
from schemac.text.source.report import Report

_OWN = (
    Format("parquet", "schemac.importers.parquet:IMPORTER", (".parquet", ".pq"), magic=b"PAR1"),
    Format("csv", "schemac.importers.csv:IMPORTER", (".csv", ".tsv")),
    Format("ndjson", "schemac.importers.ndjson:IMPORTER", (".ndjson", ".jsonl", ".json"), is_json=True),
)
"""Files of data that belong to no engine."""


def formats() -> dict[str, Format]:
    """Return every format that can be read by its name: those of the engines, then those of plain data."""
    return {format.name: format for format in (*(f for engine in engines() for f in engine.formats), *_OWN)}


_PARTS = {"inner": Part.ITEM, "itemType": Part.ITEM, "keyType": Part.KEY, "valueType": Part.VALUE}


def detect(path: Path) -> str | None:
    """Return the format of a source, by its class, its name or its first bytes."""
    known = formats().values()
    for format in known:
        if format.recognizes and format.is_source(path):
            return format.name
    suffix = path.suffix.lower()
    named = next((format.name for format in known if suffix in format.suffixes), None)
    if named is not None or not path.is_file():
        return named
    with path.open("rb") as stream:
        start = stream.read(8)
    return next((format.name for format in known if format.magic and start.startswith(format.magic)), None)


def import_source(
    path: Path, format: str | None, report: Report, skipped: Collection[str] = ()
) -> Imported | None:
    """Return the schema of a source without some of its columns; what is wrong with it is in the report."""
    report_of_source = Report()
    imported = _read(path, format, report_of_source)
    if imported is not None and skipped:
        imported = _without(imported, skipped, path, report_of_source)
    help = _other_format(path, format) if imported is None and format is not None else ""
    report.extend(
        replace(d, help=help) if help and d.code == UNREADABLE_SOURCE.id else d
        for d in report_of_source.diagnostics
        if not _is_of(d, skipped)
    )
    return imported


def _other_format(path: Path, format: str) -> str:
    """Return what to write if a source can be read in another format than the named one; else an empty text."""
    try:
        detected = detect(path) if path.exists() else None
    except OSError:
        return ""
    # A name alone promises nothing: an empty `.sql` is no DDL either.
    if detected in (None, format) or _read(path, detected, Report()) is None:
        return ""
    return f"it is recognized as {detected}: leave `--from` out, or write `--from {detected}`"


def import_value(format: str, value: Any, file: str, report: Report) -> Imported | None:
    """Return the schema of a value in a format that another one has inside it; the format has to read values."""
    importer = load_as(formats()[format].importer, Importer, f"`importer` of the format {format}")
    assert importer.read_value is not None
    return importer.read_value(value, file, report)


def standard_form(imported: Imported) -> Imported:
    """Return the same with nothing that the standard does not have; what is left out or changed becomes a note."""
    notes = imported.notes

    def type_(tree: Any, path: FieldPath, *, is_nested: bool) -> Any:
        standard = dict(tree)
        for key in sorted(standard.pop("extra", {})) if is_nested else ():
            notes.add(path, f"not in the standard: {key} of {path[-1]}")
        if standard["kind"] == "Timestamp" and standard.get("timezone", "") is None:
            notes.add(
                path, "a timestamp without a zone, which the standard does not have, so it is written as UTC"
            )
            standard["timezone"] = "UTC"
        for key, part in _PARTS.items():
            if key in standard:
                below = path if key == "inner" else (*path, part)
                standard[key] = type_(standard[key], below, is_nested=key != "inner" or is_nested)
        if "fields" in standard:
            standard["fields"] = [member(f, path) for f in standard["fields"]]
        return standard

    def member(tree: Any, holder: FieldPath) -> Any:
        return {**tree, "type": type_(tree["type"], (*holder, tree["name"]), is_nested=False)}

    fields = [member(f, ()) for f in imported.schema["fields"]]
    return replace(imported, schema={**imported.schema, "fields": fields})


def _read(path: Path, format: str | None, report: Report) -> Imported | None:
    name = str(path)
    try:
        if not path.exists():
            message = f"there is no file or folder {name}"
            report.add(UNREADABLE_SOURCE, message, file=name, help="check the path")
            return None
        if not path.is_file() and not path.is_dir():
            # Pipes and devices may never end.
            refuse(path, "it is neither a file nor a folder", report, help="copy it into a file first")
            return None
        if path.is_file():
            with path.open("rb") as stream:
                if not stream.read(1):
                    refuse(path, "it is empty", report)
                    return None
        is_by_suffix = format is None
        format = format or detect(path)
        if format is None:
            message = f"the format of {name} cannot be recognized from its name"
            help = f"specify it with --from {', --from '.join(formats())}"
            report.add(UNREADABLE_SOURCE, message, file=name, help=help)
            return None
        if is_by_suffix and formats()[format].is_json and refuse_foreign(path, report):
            return None
        importer = load_as(formats()[format].importer, Importer, f"`importer` of the format {format}")
        owner = next((e.name for e in engines() if any(f.name == format for f in e.formats)), None)
        with blamed(owner):
            try:
                return _encodable(importer.read(path, report))
            except (
                OSError,
                UnicodeError,
                ModuleNotFoundError,
            ) as error:  # told below; no fault of the reader
                unreadable = error
        raise unreadable
    except OSError as error:
        refuse(path, (error.strerror or str(error)).lower(), report)
    except UnicodeDecodeError:
        # pyarrow decodes the names of a schema when they are asked for.
        refuse(path, "a text in its schema is not UTF-8", report)
    except UnicodeError:
        # Escapes in JSON can spell half a character, which no file can hold.
        refuse(path, "a name or text in it is not valid Unicode", report)
    except ModuleNotFoundError as error:
        refuse(path, f"it needs {error.name}, which is not installed", report, help=install_help(error))
    return None


def _encodable(imported: Imported | None) -> Imported | None:
    """Return what was read, if every text in it can be written. Raises UnicodeError, for escapes can spell half a character."""
    for one in (imported, *imported.others) if imported is not None else ():
        texts = [one.schema, one.name, one.comments, list(one.notes.all())]
        json.dumps(texts, ensure_ascii=False, default=str).encode()
    return imported


def _without(imported: Imported, skipped: Collection[str], path: Path, report: Report) -> Imported:
    """Return all datasets without columns; those that had no kind are not in them anyway."""
    every = (imported, *imported.others)
    names = list(dict.fromkeys(f["name"] for one in every for f in one.schema["fields"]))
    unsupported = [name for name in skipped if any(_is_of(d, (name,)) for d in report.diagnostics)]
    for name in skipped:
        if name not in names and name not in unsupported:
            near = closest(name, names)
            help = f"did you mean `--skip {near}`?" if near else f"its columns are {', '.join(names)}"
            message = f"{path} has no column '{name}' to leave out"
            report.add(UNREADABLE_SOURCE, message, file=str(path), help=help)
    comment = f"left out: {', '.join(skipped)}"
    first, *others = [_remaining(one, skipped, comment) for one in every]
    return replace(first, others=tuple(others))


def _remaining(one: Imported, skipped: Collection[str], comment: str) -> Imported:
    schema, losses = _without_columns(one.schema, skipped)
    return replace(
        one,
        schema=schema,
        comments=(*one.comments, comment, *losses),
        versions=tuple(replace(v, schema=_without_columns(v.schema, skipped)[0]) for v in one.versions),
        numbered=tuple(replace(v, schema=_without_columns(v.schema, skipped)[0]) for v in one.numbered),
    )


def _without_columns(schema: Json, skipped: Collection[str]) -> tuple[Json, list[str]]:
    """Return a schema without some columns, and the constraints of rows that go with them, as notes."""
    return without_missing({**schema, "fields": [f for f in schema["fields"] if f["name"] not in skipped]})


def _is_of(diagnostic: Diagnostic, columns: Collection[str]) -> bool:
    """Whether a finding is that one of these columns, or something in it, has no kind."""
    if diagnostic.code != UNSUPPORTED_ARROW_TYPE.id:
        return False
    return any(f"{diagnostic.path}.".startswith(f"{quoted(column)}.") for column in columns)
