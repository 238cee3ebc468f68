"""HTML of reports: pages and their parts, with the first records that broke each rule.

Layer: pipeline.
Shape: counts, records and runs in; a fragment for notebooks, or a page out. The page loads nothing, so that it can be mailed and kept; it
      follows the reader's choice of light or dark, and fits a phone. Texts of others are escaped here, and nowhere else. `Offender`s are a
      few records for each field and rule, in the order of the quarantine; they are looked up in their files, so that a person can open
      the file at the line.
Units: `line` is one-based. It is None if the file is not on this machine, is not a text, or is longer than is looked through;
       of records that read alike, it is the first one's.
"""

import contextlib
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from schemac.rows.judging.settings import POSITIONS, ReasonCount
from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.storage import current_storage
from schemac.rows.runs.tables import sink_engine, source_of
from schemac.text.source.phrases import printable

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


POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""What the page may do: nothing but show itself. Its own style is in it."""
MOST_RUNS = 40
"""How many runs the chart has."""
CHART_HEIGHT, BAR = 96, 14


def conform_fragment(rows: int, fitting: int, reasons: Sequence[ReasonCount]) -> str:
    """Show the counts of a conformed frame."""
    counts = f"<b>{rows:,}</b> rows, <b>{fitting:,}</b> fit, <b>{rows - fitting:,}</b> do not fit"
    return f"<div><p>{counts}</p>{reasons_table(reasons)}</div>"


def conformed_fragment(dataset: str, columns: Iterable[tuple[str, str]]) -> str:
    """Show the columns of a conformed frame; its rows are not computed for that."""
    rows = "".join(
        f"<tr><td><code>{escaped(label)}</code></td><td><code>{escaped(column_type)}</code></td></tr>"
        for label, column_type in columns
    )
    head = f"<p>A frame that was conformed to <b>{escaped(dataset)}</b>; <code>report()</code> counts its rows.</p>"
    return f"<div>{head}<table><tr><th>field</th><th>type</th></tr>{rows}</table></div>"


def page(title: str, parts: Iterable[str]) -> str:
    """Return a page with its own style, of parts that are HTML; those that are empty are left out."""
    style = files("schemac.pipeline.reports").joinpath("run_html.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{escaped(title)}</title><style>\n{style}</style></head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body></html>\n"
    )


def escaped(text: str) -> str:
    """Write a text of others: nothing in it is markup, and what cannot be seen is shown."""
    return escape(printable(text, keep="\n"))


def reasons_table(reasons: Sequence[ReasonCount]) -> str:
    """Return an HTML table of paths, rules and counts; empty if there are none."""
    if not reasons:
        return ""
    rows = "".join(
        f"<tr><td><code>{escaped(one.path or 'the record')}</code></td><td><code>{escaped(one.rule)}</code></td>"
        f'<td class="n">{one.count:,}</td></tr>'
        for one in reasons
    )
    head = '<tr><th>field</th><th>rule</th><th class="n">times</th></tr>'
    return f'<div class="wide"><table>{head}{rows}</table></div>'


def titled_list(title: str, lines: Sequence[str]) -> str:
    """Return an HTML list under a title, the lines escaped and the title not; empty without lines."""
    if not lines:
        return ""
    return f"<h2>{title}</h2><ul>" + "".join(f"<li>{escaped(line)}</li>" for line in lines) + "</ul>"


def offenders_list(offenders: Sequence[Offender]) -> str:
    """Return HTML of records grouped by path and rule, the first group open; empty if there are none."""
    if not offenders:
        return ""
    groups: dict[tuple[str, str], list[Offender]] = {}
    for offender in offenders:
        groups.setdefault(offender.group, []).append(offender)
    rows_html = "".join(
        f"<details{' open' if number == 0 else ''}><summary><code>{escaped(path or 'the record')}</code>: "
        f"<code>{escaped(rule)}</code></summary><ol>{''.join(map(_offender, rows))}</ol></details>"
        for number, ((path, rule), rows) in enumerate(groups.items())
    )
    return f"<h2>First records that broke each rule</h2>{rows_html}"


def _offender(offender: Offender) -> str:
    """Return an HTML list item of one record: file, line, path, value and raw text, as far as they are known."""
    source = offender.source
    place = "no file" if source is None else str(local_file(source) or source)
    if offender.line is not None:
        place += f", line {offender.line}"
    value = "" if offender.value is None else f"<div>value <code>{escaped(offender.value)}</code></div>"
    path = f"<div><code>{escaped(offender.path)}</code></div>" if offender.path != offender.group[0] else ""
    raw = "" if offender.raw is None else f"<pre>{escaped(offender.raw)}</pre>"
    return f'<li><div class="dim">{escaped(place)}</div>{path}{value}{raw}</li>'


def runs_history(runs: Sequence[CommittedRun]) -> str:
    """Return HTML of a chart and a table of committed runs, in order of `runs`; empty if there are none."""
    if not runs:
        return ""
    rows = "".join(
        f"<tr><td>{run.committed.strftime('%Y-%m-%d %H:%M')}</td><td>{escaped(run.identity.mode)}</td>"
        f'<td class="n">{run.rows:,}</td><td class="n">{run.rows_quarantined:,}</td>'
        f'<td class="n">{run.version}</td></tr>'
        for run in runs
    )
    head = (
        '<tr><th>committed (UTC)</th><th>mode</th><th class="n">written</th><th class="n">quarantined</th>'
        '<th class="n">version</th></tr>'
    )
    table = f'<div class="wide"><table>{head}{rows}</table></div>'
    return f"<h2>Runs of this table</h2>{_chart(runs[::-1])}{table}"


def _chart(runs: Sequence[CommittedRun]) -> str:
    """Draw a bar for each run, oldest first: what was written, and on top what was quarantined."""
    most = max(run.rows + run.rows_quarantined for run in runs) or 1
    bars = []
    for place, run in enumerate(runs):
        good = run.rows / most * CHART_HEIGHT
        bad = run.rows_quarantined / most * CHART_HEIGHT
        left = place * BAR + 2
        tooltip = (
            f"{run.committed:%Y-%m-%d %H:%M}: {run.rows:,} written, {run.rows_quarantined:,} quarantined"
        )
        bars.append(
            f"<g><title>{tooltip}</title>"
            f'<rect x="{left}" y="{CHART_HEIGHT - good:.1f}" width="{BAR - 4}" height="{good:.1f}" fill="var(--good)"/>'
            f'<rect x="{left}" y="{CHART_HEIGHT - good - bad:.1f}" width="{BAR - 4}" height="{bad:.1f}" fill="var(--bad)"/></g>'
        )
    width = len(runs) * BAR + 2
    label = "Records of each run, oldest first: written below, quarantined above"
    return (
        f'<svg viewBox="0 0 {width} {CHART_HEIGHT}" width="{width}" height="{CHART_HEIGHT}" role="img" '
        f'aria-label="{label}">{"".join(bars)}</svg>'
    )
