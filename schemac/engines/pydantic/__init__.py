"""Pydantic: models of records, which take what a pipeline takes; models of lancedb are read as well.

Layer: engines. The compiler writes the models and reads them as text; pydantic is needed where they are used.
"""

from typing import TYPE_CHECKING

from schemac.registry.engine import Engine, Format
from schemac.text.source.catalogue import codes_in, error, note

if TYPE_CHECKING:
    from pathlib import Path

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
            recognizes="schemac.engines.pydantic:is_lance_module",
        ),
    ),
    codes="schemac.engines.pydantic:CODES",
    pages="schemac.engines.pydantic.pages",
)


def is_lance_module(path: "Path") -> bool:
    """Return whether a file is Python code with `LanceModel`."""
    if path.suffix.lower() != ".py" or not path.is_file():
        return False
    with path.open("rb") as stream:
        return b"LanceModel" in stream.read(1024 * 1024)
