"""Takes only the files of a source that no earlier run has taken (`mode: incremental`).

Layer: pipeline.
Shape: a job in; the same job with the new files alone out, and what the run's commit says of them. The state is in the commits of
       the table itself: each has the files of its own run, and one in `LINKS_TO_A_STATE` those of all runs before it as well, so
       that few versions have to be looked at, and old ones may be cleaned up.
Rule: a file is known by its path and digest. One of the same path, size and time is taken for the same; otherwise its bytes
      decide. A file that has other bytes than those that were read follows the declared rule (`changed`). An overwrite of the
      table by another run begins anew, for the rows of the files are gone with it.
Errors: SC647 changed-file, SC648 lost-history.
"""

import base64
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Changed, Job, Source, SourceMode
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading import texts
from schemac.pipeline.reading.files import SourceFile, sha256_of
from schemac.pipeline.reading.paths import base_path, local_part
from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.identity import Mode
from schemac.rows.runs.tables import Sink
from schemac.text.source.catalogue import CHANGED_FILE, LOST_HISTORY

FILES, STATE, LINK = "schemac.run.files", "schemac.run.state", "schemac.run.link"
LINKS_TO_A_STATE = 64


class KnownFile(NamedTuple):
    """A file that a run has read."""

    path: str
    size_bytes: int
    modified_micros: int
    digest: str


@dataclass
class ReadFiles:
    """The files that a table has the rows of, by path; `links`: how many commits were looked at to know."""

    files: dict[str, KnownFile] = field(default_factory=dict)
    links: int = 0


def state_of(runs: Iterable[CommittedRun]) -> ReadFiles:
    """Read the state out of the runs of a table, the last one first."""
    state = ReadFiles()
    for run in runs:
        if FILES in run.properties:
            state.links += 1
            packed = base64.b64decode(run.properties.get(STATE, run.properties[FILES]))
            for file in (KnownFile(*row) for row in json.loads(zlib.decompress(packed))):
                state.files.setdefault(file.path, file)
            if STATE in run.properties or run.properties.get(LINK) == "1":
                return state
        if run.identity.mode == Mode.OVERWRITE:
            return state
    if state.links:
        message = "the versions of the table that record which files were read first no longer exist"
        help = "list the files that are new as `path`, leave `mode: incremental` out, and run once"
        raise PipelineError(LOST_HISTORY, message, help, place=("source", "mode"))
    return state


class NewInput(NamedTuple):
    """A job that reads only new files, None if there are none; and what its commit says of them."""

    job: Job | None
    properties: dict[str, str]
    is_rest: bool = False
    """Whether earlier runs have taken other files of the source."""


def find_new_input(spark: SparkSession, job: Job, sink: Sink) -> NewInput:
    """Return a job that reads only the files that no run of its table has read."""
    if not job.is_incremental:
        return NewInput(job, {})
    path, storage = job.target.path, job.storage_options
    state = state_of(sink.runs(path, storage) if sink.find(path, storage) is not None else ())
    parts, known_files = [], []
    for i, part in enumerate(job.parts):
        if part.source.mode is not SourceMode.INCREMENTAL:
            parts.append(part.source.model_copy(update={"fields": part.fields}))
            continue
        listed = texts.files_of(spark, part.source)
        with job.located_in_part(i):
            part_files = list(new_files(part.source, listed.files, state))
        known_files += part_files
        if part_files:
            source = with_paths(part.source, [file.path for file in part_files])
            parts.append(source.model_copy(update={"fields": part.fields}))
    if not parts:
        return NewInput(None, {})
    update: dict[str, object] = {"source_": None, "sources": tuple(parts), "fields": {}}
    if not job.sources:
        # As the file has it, so that what is told of a setting finds its place.
        update = {"source_": with_paths(job.source, [file.path for file in known_files])}
    left, commit_properties = job.model_copy(update=update), properties(state, known_files)
    return NewInput(left, commit_properties, is_rest=bool(state.files))


def new_files(source: Source, files: Iterable[SourceFile], state: ReadFiles) -> Iterator[KnownFile]:
    """Yield the files that no run has read, by the declared rule for those that have changed. Raises PipelineError."""
    for file in files:
        known = state.files.get(file.path)
        state_now = file.size_bytes, file.modified_micros
        if known is not None and (known.size_bytes, known.modified_micros) == state_now:
            continue
        known_file = KnownFile(file.path, file.size_bytes, file.modified_micros, sha256_of(file.path))
        if known is None or (known.digest != known_file.digest and source.changed is Changed.READ):
            yield known_file
        elif known.digest != known_file.digest and source.changed is Changed.REFUSE:
            message = f"`{file.path}` has changed since its records were read"
            help = "set `changed: read` to append all its records again, or `changed: ignore` to leave it out"
            raise PipelineError(CHANGED_FILE, message, help, place=("source", "mode"))


def properties(state: ReadFiles, new_files: list[KnownFile]) -> dict[str, str]:
    """Return the commit properties with the files that the run has read; from time to time those of all earlier runs too."""
    commit_properties = {FILES: _packed_files(new_files), LINK: str(state.links + 1)}
    if state.links + 1 >= LINKS_TO_A_STATE:
        files = state.files | {file.path: file for file in new_files}
        commit_properties |= {STATE: _packed_files(files.values()), LINK: "1"}
    return commit_properties


def with_paths(source: Source, paths: list[str]) -> Source:
    """Return a source that reads these files alone; columns in names of folders stay what they were."""
    options = dict(source.options)
    here = local_part(source.path[0]) if len(source.path) == 1 else None
    base = source.path[0] if here is not None and os.path.isdir(here) else base_path(source.path)
    if base is not None and not any(name.lower() in ("basepath", "recursivefilelookup") for name in options):
        options["basePath"] = base
    return source.model_copy(update={"path": tuple(paths), "options": options})


def _packed_files(files: Iterable[KnownFile]) -> str:
    """Return files as JSON that is compressed by zlib, in base64."""
    return base64.b64encode(zlib.compress(json.dumps(list(files)).encode())).decode()
