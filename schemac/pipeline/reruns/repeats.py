"""Identifies a run, and finds whether it was committed before.

Layer: pipeline.
Rule: a run with an id, or of an interval, was committed if the table has its commit, however long ago. One that is known by its
      input was committed if the table still has its rows; with `mode: overwrite` only if nothing came after it, because the
      table is to hold these rows and no others, and with `mode: backfill` too, because rows that came after it have no values. Read once more, the same input has its id with a number: `-2`, `-3`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from schemac.pipeline.codes import JAVA_GONE
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reruns.fingerprint import fingerprint, fingerprint_of_interval
from schemac.rows.runs.file_records import records_in
from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.identity import RunIdentity, random_id
from schemac.rows.runs.locations import is_local
from schemac.rows.runs.modes import Mode
from schemac.rows.runs.request import RunRequest
from schemac.rows.runs.tables import Sink, StorageOptions, TableForm
from schemac.source.catalogue import INVALID_RUN


class Identified(NamedTuple):
    """A run, and its commit where it was committed before."""

    identity: RunIdentity
    earlier: CommittedRun | None


def identify(job: Job, form: TableForm, request: RunRequest, sink: Sink) -> Identified:
    """Identify the run that is asked for."""
    table = sink.find(job.target.path, job.storage_options)
    runs = () if table is None else tuple(sink.runs(job.target.path, job.storage_options))
    return identify_among(job, form, request, runs, 0 if table is None else table.version)


def identify_among(
    job: Job, form: TableForm, request: RunRequest, runs: Sequence[CommittedRun], version: int
) -> Identified:
    """Identify the run that is asked for among those of the target, the last one first, which is at a version."""
    id, earlier = _by_name(job, request, runs)
    if not id:
        base = fingerprint(job, form)
        id, earlier = (random_id(), None) if base is None else _by_input(base, job, request, runs, version)
    return Identified(_named(id, job, form, request), earlier)


def _named(id: str, job: Job, form: TableForm, request: RunRequest) -> RunIdentity:
    sources = [(part.source.format, part.source.path) for part in job.parts]
    return RunIdentity.new(id, sources, job.target.mode, interval=request.interval, schema=form.version_name)


def unnamed(job: Job, form: TableForm, request: RunRequest) -> RunIdentity:
    """Identify a run into a table that does not tell which runs it has. Raises PipelineError if one of them is asked for."""
    if request != RunRequest() or job.run:
        format = job.target.format
        message = f"a run with an id or an interval is committed once, and a {format} table does not record its runs"
        help = "leave the id, the interval and `--again` out, so that each run is a new one; or leave `format` out of `target`, or name one of files such as parquet"
        raise PipelineError(INVALID_RUN, message, help, place=("run",) if job.run else ())
    return _named(random_id(), job, form, request)


def fence_and_find_commit(
    identity: RunIdentity, table: str, quarantine: str | None, sink: Sink, storage_options: StorageOptions
) -> CommittedRun | None:
    """Keep earlier attempts of a run from committing, and find the commit of one that has."""
    sink.fence(identity, (table,) if quarantine is None else (table, quarantine))
    sink.recover(table, quarantine, storage_options)
    return sink.find_run(identity, table, storage_options)


def committed_nevertheless(error: PipelineError, identity: RunIdentity, job: Job, sink: Sink) -> CommittedRun:
    """Find the commit of a run that Spark has stopped in, once none of its processes can commit any more.

    Raises the error where there is none, so that "nothing was written" is true when it is said.
    """
    table, quarantine = job.target.path, job.quarantine_path
    try:
        committed_run = fence_and_find_commit(identity, table, quarantine, sink, job.storage_options)
    except (PipelineError, OSError, RuntimeError) as reason:
        raise _unknown(error, f"it is unknown whether this run was committed ({reason})", job) from error
    if committed_run is not None:
        return committed_run
    if is_local(table) or not error.is_uncommitted:
        raise error
    # Nobody can be kept from committing there: a process of Spark may still be at it.
    raise _unknown(error, "nothing of this run is in the table so far", job) from error


def _unknown(error: PipelineError, reason: str, job: Job) -> PipelineError:
    """Return the error without its promise."""
    return error.with_outcome(f"{reason}: `schemac runs {job.target.path}` lists it if it was")


def committed_in_format(
    error: PipelineError, identity: RunIdentity, folder: str | None, job: Job, is_undecided: bool
) -> CommittedRun:
    """Find the commit of a run that Spark has stopped in, in a folder of files; None is a table of a connector, which tells of no run.

    Raises the error where there is none; without its promise where nobody knows: the commit failed so that nobody could
    see what came of it (`is_undecided`), or Java is gone, which commits everywhere but to a folder of this machine.
    """
    is_known = not is_undecided and (error.code is not JAVA_GONE or (folder is not None and is_local(folder)))
    try:
        records = None if folder is None else records_in(folder, job.storage_options)
    except (PipelineError, OSError, ValueError):
        records, is_known = None, is_known and error.code is not JAVA_GONE
    for record in records or ():
        if record.run.identity == identity:
            return record.run
    raise error if is_known else error.with_outcome(_left_behind(job))


def _left_behind(job: Job) -> str:
    """Say what a target may have of a run; nobody knows how far it was."""
    path = job.target.path
    if job.target.is_of_files:
        return f"`schemac runs {path}` lists this run if it was committed; otherwise the next one removes what it left"
    return (
        f"check `{path}` before you run it again: it may have rows of this run,"
        f" and `{job.quarantine_path}` its other records"
    )


def _by_name(job: Job, request: RunRequest, runs: Sequence[CommittedRun]) -> tuple[str, CommittedRun | None]:
    """Find the run by what was given; its id is empty if nothing was."""
    id = request.id or (fingerprint_of_interval(job, request.interval) if request.interval else "")
    id = id or ("" if request.again else job.run or "")
    if id and request.again:
        return _next(id, runs), None
    return id, next((run for run in runs if run.id == id), None)


def _by_input(
    base: str, job: Job, request: RunRequest, runs: Sequence[CommittedRun], version: int
) -> tuple[str, CommittedRun | None]:
    if request.again:
        return _next(base, runs), None
    if job.target.mode in (Mode.OVERWRITE, Mode.BACKFILL):
        is_last = bool(runs) and runs[0].version == version and runs[0].identity.mode == job.target.mode
        known = runs[:1] if is_last else ()
    else:
        known = _current(runs)
    earlier = next((run for run in known if _is_of(base, run.id)), None)
    return (earlier.id, earlier) if earlier is not None else (_next(base, runs), None)


def _current(runs: Sequence[CommittedRun]) -> Sequence[CommittedRun]:
    """Return the runs since the last one that replaced the rows, with it."""
    last = next((i for i, run in enumerate(runs) if run.identity.mode == Mode.OVERWRITE), len(runs) - 1)
    return runs[: last + 1]


def _is_of(base: str, id: str) -> bool:
    return id == base or (id.startswith(f"{base}-") and id.removeprefix(f"{base}-").isdigit())


def _next(base: str, runs: Sequence[CommittedRun]) -> str:
    """Return the id of the next run over the same input."""
    used = {run.id for run in runs}
    if base not in used:
        return base
    return next(id for n in range(2, len(used) + 3) if (id := f"{base}-{n}") not in used)
