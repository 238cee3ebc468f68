"""Open Data Contract Standard: contracts of version 3; they are read, not written.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "odcs",
    "Open Data Contract Standard",
    position=120,
    formats=(
        Format(
            "odcs",
            "schemac.engines.odcs.reader:IMPORTER",
            recognizes="schemac.engines.odcs.reader:is_contract",
        ),
    ),
)
