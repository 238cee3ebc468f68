"""Python: a module with the schemas of Spark and Arrow, for programs that read and write the table.

Layer: engines.
"""

from schemac.registry.engine import Engine

ENGINE = Engine(
    "python",
    "Python",
    position=71,
    artifacts="schemac.engines.python.artifact:TARGET",
    codes="schemac.engines.python.codes:CODES",
    pages="schemac.engines.python.pages",
)
