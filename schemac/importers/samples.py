"""Schemas that were inferred from rows.

Layer: importers.
Shape: a sample is the first bytes of a file as text, cut where the file goes on; what a sample cannot settle becomes
a note at its field.
Units: the sample is the first 16 MiB.
Errors: SC552 unreadable-source.
"""

import codecs
from collections.abc import Iterable
from pathlib import Path

from schemac.arrow.lift import lift
from schemac.importers.importer import Imported, Notes, refuse
from schemac.physical.arrow import ArrowField, pa
from schemac.source.report import Report

SAMPLE = 16 * 1024 * 1024
ALWAYS_NULL = "always null in the sample, so its type is unknown"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def read_sample(path: Path, report: Report) -> tuple[str, bool] | None:
    """Return the text of a sample and whether the file goes on; None after saying that it is not a text."""
    with path.open("rb") as stream:
        content = stream.read(SAMPLE + 1)
    goes_on = len(content) > SAMPLE
    mark, encoding = next(((m, e) for m, e in _MARKS if content.startswith(m)), (b"", "utf-8"))
    content = content[len(mark) :]
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(content, final=not goes_on)
    except UnicodeDecodeError as error:
        unreadable = f"byte 0x{content[error.start]:02x} in line {content.count(10, 0, error.start) + 1}"
        help = f"if it is Latin-1: iconv -f latin1 -t utf-8 '{path}' > utf8{path.suffix}"
        refuse(path, f"it is not UTF-8: {unreadable} cannot be read", report, help=help)
        return None
    if "\0" in text:
        refuse(path, "it is a binary file", report)
        return None
    if not text.strip():
        refuse(path, "it is empty", report)
        return None
    return text, goes_on


def described(
    fields: Iterable[ArrowField], rows: str, path: Path, notes: Notes, report: Report, *more: str
) -> Imported:
    """Return the schema of a sample, with what it was inferred from."""
    comment = f"inferred from {rows} of {path.name}; check every type, and which fields may be null"
    return Imported(lift(pa.schema(list(fields)), str(path), report), (comment, *more), notes=notes)
