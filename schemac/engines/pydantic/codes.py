"""The diagnostics of models of pydantic; each has a page in `pages/`.

Layer: engines.
"""

from schemac.source.code import Code, Severity

PYDANTIC_TYPE = Code("SC589", "pydantic-type", Severity.ERROR, "a type that no model of pydantic can have")
PYDANTIC_LOSS = Code(
    "SC590", "pydantic-loss", Severity.NOTE, "something that a model of pydantic does not keep"
)
CODES = (PYDANTIC_TYPE, PYDANTIC_LOSS)
"""By number."""
