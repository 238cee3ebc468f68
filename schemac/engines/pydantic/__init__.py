"""Pydantic: models of records, which take what a pipeline takes.

Layer: engines. The compiler writes the models and reads them as text; pydantic is needed where they are used.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "pydantic",
    "Pydantic",
    position=72,
    checks_constraints=True,
    artifacts="schemac.engines.pydantic.artifact:TARGET",
    formats=(Format("pydantic", "schemac.engines.pydantic.reader:IMPORTER", suffixes=(".py",)),),
    codes="schemac.engines.pydantic.codes:CODES",
    pages="schemac.engines.pydantic.pages",
)
