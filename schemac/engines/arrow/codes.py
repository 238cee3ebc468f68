"""The diagnostics of Arrow; each has a page in `pages/`.

Layer: engines.
"""

from schemac.text.source.code import codes_in, note

ARROW_LOSS = note("SC531", "arrow-loss", "something that the Arrow artifact does not keep")
CODES = codes_in(globals())
"""By number."""
