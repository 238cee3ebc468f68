"""Has the Python workers of a local session import PySpark as it is installed, and not from an archive.

Layer: pipeline.
Shape: a folder of links to the parts of the installed PySpark that Java needs, and of archives in which nothing is; it becomes
       SPARK_HOME of Spark's processes.
Source: Spark's `PythonUtils.sparkPythonPath` puts `$SPARK_HOME/python/lib/pyspark.zip` first on the path of each worker, where
        it is there. Python keeps no bytecode of what it imports from an archive: every worker compiles PySpark again.
"""

import hashlib
import os
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

import pyspark

from schemac.pipeline.spark.user_cache import user_cache

LINKED = ("bin", "conf", "jars", "sbin")
ARCHIVES = Path("python", "lib")


@contextmanager
def with_links_as_home() -> Iterator[None]:
    """Make the folder the SPARK_HOME of what is started in the meantime, unless somebody has named another one."""
    home = None if "SPARK_HOME" in os.environ else home_of_links()
    if home is None:
        yield
        return
    os.environ["SPARK_HOME"] = str(home)
    try:
        yield
    finally:
        del os.environ["SPARK_HOME"]


def home_of_links() -> Path | None:
    """Make the folder; None where workers would not find PySpark without the archive, or Java is not to start this Spark."""
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
            with _put(link) as made:
                made.symlink_to(target)
    # Some versions of Spark look for data sources in Python only where the archives are.
    for archive in (installed / ARCHIVES).glob("*.zip"):
        empty = home / ARCHIVES / archive.name
        if not empty.exists():
            empty.parent.mkdir(parents=True, exist_ok=True)
            with _put(empty) as made:
                ZipFile(made, "w").close()
    return home


@contextmanager
def _put(place: Path) -> Iterator[Path]:
    """Put what is made in the meantime in its place, whole or not at all; another process may do the same."""
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        made = Path(folder, place.name)
        yield made
        made.replace(place)
