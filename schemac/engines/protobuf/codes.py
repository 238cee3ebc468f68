"""The diagnostics of Protobuf; each has a page in `pages/`.

Layer: engines.
"""

from schemac.text.source.code import codes_in, error, note

PROTOBUF_TYPE = error("SC595", "protobuf-type", "a type that Protobuf cannot hold")
PROTOBUF_NAME = error("SC596", "protobuf-name", "names that Protobuf cannot tell apart")
PROTOBUF_NUMBER = error("SC597", "protobuf-number", "a number that no field of Protobuf can have")
PROTOBUF_LOSS = note("SC598", "protobuf-loss", "something that Protobuf does not keep")
CODES = codes_in(globals())
"""By number."""
