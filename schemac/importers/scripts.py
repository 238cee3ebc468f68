"""The text of an SQL script that a schema is imported from.

Layer: importers.
Errors: SC552 unreadable-source.
"""

from pathlib import Path

from schemac.importers.importer import refuse
from schemac.source.report import Report

LARGEST_BYTES = 32 * 1024 * 1024


def script_text(path: Path, report: Report) -> str | None:
    """Return the text of a script; None after saying why it is not read."""
    if path.stat().st_size > LARGEST_BYTES:
        help = "export the schema without the data, as `pg_dump --schema-only` does"
        refuse(path, f"it is larger than {LARGEST_BYTES // 1024**2} MiB", report, help=help)
        return None
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        refuse(path, f"it is not UTF-8: byte 0x{error.object[error.start]:02x} at {error.start}", report)
        return None
