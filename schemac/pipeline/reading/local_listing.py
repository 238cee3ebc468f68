"""Lists files on this machine as Spark would, without a job of Spark.

Layer: pipeline.
Shape: paths in; each file with the names that Spark has for it out, or None if only Spark knows.
Rule: only what is plain is listed here: absolute paths without a character that an address would escape or a glob would read,
      files, and folders without folders in them. Whatever else Spark finds (globs, columns in names of folders) it has to list.
Source: Spark's `HadoopFSUtils.shouldFilterOutPathName` says which names are hidden.
"""

import os
import re
from collections.abc import Iterator, Sequence

from schemac.pipeline.reading.files import File
from schemac.pipeline.reading.paths import local_part

PLAIN = re.compile(r"(?:/[A-Za-z0-9_.-]+)+")


def listed_here(paths: Sequence[str]) -> tuple[File, ...] | None:
    """List the files of some paths, in the order of their names; None where Spark has to, or where nothing is found."""
    plain = [part.rstrip("/") for path in paths if (part := local_part(path)) is not None]
    if len(plain) < len(paths) or any(PLAIN.fullmatch(path) is None for path in plain):
        return None
    if any(os.path.normpath(path) != path for path in plain):
        return None
    if len(plain) > 1 and (len(set(plain)) < len(plain) or not all(map(os.path.isfile, plain))):
        return None
    try:
        files = [file for path in plain for file in _files(path)]
    except (OSError, _NotPlainError):
        return None
    # Spark lists no file without content.
    return tuple(sorted((file for file in files if file.size_bytes), key=lambda file: file.path)) or None


class _NotPlainError(Exception):
    """Something is there that Spark has to look at."""


def _files(path: str) -> Iterator[File]:
    if not os.path.isdir(path):
        if _is_hidden(os.path.basename(path)):
            raise _NotPlainError
        yield _file(path)
        return
    with os.scandir(path) as entries:
        for entry in entries:
            if _is_hidden(entry.name):
                continue
            if not entry.is_file() or PLAIN.fullmatch(f"/{entry.name}") is None:
                raise _NotPlainError
            yield _file(entry.path)


def _is_hidden(name: str) -> bool:
    """Whether Spark passes over a file or a folder of this name."""
    if name.startswith(("_common_metadata", "_metadata")) or (name.startswith("_") and "=" in name):
        raise _NotPlainError
    return name.startswith(("_", ".")) or name.endswith("._COPYING_")


def _file(path: str) -> File:
    about = os.stat(path)
    # Java tells the time in milliseconds.
    modified = about.st_mtime_ns // 1_000_000 * 1000
    return File(f"file:{path}", f"file:{path}", about.st_size, modified)
