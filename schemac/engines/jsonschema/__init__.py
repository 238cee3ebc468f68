"""JSON Schema 2020-12: what a record of JSON has to be.

Layer: engines.
Source: JSON Schema, draft 2020-12, "Core" and "Validation".
"""

from schemac.registry.engine import Engine, Format
from schemac.text.source.catalogue import codes_in, error, note

JSON_SCHEMA_TYPE = error("SC586", "json-schema-type", "a type that has no form in JSON")
JSON_SCHEMA_LOSS = note("SC587", "json-schema-loss", "something that JSON Schema does not keep")
CODES = codes_in(globals())
"""The diagnostics by number; each has a page in `pages/`."""

ENGINE = Engine(
    "jsonschema",
    "JSON Schema",
    position=70,
    checks_constraints=True,
    artifacts="schemac.engines.jsonschema.artifact:TARGET",
    formats=(
        Format(
            "jsonschema",
            "schemac.engines.jsonschema.reader:IMPORTER",
            recognizes="schemac.engines.jsonschema.reader:is_source",
        ),
    ),
    codes="schemac.engines.jsonschema:CODES",
    pages="schemac.engines.jsonschema.pages",
)
