"""A standalone Spark cluster on loopback: a master and workers whose executors have a Python without schemac.

Shape: everything is below one folder, listens on 127.0.0.1 only, and ends with the context, by the numbers of its processes.
"""

import os
import re
import socket
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from schemac.pipeline.spark.startup import java_home
from tests.java import JAVA_OF_SHORT_RUNS

STARTS_WITHIN_SECONDS = 60.0


@dataclass(frozen=True)
class Cluster:
    """A cluster that takes jobs."""

    master: str
    python: Path
    """The Python of the executors: Spark and Lance are there, schemac is not."""
    folder: Path

    def environment(self, **more: str) -> dict[str, str]:
        """Give the environment of a program that has schemac and drives a job here."""
        return {**clean_environment(), "PYTHONPATH": str(Path(__file__).parents[2]), **more}


def clean_environment() -> dict[str, str]:
    """Give this process's environment without what tells a Python where schemac lies, or Spark what to start."""
    dropped = ("PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_LOCAL_IP")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "JAVA_HOME": str(java_home()), "SPARK_HOME": str(Path(pyspark.__file__).parent)}


def python_without_schemac(folder: Path) -> Path:
    """Make an environment with the packages of this one, without those that lie elsewhere, as schemac does."""
    venv.create(folder, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = sysconfig.get_paths()["purelib"]
    (folder / "lib" / version / "site-packages" / "packages.pth").write_text(packages + "\n")
    return folder / "bin" / "python"


@contextmanager
def cluster(folder: Path, workers: int = 2, wrapper: Sequence[str] = ()) -> Iterator[Cluster]:
    """Start a master and workers of one core each; `wrapper` is a command that starts the workers."""
    python = python_without_schemac(folder / "venv")
    master = f"spark://127.0.0.1:{free_port()}"
    host = ["--host", "127.0.0.1", "--webui-port", "0"]
    with ExitStack() as stack:
        log = folder / "master.log"
        port = master.rpartition(":")[2]
        stack.enter_context(_started("master.Master", [*host, "--port", port], log, folder))
        _wait_for(log, r"New state: ALIVE")
        for i in range(workers):
            at = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work{i}"), master]
            log = folder / f"worker{i}.log"
            stack.enter_context(_started("worker.Worker", [*host, *at], log, folder, wrapper))
            _wait_for(log, r"Successfully registered with master")
        yield Cluster(master, python, folder)


@contextmanager
def _started(
    name: str, arguments: list[str], log: Path, folder: Path, wrapper: Sequence[str] = ()
) -> Iterator[None]:
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    command = [*wrapper, str(program), f"org.apache.spark.deploy.{name}", *arguments]
    daemon = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": JAVA_OF_SHORT_RUNS}
    environment = {**clean_environment(), "SPARK_LOCAL_IP": "127.0.0.1", **daemon}
    with log.open("w") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, cwd=folder, env=environment
        )
    try:
        yield
    finally:
        # `unshare --fork` keeps SIGTERM from itself and from what it has started; that ends with it.
        (process.kill if wrapper else process.terminate)()
        process.wait(30)


def free_port() -> int:
    """Choose a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(log: Path, pattern: str) -> None:
    end = time.monotonic() + STARTS_WITHIN_SECONDS
    while not re.search(pattern, log.read_text()):
        assert time.monotonic() < end, log.read_text()[-2000:]
        time.sleep(0.05)
