"""The diagnostics of Spark; each has a page in `pages/`.

Layer: engines.
"""

from schemac.source.code import Code, Severity

SPARK_TYPE = Code("SC521", "spark-type", Severity.ERROR, "a type that Spark cannot represent")
SPARK_LOSS = Code("SC522", "spark-loss", Severity.NOTE, "something that Spark does not keep")
SPARK_CONNECTOR = Code("SC523", "spark-connector", Severity.WARNING, "a table that lance-spark cannot read")
SPARK_PROPERTY = Code(
    "SC524", "spark-property", Severity.WARNING, "a table property that contradicts the schema"
)
CODES = (SPARK_TYPE, SPARK_LOSS, SPARK_CONNECTOR, SPARK_PROPERTY)
"""By number."""
