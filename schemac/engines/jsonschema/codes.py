"""The diagnostics of JSON Schema; each has a page in `pages/`.

Layer: engines.
"""

from schemac.text.source.code import codes_in, error, note

JSON_SCHEMA_TYPE = error("SC586", "json-schema-type", "a type that has no form in JSON")
JSON_SCHEMA_LOSS = note("SC587", "json-schema-loss", "something that JSON Schema does not keep")
CODES = codes_in(globals())
"""By number."""
