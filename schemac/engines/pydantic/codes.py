"""The diagnostics of models of pydantic; each has a page in `pages/`.

Layer: engines.
"""

from schemac.text.source.code import codes_in, error, note

PYDANTIC_TYPE = error("SC589", "pydantic-type", "a type that no model of pydantic can have")
PYDANTIC_LOSS = note("SC590", "pydantic-loss", "something that a model of pydantic does not keep")
CODES = codes_in(globals())
"""By number."""
