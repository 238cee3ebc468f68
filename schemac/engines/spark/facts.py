"""The facts that changes of Spark's attributes are.

Layer: engines. Values only.
"""

from schemac.logical.facts import AnyFact


class SparkFact(AnyFact):
    """Types and properties of Spark tables."""

    TYPE_CHANGED = "spark-type-changed"
    TABLE_PROPERTY_SET = "table-property-set"
    TABLE_PROPERTY_REMOVED = "table-property-removed"
