"""The pages of `schemac explain` about Arrow.

Layer: engines.
"""
