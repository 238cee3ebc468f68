"""JSON Schema 2020-12: what a record of JSON has to be.

Layer: engines.
Source: JSON Schema, draft 2020-12, "Core" and "Validation".
"""

from schemac.registry.engine import Engine, Format

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
            recognizes="schemac.engines.jsonschema.sources:is_source",
        ),
    ),
    codes="schemac.engines.jsonschema.codes:CODES",
    pages="schemac.engines.jsonschema.pages",
)
