"""Apache Avro: schemas in JSON, and the rules of schema resolution.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format
from schemac.text.source.catalogue import codes_in, error, note

AVRO_TYPE = error("SC591", "avro-type", "a type that Avro cannot hold")
AVRO_NAME = error("SC592", "avro-name", "names that Avro cannot tell apart")
AVRO_DEFAULT = error("SC593", "avro-default", "a default value that is not of the field's type")
AVRO_LOSS = note("SC594", "avro-loss", "something that Avro does not keep")
CODES = codes_in(globals())
"""The diagnostics by number; each has a page in `pages/`."""

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
            recognizes="schemac.engines.avro.reader:is_source",
        ),
    ),
    domain="avro.apache.org",
    attributes="schemac.engines.avro.attributes:ATTRIBUTES",
    codes="schemac.engines.avro:CODES",
    pages="schemac.engines.avro.pages",
    documents="schemac.engines.avro.reader:DOCUMENTS",
)
