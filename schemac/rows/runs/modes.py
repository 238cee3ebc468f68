"""What a run does with the rows that a table has.

Layer: rows.
"""

from enum import StrEnum


class Mode(StrEnum):
    """What happens to a table that is already there."""

    CREATE = "create"
    APPEND = "append"
    OVERWRITE = "overwrite"
    UPSERT = "upsert"
    BACKFILL = "backfill"
    """Its rows stay, and get values in some columns."""
