"""Protocol Buffers: a message of proto3 for the records of a table.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format
from schemac.text.source.catalogue import codes_in, error, note

PROTOBUF_TYPE = error("SC595", "protobuf-type", "a type that Protobuf cannot hold")
PROTOBUF_NAME = error("SC596", "protobuf-name", "names that Protobuf cannot tell apart")
PROTOBUF_NUMBER = error("SC597", "protobuf-number", "a number that no field of Protobuf can have")
PROTOBUF_LOSS = note("SC598", "protobuf-loss", "something that Protobuf does not keep")
CODES = codes_in(globals())
"""The diagnostics by number; each has a page in `pages/`."""

ENGINE = Engine(
    "protobuf",
    "Protobuf",
    position=74,
    domain="protobuf.dev",
    attributes="schemac.engines.protobuf.attributes:ATTRIBUTES",
    artifacts="schemac.engines.protobuf.artifact:TARGET",
    judge="schemac.engines.protobuf.judge:JUDGE",
    numbering="schemac.engines.protobuf.types:NUMBERING",
    formats=(Format("protobuf", "schemac.engines.protobuf.reader:IMPORTER", suffixes=(".proto",)),),
    codes="schemac.engines.protobuf:CODES",
    pages="schemac.engines.protobuf.pages",
)
