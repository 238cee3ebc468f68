"""Which run a job is, by its name or by a digest of what it reads, and whether it was committed before.

Layer: pipeline.
Shape: a digest of files by their content and by their names below the path of the job, and of all settings that decide about values;
       None if the source cannot be known without reading it: on an object store, or in a format without files.
Rule: a run with an id, or of an interval, was committed if the table has its commit, however long ago. One that is known by its input
      was committed if the table still has its rows; with `mode: overwrite` or `backfill` only if nothing came after it. Read once more,
      the same input has its id with a number: `-2`, `-3`.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from schemac.pipeline.codes import JAVA_GONE
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.files import sha256_of
from schemac.pipeline.reading.paths import is_hidden, local_part
from schemac.pipeline.reading.source import check_input
from schemac.pipeline.spark.python_functions import digest_of_function
from schemac.rows.runs.errors import CommitState
from schemac.rows.runs.history import CommittedRun, records_in
from schemac.rows.runs.identity import Mode, RunIdentity, RunRequest, random_id
from schemac.rows.runs.storage import Storage, is_local, path_from_quarantine
from schemac.rows.runs.tables import Sink, TableForm, source_of
from schemac.text.source.catalogue import INVALID_RUN

ID_LENGTH = 32


def fingerprint_of_interval(job: Job, interval: str) -> str:
    """Return the id of the run of a job for an interval of its schedule, whatever it finds to read."""
    sources = [part.source.model_dump(mode="json") for part in job.parts]
    inputs: dict[str, object] = {"source": sources[0]} if len(sources) == 1 else {"sources": sources}
    return _digest({**inputs, "interval": interval, **_table_key(job)})


def fingerprint(job: Job, form: TableForm) -> str | None:
    """Return the id of the run of a job over its present input. Raises PipelineError if that is not there."""
    if job.is_backfill:
        # What it computes, independent of the table's rows.
        inputs = {label: _input_digests(job.part_of_join(label)) for label in job.joins}
        if None in inputs.values():
            return None
        functions = {
            label: digest_of_function(origin.python)
            for label, origin in job.origins.items()
            if origin.python is not None
        }
        settings = job.model_dump(mode="json", include={"fields", "where", "coerce", "null_values"})
        for origin in settings["fields"].values():
            # The path of a function's file is no part of what it does.
            if origin is not None:
                origin["python"] = None if origin["python"] is None else origin["python"].rpartition(":")[2]
        joins = {label: join.model_dump(mode="json", exclude={"path"}) for label, join in job.joins.items()}
        sources = {"joins": joins, "inputs": inputs, "functions": functions}
        return _digest({"backfill": settings, **sources, "schema": form.version_name, **_table_key(job)})
    contents = [_source_content(part, form) for part in job.parts]
    known = [content for content in contents if content is not None]
    if len(known) < len(contents):
        return None
    content: dict[str, object] = known[0] if len(known) == 1 else {"sources": known}
    return _digest(content | _table_key(job))


def _source_content(job: Job, form: TableForm) -> dict[str, object] | None:
    """Return the content of one source and how it is used; None if that cannot be known without reading it."""
    inputs = _input_digests(job)
    if inputs is None:
        return None
    source = job.source.model_dump(mode="json", exclude={"path"})
    keys = {"fields", "unexpected", "coerce", "keys", "null_values", "rules"}
    settings = job.model_dump(mode="json", include=keys)
    if job.target.latest is not None or job.target.delete is not None:
        settings |= job.target.model_dump(mode="json", include={"latest", "delete"})
    if job.references:
        settings |= job.model_dump(mode="json", include={"references"})
    return {"source": source, "inputs": inputs, "settings": settings, "schema": form.version_name}


def _input_digests(job: Job) -> list[tuple[object, object]] | None:
    """Return the versions of tables, or the names and the digests of files; None if they cannot be known."""
    engine = source_of(job.source.format)
    if engine is not None:
        pinned, storage = job.source.options.get("version"), job.storage_options
        return [(path, pinned or engine.newest_version(path, storage)) for path in job.source.path]
    paths = check_input(job) if job.source.path else []
    if not paths or any(local_part(path) is None for path in paths):
        return None
    files = sorted({pair for path in paths for pair in _visible_files(Path(local_part(path) or path))})
    with ThreadPoolExecutor() as pool:
        digests = pool.map(sha256_of, (str(file) for _, file in files))
    return [(name, digest) for (name, _), digest in zip(files, digests, strict=True)]


def _table_key(job: Job) -> dict[str, str]:
    """Return the path of the target as part of a fingerprint, relative to the quarantine if both are local."""
    # A quarantine may be shared: the same input for two tables is two runs.
    return {"table": path_from_quarantine(job.quarantine_path, job.target.path)}


def _digest(content: dict[str, object]) -> str:
    """Return the first 32 hexadecimal digits of SHA-256 over the content as JSON with sorted keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:ID_LENGTH]


