"""Apache Spark: StructType JSON, CREATE TABLE, and ALTER TABLE through a connector.

Layer: engines.
"""

from typing import TYPE_CHECKING

from schemac.registry.engine import Engine, Format, Trait, VersionSetting
from schemac.text.source.catalogue import codes_in, error, note, warning

if TYPE_CHECKING:
    from pathlib import Path

SPARK_TYPE = error("SC521", "spark-type", "a type that Spark cannot represent")
SPARK_LOSS = note("SC522", "spark-loss", "something that Spark does not keep")
SPARK_CONNECTOR = warning("SC523", "spark-connector", "a table that lance-spark cannot read")
SPARK_PROPERTY = warning("SC524", "spark-property", "a table property that contradicts the schema")
CODES = codes_in(globals())
"""The diagnostics by number; each has a page in `pages/`."""

ENGINE = Engine(
    "spark",
    "Spark",
    position=30,
    is_default=True,
    artifacts="schemac.engines.spark.artifact:TARGET",
    judge="schemac.engines.spark.judge:JUDGE",
    tables="schemac.engines.spark.judge:TABLES",
    alters="lance",
    domain="spark.apache.org",
    attributes="schemac.engines.spark.attributes:ATTRIBUTES",
    facts="schemac.engines.spark.attributes:SparkFact",
    arrow_form="schemac.engines.spark.columns:FORM",
    version=VersionSetting(
        "lance_spark",
        "the version of lance-spark that verdicts are for, such as 0.4.0; `next` for changes that are not released yet",
        "schemac.engines.spark.versions:checked",
    ),
    codes="schemac.engines.spark:CODES",
    pages="schemac.engines.spark.pages",
    spread="schemac.pipeline.session:spread_on_spark",
    traits=frozenset({Trait.IGNORES_CASE, Trait.REFUSES_SCALE_ABOVE_PRECISION, Trait.LACKS_RUN_ENDS}),
    formats=(
        Format(
            "spark",
            "schemac.engines.spark.reader:IMPORTER",
            is_json=True,
            recognizes="schemac.engines.spark:is_struct_type",
        ),
        Format(
            "ddl",
            "schemac.engines.spark.reader_ddl:IMPORTER",
            (".sql", ".ddl"),
            systems=("spark", "databricks", "hive", "glue", "athena"),
        ),
    ),
)


def is_struct_type(path: "Path") -> bool:
    """Return whether a file is a StructType as JSON; structs of table formats have keys that Spark's do not have."""
    from schemac.importers.sources import is_json_with  # for start-up time

    if path.suffix.lower() != ".json" or not is_json_with(path, b'"type":"struct"'):
        return False
    return not any(is_json_with(path, mark) for mark in (b'"schema-id":', b'"last-column-id":'))
