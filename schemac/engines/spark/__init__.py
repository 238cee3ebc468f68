"""Apache Spark: StructType JSON, CREATE TABLE, and ALTER TABLE through a connector.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "spark",
    "Spark",
    position=30,
    artifacts="schemac.engines.spark.artifact:TARGET",
    judge="schemac.engines.spark.judge:JUDGE",
    formats=(
        Format(
            "spark",
            "schemac.engines.spark.reader:IMPORTER",
            is_json=True,
            recognizes="schemac.engines.spark.sources:is_struct_type",
        ),
        Format("ddl", "schemac.engines.spark.reader_ddl:IMPORTER", (".sql", ".ddl")),
    ),
)
