"""What Spark has in place of a column.

Layer: engines.
"""

from schemac.arrow.lower import lower
from schemac.artifacts.emission import Emission
from schemac.engines.spark.artifact import to_fields
from schemac.engines.spark.codes import SPARK_LOSS
from schemac.engines.spark.columns import SparkField
from schemac.evolution.version_pair import SchemaVersion
from schemac.logical.dataset import LogicalDataset
from schemac.logical.schema_fields import SchemaField
from schemac.source.report import Report


def _field(alone: LogicalDataset) -> SparkField:
    (field,) = to_fields(lower(alone), Emission(alone, "spark", SPARK_LOSS, Report()))
    return field


def spark_column(version: SchemaVersion, column: SchemaField) -> SparkField:
    """Return one column as Spark has it."""
    return version.column_view(_field, column)
