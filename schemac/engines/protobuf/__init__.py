"""Protocol Buffers: a message of proto3 for the records of a table.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "protobuf",
    "Protobuf",
    position=74,
    domain="protobuf.dev",
    attributes="schemac.engines.protobuf.attributes:ATTRIBUTES",
    artifacts="schemac.engines.protobuf.artifact:TARGET",
    judge="schemac.engines.protobuf.judge:JUDGE",
    numbering="schemac.engines.protobuf.numbering:NUMBERING",
    formats=(Format("protobuf", "schemac.engines.protobuf.reader:IMPORTER", suffixes=(".proto",)),),
    codes="schemac.engines.protobuf.codes:CODES",
    pages="schemac.engines.protobuf.pages",
)
