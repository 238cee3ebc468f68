"""The diagnostics of Spark; each has a page in `pages/`.

Layer: engines.
"""

from schemac.text.source.code import codes_in, error, note, warning

SPARK_TYPE = error("SC521", "spark-type", "a type that Spark cannot represent")
SPARK_LOSS = note("SC522", "spark-loss", "something that Spark does not keep")
SPARK_CONNECTOR = warning("SC523", "spark-connector", "a table that lance-spark cannot read")
SPARK_PROPERTY = warning("SC524", "spark-property", "a table property that contradicts the schema")
CODES = codes_in(globals())
"""By number."""
