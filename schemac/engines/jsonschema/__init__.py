"""JSON Schema 2020-12: what a record of JSON has to be.

Layer: engines.
Source: JSON Schema, draft 2020-12, "Core" and "Validation".
"""

from schemac.registry.engine import Engine

ENGINE = Engine(
    "jsonschema",
    "JSON Schema",
    position=70,
    artifacts="schemac.engines.jsonschema.artifact:TARGET",
    codes="schemac.engines.jsonschema.codes:CODES",
    pages="schemac.engines.jsonschema.pages",
)
