"""The diagnostics of ODF; each has a page in `pages/`.

Layer: engines.
"""

from schemac.source.code import Code, Severity

ODF_LOSS = Code("SC532", "odf-loss", Severity.NOTE, "something that the ODF standard cannot express")
ODF_KIND = Code("SC533", "odf-kind", Severity.ERROR, "a kind that the ODF standard does not have")
ODF_LEFT_OUT = Code("SC534", "odf-left-out", Severity.WARNING, "a dataset that is built without ODF")
CODES = (ODF_LOSS, ODF_KIND, ODF_LEFT_OUT)
"""By number."""
