"""The pages of `schemac explain` about Protobuf.

Layer: engines.
"""
