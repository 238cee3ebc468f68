"""Apache Paimon: tables and their schema files.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "paimon",
    "Paimon",
    position=40,
    artifacts="schemac.engines.paimon.artifact:TARGET",
    judge="schemac.engines.paimon.judge:JUDGE",
    formats=(
        Format(
            "paimon",
            "schemac.engines.paimon.reader:IMPORTER",
            recognizes="schemac.engines.paimon.sources:is_source",
        ),
    ),
)
