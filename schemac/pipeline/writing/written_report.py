"""Makes the report of a run of what its sink says.

Layer: pipeline.
"""

import time
from collections.abc import Sequence

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reports.run_report import RunReport, top_reasons
from schemac.pipeline.writing.sink_report import SinkReport
from schemac.rows.runs.identity import RunIdentity


def report_of(
    numbers: SinkReport,
    job: Job,
    identity: RunIdentity,
    rows_in: int | None,
    differences: Sequence[str],
    started: float,
) -> RunReport:
    """Report what was written; records that are in no count are a difference too. `rows_in` is None where Spark took it along."""
    written, quarantined = numbers.rows_written, numbers.rows_quarantined
    others = numbers.superseded + numbers.deleted
    rows_in = written + quarantined + others if rows_in is None else rows_in
    if rows_in != written + quarantined + others:
        counts_text = f"{rows_in} records were read, {written} written and {quarantined} quarantined"
        differences = (*differences, counts_text + (f", {others} superseded or deleting" if others else ""))
    return RunReport(
        run=identity.id,
        identity=identity,
        rows_in=rows_in,
        rows_written=written,
        rows_quarantined=quarantined,
        reasons=top_reasons(numbers.reasons),
        seconds=time.monotonic() - started,
        table_path=job.target.path,
        table_version=numbers.version,
        quarantine_path=job.quarantine_path if quarantined else None,
        quarantine_version=numbers.quarantine_version,
        differences=tuple(differences),
        superseded=numbers.superseded,
        deleted=numbers.deleted,
        warnings=top_reasons(numbers.warnings),
    )
