"""Spark's classes as Java maps them into its memory, in place of loading and checking each of them at every start.

Layer: pipeline.
Shape: one file for a Java runtime and the jars of a Spark, in the user's cache; about 170 MB, and at most three of them. A session on
       this machine uses it where it is there. It is made by `make_class_archive`, or not at all.
Source: JEP 350. Java itself compares the archive with its own version and with the jars, and starts without it if they differ.
"""

import hashlib
import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

import pyspark

from schemac.pipeline.spark.java import java_home, java_runtime
from schemac.pipeline.spark.user_cache import user_cache

MOST_ARCHIVES = 3
PREFIX, ENDING = "spark-classes-", ".jsa"
OF_AUTHOR = re.compile(r"-XX:(SharedArchiveFile|ArchiveClassesAtExit)\b|-Xshare\b")


def archive_options(java_options: str) -> str:
    """Write the options with which Java uses the archive; none where there is no archive, or the options `own` speak of one."""
    path = archive_path()
    return (
        ""
        if OF_AUTHOR.search(java_options) or not path.is_file()
        else shlex.quote(f"-XX:SharedArchiveFile={path}")
    )


def archive_path() -> Path:
    """Where the archive for this Java and this Spark is; those of others have other names."""
    home, jars = java_runtime(), Path(pyspark.__file__).parent / "jars"
    release = home / "release" if (home / "release").is_file() else home / "bin" / "java"
    identity = [str(home), str(jars), hashlib.sha256(release.read_bytes()).hexdigest()]
    for jar in sorted(jars.iterdir()):
        status = jar.stat()
        identity.append(f"{jar.name} {status.st_size} {status.st_mtime_ns}")
    digest = hashlib.sha256(os.fsencode("\n".join(identity))).hexdigest()[:16]
    return user_cache() / f"{PREFIX}{digest}{ENDING}"


def base_path() -> Path:
    """Where the archive of Java's own classes is, which the other one needs; not each Java comes with one."""
    return archive_path().with_suffix(".base")


def dump_base() -> None:
    """Make the archive of Java's own classes, unless there is one: Java refuses archives that were created together with another one."""
    path = base_path()
    if path.is_file():
        return
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder, path.name)
        command = [str(java_home() / "bin" / "java"), "-Xshare:dump", f"-XX:SharedArchiveFile={made}"]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603  the Java that Spark is started with
        made.replace(path)


def dump_options(path: Path) -> str:
    """Write the options with which Java makes the archive at a path when it ends."""
    return shlex.join([f"-XX:SharedArchiveFile={base_path()}", f"-XX:ArchiveClassesAtExit={path}"])


def take(made: Path) -> Path:
    """Put an archive that is whole in its place, and remove the oldest ones."""
    path = archive_path()
    made.replace(path)
    others = sorted(path.parent.glob(f"{PREFIX}*{ENDING}"), key=lambda one: one.stat().st_mtime, reverse=True)
    for old in others[MOST_ARCHIVES:]:
        old.unlink(missing_ok=True)
        old.with_suffix(".base").unlink(missing_ok=True)
    return path
