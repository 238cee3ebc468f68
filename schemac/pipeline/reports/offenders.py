"""The first records of a run that broke each rule, with their places in the source.

Layer: pipeline.
Shape: a run's report in; `Offender`s out, a few for each field and rule, in the order of the quarantine. Raw records are
       looked up in their files, so that a person can open the file at the line.
Units: `line` is one-based. It is None if the file is not on this machine, is not a text, or is longer than is looked through;
       of records that read alike, it is the first one's.
"""

import contextlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from schemac.pipeline.reports.run_facts import RunFacts
from schemac.rows.judging.settings import POSITIONS
from schemac.rows.runs.storage import current_storage
from schemac.rows.runs.tables import sink_engine, source_of

OF_EACH = 3
"""How many offending records are reported for one field and rule."""


ROWS_LOOKED_AT = 200_000


BYTES_LOOKED_THROUGH = 256 << 20


PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}


@dataclass(frozen=True)
class Offender:
    """A record that broke a rule."""

    path: str
    """The field's, with positions: `items[3].price`."""
    rule: str
    value: str | None
    source: str | None
    """The file that the record is in."""
    raw: str | None
    line: int | None = None

    @property
    def group(self) -> tuple[str, str]:
        """Field and rule, as the counts of a report have them."""
        return re.sub(POSITIONS, "[]", self.path), self.rule


def first_offenders(report: RunFacts, *, of_each: int = OF_EACH) -> tuple[Offender, ...]:
    """Find the first records of each field and rule; none where the run has quarantined none."""
    if report.quarantine_path is None:
        return ()
    remaining = {(reason.path, reason.rule): of_each for reason in report.reasons}
    offenders: list[Offender] = []
    for row in itertools.islice(_rows(report), ROWS_LOOKED_AT):
        for error in row["errors"]:
            offender = Offender(error["path"], error["rule"], error["value"], row["source"], row["raw"])
            if remaining.get(offender.group, 0) > 0:
                remaining[offender.group] -= 1
                offenders.append(offender)
        if not any(remaining.values()):
            break
    lines: dict[tuple[str, str], int] = {}
    files = {offender.source for offender in offenders if offender.source is not None}
    for file in sorted(files):
        raws = {one.raw for one in offenders if one.source == file and one.raw}
        with contextlib.suppress(OSError, pa.ArrowException):
            lines |= {(file, raw): line for raw, line in lines_of(file, raws).items()}
    return tuple(replace(one, line=lines.get((one.source or "", one.raw or ""))) for one in offenders)


def _rows(report: RunFacts) -> Iterator[dict[str, Any]]:
    """Read the rows that the run added to its quarantine, which is a table of the default engine."""
    source = source_of(sink_engine(None).name)
    path, version = report.quarantine_path, report.quarantine_version
    if source is None or path is None or version is None:
        return
    # The parts that were written last are those of this run.
    for part in reversed(source.parts(path, version, current_storage())):
        for batch in source.read(path, version, part, storage_options=current_storage()):
            of_this_run = pc.equal(batch.column("run"), report.run)
            if pc.any(of_this_run).as_py():
                yield from batch.filter(of_this_run).to_pylist()
            else:
                return


def lines_of(file: str, records: set[str]) -> dict[str, int]:
    """Find the line of a file that each record begins in."""
    path = local_file(file)
    if path is None or path.stat().st_size > BYTES_LOOKED_THROUGH:
        return {}
    with pa.input_stream(str(path), compression=PACKED.get(path.suffix)) as stream:
        content = stream.read(BYTES_LOOKED_THROUGH)
    lines = {}
    for record in records:
        at = _position(content, record)
        if at is not None:
            lines[record] = content.count(b"\n", 0, at) + 1
    return lines


def local_file(file: str) -> Path | None:
    """Return the path of a file that Spark names by its address; None if it is on another machine."""
    parts = urlsplit(file)
    if parts.scheme not in ("", "file"):
        return None
    path = Path(unquote(parts.path) if parts.scheme else file)
    return path if path.is_file() else None


def _position(content: bytes, record: str) -> int | None:
    """Find a record in a file; one on lines of its own before one that is part of a line."""
    for encoding in ("utf-8", "iso-8859-1"):
        with contextlib.suppress(UnicodeEncodeError):
            text = re.escape(record.encode(encoding))
            alone = re.search(rb"(?m)^[ \t\r\xef\xbb\xbf]*" + text + rb"[ \t\r]*$", content)
            if alone is not None:
                return alone.end() - len(alone[0].lstrip(b" \t\r\xef\xbb\xbf"))
            at = content.find(record.encode(encoding))
            if at >= 0:
                return at
    return None
