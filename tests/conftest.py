"""The refresh option of the golden files; where programs find the compiler; and one worker for all that needs Spark."""

import os
import tempfile
from collections.abc import Generator, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import effort  # noqa: F401  the profiles
from tests.golden import Golden
from tests.java import JAVA_OF_SHORT_RUNS

settings.load_profile("schemac")

MEMORY, ROOM = Path("/dev/shm"), 2 << 30
"""A file system in memory, and the bytes that have to be free there."""


def _takes_files_of_tests() -> bool:
    """Whether there is room in memory, and programs may be started from there."""
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        return False
    system = os.statvfs(MEMORY)
    return not system.f_flag & os.ST_NOEXEC and system.f_bavail * system.f_frsize >= ROOM


# The tests make some hundred thousand small files, which takes a disk as long as all else takes the processor.
if "TMPDIR" not in os.environ and _takes_files_of_tests():
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

# Programs that tests start, wherever they run, are those of this tree, whether it is installed or not.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, (str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH")))
)
# What the compiler says is compared with files, in which no engine is that somebody has installed beside it.
os.environ["SCHEMAC_BUILTIN_ENGINES"] = "1"
# What `bin/spark-submit` and `bin/spark-class` read, where tests start programs.
for name in ("SPARK_SUBMIT_OPTS", "SPARK_DAEMON_JAVA_OPTS"):
    if JAVA_OF_SHORT_RUNS not in os.environ.get(name, ""):  # a worker of xdist has it from the first process
        os.environ[name] = f"{JAVA_OF_SHORT_RUNS} {os.environ.get(name, '')}".strip()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--refresh", metavar="GLOB", help="rewrite the golden files of the corpus cases whose path matches"
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares with the files of one case, or writes them where `--refresh` names the case."""
    pattern = request.config.getoption("--refresh")

    def is_refreshed(case: str) -> bool:
        return pattern is not None and (fnmatch(case, pattern) or fnmatch(case, f"*/{pattern}"))

    return Golden(is_refreshed)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """The one session of Spark; who asks for it is marked and grouped below."""
    from tests.spark_session import session_of_tests

    session = session_of_tests()
    yield session
    session.stop()


@pytest.fixture
def in_utc(spark: Any) -> Iterator[None]:
    """For tests that compare instants with those of code that knows no session."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    yield
    spark.conf.set("spark.sql.session.timeZone", before)


@pytest.hookimpl(wrapper=True)  # before the workers read the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Spark is started once, so who asks for the session goes to one worker, which begins with them.

    Tests whose programs start a Spark of their own may run beside it, on any worker.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group("spark"))
        elif item.get_closest_marker("xdist_group") is None:
            # A worker gets a file at a time: what a module makes is made once, and xdist, which goes through all units
            # that it gave away after each test, has hundreds of them and not thousands.
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
    yield
