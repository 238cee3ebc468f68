"""The diagnostics of ODF; each has a page in `pages/`.

Layer: engines.
"""

from schemac.text.source.code import codes_in, error, note, warning

ODF_LOSS = note("SC532", "odf-loss", "something that the ODF standard cannot express")
ODF_KIND = error("SC533", "odf-kind", "a kind that the ODF standard does not have")
ODF_LEFT_OUT = warning("SC534", "odf-left-out", "a dataset that is built without ODF")
CODES = codes_in(globals())
"""By number."""
