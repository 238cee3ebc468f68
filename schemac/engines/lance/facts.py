"""The facts that changes of Lance's attributes are, where they are Lance's alone.

Layer: engines. Values only.
"""

from schemac.logical.facts import AnyFact


class LanceFact(AnyFact):
    """How new pages of a column are written, and from which size on values stand apart."""

    COMPRESSION_CHANGED = "compression-changed"
    STRUCTURAL_ENCODING_CHANGED = "structural-encoding-changed"
    PAGE_ENCODING_CHANGED = "page-encoding-changed"
    BLOB_THRESHOLDS_CHANGED = "blob-thresholds-changed"
