"""What Spark has in the place of a column.

Layer: engines.
"""

from typing import Any

from schemac.arrow.lower import lower
from schemac.artifacts.emission import Emission
from schemac.engines.spark.artifact import to_fields
from schemac.engines.spark.codes import SPARK_LOSS
from schemac.evolution.version_pair import SchemaVersion
from schemac.logical.dataset import LogicalDataset
from schemac.logical.slots import Slot
from schemac.source.report import Report


def _struct_field(alone: LogicalDataset) -> dict[str, Any]:
    (field,) = to_fields(lower(alone), Emission(alone, "spark", SPARK_LOSS, Report()))
    return field.json()


def spark_column(version: SchemaVersion, column: Slot) -> dict[str, Any]:
    """Return Spark's StructField of one column."""
    return version.column_view(_struct_field, column)
