"""The diagnostics of Arrow; each has a page in `pages/`.

Layer: engines.
"""

from schemac.source.code import Code, Severity

ARROW_LOSS = Code("SC531", "arrow-loss", Severity.NOTE, "something that the Arrow artifact does not keep")
CODES = (ARROW_LOSS,)
"""By number."""