def _visible_files(path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a path with their names as the job sees them; hidden ones are not read."""
    if path.is_file():
        yield path.name, path
        return
    for folder, names, files in os.walk(path, followlinks=True):
        names[:] = [name for name in names if not is_hidden(name)]
        for name in files:
            if not is_hidden(name):
                file = Path(folder, name)
                yield file.relative_to(path.parent).as_posix(), file


class IdentifiedRun(NamedTuple):
    """A run, and its commit where it was committed before."""

    identity: RunIdentity
    earlier: CommittedRun | None


def identify_and_fence(job: Job, form: TableForm, request: RunRequest, sink: Sink) -> IdentifiedRun:
    """Return the run that is asked for, with its commit if there is one; earlier attempts of it cannot commit from then on."""
    if request.replay is not None and not (request.id or request.interval):
        # What a replay reads changes with each: what fits is gone from there.
        request = RunRequest(random_id())
    table, storage = sink.find(job.target.path, job.storage_options), job.storage_options
    runs = () if table is None else tuple(sink.runs(job.target.path, storage))
    identified = identify_among(job, form, request, runs, 0 if table is None else table.version)
    if identified.earlier is not None:
        return identified
    identity, quarantine = identified.identity, None if job.is_backfill else job.quarantine_path
    return IdentifiedRun(
        identity, fence_and_find_commit(identity, job.target.path, quarantine, sink, storage)
    )


def identify_among(
    job: Job, form: TableForm, request: RunRequest, runs: Sequence[CommittedRun], version: int
) -> IdentifiedRun:
    """Return the run that is asked for, with its commit if `runs` has it: those of the target at a version, the last one first."""
    id = request.id or (fingerprint_of_interval(job, request.interval) if request.interval else "")
    id = id or ("" if request.again else job.run or "")
    earlier: CommittedRun | None = None
    if id and request.again:
        id = _next_id(id, runs)
    elif id:
        earlier = next((run for run in runs if run.id == id), None)
    elif (base := fingerprint(job, form)) is None:
        id = random_id()
    else:
        known = runs
        if job.target.mode in (Mode.OVERWRITE, Mode.BACKFILL):
            is_last = bool(runs) and runs[0].version == version and runs[0].identity.mode == job.target.mode
            known = runs[:1] if is_last else ()
        elif Mode.OVERWRITE in (modes := [run.identity.mode for run in runs]):
            known = runs[: modes.index(Mode.OVERWRITE) + 1]
        is_of_input = re.compile(f"{base}(?:-[0-9]+)?")
        if not request.again:
            earlier = next((run for run in known if is_of_input.fullmatch(run.id)), None)
        id = _next_id(base, runs) if earlier is None else earlier.id
    return IdentifiedRun(_new_identity(id, job, form, request), earlier)


def _new_identity(id: str, job: Job, form: TableForm, request: RunRequest) -> RunIdentity:
    """Return the identity of a run under an id, with its sources, mode, interval and schema version."""
    sources = [(part.source.format, part.source.path) for part in job.parts]
    return RunIdentity.new(id, sources, job.target.mode, interval=request.interval, schema=form.version_name)


def identify_unrecorded(job: Job, form: TableForm, request: RunRequest) -> RunIdentity:
    """Return the identity of a run into a table that does not record runs. Raises PipelineError for an id or an interval."""
    if request != RunRequest() or job.run:
        format = job.target.format
        message = f"a run with an id or an interval is committed once, and a {format} table does not record its runs"
        help = "leave the id, the interval and `--again` out, so that each run is a new one; or leave `format` out of `target`, or name one of files such as parquet"
        raise PipelineError(INVALID_RUN, message, help, place=("run",) if job.run else ())
    return _new_identity(random_id(), job, form, request)


def fence_and_find_commit(
    identity: RunIdentity, table: str, quarantine: str | None, sink: Sink, storage_options: Storage
) -> CommittedRun | None:
    """Keep earlier attempts of a run from committing; return the commit of one that has, None if none has."""
    sink.fence(identity, (table,) if quarantine is None else (table, quarantine))
    sink.recover(table, quarantine, storage_options)
    return sink.find_run(identity, table, storage_options)


def commit_in_spite_of(error: PipelineError, identity: RunIdentity, job: Job, sink: Sink) -> CommittedRun:
    """Return the commit of a run in which Spark has stopped, once none of its processes can commit any more.

    Raises the error if there is none, so that "nothing was written" is true.
    """
    table, quarantine = job.target.path, job.quarantine_path
    try:
        committed_run = fence_and_find_commit(identity, table, quarantine, sink, job.storage_options)
    except (PipelineError, OSError, RuntimeError) as reason:
        raise _without_promise(
            error, f"it is unknown whether this run was committed ({reason})", job
        ) from error
    if committed_run is not None:
        return committed_run
    if is_local(table) or error.commit_state is CommitState.UNKNOWN:
        raise error
    # Nobody can be kept from committing there: a process of Spark may still be at it.
    raise _without_promise(error, "nothing of this run is in the table so far", job) from error


def _without_promise(error: PipelineError, reason: str, job: Job) -> PipelineError:
    """Return the error without its promise."""
    return error.with_outcome(f"{reason}: `schemac runs {job.target.path}` lists it if it was")


def committed_in_format(
    error: PipelineError, identity: RunIdentity, folder: str | None, job: Job, is_undecided: bool
) -> CommittedRun:
    """Find the commit of a run in which Spark stopped, in a folder of files; None for a table of a connector, which records no runs.

    Raises the error if there is none; without its promise if that is unknown: the commit failed so that it is not known
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
    path = job.target.path
    if job.target.is_of_files:
        left = f"`schemac runs {path}` lists this run if it was committed; otherwise the next one removes what it left"
    else:
        left = (
            f"check `{path}` before you run it again: it may have rows of this run,"
            f" and `{job.quarantine_path}` its other records"
        )
    raise error if is_known else error.with_outcome(left)


def _next_id(base: str, runs: Sequence[CommittedRun]) -> str:
    """Return the id of the next run over the same input."""
    used = {run.id for run in runs}
    if base not in used:
        return base
    return next(id for n in range(2, len(used) + 3) if (id := f"{base}-{n}") not in used)
