"""The diagnostics of modules of Python; each has a page in `pages/`.

Layer: engines.
"""

from schemac.source.code import Code, Severity

PYTHON_LOSS = Code(
    "SC588", "python-loss", Severity.NOTE, "something that the module for Python does not keep"
)
CODES = (PYTHON_LOSS,)
"""By number."""
