"""The pages of `schemac explain` about JSON Schema.

Layer: engines.
"""
