"""Python: a module with the schemas of Spark and Arrow, for programs that read and write the table.

Layer: engines.
"""

from schemac.registry.engine import Engine
from schemac.text.source.catalogue import codes_in, note

PYTHON_LOSS = note("SC588", "python-loss", "something that the module for Python does not keep")
CODES = codes_in(globals())
"""The diagnostics by number; each has a page in `pages/`."""

ENGINE = Engine(
    "python",
    "Python",
    position=71,
    artifacts="schemac.engines.python.artifact:TARGET",
    codes="schemac.engines.python:CODES",
    pages="schemac.engines.python.pages",
)
