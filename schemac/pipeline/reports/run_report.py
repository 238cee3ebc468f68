"""The report of a run, as users get it: an object, HTML, and the first records that broke each rule.

Layer: pipeline.
Shape: a `RunReport`; its HTML is made by `html`, its examples of wrong records by `offenders`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reports.html import run_fragment, run_page
from schemac.pipeline.reports.offenders import first_offenders
from schemac.pipeline.reports.run_facts import ReasonCount, RunFacts, run_text
from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.identity import RunIdentity
from schemac.rows.runs.storage import NO_STORAGE, Storage, storage_in_use
from schemac.rows.runs.tables import Sink, runs_of

MOST_REASONS = 20


@dataclass(frozen=True)
class RunReport(RunFacts):
    """What a run did."""

    @classmethod
    def of_earlier(cls, earlier: CommittedRun, job: Job, seconds: float) -> "RunReport":
        """Report a run that was committed before."""
        rows, quarantined = earlier.rows, earlier.rows_quarantined
        return cls(
            run=earlier.id,
            identity=earlier.identity,
            rows_in=rows + quarantined + earlier.superseded + earlier.deleted,
            rows_written=rows,
            rows_quarantined=quarantined,
            reasons=(),
            seconds=seconds,
            table_path=job.target.path,
            table_version=earlier.version,
            quarantine_path=job.quarantine_path if quarantined else None,
            quarantine_version=None,
            differences=(),
            is_repeat=True,
            superseded=earlier.superseded,
            deleted=earlier.deleted,
        )

    @classmethod
    def of_nothing(cls, identity: RunIdentity, job: Job, sink: Sink, seconds: float) -> "RunReport":
        """Report a run that finds nothing to read: no quarantine to replay, no new file."""
        table = sink.find(job.target.path, job.storage_options)
        version = 0 if table is None else table.version
        return cls(identity.id, identity, 0, 0, 0, (), seconds, job.target.path, version, None, None, ())

    def to_html(self, *, title: str = "schemac run", storage_options: Storage = NO_STORAGE) -> str:
        """Write a page that needs no other file: counts, the first offenders of each rule, and the runs of the table."""
        with storage_in_use(storage_options):
            offenders = first_offenders(self)
        runs = runs_of(self.table_path, storage_options=storage_options)
        return run_page(title, self, offenders=offenders, runs=runs)

    def __str__(self) -> str:
        return run_text(self)

    def _repr_html_(self) -> str:
        return run_fragment(self)


def top_reasons(counts: Sequence[tuple[str, str, int]]) -> tuple[ReasonCount, ...]:
    """Take the reasons that come most often."""
    ordered = sorted(counts, key=lambda entry: (-entry[2], entry[0], entry[1]))
    return tuple(ReasonCount(*entry) for entry in ordered[:MOST_REASONS])
