"""What is known of the file that a record is from: Spark's `_metadata`, by its names.

Layer: pipeline.
Shape: `from: _metadata.file_name` is of the file. A key of the record itself that is called so is written in backquotes.
Source: Spark 4.3, "File metadata column" in its guide to data sources.
"""

from pyspark.sql.types import (
    LongType,
    StringType,
    TimestampType,
)

from schemac.pipeline.errors import PipelineError
from schemac.text.source.catalogue import NO_FILE

FILE, METADATA = "__file", "_metadata"
"""The column with what is known of a record's file, and what Spark and an author call it."""


FILE_TYPES = {
    "file_path": StringType(),
    "file_name": StringType(),
    "file_size": LongType(),
    "file_modification_time": TimestampType(),
}


NO_FILE_KNOWN = "cast(null as struct<file_path:string>)"


def file_name(part: str) -> str:
    """Write the name of a file, which Spark gives as a part of a URI; `+` is itself there, and not a blank as in a form."""
    return f"url_decode(replace({part}, '+', '%2B'))"


_PARTS = [
    f"{METADATA}.{part}" if part != "file_name" else f"{file_name(f'{METADATA}.{part}')} as {part}"
    for part in FILE_TYPES
]


OF_FILE = f"struct({', '.join(_PARTS)}) as {FILE}"


def file_part(place: str | None) -> str | None:
    """Name what of the record's file is at a place of records, a field's `from`; None for other places."""
    first, _, rest = (place or "").partition(".")
    return rest if first == METADATA and rest in FILE_TYPES else None


def no_file(label: str, format: str) -> PipelineError:
    """Describe the mistake of asking for the file of a record that is in none."""
    message = (
        f"`{label}` is read from the file of a record, but Spark does not report files for a {format} source"
    )
    return PipelineError(NO_FILE, message, f"leave `{label}` out, or give it a `value`")
