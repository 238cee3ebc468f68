"""The diagnostics of ODF; each has a page in `pages/`.

Layer: engines.
"""

from schemac.source.code import Code, Severity

ODF_LOSS = Code("SC532", "odf-loss", Severity.NOTE, "something that the ODF standard cannot express")
CODES = (ODF_LOSS,)
"""By number."""
