"""The pages of `schemac explain` about Iceberg.

Layer: engines.
"""
