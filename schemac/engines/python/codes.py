"""The diagnostics of modules of Python; each has a page in `pages/`.

Layer: engines.
"""

from schemac.text.source.code import codes_in, note

PYTHON_LOSS = note("SC588", "python-loss", "something that the module for Python does not keep")
CODES = codes_in(globals())
"""By number."""
