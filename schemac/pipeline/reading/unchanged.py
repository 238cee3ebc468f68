"""Whether the files of a source are still what they were when the run began.

Layer: pipeline.
Shape: local files by size and time of change, looked at before the first is read and once more before the commit: what
       was read of a file that somebody wrote to in the meantime may be a part of the old one and a part of the new one.
       Objects of stores never change in part; Spark asks for the one that it has listed.
"""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from schemac.pipeline.reading.paths import listed_files, local_part
from schemac.rows.runs.errors import PipelineError
from schemac.source.catalogue import CHANGED_INPUT, NOT_SHARED

Seen = dict[str, tuple[int, int]]


def look(paths: Iterable[str]) -> Seen:
    """Note the size and the time of change of each local file that a source names."""
    return {file: state for path in paths for file in _files(path) if (state := _state(file)) is not None}


def _files(path: str) -> Iterator[str]:
    local = local_part(path)
    for file in () if local is None else listed_files(local):
        if os.path.isdir(file):
            yield from (os.path.join(folder, name) for folder, _, names in os.walk(file) for name in names)
        else:
            yield file


def _state(file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def note(seen: Seen, file: Path) -> None:
    """Write down what was seen, for the process that commits."""
    file.write_text(json.dumps(seen))


def check_unchanged(file: str) -> None:
    """Raise where a file is gone or another one than it was when `note` was called."""
    check_seen({path: tuple(state) for path, state in json.loads(Path(file).read_text()).items()})


def check_seen(seen: Seen, *place: str) -> None:
    """Raise where a file is gone or another one than it was; `place` is the setting that names it."""
    for path, expected in seen.items():
        current = _state(path)
        if current != expected:
            what = "is gone" if current is None else "changed"
            message = f"`{path}` {what} while it was read"
            raise PipelineError.uncommitted(
                CHANGED_INPUT, message, "run it again when no other program writes to it",
                place=place or ("source", "path"),
            )  # fmt: skip


def changed_since(error: PipelineError, seen: Seen) -> PipelineError:
    """Return the error of a run; a file that its tasks do not see may be one that is gone for its driver too."""
    if error.code is NOT_SHARED:
        try:
            check_seen(seen)
        except PipelineError as changed:
            changed.__cause__ = error
            return changed
    return error
