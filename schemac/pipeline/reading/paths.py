"""Paths of sources: what each names, and whether its files are still what they were when the run began.

Layer: pipeline.
Shape: local paths; those of object stores and other file systems stay with Spark. In a glob `*`, `?`, `[…]` and `{a,b}` have their
       meaning; a path that exists is literal. Local files are compared by size and time of change before the first is read and before
       the commit, for a file that somebody wrote to in the meantime may be read as a part of the old one and a part of the new one.
Errors: PipelineError if nothing is there, where Spark would read nothing of what is, and for a file that changed.
"""

import glob
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from schemac.pipeline.codes import HIDDEN_INPUT
from schemac.pipeline.errors import PipelineError
from schemac.text.source.catalogue import CHANGED_INPUT, INPUT_NOT_FOUND, NOT_SHARED, PACKED_INPUT

SPECIAL = re.compile(r"([\\\[\]{}*?])")
ALTERNATIVES = re.compile(r"\{([^{}]*)\}")
PARTITION = re.compile(r"[^=/]+=[^/]*\Z")
NOT_READ = {".zip": "zip", ".xz": "xz", ".7z": "7-Zip", ".lz4": "LZ4", ".snappy": "Snappy", ".br": "Brotli",
            ".tar": "tar", ".tgz": "tar", ".lzo": "LZO", ".zlib": "zlib", ".z": "compress"}  # fmt: skip


def local_part(path: str) -> str | None:
    """Take the path in the file system of this machine; None for other file systems."""
    if path.startswith("file:"):
        return re.sub(r"^file:(//(?=/))?", "", path)
    return None if "://" in path else path


def listed_files(path: str) -> list[str]:
    """List what a local path names; empty if nothing is there."""
    if os.path.exists(path):
        return [path]
    return sorted({name for pattern in _alternatives(path) for name in glob.glob(pattern)})


def _alternatives(pattern: str) -> Iterator[str]:
    """Yield a pattern for each combination of the choices in braces."""
    match = ALTERNATIVES.search(pattern)
    if match is None:
        yield pattern
        return
    for choice in match[1].split(","):
        yield from _alternatives(pattern[: match.start()] + choice + pattern[match.end() :])


def spark_path(path: str) -> str:
    """Write the path as Spark's glob reads it: what is there is literal."""
    local = local_part(path)
    return path if local is None or not os.path.exists(local) else SPECIAL.sub(r"\\\1", path)


def base_path(paths: tuple[str, ...]) -> str | None:
    """Find the folder whose `name=value` folders are columns, where one glob reaches into them."""
    if len(paths) != 1:
        return None
    local = local_part(paths[0])
    if local is not None and os.path.exists(local):
        return None
    fixed = []
    for part in paths[0].split("/")[:-1]:
        if SPECIAL.search(part) or PARTITION.match(part):
            break
        fixed.append(part)
    below = [path.split("/")[len(fixed) :] for path in (paths[0], *(listed_files(local) if local else ()))]
    has_columns = any(PARTITION.match(part) for parts in below for part in parts)
    return "/".join(fixed) if has_columns and any(fixed) else None


def check_path(path: str, *, is_text: bool, is_listed_by_spark: bool) -> list[str]:
    """List the local files and folders of a path, all of which can be read."""
    local = local_part(path)
    if local is None:
        return [path]
    files = listed_files(local)
    if not files:
        folder = os.path.dirname(local) or "."
        if not os.path.isdir(folder):
            help = f"there is no folder `{folder}` either"
        else:
            names = ", ".join(f"`{entry}`" for entry in sorted(os.listdir(folder))[:12])
            help = f"that folder holds {names}" if names else "that folder is empty"
        raise PipelineError(INPUT_NOT_FOUND, f"there is no file `{path}`", help)
    for entry in files:
        name = os.path.basename(entry.rstrip("/"))
        if is_listed_by_spark and is_hidden(name) and len(files) == 1:
            message = (
                f"`{path}` begins with `{name[0]}`: Spark treats such names as hidden and does not read them"
            )
            raise PipelineError(HIDDEN_INPUT, message, "rename the file")
        if is_text and os.path.isfile(entry):
            refuse_packed(entry)
    return files


def is_hidden(name: str) -> bool:
    """Whether Spark passes over a file or a folder of this name, but for folders of partitions."""
    return name.startswith(("_", ".")) and "=" not in name


def refuse_packed(path: str) -> None:
    """Refuses a file that would be read as the bytes of an archive."""
    packed = NOT_READ.get(os.path.splitext(path)[1].lower())
    if packed is not None:
        message = f"`{path}` is compressed with {packed}, which is not supported"
        raise PipelineError(PACKED_INPUT, message, "decompress it, or compress it with gzip, bzip2 or zstd")


FileStates = dict[str, tuple[int, int]]


def file_states(paths: Iterable[str]) -> FileStates:
    """Note the size and the time of change of each local file that a source names."""
    return {
        file: state
        for path in paths
        for file in _local_files(path)
        if (state := _file_state(file)) is not None
    }


def _local_files(path: str) -> Iterator[str]:
    """Yield the files that a pattern of paths matches, or that are below it; none if it is not local."""
    local = local_part(path)
    for file in () if local is None else listed_files(local):
        if os.path.isdir(file):
            yield from (os.path.join(folder, name) for folder, _, names in os.walk(file) for name in names)
        else:
            yield file


def _file_state(file: str) -> tuple[int, int] | None:
    """Return the size in bytes and the time of the last change in nanoseconds; None if the file cannot be examined."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def write_states(seen: FileStates, file: Path) -> None:
    """Write down what was seen, for the process that commits."""
    file.write_text(json.dumps(seen))


def check_noted_files(file: str) -> None:
    """Raise where a file is gone or another one than it was when `write_states` was called."""
    check_files_unchanged({path: tuple(state) for path, state in json.loads(Path(file).read_text()).items()})


def check_files_unchanged(seen: FileStates, place: tuple[str, ...] = ("source", "path")) -> None:
    """Raise where a file is gone or another one than it was; `place` is the setting that names it."""
    for path, expected in seen.items():
        current = _file_state(path)
        if current != expected:
            what = "is gone" if current is None else "changed"
            message = f"`{path}` {what} while it was read"
            raise PipelineError.uncommitted(
                CHANGED_INPUT, message, "run it again when no other program writes to it",
                place=place,
            )  # fmt: skip


def changed_since(error: PipelineError, seen: FileStates, place: tuple[str, ...]) -> PipelineError:
    """Return the error of a run that reads files which a setting at a place names; a file that its tasks do not see may be one that is gone for its driver too."""
    if error.code is NOT_SHARED:
        try:
            check_files_unchanged(seen, place)
        except PipelineError as changed:
            changed.__cause__ = error
            return changed
    return error
