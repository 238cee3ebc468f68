"""The pages of `schemac explain` about Avro.

Layer: engines.
"""
