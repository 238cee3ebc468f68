"""Puts the jars of the connectors to where the tests look for them: `python put_jars.py <folder of jars>`, in the Python of their own.

Shape: Spark's connectors go into the folder of this Python's pyspark, where an older jar of Arrow, which lance-spark cannot
use, makes room; of everything else that Spark has, Spark's own stays. Paimon's library goes with Hadoop's client to `jars/paimon`.
"""

import re
import shutil
import sys
from pathlib import Path

import pyspark

ARTIFACT = re.compile(r"(?P<name>.+?)-\d[\w.-]*\.jar")
REPLACED = ("arrow-", "flatbuffers-", "netty-common", "netty-buffer")
FOR_PAIMON = ("hadoop-client-", "slf4j-api", "commons-logging")


def artifact(jar: Path) -> str:
    """Name of a jar without its version."""
    found = ARTIFACT.fullmatch(jar.name)
    return found["name"] if found else jar.name


def main(downloaded: Path) -> None:
    """Put each jar to its place."""
    spark, paimon = Path(pyspark.__file__).parent / "jars", Path(sys.prefix, "jars", "paimon")
    paimon.mkdir(parents=True, exist_ok=True)
    own = {artifact(jar): jar for jar in spark.glob("*.jar")}
    for jar in sorted(downloaded.glob("*.jar")):
        name = artifact(jar)
        if name.startswith("paimon"):
            shutil.copy(jar, paimon)
        elif name not in own:
            shutil.copy(jar, spark)
        elif name.startswith(REPLACED):
            own[name].unlink()
            shutil.copy(jar, spark)
    for jar in spark.glob("*.jar"):
        if jar.name.startswith(FOR_PAIMON):
            shutil.copy(jar, paimon)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
