"""Pydantic: models of records, which take what a pipeline takes; models of lancedb are read as well.

Layer: engines. The compiler writes the models and reads them as text; pydantic is needed where they are used.
"""

from schemac.registry.engine import Engine, Format
from schemac.text.source.catalogue import codes_in, error, note

PYDANTIC_TYPE = error("SC589", "pydantic-type", "a type that no model of pydantic can have")
PYDANTIC_LOSS = note("SC590", "pydantic-loss", "something that a model of pydantic does not keep")
CODES = codes_in(globals())
"""The diagnostics by number; each has a page in `pages/`."""

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
            recognizes="schemac.engines.pydantic.lance_models:is_source",
        ),
    ),
    codes="schemac.engines.pydantic:CODES",
    pages="schemac.engines.pydantic.pages",
)
