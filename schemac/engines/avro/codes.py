"""The diagnostics of Avro; each has a page in `pages/`.

Layer: engines.
"""

from schemac.source.code import Code, Severity

AVRO_TYPE = Code("SC591", "avro-type", Severity.ERROR, "a type that Avro cannot hold")
AVRO_NAME = Code("SC592", "avro-name", Severity.ERROR, "names that Avro cannot tell apart")
AVRO_DEFAULT = Code(
    "SC593", "avro-default", Severity.ERROR, "a default value that is not of the field's type"
)
AVRO_LOSS = Code("SC594", "avro-loss", Severity.NOTE, "something that Avro does not keep")
CODES = (AVRO_TYPE, AVRO_NAME, AVRO_DEFAULT, AVRO_LOSS)
