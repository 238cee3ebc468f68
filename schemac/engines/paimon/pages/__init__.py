"""The pages of `schemac explain` about Paimon.

Layer: engines.
"""
