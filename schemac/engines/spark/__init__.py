"""Apache Spark: StructType JSON, CREATE TABLE, and ALTER TABLE through a connector.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format, Trait, VersionSetting

ENGINE = Engine(
    "spark",
    "Spark",
    position=30,
    is_default=True,
    artifacts="schemac.engines.spark.artifact:TARGET",
    judge="schemac.engines.spark.judge:JUDGE",
    tables="schemac.engines.spark.tables:TABLES",
    alters="lance",
    domain="spark.apache.org",
    attributes="schemac.engines.spark.attributes:ATTRIBUTES",
    facts="schemac.engines.spark.attributes:SparkFact",
    arrow_form="schemac.engines.spark.column_metadata:FORM",
    version=VersionSetting(
        "lance_spark",
        "the version of lance-spark that verdicts are for, such as 0.4.0; `next` for changes that are not released yet",
        "schemac.engines.spark.versions:checked",
    ),
    codes="schemac.engines.spark.codes:CODES",
    pages="schemac.engines.spark.pages",
    spread="schemac.pipeline.session:spread_on_spark",
    traits=frozenset({Trait.IGNORES_CASE, Trait.REFUSES_SCALE_ABOVE_PRECISION, Trait.LACKS_RUN_ENDS}),
    formats=(
        Format(
            "spark",
            "schemac.engines.spark.reader:IMPORTER",
            is_json=True,
            recognizes="schemac.engines.spark.sources:is_struct_type",
        ),
        Format(
            "ddl",
            "schemac.engines.spark.reader_ddl:IMPORTER",
            (".sql", ".ddl"),
            systems=("spark", "databricks", "hive", "glue", "athena"),
        ),
    ),
)
