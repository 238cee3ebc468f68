"""The diagnostics of this engine; each has a page in `pages/`."""

from schemac.source.diagnostic import Code, Severity

AVRO_TYPE = Code("AVRO501", "avro-type", Severity.ERROR, "a type that Avro cannot hold")
AVRO_NAME = Code("AVRO502", "avro-name", Severity.ERROR, "names that Avro cannot tell apart")
AVRO_DEFAULT = Code(
    "AVRO503", "avro-default", Severity.ERROR, "a default value that is not of the field's type"
)
AVRO_LOSS = Code("AVRO511", "avro-loss", Severity.NOTE, "something that Avro does not keep")
CODES = (AVRO_TYPE, AVRO_NAME, AVRO_DEFAULT, AVRO_LOSS)
