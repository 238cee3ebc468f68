"""The diagnostics of Avro; each has a page in `pages/`.

Layer: engines.
"""

from schemac.text.source.code import codes_in, error, note

AVRO_TYPE = error("SC591", "avro-type", "a type that Avro cannot hold")
AVRO_NAME = error("SC592", "avro-name", "names that Avro cannot tell apart")
AVRO_DEFAULT = error("SC593", "avro-default", "a default value that is not of the field's type")
AVRO_LOSS = note("SC594", "avro-loss", "something that Avro does not keep")
CODES = codes_in(globals())
