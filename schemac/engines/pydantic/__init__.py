"""Pydantic: models of records, which take what a pipeline takes; models of lancedb are read as well.

Layer: engines. The compiler writes the models and reads them as text; pydantic is needed where they are used.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "pydantic",
    "Pydantic",
    position=72,
    checks_constraints=True,
    artifacts="schemac.engines.pydantic.artifact:TARGET",
    formats=(
        Format("pydantic", "schemac.engines.pydantic.reader:IMPORTER", suffixes=(".py",)),
        Format(
            "lancemodel",
            "schemac.engines.pydantic.lance_models:IMPORTER",
            recognizes="schemac.engines.pydantic.sources:is_lance_module",
        ),
    ),
    codes="schemac.engines.pydantic.codes:CODES",
    pages="schemac.engines.pydantic.pages",
)
