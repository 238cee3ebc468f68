"""HTML of reports: pages and their parts, with the first records that broke each rule.

Layer: pipeline.
Shape: counts, records and runs in; a fragment for notebooks, or a page out, from `templates`. The page loads nothing, so that it can be
      mailed and kept; it follows the reader's choice of light or dark, and fits a phone. `Offender`s are a few records for each field and rule, in the order of the quarantine; they are looked up in their files, so that a person can open
      the file at the line.
Units: `line` is one-based. It is None if the file is not on this machine, is not a text, or is longer than is looked through;
       of records that read alike, it is the first one's.
"""

import contextlib
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import jinja2
import pyarrow as pa
import pyarrow.compute as pc

from schemac.rows.judging.settings import POSITIONS, ReasonCount
from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.storage import current_storage
from schemac.rows.runs.tables import sink_engine, source_of
from schemac.text.source.html import environment_of

OF_EACH = 3
"""How many offending records are reported for one field and rule."""
ROWS_LOOKED_AT = 200_000
BYTES_LOOKED_THROUGH = 256 << 20


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

    @property
    def place(self) -> str:
        """The file and the line, as far as they are known."""
        file = "no file" if self.source is None else str(local_file(self.source) or self.source)
        return file if self.line is None else f"{file}, line {self.line}"


def first_offenders(
    run: str, path: str, version: int, reasons: Iterable[ReasonCount]
) -> tuple[Offender, ...]:
    """Find the first records of each field and rule that a run added to its quarantine, at `path`."""
    remaining = {(reason.path, reason.rule): OF_EACH for reason in reasons}
    offenders: list[Offender] = []
    for row in itertools.islice(_quarantined_rows(run, path, version), ROWS_LOOKED_AT):
        for error in row["errors"]:
            offender = Offender(error["path"], error["rule"], error["value"], row["source"], row["raw"])
            if remaining.get(offender.group, 0) > 0:
                remaining[offender.group] -= 1
                offenders.append(offender)
        if not any(remaining.values()):
            break
    lines: dict[tuple[str, str], int] = {}
    for file in sorted({offender.source for offender in offenders if offender.source is not None}):
        raws = {one.raw for one in offenders if one.source == file and one.raw}
        with contextlib.suppress(OSError, pa.ArrowException):
            lines |= {(file, raw): line for raw, line in lines_of(file, raws).items()}
    return tuple(replace(one, line=lines.get((one.source or "", one.raw or ""))) for one in offenders)


def _quarantined_rows(run: str, path: str, version: int) -> Iterator[dict[str, Any]]:
    """Read the rows that a run added to its quarantine, which is a table of the default engine."""
    source = source_of(sink_engine(None).name)
    if source is None:
        return
    # The parts that were written last are those of this run.
    for part in reversed(source.parts(path, version, current_storage())):
        for batch in source.read(path, version, part, storage_options=current_storage()):
            of_this_run = pc.equal(batch.column("run"), run)
            if pc.any(of_this_run).as_py():
                yield from batch.filter(of_this_run).to_pylist()
            else:
                return


def lines_of(file: str, records: set[str]) -> dict[str, int]:
    """Find the line of a file that each record begins in."""
    path = local_file(file)
    if path is None or path.stat().st_size > BYTES_LOOKED_THROUGH:
        return {}
    with pa.input_stream(str(path)) as stream:
        content = stream.read(BYTES_LOOKED_THROUGH)
    lines = {}
    for record in records:
        at = _find_record(content, record)
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


def _find_record(content: bytes, record: str) -> int | None:
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


MOST_RUNS = 40
"""How many runs the chart of a page has."""


@cache
def _templates() -> jinja2.Environment:
    """Return what fills in the templates of pages and of what notebooks show."""
    templates = environment_of("schemac.pipeline.reports", keep="\n")
    templates.filters["number"] = "{:,}".format
    return templates


def fragment(name: str, shown: object) -> str:
    """Return what a notebook shows of a value, by the name of its macro in `fragments.html`."""
    return str(getattr(_templates().get_template("fragments.html").module, name)(shown))


def page(runs: Sequence[CommittedRun], offenders: Sequence[Offender], **values: object) -> str:
    """Return the page of a run with its own style: `values` are the others that `run.html` names."""
    groups: dict[tuple[str, str], list[Offender]] = {}
    for offender in offenders:
        groups.setdefault(offender.group, []).append(offender)
    runs = runs[:MOST_RUNS]
    most_rows = max((run.rows + run.rows_quarantined for run in runs), default=0) or 1
    template = _templates().get_template("run.html")
    return template.render(runs=runs, most_rows=most_rows, offenders=groups, **values)
