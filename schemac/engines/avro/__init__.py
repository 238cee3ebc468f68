"""Apache Avro: schemas in JSON, and the rules of schema resolution.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "avro",
    "Avro",
    position=73,
    artifacts="schemac.engines.avro.artifact:TARGET",
    judge="schemac.engines.avro.judge:JUDGE",
    formats=(
        Format(
            "avro",
            "schemac.engines.avro.reader:IMPORTER",
            suffixes=(".avsc",),
            recognizes="schemac.engines.avro.sources:is_source",
        ),
    ),
    domain="avro.apache.org",
    attributes="schemac.engines.avro.attributes:ATTRIBUTES",
    codes="schemac.engines.avro.codes:CODES",
    pages="schemac.engines.avro.pages",
    documents="schemac.engines.avro.sources:DOCUMENTS",
)
