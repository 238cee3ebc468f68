"""A reason as SQL text.

Layer: pipeline.
"""

from schemac.pipeline.spark.sql import struct
from schemac.rows.judging.settings import LONGEST_VALUE


def reason(path: str, rule: str, value: str) -> str:
    """One reason; path, rule and value are SQL text."""
    value_sql = f"substr(cast({value} as string), 1, {LONGEST_VALUE})"
    return struct([("path", path), ("rule", rule), ("value", value_sql)])
