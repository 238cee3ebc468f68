"""Runs statements in a catalog of lance-spark; a script for a Python of its own, whose pyspark has the connector's jars.

Shape: arguments are the catalog's folder and a JSON file with lists of statements; prints a JSON list with the first
error of each list, or null.
"""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

PACKAGES = (
    *("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util"),
    *("java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs"),
    *("sun.security.action", "sun.util.calendar"),
)


def main(root: str, file: str) -> None:
    """Run all lists, each until its first error."""
    opens = " ".join(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in PACKAGES)
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.catalog.lance": "org.lance.spark.LanceNamespaceSparkCatalog",
        "spark.sql.catalog.lance.impl": "dir",
        "spark.sql.catalog.lance.root": root,
        "spark.sql.catalog.lance.single_level_ns": "true",
        "spark.sql.defaultCatalog": "lance",
        "spark.sql.extensions": "org.lance.spark.extensions.LanceSparkSessionExtensions",
        "spark.driver.extraJavaOptions": opens,
    }
    builder = SparkSession.builder.master("local[1]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.sql("USE lance.default")
    print(json.dumps([run(session, statements) for statements in json.loads(Path(file).read_text())]))
    session.stop()


def run(session: SparkSession, statements: list[str]) -> str | None:
    """The first error of some statements."""
    for statement in statements:
        try:
            session.sql(statement).collect()
        except Exception as error:  # noqa: BLE001 — whatever it is, it is the answer
            return f"{statement.splitlines()[0]}: {str(error).splitlines()[0]}"
    return None


main(*sys.argv[1:])
