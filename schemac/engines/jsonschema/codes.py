"""The diagnostics of JSON Schema; each has a page in `pages/`.

Layer: engines.
"""

from schemac.source.code import Code, Severity

JSON_SCHEMA_TYPE = Code("SC586", "json-schema-type", Severity.ERROR, "a type that has no form in JSON")
JSON_SCHEMA_LOSS = Code(
    "SC587", "json-schema-loss", Severity.NOTE, "something that JSON Schema does not keep"
)
CODES = (JSON_SCHEMA_TYPE, JSON_SCHEMA_LOSS)
"""By number."""
