"""Runs files of statements in a Spark with Iceberg's runtime; the warehouse and the files are the arguments.

The Python of `ICEBERG_SPARK_PYTHON` runs it, whose pyspark has the jar of iceberg-spark-runtime, or finds it by
`spark.jars` in `SPARK_CONF_DIR`. It needs nothing of this package.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"

if __name__ == "__main__":
    warehouse, *files = sys.argv[1:]
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.extensions", EXTENSIONS)
        .config("spark.sql.catalog.local", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.local.type", "hadoop")
        .config("spark.sql.catalog.local.warehouse", warehouse)
        .config("spark.sql.defaultCatalog", "local")
        .getOrCreate()
    )
    for file in files:
        for statement in Path(file).read_text(encoding="utf-8").split(";\n"):
            if statement.strip():
                spark.sql(statement)
