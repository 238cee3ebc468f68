"""The pages of `schemac explain` about Lance.

Layer: engines.
"""
