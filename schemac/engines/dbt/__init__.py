"""dbt: the models, sources, seeds and snapshots of property files; they are read, not written.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "dbt",
    "dbt",
    position=140,
    formats=(
        Format(
            "dbt",
            "schemac.engines.dbt.reader:IMPORTER",
            recognizes="schemac.engines.dbt.reader:is_properties",
        ),
    ),
)
