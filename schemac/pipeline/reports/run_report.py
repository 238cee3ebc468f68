"""The report of a run: an object, text for a terminal or a log, and HTML for a notebook or as a page.

Layer: pipeline.
Source: the database of time zones is that of Python's `zoneinfo`: the first folder of `TZPATH` that has a zone, else the package `tzdata`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from zoneinfo import TZPATH

from schemac.pipeline.errors import AbsentPath
from schemac.pipeline.reports.run_html import Offender, first_offenders, fragment, page
from schemac.rows.judging.settings import ReasonCount
from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.identity import Mode, RunIdentity
from schemac.rows.runs.storage import NO_STORAGE, Storage, storage_in_use
from schemac.text.source.diagnostics import Diagnostic
from schemac.text.source.phrases import counted


@dataclass(frozen=True)
class RunReport:
    """What a run did."""

    run: str
    """Its id, which its rows in the quarantine carry."""
    identity: RunIdentity
    rows_in: int
    rows_written: int
    rows_quarantined: int
    reasons: tuple[ReasonCount, ...]
    seconds: float
    table_path: str
    table_version: int
    quarantine_path: str | None
    quarantine_version: int | None
    differences: tuple[str, ...]
    is_repeat: bool = False
    """Whether the run had already been committed, as `table_version`: the counts are those of that commit, and nothing was written."""
    warnings: tuple[ReasonCount, ...] = ()
    """Like `reasons`, for rules that only warn; these records were written."""
    superseded: int = 0
    """Records that were superseded by a later one, or by the table's row, with their key."""
    deleted: int = 0
    """Records that deleted the row of their key."""
    unmatched: Mapping[str, int] = field(default_factory=dict)
    """By join of a backfill: rows whose key its source does not have."""
    stopped: str | None = None
    """Why Spark stopped after the commit; the counts are then those of the commit, and reasons may be missing."""
    is_compared: bool = True
    """Whether `differences` is known: files cannot be read back if Spark stopped before."""

    absent: tuple[AbsentPath, ...] = ()
    """Paths in the pipeline file that none of the records has."""
    reader: str | None = None
    """How the records were read, in the words of `--explain`; None if none were, or if they were conformed before."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        quarantine = None
        if self.quarantine_path is not None:
            quarantine = {"path": self.quarantine_path, "version": self.quarantine_version}
        return {
            **self.identity.report(),
            "repeat": self.is_repeat,
            "stopped": self.stopped,
            "seconds": round(self.seconds, 3),
            "reader": self.reader,
            "records": {
                "in": self.rows_in,
                "written": self.rows_written,
                "quarantined": self.rows_quarantined,
                "superseded": self.superseded,
                "deleted": self.deleted,
            },
            "reasons": [asdict(reason) for reason in self.reasons],
            "unmatched": dict(self.unmatched),
            "warnings": [asdict(reason) for reason in self.warnings],
            "absent": [{"path": one.path, "setting": ".".join(map(str, one.place))} for one in self.absent],
            "table": {"path": self.table_path, "version": self.table_version},
            "quarantine": quarantine,
            "differences": list(self.differences) if self.is_compared else None,
            "timeZones": zone_database(),
        }

    def to_html(self, *, title: str = "schemac run", storage_options: Storage = NO_STORAGE) -> str:
        """Write a page that needs no other file: counts, the first offenders of each rule, and the runs of the table."""
        from schemac.rows.runs.tables import runs_of

        runs = runs_of(self.table_path, storage_options=storage_options)
        return run_page(title, self, offenders=offenders_of(self, storage_options), runs=runs)

    def __str__(self) -> str:
        return run_text(self)

    def _repr_html_(self) -> str:
        return fragment("run", self)


def offenders_of(report: RunReport, storage_options: Storage = NO_STORAGE) -> tuple[Offender, ...]:
    """Return the first records that broke each rule; none where the run has quarantined none."""
    if report.quarantine_path is None or report.quarantine_version is None:
        return ()
    with storage_in_use(storage_options):
        return first_offenders(report.run, report.quarantine_path, report.quarantine_version, report.reasons)


def run_text(report: RunReport) -> str:
    """Write the counts, the reasons and the places of a run, a line each."""
    if report.is_repeat:
        return (
            f"already committed as version {report.table_version} of {relative_path(report.table_path)}, by the run {report.run}:"
            f" {counted(report.rows_written, 'row')} written, {report.rows_quarantined:,} quarantined; nothing was written now.\n"
            "To write the same input again, use `--again` or a new `--run-id`."
        )
    if report.identity.mode == Mode.BACKFILL:
        filled, table = f"{_row_count(report.rows_written)} filled", relative_path(report.table_path)
        lines = [f"{filled:<30} {table} (version {report.table_version})"]
        unmatched = [(label, count) for label, count in report.unmatched.items() if count]
        lines += [f"{_row_count(count)} without a match in `{label}`" for label, count in unmatched]
        return "\n".join([*lines, f"{report.seconds:>11.1f}s; {_schema_state(report)}"])
    share = report.rows_quarantined / report.rows_in if report.rows_in else 0.0
    table, quarantine = relative_path(report.table_path), relative_path(report.quarantine_path or "-")
    paths = ", ".join(f"`{one.path}`" for one in report.absent)
    what = "path" if len(report.absent) == 1 else "paths"
    met = (
        (report.superseded, "records superseded by later ones with their keys"),
        (report.deleted, "records that delete the rows of their keys"),
    )
    lines = [
        f"{_row_count(report.rows_in)} in",
        f"{_row_count(report.rows_written) + ' written':<30} {table} (version {report.table_version})",
        f"{_row_count(report.rows_quarantined) + ' quarantined':<30} {quarantine} ({share:.2%})",
        *(f"{count:>12,} {those}" for count, those in met if count),
        *(f"{reason.count:>16,} × {reason.path or 'the record'}: {reason.rule}" for reason in report.reasons),
        *([f"{len(report.absent):>12,} {what} that no record has: {paths}"] if report.absent else []),
    ]
    return "\n".join([*lines, f"{report.seconds:>11.1f}s; {_schema_state(report)}"])


def _row_count(rows: int) -> str:
    """Return a number of rows, the number in a column of 12 characters."""
    number, noun = counted(rows, "row").split()
    return f"{number:>12} {noun}"


def _schema_state(report: RunReport) -> str:
    """Return a line on whether the table has the schema, and another one if the run stopped early."""
    state = f"the table's schema {comparison_text(report, 'the artifact')}"
    return state if report.stopped is None else f"{state}\n{stopped_after(report.stopped)}"


def comparison_text(report: RunReport, what: str) -> str:
    """Describe whether a table matches its schema."""
    if report.differences:
        return f"differs from {what}"
    return f"matches {what}" if report.is_compared else f"was not compared with {what}"


def stopped_after(stopped: str) -> str:
    """Return the note that a run is committed although Spark stopped."""
    return f"Spark stopped after the commit, so the run counts, and need not be run again: {stopped}."


def run_page(
    title: str,
    report: RunReport | None,
    diagnostics: Sequence[Diagnostic] = (),
    offenders: Sequence[Offender] = (),
    runs: Sequence[CommittedRun] = (),
) -> str:
    """Return the page of a run; `report` is None for one that was not committed, `runs` are the table's, newest first."""
    findings = [f"{d}" + (f" Help: {d.help}" if d.help else "") for d in diagnostics]
    state = None if report is None else comparison_text(report, "its schema")
    stopped = report and report.stopped and stopped_after(report.stopped)
    return page(runs, offenders, title=title, report=report, findings=findings, state=state, stopped=stopped)


def relative_path(path: str) -> str:
    """Return a path from the working folder where it is below it."""
    try:
        return Path(path).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path


_VERSION = "# version "


def zone_database() -> str:
    """Name the database: its version, if the system records it, and where it is; `none` if there is none."""
    for folder in map(Path, TZPATH):
        if (folder / "UTC").exists():
            listing = folder / "tzdata.zi"
            first = listing.read_text(encoding="utf-8").partition("\n")[0] if listing.is_file() else ""
            name = first.removeprefix(_VERSION) if first.startswith(_VERSION) else "unknown version"
            return f"{name} in {folder}"
    try:
        return f"{version('tzdata')} of the package tzdata"
    except PackageNotFoundError:
        return "none"
