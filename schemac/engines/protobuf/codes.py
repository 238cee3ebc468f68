"""The diagnostics of Protobuf; each has a page in `pages/`.

Layer: engines.
"""

from schemac.source.code import Code, Severity

PROTOBUF_TYPE = Code("SC595", "protobuf-type", Severity.ERROR, "a type that Protobuf cannot hold")
PROTOBUF_NAME = Code("SC596", "protobuf-name", Severity.ERROR, "names that Protobuf cannot tell apart")
PROTOBUF_NUMBER = Code(
    "SC597", "protobuf-number", Severity.ERROR, "a number that no field of Protobuf can have"
)
PROTOBUF_LOSS = Code("SC598", "protobuf-loss", Severity.NOTE, "something that Protobuf does not keep")
CODES = (PROTOBUF_TYPE, PROTOBUF_NAME, PROTOBUF_NUMBER, PROTOBUF_LOSS)
"""By number."""
