"""What a run reads, and what it makes of it, as one digest: the same records for the same table give the same one.

Layer: pipeline.
Shape: files count by their content and by their name below the path that the job gives, whatever folder that is in; settings
       that decide about values count, `mode` and limits do not. None if the source cannot be known without
       reading it: on an object store, in a format without files.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reading.paths import local_part
from schemac.pipeline.reading.source import check_source
from schemac.pipeline.spark.python_functions import digest_of_function
from schemac.rows.runs.locations import seen_from
from schemac.rows.runs.tables import TableForm, source_of

ID_LENGTH = 32


def fingerprint_of_interval(job: Job, interval: str) -> str:
    """Return the id of the run of a job for an interval of its schedule, whatever it finds to read."""
    sources = [part.source.model_dump(mode="json") for part in job.parts]
    inputs: dict[str, object] = {"source": sources[0]} if len(sources) == 1 else {"sources": sources}
    return _digest({**inputs, "interval": interval, **_table(job)})


def fingerprint(job: Job, form: TableForm) -> str | None:
    """Return the id of the run of a job over its present input. Raises PipelineError if that is not there."""
    if job.is_backfill:
        made_of = _made_of(job, form)
        return None if made_of is None else _digest(made_of | _table(job))
    contents = [_content(part, form) for part in job.parts]
    known = [content for content in contents if content is not None]
    if len(known) < len(contents):
        return None
    content: dict[str, object] = known[0] if len(known) == 1 else {"sources": known}
    return _digest(content | _table(job))


def _content(job: Job, form: TableForm) -> dict[str, object] | None:
    """Say what one source is, and what becomes of it; None if it cannot be known without reading it."""
    inputs = _inputs(job)
    if inputs is None:
        return None
    source = job.source.model_dump(mode="json", exclude={"path"})
    settings = job.model_dump(
        mode="json", include={"fields", "unexpected", "coerce", "keys", "null_values", "rules"}
    )
    if job.target.latest is not None or job.target.delete is not None:
        settings |= job.target.model_dump(mode="json", include={"latest", "delete"})
    if job.references:
        settings |= job.model_dump(mode="json", include={"references"})
    return {
        "source": source,
        "inputs": inputs,
        "settings": settings,
        "schema": form.version_name,
    }


def _made_of(job: Job, form: TableForm) -> dict[str, object] | None:
    """Say what values a backfill computes, of whatever rows the table has; None if a join cannot be known without reading it."""
    inputs = {label: _inputs(job.part_of_join(label)) for label in job.joins}
    if None in inputs.values():
        return None
    functions = {
        label: digest_of_function(origin.python)
        for label, origin in job.fields.items()
        if origin is not None and origin.python is not None
    }
    settings = job.model_dump(mode="json", include={"fields", "where", "coerce", "null_values"})
    for origin in settings["fields"].values():
        # The path of a function's file is no part of what it does.
        if origin is not None:
            origin["python"] = None if origin["python"] is None else origin["python"].rpartition(":")[2]
    joins = {label: join.model_dump(mode="json", exclude={"path"}) for label, join in job.joins.items()}
    return {
        "backfill": settings,
        "joins": joins,
        "inputs": inputs,
        "functions": functions,
        "schema": form.version_name,
    }


def _inputs(job: Job) -> list[list[object]] | list[tuple[str, str]] | None:
    return _tables(job) if source_of(job.source.format) is not None else _files(job)


def _table(job: Job) -> dict[str, str]:
    # A quarantine may be shared: the same input for two tables is two runs.
    return {"table": seen_from(job.quarantine_path, job.target.path)}


def _digest(content: dict[str, object]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:ID_LENGTH]


def _tables(job: Job) -> list[list[object]] | None:
    engine = source_of(job.source.format)
    assert engine is not None
    pinned = job.source.options.get("version")
    return [[path, pinned or engine.newest_version(path, job.storage_options)] for path in job.source.path]


def _files(job: Job) -> list[tuple[str, str]] | None:
    if not job.source.path:
        return None
    paths = check_source(job)
    if any(local_part(path) is None for path in paths):
        return None
    files = sorted({pair for path in paths for pair in _below(Path(local_part(path) or path))})
    with ThreadPoolExecutor() as pool:
        digests = pool.map(_digest_of_file, (file for _, file in files))
    return [(name, digest) for (name, _), digest in zip(files, digests, strict=True)]


def _below(path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a path with their names as the job sees them; hidden ones are not read."""
    if path.is_file():
        yield path.name, path
        return
    for folder, names, files in os.walk(path, followlinks=True):
        names[:] = [name for name in names if not _is_hidden(name)]
        for name in files:
            if not _is_hidden(name):
                file = Path(folder, name)
                yield file.relative_to(path.parent).as_posix(), file


def _is_hidden(name: str) -> bool:
    return name.startswith(("_", ".")) and "=" not in name


def _digest_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
