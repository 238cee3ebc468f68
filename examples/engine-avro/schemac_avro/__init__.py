"""Apache Avro as an engine of schemac: schemas in JSON, and the rules of schema resolution.

This module is loaded by every command, so it only says where the parts are.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "avro",
    "Avro",
    position=100,
    artifacts="schemac_avro.artifact:TARGET",
    judge="schemac_avro.judge:JUDGE",
    formats=(
        Format(
            "avro",
            "schemac_avro.reader:IMPORTER",
            suffixes=(".avsc",),
            recognizes="schemac_avro.sources:is_source",
        ),
    ),
    domain="avro.apache.org",
    attributes="schemac_avro.attributes:ATTRIBUTES",
    codes="schemac_avro.codes:CODES",
    pages="schemac_avro.pages",
)
